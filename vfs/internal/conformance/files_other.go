//go:build unix && !linux

package conformance

import "testing"

// directIO is a matter of Linux; elsewhere there is no flag for it.
func directIO(*testing.T, string) {}
