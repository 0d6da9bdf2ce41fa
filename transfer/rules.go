package transfer

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"unicode/utf8"

	"coffer/fat32"

	"golang.org/x/text/unicode/norm"
)

// rules are what a target demands of names and sizes.
type rules struct {
	fat          bool
	maxFileBytes int64 // 0: no limit
	clusterBytes int64 // allocation unit
	freeBytes    int64 // -1: unknown
	rootSlots    int   // of a FAT12/16 root folder, 0: as any other folder
}

const (
	slotBytes     = 32
	usableSlots   = fat32.MaxDirSlots - 2 // "." and ".." take two
	hostNameBytes = 255                   // NAME_MAX of every common file system
	maxPathBytes  = 16 << 10              // of one path in a tree; keeps plans of hostile trees small
)

// check tells why a name cannot stand at the target; nil if it can.
func (r *rules) check(name string) error {
	if !utf8.ValidString(name) && r.fat {
		return fileFailed(ReasonName, errors.New("the name is not valid UTF-8"))
	}
	if r.fat {
		err := fat32.CheckName(name)
		switch {
		case errors.Is(err, fat32.ErrNameTooLong):
			return fileFailed(ReasonNameLong, err)
		case err != nil:
			return fileFailed(ReasonName, fmt.Errorf("%w; %q would be legal", err, suggest(name)))
		}
		return nil
	}
	if err := checkHostName(name); err != nil {
		return fileFailed(ReasonName, err)
	}
	if len(name) > hostNameBytes && runtime.GOOS != "windows" {
		return fileFailed(ReasonNameLong, fmt.Errorf("%d bytes; the host takes %d", len(name), hostNameBytes))
	}
	return nil
}

// checkHostName refuses everything that could lead out of a folder or is not one name.
func checkHostName(name string) error {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") || strings.ContainsRune(name, filepath.Separator) {
		return errors.New("not a name of one file")
	}
	if !filepath.IsLocal(name) { // reserved names of Windows
		return errors.New("reserved by the system")
	}
	if runtime.GOOS == "windows" && strings.ContainsAny(name, `<>:"|?*`) {
		return errors.New("has a character the system forbids")
	}
	return nil
}

// suggest is a legal FAT name close to name.
func suggest(name string) string {
	s := strings.Map(func(c rune) rune {
		if c < 0x20 || c == utf8.RuneError || strings.ContainsRune(`"*/:<>?\|`, c) {
			return '_'
		}
		return c
	}, name)
	s = strings.TrimRight(s, " .")
	if s == "" {
		s = "_"
	}
	return s
}

// fold is the key under which two names cannot stand side by side.
func (r *rules) fold(name string) string {
	switch {
	case r.fat:
		return fat32.FoldName(norm.NFC.String(name))
	case runtime.GOOS == "windows" || runtime.GOOS == "darwin":
		return strings.ToLower(norm.NFC.String(name))
	default:
		return name
	}
}

// sameName tells whether the target takes two spellings for one file.
func (r *rules) sameName(a, b string) bool {
	if r.fat {
		return fat32.FoldName(a) == fat32.FoldName(b)
	}
	return r.fold(a) == r.fold(b)
}

// slots is how many directory slots a name takes.
func (r *rules) slots(name string) int {
	if !r.fat {
		return 1
	}
	return fat32.DirSlots(name)
}

// allocated is size rounded up to whole clusters.
func (r *rules) allocated(size int64) int64 {
	c := max(r.clusterBytes, 1)
	return (size + c - 1) / c * c
}

// folderBytes is what a folder with so many slots in use takes, beyond the
// fixed root folder of FAT12 and FAT16.
func (r *rules) folderBytes(slots int, isRoot bool) int64 {
	if !r.fat || isRoot && r.rootSlots > 0 {
		return 0
	}
	return r.allocated(int64(slots+2) * slotBytes)
}

// slotLimit is how many slots a folder can hold.
func (r *rules) slotLimit(isRoot bool) int {
	if isRoot && r.rootSlots > 0 {
		return r.rootSlots
	}
	return usableSlots
}
