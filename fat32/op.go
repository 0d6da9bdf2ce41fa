package fat32

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// errFlushFirst is what an operation answers, before it has changed anything,
// if an earlier change has to be on the disk first.
var errFlushFirst = errors.New("earlier changes have to be written first")

// metaBlock is the granularity in which a transactional device is told what an
// operation dirties.
const metaBlock = 4096

// costEntry covers the slots of one entry set, which may lie in three blocks,
// and FSInfo.
const costEntry = 4 * metaBlock

// dirtySet is what the next flush has to write. Guarded by mu, which nests in
// everything.
type dirtySet struct {
	mu       sync.Mutex
	nodes    []*node     // whose entry or chain changed
	dirs     []*node     // whose slots changed
	frees    []extent    // to be marked free in the FAT
	discards []extent    // to be made known to the device
	boot     []byte      // boot sector with another label
	data     atomic.Bool // file data written since the last snapshot
	pending  atomic.Bool // anything at all
}

// Limits on what is dirty.
const (
	dirtyKick  = 16 << 10 // nodes after which a flush begins early
	dirtyLimit = 64 << 10 // nodes after which operations wait for one
)

// op is a running operation.
type op struct{ release func() }

// begin admits an operation that changes something; end must follow. cost is
// the number of bytes of metadata and overwritten data it may dirty, in whole
// metaBlocks. An error that satisfies tooLarge asks to split the operation.
func (v *Volume) begin(cost int64) (o op, err error) {
	for attempt := 0; ; attempt++ {
		if err := v.enter(); err != nil {
			return o, err
		}
		if v.txn == nil {
			return o, nil
		}
		// Inside the gate: room reserved in one transaction must be used in it.
		if o.release, err = v.txn.Reserve(cost); err == nil {
			return o, nil
		}
		v.gate.RUnlock()
		if tooLarge(err) || attempt == 3 {
			return o, fmt.Errorf("transaction: %w", err)
		}
		if err := v.flush(); err != nil {
			return o, err
		}
	}
}

// enter takes the gate, shared, of a volume that can be written and is not frozen.
func (v *Volume) enter() error {
	for {
		if err := v.writable(); err != nil {
			return err
		}
		v.waitThawed()
		v.gate.RLock()
		switch {
		case v.closed.Load():
			v.gate.RUnlock()
			return fmt.Errorf("volume: %w", ErrClosed)
		case v.frozen.Load() == nil:
			return nil
		}
		v.gate.RUnlock() // frozen meanwhile
	}
}

func (v *Volume) end(o op) {
	if o.release != nil {
		o.release()
	}
	v.gate.RUnlock()
}

// mutate runs f as one operation and repeats it after a flush as often as it
// asks for that.
func (v *Volume) mutate(cost int64, f func() error) error {
	for attempt := 0; ; attempt++ {
		if err := v.limitDirty(); err != nil {
			return err
		}
		o, err := v.begin(cost)
		if err != nil {
			return err
		}
		err = v.during(o, f)
		if !errors.Is(err, errFlushFirst) {
			return err
		}
		if attempt == 16 {
			return fmt.Errorf("name or file changes all the time: %w", ErrBusy)
		}
		if err := v.settle(); err != nil {
			return err
		}
	}
}

// during runs f and ends the operation, also if f panics: whoever recovers from that must still be able to close
// the volume.
func (v *Volume) during(o op, f func() error) error {
	defer v.end(o)
	return f()
}

// settle makes another attempt worth while: once the free clusters are known,
// by writing everything.
func (v *Volume) settle() error {
	select {
	case <-v.scan.done:
		return v.flush()
	default:
		v.scan.wait()
		return nil
	}
}

// limitDirty keeps what is dirty bounded.
func (v *Volume) limitDirty() error {
	d := &v.dirty
	d.mu.Lock()
	n := len(d.nodes) + len(d.dirs) + len(d.frees)/16
	d.mu.Unlock()
	switch {
	case n >= dirtyLimit:
		return v.flush()
	case n >= dirtyKick && v.fl.early.CompareAndSwap(false, true):
		go func() {
			// A failure that matters is kept by the volume. Close flushes after this one and
			// nothing is dirty then.
			_ = v.flush()
			v.fl.early.Store(false)
		}()
	}
	return nil
}

// noteDirty makes sure that a flush will come.
func (v *Volume) noteDirty() {
	if v.dirty.pending.Load() || !v.dirty.pending.CompareAndSwap(false, true) {
		return
	}
	select {
	case v.kick <- struct{}{}:
	default:
	}
}

// touchLocked notes that the entry or chain of n changed. n.mu is held.
func (v *Volume) touchLocked(n *node) {
	if n.dirty || n.gone {
		return
	}
	n.dirty = true
	v.dirty.mu.Lock()
	v.dirty.nodes = append(v.dirty.nodes, n)
	v.dirty.mu.Unlock()
	v.noteDirty()
}

// touchDirLocked notes that slots of directory n changed. Volume.ns is held.
func (v *Volume) touchDirLocked(n *node) {
	if n.dir.changed {
		return
	}
	n.dir.changed = true
	v.dirty.mu.Lock()
	v.dirty.dirs = append(v.dirty.dirs, n)
	v.dirty.mu.Unlock()
	v.noteDirty()
}

// noteData notes that file data was written.
func (v *Volume) noteData() {
	if !v.dirty.data.Load() {
		v.dirty.data.Store(true)
		v.noteDirty()
	}
}

// giveUp takes clusters out of use: the first linked of them are in the FAT on
// the disk. The caller runs inside an operation.
func (v *Volume) giveUp(onDisk, never []extent) {
	gen := v.gen.Load()
	if len(onDisk) > 0 {
		v.alloc.park(onDisk, gen)
		v.dirty.mu.Lock()
		v.dirty.frees = append(v.dirty.frees, onDisk...)
		if v.discard != nil {
			v.dirty.discards = append(v.dirty.discards, onDisk...)
		}
		v.dirty.mu.Unlock()
		v.noteDirty()
	}
	v.dropUnlinked(never, gen)
}

// dropUnlinked releases clusters that no FAT on the disk knows. A device with transactions
// must see them discarded first, or it would take them for fresh.
func (v *Volume) dropUnlinked(runs []extent, gen uint64) {
	if len(runs) == 0 {
		return
	}
	if v.txn == nil || v.discard == nil {
		v.alloc.release(runs)
		return
	}
	v.alloc.park(runs, gen)
	v.dirty.mu.Lock()
	v.dirty.discards = append(v.dirty.discards, runs...)
	v.dirty.mu.Unlock()
	v.noteDirty()
}

// costFAT is what marking these runs in the FATs dirties at most.
func (v *Volume) costFAT(runs []extent) (cost int64) {
	if v.txn == nil {
		return 0
	}
	last := int64(-1)
	for _, e := range runs {
		from, _ := v.geo.Type.entryRange(e.start)
		to, size := v.geo.Type.entryRange(e.end() - 1)
		// The FAT need not begin at a block: count one more for every run of blocks.
		first := from / metaBlock
		end := (to + int64(size) - 1) / metaBlock
		if first == last {
			cost += (end - first) * metaBlock
		} else {
			cost += (end - first + 2) * metaBlock
		}
		last = end
	}
	return cost * int64(v.geo.FATCount)
}
