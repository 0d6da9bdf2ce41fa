package fat32

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxHostName bounds a salvaged name in bytes of UTF-8: the limit of the usual
// host file systems.
const maxHostName = 255

// safeName makes a name from a damaged volume fit for any host: no separators
// or controls, not "." or "..", nothing Windows refuses, at most 255 bytes.
func safeName(name string) string {
	var b strings.Builder
	for _, r := range name {
		if r < 0x20 || r == 0x7F || r < 0x80 && badLong.has(byte(r)) || r >= 0x80 && r < 0xA0 || r == utf8.RuneError {
			r = '_'
		}
		b.WriteRune(r)
	}
	out := strings.TrimRight(b.String(), " .")
	out = cutName(out, maxHostName)
	stem, _, _ := strings.Cut(out, ".")
	switch upper := strings.ToUpper(stem); {
	case out == "":
		return "_"
	case upper == "CON" || upper == "PRN" || upper == "AUX" || upper == "NUL",
		len(upper) == 4 && (strings.HasPrefix(upper, "COM") || strings.HasPrefix(upper, "LPT")) && upper[3] >= '0' && upper[3] <= '9':
		return cutName("_"+out, maxHostName)
	}
	return out
}

// cutName shortens a name to n bytes without splitting a character.
func cutName(name string, n int) string {
	for len(name) > n {
		_, size := utf8.DecodeLastRuneInString(name)
		name = name[:len(name)-size]
	}
	return name
}

// unique returns name, or name with a number, so that no two in a folder are
// the same without regard to case.
func (l *level) unique(name string) string {
	key := FoldName(name)
	n, taken := l.names[key]
	if !taken {
		l.names[key] = 1
		return name
	}
	stem, ext := name, ""
	if i := strings.LastIndexByte(name, '.'); i > 0 && len(name)-i < 32 {
		stem, ext = name[:i], name[i:]
	}
	for ; ; n++ {
		tail := fmt.Sprintf("~%d", n)
		out := cutName(stem, maxHostName-len(tail)-len(ext)) + tail + ext
		if _, taken := l.names[FoldName(out)]; !taken {
			l.names[key] = n + 1
			l.names[FoldName(out)] = 1
			return out
		}
	}
}
