package transfer

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// wholeSync: syncfs(2) makes a whole file system durable and, since Linux 5.8,
// reports write-back errors; one call instead of one for each file and folder.
const wholeSync = true

// closeFirst: an open file can be renamed here.
const closeFirst = false

func syncWhole(dir *os.File) error {
	if err := unix.Syncfs(int(dir.Fd())); err != nil {
		return os.NewSyscallError("syncfs", err)
	}
	return nil
}

// deviceOf tells file systems apart; 0 if it cannot be known.
func deviceOf(dir *os.File) uint64 {
	var st unix.Stat_t
	if unix.Fstat(int(dir.Fd()), &st) != nil {
		return 0
	}
	return uint64(st.Dev)
}

const statMask = unix.STATX_TYPE | unix.STATX_MODE | unix.STATX_SIZE | unix.STATX_MTIME | unix.STATX_BTIME

// lstatIn describes a name in a folder without following a link.
func lstatIn(h *folderHandle, name string) (node, error) {
	n, err := statx(int(h.dir.Fd()), name, unix.AT_SYMLINK_NOFOLLOW|unix.AT_NO_AUTOMOUNT)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) { // before Linux 4.11, or a filter
		st, err := h.root.Lstat(name)
		if err != nil {
			return node{}, err
		}
		return nodeOf(st), nil
	}
	n.name = name
	return n, err
}

// fstat describes an open file.
func fstat(f *handle) (node, error) {
	n, err := statx(f.fd, "", unix.AT_EMPTY_PATH)
	if !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EPERM) {
		return n, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(f.fd, &st); err != nil {
		return node{}, os.NewSyscallError("fstat", err)
	}
	return plainNode(st.Size, uint16(st.Mode), time.Unix(st.Mtim.Unix())), nil
}

// plainNode is what every kind of stat tells.
func plainNode(size int64, mode uint16, modified time.Time) node {
	n := node{kind: kindOfMode(mode), size: size, mode: uint32(mode) & 0o777, readOnly: mode&0o222 == 0, modified: modified}
	if n.mode == 0 {
		n.mode = 0o400 // 0 stands for "has none"
	}
	return n
}

func statx(fd int, name string, flags int) (node, error) {
	var st unix.Statx_t
	if err := unix.Statx(fd, name, flags, statMask, &st); err != nil {
		return node{}, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	n := plainNode(int64(st.Size), st.Mode, time.Unix(st.Mtime.Sec, int64(st.Mtime.Nsec)))
	if st.Mask&unix.STATX_BTIME != 0 && (st.Btime.Sec != 0 || st.Btime.Nsec != 0) {
		n.created = time.Unix(st.Btime.Sec, int64(st.Btime.Nsec))
	}
	return n, nil
}

func kindOfMode(mode uint16) kind {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return kindFile
	case unix.S_IFDIR:
		return kindFolder
	case unix.S_IFLNK:
		return kindLink
	case unix.S_IFIFO:
		return kindFIFO
	case unix.S_IFSOCK:
		return kindSocket
	case unix.S_IFBLK, unix.S_IFCHR:
		return kindDevice
	default:
		return kindSpecial
	}
}

// readsAll tells whether permissions are no obstacle. If they are (on some
// network file systems even to root), opening will tell.
func readsAll() bool { return os.Geteuid() == 0 }

// readable tells before copying whether a file will open; nil if so.
func readable(h *folderHandle, name string) error {
	if err := unix.Faccessat(int(h.dir.Fd()), name, unix.R_OK, unix.AT_EACCESS); err != nil {
		return os.NewSyscallError("access", err)
	}
	return nil
}

// handle is an open file by its bare descriptor. os.File would try to register
// every file with the poller and attach a cleanup to it, which costs more than
// reading a small file. It must be closed, once.
type handle struct{ fd int }

// retry repeats a call that a signal interrupted.
func retry(op string, call func() (int, error)) (int, error) {
	for {
		n, err := call()
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return 0, os.NewSyscallError(op, err)
		}
		return n, nil
	}
}

// ReadAt follows io.ReaderAt.
func (h *handle) ReadAt(p []byte, off int64) (int, error) {
	done := 0
	for done < len(p) {
		n, err := retry("read", func() (int, error) { return unix.Pread(h.fd, p[done:], off+int64(done)) })
		if err != nil {
			return done, err
		}
		if n == 0 {
			return done, io.EOF
		}
		done += n
	}
	return done, nil
}

// WriteAt follows io.WriterAt: short writes are completed.
func (h *handle) WriteAt(p []byte, off int64) (int, error) {
	done := 0
	for done < len(p) {
		n, err := retry("write", func() (int, error) { return unix.Pwrite(h.fd, p[done:], off+int64(done)) })
		if err != nil {
			return done, err
		}
		if n == 0 {
			return done, io.ErrShortWrite
		}
		done += n
	}
	return done, nil
}

