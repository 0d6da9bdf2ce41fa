//go:build unix

package image

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// createFile makes a new file, mode 0600. O_NOFOLLOW is implied by O_EXCL.
func createFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

// openFile opens an existing file. O_NONBLOCK: should the path have become a
// pipe since it was looked at, the open must not hang.
func openFile(path string, readOnly, _ bool) (*os.File, error) {
	flag := os.O_RDWR
	if readOnly {
		flag = os.O_RDONLY
	}
	return os.OpenFile(path, flag|unix.O_NONBLOCK, 0)
}

// lockFile takes an exclusive (or shared) lock on the inode without waiting.
// flock, not fcntl: it belongs to this open handle, and the system names its
// holder.
func lockFile(f *os.File, shared bool) error {
	how := unix.LOCK_EX
	if shared {
		how = unix.LOCK_SH
	}
	err := control(f, func(fd int) error { return ignoreEINTR(func() error { return unix.Flock(fd, how|unix.LOCK_NB) }) })
	switch {
	case err == nil:
		return nil
	case errors.Is(err, unix.EWOULDBLOCK):
		return holder(f)
	case shared && (errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.ENOLCK) || errors.Is(err, unix.ENOSYS)):
		return nil // a file system without locks; reading is safe for the image
	}
	return os.NewSyscallError("flock", err)
}

// control runs fn on the descriptor of f; it cannot be closed meanwhile.
func control(f *os.File, fn func(fd int) error) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := conn.Control(func(fd uintptr) { inner = fn(int(fd)) }); err != nil {
		return err
	}
	return inner
}

// ignoreEINTR repeats fn while a signal interrupts it.
func ignoreEINTR(fn func() error) error {
	for {
		if err := fn(); !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// identity names a file on this machine.
type identity struct{ dev, ino uint64 }

// status is what changes while a file is open.
type status struct {
	size  int64
	links uint64
}

func identify(f *os.File) (identity, status, error) {
	var st unix.Stat_t
	err := control(f, func(fd int) error { return ignoreEINTR(func() error { return unix.Fstat(fd, &st) }) })
	if err != nil {
		return identity{}, status{}, os.NewSyscallError("fstat", err)
	}
	return identity{uint64(st.Dev), uint64(st.Ino)}, status{st.Size, uint64(st.Nlink)}, nil
}

// identifyPath looks the name up; known is false if it leads nowhere.
func identifyPath(path string) (id identity, known bool) {
	var st unix.Stat_t
	if err := ignoreEINTR(func() error { return unix.Stat(path, &st) }); err != nil {
		return identity{}, false
	}
	return identity{uint64(st.Dev), uint64(st.Ino)}, true
}

// allocated is the space in use: st_blocks counts 512-byte units everywhere.
func allocated(f *os.File) (int64, error) {
	var st unix.Stat_t
	if err := control(f, func(fd int) error { return unix.Fstat(fd, &st) }); err != nil {
		return 0, os.NewSyscallError("fstat", err)
	}
	return int64(st.Blocks) * 512, nil
}

// freeBytes is the space an unprivileged user may still take.
func freeBytes(f *os.File) (int64, error) {
	var st unix.Statfs_t
	if err := control(f, func(fd int) error { return ignoreEINTR(func() error { return unix.Fstatfs(fd, &st) }) }); err != nil {
		return 0, os.NewSyscallError("fstatfs", err)
	}
	// Some systems count in signed numbers, which go below zero for users.
	return max(int64(st.Bavail), 0) * int64(st.Bsize), nil
}

// syncDir makes names in a folder durable. Some file systems refuse to sync a
// folder; nothing more can be done there.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer func() { _ = d.Close() }()
	if err := d.Sync(); err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOTSUP) {
		return err
	}
	return nil
}

// removeOpen removes the name of an open file.
func removeOpen(_ *os.File, path string) error { return os.Remove(path) }

// markSparse: files are sparse by nature.
func markSparse(*os.File) {}

func isNoSpace(err error) bool {
	return errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT)
}

func isTooLarge(err error) bool { return errors.Is(err, unix.EFBIG) }
