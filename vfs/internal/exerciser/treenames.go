package exerciser

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// rename moves a file to a random place, replacing a file that is there.
func (x *tree) rename() error {
	n := x.file()
	if n == nil {
		return nil
	}
	folder, name, there := x.place()
	from := x.path(n)
	x.note("rename %s to %s in %s", x.short(n), name, x.short(folder))
	err := x.System.Rename(from, filepath.Join(x.path(folder), name))
	if there != nil && there.isFolder() {
		return x.mustFail(nil, err, "a file replaced a folder")
	}
	if err != nil {
		return x.fail(err, "rename a file")
	}
	if there != nil && there != n {
		x.detach(there)
		x.files = drop(x.files, there)
	}
	moved := n.parent != folder || n.name != name
	x.detach(n)
	x.attach(n, folder, name)
	if moved {
		if _, err := x.System.Stat(from); !errors.Is(err, fs.ErrNotExist) {
			return x.fail(err, "the old name is still there after a rename")
		}
	}
	return x.readNode(n, false)
}

// renameFolder moves a folder, perhaps where it must not go.
func (x *tree) renameFolder() error {
	n := x.folder()
	folder, name, there := x.place()
	if n == x.top || depth(folder) >= maxTreeDepth {
		return nil
	}
	from := x.path(n)
	x.note("rename the folder %s to %s in %s", x.short(n), name, x.short(folder))
	err := x.System.Rename(from, filepath.Join(x.path(folder), name))
	switch {
	case there == n && folder == n.parent: // perhaps in another spelling
	case folder.below(n):
		return x.mustFail(nil, err, "a folder was moved into itself")
	case there != nil && (!there.isFolder() || len(there.children) > 0):
		return x.mustFail(nil, err, "a folder replaced what it must not replace")
	}
	if err != nil {
		return x.fail(err, "rename a folder")
	}
	if there != nil && there != n {
		x.detach(there)
		x.folders = drop(x.folders, there)
	}
	moved := n.parent != folder || n.name != name
	x.detach(n)
	x.attach(n, folder, name)
	if moved {
		if _, err := x.System.Stat(from); !errors.Is(err, fs.ErrNotExist) {
			return x.fail(err, "the old name of a folder is still there after a rename")
		}
	}
	return x.listFolder(n)
}

func (x *tree) mkdir() error {
	folder, name, there := x.place()
	if depth(folder) >= maxTreeDepth || len(x.folders) > 40 {
		return x.rmdir()
	}
	x.note("make the folder %s in %s", name, x.short(folder))
	err := x.System.Mkdir(filepath.Join(x.path(folder), name))
	if there != nil {
		if err == nil || !errors.Is(err, fs.ErrExist) {
			return x.fail(err, "%s exists and this is not the answer", there.name)
		}
		return nil
	}
	if err != nil {
		return x.fail(err, "make a folder")
	}
	n := &node{children: map[string]*node{}}
	x.attach(n, folder, name)
	x.folders = append(x.folders, n)
	return x.listFolder(n)
}

func (x *tree) remove() error {
	n := x.file()
	if n == nil || len(x.files) < 5 {
		return nil
	}
	path := x.path(n)
	x.note("remove %s", x.short(n))
	if err := x.System.Remove(path); err != nil {
		return x.fail(err, "remove")
	}
	x.detach(n)
	x.files = drop(x.files, n)
	return x.gone(path)
}

func (x *tree) gone(path string) error {
	if _, err := x.System.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return x.fail(err, "it is still there after it was removed")
	}
	if h, err := x.System.Open(path, os.O_RDONLY); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(x.fail(err, "it can still be opened after it was removed"), closeIf(h, err))
	}
	return nil
}

func (x *tree) rmdir() error {
	n := x.folder()
	if n == x.top {
		return nil
	}
	path := x.path(n)
	x.note("remove the folder %s with %d entries", x.short(n), len(n.children))
	err := x.System.Remove(path)
	if len(n.children) > 0 {
		return x.mustFail(nil, err, "a folder with entries was removed")
	}
	if err != nil {
		return x.fail(err, "remove an empty folder")
	}
	x.detach(n)
	x.folders = drop(x.folders, n)
	return x.gone(path)
}

