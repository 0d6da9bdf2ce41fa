package vfs

import (
	"sync"

	"coffer/fat32"
)

// Handle is a file that a program has open.
type Handle struct {
	id    uint64
	file  *fat32.File
	node  Node // with a reference of its own
	write bool
	pid   int // of the process that opened it, 0 if unknown
}

// ID is the number of the handle, never 0. Numbers of closed handles are used again.
func (h *Handle) ID() uint64 { return h.id }

// Node returns what is open. It is valid as long as the handle, without a reference of its own.
func (h *Handle) Node() Node { return h.node }

// handleTable finds handles by number.
type handleTable struct {
	mu    sync.RWMutex
	all   []*Handle // by number - 1; nil where free
	spare []uint64
}

// add gives h its number.
func (t *handleTable) add(h *Handle) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.spare); n > 0 {
		h.id = t.spare[n-1]
		t.spare = t.spare[:n-1]
		t.all[h.id-1] = h
		return
	}
	t.all = append(t.all, h)
	h.id = uint64(len(t.all))
}

// get returns the handle with a number, nil if there is none.
func (t *handleTable) get(id uint64) *Handle {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if id-1 < uint64(len(t.all)) {
		return t.all[id-1]
	}
	return nil
}

// take removes and returns the handle with a number, nil if there is none.
func (t *handleTable) take(id uint64) *Handle {
	t.mu.Lock()
	defer t.mu.Unlock()
	if id-1 >= uint64(len(t.all)) || t.all[id-1] == nil {
		return nil
	}
	h := t.all[id-1]
	t.all[id-1] = nil
	t.spare = append(t.spare, id)
	return h
}

// list returns all handles.
func (t *handleTable) list() []*Handle {
	t.mu.RLock()
	defer t.mu.RUnlock()
	out := make([]*Handle, 0, len(t.all)-len(t.spare))
	for _, h := range t.all {
		if h != nil {
			out = append(out, h)
		}
	}
	return out
}
