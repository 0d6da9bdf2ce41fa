package fat32

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// Limits of what is on its way to the device behind its writers.
const (
	behindLeast = 64 << 10 // smaller writes are not worth a change of goroutines
	behindPart  = 1 << 20
	behindParts = 8
)

// behind is a device that can take writes of file data and carry them out after
// the writer has gone on, as the page cache of an operating system does: see
// File.WriteBehind. Whoever reads or writes a range that is under way waits for it, and Sync
// for all of them. A write that fails for want of space on the host is kept and tried again by the
// next Sync; meanwhile there are no new ones.
type behind struct {
	Device
	failed func(error) // told about a failure that cannot be mended

	count   atomic.Int32 // parts under way or kept
	mu      sync.Mutex
	cond    *sync.Cond
	parts   []*behindPiece // in order; the first is being written if running
	added   uint64         // parts ever queued
	done    uint64         // parts ever carried out
	err     error          // why parts are kept
	running bool
}

// behindPiece is one part.
type behindPiece struct {
	p   []byte
	off int64
	buf *[behindPart]byte // p is the beginning of it; from behindPool
}

func (w *behindPiece) overlaps(off, n int64) bool {
	return w.off < off+n && off < w.off+int64(len(w.p))
}

var behindPool = sync.Pool{New: func() any { return new([behindPart]byte) }}

func newBehind(dev Device, failed func(error)) *behind {
	b := &behind{Device: dev, failed: failed}
	b.cond = sync.NewCond(&b.mu)
	return b
}

// write is WriteAt, but large writes return before they are carried out.
func (b *behind) write(p []byte, off int64) (int, error) {
	if len(p) < behindLeast {
		return b.WriteAt(p, off)
	}
	done := 0
	for done < len(p) {
		part := p[done:min(len(p), done+behindPart)]
		buf := behindPool.Get().(*[behindPart]byte)
		copy(buf[:], part)
		if err := b.add(&behindPiece{buf[:len(part)], off + int64(done), buf}); err != nil {
			return done, err
		}
		done += len(part)
	}
	return done, nil
}

// add queues a part once there is room.
func (b *behind) add(w *behindPiece) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.parts) >= behindParts && b.err == nil {
		b.cond.Wait()
	}
	if b.err != nil {
		behindPool.Put(w.buf)
		return b.err
	}
	b.parts = append(b.parts, w)
	b.added++
	b.count.Add(1)
	if !b.running {
		b.running = true
		go b.work()
	}
	return nil
}

// work carries out parts until there are none left or one fails.
func (b *behind) work() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.parts) > 0 {
		w := b.parts[0]
		b.mu.Unlock()
		err := b.carryOut(w)
		b.mu.Lock()
		if err != nil {
			b.err = err
			if !hostFull(err) {
				b.failed(fmt.Errorf("write behind: %w", err))
			}
			break
		}
		b.parts = b.parts[1:]
		b.done++
		b.count.Add(-1)
		behindPool.Put(w.buf)
		b.cond.Broadcast()
	}
	b.running = false
	b.cond.Broadcast()
}

// carryOut writes one part. A panic of the device would end the process here, where nobody can recover from it.
func (b *behind) carryOut(w *behindPiece) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("panic in the device: %T", value)
		}
	}()
	return writeFull(b.Device.WriteAt, w.p, w.off)
}

// settle waits until nothing of a range is under way.
func (b *behind) settle(off, n int64) error {
	if b.count.Load() == 0 {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.touchesLocked(off, n) {
		if b.err != nil {
			return b.err
		}
		b.cond.Wait()
	}
	return nil
}

func (b *behind) touchesLocked(off, n int64) bool {
	for _, w := range b.parts {
		if w.overlaps(off, n) {
			return true
		}
	}
	return false
}

// drain returns nil when what was under way at the call has been carried out. What was kept is tried again.
func (b *behind) drain() error {
	if b.count.Load() == 0 {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err != nil && hostFull(b.err) && !b.running {
		b.err = nil
		b.running = true
		go b.work()
	}
	for target := b.added; b.done < target; b.cond.Wait() {
		if b.err != nil {
			return b.err
		}
	}
	return nil
}

// stop waits until no goroutine uses the device any more.
func (b *behind) stop() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err == nil {
		b.err = errors.New("volume is closed")
	}
	for b.running {
		b.cond.Wait()
	}
}

// ReadAt follows io.ReaderAt.
func (b *behind) ReadAt(p []byte, off int64) (int, error) {
	if err := b.settle(off, int64(len(p))); err != nil {
		return 0, err
	}
	return b.Device.ReadAt(p, off)
}

// WriteAt follows io.WriterAt.
func (b *behind) WriteAt(p []byte, off int64) (int, error) {
	if err := b.settle(off, int64(len(p))); err != nil {
		return 0, err
	}
	return b.Device.WriteAt(p, off)
}

// Sync returns nil only if all earlier writes are durable.
func (b *behind) Sync() error {
	if err := b.drain(); err != nil {
		return err
	}
	return b.Device.Sync()
}
