package transfer

import (
	"fmt"
	"sync"
	"time"
)

// batch makes copies durable while others are still being made. A sync is begun
// after so many bytes or so much time; when it returns, everything that was
// complete when it began is safe and is named by an event.
type batch struct {
	e      *engine
	every  int64
	period time.Duration

	mu       sync.Mutex
	since    int64                 // bytes accepted since the last sync began
	waiting  []int32               // items complete, not yet durable
	lines    []stateLine           // for the state file, of copies already durable
	fresh    []stateLine           // of copies complete, not yet durable
	parts    map[*output]*progress // named parts being written
	prefix   int                   // items before it are durable or settled
	files    int64                 // durable
	bytes    int64
	settling int // items settled since the last event

	stateMu sync.Mutex // the state file; never held during a sync
	kick    chan struct{}
	quit    chan struct{}
	done    chan struct{}
}

// progress is how far a named part got.
type progress struct {
	part    string
	reached int64
}

func newBatch(e *engine) *batch {
	return &batch{e: e, every: e.job.tune.batchBytes, period: e.job.tune.batchInterval, parts: map[*output]*progress{},
		kick: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{})}
}

// run syncs until stopped.
func (b *batch) run() {
	defer close(b.done)
	tick := time.NewTicker(b.period)
	defer tick.Stop()
	for {
		select {
		case <-b.quit:
			return
		case <-tick.C:
		case <-b.kick:
			tick.Reset(b.period)
		}
		if b.worthIt() {
			if err := b.sync(); err != nil {
				b.e.stop(err)
				return
			}
		}
	}
}

func (b *batch) worthIt() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.since > 0 || len(b.waiting) > 0
}

// stop ends run and waits for a sync in flight.
func (b *batch) stop() {
	close(b.quit)
	<-b.done
}

// accepted counts bytes the target took.
func (b *batch) accepted(n int64) {
	b.mu.Lock()
	b.since += n
	full := b.since >= b.every
	b.mu.Unlock()
	if full {
		select {
		case b.kick <- struct{}{}:
		default:
		}
	}
}

// completed notes a published copy of a whole item.
func (b *batch) completed(i int32, path string, n node) {
	b.mu.Lock()
	defer b.mu.Unlock()
	it := &b.e.plan.items[i]
	it.flags |= flagDone
	it.size, it.modified = n.size, n.modified.UnixNano() // what was copied, not what was seen by the scan
	b.waiting = append(b.waiting, i)
	b.fresh = append(b.fresh, stateLine{Done: path, Size: n.size, Modified: n.modified.UnixNano()})
}

// completedPart notes a published part of a cut item.
func (b *batch) completedPart(path string, n node) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fresh = append(b.fresh, stateLine{Done: path, Size: n.size, Modified: n.modified.UnixNano()})
}

// settled notes an item that needs no sync: failed, or durable already.
func (b *batch) settled(i int32, durable bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.e.plan.items[i].flags |= flagDurable
	b.settling++
	if durable {
		b.e.plan.items[i].flags |= flagDone
		b.files++
		b.bytes += b.e.plan.items[i].size
	}
}

// opened notes a named part before it is made, in the state file too, so that a
// later run finds it whatever happens.
func (b *batch) opened(o *output, part string, start int64) error {
	line := stateLine{Part: part, Of: o.path, Size: o.node.size, Modified: o.node.modified.UnixNano(), Bytes: start}
	b.stateMu.Lock()
	err := b.e.plan.state.append([]stateLine{line})
	b.stateMu.Unlock()
	if err != nil {
		return b.e.writeErr(err)
	}
	b.mu.Lock()
	b.parts[o] = &progress{part: part, reached: start}
	b.mu.Unlock()
	return nil
}

// reached notes that a named part holds everything before end.
func (b *batch) reached(o *output, end int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.parts[o]; p != nil {
		p.reached = end
	}
}

// closed forgets a named part; dropped says that it was removed.
func (b *batch) closed(o *output, dropped bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.parts[o]
	delete(b.parts, o)
	if p != nil && dropped {
		b.lines = append(b.lines, stateLine{Part: p.part, Of: o.path, Size: o.node.size, Modified: o.node.modified.UnixNano()})
	}
}

// sync makes everything complete so far durable and tells.
func (b *batch) sync() error {
	b.mu.Lock()
	lines := b.lines
	b.lines = nil
	b.mu.Unlock()
	// The lines of earlier batches only: those of this one are not true yet.
	b.stateMu.Lock()
	err := b.e.plan.state.append(lines)
	b.stateMu.Unlock()
	if err != nil {
		return err
	}
	return b.settle()
}

// settle is sync without writing to the state file, for the end of a run: the
// last bytes of the target may be taken.
func (b *batch) settle() error {
	b.mu.Lock()
	waiting, fresh := b.waiting, b.fresh
	b.waiting, b.fresh, b.since = nil, nil, 0
	var parts []stateLine
	for o, p := range b.parts {
		if p.reached > 0 {
			parts = append(parts, stateLine{Part: p.part, Of: o.path, Size: o.node.size, Modified: o.node.modified.UnixNano(), Bytes: p.reached})
		}
	}
	b.mu.Unlock()
	b.e.clock.enter(doingSync)
	err := b.e.plan.target.sync()
	b.e.clock.leave(doingSync)
	if err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	b.mu.Lock()
	b.lines = append(append(b.lines, fresh...), parts...)
	b.mu.Unlock()
	b.announce(waiting)
	return nil
}

// announce emits the durable event for items that just became so.
func (b *batch) announce(items []int32) {
	p := b.e.plan
	b.mu.Lock()
	for _, i := range items {
		p.items[i].flags |= flagDurable
		b.files++
		b.bytes += p.items[i].size
	}
	for b.prefix < len(p.items) && p.items[b.prefix].flags&flagDurable != 0 {
		b.prefix++
	}
	quiet := len(items) == 0 && b.settling == 0
	b.settling = 0
	ev := Event{Kind: EventDurable, Files: b.files, Bytes: b.bytes}
	if b.prefix > 0 {
		ev.Through = p.targetPath(int32(b.prefix - 1))
	}
	b.mu.Unlock()
	if quiet || b.e.job.OnEvent == nil {
		return
	}
	ev.Safe = make([]string, len(items))
	for k, i := range items {
		ev.Safe[k] = p.targetPath(i)
	}
	b.e.tell.emit(ev)
}

// leave writes down what is known for a later resume; no sync.
func (b *batch) leave() error {
	b.stateMu.Lock()
	defer b.stateMu.Unlock()
	b.mu.Lock()
	lines := b.lines
	b.lines = nil
	b.mu.Unlock()
	if err := b.e.plan.state.append(lines); err != nil {
		return err
	}
	return b.e.plan.state.keep()
}
