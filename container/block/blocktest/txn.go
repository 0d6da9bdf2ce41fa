package blocktest

import (
	"fmt"
	"sync"

	"coffer/container/block"
)

// TooLargeError is Txn.Reserve's "split it".
type TooLargeError struct{ Want, Limit int64 }

func (e *TooLargeError) Error() string {
	return fmt.Sprintf("reservation of %d bytes over the limit of %d", e.Want, e.Limit)
}

// TooLarge marks the error for callers that must not import its package.
func (e *TooLargeError) TooLarge() bool { return true }

// ErrFull is Txn.Reserve's answer when the open transaction has no room left
// and TxnOptions.OnFull is not set: the caller commits and tries again. It has
// a method Full() bool for callers that must not import this package.
var ErrFull error = fullError{}

type fullError struct{}

func (fullError) Error() string { return "the open transaction is full" }

// Full marks the error.
func (fullError) Full() bool { return true }

// TxnOptions are the limits of a Txn. Zero values mean: no limit.
type TxnOptions struct {
	LimitBytes    int64 // one reservation
	CapacityBytes int64 // all reservations of one transaction
	// OnFull is called without locks when a reservation does not fit into the
	// open transaction; it should make the file system commit. Reserve then
	// tries once more.
	OnFull func() error
	// CountFresh also counts data written into blocks that are zeros in every
	// state a power cut could leave. Without it they are free, as in a format
	// that writes them in place.
	CountFresh bool
}

// Txn is a transactional device in memory that checks its caller: everything
// between two Seals becomes durable together or not at all. It implements
// block.Device, block.Discarder, and Reserve, WriteMeta and Seal.
//
// Breaches of the contract do not panic, they are collected: see Violations.
// Watched are: Seal or Sync while an operation runs; a data write outside any
// reservation; more blocks dirtied than reserved, by a group of overlapping
// operations and by a whole transaction; and a range discarded and written
// again before the commit that discarded it is durable. The first Reserve
// starts the watch, so a volume can be formatted with plain writes and Sync
// before; Relax ends it.
//
// Safe for concurrent use.
type Txn struct {
	opts TxnOptions
	live *Mem

	commitMu sync.Mutex // held while sealed transactions become durable

	mu         sync.Mutex
	durable    *Mem
	sealed     []*txn // oldest first
	open       *txn
	strict     bool
	active     int            // operations running
	group      map[int64]bool // blocks dirtied since active was last 0
	groupBytes int64          // reserved in that time
	violations []string
	failCommit error
	failing    error // sticky
	seals      int
}

// txn is one transaction.
type txn struct {
	dirty     map[int64]bool  // blocks written
	counted   map[int64]bool  // of these, the ones a reservation must cover
	pages     map[int64]*page // filled by Seal
	discarded ranges
	reserved  int64
}

func newTxn() *txn { return &txn{dirty: make(map[int64]bool), counted: make(map[int64]bool)} }

// NewTxn makes a device whose durable state is the present content of start,
// which it takes over.
func NewTxn(start *Mem, o TxnOptions) *Txn {
	start.Freeze()
	return &Txn{opts: o, live: start, durable: start.Clone(), open: newTxn(), group: make(map[int64]bool)}
}

func (t *Txn) violateLocked(format string, a ...any) {
	if t.strict && len(t.violations) < 100 {
		t.violations = append(t.violations, fmt.Sprintf(format, a...))
	}
}

// Violations returns what was done against the contract so far.
func (t *Txn) Violations() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]string(nil), t.violations...)
}

// Relax ends the watch until the next Reserve: for a check with repair of the
// unmounted volume.
func (t *Txn) Relax() {
	t.mu.Lock()
	t.strict = false
	t.mu.Unlock()
}

// FailCommit makes the next commit fail with err; the device then fails every
// later commit too, as a container that lost its disk.
func (t *Txn) FailCommit(err error) {
	t.mu.Lock()
	t.failCommit = err
	t.mu.Unlock()
}

// Seals is the number of transactions sealed so far.
func (t *Txn) Seals() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.seals
}

