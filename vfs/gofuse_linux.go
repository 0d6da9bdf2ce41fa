//go:build linux && !cgofuse

package vfs

import (
	"errors"
	"os"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"coffer/fat32"
)

// rootNode is the kernel's number of the root, and its identity in fat32.
const rootNode = fuse.FUSE_ROOT_ID

// validity is how long the kernel may keep names and attributes: what changes without it is told to it.
const validity = 24 * time.Hour

// blockBytes is what programs are told to read and write at once.
const blockBytes = 1 << 20

// unused stands for the channel that go-fuse closes when a request is interrupted: nothing here waits long
// but for a disk, which cannot be interrupted.
type unused = <-chan struct{}

// fuseFS translates requests of the Linux kernel into calls of the core.
type fuseFS struct {
	fuse.RawFileSystem // answers what is not here: ENOSYS, after which the kernel does not ask again, in nearly all cases
	fs                 *FS
	inodes             inodeTable
	owner              fuse.Owner
	allow              uint32 // mode bits of those who may use the drive
	clusterBytes       uint64
	server             *fuse.Server // set before the first request
}

func newFuseFS(fs *FS) *fuseFS {
	f := &fuseFS{RawFileSystem: fuse.NewDefaultRawFileSystem(), fs: fs, allow: 0o700,
		owner:        fuse.Owner{Uid: uint32(os.Getuid()), Gid: uint32(os.Getgid())},
		clusterBytes: uint64(fs.volume.Geometry().ClusterSize)}
	if fs.options.AllowOther {
		f.allow = 0o777
	}
	f.inodes.init(fs.Root(), f.trim)
	return f
}

// String is what the file system calls itself in messages of go-fuse.
func (f *fuseFS) String() string { return "coffer" }

// Init keeps the server for notifications.
func (f *fuseFS) Init(s *fuse.Server) { f.server = s }

// node finds the object a request is about.
func (f *fuseFS) node(id uint64) (Node, fuse.Status) {
	n, ok := f.inodes.get(id)
	if !ok {
		return Node{}, fuse.Status(syscall.ESTALE)
	}
	return n, fuse.OK
}

// attributes describes an object for the kernel.
func (f *fuseFS) attributes(i *fat32.Info, out *fuse.Attr) {
	*out = fuse.Attr{Ino: i.ID, Owner: f.owner, Blksize: blockBytes, Nlink: 1}
	if i.IsDir() {
		out.Mode = fuse.S_IFDIR | f.allow
		out.Size = f.clusterBytes
	} else {
		out.Mode = fuse.S_IFREG | f.allow
		out.Size = uint64(i.Size)
		if i.Attr&fat32.AttrReadOnly != 0 {
			out.Mode &^= 0o222
		}
	}
	if i.Removed {
		out.Nlink = 0
	}
	out.Blocks = (out.Size + f.clusterBytes - 1) / f.clusterBytes * f.clusterBytes / 512
	out.SetTimes(&i.AccessTime, &i.ModTime, &i.ModTime)
}

// entry tells the kernel of n, whose reference it takes over. A name in another than the stored spelling is not
// cached: it would outlive the file.
func (f *fuseFS) entry(n Node, i *fat32.Info, exact bool, out *fuse.EntryOut) {
	f.attributes(i, &out.Attr)
	out.NodeId = i.ID
	out.SetAttrTimeout(validity)
	if exact {
		out.SetEntryTimeout(validity)
	}
	f.inodes.learn(n)
}

// Lookup finds a name.
func (f *fuseFS) Lookup(_ unused, in *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	dir, code := f.node(in.NodeId)
	if code != fuse.OK {
		return code
	}
	n, info, err := f.fs.Lookup(dir, name)
	if err != nil {
		return status(err)
	}
	f.entry(n, &info, true, out)
	return fuse.OK
}

// Forget gives back references of the kernel.
func (f *fuseFS) Forget(id, count uint64) { f.inodes.forget(id, count) }

// GetAttr describes an object.
func (f *fuseFS) GetAttr(_ unused, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	n, code := f.node(in.NodeId)
	if code != fuse.OK {
		return code
	}
	return f.stat(n, out)
}

func (f *fuseFS) stat(n Node, out *fuse.AttrOut) fuse.Status {
	info, err := f.fs.Stat(n)
	if err != nil {
		return status(err)
	}
	f.attributes(&info, &out.Attr)
	out.SetTimeout(validity)
	return fuse.OK
}

