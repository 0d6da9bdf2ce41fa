package blocktest

import (
	"fmt"
	"io"
	"sync"
)

// Crash is a device in memory that records every write and sync, so that the
// images a power cut may leave can be made afterwards. Reads see every write.
// Safe for concurrent use. Its Log has the images (States, Image).
type Crash struct {
	*Log
	Live *Mem // the device as its user sees it
	mu   sync.Mutex
}

// NewCrash starts recording on top of start, which becomes the live device.
func NewCrash(start *Mem) *Crash {
	return &Crash{Log: NewLog(start), Live: start}
}

// ReadAt reads the live device.
func (c *Crash) ReadAt(p []byte, off int64) (int, error) { return c.Live.ReadAt(p, off) }

// WriteAt writes the live device and records the write.
func (c *Crash) WriteAt(p []byte, off int64) (int, error) {
	// One lock over both, so that the log's order of overlapping writes is
	// the order in which the live device got them.
	c.mu.Lock()
	defer c.mu.Unlock()
	n, err := c.Live.WriteAt(p, off)
	if n > 0 {
		c.Add(Event{Kind: Write, Off: off, Data: p[:n]})
	}
	return n, err
}

// Sync records that everything written before is durable.
func (c *Crash) Sync() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Add(Event{Kind: Sync})
	return nil
}

// Size is the length in bytes.
func (c *Crash) Size() int64 { return c.Live.Size() }

// WithDiscard returns the same device with a Discard method that zeroes at
// once and records it; the plain Crash has none, as most disks.
func (c *Crash) WithDiscard() *DiscardingCrash { return &DiscardingCrash{c} }

// DiscardingCrash is a Crash that can discard.
type DiscardingCrash struct{ *Crash }

// Discard makes the range zeros; a power cut before the next sync may undo it.
func (c *DiscardingCrash) Discard(off, n int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.Live.Discard(off, n); err != nil {
		return err
	}
	c.Add(Event{Kind: Discard, Off: off, Len: n})
	return nil
}

// Backend is what a Trace can sit on: an image file or a device.
type Backend interface {
	io.ReaderAt
	io.WriterAt
	Sync() error
}

// Trace passes everything on to a real backend and records what changes it.
// It works at the level of an image file (a format above it sees a file) as
// well as of a device. Methods the backend lacks fail with an error, so that
// a call that the log does not cover is noticed.
type Trace struct {
	*Log
	back Backend
	mu   sync.Mutex
}

// NewTrace records on top of back, whose present content must be start's
// (blocktest.Load of the same file): the replayed images begin there.
func NewTrace(back Backend, start *Mem) *Trace {
	return &Trace{Log: NewLog(start), back: back}
}

// ReadAt reads the backend.
func (t *Trace) ReadAt(p []byte, off int64) (int, error) { return t.back.ReadAt(p, off) }

// WriteAt writes the backend and records what it accepted.
func (t *Trace) WriteAt(p []byte, off int64) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, err := t.back.WriteAt(p, off)
	if n > 0 {
		t.Add(Event{Kind: Write, Off: off, Data: p[:n]})
	}
	return n, err
}

// Sync syncs the backend and records it if that succeeded.
func (t *Trace) Sync() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.back.Sync(); err != nil {
		return err
	}
	t.Add(Event{Kind: Sync})
	return nil
}

// Size is the backend's length. A backend without Size is an error of the
// test and panics.
func (t *Trace) Size() int64 {
	if s, ok := t.back.(interface{ Size() int64 }); ok {
		return s.Size()
	}
	panic(fmt.Sprintf("blocktest: backend %T has no Size", t.back))
}

// Truncate changes the length of the backend.
func (t *Trace) Truncate(size int64) error {
	b, ok := t.back.(interface{ Truncate(int64) error })
	if !ok {
		return fmt.Errorf("trace: backend %T cannot truncate", t.back)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := b.Truncate(size); err != nil {
		return err
	}
	t.Add(Event{Kind: Truncate, Len: size})
	return nil
}

// Discard discards a range of the backend; it is replayed as zeros.
func (t *Trace) Discard(off, n int64) error {
	b, ok := t.back.(interface{ Discard(off, n int64) error })
	if !ok {
		return fmt.Errorf("trace: backend %T cannot discard", t.back)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := b.Discard(off, n); err != nil {
		return err
	}
	t.Add(Event{Kind: Discard, Off: off, Len: n})
	return nil
}

// Punch is Discard under the name image files use.
func (t *Trace) Punch(off, n int64) error {
	b, ok := t.back.(interface{ Punch(off, n int64) error })
	if !ok {
		return fmt.Errorf("trace: backend %T cannot punch", t.back)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := b.Punch(off, n); err != nil {
		return err
	}
	t.Add(Event{Kind: Discard, Off: off, Len: n})
	return nil
}

// Close closes the backend if it can be closed.
func (t *Trace) Close() error {
	if c, ok := t.back.(io.Closer); ok {
		return c.Close()
	}
	return nil
}
