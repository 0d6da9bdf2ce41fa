package fat32

import (
	"errors"
	"fmt"
)

const (
	overlayPage  = 4096
	overlayPages = 64 << 20 / overlayPage
)

// errOverlayFull ends a look without repair that would have to remember too
// many changes.
var errOverlayFull = errors.New("too many changes to remember")

// checkIO is the checker's access to the device. A look without repair runs
// the same code as a repair; its writes go into an overlay in memory, so that
// what is found is what a repair would mend.
type checkIO struct {
	dev     Device
	txn     Transactional // nil: plain device
	overlay map[int64]*[overlayPage]byte
	wrote   bool
	// before is called once, before the first write of a repair.
	before func() error
}

func newCheckIO(dev Device, repair bool) *checkIO {
	d := &checkIO{dev: dev}
	if !repair {
		d.overlay = make(map[int64]*[overlayPage]byte)
		return d
	}
	d.txn, _ = dev.(Transactional)
	return d
}

func (d *checkIO) readOnly() bool { return d.overlay != nil }

func (d *checkIO) read(p []byte, off int64) error {
	if err := readFull(d.dev, p, off); err != nil {
		return err
	}
	if len(d.overlay) == 0 {
		return nil
	}
	for i := off / overlayPage; i*overlayPage < off+int64(len(p)); i++ {
		page := d.overlay[i]
		if page == nil {
			continue
		}
		at := i*overlayPage - off
		if at < 0 {
			copy(p, page[-at:])
		} else {
			copy(p[at:], page[:])
		}
	}
	return nil
}

func (d *checkIO) write(p []byte, off int64) error {
	if d.readOnly() {
		return d.writeOverlay(p, off)
	}
	if before := d.before; before != nil {
		d.before = nil
		if err := before(); err != nil {
			return err
		}
	}
	d.wrote = true
	if d.txn == nil {
		return writeFull(d.dev.WriteAt, p, off)
	}
	for len(p) > 0 {
		// Small pieces fit any transaction.
		n := min(len(p), 16<<10)
		if err := d.writeTxn(p[:n], off); err != nil {
			return err
		}
		p, off = p[n:], off+int64(n)
	}
	return nil
}

func (d *checkIO) writeTxn(p []byte, off int64) error {
	const edges = 2 * 4096 // blocks touched in part
	release, err := d.txn.Reserve(int64(len(p)) + edges)
	var full interface{ Full() bool }
	if err != nil && errors.As(err, &full) && full.Full() {
		if err := d.barrier(); err != nil {
			return err
		}
		release, err = d.txn.Reserve(int64(len(p)) + edges)
	}
	if err != nil {
		return fmt.Errorf("reserve: %w", err)
	}
	defer release()
	return writeFull(d.txn.WriteMeta, p, off)
}

func (d *checkIO) writeOverlay(p []byte, off int64) error {
	for len(p) > 0 {
		i, in := off/overlayPage, int(off%overlayPage)
		page := d.overlay[i]
		if page == nil {
			if len(d.overlay) >= overlayPages {
				return errOverlayFull
			}
			page = new([overlayPage]byte)
			n := min(int64(overlayPage), d.dev.Size()-i*overlayPage)
			if err := readFull(d.dev, page[:n], i*overlayPage); err != nil {
				return err
			}
			d.overlay[i] = page
		}
		n := copy(page[in:], p)
		p, off = p[n:], off+int64(n)
	}
	return nil
}

// barrier makes everything written so far durable before what follows.
func (d *checkIO) barrier() error {
	if d.readOnly() || !d.wrote {
		return nil
	}
	d.wrote = false
	if d.txn != nil {
		return d.txn.Seal()()
	}
	if err := d.dev.Sync(); err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	return nil
}
