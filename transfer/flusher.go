package transfer

import "sync"

const (
	// maxPending is how much may be written and not yet handed to write-back.
	maxPending = 32 * mib
	// flushEvery is how much one file gathers before it is handed over.
	flushEvery = 8 * mib
	// smallFile and below are handed over in groups, with the file kept open.
	smallFile  = 64 << 10
	groupBytes = 4 * mib
	groupFiles = 128
)

// stretch is a range of a file to hand to write-back, and whether to close it then.
type stretch struct {
	file   *handle
	off, n int64
	close  bool
}

// flusher asks the host to begin writing what was written to files, early and
// from one goroutine, so that the final sync finds little left. Safe for
// concurrent use; one file is used by one goroutine at a time.
type flusher struct {
	mu      sync.Mutex
	changed *sync.Cond
	queue   []stretch
	busy    bool
	group   []stretch // small files, complete
	grouped int64
	pending int64
	stopped bool
	done    chan struct{}
}

func newFlusher() *flusher {
	f := &flusher{done: make(chan struct{})}
	f.changed = sync.NewCond(&f.mu)
	go f.run()
	return f
}

func (f *flusher) run() {
	defer close(f.done)
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		for len(f.queue) == 0 {
			if f.stopped {
				return
			}
			f.changed.Wait()
		}
		batch := f.queue
		f.queue, f.busy = nil, true
		f.mu.Unlock()
		var sum int64
		for _, s := range batch {
			if s.n > 0 {
				startWriteback(s.file, s.off, s.n)
			}
			if s.close {
				s.file.Close()
			}
			sum += s.n
		}
		f.mu.Lock()
		f.pending -= sum
		f.busy = false
		f.changed.Broadcast()
	}
}

// wrote counts n more bytes of t; last hands over the rest and closes the file.
// It waits while too much is pending.
func (f *flusher) wrote(t *hostTarget, n int64, last bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pending += n
	rest := stretch{t.file, t.begun, t.end - t.begun, last}
	switch {
	case last && t.begun == 0 && t.end <= smallFile:
		f.group = append(f.group, rest)
		f.grouped += rest.n
		if f.grouped >= groupBytes || len(f.group) >= groupFiles {
			f.queueGroupLocked()
		}
	case last || rest.n >= flushEvery:
		f.queue = append(f.queue, rest)
		t.begun = t.end
		f.changed.Broadcast()
	}
	for f.pending > maxPending && (len(f.queue) > 0 || f.busy) {
		f.changed.Wait()
	}
}

func (f *flusher) queueGroupLocked() {
	f.queue = append(f.queue, f.group...)
	f.group, f.grouped = nil, 0
	f.changed.Broadcast()
}

// dropped waits until nothing refers to t any more; its bytes are forgotten.
func (f *flusher) dropped(t *hostTarget) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pending -= t.end - t.begun
	for len(f.queue) > 0 || f.busy {
		f.changed.Wait()
	}
}

// release closes small files that wait for company.
func (f *flusher) release() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queueGroupLocked()
	for len(f.queue) > 0 || f.busy {
		f.changed.Wait()
	}
}

// stop ends the goroutine, after everything was handed over and closed.
func (f *flusher) stop() {
	f.release()
	f.mu.Lock()
	f.stopped = true
	f.changed.Broadcast()
	f.mu.Unlock()
	<-f.done
}
