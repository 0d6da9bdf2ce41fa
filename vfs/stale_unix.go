//go:build unix && !linux

package vfs

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// CleanStale detaches the mount that a process which has died left at point; nil if there is none.
func CleanStale(point string) error {
	var st syscall.Stat_t
	if err := syscall.Lstat(point, &st); !errors.Is(err, syscall.ENOTCONN) && !errors.Is(err, syscall.ENXIO) {
		return nil
	}
	if err := unix.Unmount(point, unix.MNT_FORCE); err != nil {
		return fmt.Errorf("detach the dead drive at %s: %w", point, err)
	}
	return nil
}
