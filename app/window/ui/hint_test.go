package ui

import (
	"testing"

	"coffer/app/protocol"
)

// TestHint: nobody in front of a window is told commands and their flags.
func TestHint(t *testing.T) {
	for _, c := range []struct {
		code       protocol.ExitCode
		hint, want string
	}{
		{protocol.Failed, "check the permissions", "Check the permissions."},
		{protocol.Failed, "", ""},
		{protocol.Failed, "`coffer list` shows what is unlocked", ""},
		{protocol.NoMount, "add --no-mount", "Without a drive it opens in this window all the same."},
		{protocol.Damaged, "`coffer check --repair`", "Health and keys saves what can be read, and repairs what can be repaired."},
	} {
		if got := Hint(protocol.Problem{Code: c.code, Hint: c.hint}); got != c.want {
			t.Errorf("%q reads %q", c.hint, got)
		}
	}
}