// Access answers access(2) and chdir(2). Whoever gets here may do everything but write to a file that is marked read-only. The
// kernel is not asked to check modes by itself: it would look at a folder anew after every name made or removed in it.
func (f *fuseFS) Access(_ unused, in *fuse.AccessIn) fuse.Status {
	n, code := f.node(in.NodeId)
	if code != fuse.OK || in.Mask&fuse.W_OK == 0 || n.IsDir() {
		return code
	}
	info, err := f.fs.Stat(n)
	if err == nil && info.Attr&fat32.AttrReadOnly != 0 {
		return fuse.EACCES
	}
	return status(err)
}

// SetAttr changes size, times and the read-only attribute. Other modes are accepted and have no effect, because programs
// that copy set them always; another owner is refused. Where others may use the drive, only its owner sets modes and times
// other than now.
func (f *fuseFS) SetAttr(_ unused, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	n, code := f.node(in.NodeId)
	if code != fuse.OK {
		return code
	}
	if uid, ok := in.GetUID(); ok && uid != f.owner.Uid {
		return fuse.EPERM
	}
	if gid, ok := in.GetGID(); ok && gid != f.owner.Gid {
		return fuse.EPERM
	}
	if by := in.InHeader.Caller.Uid; by != f.owner.Uid && by != 0 && (in.Valid&fuse.FATTR_MODE != 0 ||
		in.Valid&(fuse.FATTR_ATIME|fuse.FATTR_ATIME_NOW) == fuse.FATTR_ATIME ||
		in.Valid&(fuse.FATTR_MTIME|fuse.FATTR_MTIME_NOW) == fuse.FATTR_MTIME) {
		return fuse.EPERM
	}
	if size, ok := in.GetSize(); ok {
		if err := f.truncate(n, in, size); err != nil {
			return status(err)
		}
	}
	if mode, ok := in.GetMode(); ok && !n.IsDir() {
		attr := fat32.Attr(0)
		if mode&0o200 == 0 {
			attr = fat32.AttrReadOnly
		}
		if err := f.fs.SetAttr(n, attr, fat32.AttrReadOnly); err != nil {
			return status(err)
		}
	}
	var t fat32.Times
	if at, ok := in.GetATime(); ok {
		t.Access = at
	}
	if at, ok := in.GetMTime(); ok {
		t.Modify = at
	}
	if t != (fat32.Times{}) {
		if err := f.fs.SetTimes(n, t); err != nil {
			return status(err)
		}
	}
	return f.stat(n, out)
}

func (f *fuseFS) truncate(n Node, in *fuse.SetAttrIn, size uint64) error {
	if n.IsDir() {
		return fat32.ErrIsDir
	}
	if size > fat32.MaxFileSize {
		return fat32.ErrTooBig
	}
	var h *Handle
	if id, ok := in.GetFh(); ok {
		var err error
		if h, err = f.fs.Handle(id); err != nil {
			return err
		}
	}
	return f.fs.Truncate(n, h, int64(size))
}

// fatFlag translates the flags of open(2).
func fatFlag(flags uint32) fat32.OpenFlag {
	out := fat32.ReadOnly
	switch flags & syscall.O_ACCMODE {
	case syscall.O_WRONLY:
		out = fat32.WriteOnly
	case syscall.O_RDWR:
		out = fat32.ReadWrite
	}
	if flags&syscall.O_EXCL != 0 {
		out |= fat32.Exclusive
	}
	if flags&syscall.O_TRUNC != 0 && out&(fat32.WriteOnly|fat32.ReadWrite) != 0 {
		out |= fat32.Truncate
	}
	return out
}

// Open opens a file. The kernel keeps what it has cached of it.
func (f *fuseFS) Open(_ unused, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	n, code := f.node(in.NodeId)
	if code != fuse.OK {
		return code
	}
	h, err := f.fs.Open(n, fatFlag(in.Flags), int(in.Pid))
	if err != nil {
		return status(err)
	}
	out.Fh, out.OpenFlags = h.ID(), fuse.FOPEN_KEEP_CACHE
	return fuse.OK
}

// Create makes and opens a file.
func (f *fuseFS) Create(_ unused, in *fuse.CreateIn, name string, out *fuse.CreateOut) fuse.Status {
	h, code := f.create(in.NodeId, name, fatFlag(in.Flags), int(in.Pid), &out.EntryOut)
	if code != fuse.OK {
		return code
	}
	out.Fh, out.OpenFlags = h.ID(), fuse.FOPEN_KEEP_CACHE
	return fuse.OK
}

