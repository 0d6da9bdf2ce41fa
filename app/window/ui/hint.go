package ui

import (
	"strings"

	"coffer/app/protocol"
	"coffer/app/window/text"
)

// Hint is what to do about a problem, as a sentence; "" if nobody knows. Hints that name commands are for people at the command
// line: here they are said in the words of the window.
func Hint(p protocol.Problem) string {
	if !strings.Contains(p.Hint, "`") && !strings.Contains(p.Hint, "--") {
		return Sentence(p.Hint)
	}
	switch p.Code {
	case protocol.InUse:
		return text.T("Lock it, or wait until what uses it is done, and try again.")
	case protocol.Damaged:
		return text.T("Health and keys saves what can be read, and repairs what can be repaired.")
	case protocol.Unsupported:
		return text.T("If it is a plain disk image, not encrypted, it can be unlocked as one. If it was a container, a backup of its header brings it back: see Health and keys.")
	case protocol.NoMount:
		return text.T("Without a drive it opens in this window all the same.")
	}
	return ""
}