// Close gives the descriptor back. Closing twice is an error, and harmless.
func (h *handle) Close() error {
	if h.fd < 0 {
		return fs.ErrClosed
	}
	fd := h.fd
	h.fd = -1
	if err := unix.Close(fd); err != nil && err != unix.EINTR {
		return os.NewSyscallError("close", err)
	}
	return nil
}

// Sync is fsync(2).
func (h *handle) Sync() error {
	_, err := retry("fsync", func() (int, error) { return 0, unix.Fsync(h.fd) })
	return err
}

// openAt opens a name in a folder by its descriptor. O_NONBLOCK: a FIFO put in
// the place of a file must not hang the copy.
func openAt(h *folderHandle, name string, flags int, perm uint32) (*handle, error) {
	for {
		fd, err := unix.Openat(int(h.dir.Fd()), name, flags|unix.O_CLOEXEC|unix.O_NOFOLLOW, perm)
		if err == nil {
			return &handle{fd}, nil
		}
		if err != unix.EINTR {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
	}
}

func openNoFollow(h *folderHandle, name string) (*handle, error) {
	return openAt(h, name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
}

// createNamed makes a file that must not exist.
func createNamed(h *folderHandle, name string, perm os.FileMode) (*handle, error) {
	return openAt(h, name, unix.O_RDWR|unix.O_CREAT|unix.O_EXCL, uint32(perm))
}

func reopenPart(h *folderHandle, name string) (*handle, error) {
	return openAt(h, name, unix.O_RDWR|unix.O_NOCTTY, 0)
}

// createUnnamed makes a file without a name (O_TMPFILE): nothing is left of it
// if the process dies. An error means: use a named part.
func createUnnamed(h *folderHandle, perm os.FileMode) (*handle, error) {
	return openAt(h, ".", unix.O_TMPFILE|unix.O_RDWR, uint32(perm))
}

// linkUnnamed gives an unnamed file a name that must not exist.
func linkUnnamed(f *hostTarget, name string) error {
	fd, dir := f.file.fd, int(f.folder.dir.Fd())
	err := unix.Linkat(fd, "", dir, name, unix.AT_EMPTY_PATH)
	if err == unix.ENOENT || err == unix.EPERM { // needs a capability before Linux 6.10
		err = unix.Linkat(unix.AT_FDCWD, fmt.Sprintf("/proc/self/fd/%d", fd), dir, name, unix.AT_SYMLINK_FOLLOW)
	}
	if err != nil {
		return &fs.PathError{Op: "link", Path: name, Err: err}
	}
	return nil
}

// renameNew renames within a folder unless the new name exists.
func renameNew(h *folderHandle, from, to string) error {
	fd := int(h.dir.Fd())
	err := unix.Renameat2(fd, from, fd, to, unix.RENAME_NOREPLACE)
	if err == unix.EINVAL || err == unix.ENOSYS { // the file system cannot
		return renameChecked(h, from, to)
	}
	if err != nil {
		return &fs.PathError{Op: "rename", Path: to, Err: err}
	}
	return nil
}

// kernelTime is struct __kernel_timespec: 64 bits each on every architecture.
type kernelTime struct{ seconds, nanoseconds int64 }

// touch sets the modification time by descriptor: utimensat(fd, NULL, ...).
func touch(f *hostTarget, modified time.Time) error {
	ts := [2]kernelTime{{nanoseconds: unix.UTIME_OMIT}, {modified.Unix(), int64(modified.Nanosecond())}}
	if modified.Year() < 1678 || modified.Year() > 2261 { // outside of what nanoseconds since 1970 can hold
		ts[1].nanoseconds = 0
	}
	_, _, errno := unix.Syscall6(utimensat64, uintptr(f.file.fd), 0, uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
	if errno != 0 {
		return os.NewSyscallError("utimensat", errno)
	}
	return nil
}

// startWriteback begins writing a range to the disk and does not wait for it.
func startWriteback(f *handle, off, n int64) {
	unix.SyncFileRange(f.fd, off, n, unix.SYNC_FILE_RANGE_WRITE) // a hint: errors show at sync
}

func adviseDontNeed(f *handle) { unix.Fadvise(f.fd, 0, 0, unix.FADV_DONTNEED) }

// openForSync is for systems without syncfs.
func openForSync(h *folderHandle, name string) (*handle, error) {
	return openAt(h, name, unix.O_RDONLY|unix.O_NONBLOCK, 0)
}

// hostSpace is what an unprivileged writer can still use, and the block size.
func hostSpace(h *folderHandle) (freeBytes, blockBytes int64, known bool) {
	var st unix.Statfs_t
	if unix.Fstatfs(int(h.dir.Fd()), &st) != nil || st.Blocks == 0 {
		return 0, 0, false
	}
	unit := int64(st.Frsize)
	if unit == 0 {
		unit = int64(st.Bsize)
	}
	return int64(st.Bavail) * unit, unit, true
}
