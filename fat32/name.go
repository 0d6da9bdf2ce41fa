package fat32

import (
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// Characters that FAT long names cannot hold besides controls, and what short
// names cannot hold in addition (Microsoft FAT specification 1.03, "Naming
// Conventions").
const (
	badLongChars  = `"*/:<>?\|`
	badShortChars = `+,;=[]`
)

// charSet is a set of ASCII characters.
type charSet [2]uint64

func newCharSet(chars string) (s charSet) {
	for i := range len(chars) {
		s[chars[i]>>6] |= 1 << (chars[i] & 63)
	}
	return s
}

func (s *charSet) has(c byte) bool { return c < 0x80 && s[c>>6]>>(c&63)&1 == 1 }

var (
	badLong  = newCharSet(badLongChars)
	badShort = newCharSet(badShortChars + badLongChars)
)

// CheckName reports whether name can be given to a new file or directory: 1 to
// 255 UTF-16 units of valid Unicode, none of "*/:<>?\| and controls, no dot or
// blank at the end (Windows could not open it), not "." or "..". The error says
// what is wrong and satisfies errors.Is with ErrName or ErrNameTooLong.
func CheckName(name string) error {
	if name == "" {
		return fmt.Errorf("empty name: %w", ErrName)
	}
	if !utf8.ValidString(name) {
		return fmt.Errorf("name %q is not valid UTF-8: %w", name, ErrName)
	}
	units := 0
	for _, r := range name {
		if r < 0x20 || r == 0x7F {
			return fmt.Errorf("name %q holds a control character: %w", name, ErrName)
		}
		if r < 0x80 && badLong.has(byte(r)) {
			return fmt.Errorf("name %q holds %q: %w", name, r, ErrName)
		}
		units += utf16.RuneLen(r)
	}
	if last := name[len(name)-1]; last == '.' || last == ' ' {
		return fmt.Errorf("name %q ends in a dot or blank: %w", name, ErrName)
	}
	if units > maxName {
		return fmt.Errorf("name of %d UTF-16 units: %w", units, ErrNameTooLong)
	}
	return nil
}

// DirSlots returns how many 32-byte directory slots a file of this name takes:
// 1 if the name fits 8.3 with each part in one case, else 1 + ceil(units/13),
// at most 21.
func DirSlots(name string) int {
	if _, _, ok := plainShort(name); ok {
		return 1
	}
	units := 0
	for _, r := range name {
		units += max(utf16.RuneLen(r), 1)
	}
	return 1 + min(longSlots(units), maxLFNSlots)
}

// FoldName returns the key under which two names collide in one directory: the
// name in upper case by the rule described at upcaseUnit.
func FoldName(name string) string {
	var buf [maxName]uint16
	return unitsToString(foldUnits(appendUnits(buf[:0], name)))
}

// appendUnits appends name as UTF-16.
func appendUnits(dst []uint16, name string) []uint16 {
	for i := 0; i < len(name); {
		if c := name[i]; c < utf8.RuneSelf {
			dst = append(dst, uint16(c))
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(name[i:])
		dst = utf16.AppendRune(dst, r)
		i += n
	}
	return dst
}

// foldUnits folds units in place and returns them.
func foldUnits(units []uint16) []uint16 {
	for i, u := range units {
		units[i] = upcaseUnit(u)
	}
	return units
}

// longNameSafe reports whether a long name found on disk can be shown as it is:
// no separator, NUL or control, and neither . nor .. (a hostile volume must not
// lead out of the folder a file is written to).
func longNameSafe(units []uint16) bool {
	dots := 0
	for _, u := range units {
		if u < 0x20 || u == 0x7F || u < 0x80 && badLong.has(byte(u)) {
			return false
		}
		if u == '.' {
			dots++
		}
	}
	return len(units) > 0 && !(dots == len(units) && dots <= 2)
}

// appendShort appends the name of a short entry as shown: the parts in the case
// the NT flags say, joined by a dot. Characters that no name may hold become '_'.
func appendShort(dst []uint16, name *[11]byte, ntCase byte) []uint16 {
	base, ext := 8, 3
	for base > 0 && name[base-1] == ' ' {
		base--
	}
	for ext > 0 && name[8+ext-1] == ' ' {
		ext--
	}
	start := len(dst)
	for i, c := range name[:base] {
		if i == 0 && c == slotKanji {
			c = slotDeleted
		}
		dst = append(dst, shortUnit(c, ntCase&caseLowerBase != 0))
	}
	if ext > 0 {
		dst = append(dst, '.')
	}
	for _, c := range name[8 : 8+ext] {
		dst = append(dst, shortUnit(c, ntCase&caseLowerExt != 0))
	}
	if shown := dst[start:]; !longNameSafe(shown) {
		// ".", ".." or nothing at all, at a place where they mean nothing.
		for i := range shown {
			shown[i] = '_'
		}
		if len(shown) == 0 {
			dst = append(dst, '_')
		}
	}
	return dst
}

// shortUnit decodes one character of a short name.
func shortUnit(c byte, lower bool) uint16 {
	switch {
	case c < 0x20 || c == 0x7F || badLong.has(c):
		return '_'
	case lower && c >= 'A' && c <= 'Z':
		return uint16(c) + 'a' - 'A'
	}
	return uint16(oemRune(c))
}

// replaceLoneSurrogates turns units that are no Unicode into U+FFFD, in place,
// so that a name is found under the spelling in which it is shown.
func replaceLoneSurrogates(units []uint16) []uint16 {
	for i := 0; i < len(units); i++ {
		u := units[i]
		if u < 0xD800 || u > 0xDFFF {
			continue
		}
		if u < 0xDC00 && i+1 < len(units) && units[i+1] >= 0xDC00 && units[i+1] <= 0xDFFF {
			i++
			continue
		}
		units[i] = 0xFFFD
	}
	return units
}
