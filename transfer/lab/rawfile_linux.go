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

// writer is write(2) itself, without telling the scheduler: for a single byte that would be a fifth of what is measured.
// p must not be empty.
func writer(f *os.File) func(p []byte) (int, error) {
	fd := f.Fd()
	return func(p []byte) (int, error) {
		n, err := direct(unix.SYS_WRITE, fd, p)
		if n == 0 && err == nil {
			err = io.ErrShortWrite
		}
		return n, err
	}
}

// reader is read(2) itself; no bytes and no error at the end of the file.
func reader(f *os.File) func(p []byte) (int, error) {
	fd := f.Fd()
	return func(p []byte) (int, error) { return direct(unix.SYS_READ, fd, p) }
}

func direct(call, fd uintptr, p []byte) (int, error) {
	for {
		n, _, errno := unix.RawSyscall(call, fd, uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
		switch errno {
		case 0:
			return int(n), nil
		case unix.EINTR:
		default:
			return 0, errno
		}
	}
}
