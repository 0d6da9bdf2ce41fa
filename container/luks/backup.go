package luks

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"coffer/container/block"
)

// copyChunk bounds the memory of copying keyslot regions.
const copyChunk = 1 << 20

// BackupBytes is the size of a backup of this header: both copies and the
// keyslots region, as cryptsetup's luksHeaderBackup writes it.
func (h *Header) BackupBytes() int64 { return int64(h.regionEnd()) }

// Backup writes a backup of the header to w, a file that cryptsetup's
// luksHeaderRestore accepts: two good header copies, whatever their state on
// dev, and the keyslots region. It does not write to dev.
//
// A backup opens the container with the passwords of its time, also after they
// were changed or removed.
func (h *Header) Backup(dev io.ReaderAt, w io.Writer) error {
	for _, off := range []int64{0, h.bin.headerSize} {
		b, err := encodeCopy(h.bin, off, h.text)
		if err != nil {
			return err
		}
		if _, err := w.Write(b); err != nil {
			return fmt.Errorf("write header backup: %w", err)
		}
	}
	region := io.NewSectionReader(dev, int64(h.regionStart()), int64(h.meta.keyslotsBytes))
	n, err := io.CopyBuffer(struct{ io.Writer }{w}, region, make([]byte, copyChunk))
	if err != nil {
		return fmt.Errorf("copy keyslots to the header backup: %w", err)
	}
	if n != int64(h.meta.keyslotsBytes) {
		return fmt.Errorf("the image ends inside the keyslots: %w", ErrDamaged)
	}
	return nil
}

// ReadBackup reads the header of a backup file of size bytes. ErrDamaged if
// the file is incomplete.
func ReadBackup(backup io.ReaderAt, size int64) (*Header, error) {
	h, err := Read(backup)
	if err != nil {
		return nil, fmt.Errorf("header backup: %w", err)
	}
	if size < h.BackupBytes() {
		return nil, fmt.Errorf("header backup has %d of %d bytes: %w", size, h.BackupBytes(), ErrDamaged)
	}
	return h, nil
}

// Restore writes the header of a backup, read with ReadBackup, to dev. Its
// UUID, header size and payload must fit those of the header on dev, if that
// can be read; force lifts the UUID's check.
//
// If dev's header is good, a cut at any write leaves the passwords of either
// the old header or the backup working: key material that differs is first
// written to areas the old header does not use, and the areas it did use are
// wiped last. Only where the region has no room for that, or nothing readable
// is there, the region is written in place, keyslots first.
func (b *Header) Restore(dev block.Device, backup io.ReaderAt, force bool) error {
	if err := b.fits(dev); err != nil {
		return err
	}
	old, err := Read(dev)
	if err != nil {
		if errors.Is(err, ErrNotLUKS2) && !force {
			return fmt.Errorf("nothing says that this file was a LUKS2 container: %w", ErrMismatch)
		}
		return b.restoreInPlace(dev, backup)
	}
	if old.bin.uuid != b.bin.uuid && !force {
		return fmt.Errorf("backup has UUID %s, the container %s: %w", b.bin.uuid, old.bin.uuid, ErrMismatch)
	}
	if old.bin.headerSize != b.bin.headerSize || old.regionEnd() != b.regionEnd() || old.meta.segments[0].offset != b.meta.segments[0].offset {
		if !force {
			return fmt.Errorf("backup and container differ in header size or payload offset: %w", ErrMismatch)
		}
		return b.restoreInPlace(dev, backup)
	}
	b.bin.seqID = max(b.bin.seqID, old.bin.seqID)
	moves, err := b.planMoves(old, dev, backup)
	if errors.Is(err, ErrNoFreeSlot) {
		return b.restoreInPlace(dev, backup)
	}
	if err != nil {
		return err
	}
	return b.restoreBeside(old, dev, backup, moves)
}