func (x *tree) list() error {
	n := x.folder()
	x.note("list %s", x.short(n))
	return x.listFolder(n)
}

// listFolder compares names, kinds and sizes; in the top folder names of others are ignored.
func (x *tree) listFolder(n *node) error {
	infos, err := x.System.List(x.path(n))
	if err != nil {
		return x.fail(err, "list %s", x.short(n))
	}
	var got, want []string
	for _, info := range infos {
		if n != x.top || strings.HasPrefix(x.key(info.Name()), x.key(x.Prefix)) {
			got = append(got, info.Name())
		}
	}
	for _, child := range n.children {
		want = append(want, child.name)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		return x.fail(nil, "%s lists %q, should be %q", x.short(n), got, want)
	}
	for _, info := range infos {
		if child := n.children[x.key(info.Name())]; child != nil {
			if err := x.compareInfo(child, info, "listed"); err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *tree) compareInfo(n *node, info fs.FileInfo, how string) error {
	if info.IsDir() != n.isFolder() {
		return x.fail(nil, "%s is %s as mode %v", x.short(n), how, info.Mode())
	}
	if !n.isFolder() && info.Size() != int64(len(n.content)) {
		return x.fail(nil, "%s is %s with %d bytes, has %d", x.short(n), how, info.Size(), len(n.content))
	}
	return nil
}

func (x *tree) statNode(n *node) error {
	info, err := x.System.Stat(x.path(n))
	if err != nil {
		return x.fail(err, "stat %s", x.short(n))
	}
	return x.compareInfo(n, info, "seen")
}

// stat looks at a random place, where there may be nothing. Of a name spelled otherwise a system may say that there is
// none, or show the file.
func (x *tree) stat() error {
	folder, name, there := x.place()
	x.note("stat %s in %s", name, x.short(folder))
	info, err := x.System.Stat(filepath.Join(x.path(folder), name))
	absent := errors.Is(err, fs.ErrNotExist)
	switch {
	case there == nil && !absent:
		return x.fail(err, "nothing is there, and stat does not say so")
	case there == nil, there.name != name && absent:
		return nil
	case err != nil:
		return x.fail(err, "stat")
	}
	return x.compareInfo(there, info, "seen")
}

// missing does things to names that do not exist.
func (x *tree) missing() error {
	folder, name, there := x.place()
	if there != nil {
		return nil
	}
	path := filepath.Join(x.path(folder), name)
	x.note("open, remove and rename %s in %s, which does not exist", name, x.short(folder))
	h, err := x.System.Open(path, os.O_RDWR)
	if !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(x.fail(err, "open of a missing file"), closeIf(h, err))
	}
	if err := x.System.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return x.fail(err, "remove of a missing file")
	}
	if err := x.System.Rename(path, path+"2"); !errors.Is(err, fs.ErrNotExist) {
		return x.fail(err, "rename of a missing file")
	}
	return nil
}

// impossible uses a file as a folder and the other way round.
func (x *tree) impossible() error {
	n, folder := x.file(), x.folder()
	if n == nil || folder == x.top {
		return nil
	}
	x.note("use the file %s as a folder and the folder %s as a file", x.short(n), x.short(folder))
	h, err := x.System.Open(filepath.Join(x.path(n), "inside"), os.O_RDWR|os.O_CREATE)
	if err == nil {
		return x.mustFail(h, err, "a file was made in a file")
	}
	if err := x.System.Mkdir(filepath.Join(x.path(n), "inside")); err == nil {
		return x.fail(nil, "a folder was made in a file")
	}
	if h, err := x.System.Open(x.path(folder), os.O_RDWR); err == nil {
		return x.mustFail(h, err, "a folder was opened for writing")
	}
	if err := x.System.Rename(x.path(folder), x.path(n)); err == nil {
		return x.fail(nil, "a folder replaced a file")
	}
	return x.listFolder(folder)
}
