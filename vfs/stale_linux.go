package vfs

import (
	"errors"
	"fmt"
	"syscall"
)

// CleanStale detaches the mount that a process which has died left at point; nil if there is none. The folder stays.
func CleanStale(point string) error {
	var st syscall.Stat_t
	if err := syscall.Lstat(point, &st); !errors.Is(err, syscall.ENOTCONN) {
		return nil
	}
	if err := unmountPoint(point, true); err != nil {
		return fmt.Errorf("detach the dead drive at %s: %w", point, err)
	}
	return nil
}
