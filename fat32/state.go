package fat32

import (
	"encoding/binary"
	"fmt"
)

// readDirty reads the marks that say whether the volume was unmounted cleanly.
// The mark for disk errors counts too: repair leaves it when it was cut short.
func (v *Volume) readDirty() (bool, error) {
	dirty := v.boot.raw[v.boot.dirtyByte]&(stateDirty|stateIOError) != 0
	mask := v.cleanMark()
	if mask == 0 {
		return dirty, nil
	}
	p, err := v.fat.get(0)
	if err != nil {
		return false, err
	}
	defer v.fat.put(p)
	return dirty || v.geo.Type.getEntry(p.data, 0, 1)&mask == 0, nil
}

// cleanMark returns the bit of FAT entry 1 that is set on clean volumes.
func (v *Volume) cleanMark() uint32 {
	switch v.geo.Type {
	case FAT16:
		return cleanShutdown16
	case FAT32:
		return cleanShutdown32
	}
	return 0
}

// markDirty writes, before the first write of anything else, that the volume is in use
// and that nobody knows how many clusters are free. Transactional devices need neither.
// It is called where something is about to be written, not where an operation
// begins: one that fails or changes nothing leaves the device alone, and with it the
// modification time of the image. Nothing is written while the volume is frozen, so a
// frozen volume stays marked as clean.
func (v *Volume) markDirty() error {
	if v.marked.Load() {
		return nil
	}
	v.markMu.Lock()
	defer v.markMu.Unlock()
	if v.marked.Load() || v.txn != nil {
		v.marked.Store(true)
		return nil
	}
	if err := v.writeFSInfo(fsInfoNoIdea); err != nil {
		return err
	}
	if err := v.writeMark(true); err != nil {
		return err
	}
	if err := v.dev.Sync(); err != nil {
		err = fmt.Errorf("mark volume as in use: %w", err)
		v.fail(err)
		return err
	}
	v.marked.Store(true)
	return nil
}

// markClean writes the free count and then that the volume is clean, unless it
// was not when it was mounted: what was wrong then still is.
func (v *Volume) markClean() error {
	if v.txn != nil || !v.marked.Load() {
		return nil
	}
	v.scan.wait()
	free := fsInfoNoIdea
	if v.scan.err == nil {
		free = uint32(v.scan.free.Load())
	}
	if err := v.writeFSInfo(free); err != nil {
		return err
	}
	if !v.wasDirty {
		if err := v.dev.Sync(); err != nil {
			return fmt.Errorf("free cluster count: %w", err)
		}
		if err := v.writeMark(false); err != nil {
			return err
		}
	}
	return wrapf(v.dev.Sync(), "mark volume as clean")
}

// writeMark sets or clears the dirty marks in the boot sector and in the FATs.
func (v *Volume) writeMark(dirty bool) error {
	old := v.boot.raw[v.boot.dirtyByte]
	state := old &^ stateDirty
	if dirty {
		state |= stateDirty
	}
	v.boot.raw[v.boot.dirtyByte] = state
	if err := writeFull(v.dev.WriteAt, v.boot.raw, 0); err != nil {
		v.boot.raw[v.boot.dirtyByte] = old
		return fmt.Errorf("boot sector: %w", err)
	}
	mask := v.cleanMark()
	if mask == 0 {
		return nil
	}
	p, err := v.fat.get(0)
	if err != nil {
		return err
	}
	defer v.fat.put(p)
	p.mu.Lock()
	defer p.mu.Unlock()
	e := v.geo.Type.getEntry(p.data, 0, 1) | mask
	if dirty {
		e &^= mask
	}
	v.geo.Type.putEntry(p.data, 0, 1, e)
	for _, off := range v.fat.copies(0) {
		if err := writeFull(v.dev.WriteAt, p.data[:fatUnit], off); err != nil {
			return fmt.Errorf("FAT: %w", err)
		}
	}
	return nil
}

// writeFSInfo writes the number of free clusters to the FSInfo sector.
func (v *Volume) writeFSInfo(free uint32) error {
	if v.boot.fsInfoOffset == 0 {
		return nil
	}
	write := v.dev.WriteAt
	if v.txn != nil {
		write = v.txn.WriteMeta
	}
	v.alloc.mu.Lock()
	next := uint32(min(v.alloc.next, v.alloc.count-1)) + firstCluster
	v.alloc.mu.Unlock()
	p := encodeFSInfo(free, next)
	return wrapf(writeFull(write, p, v.boot.fsInfoOffset), "FSInfo")
}

// setBootLabel returns the boot sector with another label, nil if it has none.
func (v *Volume) setBootLabel(label [11]byte) []byte {
	at := 38
	if v.geo.Type == FAT32 {
		at = 66
	}
	if !v.boot.hasLabel {
		return nil
	}
	copy(v.boot.raw[at+5:], label[:])
	v.boot.label = label
	return append([]byte(nil), v.boot.raw...)
}

// serialAt is used by Format: serial number and label of the extended boot record.
func putTail(raw []byte, at int, serial uint32, label [11]byte, kind string) {
	raw[at] = 0x29
	binary.LittleEndian.PutUint32(raw[at+1:], serial)
	copy(raw[at+5:], label[:])
	copy(raw[at+16:at+24], kind)
}
