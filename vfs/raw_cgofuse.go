//go:build windows || ((darwin || freebsd) && cgo) || (linux && cgofuse)

package vfs

import (
	"os"
	"strings"

	"github.com/winfsp/cgofuse/fuse"
)

// rawCgofuse serves a rawDevice through cgofuse: WinFsp, macFUSE, FUSE-T, FreeBSD, and libfuse on Linux.
type rawCgofuse struct {
	fuse.FileSystemBase // ENOSYS for the rest
	life                cgoLife
	raw                 *rawDevice
	uid, gid            uint32
	allow               uint32 // mode bits of those who may use it
}

func newRawCgofuse(raw *rawDevice) *rawCgofuse {
	f := &rawCgofuse{raw: raw, uid: uint32(os.Getuid()), gid: uint32(os.Getgid()), allow: 0o700}
	if raw.options.AllowOther {
		f.allow = 0o777
	}
	return f
}

// bindRaw mounts a raw device.
func bindRaw(raw *rawDevice, point string, o Options) (binding, error) {
	f := newRawCgofuse(raw)
	host := fuse.NewFileSystemHost(f)
	host.SetCapCaseInsensitive(!caseSensitive)
	host.SetCapReaddirPlus(true)
	host.SetUseIno(true)
	f.life.start(host)
	b, err := serveCgofuse(host, &f.life, point, cgoArgs(o))
	if err != nil {
		return nil, err
	}
	b.busy = func() bool { return len(raw.openHandles()) > 0 }
	return b, nil
}

// Init is the first callback.
func (f *rawCgofuse) Init() { f.life.Init() }

// Destroy is the last callback.
func (f *rawCgofuse) Destroy() { f.life.Destroy() }

// recovered turns a panic in a callback into its answer.
func (f *rawCgofuse) recovered(errc *int) {
	if value := recover(); value != nil {
		*errc = cgoErrno(f.raw.panickedIn(value))
	}
}

// kind says what a path is: the folder, the file or nothing. Case is no matter where the system does not care.
func (f *rawCgofuse) kind(path string) (root, file bool) {
	name := strings.TrimPrefix(path, "/")
	return name == "", name == f.raw.name || !caseSensitive && strings.EqualFold(name, f.raw.name)
}

func (f *rawCgofuse) stat(file bool, stat *fuse.Stat_t) {
	at := fuse.NewTimespec(f.raw.mounted)
	*stat = fuse.Stat_t{Ino: 1, Mode: fuse.S_IFDIR | f.allow, Nlink: 2, Uid: f.uid, Gid: f.gid, Blksize: cgoBlockBytes, Birthtim: at}
	if file {
		stat.Ino, stat.Nlink, stat.Size = 2, 1, f.raw.sizeBytes
		stat.Mode = fuse.S_IFREG | f.allow&^0o111
		if f.raw.options.ReadOnly {
			stat.Mode &^= 0o222
		}
		stat.Blocks = (f.raw.sizeBytes + 511) / 512
		at = fuse.NewTimespec(f.raw.modTime())
	}
	stat.Atim, stat.Mtim, stat.Ctim = at, at, at
}

// Getattr is about the folder and the file; nothing else exists.
func (f *rawCgofuse) Getattr(path string, stat *fuse.Stat_t, _ uint64) int {
	root, file := f.kind(path)
	if !root && !file {
		return -fuse.ENOENT
	}
	f.stat(file, stat)
	return 0
}

// Getpath gives the stored spelling, which Windows shows.
func (f *rawCgofuse) Getpath(path string, _ uint64) (int, string) {
	switch root, file := f.kind(path); {
	case root:
		return 0, "/"
	case file:
		return 0, "/" + f.raw.name
	}
	return -fuse.ENOENT, ""
}

// Access exists so that the system does not ask again; the owner may do what the modes say.
func (f *rawCgofuse) Access(path string, mask uint32) int {
	switch root, file := f.kind(path); {
	case !root && !file:
		return -fuse.ENOENT
	case mask&fuse.DELETE_OK != 0:
		return f.refuse()
	}
	return 0
}

// Open refuses writers on a read-only mount and truncation anywhere.
func (f *rawCgofuse) Open(path string, flags int) (int, uint64) {
	root, file := f.kind(path)
	switch {
	case root:
		return -fuse.EISDIR, noFh
	case !file:
		return -fuse.ENOENT, noFh
	}
	write := flags&fuse.O_ACCMODE != fuse.O_RDONLY
	if write {
		if err := f.raw.writable(); err != nil {
			return cgoErrno(err), noFh
		}
	}
	if flags&fuse.O_TRUNC != 0 {
		return cgoErrno(errRawFixed), noFh
	}
	return 0, f.raw.open(f.life.pid(), write)
}