func (f *fuseFS) create(dirID uint64, name string, flag fat32.OpenFlag, pid int, out *fuse.EntryOut) (*Handle, fuse.Status) {
	dir, code := f.node(dirID)
	if code != fuse.OK {
		return nil, code
	}
	h, err := f.fs.Create(dir, name, flag, pid)
	if err != nil {
		return nil, status(err)
	}
	info, err := f.fs.stat(h.node)
	if err != nil {
		_ = f.fs.Close(h.ID())
		return nil, status(err)
	}
	info.ID = h.node.ID()
	f.entry(h.node.Hold(), &info, h.node.Name() == name, out)
	return h, fuse.OK
}

// Mknod makes files only.
func (f *fuseFS) Mknod(_ unused, in *fuse.MknodIn, name string, out *fuse.EntryOut) fuse.Status {
	if in.Mode&syscall.S_IFMT != syscall.S_IFREG {
		return fuse.EPERM
	}
	h, code := f.create(in.NodeId, name, fat32.ReadOnly|fat32.Exclusive, int(in.Pid), out)
	if code == fuse.OK {
		code = status(f.fs.Close(h.ID()))
	}
	return code
}

// Mkdir makes a folder.
func (f *fuseFS) Mkdir(_ unused, in *fuse.MkdirIn, name string, out *fuse.EntryOut) fuse.Status {
	dir, code := f.node(in.NodeId)
	if code != fuse.OK {
		return code
	}
	n, err := f.fs.Mkdir(dir, name)
	if err != nil {
		return status(err)
	}
	info, err := f.fs.Stat(n)
	if err != nil {
		n.Release()
		return status(err)
	}
	f.entry(n, &info, true, out)
	return fuse.OK
}

// Unlink removes a file.
func (f *fuseFS) Unlink(_ unused, in *fuse.InHeader, name string) fuse.Status {
	dir, code := f.node(in.NodeId)
	if code != fuse.OK {
		return code
	}
	return status(f.fs.Unlink(dir, name))
}

// Rmdir removes an empty folder.
func (f *fuseFS) Rmdir(_ unused, in *fuse.InHeader, name string) fuse.Status {
	dir, code := f.node(in.NodeId)
	if code != fuse.OK {
		return code
	}
	return status(f.fs.Rmdir(dir, name))
}

// renameNoReplace is RENAME_NOREPLACE of renameat2(2).
const renameNoReplace = 1

// Rename gives an object another name or place. What it displaced under another spelling is still in the
// kernel's cache under the old one, and has to go from there: after this request, because the kernel holds the folders
// locked until then.
func (f *fuseFS) Rename(_ unused, in *fuse.RenameIn, name, newName string) fuse.Status {
	if in.Flags&^renameNoReplace != 0 {
		return fuse.EINVAL
	}
	dir, code := f.node(in.NodeId)
	if code != fuse.OK {
		return code
	}
	to, code := f.node(in.Newdir)
	if code != fuse.OK {
		return code
	}
	displaced, err := f.fs.Rename(dir, name, to, newName, in.Flags&renameNoReplace == 0)
	if err != nil {
		return status(err)
	}
	if displaced != "" && displaced != newName {
		go f.server.EntryNotify(in.Newdir, displaced)
	}
	return fuse.OK
}

// Link, Symlink and Readlink are what FAT cannot do.
func (f *fuseFS) Link(_ unused, _ *fuse.LinkIn, _ string, _ *fuse.EntryOut) fuse.Status {
	return status(errNotOnFAT)
}

// Symlink is what FAT cannot do.
func (f *fuseFS) Symlink(_ unused, _ *fuse.InHeader, _, _ string, _ *fuse.EntryOut) fuse.Status {
	return status(errNotOnFAT)
}

// Readlink has nothing to read.
func (f *fuseFS) Readlink(_ unused, _ *fuse.InHeader) ([]byte, fuse.Status) {
	return nil, fuse.EINVAL
}

// Read reads from an open file. The answer is in buf: go-fuse is done with an answer's own buffer only after it has been
// sent, but says so before.
func (f *fuseFS) Read(_ unused, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	h, err := f.fs.Handle(in.Fh)
	if err != nil {
		return nil, status(err)
	}
	n, err := f.fs.Read(h, buf[:min(len(buf), int(in.Size))], int64(in.Offset))
	if err != nil && n == 0 {
		return nil, status(err)
	}
	return fuse.ReadResultData(buf[:n]), fuse.OK
}

