package fat32

import (
	"encoding/binary"
	"fmt"
)

// noShort in the case byte: the 8.3 name is not meant to be used (written by
// some Linux drivers; fsck.vfat knows it).
const noShort = 0x20

// dirNames is what is known of the names in one directory while its entries
// are looked at.
type dirNames struct {
	taken map[string]bool // folded long and short names
	next  int             // where the search for numeric tails goes on
}

// checkFiles looks at every entry of every directory: names first, then the
// chains of files.
func (c *checker) checkFiles() error {
	for i := range c.nodes {
		if err := c.tick("files", int64(i), int64(len(c.nodes))); err != nil {
			return err
		}
		if c.nodes[i].gone {
			continue
		}
		d, err := c.load(int32(i))
		if err != nil {
			return err
		}
		if err := c.checkEntries(d); err != nil {
			return err
		}
		if err := c.store(d); err != nil {
			return err
		}
	}
	return nil
}

// checkEntries goes through the slots of one directory.
func (c *checker) checkEntries(d *checkDir) error {
	names := &dirNames{taken: make(map[string]bool), next: 1}
	i := 0
	if d.node != 0 {
		i = 2
	}
	set := -1 // first slot of a pending run of long-name slots
	for ; i < d.slots(); i++ {
		p := d.slot(i)
		if p[0] == slotEnd || p[0] == slotDeleted {
			c.orphanSlots(d, set, i)
			set = -1
			if p[0] == slotEnd {
				break // checkLate has made sure that nothing follows
			}
			continue
		}
		if isLongSlot(p) {
			if set < 0 {
				set = i
			}
			continue
		}
		if err := c.checkEntry(d, names, set, i); err != nil {
			return err
		}
		set = -1
	}
	c.orphanSlots(d, set, i)
	return nil
}

// orphanSlots removes long-name slots [from, to) that belong to no entry.
func (c *checker) orphanSlots(d *checkDir, from, to int) {
	if from < 0 || from >= to {
		return
	}
	c.fix(CodeLongNameParts, c.path(d.node), "%d long-name slots belong to no entry; they are removed", to-from)
	d.remove(from, to)
}

// checkEntry looks at the short entry at slot i, which may have a run of
// long-name slots from set (-1: none) before it.
func (c *checker) checkEntry(d *checkDir, names *dirNames, set, i int) error {
	p := d.slot(i)
	if c.isGarbage(p) {
		c.fix(CodeGarbage, c.path(d.node), "the slot at %d holds no entry but other data; it is removed", i)
		if set < 0 {
			set = i
		}
		d.remove(set, i+1)
		return nil
	}
	if drop := c.checkAttr(d, set, i); drop {
		return nil
	}
	if Attr(p[11])&attrVolumeID != 0 {
		c.orphanSlots(d, set, i)
		return nil
	}
	if set >= 0 {
		set = c.checkLongSlots(d, set, i)
	}
	c.checkNames(d, names, set, i)
	e := c.g.Type.decodeEntry(p)
	if e.attr&AttrDirectory != 0 {
		if e.size != 0 {
			c.fix(CodeDirSize, c.entryPath(d, i), "a directory with size %d; it is set to 0", e.size)
			binary.LittleEndian.PutUint32(p[28:], 0)
			d.touch(i)
		}
		return nil
	}
	c.report.Files++
	return c.checkFile(d, i, e)
}

// isGarbage reports whether a slot is wrong in so many ways that it never was
// an entry: it leads to no data, and name or attributes are impossible too.
func (c *checker) isGarbage(p []byte) bool {
	e := c.g.Type.decodeEntry(p)
	return e.cluster != 0 && !c.g.valid(e.cluster) && (e.attr&0xC0 != 0 || !goodShort(&e.name))
}

func (c *checker) entryPath(d *checkDir, i int) string {
	return join(c.path(d.node), slotName(d.raw, i))
}

