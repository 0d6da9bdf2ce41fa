//go:build windows || ((darwin || freebsd) && cgo) || (linux && cgofuse)

package vfs

import (
	"github.com/winfsp/cgofuse/fuse"

	"coffer/fat32"
)

// cgoFlag translates the flags of an opening.
func cgoFlag(flags int) fat32.OpenFlag {
	out := fat32.ReadOnly
	switch flags & fuse.O_ACCMODE {
	case fuse.O_WRONLY:
		out = fat32.WriteOnly
	case fuse.O_RDWR:
		out = fat32.ReadWrite
	}
	if flags&fuse.O_EXCL != 0 {
		out |= fat32.Exclusive
	}
	if flags&fuse.O_TRUNC != 0 && out&(fat32.WriteOnly|fat32.ReadWrite) != 0 {
		out |= fat32.Truncate
	}
	return out
}

// OpenEx opens a file. The system keeps what it has cached of it, unless something changed that it does not know of.
func (c *cgoFS) OpenEx(path string, fi *fuse.FileInfo_t) (errc int) {
	defer c.recovered(&errc)
	fi.Fh = noFh
	n, err := c.find(path)
	if err != nil {
		return cgoErrno(err)
	}
	defer n.Release()
	h, err := c.fs.Open(n, cgoFlag(fi.Flags), c.pid())
	if err != nil {
		return cgoErrno(err)
	}
	fi.KeepCache = !c.foreign.Load()
	fi.Fh = c.table.addFile(h, path, false)
	return 0
}

// Open is OpenEx for hosts that do not know it.
func (c *cgoFS) Open(path string, flags int) (int, uint64) {
	fi := fuse.FileInfo_t{Flags: flags}
	errc := c.OpenEx(path, &fi)
	return errc, fi.Fh
}

// CreateEx makes and opens a file.
func (c *cgoFS) CreateEx(path string, _ uint32, fi *fuse.FileInfo_t) (errc int) {
	defer c.recovered(&errc)
	fi.Fh = noFh
	dir, name, err := c.fs.FindParent(path)
	if err != nil {
		return cgoErrno(err)
	}
	defer dir.Release()
	h, err := c.fs.Create(dir, name, cgoFlag(fi.Flags), c.pid())
	if err != nil {
		return cgoErrno(err)
	}
	fi.KeepCache = !c.foreign.Load()
	fi.Fh = c.table.addFile(h, path, h.Node().Name() != name)
	return 0
}

// Create is CreateEx for hosts that do not know it.
func (c *cgoFS) Create(path string, flags int, mode uint32) (int, uint64) {
	fi := fuse.FileInfo_t{Flags: flags}
	errc := c.CreateEx(path, mode, &fi)
	return errc, fi.Fh
}

// Mknod makes files only.
func (c *cgoFS) Mknod(path string, mode uint32, _ uint64) (errc int) {
	defer c.recovered(&errc)
	if kind := mode & fuse.S_IFMT; kind != fuse.S_IFREG && kind != 0 {
		return -fuse.EPERM
	}
	dir, name, err := c.fs.FindParent(path)
	if err != nil {
		return cgoErrno(err)
	}
	defer dir.Release()
	h, err := c.fs.Create(dir, name, fat32.ReadOnly|fat32.Exclusive, c.pid())
	if err != nil {
		return cgoErrno(err)
	}
	return cgoErrno(c.fs.Close(h.ID()))
}

// file returns the open file of a handle.
func (c *cgoFS) file(fh uint64) (*Handle, error) {
	o := c.table.get(fh)
	if o == nil || o.handle == nil {
		return nil, errBadHandle
	}
	if o.flushed.Load() {
		o.flushed.Store(false) // closed by one of several who had it
	}
	return o.handle, nil
}

// Read reads from an open file.
func (c *cgoFS) Read(_ string, buffer []byte, off int64, fh uint64) (n int) {
	defer c.recovered(&n)
	h, err := c.file(fh)
	if err != nil {
		return cgoErrno(err)
	}
	if off < 0 {
		return -fuse.EINVAL
	}
	n, err = c.fs.Read(h, buffer, off)
	if err != nil && n == 0 {
		return cgoErrno(err)
	}
	return n
}

// Write writes to an open file.
func (c *cgoFS) Write(_ string, data []byte, off int64, fh uint64) (n int) {
	defer c.recovered(&n)
	h, err := c.file(fh)
	if err != nil {
		return cgoErrno(err)
	}
	switch {
	case off < 0:
		return -fuse.EINVAL
	case off > fat32.MaxFileSize:
		return cgoErrno(fat32.ErrTooBig)
	}
	n, err = c.fs.Write(h, data, off)
	if err != nil {
		return cgoErrno(err)
	}
	return n
}

// Truncate sets the size of a file.
func (c *cgoFS) Truncate(path string, size int64, fh uint64) (errc int) {
	defer c.recovered(&errc)
	switch {
	case size < 0:
		return -fuse.EINVAL
	case size > fat32.MaxFileSize:
		return cgoErrno(fat32.ErrTooBig)
	}
	n, err := c.node(path, fh)
	if err != nil {
		return cgoErrno(err)
	}
	defer n.Release()
	if n.IsDir() {
		return -fuse.EISDIR
	}
	var h *Handle
	if o := c.table.get(fh); fh != noFh && o != nil {
		h = o.handle
	}
	if h != nil && !h.write && c.rules.stalePaths {
		h = nil // Windows checks what a handle may; replacing a file does not need the right to write
	}
	return cgoErrno(c.fs.Truncate(n, h, size))
}

// Flush is the closing of a handle by one of those who have it: nothing has to be written. (ENOSYS would spare the question,
// but hide has to know of it.)
func (c *cgoFS) Flush(_ string, fh uint64) (errc int) {
	defer c.recovered(&errc)
	if o := c.table.get(fh); o != nil {
		o.flushed.Store(true)
	}
	return 0
}

// Release ends the use of an open file.
func (c *cgoFS) Release(_ string, fh uint64) (errc int) {
	defer c.recovered(&errc)
	if o := c.table.take(fh); o == nil || o.handle == nil {
		return -fuse.EBADF
	}
	return cgoErrno(c.fs.Close(fh))
}

// Fsync makes everything durable.
func (c *cgoFS) Fsync(_ string, _ bool, _ uint64) (errc int) {
	defer c.recovered(&errc)
	return cgoErrno(c.fs.Sync())
}

// Fsyncdir makes everything durable.
func (c *cgoFS) Fsyncdir(_ string, _ bool, _ uint64) (errc int) {
	defer c.recovered(&errc)
	return cgoErrno(c.fs.Sync())
}

// Extended attributes do not exist: the system need not ask again.

// Setxattr is not there.
func (c *cgoFS) Setxattr(string, string, []byte, int) int { return -fuse.ENOSYS }

// Getxattr is not there.
func (c *cgoFS) Getxattr(string, string) (int, []byte) { return -fuse.ENOSYS, nil }

// Removexattr is not there.
func (c *cgoFS) Removexattr(string, string) int { return -fuse.ENOSYS }

// Listxattr is not there.
func (c *cgoFS) Listxattr(string, func(string) bool) int { return -fuse.ENOSYS }
