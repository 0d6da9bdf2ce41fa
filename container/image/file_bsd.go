//go:build unix && !linux

package image

import (
	"errors"
	"os"
)

// syncFile uses os.File.Sync, which asks macOS for F_FULLFSYNC: plain fsync
// there does not reach the platter.
func syncFile(f *os.File) error { return f.Sync() }

// punch is not offered by a common call on these systems.
func punch(*os.File, int64, int64) error { return errors.ErrUnsupported }

// startWriteback has no counterpart here; the system writes back on its own.
func startWriteback(*os.File, int64, int64) error { return nil }

// dropCache has no counterpart for a range.
func dropCache(*os.File, int64, int64) error { return nil }

// holder cannot tell who holds an flock on these systems.
func holder(*os.File) error { return &InUseError{} }

// checkAttached: no loop devices here.
func checkAttached(*os.File) error { return nil }