// checkAttr puts impossible attributes right and handles volume labels. drop:
// the entry is gone.
func (c *checker) checkAttr(d *checkDir, set, i int) (drop bool) {
	p := d.slot(i)
	e := c.g.Type.decodeEntry(p)
	if e.attr&0xC0 != 0 {
		c.fix(CodeAttr, c.entryPath(d, i), "attribute bits %#02x mean nothing; they are cleared", byte(e.attr&0xC0))
		e.attr &^= 0xC0
		p[11] = byte(e.attr)
		d.touch(i)
	}
	if e.attr&attrVolumeID == 0 {
		return false
	}
	holdsData := c.g.valid(e.cluster) && (e.size != 0 || e.attr&AttrDirectory != 0)
	if holdsData {
		c.fix(CodeAttr, c.entryPath(d, i), "marked as a volume label but it has data; the mark is removed")
		p[11] = byte(e.attr &^ attrVolumeID)
		d.touch(i)
		return false
	}
	return c.checkLabelEntry(d, set, i, e)
}

// checkLongSlots looks at a run of long-name slots before the entry at slot i.
// It returns the first slot of the set that belongs to the entry, -1 if none.
func (c *checker) checkLongSlots(d *checkDir, set, i int) int {
	units, n := decodeLong(d.raw, i, nil)
	if n == 0 {
		n = c.adoptLong(d, set, i)
		units, _ = decodeLong(d.raw, i, nil)
	}
	c.orphanSlots(d, set, i-n)
	if n == 0 {
		return -1
	}
	for k := i - n; k < i; k++ {
		p := d.slot(k)
		if p[12] != 0 || p[26] != 0 || p[27] != 0 || Attr(p[11]) != attrLongName {
			c.fix(CodeLongNameField, c.entryPath(d, i), "reserved fields of a long-name slot are not 0")
			p[11], p[12], p[26], p[27] = byte(attrLongName), 0, 0, 0
			d.touch(k)
		}
	}
	if !longNameSafe(units) {
		c.cleanLong(d, i, units, n)
	}
	return i - n
}

// adoptLong handles a run of long-name slots that does not fit the entry at
// slot i. If only the short name was damaged, the run is whole and gets the
// checksum of the short name as it will be: it returns its length.
func (c *checker) adoptLong(d *checkDir, set, i int) int {
	var name [11]byte
	copy(name[:], d.slot(i))
	if goodShort(&name) {
		return 0 // renamed by a system without long names, most likely
	}
	sum := shortChecksum(name[:])
	n := 0
	for k := i - 1; k >= set; k-- {
		n++
		p := d.slot(k)
		if int(p[0]&^lfnLast) != n || p[13] != d.slot(i - 1)[13] {
			return 0
		}
		if p[0]&lfnLast == 0 {
			continue
		}
		for k := i - n; k < i; k++ {
			d.slot(k)[13] = sum
			d.touch(k)
		}
		if _, got := decodeLong(d.raw, i, nil); got != n {
			return 0
		}
		return n
	}
	return 0
}

// cleanLong replaces what no name may hold, in place.
func (c *checker) cleanLong(d *checkDir, i int, units []uint16, n int) {
	old := unitsToString(units)
	dots := true
	for k, u := range units {
		if u < 0x20 || u == 0x7F || u < 0x80 && badLong.has(byte(u)) {
			units[k] = '_'
		}
		dots = dots && units[k] == '.'
	}
	if dots { // "." and ".."
		for k := range units {
			units[k] = '_'
		}
	}
	c.fix(CodeBadLongName, c.path(d.node), "the name %q holds characters that names must not hold; it becomes %q", old, unitsToString(units))
	c.putLong(d, i, units, n)
}

// putLong writes the n long-name slots before slot i.
func (c *checker) putLong(d *checkDir, i int, units []uint16, n int) {
	encodeLong(d.raw[(i-n)*slotSize:i*slotSize], units, shortChecksum(d.slot(i)))
	for k := i - n; k < i; k++ {
		d.touch(k)
	}
}

