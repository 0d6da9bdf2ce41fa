package container

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"coffer/container/aesxts"
	"coffer/container/block"
	"coffer/container/image"
	"coffer/container/secret"
)

// Volume is an open container: a block device over the decrypted payload.
//
// All methods may be called concurrently. Requests of any offset and length
// are served; those that share a data unit are serialised, all others run side
// by side. Buffers are not kept after a call.
type Volume struct {
	dev      block.Device
	file     *image.File // closed with the Volume; nil if dev is the caller's
	info     Info
	base     int64 // where the payload begins on dev
	size     int64 // bytes of the payload
	readOnly bool
	discard  bool
	zero     bool // see KnownZero

	units *unitDevice    // nil: not encrypted
	keys  *secret.Buffer // memory of the engine's key schedule
	hints *hints         // nil: the device takes none

	open   sync.RWMutex // held for reading by every operation, for writing by Close
	closed bool
	failed atomic.Pointer[error] // the sync that failed
	syncs  syncGroup
	busy   busy
}

var (
	_ block.Device    = (*Volume)(nil)
	_ block.Discarder = (*Volume)(nil)
)

// layout is where the payload lies and how it is encrypted.
type layout struct {
	base, size int64
	unit       int
	tweak      uint64 // number of the first data unit, in 512-byte steps
}

// newVolume makes a Volume over dev. key is the volume key, nil for none; it is
// not kept, only its expanded form in locked memory.
func newVolume(dev block.Device, l layout, key []byte) (*Volume, error) {
	v := &Volume{dev: dev, base: l.base, size: l.size, busy: busy{start: time.Now()}}
	if key != nil {
		keys, err := secret.New(aesxts.ScheduleSize)
		if err != nil {
			return nil, err
		}
		engine, err := aesxts.New(key, l.unit, aesxts.WithMemory(keys.Bytes()),
			aesxts.WithTweak(l.tweak, uint64(l.unit/512)), aesxts.AllowEqualKeys())
		if err != nil {
			keys.Destroy()
			return nil, err
		}
		v.keys, v.units = keys, newUnitDevice(dev, l.base, engine, &v.busy)
		v.info.Engine = engine.Implementation()
	}
	if h, ok := dev.(hinter); ok {
		v.hints = newHints(h, l.base)
	}
	return v, nil
}

// enter begins an operation; leave must follow unless it fails.
func (v *Volume) enter() error {
	v.open.RLock()
	if v.closed {
		v.open.RUnlock()
		return fmt.Errorf("volume: %w", ErrClosed)
	}
	return nil
}

func (v *Volume) leave() { v.open.RUnlock() }

// writable is nil if the volume may be written to.
func (v *Volume) writable() error {
	if v.readOnly {
		return ErrReadOnly
	}
	if e := v.failed.Load(); e != nil {
		return *e
	}
	return nil
}

// ReadAt implements io.ReaderAt. Parts of an encrypted payload that were never
// written read as noise.
func (v *Volume) ReadAt(p []byte, off int64) (int, error) {
	if err := v.enter(); err != nil {
		return 0, err
	}
	defer v.leave()
	n, eof := block.ClipRead(off, len(p), v.size)
	if n == 0 {
		return 0, eof
	}
	got, err := v.read(p[:n], off)
	if v.hints != nil && got > 0 {
		v.hints.read(off, int64(got))
	}
	if err != nil {
		return got, err
	}
	return got, eof
}

func (v *Volume) read(p []byte, off int64) (int, error) {
	if v.units != nil {
		return v.units.readAt(p, off)
	}
	weight := v.busy.weight(len(p))
	at := v.busy.now(weight)
	n, err := v.dev.ReadAt(p, v.base+off)
	v.busy.add(&v.busy.read, at, weight)
	if n == len(p) {
		err = nil
	}
	return n, err
}

// WriteAt implements io.WriterAt. The bytes are durable after the next Sync
// that returns nil. After a failed sync every write gives that error.
func (v *Volume) WriteAt(p []byte, off int64) (int, error) {
	if err := v.enter(); err != nil {
		return 0, err
	}
	defer v.leave()
	if err := v.writable(); err != nil {
		return 0, fmt.Errorf("write: %w", err)
	}
	if err := block.CheckRange(off, int64(len(p)), v.size); err != nil {
		return 0, fmt.Errorf("write: %w", err)
	}
	if len(p) == 0 {
		return 0, nil
	}
	n, err := v.write(p, off)
	if v.hints != nil && n > 0 {
		v.hints.wrote(off, int64(n))
	}
	return n, err
}

func (v *Volume) write(p []byte, off int64) (int, error) {
	if v.units != nil {
		return v.units.writeAt(p, off)
	}
	weight := v.busy.weight(len(p))
	at := v.busy.now(weight)
	n, err := v.dev.WriteAt(p, v.base+off)
	v.busy.add(&v.busy.write, at, weight)
	return n, err
}

// Sync returns nil when every write that had returned before is durable.
// Callers that come while a sync runs share the next one. A failed sync makes
// the volume read-only until it is opened again and every later write and sync
// gives its error, for the host may have dropped what it could not write; the
// one exception is a full host (ErrNoSpace), after which the caller may free
// space, write again and sync again.
func (v *Volume) Sync() error {
	if err := v.enter(); err != nil {
		return err
	}
	defer v.leave()
	if v.readOnly {
		return nil
	}
	return v.syncs.do(v.syncOnce)
}

