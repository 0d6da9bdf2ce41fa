package container

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Measured on ext4 (658 MB, two processors): see docs/adr-0002-page-cache.md.
const (
	// writebackBytes: a sequential writer's data are handed to the disk every
	// so many bytes instead of all at the sync.
	writebackBytes = 8 << 20
	// dropAfter is how much must have been read in sequence before what lies
	// behind the reader is dropped from the host's cache: smaller files stay.
	dropAfter = 64 << 20
	// dropBytes is how much is dropped at a time, and how much behind the reader
	// stays.
	dropBytes = 8 << 20
	// aheadAfter is how much must have been read in sequence before the host is
	// asked to read ahead, and aheadBytes how far. The host would read ahead by itself,
	// but less, and a reader of many small files that lie one behind the other waits for
	// the disk at the beginning of each. Who reads as much at once needs no help.
	aheadAfter = 128 << 10
	aheadBytes = 1 << 20
	// maxStreams is how many sequential streams are followed at once in each
	// direction.
	maxStreams = 4
	// hintQueue bounds the hints waiting; more are dropped.
	hintQueue = 16
)

// hinter is a device that takes hints, such as image.File.
type hinter interface {
	StartWriteback(off, n int64) error
	Prefetch(off, n int64) error
	DropCache(off, n int64) error
}

// stream follows one sequence of requests.
type stream struct {
	start int64 // first byte of the sequence
	next  int64 // where it goes on
	done  int64 // up to where a hint was given
	ahead int64 // up to where the host was asked to read ahead
}

// hints watches the requests of a volume, recognises sequences and gives the
// host hints from a goroutine of its own: the calls can block for
// milliseconds.
type hints struct {
	dev     hinter
	base    int64 // added to payload offsets
	mu      sync.Mutex
	writes  []stream // most recent last
	reads   []stream
	jobs    chan func()
	quit    atomic.Bool // skip the jobs that still wait
	stopped sync.WaitGroup
}

// newHints starts the goroutine; stop ends it.
func newHints(dev hinter, base int64) *hints {
	h := &hints{dev: dev, base: base, jobs: make(chan func(), hintQueue)}
	h.stopped.Go(func() {
		for job := range h.jobs {
			if !h.quit.Load() {
				job()
			}
		}
	})
	return h
}

// stop drops the hints that wait and ends the goroutine. No call may follow.
func (h *hints) stop() {
	h.quit.Store(true)
	close(h.jobs)
	h.stopped.Wait()
}

// give passes a hint on, and reports false if too many wait. Errors of hints
// mean nothing: the host need not follow them.
func (h *hints) give(call func(off, n int64) error, off, n int64) bool {
	select {
	case h.jobs <- func() { _ = call(h.base+off, n) }:
		return true
	default:
		return false
	}
}

// follow finds the stream that goes on at off or begins a new one in place of
// the one idle for longest, and moves it to the end of the list.
func follow(streams []stream, off, n int64) []stream {
	i := slices.IndexFunc(streams, func(s stream) bool { return s.next == off })
	s := stream{start: off, done: off}
	if i >= 0 {
		s = streams[i]
	} else if len(streams) == maxStreams {
		i = 0
	}
	if i >= 0 {
		streams = slices.Delete(streams, i, i+1)
	}
	s.next = off + n
	return append(streams, s)
}

// wrote is told every write.
func (h *hints) wrote(off, n int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.writes = follow(h.writes, off, n)
	if s := &h.writes[len(h.writes)-1]; s.next-s.done >= writebackBytes {
		h.give(h.dev.StartWriteback, s.done, s.next-s.done)
		s.done = s.next
	}
}

// read is told every read. The ciphertext behind a long sequential reader is
// hardly read again, and the memory it would take is better used for what
// comes next: the host reads ahead by itself.
func (h *hints) read(off, n int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reads = follow(h.reads, off, n)
	s := &h.reads[len(h.reads)-1]
	if from := max(s.ahead, s.next); n < aheadBytes && s.next-s.start >= aheadAfter && s.next+aheadBytes-from >= aheadBytes/2 {
		if to := s.next + aheadBytes; h.give(h.dev.Prefetch, from, to-from) {
			s.ahead = to
		}
	}
	if s.next-s.start < dropAfter {
		s.done = s.next - dropBytes
		return
	}
	if n := s.next - dropBytes - s.done; n >= dropBytes && h.give(h.dev.DropCache, s.done, n) {
		s.done += n
	}
}
