//go:build windows || ((darwin || freebsd) && cgo) || (linux && cgofuse)

package vfs

import (
	"errors"
	"os"
	"sync/atomic"
	"time"

	"github.com/winfsp/cgofuse/fuse"

	"coffer/fat32"
)

// cgoRules are the habits of a FUSE library that the adapter has to know.
type cgoRules struct {
	// stalePaths: a path is the one a file was opened by, also after it was renamed (WinFsp).
	stalePaths bool
	// hides: a file that is removed while it is open is renamed to .fuse_hidden... and removed when it is closed (libfuse).
	hides bool
	// flags are the attributes that go as flags of a file.
	flags fat32.Attr
}

// allFlags are the attributes Windows knows.
const allFlags = fat32.AttrReadOnly | fat32.AttrHidden | fat32.AttrSystem | fat32.AttrArchive

// cgoFS translates the callbacks of cgofuse into calls of the core. cgofuse knows paths, and handles of
// what is open; a handle, where there is one, wins. See docs/adr-0002-cgofuse-paths.md.
type cgoFS struct {
	cgoLife
	fs           *FS
	rules        cgoRules
	table        openings
	hidden       hiddenFiles
	foreign      atomic.Bool // something changed that did not come through the mount
	uid, gid     uint32
	allow        uint32 // mode bits of those who may use the drive
	clusterBytes int64
}

func newCgoFS(fs *FS, rules cgoRules) *cgoFS {
	c := &cgoFS{fs: fs, rules: rules, uid: uint32(os.Getuid()), gid: uint32(os.Getgid()), allow: 0o700,
		clusterBytes: int64(fs.volume.Geometry().ClusterSize)}
	if fs.options.AllowOther {
		c.allow = 0o777
	}
	c.table.init(rules.stalePaths)
	return c
}

// noFh is the handle cgofuse passes where there is none.
const noFh = ^uint64(0)

// recovered turns a panic in a callback into its answer.
func (c *cgoFS) recovered(errc *int) {
	if value := recover(); value != nil {
		*errc = cgoErrno(c.fs.Panicked(value))
	}
}

// find returns the object at a path, with a reference.
func (c *cgoFS) find(path string) (Node, error) {
	if n, ok := c.hiddenFile(path); ok {
		return n, nil
	}
	n, err := c.fs.Find(path)
	if err != nil && errors.Is(err, fat32.ErrNotExist) {
		if alias, ok := c.table.alias(path); ok {
			return alias, nil
		}
	}
	return n, err
}

// node returns the object a callback is about, with a reference.
func (c *cgoFS) node(path string, fh uint64) (Node, error) {
	if fh != noFh {
		if o := c.table.get(fh); o != nil {
			return o.node.Hold(), nil
		}
	}
	return c.find(path)
}

// Attributes of FAT as flags of cgofuse.
var cgoFlags = [...]struct {
	attr fat32.Attr
	flag uint32
}{
	{fat32.AttrReadOnly, fuse.UF_READONLY},
	{fat32.AttrHidden, fuse.UF_HIDDEN},
	{fat32.AttrSystem, fuse.UF_SYSTEM},
	{fat32.AttrArchive, fuse.UF_ARCHIVE},
}

// attributes describes an object.
func (c *cgoFS) attributes(i *fat32.Info, out *fuse.Stat_t) {
	*out = fuse.Stat_t{Ino: i.ID, Nlink: 1, Uid: c.uid, Gid: c.gid, Blksize: cgoBlockBytes, Size: i.Size,
		Atim: fuse.NewTimespec(i.AccessTime), Mtim: fuse.NewTimespec(i.ModTime), Birthtim: fuse.NewTimespec(i.CreateTime)}
	out.Ctim = out.Mtim
	out.Mode = fuse.S_IFREG | c.allow
	if i.IsDir() {
		out.Mode = fuse.S_IFDIR | c.allow
		out.Size = c.clusterBytes
	} else if i.Attr&fat32.AttrReadOnly != 0 {
		out.Mode &^= 0o222
	}
	if i.Removed {
		out.Nlink = 0
	}
	out.Blocks = (out.Size + c.clusterBytes - 1) / c.clusterBytes * c.clusterBytes / 512
	for _, f := range cgoFlags {
		if i.Attr&f.attr&c.rules.flags != 0 {
			out.Flags |= f.flag
		}
	}
}

// Getattr describes an object.
func (c *cgoFS) Getattr(path string, out *fuse.Stat_t, fh uint64) (errc int) {
	defer c.recovered(&errc)
	n, err := c.node(path, fh)
	if err != nil {
		return cgoErrno(err)
	}
	defer n.Release()
	return c.stat(n, out)
}

func (c *cgoFS) stat(n Node, out *fuse.Stat_t) int {
	info, err := c.fs.Stat(n)
	if err != nil {
		return cgoErrno(err)
	}
	c.attributes(&info, out)
	return 0
}

// Getpath gives a path as it is spelt in the volume.
func (c *cgoFS) Getpath(path string, fh uint64) (errc int, spelt string) {
	defer c.recovered(&errc)
	n, err := c.node(path, fh)
	if err != nil {
		return cgoErrno(err), ""
	}
	defer n.Release()
	if spelt = n.Path(); spelt == "" {
		return -fuse.ENOENT, ""
	}
	return 0, spelt
}

