package transfer

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"sync"
)

// maxOpenFolders bounds the open folders one tree keeps.
const maxOpenFolders = 64

// folderHandle is an open host folder. Everything in it is reached relative to
// the handle, so renaming or replacing folders above changes nothing.
type folderHandle struct {
	root *os.Root
	dir  *os.File // the same folder, for calls that need a descriptor
	path string
	refs int // users, and 1 while it is in the cache
}

// folderCache opens folders one step at a time from the root and never through
// a link. Safe for concurrent use.
type folderCache struct {
	mu   sync.Mutex
	top  *folderHandle
	open map[string]*folderHandle
	ages []string // paths in open, oldest first
	// foreign are folders on other file systems mounted below the root, one each:
	// they need a sync of their own.
	foreign map[uint64]*folderHandle
}

func newFolderCache(rootPath string) (*folderCache, error) {
	root, err := os.OpenRoot(rootPath)
	if err != nil {
		return nil, err
	}
	top, err := newFolderHandle(root, "")
	if err != nil {
		return nil, err
	}
	return &folderCache{top: top, open: map[string]*folderHandle{}, foreign: map[uint64]*folderHandle{}}, nil
}

func newFolderHandle(root *os.Root, at string) (*folderHandle, error) {
	dir, err := root.Open(".")
	if err != nil {
		root.Close()
		return nil, err
	}
	return &folderHandle{root: root, dir: dir, path: at, refs: 1}, nil
}

func (h *folderHandle) close() {
	h.dir.Close()
	h.root.Close()
}

// get opens the folder at p; release it with put.
func (c *folderCache) get(p string) (*folderHandle, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.getLocked(p)
}

func (c *folderCache) getLocked(p string) (*folderHandle, error) {
	if p == "" {
		c.top.refs++
		return c.top, nil
	}
	if h := c.open[p]; h != nil {
		h.refs++
		return h, nil
	}
	above, base := path.Split(p)
	parent, err := c.getLocked(path.Clean("/" + above)[1:])
	if err != nil {
		return nil, err
	}
	defer c.putLocked(parent)
	st, err := parent.root.Lstat(base)
	if err != nil {
		return nil, err
	}
	if st.Mode()&fs.ModeSymlink != 0 || !st.IsDir() {
		return nil, fmt.Errorf("%s: %w", base, errTargetLink)
	}
	// Should a link be planted right here, Root still keeps it inside the parent.
	root, err := parent.root.OpenRoot(base)
	if err != nil {
		return nil, err
	}
	h, err := newFolderHandle(root, p)
	if err != nil {
		return nil, err
	}
	if now, err := h.dir.Stat(); err != nil || !os.SameFile(now, st) {
		h.close()
		return nil, fmt.Errorf("%s: %w", base, errTargetLink)
	}
	if id := deviceOf(h.dir); id != deviceOf(c.top.dir) && c.foreign[id] == nil {
		c.foreign[id] = h
		h.refs++
	}
	c.open[p] = h
	c.ages = append(c.ages, p)
	h.refs++
	if len(c.ages) > maxOpenFolders {
		c.evictLocked(c.ages[0])
	}
	return h, nil
}

func (c *folderCache) evictLocked(p string) {
	h := c.open[p]
	delete(c.open, p)
	for i, have := range c.ages {
		if have == p {
			c.ages = append(c.ages[:i], c.ages[i+1:]...)
			break
		}
	}
	if h != nil {
		c.putLocked(h)
	}
}

// forget drops a cached folder, before it is removed.
func (c *folderCache) forget(p string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.evictLocked(p)
}

func (c *folderCache) put(h *folderHandle) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.putLocked(h)
}

func (c *folderCache) putLocked(h *folderHandle) {
	h.refs--
	if h.refs == 0 {
		h.close()
	}
}

// syncAll flushes every file system below the root that was touched.
func (c *folderCache) syncAll() error {
	c.mu.Lock()
	roots := []*folderHandle{c.top}
	for _, h := range c.foreign {
		roots = append(roots, h)
	}
	c.mu.Unlock() // both stay open until close
	for _, h := range roots {
		if err := syncWhole(h.dir); err != nil {
			return err
		}
	}
	return nil
}

func (c *folderCache) close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, h := range c.foreign {
		delete(c.foreign, id)
		c.putLocked(h)
	}
	for len(c.ages) > 0 {
		c.evictLocked(c.ages[0])
	}
	c.putLocked(c.top)
	return nil
}
