package fat32

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// bootBytes is how much of the first sector belongs to the boot record.
const bootBytes = 512

// openBoot finds a usable boot sector: the first, or its backup.
func (c *checker) openBoot() error {
	size := c.io.dev.Size()
	raw := make([]byte, bootBytes)
	if size < bootBytes {
		return fmt.Errorf("device of %d bytes: %w", size, ErrNotFAT)
	}
	if err := c.io.read(raw, 0); err != nil {
		return fmt.Errorf("boot sector: %w", err)
	}
	first, err := decodeBootWith(c.io.read, raw, size)
	backup, at := findBackup(c.io.read, size, first)
	switch {
	case err != nil && backup == nil:
		return err
	case err != nil:
		c.fix(CodeBootSector, "", "the boot sector is unusable (%v); the backup at byte %d takes its place", err, at)
		c.boot = backup
	case backup != nil && !sameGeometry(first, backup) && plausibility(c.io.read, backup) > plausibility(c.io.read, first):
		c.fix(CodeBootSector, "", "the boot sector does not fit the volume, its backup at byte %d does and takes its place", at)
		c.boot = backup
	default:
		c.boot = first
	}
	state := c.boot.raw[c.boot.dirtyByte]
	c.report.Dirty = state&stateDirty != 0
	c.ioMark = state&stateIOError != 0
	c.g = c.boot.Geometry
	c.fat = newCheckFAT(c.io, &c.g)
	if c.io.txn == nil {
		c.io.before = c.markUnsound
	}
	if c.boot == backup && backup != nil {
		if err := c.io.write(backup.raw, 0); err != nil {
			return fmt.Errorf("boot sector: %w", err)
		}
	}
	if c.g.Type != FAT32 {
		return nil
	}
	if err := c.checkBackup(); err != nil {
		return fmt.Errorf("backup boot sector: %w", err)
	}
	return c.placeFSInfo()
}

// markUnsound marks the volume before the first change of a repair, so that one
// that is cut off is taken up again; finish takes the mark away. It is the mark
// of disk errors, not the dirty one: on a dirty volume two entries of one start
// count as one file, and damage of a volume that was closed must not.
func (c *checker) markUnsound() error {
	c.boot.raw[c.boot.dirtyByte] |= stateIOError
	if err := c.io.write(c.boot.raw, 0); err != nil {
		return err
	}
	return c.io.barrier()
}

// findBackup returns the backup boot sector, if there is one that can be
// parsed: where the boot sector says, or else in sector 6 of any sector size.
func findBackup(read func([]byte, int64) error, size int64, first *bootSector) (*bootSector, int64) {
	places := []int64{6 * 512, 6 * 1024, 6 * 2048, 6 * 4096}
	if first != nil {
		if first.Type != FAT32 {
			return nil, 0
		}
		if first.backupOffset > 0 {
			places = []int64{first.backupOffset}
		}
	}
	for _, at := range places {
		raw := make([]byte, bootBytes)
		if at+bootBytes > size || read(raw, at) != nil {
			continue
		}
		b, err := decodeBoot(raw, size)
		if err == nil && b.Type == FAT32 && b.backupOffset == at {
			return b, at
		}
	}
	return nil, 0
}

// sameGeometry reports whether two boot sectors describe the same layout.
func sameGeometry(a, b *bootSector) bool {
	x, y := a.Geometry, b.Geometry
	x.Hidden, y.Hidden = 0, 0
	return x == y
}

// plausibility scores how well a boot sector fits what is on the device.
func plausibility(read func([]byte, int64) error, b *bootSector) int {
	score := 0
	head := make([]byte, 512)
	if read(head, b.FATOffset) != nil {
		return 0
	}
	if v := b.Type.getEntry(head, 0, 0); byte(v) == b.Media && v|0xFF == entryEnd {
		score += 2
	}
	if b.Type.getEntry(head, 0, 1)|cleanShutdown32|noHardError32 == entryEnd {
		score++
	}
	second := make([]byte, 512)
	if b.FATCount > 1 && read(second, b.FATOffset+b.FATSize) == nil && bytes.Equal(head, second) {
		score += 2
	}
	return score + plausibleRoot(read, b)
}

