//go:build unix

package lab

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const runtimeWindows = false

// openFolder is a folder by its descriptor: names in it are used as a program does that works in it. What package os adds
// to every file, a look at its kind and the way to it from the root, would be a part of what is measured.
type openFolder struct{ fd int }

func openDir(path string) (openFolder, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return openFolder{-1}, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return openFolder{fd}, nil
}

func (d openFolder) close() error { return unix.Close(d.fd) }

// retried repeats a call that a signal interrupted; its error names the file.
func retried(op, name string, call func() error) error {
	for {
		err := call()
		if err == nil {
			return nil
		}
		if err != unix.EINTR {
			return &os.PathError{Op: op, Path: name, Err: err}
		}
	}
}

// create makes an empty file that must not exist.
func (d openFolder) create(name string) error {
	fd := -1
	err := retried("create", name, func() (err error) {
		fd, err = unix.Openat(d.fd, name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_CLOEXEC, 0o600)
		return err
	})
	if err != nil {
		return err
	}
	if err := unix.Close(fd); err != nil && err != unix.EINTR {
		return &os.PathError{Op: "close", Path: name, Err: err}
	}
	return nil
}

func (d openFolder) stat(name string) error {
	var st unix.Stat_t
	return retried("stat", name, func() error { return unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
}

func (d openFolder) remove(name string) error {
	return retried("remove", name, func() error { return unix.Unlinkat(d.fd, name, 0) })
}

// device is the file system that holds a file.
func device(info os.FileInfo) uint64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(st.Dev)
	}
	return 0
}
