//go:build linux

package operations_test

import (
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// at is a path of the container on the drive.
func (w *world) at(p string) string { return filepath.Join(w.point, p) }

// expect demands an error of a kind, or none (nil).
func (w *world) expect(err error, kinds ...error) {
	w.t.Helper()
	if len(kinds) == 0 {
		if err != nil {
			w.fail("%v", err)
		}
		return
	}
	for _, kind := range kinds {
		if errors.Is(err, kind) {
			return
		}
	}
	w.fail("got %v, want one of %v", err, kinds)
}

// mountWrite creates or overwrites a file with O_TRUNC, or with O_EXCL.
func (w *world) mountWrite(dir *item, name string) {
	exclusive := w.random.IntN(3) == 0
	w.step("drive: write %s in %s, exclusive %v", name, dir.path(), exclusive)
	flags := os.O_CREATE | os.O_WRONLY | os.O_TRUNC
	if exclusive {
		flags |= os.O_EXCL
	}
	content := w.someContent()
	f, err := os.OpenFile(w.at(path.Join(dir.path(), name)), flags, 0o600)
	there := dir.child(name)
	switch {
	case there != nil && exclusive:
		w.expect(err, syscall.EEXIST)
		return
	case there != nil && there.folder:
		w.expect(err, syscall.EISDIR, syscall.EEXIST)
		return
	}
	w.expect(err)
	if there == nil {
		there = &item{}
		dir.add(there, name)
	}
	_, err = f.Write(content)
	w.expect(errors.Join(err, f.Close()))
	there.content = content
}

// mountAppend appends, cuts, or writes through a mapping.
func (w *world) mountChange(i *item) {
	how := w.random.IntN(3)
	w.step("drive: change %s in way %d", i.path(), how)
	f, err := os.OpenFile(w.at(i.path()), os.O_RDWR, 0)
	w.expect(err)
	defer func() { w.expect(f.Close()) }()
	switch {
	case how == 0:
		more := w.someContent()
		_, err = f.WriteAt(more, int64(len(i.content)))
		i.content = append(i.content[:len(i.content):len(i.content)], more...)
	case how == 1 || len(i.content) == 0:
		size := w.random.IntN(len(i.content) + 100)
		err = f.Truncate(int64(size))
		i.content = append(make([]byte, 0, size), i.content[:min(size, len(i.content))]...)
		i.content = append(i.content, make([]byte, size-len(i.content))...)
	default:
		var mapped []byte
		if mapped, err = unix.Mmap(int(f.Fd()), 0, len(i.content), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err == nil {
			i.content = append([]byte(nil), i.content...)
			for range 10 {
				at := w.random.IntN(len(i.content))
				mapped[at]++
				i.content[at]++
			}
			err = unix.Munmap(mapped)
		}
	}
	w.expect(err)
}

func (w *world) mountMkdir(dir *item, name string) {
	w.step("drive: mkdir %s in %s", name, dir.path())
	err := os.Mkdir(w.at(path.Join(dir.path(), name)), 0o700)
	if dir.child(name) != nil {
		w.expect(err, syscall.EEXIST)
		return
	}
	w.expect(err)
	dir.add(newFolder(name), name)
}

// mountRemove removes by the stored spelling, or fails to by another one.
func (w *world) mountRemove(i *item) {
	p := i.path()
	if other := respelt(w.random, i.name); other != i.name {
		w.expect(os.Remove(w.at(path.Join(i.parent.path(), other))), syscall.ENOENT)
	}
	w.step("drive: remove %s", p)
	err := syscall.Unlink(w.at(p))
	if i.folder {
		err = syscall.Rmdir(w.at(p))
	}
	if i.folder && len(i.children) > 0 {
		w.expect(err, syscall.ENOTEMPTY)
		return
	}
	w.expect(err)
	i.drop()
}

func (w *world) mountRename(i, dir *item, name string) {
	w.step("drive: rename %s to %s in %s", i.path(), name, dir.path())
	err := syscall.Rename(w.at(i.path()), w.at(path.Join(dir.path(), name)))
	w.renamed(i, dir, name, err)
}

// renamed checks the outcome of a rename that may replace, as POSIX has it, and does it in the model.
func (w *world) renamed(i, dir *item, name string, err error) {
	there := dir.child(name)
	switch {
	case i.folder && dir.inside(i):
		w.expect(err, syscall.EINVAL)
		return
	case there == nil || there == i:
	case i.inside(there):
		w.expect(err, syscall.ENOTEMPTY, syscall.EEXIST, syscall.EISDIR, syscall.EINVAL)
		return
	case there.folder && !i.folder:
		w.expect(err, syscall.EISDIR, syscall.EEXIST)
		return
	case !there.folder && i.folder:
		w.expect(err, syscall.ENOTDIR, syscall.EEXIST)
		return
	case there.folder && len(there.children) > 0:
		w.expect(err, syscall.ENOTEMPTY, syscall.EEXIST)
		return
	}
	w.expect(err)
	if there != nil {
		there.drop()
	}
	i.drop()
	dir.add(i, name)
}

func (w *world) mountTimes(i *item) {
	when := time.Date(2000+w.random.IntN(40), 3, 4, 5, 6, 7+w.random.IntN(40), 987654321, time.UTC)
	w.step("drive: times of %s", i.path())
	w.expect(os.Chtimes(w.at(i.path()), when, when))
	info, err := os.Stat(w.at(i.path()))
	w.expect(err)
	if got := info.ModTime(); got.After(when) || when.Sub(got) > 2*time.Second {
		w.fail("modification time %v after it was set to %v", got, when)
	}
}

// holder is a file that a program has open for reading.
type holder struct {
	file *os.File
	item *item
}

// mountHold opens a file for reading and keeps it open; it is read later, whatever has become of its name.
func (w *world) mountHold(i *item) {
	w.step("drive: hold %s", i.path())
	f, err := os.Open(w.at(i.path()))
	w.expect(err)
	w.held = append(w.held, holder{f, i})
	if len(w.held) > 4 {
		w.readHeld(0)
	}
}

// readHeld reads a file held open, and closes it.
func (w *world) readHeld(k int) {
	h := w.held[k]
	w.held = append(w.held[:k:k], w.held[k+1:]...)
	got, err := io.ReadAll(h.file)
	w.expect(errors.Join(err, h.file.Close()))
	if string(got) != string(h.item.content) {
		w.fail("a file held open (now %s) has %d bytes, want %d, or they differ", h.item.name, len(got), len(h.item.content))
	}
}
