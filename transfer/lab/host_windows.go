package lab

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// syncHost does nothing: Windows lets only administrators flush a whole volume. The copies themselves flush each file.
func syncHost(string) error { return nil }

func dropAll() error          { return errors.ErrUnsupported }
func dropFile(*os.File) error { return errors.ErrUnsupported }
func dropTree(string) error   { return errors.ErrUnsupported }

// freeBytes is what this user can still write to the volume of dir.
func freeBytes(dir string) (int64, error) {
	path, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, err
	}
	var free uint64
	if err := windows.GetDiskFreeSpaceEx(path, &free, nil, nil); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	return int64(min(free, 1<<62)), nil
}

// cpFlags: there is no cp.
func cpFlags() []string { return nil }
