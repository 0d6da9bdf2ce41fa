package transfer

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// hostTarget is a host file being written.
type hostTarget struct {
	tree   *hostTree
	folder *folderHandle
	file   *handle
	part   string // its name in folder; "" while it has none (Linux)
	final  string // name to be
	begun  int64  // bytes already handed to write-back
	end    int64  // highest byte written
}

// create begins a file. It has no name at all where the system allows that and
// none is asked for, else a part name.
func (t *hostTree) create(o createOptions) (targetFile, error) {
	dir, final := split(o.path)
	h, err := t.folders.get(dir)
	if err != nil {
		return nil, err
	}
	f := &hostTarget{tree: t, folder: h, final: final}
	if err := f.open(o); err != nil {
		t.folders.put(h)
		return nil, err
	}
	return f, nil
}

func (f *hostTarget) open(o createOptions) (err error) {
	perm := os.FileMode(0o666)
	switch {
	case o.like.mode != 0:
		perm = os.FileMode(o.like.mode)
	case o.like.readOnly:
		perm = 0o444
	}
	if o.part == "" {
		if f.file, err = createUnnamed(f.folder, perm); err == nil {
			return nil
		}
		f.part = randomPart()
	} else {
		_, f.part = split(o.part)
	}
	if o.resume {
		f.file, err = reopenPart(f.folder, f.part)
		return err
	}
	f.file, err = createNamed(f.folder, f.part, perm)
	if errors.Is(err, fs.ErrExist) && o.part != "" { // left by an earlier run of the same job
		if err = f.folder.root.Remove(f.part); err == nil {
			f.file, err = createNamed(f.folder, f.part, perm)
		}
	}
	return err
}

// WriteAt writes all of p or fails, and counts it towards early write-back.
func (f *hostTarget) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.file.WriteAt(p, off)
	f.end = max(f.end, off+int64(n))
	if err == nil {
		f.tree.flush.wrote(f, int64(n), false)
	}
	return n, err
}

// publish sets the times and gives the file its final name.
func (f *hostTarget) publish(n node, replace bool) error {
	err := setTimes(f, n.modified)
	if err == nil && closeFirst {
		err = f.file.Close()
	}
	if err == nil {
		err = f.give(replace)
	}
	if err != nil {
		return errors.Join(err, f.discard())
	}
	f.tree.note(join(f.folder.path, f.final))
	f.tree.note(f.folder.path)
	f.tree.flush.wrote(f, 0, true) // closes the file when its bytes are handed over
	f.tree.folders.put(f.folder)
	return nil
}

// give moves the file to its final name. A link standing there is replaced, not
// followed; without replace anything standing there is an error.
func (f *hostTarget) give(replace bool) error {
	if f.part == "" {
		err := linkUnnamed(f, f.final)
		if !errors.Is(err, fs.ErrExist) || !replace {
			return err
		}
		f.part = randomPart()
		if err := linkUnnamed(f, f.part); err != nil {
			f.part = ""
			return err
		}
	}
	if !replace {
		return renameNew(f.folder, f.part, f.final)
	}
	return f.folder.root.Rename(f.part, f.final)
}

func (f *hostTarget) discard() error {
	f.tree.flush.dropped(f)
	err := f.file.Close()
	if f.part != "" {
		err = errors.Join(err, f.folder.root.Remove(f.part))
	}
	f.tree.folders.put(f.folder)
	return err
}

func (f *hostTarget) keep() error {
	f.tree.note(join(f.folder.path, f.part))
	f.tree.flush.wrote(f, 0, true)
	f.tree.folders.put(f.folder)
	return nil
}

// setTimes sets the modification time through the handle.
func setTimes(f *hostTarget, modified time.Time) error {
	if modified.IsZero() {
		return nil
	}
	return touch(f, modified)
}

// renameChecked is renameNew where the system has no such call: a name that
// appears between the look and the rename is replaced.
func renameChecked(h *folderHandle, from, to string) error {
	if _, err := h.root.Lstat(to); err == nil {
		return &fs.PathError{Op: "rename", Path: to, Err: fs.ErrExist}
	}
	return h.root.Rename(from, to)
}