// Size is the length in bytes.
func (t *Txn) Size() int64 { return t.live.Size() }

// ReadAt sees every write.
func (t *Txn) ReadAt(p []byte, off int64) (int, error) { return t.live.ReadAt(p, off) }

// Reserve admits an operation that dirties at most n bytes of 4096-byte
// blocks. release must be called when it has done its writes; calling it twice
// is a violation.
func (t *Txn) Reserve(n int64) (release func(), err error) {
	if n < 0 || t.opts.LimitBytes > 0 && n > t.opts.LimitBytes {
		return nil, fmt.Errorf("test device: %w", &TooLargeError{n, t.opts.LimitBytes})
	}
	if !t.admit(n) {
		if t.opts.OnFull == nil {
			return nil, fmt.Errorf("test device: reserve %d bytes: %w", n, ErrFull)
		}
		if err := t.opts.OnFull(); err != nil {
			return nil, fmt.Errorf("test device: commit of a full transaction: %w", err)
		}
		if !t.admit(n) {
			return nil, fmt.Errorf("test device: reserve %d bytes after a commit: %w", n, ErrFull)
		}
	}
	released := false
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if released {
			t.violateLocked("reservation released twice")
			return
		}
		released = true
		t.releaseLocked()
	}, nil
}

func (t *Txn) admit(n int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.opts.CapacityBytes; c > 0 && t.open.reserved+n > c {
		return false
	}
	t.strict = true
	t.open.reserved += n
	t.active++
	t.groupBytes += n
	return true
}

func (t *Txn) releaseLocked() {
	if dirty := int64(len(t.group)) * pageBytes; dirty > t.groupBytes {
		t.violateLocked("operations dirtied %d bytes of blocks and had reserved %d", dirty, t.groupBytes)
	}
	if t.active--; t.active == 0 {
		clear(t.group)
		t.groupBytes = 0
	}
}

// WriteAt is a write of file data by a running operation.
func (t *Txn) WriteAt(p []byte, off int64) (int, error) { return t.write(p, off, false) }

// WriteMeta is a write of FATs, directories, FSInfo or boot sectors; it may
// happen between operations, just before Seal.
func (t *Txn) WriteMeta(p []byte, off int64) (int, error) { return t.write(p, off, true) }

func (t *Txn) write(p []byte, off int64, meta bool) (int, error) {
	if err := block.CheckRange(off, int64(len(p)), t.Size()); err != nil {
		return 0, fmt.Errorf("test device: write: %w", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	end := off + int64(len(p))
	if !meta && t.active == 0 {
		t.violateLocked("data write of %d bytes at %d outside any operation", len(p), off)
	}
	for _, x := range append([]*txn{t.open}, t.sealed...) {
		if x.discarded.overlaps(off, end) {
			t.violateLocked("write of %d bytes at %d into a range whose discard is not durable", len(p), off)
			break
		}
	}
	for i := off / pageBytes; i*pageBytes < end; i++ {
		t.open.dirty[i] = true
		if !meta && !t.opts.CountFresh && t.freshLocked(i) {
			continue
		}
		t.open.counted[i] = true
		if t.active > 0 {
			t.group[i] = true
		}
	}
	return t.live.WriteAt(p, off)
}

// freshLocked: block i is zeros in every state a power cut now could leave.
func (t *Txn) freshLocked(i int64) bool {
	for _, x := range t.sealed {
		if x.pages[i] != nil {
			return false
		}
	}
	p := t.durable.sharePage(i)
	return p == nil || p == zeroPage
}

// Discard makes the range zeros at once; durable with its transaction.
func (t *Txn) Discard(off, n int64) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.live.Discard(off, n); err != nil {
		return err
	}
	t.open.discarded.add(off, off+n)
	for i := off / pageBytes; n > 0 && i*pageBytes < off+n; i++ {
		// Only the edges can be partial blocks; whole ones need no copy.
		if whole := i*pageBytes >= off && (i+1)*pageBytes <= off+n; whole {
			i = (off+n)/pageBytes - 1
			continue
		}
		t.open.dirty[i] = true
	}
	return nil
}
