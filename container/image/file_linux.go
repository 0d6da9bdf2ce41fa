package image

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// syncFile makes data and the metadata needed to find it durable. Times are
// not: fdatasync saves a journal commit for every sync of an image whose size
// never changes.
func syncFile(f *os.File) error {
	return os.NewSyscallError("fdatasync", control(f, func(fd int) error {
		return ignoreEINTR(func() error { return unix.Fdatasync(fd) })
	}))
}

// reserve allocates the blocks of the first size bytes.
func reserve(f *os.File, size int64) error {
	if size == 0 {
		return nil
	}
	err := control(f, func(fd int) error {
		return ignoreEINTR(func() error { return unix.Fallocate(fd, 0, 0, size) })
	})
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.ENOSYS) {
		return errCannotReserve
	}
	return os.NewSyscallError("fallocate", err)
}

func punch(f *os.File, off, n int64) error {
	return os.NewSyscallError("fallocate", control(f, func(fd int) error {
		return ignoreEINTR(func() error {
			return unix.Fallocate(fd, unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, off, n)
		})
	}))
}

func startWriteback(f *os.File, off, n int64) error {
	return os.NewSyscallError("sync_file_range", control(f, func(fd int) error {
		return unix.SyncFileRange(fd, off, n, unix.SYNC_FILE_RANGE_WRITE)
	}))
}

func prefetch(f *os.File, off, n int64) error {
	return os.NewSyscallError("fadvise", control(f, func(fd int) error {
		return unix.Fadvise(fd, off, n, unix.FADV_WILLNEED)
	}))
}

func dropCache(f *os.File, off, n int64) error {
	return os.NewSyscallError("fadvise", control(f, func(fd int) error {
		return unix.Fadvise(fd, off, n, unix.FADV_DONTNEED)
	}))
}

// holder finds out who holds the lock on f: /proc/locks lists the process and
// the device and inode of every flock. Best effort.
func holder(f *os.File) error {
	e := &InUseError{}
	id, _, err := identify(f)
	if err != nil {
		return e
	}
	locks, err := os.Open("/proc/locks")
	if err != nil {
		return e
	}
	defer func() { _ = locks.Close() }()
	want := fmt.Sprintf("%02x:%02x:%d", unix.Major(id.dev), unix.Minor(id.dev), id.ino)
	for s := bufio.NewScanner(locks); s.Scan(); {
		// "1: FLOCK  ADVISORY  WRITE 1234 fe:00:131075 0 EOF"
		fields := strings.Fields(s.Text())
		if len(fields) < 6 || fields[1] != "FLOCK" || fields[5] != want {
			continue
		}
		pid, err := strconv.Atoi(fields[4])
		if err != nil || pid <= 0 {
			continue
		}
		e.PID = pid
		if comm, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err == nil {
			e.Program = strings.TrimSpace(string(comm))
		}
		return e
	}
	return e
}

// checkAttached refuses an image that is attached to a loop device: the
// kernel writes to it without any lock. Best effort.
func checkAttached(f *os.File) error {
	own, err := f.Stat()
	if err != nil {
		return err
	}
	backing, _ := filepath.Glob("/sys/block/loop*/loop/backing_file")
	for _, b := range backing {
		name, err := os.ReadFile(b)
		if err != nil {
			continue
		}
		other, err := os.Stat(strings.TrimSuffix(string(name), "\n"))
		if err == nil && os.SameFile(own, other) {
			dev := filepath.Base(filepath.Dir(filepath.Dir(b)))
			return &InUseError{Program: "loop device /dev/" + dev}
		}
	}
	return nil
}
