package fat32

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// plainShort returns the short entry of a name that needs no long name: ASCII,
// at most 8.3, every part in one case (kept by the NT flags).
func plainShort(name string) (short [11]byte, ntCase byte, ok bool) {
	base, ext := name, ""
	if i := strings.IndexByte(name, '.'); i >= 0 {
		base, ext = name[:i], name[i+1:]
		if ext == "" {
			return short, 0, false
		}
	}
	if len(base) < 1 || len(base) > 8 || len(ext) > 3 {
		return short, 0, false
	}
	for i := range short {
		short[i] = ' '
	}
	lower, ok := plainPart(short[:8], base)
	if !ok {
		return short, 0, false
	}
	if lower {
		ntCase |= caseLowerBase
	}
	lower, ok = plainPart(short[8:], ext)
	if !ok {
		return short, 0, false
	}
	if lower {
		ntCase |= caseLowerExt
	}
	return short, ntCase, true
}

// plainPart copies part in upper case and tells whether it is lower case.
func plainPart(dst []byte, part string) (lower, ok bool) {
	upper := false
	for i := range len(part) {
		c := part[i]
		switch {
		case c >= 'a' && c <= 'z':
			lower = true
			c -= 'a' - 'A'
		case c >= 'A' && c <= 'Z':
			upper = true
		case c <= ' ' || c >= 0x7F || c == '.' || badShort.has(c):
			return false, false
		}
		dst[i] = c
	}
	return lower, !(lower && upper)
}

// shortBasis derives the short name Windows would start from for a name that
// needs a long name: blanks and leading dots dropped, the last dot splits off the
// extension, characters a short name cannot hold become '_'. fits is true if the
// name is an 8.3 name but for its case and can do without a numeric tail.
//
// Characters beyond ASCII become '_' as well: what a byte above 0x7F means
// depends on the code page of the reader, and the long name is exact anyway.
func shortBasis(name string) (base, ext []byte, fits bool) {
	fits = true
	stem := strings.TrimLeft(name, ". ")
	if stem != name {
		fits = false
	}
	suffix := ""
	if i := strings.LastIndexByte(stem, '.'); i >= 0 {
		stem, suffix = stem[:i], stem[i+1:]
	}
	convert := func(part string, most int) (out []byte) {
		for _, r := range part {
			if r == ' ' || r == '.' {
				fits = false
				continue
			}
			if len(out) == most {
				fits = false
				break
			}
			if r >= utf8.RuneSelf {
				r, fits = '_', false
			}
			c := byte(r)
			if c >= 'a' && c <= 'z' {
				c -= 'a' - 'A'
			}
			if badShort.has(c) {
				c, fits = '_', false
			}
			out = append(out, c)
		}
		return out
	}
	base, ext = convert(stem, 8), convert(suffix, 3)
	if len(base) == 0 {
		base, fits = []byte("_"), false
	}
	return base, ext, fits
}

// joinShort lays base and ext out as an 11-byte name.
func joinShort(base, ext []byte) (short [11]byte) {
	for i := range short {
		short[i] = ' '
	}
	copy(short[:8], base)
	copy(short[8:], ext)
	return short
}

// Limits of the search for a free short name.
const (
	plainTails = 4      // ~1 to ~4 of the plain basis, then the hash
	maxTail    = 999999 // the largest numeric tail
)

// shortNameFor finds the short name for a new entry called name. taken tells
// whether a short name is in use in the directory. long is false if the entry
// needs no long-name slots; then only one candidate exists and the caller has
// already made sure that the name itself is free. ok is false if every candidate
// is taken.
func shortNameFor(name string, taken func(*[11]byte) bool) (short [11]byte, ntCase byte, long, ok bool) {
	if short, ntCase, ok = plainShort(name); ok {
		return short, ntCase, false, true
	}
	base, ext, fits := shortBasis(name)
	if fits {
		if short = joinShort(base, ext); !taken(&short) {
			return short, 0, true, true
		}
	}
	for n := 1; n <= plainTails; n++ {
		if short = joinShort(withTail(base, n), ext); !taken(&short) {
			return short, 0, true, true
		}
	}
	// Windows NT: two characters, four hexadecimal digits of a hash of the long
	// name, and the tail. It keeps the search short in large directories.
	const digits = "0123456789ABCDEF"
	hash := nameHash16(name)
	hashed := append([]byte(nil), base[:min(2, len(base))]...)
	for shift := 12; shift >= 0; shift -= 4 {
		hashed = append(hashed, digits[hash>>shift&15])
	}
	for n := 1; n <= maxTail; n++ {
		if short = joinShort(withTail(hashed, n), ext); !taken(&short) {
			return short, 0, true, true
		}
	}
	return short, 0, true, false
}

// withTail cuts base so that ~n fits into eight characters behind it.
func withTail(base []byte, n int) []byte {
	var tail [7]byte
	i := len(tail)
	for ; n > 0; n /= 10 {
		i--
		tail[i] = byte('0' + n%10)
	}
	i--
	tail[i] = '~'
	keep := min(len(base), 8-(len(tail)-i))
	out := make([]byte, 0, 8)
	return append(append(out, base[:keep]...), tail[i:]...)
}

// nameHash16 mixes the UTF-16 units of name into 16 bits.
func nameHash16(name string) uint16 {
	h := uint32(2166136261)
	for _, r := range name {
		if r1, r2 := utf16.EncodeRune(r); r1 != utf8.RuneError {
			h = (h ^ uint32(r1)) * 16777619
			r = r2
		}
		h = (h ^ uint32(r)) * 16777619
	}
	return uint16(h ^ h>>16)
}
