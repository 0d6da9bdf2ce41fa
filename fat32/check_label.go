package fat32

import (
	"encoding/binary"
	"strings"
)

// labelState is the volume label found in the root directory.
type labelState struct {
	have bool
	name [11]byte // as on disk
}

// noLabel is what the boot sector holds for a volume without a label.
var noLabel = [11]byte([]byte("NO NAME    "))

// checkLabelEntry looks at a volume label entry at slot i. Only one, in the
// root directory, means anything. drop: it has been removed.
func (c *checker) checkLabelEntry(d *checkDir, set, i int, e dirEntry) (drop bool) {
	why := ""
	switch {
	case d.node != 0:
		why = "a volume label outside the root directory"
	case c.label.have:
		why = "a second volume label"
	case !goodLabel(e.name):
		why = "a volume label with characters it must not hold"
	}
	if why != "" {
		c.fix(CodeLabel, c.path(d.node), "%s (%q); it is removed", why, e.name[:])
		if set < 0 {
			set = i
		}
		d.remove(set, i+1)
		d.slot(i)[11] = 0
		return true
	}
	c.label.have, c.label.name = true, e.name
	high := binary.LittleEndian.Uint16(d.slot(i)[20:])
	if e.cluster != 0 || e.size != 0 || e.attr&AttrDirectory != 0 || high != 0 {
		c.fix(CodeLabel, "/", "the volume label has a size, a cluster or is marked as a directory; that is cleared")
		p := d.slot(i)
		p[11] = byte(attrVolumeID | e.attr&AttrArchive) // never what marks a long name
		clear(p[26:32])
		clear(p[20:22])
		d.touch(i)
	}
	return false
}

// goodLabel reports whether a label holds only what labels may.
func goodLabel(name [11]byte) bool {
	if name[0] == ' ' {
		return false
	}
	for i, b := range name {
		if b < ' ' && !(i == 0 && b == slotKanji) || b == 0x7F || strings.IndexByte(`"*+,./:;<=>?[\]|`, b) >= 0 {
			return false
		}
	}
	return true
}

// checkLabels makes the label in the boot sector the one of the root directory.
func (c *checker) checkLabels() error {
	want := noLabel
	if c.label.have {
		want = c.label.name
		if want[0] == slotKanji {
			want[0] = slotDeleted
		}
	}
	at := 38
	if c.g.Type == FAT32 {
		at = 66
	}
	raw := c.boot.raw
	if raw[at] == 0x29 && [11]byte(raw[at+5:at+16]) == want {
		return nil
	}
	if raw[at] != 0x29 {
		c.fix(CodeBootLabel, "", "the boot sector has no label record; one is put in")
		if raw[at] != 0x28 {
			clear(raw[at+1 : at+5])
		}
		raw[at] = 0x29
		copy(raw[at+16:at+24], c.g.Type.String()+"   ")
	} else {
		c.fix(CodeBootLabel, "", "the label in the boot sector is %q, in the root directory %q; the latter counts",
			strings.TrimRight(string(raw[at+5:at+16]), " "), strings.TrimRight(string(want[:]), " "))
	}
	copy(raw[at+5:at+16], want[:])
	return c.writeBoot()
}
