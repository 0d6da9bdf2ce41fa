//go:build windows || ((darwin || freebsd) && cgo) || (linux && cgofuse)

package vfs

import (
	"errors"
	"strconv"
	"strings"
	"sync"

	"coffer/fat32"
)

// hiddenFiles are open files that programs have removed. libfuse, which knows paths only, does not remove such a
// file but renames it to .fuse_hidden and sixteen digits in its folder, and removes that when it is closed. Nothing of the
// kind may stand in a container, not even for a moment: the file is removed at once, as the program wanted, and
// the hidden name is one in memory for the file that goes on under its handle.
type hiddenFiles struct {
	mu    sync.RWMutex
	paths map[string]Node // with a reference
	last  uint32          // counter in the last hidden name
}

// hiddenPrefix and the number of a node and a counter, eight hexadecimal digits each, are libfuse's names.
const hiddenPrefix = ".fuse_hidden"

// hiddenCounter returns the counter in a name that libfuse may have made.
func hiddenCounter(name string) (uint32, bool) {
	digits, ok := strings.CutPrefix(name, hiddenPrefix)
	if !ok || len(digits) != 16 || strings.ToLower(digits) != digits {
		return 0, false
	}
	if _, err := strconv.ParseUint(digits[:8], 16, 32); err != nil {
		return 0, false
	}
	counter, err := strconv.ParseUint(digits[8:], 16, 32)
	return uint32(counter), err == nil
}

// hiddenAhead is how far libfuse's counter may be ahead of the last one seen: it counts names it gives up, too.
const hiddenAhead = 1 << 12

// get returns the file that has a hidden name, with a reference.
func (h *hiddenFiles) get(path string) (Node, bool) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	n, ok := h.paths[path]
	if ok {
		n = n.Hold()
	}
	return n, ok
}

// drop forgets a hidden name and reports whether there was one.
func (h *hiddenFiles) drop(path string) bool {
	h.mu.Lock()
	n, ok := h.paths[path]
	delete(h.paths, path)
	h.mu.Unlock()
	if ok {
		n.Release()
	}
	return ok
}

// add gives the file n a hidden name and takes its reference over.
func (h *hiddenFiles) add(path string, n Node, counter uint32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.paths == nil {
		h.paths = map[string]Node{}
	}
	h.paths[path] = n
	h.last = counter
}

// follows reports whether a counter can be libfuse's next one.
func (h *hiddenFiles) follows(counter uint32) bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return counter-h.last-1 < hiddenAhead
}

// hide does for a rename what libfuse means by it, if it is one that hides a removed file: same folder, name and
// counter of libfuse, and the file is open and not just about to be closed. A program that gives a file such a name itself
// fails at least one of these, and gets what it asked for.
func (c *cgoFS) hide(oldPath, newPath string) (done bool, err error) {
	dir, newName := splitLast(newPath)
	oldDir, oldName := splitLast(oldPath)
	counter, ok := hiddenCounter(newName)
	if !ok || dir != oldDir || !c.hidden.follows(counter) {
		return false, nil
	}
	n, err := c.find(oldPath)
	if err != nil {
		return false, err
	}
	if n.IsDir() || !c.table.inUse(n.ID()) {
		n.Release()
		return false, nil
	}
	parent, _, err := c.fs.FindParent(oldPath)
	if err == nil {
		err = c.fs.Unlink(parent, oldName)
		parent.Release()
	}
	if err != nil && !(errors.Is(err, fat32.ErrNotExist) && n.Removed()) {
		n.Release()
		return true, err
	}
	c.hidden.add(newPath, n, counter)
	return true, nil
}
