package blocktest

import (
	"errors"
	"fmt"
	"sync"

	"coffer/container/block"
)

// Op is a set of kinds of operation.
type Op uint8

// The kinds of operation a Fault counts and fails.
const (
	OpRead Op = 1 << iota
	OpWrite
	OpSync
	OpDiscard
	OpAny = OpRead | OpWrite | OpSync | OpDiscard
)

// ErrInjected is the error of an Injection that names none.
var ErrInjected = errors.New("injected fault")

// Injection is one failure to come.
type Injection struct {
	Op     Op    // which operations it counts
	Nth    int   // fails the Nth of them from now, counted from 0
	Err    error // nil: ErrInjected
	Short  int   // bytes a read or write moves before it fails
	Sticky bool  // every later one of them fails too (a disk that is gone, a full disk)
	// Lost makes a write report success and do nothing, and a sync succeed:
	// the lying disk. Err and Short are then unused.
	Lost bool
}

// Fault is a device that fails when told. Safe for concurrent use.
type Fault struct {
	dev block.Device

	mu     sync.Mutex
	counts map[Op]int
	armed  *Injection
	left   int
	fired  int
}

// NewFault wraps dev; nothing fails until Inject.
func NewFault(dev block.Device) *Fault {
	return &Fault{dev: dev, counts: make(map[Op]int)}
}

// Inject arms one failure, replacing one that is armed, and forgets whether an
// earlier one fired. It panics if Op is empty.
func (f *Fault) Inject(i Injection) {
	if i.Op&OpAny == 0 {
		panic("blocktest: injection without an operation")
	}
	if i.Err == nil {
		i.Err = ErrInjected
	}
	f.mu.Lock()
	f.armed, f.left, f.fired = &i, i.Nth, 0
	f.mu.Unlock()
}

// Heal disarms the failure.
func (f *Fault) Heal() {
	f.mu.Lock()
	f.armed = nil
	f.mu.Unlock()
}

// Fired reports how many operations the last Injection has failed.
func (f *Fault) Fired() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.fired
}

// Count is the number of operations of these kinds so far, failed ones too.
func (f *Fault) Count(op Op) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := 0
	for k, c := range f.counts {
		if k&op != 0 {
			n += c
		}
	}
	return n
}

// hit counts an operation and returns the injection if it strikes it.
func (f *Fault) hit(op Op) *Injection {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts[op]++
	if f.armed == nil || f.armed.Op&op == 0 {
		return nil
	}
	if f.left > 0 {
		f.left--
		return nil
	}
	if f.fired > 0 && !f.armed.Sticky {
		return nil
	}
	f.fired++
	return f.armed
}

// ReadAt reads, or fails.
func (f *Fault) ReadAt(p []byte, off int64) (int, error) {
	i := f.hit(OpRead)
	if i == nil || i.Lost {
		return f.dev.ReadAt(p, off)
	}
	n, _ := f.dev.ReadAt(p[:min(len(p), i.Short)], off)
	return n, fmt.Errorf("read of %d bytes at %d: %w", len(p), off, i.Err)
}

// WriteAt writes, or fails.
func (f *Fault) WriteAt(p []byte, off int64) (int, error) {
	i := f.hit(OpWrite)
	if i == nil {
		return f.dev.WriteAt(p, off)
	}
	if i.Lost {
		return len(p), nil
	}
	n, _ := f.dev.WriteAt(p[:min(len(p), i.Short)], off)
	return n, fmt.Errorf("write of %d bytes at %d: %w", len(p), off, i.Err)
}

// Sync syncs, or fails.
func (f *Fault) Sync() error {
	i := f.hit(OpSync)
	switch {
	case i == nil:
		return f.dev.Sync()
	case i.Lost:
		return nil
	}
	return fmt.Errorf("sync: %w", i.Err)
}

// Discard discards, or fails. On a device that cannot discard it does nothing.
func (f *Fault) Discard(off, n int64) error {
	i := f.hit(OpDiscard)
	if i != nil && !i.Lost {
		return fmt.Errorf("discard of %d bytes at %d: %w", n, off, i.Err)
	}
	if d, ok := f.dev.(block.Discarder); ok && i == nil {
		return d.Discard(off, n)
	}
	return nil
}

// Size is the device's.
func (f *Fault) Size() int64 { return f.dev.Size() }

// UntilPass is the driver of fault tests: it calls run with n = 0, 1, 2, ...;
// run fails the n-th operation, checks what must hold, and reports whether the
// fault fired. The first n at which it did not ends the sweep: by then every
// operation has failed once. The number of faults tried is returned; run's
// error, or more than limit faults, ends the sweep with an error.
func UntilPass(limit int, run func(n int) (fired bool, err error)) (int, error) {
	for n := 0; n <= limit; n++ {
		fired, err := run(n)
		if err != nil {
			return n, fmt.Errorf("fault in operation %d: %w", n, err)
		}
		if !fired {
			return n, nil
		}
	}
	return limit, fmt.Errorf("still failing after %d faults", limit)
}
