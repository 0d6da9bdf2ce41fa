package transfer

import (
	"errors"
	"fmt"
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
func fstat(f *os.File) (node, error) {
	n, err := statx(int(f.Fd()), "", unix.AT_EMPTY_PATH)
	if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) {
		st, err := f.Stat()
		if err != nil {
			return node{}, err
		}
		return nodeOf(st), nil
	}
	return n, err
}

func statx(fd int, name string, flags int) (node, error) {
	var st unix.Statx_t
	if err := unix.Statx(fd, name, flags, statMask, &st); err != nil {
		return node{}, &fs.PathError{Op: "stat", Path: name, Err: err}
	}
	n := node{size: int64(st.Size), mode: uint32(st.Mode) & 0o777, readOnly: st.Mode&0o222 == 0, modified: time.Unix(st.Mtime.Sec, int64(st.Mtime.Nsec))}
	if st.Mask&unix.STATX_BTIME != 0 && (st.Btime.Sec != 0 || st.Btime.Nsec != 0) {
		n.created = time.Unix(st.Btime.Sec, int64(st.Btime.Nsec))
	}
	if n.mode == 0 {
		n.mode = 0o400 // 0 stands for "has none"
	}
	n.kind = kindOfMode(st.Mode)
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

// readable tells before copying whether a file will open; nil if so.
func readable(h *folderHandle, name string) error {
	if os.Geteuid() == 0 {
		return nil
	}
	if err := unix.Faccessat(int(h.dir.Fd()), name, unix.R_OK, unix.AT_EACCESS); err != nil {
		return os.NewSyscallError("access", err)
	}
	return nil
}

// openAt opens a name in a folder by its descriptor. O_NONBLOCK: a FIFO put in
// the place of a file must not hang the copy.
func openAt(h *folderHandle, name string, flags int, perm uint32) (*os.File, error) {
	for {
		fd, err := unix.Openat(int(h.dir.Fd()), name, flags|unix.O_CLOEXEC|unix.O_NOFOLLOW, perm)
		if err == nil {
			return os.NewFile(uintptr(fd), name), nil
		}
		if err != unix.EINTR {
			return nil, &fs.PathError{Op: "open", Path: name, Err: err}
		}
	}
}

func openNoFollow(h *folderHandle, name string) (*os.File, error) {
	fd, err := openAt(h, name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, err
	}
	return fd, nil
}

func reopenPart(h *folderHandle, name string) (*os.File, error) {
	return openAt(h, name, unix.O_RDWR|unix.O_NOCTTY, 0)
}

// createUnnamed makes a file without a name (O_TMPFILE): nothing is left of it
// if the process dies. An error means: use a named part.
func createUnnamed(h *folderHandle, perm os.FileMode) (*os.File, error) {
	return openAt(h, ".", unix.O_TMPFILE|unix.O_RDWR, uint32(perm))
}

// linkUnnamed gives an unnamed file a name that must not exist.
func linkUnnamed(f *hostTarget, name string) error {
	fd, dir := int(f.file.Fd()), int(f.folder.dir.Fd())
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

// touch sets the modification time by descriptor: utimensat(fd, NULL, ...).
func touch(f *hostTarget, modified time.Time) error {
	ts := [2]unix.Timespec{{Nsec: unix.UTIME_OMIT}, unix.NsecToTimespec(modified.UnixNano())}
	if modified.Year() < 1678 || modified.Year() > 2261 { // outside of what nanoseconds since 1970 can hold
		ts[1] = unix.Timespec{Sec: modified.Unix()}
	}
	_, _, errno := unix.Syscall6(unix.SYS_UTIMENSAT, f.file.Fd(), 0, uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
	if errno != 0 {
		return os.NewSyscallError("utimensat", errno)
	}
	return nil
}

// startWriteback begins writing a range to the disk and does not wait for it.
func startWriteback(f *os.File, off, n int64) {
	unix.SyncFileRange(int(f.Fd()), off, n, unix.SYNC_FILE_RANGE_WRITE) // a hint: errors show at sync
}

func adviseWillNeed(f *os.File, off, n int64) {
	unix.Fadvise(int(f.Fd()), off, n, unix.FADV_WILLNEED)
}

func adviseDontNeed(f *os.File) { unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) }

// openForSync is for systems without syncfs.
func openForSync(h *folderHandle, name string) (*os.File, error) {
	return openAt(h, name, unix.O_RDONLY|unix.O_NONBLOCK, 0)
}

// hostSpace is what an unprivileged writer can still use, and the block size.
func hostSpace(h *folderHandle) (freeBytes, blockBytes int64, known bool) {
	var st unix.Statfs_t
	if unix.Fstatfs(int(h.dir.Fd()), &st) != nil || st.Blocks == 0 {
		return 0, 0, false
	}
	unit := st.Frsize
	if unit == 0 {
		unit = st.Bsize
	}
	return int64(st.Bavail) * unit, unit, true
}