// fits checks the backup against the device alone.
func (b *Header) fits(dev block.Device) error {
	if b.BackupBytes() > dev.Size() {
		return fmt.Errorf("backup of %d bytes, container of %d: %w", b.BackupBytes(), dev.Size(), ErrMismatch)
	}
	for _, s := range b.meta.segments {
		if s.offset >= uint64(dev.Size()) || s.size > uint64(dev.Size())-s.offset {
			return fmt.Errorf("the backup's payload at %d lies outside the container of %d bytes: %w", s.offset, dev.Size(), ErrMismatch)
		}
	}
	return nil
}

// planMoves finds for every keyslot of the backup the area it goes to: where
// it was if the same bytes are there, else one that the old header leaves
// free.
func (b *Header) planMoves(old *Header, dev, backup io.ReaderAt) (map[int]area, error) {
	moves := map[int]area{}
	used := old.areas()
	var homeless []int
	for _, id := range slices.Sorted(maps.Keys(b.meta.keyslots)) {
		a := b.meta.keyslots[id].area
		same, err := equalRange(dev, backup, a)
		if err != nil {
			return nil, err
		}
		if !same {
			homeless = append(homeless, id)
			continue
		}
		moves[id] = a
		used = append(used, a)
	}
	for _, id := range homeless {
		a, err := findGap(used, b.regionStart(), b.regionEnd(), b.meta.keyslots[id].area.size)
		if err != nil {
			return nil, err
		}
		moves[id] = a
		used = append(used, a)
	}
	return moves, nil
}

// restoreBeside carries out the moves, switches the header, wipes the rest.
func (b *Header) restoreBeside(old *Header, dev block.Device, backup io.ReaderAt, moves map[int]area) error {
	root := b.root.clone()
	for id, to := range moves {
		from := b.meta.keyslots[id].area
		if err := copyArea(dev, backup, from, to.offset); err != nil {
			return fmt.Errorf("restore keyslot %d: %w", id, err)
		}
		root.get("keyslots").get(itoa(id)).get("area").set("offset", newUint64(to.offset))
	}
	if err := dev.Sync(); err != nil {
		return err
	}
	if err := b.update(dev, root); err != nil {
		return err
	}
	for _, a := range old.areas() {
		if slices.ContainsFunc(b.areas(), func(n area) bool { return n.offset < a.end() && a.offset < n.end() }) {
			continue
		}
		if err := wipe(dev, a); err != nil {
			return fmt.Errorf("wipe replaced key material: %w", err)
		}
	}
	return nil
}

// restoreInPlace writes the backup as it is: region, sync, header copies.
func (b *Header) restoreInPlace(dev block.Device, backup io.ReaderAt) error {
	region := area{b.regionStart(), b.meta.keyslotsBytes}
	if err := copyArea(dev, backup, region, region.offset); err != nil {
		return fmt.Errorf("restore keyslots: %w", err)
	}
	if err := dev.Sync(); err != nil {
		return err
	}
	b.foreignStart = false // the caller asked for this very place
	return b.update(dev, b.root)
}

// copyArea copies a range of src to offset to of dev.
func copyArea(dev block.Device, src io.ReaderAt, from area, to uint64) error {
	buf := make([]byte, min(from.size, copyChunk))
	for done := uint64(0); done < from.size; {
		part := buf[:min(from.size-done, copyChunk)]
		if err := block.ReadFull(src, part, int64(from.offset+done)); err != nil {
			return err
		}
		if _, err := dev.WriteAt(part, int64(to+done)); err != nil {
			return err
		}
		done += uint64(len(part))
	}
	return nil
}

// equalRange compares a range of two devices.
func equalRange(x, y io.ReaderAt, a area) (bool, error) {
	p, q := make([]byte, min(a.size, copyChunk)), make([]byte, min(a.size, copyChunk))
	for off := a.offset; off < a.end(); {
		n := min(a.end()-off, copyChunk)
		if err := errors.Join(block.ReadFull(x, p[:n], int64(off)), block.ReadFull(y, q[:n], int64(off))); err != nil {
			return false, err
		}
		if !bytes.Equal(p[:n], q[:n]) {
			return false, nil
		}
		off += n
	}
	return true, nil
}
