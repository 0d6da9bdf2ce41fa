//go:build darwin || freebsd

package lab

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// alone is for systems on which a process of several threads pays for it at every call.
func alone(work func() (int64, error)) (int64, error) { return work() }

// putSingly writes one byte times times by write(2) itself: what os.File adds to every call would be a part of what is measured.
// It returns how many were written.
func putSingly(f *os.File, one *[1]byte, times int64) (int64, error) {
	return singly(int(f.Fd()), one, times, unix.Write, io.ErrShortWrite)
}

// getSingly reads single bytes by read(2) itself, times of them or to the end of the file, which is no error.
func getSingly(f *os.File, one *[1]byte, times int64) (int64, error) {
	return singly(int(f.Fd()), one, times, unix.Read, nil)
}

func singly(fd int, one *[1]byte, times int64, call func(int, []byte) (int, error), atEnd error) (n int64, err error) {
	for n < times {
		got, err := call(fd, one[:])
		switch {
		case err == unix.EINTR:
		case err != nil:
			return n, err
		case got == 0:
			return n, atEnd
		default:
			n++
		}
	}
	return n, nil
}