// Write writes to an open file.
func (f *fuseFS) Write(_ unused, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	h, err := f.fs.Handle(in.Fh)
	if err != nil {
		return 0, status(err)
	}
	if in.Offset > fat32.MaxFileSize {
		return 0, status(fat32.ErrTooBig)
	}
	n, err := f.fs.Write(h, data, int64(in.Offset))
	return uint32(n), status(err)
}

// Flush has nothing to do: the kernel does not ask again, which saves a request at every close.
func (f *fuseFS) Flush(unused, *fuse.FlushIn) fuse.Status { return fuse.ENOSYS }

// Release ends the use of an open file.
func (f *fuseFS) Release(_ unused, in *fuse.ReleaseIn) { _ = f.fs.Close(in.Fh) }

// Fsync makes everything durable.
func (f *fuseFS) Fsync(_ unused, _ *fuse.FsyncIn) fuse.Status { return status(f.fs.Sync()) }

// FsyncDir makes everything durable.
func (f *fuseFS) FsyncDir(_ unused, _ *fuse.FsyncIn) fuse.Status { return status(f.fs.Sync()) }

// fallocKeepSize is FALLOC_FL_KEEP_SIZE of fallocate(2).
const fallocKeepSize = 1

// Fallocate keeps room for a file to grow. What would change its size is left to the program, which writes zeros then.
func (f *fuseFS) Fallocate(_ unused, in *fuse.FallocateIn) fuse.Status {
	if in.Mode != fallocKeepSize {
		return fuse.Status(syscall.EOPNOTSUPP)
	}
	h, err := f.fs.Handle(in.Fh)
	if err != nil {
		return status(err)
	}
	if in.Offset > fat32.MaxFileSize || in.Length > fat32.MaxFileSize-in.Offset {
		return status(fat32.ErrTooBig)
	}
	return status(f.fs.Reserve(h, int64(in.Offset+in.Length)))
}

// StatFs tells sizes.
func (f *fuseFS) StatFs(_ unused, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	s, err := f.fs.StatFS()
	if err != nil {
		return status(err)
	}
	size := uint64(s.ClusterSize)
	*out = fuse.StatfsOut{Bsize: uint32(size), Frsize: uint32(size), NameLen: 255,
		Blocks: uint64(s.TotalBytes) / size, Bfree: uint64(s.FreeBytes) / size, Bavail: uint64(f.fs.available(s.FreeBytes)) / size}
	return fuse.OK
}

// trimBatch is how many objects the kernel is asked to forget at once.
const trimBatch = 1024

// trim asks the kernel to forget objects that it does not use. Kernels before 7.45 of the protocol have to be told names,
// and forget also what is open; so files that are open are left out.
func (f *fuseFS) trim(ids []uint64) {
	for len(ids) > 0 {
		batch := ids[:min(trimBatch, len(ids))]
		ids = ids[len(batch):]
		if f.server.PruneNotify(batch) == fuse.ENOSYS {
			f.trimNames(batch)
		}
	}
}

func (f *fuseFS) trimNames(ids []uint64) {
	open := make(map[uint64]bool)
	for _, h := range f.fs.handles.list() {
		open[h.node.ID()] = true
	}
	for _, id := range ids {
		n, known := f.inodes.hold(id)
		if !known {
			continue
		}
		if parent, ok := n.Parent(); ok && !open[id] {
			f.server.EntryNotify(parent.ID(), n.Name())
			parent.Release()
		}
		n.Release()
	}
}

// notify tells the kernel about a change it did not make.
func (f *fuseFS) notify(server *fuse.Server, c Change) {
	dir, name := splitLast(c.Path)
	parent, err := f.fs.volume.Ref(dir + "/")
	if err != nil {
		return // gone itself, which is another change
	}
	defer parent.Release()
	if c.Kind != Written {
		// The name is looked up anew, and the folder listed anew.
		if _, known := f.inodes.get(parent.ID()); known {
			server.EntryNotify(parent.ID(), name)
			server.InodeNotify(parent.ID(), 0, 0)
		}
		if c.Kind == Removed {
			return
		}
	}
	n, _, err := parent.Lookup(name, false)
	if errors.Is(err, fat32.ErrNotExist) {
		return
	}
	if err == nil {
		defer n.Release()
		id := n.ID()
		if f.fs.litter != nil {
			id = f.fs.litter.identity(id)
		}
		if _, known := f.inodes.get(id); known {
			server.InodeNotify(id, 0, 0)
		}
	}
}
