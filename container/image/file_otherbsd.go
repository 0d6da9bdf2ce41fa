//go:build unix && !linux && !darwin

package image

import "os"

// reserve: blocks are reserved by writing zeros.
func reserve(*os.File, int64) error { return errCannotReserve }

// prefetch has no counterpart that all these systems know.
func prefetch(*os.File, int64, int64) error { return nil }