// plausibleRoot scores the root directory and the folders in its first sector:
// their first clusters must hold their dots.
func plausibleRoot(read func([]byte, int64) error, b *bootSector) int {
	root, score := make([]byte, 512), 0
	off := b.RootOffset
	if b.Type == FAT32 {
		off = b.clusterOffset(b.RootCluster)
		p := make([]byte, 4)
		at, n := b.Type.entryRange(b.RootCluster)
		if read(p[:n], b.FATOffset+at) == nil && b.Type.getEntry(p, at, b.RootCluster) != entryFree {
			score += 2
		}
	}
	if read(root, off) != nil {
		return score
	}
	if good, bad := scoreSlots(b.Type, root, &b.Geometry); good >= bad {
		score += 2
	}
	dot := make([]byte, slotSize)
	for i := 0; i < len(root); i += slotSize {
		e := b.Type.decodeEntry(root[i:])
		if !b.isDirSlot(root[i:i+slotSize]) || !b.valid(e.cluster) || read(dot, b.clusterOffset(e.cluster)) != nil {
			continue
		}
		if [11]byte(dot[:11]) == dotName && b.Type.decodeEntry(dot).cluster == e.cluster {
			score += 2
		} else {
			score--
		}
	}
	return score
}

// checkBackup compares the backup boot sector with the first and makes one if
// there is room but none.
func (c *checker) checkBackup() error {
	if c.boot.backupOffset == c.boot.fsInfoOffset {
		c.boot.backupOffset = 0 // none, or said to be where FSInfo is
	}
	if c.boot.backupOffset == 0 {
		return c.makeBackup()
	}
	raw := make([]byte, bootBytes)
	if err := c.io.read(raw, c.boot.backupOffset); err != nil {
		return err
	}
	if c.boot.raw[c.boot.dirtyByte]&(stateDirty|stateIOError) != 0 {
		raw[c.boot.dirtyByte] = c.boot.raw[c.boot.dirtyByte] // drivers mark the first only; finish writes both
	}
	if bytes.Equal(raw, c.boot.raw) {
		return nil
	}
	c.fix(CodeBackupBoot, "", "the backup boot sector at byte %d differs; it is rewritten", c.boot.backupOffset)
	return c.io.write(c.boot.raw, c.boot.backupOffset)
}

func (c *checker) makeBackup() error {
	le := binary.LittleEndian
	reserved := uint16(c.g.FATOffset / int64(c.g.SectorSize))
	info := le.Uint16(c.boot.raw[48:])
	if reserved < 3 {
		if le.Uint16(c.boot.raw[50:]) != info || info == 0 {
			return nil // no room; a volume without a backup is legal
		}
		c.fix(CodeBackupBoot, "", "the backup boot sector is said to be where FSInfo is, and there is no room for one; it is given up")
		le.PutUint16(c.boot.raw[50:], 0)
		return c.writeBoot()
	}
	sector := uint16(6)
	if reserved < 7 || info == sector {
		if sector = reserved - 1; sector == info {
			sector--
		}
	}
	c.fix(CodeBackupBoot, "", "there is no backup boot sector; one is put into sector %d", sector)
	le.PutUint16(c.boot.raw[50:], sector)
	c.boot.backupOffset = int64(sector) * int64(c.g.SectorSize)
	return c.writeBoot()
}

// writeBoot writes the boot sector and its backup.
func (c *checker) writeBoot() error {
	if c.boot.backupOffset > 0 {
		if err := c.io.write(c.boot.raw, c.boot.backupOffset); err != nil {
			return err
		}
		// One of the two is whole at any time.
		if err := c.io.barrier(); err != nil {
			return err
		}
	}
	return c.io.write(c.boot.raw, 0)
}

// placeFSInfo corrects a sector number of FSInfo that points nowhere.
func (c *checker) placeFSInfo() error {
	sector := binary.LittleEndian.Uint16(c.boot.raw[48:])
	if sector == 0 || sector == 0xFFFF || c.boot.fsInfoOffset > 0 {
		return nil
	}
	ss := int64(c.g.SectorSize)
	if c.g.FATOffset <= ss || c.boot.backupOffset == ss {
		return nil
	}
	c.fix(CodeFSInfo, "", "FSInfo is said to be in sector %d, outside the reserved area; sector 1 is used", sector)
	binary.LittleEndian.PutUint16(c.boot.raw[48:], 1)
	c.boot.fsInfoOffset = ss
	return c.writeBoot()
}

