//go:build windows || ((darwin || freebsd) && cgo) || (linux && cgofuse)

package vfs

import (
	"errors"
	"fmt"

	"coffer/fat32"
)

// errWhich is the answer where a path stands for two open files and a wrong guess could destroy one.
var errWhich = fmt.Errorf("two open files were opened by this path: %w", fat32.ErrBusy)

// meant says which object WinFsp means by the path of a handle: it passes the path by which the handle was opened, even if
// the file has another name since and another file has that name. Nothing (an invalid node) means that the path is to be taken as
// it is. A reference comes with it.
func (c *cgoFS) meant(path string) (Node, error) {
	opened := c.table.openedBy(path)
	if len(opened) == 0 {
		return Node{}, nil
	}
	there, err := c.fs.Find(path)
	switch {
	case err == nil:
		defer there.Release()
	case !errors.Is(err, fat32.ErrNotExist) && !errors.Is(err, fat32.ErrNotDir):
		for _, n := range opened {
			n.Release()
		}
		return Node{}, err
	}
	var moved Node // the one that has another name now
	exact, several := false, false
	for _, n := range opened {
		switch {
		case err == nil && n.ID() == there.ID():
			exact = true
		case n.Removed():
			// no callback can be about it
		case moved.Valid():
			several = true
		default:
			moved = n.Hold()
		}
		n.Release()
	}
	switch {
	case several || exact && moved.Valid():
		if moved.Valid() {
			moved.Release()
		}
		return Node{}, errWhich
	case exact:
		return Node{}, nil
	}
	return moved, nil
}

// place returns the folder and the name of what a callback removes or renames. The folder comes with a reference.
func (c *cgoFS) place(path string) (Node, string, error) {
	if c.rules.stalePaths {
		n, err := c.meant(path)
		if err != nil {
			return Node{}, "", err
		}
		if n.Valid() {
			defer n.Release()
			return c.placeOf(n)
		}
	}
	return c.fs.FindParent(path)
}

// placeOf returns the folder an object is in now, and its name.
func (c *cgoFS) placeOf(n Node) (Node, string, error) {
	parent, ok := n.Parent()
	if !ok {
		return Node{}, "", fat32.ErrNotExist
	}
	name := n.Name()
	if name == "" {
		parent.Release()
		return Node{}, "", fat32.ErrNotExist
	}
	return parent, name, nil
}

// deletable answers for a deletion WinFsp is about to take note of: of the object that a handle opened by path stands
// for, or of n, which is at path now and is about to be opened in order to be deleted.
func (c *cgoFS) deletable(path string, n Node, findErr error) error {
	meant, err := c.meant(path)
	if err != nil {
		return err
	}
	if meant.Valid() {
		defer meant.Release()
		if err := c.mayDelete(meant); err != nil || findErr != nil {
			return err
		}
	} else if findErr != nil {
		return findErr
	}
	return c.mayDelete(n)
}

func (c *cgoFS) mayDelete(n Node) error {
	if c.fs.options.ReadOnly || c.fs.volume.Err() != nil {
		return fat32.ErrReadOnly
	}
	info, err := c.fs.Stat(n)
	if err != nil {
		return err
	}
	if !n.IsDir() && info.Attr&fat32.AttrReadOnly != 0 {
		return errReadOnly
	}
	return nil
}
