package files

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"coffer/app/window/text"
)

// maxNameUnits is how long a name may be on FAT, in UTF-16 units.
const maxNameUnits = 255

// nameFault says why a name cannot be given to a file on FAT, "" if it can. taken says whether there is another file with the
// name in any spelling. The agent has the last word; this is to tell while somebody types.
func nameFault(name string, taken func(folded string) bool) string {
	units := 0
	for _, r := range name {
		switch {
		case r < 0x20 || r == 0x7f:
			return text.T("A name cannot hold control characters.")
		case strings.ContainsRune(`"*/:<>?\|`, r):
			return text.T("A name cannot hold any of \" * / : < > ? \\ |")
		}
		units += max(utf16.RuneLen(r), 1)
	}
	switch {
	case name == "":
		return text.T("Type a name.")
	case !utf8.ValidString(name):
		return text.T("This is not valid text.")
	case strings.HasSuffix(name, "."):
		return text.T("A name cannot end with a dot.")
	case strings.HasSuffix(name, " "):
		return text.T("A name cannot end with a space.")
	case units > maxNameUnits:
		return text.T("This name is too long by %d characters.", units-maxNameUnits)
	case taken != nil && taken(strings.ToLower(name)):
		return text.T("There is already something with this name.")
	}
	return ""
}

// freeName is name, or name with the first number behind it that is not taken.
func freeName(name string, taken func(folded string) bool) string {
	free := name
	for n := 2; taken(strings.ToLower(free)); n++ {
		free = text.T("%s %d", name, n)
	}
	return free
}