// Release ends an opening.
func (f *rawCgofuse) Release(_ string, handle uint64) int {
	f.raw.close(handle)
	return 0
}

// Read reads from the device.
func (f *rawCgofuse) Read(_ string, buffer []byte, off int64, _ uint64) (n int) {
	defer f.recovered(&n)
	n, err := f.raw.readAt(buffer, off)
	if err != nil && n == 0 {
		return cgoErrno(err)
	}
	return n
}

// Write writes to the device.
func (f *rawCgofuse) Write(_ string, data []byte, off int64, _ uint64) (n int) {
	defer f.recovered(&n)
	n, err := f.raw.writeAt(data, off)
	if n > 0 {
		return n
	}
	return cgoErrno(err)
}

// Truncate allows the size the device has.
func (f *rawCgofuse) Truncate(path string, sizeBytes int64, _ uint64) int {
	if root, _ := f.kind(path); root {
		return -fuse.EISDIR
	}
	return cgoErrno(f.raw.resize(sizeBytes))
}

// Flush is the closing of a handle: not a promise of durability.
func (f *rawCgofuse) Flush(string, uint64) int { return 0 }

// Fsync makes everything durable.
func (f *rawCgofuse) Fsync(string, bool, uint64) (errc int) {
	defer f.recovered(&errc)
	return cgoErrno(f.raw.sync())
}

// Fsyncdir makes everything durable.
func (f *rawCgofuse) Fsyncdir(path string, data bool, fh uint64) int { return f.Fsync(path, data, fh) }

// Opendir opens the one folder.
func (f *rawCgofuse) Opendir(path string) (int, uint64) {
	if root, file := f.kind(path); file {
		return -fuse.ENOTDIR, noFh
	} else if !root {
		return -fuse.ENOENT, noFh
	}
	return 0, 0
}

// Readdir lists the one file.
func (f *rawCgofuse) Readdir(_ string, fill func(string, *fuse.Stat_t, int64) bool, _ int64, _ uint64) int {
	var folder, file fuse.Stat_t
	f.stat(false, &folder)
	f.stat(true, &file)
	_ = fill(".", &folder, 0) && fill("..", &folder, 0) && fill(f.raw.name, &file, 0)
	return 0
}

// Releasedir ends a listing.
func (f *rawCgofuse) Releasedir(string, uint64) int { return 0 }

// Statfs: a device is as large as it is, and full.
func (f *rawCgofuse) Statfs(_ string, stat *fuse.Statfs_t) int {
	*stat = fuse.Statfs_t{Bsize: 512, Frsize: 512, Blocks: uint64(f.raw.sizeBytes+511) / 512, Files: 1, Namemax: 255}
	return 0
}

// Utimens is ignored: the times tell when the device was written.
func (f *rawCgofuse) Utimens(string, []fuse.Timespec) int { return 0 }

// refuse is the answer to what needs a second file, or another owner or mode.
func (f *rawCgofuse) refuse() int {
	if err := f.raw.writable(); err != nil {
		return cgoErrno(err)
	}
	return cgoErrno(errRawFixed)
}

// Create is refused, like everything that follows.
func (f *rawCgofuse) Create(string, int, uint32) (int, uint64) { return f.refuse(), noFh }

// Mknod is refused.
func (f *rawCgofuse) Mknod(string, uint32, uint64) int { return f.refuse() }

// Mkdir is refused.
func (f *rawCgofuse) Mkdir(string, uint32) int { return f.refuse() }

// Unlink is refused.
func (f *rawCgofuse) Unlink(string) int { return f.refuse() }

// Rmdir is refused.
func (f *rawCgofuse) Rmdir(string) int { return f.refuse() }

// Link is refused.
func (f *rawCgofuse) Link(string, string) int { return f.refuse() }

// Symlink is refused.
func (f *rawCgofuse) Symlink(string, string) int { return f.refuse() }

// Rename is refused.
func (f *rawCgofuse) Rename(string, string) int { return f.refuse() }

// Chmod is refused.
func (f *rawCgofuse) Chmod(string, uint32) int { return f.refuse() }

// Chown is refused.
func (f *rawCgofuse) Chown(string, uint32, uint32) int { return f.refuse() }
