package vfs

import "strings"

// maxPointName is the length in bytes of a folder name made from the name of a drive.
const maxPointName = 64

// pointName makes a folder name that is good everywhere from the name of a drive.
func pointName(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7F || strings.ContainsRune(`/\:*?"<>|`, r) || r == 0xFFFD {
			return '_'
		}
		return r
	}, name)
	clean = strings.TrimRight(strings.TrimLeft(clean, ". "), ". ")
	for len(clean) > maxPointName {
		cut := maxPointName
		for cut > 0 && clean[cut]&0xC0 == 0x80 {
			cut--
		}
		clean = strings.TrimRight(clean[:cut], ". ")
	}
	if clean == "" {
		return "drive"
	}
	return clean
}
