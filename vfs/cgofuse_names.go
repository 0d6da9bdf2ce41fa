//go:build windows || ((darwin || freebsd) && cgo) || (linux && cgofuse)

package vfs

import (
	"github.com/winfsp/cgofuse/fuse"
)

// listEntries is how many entries are taken from the core at once.
const listEntries = 512

// Opendir opens a folder.
func (c *cgoFS) Opendir(path string) (errc int, fh uint64) {
	defer c.recovered(&errc)
	n, err := c.find(path)
	if err != nil {
		return cgoErrno(err), noFh
	}
	if !n.IsDir() {
		n.Release()
		return -fuse.ENOTDIR, noFh
	}
	return 0, c.table.addDir(n, path)
}

// Readdir lists a folder with the attributes of everything in it, in one go.
func (c *cgoFS) Readdir(path string, fill func(string, *fuse.Stat_t, int64) bool, _ int64, fh uint64) (errc int) {
	defer c.recovered(&errc)
	n, err := c.node(path, fh)
	if err != nil {
		return cgoErrno(err)
	}
	defer n.Release()
	if more, errc := c.fillDots(n, fill); !more || errc != 0 {
		return errc
	}
	var stat fuse.Stat_t
	entries := make([]Entry, 0, listEntries)
	for from := 0; ; {
		entries, err = c.fs.List(entries[:0], n, from, listEntries, false)
		for i := range entries {
			c.attributes(&entries[i].Info, &stat)
			if !fill(entries[i].Info.Name, &stat, 0) {
				return 0
			}
			from = entries[i].Next
		}
		if err != nil || len(entries) < listEntries {
			return cgoErrno(err)
		}
	}
}

// fillDots lists the folder itself and the one above. more is false if the system wants no more.
func (c *cgoFS) fillDots(n Node, fill func(string, *fuse.Stat_t, int64) bool) (more bool, errc int) {
	var self, above fuse.Stat_t
	if errc := c.stat(n, &self); errc != 0 {
		return false, errc
	}
	above = self
	if parent, ok := n.Parent(); ok {
		defer parent.Release()
		if errc := c.stat(parent, &above); errc != 0 {
			return false, errc
		}
	}
	return fill(".", &self, 0) && fill("..", &above, 0), 0
}

// Releasedir ends the use of an open folder.
func (c *cgoFS) Releasedir(_ string, fh uint64) (errc int) {
	defer c.recovered(&errc)
	o := c.table.take(fh)
	if o == nil || o.handle != nil {
		return -fuse.EBADF
	}
	o.node.Release()
	return 0
}

// Mkdir makes a folder.
func (c *cgoFS) Mkdir(path string, _ uint32) (errc int) {
	defer c.recovered(&errc)
	dir, name, err := c.fs.FindParent(path)
	if err != nil {
		return cgoErrno(err)
	}
	defer dir.Release()
	n, err := c.fs.Mkdir(dir, name)
	if err == nil {
		n.Release()
	}
	return cgoErrno(err)
}

// Unlink removes a file; who has it open keeps it.
func (c *cgoFS) Unlink(path string) (errc int) {
	defer c.recovered(&errc)
	if c.dropHidden(path) {
		return 0
	}
	dir, name, err := c.place(path)
	if err != nil {
		return cgoErrno(err)
	}
	defer dir.Release()
	return cgoErrno(c.fs.Unlink(dir, name))
}

// Rmdir removes an empty folder.
func (c *cgoFS) Rmdir(path string) (errc int) {
	defer c.recovered(&errc)
	dir, name, err := c.place(path)
	if err != nil {
		return cgoErrno(err)
	}
	defer dir.Release()
	return cgoErrno(c.fs.Rmdir(dir, name))
}

// Rename3 gives an object another name or place.
func (c *cgoFS) Rename3(oldPath, newPath string, flags uint32) (errc int) {
	defer c.recovered(&errc)
	if flags&^fuse.RENAME_NOREPLACE != 0 {
		return -fuse.EINVAL
	}
	if c.rules.hides && flags == 0 {
		if done, err := c.hide(oldPath, newPath); done || err != nil {
			return cgoErrno(err)
		}
	}
	dir, name, err := c.place(oldPath)
	if err != nil {
		return cgoErrno(err)
	}
	defer dir.Release()
	to, newName, err := c.fs.FindParent(newPath)
	if err != nil {
		return cgoErrno(err)
	}
	defer to.Release()
	_, err = c.fs.Rename(dir, name, to, newName, flags&fuse.RENAME_NOREPLACE == 0)
	return cgoErrno(err)
}

// Rename is Rename3 without flags.
func (c *cgoFS) Rename(oldPath, newPath string) int { return c.Rename3(oldPath, newPath, 0) }

// Link is what FAT cannot do.
func (c *cgoFS) Link(string, string) int { return cgoErrno(errNotOnFAT) }

// Symlink is what FAT cannot do.
func (c *cgoFS) Symlink(string, string) int { return cgoErrno(errNotOnFAT) }

// Readlink says that there are no links, so that WinFsp does not look for any.
func (c *cgoFS) Readlink(string) (int, string) { return -fuse.ENOSYS, "" }
