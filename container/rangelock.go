package container

import (
	"slices"
	"sync"
)

// rangeLock lets operations on disjoint ranges of data units run side by side
// and serialises those that share a unit, if one of them writes. It is what
// makes a read-modify-write of a unit safe beside a write to another part of
// the same unit.
//
// Few operations run at once (as many as there are callers), so the ranges
// held are a short list under one mutex; no I/O happens under it.
type rangeLock struct {
	mu   sync.Mutex
	held []*heldRange
	free []*heldRange // for reuse
}

// heldRange is [first, end), in data units.
type heldRange struct {
	first, end uint64
	exclusive  bool
	released   chan struct{} // made by the first who waits
}

// acquire waits until no conflicting range is held.
func (l *rangeLock) acquire(first, end uint64, exclusive bool) *heldRange {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		i := slices.IndexFunc(l.held, func(h *heldRange) bool {
			return h.first < end && first < h.end && (exclusive || h.exclusive)
		})
		if i < 0 {
			break
		}
		if l.held[i].released == nil {
			l.held[i].released = make(chan struct{})
		}
		released := l.held[i].released
		l.mu.Unlock()
		<-released
		l.mu.Lock()
	}
	var h *heldRange
	if n := len(l.free); n > 0 {
		h, l.free = l.free[n-1], l.free[:n-1]
	} else {
		h = new(heldRange)
	}
	*h = heldRange{first: first, end: end, exclusive: exclusive}
	l.held = append(l.held, h)
	return h
}

// release ends a hold and wakes those that waited for it.
func (l *rangeLock) release(h *heldRange) {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.held, h)
	last := len(l.held) - 1
	l.held[i], l.held[last] = l.held[last], nil
	l.held = l.held[:last]
	if h.released != nil {
		close(h.released)
	}
	l.free = append(l.free, h)
}
