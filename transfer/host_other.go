//go:build !linux

package transfer

import (
	"errors"
	"os"
	"time"
)

// wholeSync: no portable call flushes a whole file system, so files and folders
// are flushed one by one.
const wholeSync = false

// handle is an open file.
type handle = os.File

// createNamed makes a file that must not exist.
func createNamed(h *folderHandle, name string, perm os.FileMode) (*handle, error) {
	return h.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
}

// closeFirst: Windows does not rename open files.
const closeFirst = true

func syncWhole(*os.File) error { return errors.ErrUnsupported }

// deviceOf is not needed where files are flushed one by one.
func deviceOf(*os.File) uint64 { return 0 }

func lstatIn(h *folderHandle, name string) (node, error) {
	st, err := h.root.Lstat(name)
	if err != nil {
		return node{}, err
	}
	return nodeOf(st), nil
}

func fstat(f *handle) (node, error) {
	st, err := f.Stat()
	if err != nil {
		return node{}, err
	}
	return nodeOf(st), nil
}

// readsAll: only opening tells.
func readsAll() bool { return false }

func readable(h *folderHandle, name string) error {
	f, err := openNoFollow(h, name)
	if err != nil {
		return err
	}
	return f.Close()
}

// openNoFollow opens a regular file. Checked before, so that a FIFO does not
// hang, and after, so that a link put there meanwhile is noticed.
func openNoFollow(h *folderHandle, name string) (*handle, error) {
	before, err := h.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, errNotRegular
	}
	f, err := h.root.Open(name)
	if err != nil {
		return nil, err
	}
	if after, err := f.Stat(); err != nil || !os.SameFile(before, after) {
		f.Close()
		return nil, errNotRegular
	}
	return f, nil
}

func reopenPart(h *folderHandle, name string) (*handle, error) {
	before, err := h.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, errNotRegular
	}
	f, err := h.root.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	if after, err := f.Stat(); err != nil || !os.SameFile(before, after) {
		f.Close()
		return nil, errNotRegular
	}
	return f, nil
}

func createUnnamed(*folderHandle, os.FileMode) (*handle, error) { return nil, errors.ErrUnsupported }

func linkUnnamed(*hostTarget, string) error { return errors.ErrUnsupported }

func renameNew(h *folderHandle, from, to string) error { return renameChecked(h, from, to) }

func touch(f *hostTarget, modified time.Time) error {
	name := f.part
	return f.folder.root.Chtimes(name, time.Time{}, modified)
}

func startWriteback(*handle, int64, int64) {}

func adviseDontNeed(*handle) {}

// openForSync opens for writing, which FlushFileBuffers needs; folders are left
// out where they cannot be opened so.
func openForSync(h *folderHandle, name string) (*handle, error) {
	st, err := h.root.Lstat(name)
	if err != nil || st.IsDir() {
		return nil, err
	}
	return h.root.OpenFile(name, os.O_RDWR, 0)
}

func hostSpace(*folderHandle) (freeBytes, blockBytes int64, known bool) { return 0, 0, false }
