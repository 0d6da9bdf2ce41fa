package fat32

import (
	"bytes"
	"fmt"
)

// checkFATCopies compares the copies of the FAT, sector by sector. The first is
// right unless it is not plausible and another one is: it cannot be read, is
// all zeros or all ones where another copy has entries, or has more entries
// that point out of the volume.
func (c *checker) checkFATCopies() error {
	if c.g.FATCount < 2 || !c.g.Mirrored {
		return nil
	}
	length := c.g.Type.fatBytes(c.g.limit())
	step := int64(fatPage) * int64(c.g.SectorSize) / 512 // whole sectors and whole pages
	first, other := make([]byte, step), make([]byte, step)
	differ, taken := 0, 0
	for off := int64(0); off < length; off += step {
		if err := c.tick("fat", off, length); err != nil {
			return err
		}
		n := min(step, length-off)
		for k := 1; k < c.g.FATCount; k++ {
			d, t, err := c.compareFAT(first[:n], other[:n], off, k)
			if err != nil {
				return fmt.Errorf("FAT copy %d: %w", k+1, err)
			}
			differ, taken = differ+d, taken+t
		}
	}
	if differ > 0 {
		c.fix(CodeFATDiffer, "", "FAT copies differ in %d sectors; the first copy is used in %d of them, another one in %d",
			differ, differ-taken, taken)
	}
	return nil
}

// compareFAT compares a stretch of copy k with the first copy and makes both
// equal. It returns how many sectors differed and in how many copy k won.
func (c *checker) compareFAT(first, other []byte, off int64, k int) (differ, taken int, err error) {
	base, copyBase := c.g.FATOffset+off, c.g.FATOffset+int64(k)*c.g.FATSize+off
	firstErr := c.io.read(first, base)
	otherErr := c.io.read(other, copyBase)
	if firstErr != nil && otherErr != nil {
		return 0, 0, firstErr
	}
	if firstErr == nil && otherErr == nil && bytes.Equal(first, other) {
		return 0, 0, nil
	}
	ss := c.g.SectorSize
	for i := 0; i < len(first); i += ss {
		end := min(i+ss, len(first))
		a, b := first[i:end], other[i:end]
		if firstErr == nil && otherErr == nil && bytes.Equal(a, b) {
			continue
		}
		differ++
		if firstErr != nil || otherErr == nil && c.lessPlausible(a, b, off+int64(i)) {
			taken++
			copy(a, b)
			if err := c.io.write(a, base+int64(i)); err != nil {
				return differ, taken, err
			}
			continue
		}
		if err := c.io.write(a, copyBase+int64(i)); err != nil {
			return differ, taken, err
		}
	}
	return differ, taken, nil
}

// lessPlausible reports whether FAT bytes a, from offset off, are worse than b.
func (c *checker) lessPlausible(a, b []byte, off int64) bool {
	if blank(a) != blank(b) {
		return blank(a)
	}
	return c.impossible(a, off) > c.impossible(b, off)
}

// blank: all bytes zero or all 0xFF, as an erased sector.
func blank(p []byte) bool {
	if p[0] != 0 && p[0] != 0xFF {
		return false
	}
	for _, v := range p {
		if v != p[0] {
			return false
		}
	}
	return true
}

// impossible counts entries in a stretch of a FAT that no chain can have.
func (c *checker) impossible(p []byte, off int64) int {
	t := c.g.Type
	var cluster uint32 // first entry that begins in the stretch
	switch t {
	case FAT12:
		cluster = uint32((off*2 + 2) / 3)
	case FAT16:
		cluster = uint32(off / 2)
	default:
		cluster = uint32(off / 4)
	}
	bad := 0
	for ; cluster < c.g.limit(); cluster++ {
		at, size := t.entryRange(cluster)
		if at+int64(size) > off+int64(len(p)) {
			break
		}
		v := t.getEntry(p, off, cluster)
		if cluster < firstCluster {
			if v|0xFF|cleanShutdown32|noHardError32|cleanShutdown16|noHardError16 < entryReservedMin && t != FAT16 {
				bad += 4
			}
			continue
		}
		if v != entryFree && v < entryBad && !c.g.valid(v) {
			bad++
		}
	}
	return bad
}
