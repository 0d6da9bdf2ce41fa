package transfer

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
	"time"
)

// partPrefix begins the name of every part file, on the host and in volumes.
const partPrefix = ".coffer-part-"

// hostTree is a folder of the host. Safe for concurrent use.
type hostTree struct {
	folders *folderCache
	flush   *flusher
	// readsAll: this process may open every file.
	readsAll bool

	mu    sync.Mutex
	dirty map[string]bool // paths to fsync where the system cannot flush a whole file system
}

func newHostTree(root string) (*hostTree, error) {
	folders, err := newFolderCache(root)
	if err != nil {
		return nil, err
	}
	return &hostTree{folders: folders, flush: newFlusher(), readsAll: readsAll(), dirty: map[string]bool{}}, nil
}

// split cuts a path into folder and name.
func split(p string) (dir, name string) {
	i := strings.LastIndexByte(p, '/')
	if i < 0 {
		return "", p
	}
	return p[:i], p[i+1:]
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// within opens the folder of p and calls f with it and the last name.
func (t *hostTree) within(p string, f func(h *folderHandle, name string) error) error {
	dir, name := split(p)
	if name == "" {
		name = "."
	}
	h, err := t.folders.get(dir)
	if err != nil {
		return err
	}
	defer t.folders.put(h)
	return f(h, name)
}

func (t *hostTree) list(dir string) ([]node, error) {
	h, err := t.folders.get(dir)
	if err != nil {
		return nil, err
	}
	defer t.folders.put(h)
	// A handle of its own: reading moves the position.
	d, err := h.root.Open(".")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	var out []node
	for {
		names, err := d.Readdirnames(4096)
		for _, name := range names {
			n, err := lstatIn(h, name)
			switch {
			case errors.Is(err, fs.ErrNotExist):
			case err != nil:
				return nil, err
			default:
				out = append(out, n)
			}
		}
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

func (t *hostTree) stat(p string) (n node, err error) {
	err = t.within(p, func(h *folderHandle, name string) error {
		n, err = lstatIn(h, name)
		return err
	})
	return n, err
}

func (t *hostTree) open(p string) (sourceFile, node, error) {
	var file *handle
	err := t.within(p, func(h *folderHandle, name string) (err error) {
		file, err = openNoFollow(h, name)
		return err
	})
	if err != nil {
		return nil, node{}, err
	}
	s := &hostSource{file}
	n, err := s.stat()
	if err == nil && n.kind != kindFile {
		err = fmt.Errorf("%s: %w", path.Base(p), errNotRegular)
	}
	if err != nil {
		file.Close()
		return nil, node{}, err
	}
	return s, n, nil
}

// readable tells before copying whether a file will open.
func (t *hostTree) readable(p string) error {
	if t.readsAll {
		return nil
	}
	return t.within(p, func(h *folderHandle, name string) error { return readable(h, name) })
}

func (t *hostTree) remove(p string) error {
	t.folders.forget(p)
	return t.within(p, func(h *folderHandle, name string) error {
		t.note(h.path)
		return h.root.Remove(name)
	})
}

func (t *hostTree) mkdir(p string) error {
	return t.within(p, func(h *folderHandle, name string) error {
		if err := h.root.Mkdir(name, 0o777); err != nil {
			return err
		}
		t.note(h.path)
		return nil
	})
}

// dress gives a folder its times, and its permission bits if the source had some.
func (t *hostTree) dress(p string, n node) error {
	return t.within(p, func(h *folderHandle, name string) error {
		st, err := lstatIn(h, name)
		if err != nil {
			return err
		}
		if st.kind != kindFolder {
			return errTargetLink
		}
		return h.root.Chtimes(name, time.Time{}, n.modified)
	})
}

// note remembers a path for fsync where there is no syncfs.
func (t *hostTree) note(p string) {
	if wholeSync {
		return
	}
	t.mu.Lock()
	t.dirty[p] = true
	t.mu.Unlock()
}

// sync makes everything written so far durable.
func (t *hostTree) sync() error {
	t.flush.release()
	if wholeSync {
		return t.folders.syncAll()
	}
	t.mu.Lock()
	dirty := t.dirty
	t.dirty = map[string]bool{}
	t.mu.Unlock()
	for p := range dirty {
		if err := t.syncOne(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("sync: %w", err)
		}
	}
	return nil
}

func (t *hostTree) syncOne(p string) error {
	return t.within(p, func(h *folderHandle, name string) error {
		f, err := openForSync(h, name)
		if err != nil || f == nil {
			return err
		}
		defer f.Close()
		return f.Sync()
	})
}

func (t *hostTree) close() error {
	t.flush.stop()
	return t.folders.close()
}

// hostSource is an open file of the host.
type hostSource struct{ *handle }

func (s *hostSource) stat() (node, error) { return fstat(s.handle) }

func (s *hostSource) forget() { adviseDontNeed(s.handle) }

// randomPart is the name of a short-lived named part.
func randomPart() string {
	var r [6]byte
	rand.Read(r[:]) // never fails
	return partPrefix + hex.EncodeToString(r[:])
}
