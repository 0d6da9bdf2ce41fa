//go:build unix && !linux

package conformance

import "testing"

// renameNoReplace is a matter of Linux: elsewhere there are no such flags.
func renameNoReplace(*testing.T, string) {}
