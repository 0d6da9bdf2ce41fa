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
	names map[string]hiddenFile
	last  uint32 // counter in the last hidden name
}

// hiddenFile is a removed file and the folder libfuse believes it in, which may itself be called otherwise by now, or be
// removed. Both come with a reference.
type hiddenFile struct{ file, folder Node }

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

// hiddenFile returns the file that has a hidden name, with a reference.
func (c *cgoFS) hiddenFile(path string) (Node, bool) {
	_, name := splitLast(path)
	if !strings.HasPrefix(name, hiddenPrefix) {
		return Node{}, false
	}
	c.hidden.mu.RLock()
	defer c.hidden.mu.RUnlock()
	h, ok := c.hidden.names[name]
	if !ok || !c.isFolder(path, h.folder) {
		return Node{}, false
	}
	return h.file.Hold(), true
}

// isFolder reports whether folder is what the last name of path lies in.
func (c *cgoFS) isFolder(path string, folder Node) bool {
	if folder.Removed() {
		return true // libfuse has no path for it that leads anywhere
	}
	parent, _, err := c.fs.FindParent(path)
	if err != nil {
		return false
	}
	defer parent.Release()
	return parent.ID() == folder.ID()
}

// dropHidden forgets a hidden name and reports whether there was one.
func (c *cgoFS) dropHidden(path string) bool {
	n, ok := c.hiddenFile(path)
	if !ok {
		return false
	}
	n.Release()
	_, name := splitLast(path)
	c.hidden.mu.Lock()
	h, ok := c.hidden.names[name]
	delete(c.hidden.names, name)
	c.hidden.mu.Unlock()
	if ok {
		h.file.Release()
		h.folder.Release()
	}
	return ok
}

// add gives a file a hidden name.
func (h *hiddenFiles) add(name string, f hiddenFile, counter uint32) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.names == nil {
		h.names = map[string]hiddenFile{}
	}
	h.names[name] = f
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
	folder, _, err := c.fs.FindParent(oldPath)
	if err != nil {
		n.Release()
		return true, err
	}
	err = c.fs.Unlink(folder, oldName)
	if err != nil && !(errors.Is(err, fat32.ErrNotExist) && n.Removed()) {
		n.Release()
		folder.Release()
		return true, err
	}
	c.hidden.add(newName, hiddenFile{n, folder}, counter)
	return true, nil
}