// checkFATHead looks at FAT entries 0 and 1: media byte and dirty marks.
func (c *checker) checkFATHead() error {
	v, err := c.fat.get(0)
	if err != nil {
		return err
	}
	if err := c.checkMedia(byte(v)); err != nil {
		return err
	}
	if want := entryEnd&^0xFF | uint32(c.g.Media); v != want {
		c.fix(CodeFATHead, "", "FAT entry 0 is %#x, should be %#x", v, want)
		if err := c.fat.set(0, want); err != nil {
			return err
		}
	}
	v, err = c.fat.get(1)
	if err != nil {
		return err
	}
	clean, sound := c.marks()
	full := c.g.Type.widen(v | clean | sound)
	if full == entryEnd || c.g.Type != FAT32 && full >= entryEndMin {
		c.report.Dirty = c.report.Dirty || v&clean != clean
		if v&sound != sound {
			c.fix(CodeIOErrorMark, "", "the volume is marked as having had disk errors; the mark is removed")
		}
		return nil
	}
	c.fix(CodeFATHead, "", "FAT entry 1 is %#x, not an end mark", v)
	return c.fat.set(1, entryEnd)
}

// checkMedia puts the media byte of the boot sector right; inFAT is what FAT
// entry 0 says.
func (c *checker) checkMedia(inFAT byte) error {
	legal := func(m byte) bool { return m == 0xF0 || m >= 0xF8 }
	if legal(c.g.Media) {
		return nil
	}
	want := byte(0xF8)
	if legal(inFAT) {
		want = inFAT
	}
	c.fix(CodeBootSector, "", "the media byte %#02x is none; it becomes %#02x", c.g.Media, want)
	c.boot.raw[21], c.g.Media = want, want
	return c.writeBoot()
}

// marks are the bits of FAT entry 1 that are clear while a volume is dirty
// and after a disk error, as getEntry shows them; 0 on FAT12.
func (c *checker) marks() (clean, sound uint32) {
	switch c.g.Type {
	case FAT32:
		return cleanShutdown32, noHardError32
	case FAT16:
		// Below 0xFFF0 getEntry does not widen: setting both marks gives a
		// value of 16 bits.
		return cleanShutdown16, noHardError16
	}
	return 0, 0
}

// finish writes what is left and takes the dirty marks away.
func (c *checker) finish() error {
	if err := c.finishFSInfo(); err != nil {
		return fmt.Errorf("FSInfo: %w", err)
	}
	if c.report.Dirty {
		c.fix(CodeDirty, "", "the volume was not closed properly")
	}
	if err := c.commit(); err != nil {
		return err
	}
	// The marks go last: until here a cut leaves a dirty volume dirty.
	c.io.before = nil
	if c.ioMark {
		c.fix(CodeIOErrorMark, "", "the boot sector is marked as after disk errors; the mark is removed")
	}
	if c.boot.raw[c.boot.dirtyByte]&(stateDirty|stateIOError) != 0 {
		c.boot.raw[c.boot.dirtyByte] &^= stateDirty | stateIOError
		if err := c.writeBoot(); err != nil {
			return err
		}
	}
	v, err := c.fat.get(1)
	if err != nil {
		return err
	}
	if v != entryEnd {
		if err := c.fat.set(1, entryEnd); err != nil {
			return err
		}
	}
	return c.commit()
}

// finishFSInfo compares FSInfo with the count.
func (c *checker) finishFSInfo() error {
	c.report.ClustersFree, c.report.ClustersBad = c.free, c.bad
	c.report.ClustersUsed = c.g.ClusterCount - c.free - c.bad
	if c.boot.fsInfoOffset == 0 {
		return nil
	}
	p := make([]byte, fsInfoBytes)
	if err := c.io.read(p, c.boot.fsInfoOffset); err != nil {
		return err
	}
	le := binary.LittleEndian
	change := false
	if !fsInfoValid(p) || p[508] != 0 || p[509] != 0 {
		c.fix(CodeFSInfo, "", "the FSInfo sector has lost its signatures; it is written anew")
		p, change = encodeFSInfo(c.free, fsInfoNoIdea), true
	}
	if n := le.Uint32(p[fsInfoFree:]); n != c.free {
		detail := fmt.Sprintf("FSInfo says %d free clusters, %d are free", n, c.free)
		if n == fsInfoNoIdea {
			detail = fmt.Sprintf("FSInfo does not know the number of free clusters, it is %d", c.free)
		}
		c.found(CodeFreeCount, "", detail, true)
		le.PutUint32(p[fsInfoFree:], c.free)
		change = true
	}
	if n := le.Uint32(p[fsInfoNext:]); n != fsInfoNoIdea && !c.g.valid(n) {
		c.fix(CodeFSInfo, "", "FSInfo's next free cluster is %d, outside the volume", n)
		le.PutUint32(p[fsInfoNext:], fsInfoNoIdea)
		change = true
	}
	if !change {
		return nil
	}
	return c.io.write(p, c.boot.fsInfoOffset)
}

// isNoSpace tells the one error of alloc that is no failure of the check.
func isNoSpace(err error) bool { return errors.Is(err, ErrNoSpace) }
