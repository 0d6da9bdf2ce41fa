package fat32

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// flusher runs one flush at a time; callers that come while one runs share the next.
type flusher struct {
	mu      sync.Mutex
	cond    *sync.Cond
	running bool
	started uint64 // number of the last flush begun
	done    uint64 // number of the last flush finished
	result  error  // of flush done
	early   atomic.Bool

	// Used by the running flush only.
	failed    *plan // could not be carried out for want of space on the host
	unsettled bool  // sealed transactions may not be durable for want of space
}

func (f *flusher) init() { f.cond = sync.NewCond(&f.mu) }

// flush makes everything that was done before the call durable.
func (v *Volume) flush() error {
	f := &v.fl
	f.mu.Lock()
	target := f.started + 1
	for f.running {
		f.cond.Wait()
		if f.done >= target {
			err := f.result
			f.mu.Unlock()
			return err
		}
	}
	f.running = true
	f.started++
	seq := f.started
	f.mu.Unlock()
	err := v.commit()
	f.mu.Lock()
	f.running = false
	f.done, f.result = seq, err
	f.cond.Broadcast()
	f.mu.Unlock()
	return err
}

// commit is a flush without company. A failure turns the volume read-only,
// unless the host disk is full and the plan can be carried out again later.
func (v *Volume) commit() error {
	if err := v.Err(); err != nil {
		return fmt.Errorf("%w since an earlier error: %w", ErrReadOnly, err)
	}
	if !v.dirty.pending.Load() && v.fl.failed == nil && !v.fl.unsettled {
		return nil
	}
	v.scan.wait()
	var err error
	var gen uint64
	if v.txn != nil {
		gen, err = v.commitTransaction()
	} else {
		gen, err = v.commitStages()
	}
	if err != nil {
		return err
	}
	v.durable.Store(gen)
	v.alloc.unpark(gen)
	v.ns.Lock()
	if over := len(v.table.all) - keepNodes; over > 0 || v.table.dirBytes > keepDirBytes {
		v.sweepLocked(2 * len(v.table.all))
	}
	v.ns.Unlock()
	return nil
}

// commitStages carries plans out in order, with barriers, on a plain device.
func (v *Volume) commitStages() (gen uint64, err error) {
	if err := v.markDirty(); err != nil {
		err = fmt.Errorf("flush: %w", err)
		if !hostFull(err) {
			v.fail(err) // what is in memory will not reach the disk
		}
		return 0, v.deviceError(err)
	}
	if p := v.fl.failed; p != nil {
		if err := v.runStages(p); err != nil {
			return 0, v.planFailed(p, err)
		}
		v.fl.failed = nil
	}
	v.gate.Lock()
	p := v.snapshot()
	v.gate.Unlock()
	if err := v.runStages(p); err != nil {
		return 0, v.planFailed(p, err)
	}
	for _, e := range p.discards {
		// Only a hint: the clusters are free whether it works or not.
		_ = v.discard.Discard(v.geo.clusterOffset(e.start), int64(e.count)<<v.shift)
	}
	return p.gen, nil
}

// planFailed keeps p for another try if the host was full, or gives up the volume.
func (v *Volume) planFailed(p *plan, err error) error {
	err = fmt.Errorf("flush: %w", err)
	if hostFull(err) && !isBarrier(err) {
		v.fl.failed = p
		return v.deviceError(err)
	}
	v.fail(err)
	return v.deviceError(err)
}

// commitTransaction writes everything dirty into the open transaction while
// no operation runs, and seals it.
func (v *Volume) commitTransaction() (gen uint64, err error) {
	v.gate.Lock()
	if p := v.fl.failed; p != nil {
		if err := v.runTransaction(p); err != nil {
			v.gate.Unlock()
			return 0, v.planFailed(p, err)
		}
		v.fl.failed = nil
	}
	p := v.snapshot()
	if err := v.runTransaction(p); err != nil {
		v.gate.Unlock()
		return 0, v.planFailed(p, err)
	}
	wait := v.txn.Seal()
	v.gate.Unlock()
	if err := wait(); err != nil {
		err = fmt.Errorf("commit: %w", err)
		if v.fl.unsettled = hostFull(err); !v.fl.unsettled {
			v.fail(err)
		}
		return 0, v.deviceError(err)
	}
	v.fl.unsettled = false
	return p.gen, nil
}

// barrierError marks a failed device sync: what it lost cannot be known, so it
// is never tried again.
type barrierError struct{ err error }

func (e *barrierError) Error() string { return "device sync: " + e.err.Error() }
func (e *barrierError) Unwrap() error { return e.err }
