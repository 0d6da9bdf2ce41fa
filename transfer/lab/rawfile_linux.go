package lab

import (
	"io"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// alone runs work, which opens the files it uses, in a thread with a table of files of its own. For a file that other threads
// could reach too the kernel counts references and takes a lock at every call: some 60 ns of 550 for a single byte, which a
// process of one thread, as bonnie++ is, does not pay.
func alone(work func() (int64, error)) (n int64, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()             // and never unlocked: the thread ends with this goroutine
		_ = unix.Unshare(unix.CLONE_FILES) // if it is refused, every call only takes longer
		n, err = work()
	}()
	<-done
	return n, err
}

// putSingly writes one byte times times by write(2) itself, without telling the scheduler: for a single byte that would be a fifth of
// what is measured. It returns how many were written.
func putSingly(f *os.File, one *[1]byte, times int64) (int64, error) {
	return singly(unix.SYS_WRITE, f.Fd(), one, times, io.ErrShortWrite)
}

// getSingly reads single bytes by read(2) itself, times of them or to the end of the file, which is no error.
func getSingly(f *os.File, one *[1]byte, times int64) (int64, error) {
	return singly(unix.SYS_READ, f.Fd(), one, times, nil)
}

func singly(call, fd uintptr, one *[1]byte, times int64, atEnd error) (n int64, err error) {
	for n < times {
		got, _, errno := unix.RawSyscall(call, fd, uintptr(unsafe.Pointer(one)), 1)
		switch {
		case errno == unix.EINTR:
		case errno != 0:
			return n, errno
		case got == 0:
			return n, atEnd
		default:
			n++
		}
	}
	return n, nil
}
