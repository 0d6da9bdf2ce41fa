//go:build linux && !cgofuse

package vfs

import (
	"os"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// Node numbers of a raw mount.
const (
	rawRoot uint64 = fuse.FUSE_ROOT_ID
	rawFile uint64 = fuse.FUSE_ROOT_ID + 1
)

// rawFUSE serves a rawDevice to the Linux kernel. The kernel's page cache is kept from one opening to the next: nobody
// else writes the device. What is not here is ENOSYS, after which the kernel stops asking: flush, locks (the kernel has
// its own), fallocate (a program then writes zeros itself; a hole could not promise them), lseek for holes, ioctl.
type rawFUSE struct {
	fuse.RawFileSystem
	raw   *rawDevice
	owner fuse.Owner
	allow uint32 // mode bits of those who may use it
}

func newRawFUSE(raw *rawDevice) *rawFUSE {
	f := &rawFUSE{RawFileSystem: fuse.NewDefaultRawFileSystem(), raw: raw, allow: 0o700,
		owner: fuse.Owner{Uid: uint32(os.Getuid()), Gid: uint32(os.Getgid())}}
	if raw.options.AllowOther {
		f.allow = 0o777
	}
	return f
}

// bindRaw mounts a raw device.
func bindRaw(raw *rawDevice, point string, o Options) (binding, error) {
	b, err := serveFUSE(newRawFUSE(raw), point, o, raw.panickedIn)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// String is what it calls itself in messages of go-fuse.
func (f *rawFUSE) String() string { return "coffer" }

// attributes fills out with those of a node.
func (f *rawFUSE) attributes(node uint64, out *fuse.Attr) fuse.Status {
	modified := f.raw.mounted
	*out = fuse.Attr{Ino: node, Owner: f.owner, Blksize: blockBytes}
	switch node {
	case rawRoot:
		out.Mode, out.Nlink = fuse.S_IFDIR|f.allow, 2
	case rawFile:
		out.Mode, out.Nlink = fuse.S_IFREG|f.allow&^0o111, 1
		if f.raw.options.ReadOnly {
			out.Mode &^= 0o222
		}
		out.Size = uint64(f.raw.sizeBytes)
		out.Blocks = (out.Size + 511) / 512
		modified = f.raw.modTime()
	default:
		return fuse.ENOENT
	}
	out.SetTimes(&modified, &modified, &modified)
	return fuse.OK
}

// entry fills out with the one file.
func (f *rawFUSE) entry(out *fuse.EntryOut) fuse.Status {
	out.NodeId, out.Generation = rawFile, 1
	out.SetEntryTimeout(validity)
	out.SetAttrTimeout(validity)
	return f.attributes(rawFile, &out.Attr)
}

// Lookup knows one name.
func (f *rawFUSE) Lookup(_ unused, header *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	switch {
	case header.NodeId != rawRoot:
		return fuse.ENOTDIR
	case name != f.raw.name:
		return fuse.ENOENT
	}
	return f.entry(out)
}

// GetAttr describes the folder or the file.
func (f *rawFUSE) GetAttr(_ unused, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	out.SetTimeout(validity)
	return f.attributes(in.NodeId, &out.Attr)
}

// SetAttr allows what changes nothing, and ignores times: they tell when the device was written.
func (f *rawFUSE) SetAttr(_ unused, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	out.SetTimeout(validity)
	if status := f.attributes(in.NodeId, &out.Attr); !status.Ok() {
		return status
	}
	if size, ok := in.GetSize(); ok {
		if in.NodeId != rawFile {
			return fuse.Status(syscall.EISDIR)
		}
		if err := f.raw.resize(int64(size)); err != nil {
			return status(err)
		}
	}
	if mode, ok := in.GetMode(); ok && mode&0o7777 != out.Mode&0o7777 {
		return fuse.EPERM
	}
	if uid, ok := in.GetUID(); ok && uid != out.Uid {
		return fuse.EPERM
	}
	if gid, ok := in.GetGID(); ok && gid != out.Gid {
		return fuse.EPERM
	}
	return fuse.OK
}

// Access answers access(2) and chdir(2): the modes are those of whoever may get here at all.
func (f *rawFUSE) Access(_ unused, in *fuse.AccessIn) fuse.Status {
	if in.NodeId == rawFile && (in.Mask&fuse.X_OK != 0 || in.Mask&fuse.W_OK != 0 && f.raw.options.ReadOnly) {
		return fuse.EACCES
	}
	return fuse.OK
}

// Flush has nothing to do.
func (f *rawFUSE) Flush(unused, *fuse.FlushIn) fuse.Status { return fuse.ENOSYS }

// Open keeps what the kernel has cached.
func (f *rawFUSE) Open(_ unused, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	if in.NodeId != rawFile {
		return fuse.Status(syscall.EISDIR)
	}
	write := in.Flags&syscall.O_ACCMODE != syscall.O_RDONLY
	if write {
		if err := f.raw.writable(); err != nil {
			return status(err)
		}
	}
	if in.Flags&syscall.O_TRUNC != 0 {
		return status(errRawFixed)
	}
	out.Fh = f.raw.open(int(in.Pid), write)
	out.OpenFlags = fuse.FOPEN_KEEP_CACHE
	return fuse.OK
}

// Release ends an opening.
func (f *rawFUSE) Release(_ unused, in *fuse.ReleaseIn) { f.raw.close(in.Fh) }

// Read reads from the device.
func (f *rawFUSE) Read(_ unused, in *fuse.ReadIn, buffer []byte) (fuse.ReadResult, fuse.Status) {
	n, err := f.raw.readAt(buffer[:min(len(buffer), int(in.Size))], int64(in.Offset))
	if err != nil {
		return nil, status(err)
	}
	return fuse.ReadResultData(buffer[:n]), fuse.OK
}

// Write writes to the device. A write across its end is short.
func (f *rawFUSE) Write(_ unused, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	n, err := f.raw.writeAt(data, int64(in.Offset))
	if n > 0 {
		return uint32(n), fuse.OK
	}
	return 0, status(err)
}

// Writev takes a request that came in pieces. They are written one after the other: a request in pieces is the rare case.
func (f *rawFUSE) Writev(_ unused, in *fuse.WriteIn, pieces [][]byte) (uint32, fuse.Status) {
	off, total := int64(in.Offset), 0
	for _, piece := range pieces {
		n, err := f.raw.writeAt(piece, off)
		total, off = total+n, off+int64(n)
		if err != nil && total == 0 {
			return 0, status(err)
		}
		if n < len(piece) {
			break
		}
	}
	return uint32(total), fuse.OK
}

// Fsync makes durable what was written.
func (f *rawFUSE) Fsync(_ unused, _ *fuse.FsyncIn) fuse.Status { return status(f.raw.sync()) }

// FsyncDir does the same.
func (f *rawFUSE) FsyncDir(_ unused, _ *fuse.FsyncIn) fuse.Status {
	return status(f.raw.sync())
}

// OpenDir opens the folder.
func (f *rawFUSE) OpenDir(_ unused, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	if in.NodeId != rawRoot {
		return fuse.ENOTDIR
	}
	out.OpenFlags = fuse.FOPEN_KEEP_CACHE | fuse.FOPEN_CACHE_DIR
	return fuse.OK
}

// rawEntries is the whole listing; the offset of an entry is its index plus one.
func (f *rawFUSE) rawEntries() []fuse.DirEntry {
	return []fuse.DirEntry{
		{Name: ".", Mode: fuse.S_IFDIR, Ino: rawRoot, Off: 1},
		{Name: "..", Mode: fuse.S_IFDIR, Ino: rawRoot, Off: 2},
		{Name: f.raw.name, Mode: fuse.S_IFREG, Ino: rawFile, Off: 3},
	}
}

// ReadDir lists the folder.
func (f *rawFUSE) ReadDir(_ unused, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	entries := f.rawEntries()
	for _, entry := range entries[min(in.Offset, uint64(len(entries))):] {
		if !out.AddDirEntry(entry) {
			break
		}
	}
	return fuse.OK
}

// ReadDirPlus lists the folder with attributes.
func (f *rawFUSE) ReadDirPlus(_ unused, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	entries := f.rawEntries()
	for _, entry := range entries[min(in.Offset, uint64(len(entries))):] {
		found := out.AddDirLookupEntry(entry)
		if found == nil {
			break
		}
		if entry.Ino == rawFile { // the others must stay without a node: they are not looked up
			f.entry(found)
		}
	}
	return fuse.OK
}

// StatFs: a device is as large as it is, and full.
func (f *rawFUSE) StatFs(_ unused, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	out.Bsize, out.Frsize, out.NameLen = blockBytes, 512, 255
	out.Blocks = (uint64(f.raw.sizeBytes) + 511) / 512
	out.Files = 1
	return fuse.OK
}

// refuse is the answer to what needs a second file.
func (f *rawFUSE) refuse() fuse.Status {
	if err := f.raw.writable(); err != nil {
		return status(err)
	}
	return status(errRawFixed)
}

// Mknod is refused.
func (f *rawFUSE) Mknod(_ unused, _ *fuse.MknodIn, _ string, _ *fuse.EntryOut) fuse.Status {
	return f.refuse()
}

// Mkdir is refused.
func (f *rawFUSE) Mkdir(_ unused, _ *fuse.MkdirIn, _ string, _ *fuse.EntryOut) fuse.Status {
	return f.refuse()
}

// Create is refused.
func (f *rawFUSE) Create(_ unused, _ *fuse.CreateIn, _ string, _ *fuse.CreateOut) fuse.Status {
	return f.refuse()
}

// Tmpfile is not known here.
func (f *rawFUSE) Tmpfile(_ unused, _ *fuse.CreateIn, _ *fuse.CreateOut) fuse.Status {
	return fuse.Status(syscall.EOPNOTSUPP)
}

// Unlink is refused.
func (f *rawFUSE) Unlink(_ unused, _ *fuse.InHeader, _ string) fuse.Status {
	return f.refuse()
}

// Rmdir is refused.
func (f *rawFUSE) Rmdir(_ unused, _ *fuse.InHeader, _ string) fuse.Status {
	return f.refuse()
}

// Rename is refused.
func (f *rawFUSE) Rename(_ unused, _ *fuse.RenameIn, _, _ string) fuse.Status {
	return f.refuse()
}

// Link is refused.
func (f *rawFUSE) Link(_ unused, _ *fuse.LinkIn, _ string, _ *fuse.EntryOut) fuse.Status {
	return f.refuse()
}

// Symlink is refused.
func (f *rawFUSE) Symlink(_ unused, _ *fuse.InHeader, _, _ string, _ *fuse.EntryOut) fuse.Status {
	return f.refuse()
}
