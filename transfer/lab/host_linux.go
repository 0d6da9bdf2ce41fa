package lab

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// syncHost makes everything on the file system of dir durable.
func syncHost(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.Syncfs(int(f.Fd())); err != nil {
		return os.NewSyscallError("syncfs", err)
	}
	return nil
}

// dropAll asks the system to forget everything it has cached. The error is errors.ErrUnsupported or one of permission
// where that cannot be asked.
func dropAll() error {
	return os.WriteFile("/proc/sys/vm/drop_caches", []byte("3"), 0)
}

// dropFile asks the system to forget what it has cached of one open file, which must have been synced.
func dropFile(f *os.File) error {
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		return os.NewSyscallError("fadvise", err)
	}
	return nil
}

// dropTree does that for every file in a folder, or for the one file.
func dropTree(path string) error {
	return filepath.WalkDir(path, func(p string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		f, err := os.Open(p)
		if err != nil {
			return err
		}
		return errors.Join(dropFile(f), f.Close())
	})
}

// freeBytes is what an ordinary user can still write to the file system of dir.
func freeBytes(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}

// cpFlags make cp copy bytes, whatever the file system could do instead.
func cpFlags() []string { return []string{"-r", "--reflink=never", "--sparse=never"} }
