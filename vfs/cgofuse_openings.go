//go:build windows || ((darwin || freebsd) && cgo) || (linux && cgofuse)

package vfs

import (
	"sync"
	"sync/atomic"

	"coffer/fat32"
)

// opening is a file or folder that is open.
type opening struct {
	handle  *Handle // nil for a folder
	node    Node    // a folder's has a reference of its own
	path    string  // by which it was opened
	key     string  // path, folded, in openings.byPath
	flushed atomic.Bool
}

// dirHandles is where the numbers of open folders begin; those of files are the core's.
const dirHandles = 1 << 62

// openings finds what is open, by handle, and if asked for by the path it was opened by.
type openings struct {
	mu      sync.RWMutex
	byID    map[uint64]*opening
	byPath  map[string][]*opening // nil if nobody needs it
	lastDir uint64
	aliases map[string]*opening // files opened by another spelling than the stored one
}

func (t *openings) init(byPath bool) {
	t.byID, t.aliases = map[uint64]*opening{}, map[string]*opening{}
	if byPath {
		t.byPath = map[string][]*opening{}
	}
}

// addFile keeps an open file; its handle is that of the core.
func (t *openings) addFile(h *Handle, path string, alias bool) uint64 {
	o := &opening{handle: h, node: h.Node(), path: path}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.addLocked(h.ID(), o)
	if alias {
		t.aliases[path] = o
	}
	return h.ID()
}

// addDir keeps an open folder, whose reference it takes over.
func (t *openings) addDir(n Node, path string) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lastDir++
	id := dirHandles + t.lastDir
	t.addLocked(id, &opening{node: n, path: path})
	return id
}

func (t *openings) addLocked(id uint64, o *opening) {
	t.byID[id] = o
	if t.byPath != nil {
		o.key = fat32.FoldName(o.path)
		t.byPath[o.key] = append(t.byPath[o.key], o)
	}
}

// get returns what is open under a handle, nil if nothing is.
func (t *openings) get(id uint64) *opening {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.byID[id]
}

// take removes and returns what is open under a handle, nil if nothing is.
func (t *openings) take(id uint64) *opening {
	t.mu.Lock()
	defer t.mu.Unlock()
	o := t.byID[id]
	if o == nil {
		return nil
	}
	delete(t.byID, id)
	if t.aliases[o.path] == o {
		delete(t.aliases, o.path)
	}
	if t.byPath != nil {
		same := t.byPath[o.key]
		for i := range same {
			if same[i] == o {
				same[i] = same[len(same)-1]
				same[len(same)-1] = nil
				same = same[:len(same)-1]
				break
			}
		}
		if len(same) == 0 {
			delete(t.byPath, o.key)
		} else {
			t.byPath[o.key] = same
		}
	}
	return o
}

// openedBy returns references to the objects that were opened by a path, in any spelling, each once.
func (t *openings) openedBy(path string) []Node {
	t.mu.RLock()
	defer t.mu.RUnlock()
	if len(t.byPath) == 0 {
		return nil
	}
	var nodes []Node
next:
	for _, o := range t.byPath[fat32.FoldName(path)] {
		for _, n := range nodes {
			if n.ID() == o.node.ID() {
				continue next
			}
		}
		nodes = append(nodes, o.node.Hold())
	}
	return nodes
}

// alias returns the file that was opened by exactly this path, which is not how it is spelt, as long as it
// is open and has not got another name or place.
func (t *openings) alias(path string) (Node, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	o := t.aliases[path]
	if o == nil || fat32.FoldName(o.node.Path()) != fat32.FoldName(path) {
		return Node{}, false
	}
	return o.node.Hold(), true
}

// inUse reports whether a file is open and not just about to be closed.
func (t *openings) inUse(id uint64) bool {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, o := range t.byID {
		if o.handle != nil && o.node.ID() == id && !o.flushed.Load() {
			return true
		}
	}
	return false
}

// files counts open files.
func (t *openings) files() (n int) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, o := range t.byID {
		if o.handle != nil {
			n++
		}
	}
	return n
}
