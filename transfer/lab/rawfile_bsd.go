//go:build darwin || freebsd

package lab

import (
	"os"

	"golang.org/x/sys/unix"
)

// alone is for systems on which a process of several threads pays for it at every call.
func alone(work func() (int64, error)) (int64, error) { return work() }

// writer is write(2) itself: what os.File adds to every call would be a part of what is measured.
func writer(f *os.File) func([]byte) (int, error) {
	fd := int(f.Fd())
	return func(p []byte) (int, error) {
		for {
			n, err := unix.Write(fd, p)
			if err != unix.EINTR {
				return n, err
			}
		}
	}
}

// reader is read(2) itself; no bytes and no error at the end of the file.
func reader(f *os.File) func([]byte) (int, error) {
	fd := int(f.Fd())
	return func(p []byte) (int, error) {
		for {
			n, err := unix.Read(fd, p)
			if err != unix.EINTR {
				return max(n, 0), err
			}
		}
	}
}