func (v *Volume) syncOnce() error {
	if e := v.failed.Load(); e != nil {
		return *e
	}
	at := v.busy.now(1)
	err := v.dev.Sync()
	v.busy.add(&v.busy.sync, at, 1)
	if err != nil && !errors.Is(err, ErrNoSpace) && !errors.Is(err, syscall.ENOSPC) {
		err = fmt.Errorf("volume is read-only after a failed sync: %w", err)
		v.failed.Store(&err)
	}
	return err
}

// Err is the error of a failed sync that made the volume read-only, else nil.
func (v *Volume) Err() error {
	if e := v.failed.Load(); e != nil {
		return *e
	}
	return nil
}

// Size is the length of the payload in bytes.
func (v *Volume) Size() int64 { return v.size }

// ReadOnly tells whether the volume was opened read-only.
func (v *Volume) ReadOnly() bool { return v.readOnly }

// KnownZero tells whether the payload is known to read as zeros: a new raw
// image. An encrypted payload never is.
func (v *Volume) KnownZero() bool { return v.zero }

// Info describes the open container.
func (v *Volume) Info() Info { return v.info }

// HostFreeBytes is what the host can still give to the image: a thin container
// can take no more than this, however much is free inside it. known is false
// if the volume has no image of its own or the host does not tell.
func (v *Volume) HostFreeBytes() (n int64, known bool) {
	if v.file == nil || v.enter() != nil {
		return 0, false
	}
	defer v.leave()
	n, err := v.file.FreeBytes()
	return n, err == nil
}

// ImageTraffic is how many bytes have been read from and written to the image
// file since it was opened; zeros for a device of the caller's.
func (v *Volume) ImageTraffic() (read, written int64) {
	if v.file == nil {
		return 0, 0
	}
	return v.file.Traffic()
}

// Path is the absolute path of the image, "" for a device of the caller's.
func (v *Volume) Path() string {
	if v.file == nil {
		return ""
	}
	return v.file.Path()
}

// Discard tells that n bytes at off are not needed any more. Raw volumes give
// the space back to the host, encrypted ones only with OpenOptions.AllowDiscard;
// otherwise nothing happens.
func (v *Volume) Discard(off, n int64) error {
	if err := v.enter(); err != nil {
		return err
	}
	defer v.leave()
	d, ok := v.dev.(block.Discarder)
	if !v.discard || !ok {
		return nil
	}
	if err := v.writable(); err != nil {
		return fmt.Errorf("discard: %w", err)
	}
	if err := block.CheckRange(off, n, v.size); err != nil {
		return fmt.Errorf("discard: %w", err)
	}
	if v.units == nil {
		return d.Discard(v.base+off, n)
	}
	// Whole data units only: the rest of an edge unit is still needed.
	u := v.units.unit
	first, end := (off+u-1)/u, (off+n)/u
	if first >= end {
		return nil
	}
	hold := v.units.locks.acquire(uint64(first), uint64(end), true)
	defer v.units.locks.release(hold)
	return d.Discard(v.base+first*u, (end-first)*u)
}

// StartWriteback asks the host to begin writing n bytes at off to the disk. The
// volume does it by itself for sequential writers. A hint, as are the next two.
func (v *Volume) StartWriteback(off, n int64) error {
	return v.hint(off, n, func(h hinter, off, n int64) error { return h.StartWriteback(off, n) })
}

// Prefetch asks the host to read n bytes at off ahead. It helps for scattered
// requests; a sequential reader is served better by the host's own read-ahead.
func (v *Volume) Prefetch(off, n int64) error {
	return v.hint(off, n, func(h hinter, off, n int64) error { return h.Prefetch(off, n) })
}

// DropCache asks the host to forget what it has cached of n bytes at off, so
// that the next read comes from the disk. Only synced bytes can be dropped.
func (v *Volume) DropCache(off, n int64) error {
	return v.hint(off, n, func(h hinter, off, n int64) error { return h.DropCache(off, n) })
}

func (v *Volume) hint(off, n int64, call func(hinter, int64, int64) error) error {
	if err := v.enter(); err != nil {
		return err
	}
	defer v.leave()
	h, ok := v.dev.(hinter)
	if !ok {
		return nil
	}
	if err := block.CheckRange(off, n, v.size); err != nil {
		return err
	}
	return call(h, v.base+off, n)
}

// Close waits for running operations, wipes the keys and closes the image. It
// does not sync: what was not synced may still reach the disk. Closing twice
// is harmless.
func (v *Volume) Close() error {
	v.open.Lock()
	defer v.open.Unlock()
	if v.closed {
		return nil
	}
	v.closed = true
	v.release()
	if v.file == nil {
		return nil
	}
	if err := v.file.Close(); err != nil {
		return fmt.Errorf("close image: %w", err)
	}
	return nil
}

// release wipes the keys and stops the hints; the device stays open.
func (v *Volume) release() {
	if v.hints != nil {
		v.hints.stop()
	}
	if v.units != nil {
		v.units.engine.Wipe()
	}
	v.keys.Destroy()
}