// checkNames makes the names of the entry at slot i legal and unique in its
// directory. set is its first long-name slot or -1.
func (c *checker) checkNames(d *checkDir, names *dirNames, set, i int) {
	p := d.slot(i)
	var short [11]byte
	copy(short[:], p)
	if p[12]&noShort != 0 && set < 0 {
		c.fix(CodeBadShortName, c.entryPath(d, i), "marked as having no 8.3 name, and has no long one; the mark is removed")
		p[12] &^= noShort
		d.touch(i)
	}
	if !goodShort(&short) {
		if p[12]&noShort == 0 {
			c.fix(CodeBadShortName, c.entryPath(d, i), "the 8.3 name %q is not legal; it becomes legal", short[:])
		}
		if p[12]&noShort == 0 || set < 0 {
			c.renameShort(d, names, set, i, cleanShort(short))
			copy(short[:], p)
		}
	}
	key := foldedShort(short)
	if names.taken[key] {
		c.fix(CodeDuplicateName, c.entryPath(d, i), "another entry of the directory has the 8.3 name %q; this one gets a new one", shortName(short))
		c.renameShort(d, names, set, i, short)
		copy(short[:], p)
		key = foldedShort(short)
	}
	if set >= 0 {
		units, n := decodeLong(d.raw, i, nil)
		long := foldedUnits(units)
		if long != key && names.taken[long] {
			old := unitsToString(units)
			units = names.uniqueLong(units, n)
			c.fix(CodeDuplicateName, c.path(d.node), "two entries are called %q; this one becomes %q", old, unitsToString(units))
			c.putLong(d, i, units, n)
			long = foldedUnits(units)
		}
		names.taken[long] = true
	}
	names.taken[key] = true
}

// foldedUnits is the key under which a long name collides.
func foldedUnits(units []uint16) string {
	buf := make([]uint16, len(units))
	copy(buf, units)
	return unitsToString(foldUnits(buf))
}

// foldedShort is the same for an 8.3 name.
func foldedShort(short [11]byte) string {
	return unitsToString(foldUnits(appendShort(nil, &short, 0)))
}

// cleanShort replaces what an 8.3 name must not hold.
func cleanShort(short [11]byte) [11]byte {
	blank := true
	for i, b := range short {
		if b < ' ' && !(i == 0 && b == slotKanji) || b == 0x7F || b == '.' || badLong.has(b) {
			short[i] = '_'
		}
		blank = blank && short[i] == ' '
	}
	if blank {
		return [11]byte{'N', 'O', 'N', 'A', 'M', 'E', ' ', ' ', ' ', ' ', ' '}
	}
	if short[0] == ' ' {
		short[0] = '_'
	}
	return short
}

// renameShort gives the entry at slot i an 8.3 name like base that is free,
// and its long name the new checksum.
func (c *checker) renameShort(d *checkDir, names *dirNames, set, i int, base [11]byte) {
	short := base
	stem := 8
	for stem > 0 && base[stem-1] == ' ' {
		stem--
	}
	for names.taken[foldedShort(short)] {
		short = joinShort(withTail(base[:stem], names.next), base[8:])
		names.next++
	}
	p := d.slot(i)
	copy(p, short[:])
	d.touch(i)
	if set < 0 {
		return
	}
	sum := shortChecksum(short[:])
	for k := set; k < i; k++ {
		d.slot(k)[13] = sum
		d.touch(k)
	}
}

// uniqueLong returns a name like units that is free and fits n slots: "~N"
// before the extension.
func (names *dirNames) uniqueLong(units []uint16, n int) []uint16 {
	dot := len(units)
	for k := len(units) - 1; k > 0; k-- {
		if units[k] == '.' {
			dot = k
			break
		}
	}
	most := min(n*lfnUnits, maxName)
	for ; ; names.next++ {
		tail := appendUnits(nil, fmt.Sprintf("~%d", names.next))
		stem, ext := units[:dot], units[dot:]
		if room := most - len(tail) - len(ext); room < 1 {
			stem, ext = units[:min(len(units), most-len(tail))], nil
		} else if len(stem) > room {
			stem = stem[:room]
		}
		out := append(append(append([]uint16(nil), stem...), tail...), ext...)
		if longSlots(len(out)) == n && !names.taken[foldedUnits(out)] {
			return out
		}
		if longSlots(len(out)) < n { // the extension was cut: pad to keep the slots
			for longSlots(len(out)) < n {
				out = append(out, '_')
			}
			if !names.taken[foldedUnits(out)] {
				return out
			}
		}
	}
}
