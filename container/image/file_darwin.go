package image

import (
	"os"

	"golang.org/x/sys/unix"
)

// reserve asks for the blocks with F_PREALLOCATE, contiguous or not. The size
// was set before, so the blocks are there when they are needed.
func reserve(f *os.File, size int64) error {
	st := unix.Fstore_t{Flags: unix.F_ALLOCATEALL, Posmode: unix.F_PEOFPOSMODE, Length: size}
	err := control(f, func(fd int) error { return unix.FcntlFstore(uintptr(fd), unix.F_PREALLOCATE, &st) })
	if err == unix.ENOTSUP {
		return errCannotReserve
	}
	return os.NewSyscallError("fcntl", err)
}

// prefetch: macOS has F_RDADVISE, which its system package does not wrap; its
// own read-ahead serves sequential readers.
func prefetch(*os.File, int64, int64) error { return nil }