// change runs f on the object of a callback that sets attributes.
func (c *cgoFS) change(path string, fh uint64, f func(Node) error) int {
	n, err := c.changing(path, fh)
	if err != nil {
		return cgoErrno(err)
	}
	defer n.Release()
	return cgoErrno(f(n))
}

// changing is node for callbacks that WinFsp makes on behalf of a handle without passing it.
func (c *cgoFS) changing(path string, fh uint64) (Node, error) {
	if c.rules.stalePaths && fh == noFh {
		switch meant, err := c.meant(path); {
		case err == nil && meant.Valid():
			return meant, nil
		case err != nil && !errors.Is(err, fat32.ErrBusy):
			return Node{}, err
		}
	}
	return c.node(path, fh)
}

// Chmod3 maps the owner's right to write to the read-only attribute. Other modes are accepted and have no effect,
// because programs that copy set them always. On Windows the attribute is set by itself and modes come from access
// lists, which do not change.
func (c *cgoFS) Chmod3(path string, mode uint32, fh uint64) (errc int) {
	defer c.recovered(&errc)
	return c.change(path, fh, func(n Node) error {
		if n.IsDir() || c.rules.stalePaths {
			return nil
		}
		attr := fat32.Attr(0)
		if mode&0o200 == 0 {
			attr = fat32.AttrReadOnly
		}
		return c.fs.SetAttr(n, attr, fat32.AttrReadOnly)
	})
}

// Chmod is Chmod3 without a handle.
func (c *cgoFS) Chmod(path string, mode uint32) int { return c.Chmod3(path, mode, noFh) }

// Chown3 accepts the owner there is and refuses any other; on Windows, where owners come with the mount, it
// has no effect.
func (c *cgoFS) Chown3(path string, uid, gid uint32, fh uint64) (errc int) {
	defer c.recovered(&errc)
	const unchanged = ^uint32(0)
	return c.change(path, fh, func(Node) error {
		if !c.rules.stalePaths && (uid != unchanged && uid != c.uid || gid != unchanged && gid != c.gid) {
			return errNotOnFAT
		}
		return nil
	})
}

// Chown is Chown3 without a handle.
func (c *cgoFS) Chown(path string, uid, gid uint32) int { return c.Chown3(path, uid, gid, noFh) }

// cgoTime is what Utimens sets: zero leaves a time as it is.
func cgoTime(t fuse.Timespec) time.Time {
	switch t.Nsec {
	case fuse.UTIME_OMIT:
		return time.Time{}
	case fuse.UTIME_NOW:
		return time.Now()
	}
	return t.Time()
}

// Utimens3 sets the times of access and change of content.
func (c *cgoFS) Utimens3(path string, times []fuse.Timespec, fh uint64) (errc int) {
	defer c.recovered(&errc)
	return c.change(path, fh, func(n Node) error {
		return c.fs.SetTimes(n, fat32.Times{Access: cgoTime(times[0]), Modify: cgoTime(times[1])})
	})
}

// Utimens is Utimens3 without a handle.
func (c *cgoFS) Utimens(path string, times []fuse.Timespec) int { return c.Utimens3(path, times, noFh) }

// Setcrtime sets the time of creation.
func (c *cgoFS) Setcrtime(path string, t fuse.Timespec) (errc int) {
	defer c.recovered(&errc)
	return c.change(path, noFh, func(n Node) error { return c.fs.SetTimes(n, fat32.Times{Create: cgoTime(t)}) })
}

// Setchgtime has nothing to set: FAT has no such time.
func (c *cgoFS) Setchgtime(path string, _ fuse.Timespec) (errc int) {
	defer c.recovered(&errc)
	return c.change(path, noFh, func(Node) error { return nil })
}

// Chflags sets the attributes of FAT.
func (c *cgoFS) Chflags(path string, flags uint32) (errc int) {
	defer c.recovered(&errc)
	var attr, all fat32.Attr
	for _, f := range cgoFlags {
		all |= f.attr & c.rules.flags
		if flags&f.flag != 0 {
			attr |= f.attr
		}
	}
	return c.change(path, noFh, func(n Node) error { return c.fs.SetAttr(n, attr, all) })
}

// Statfs tells sizes, exactly.
func (c *cgoFS) Statfs(_ string, out *fuse.Statfs_t) (errc int) {
	defer c.recovered(&errc)
	s, err := c.fs.StatFS()
	if err != nil {
		return cgoErrno(err)
	}
	size := uint64(s.ClusterSize)
	*out = fuse.Statfs_t{Bsize: size, Frsize: size, Blocks: uint64(s.TotalBytes) / size, Bfree: uint64(s.FreeBytes) / size,
		Bavail: uint64(c.fs.available(s.FreeBytes)) / size, Namemax: 255}
	return 0
}

// Access answers for the question of WinFsp whether something may be deleted; everything else is said by modes.
func (c *cgoFS) Access(path string, mask uint32) (errc int) {
	defer c.recovered(&errc)
	n, err := c.find(path)
	if err == nil {
		defer n.Release()
	}
	if mask&fuse.DELETE_OK == 0 {
		return cgoErrno(err)
	}
	return cgoErrno(c.deletable(path, n, err))
}
