package vfs

import (
	"errors"
	"fmt"
	"syscall"
	"time"
)

// stalePatience is how long a drive may take to show that it lives.
const stalePatience = 2 * time.Second

// CleanStale detaches the mount that a process which has died left at point; nil if there is none. The folder stays. A
// drive that lives, or whose process is only stopped, is left alone.
func CleanStale(point string) error {
	if !dead(point) {
		return nil
	}
	if err := unmountPoint(point, true); err != nil {
		return fmt.Errorf("detach the dead drive at %s: %w", point, err)
	}
	return nil
}

// dead says whether nobody serves the drive at point any more. The question must reach its process: attributes are
// answered from the kernel's cache for a while. It is asked from a goroutine of its own, which stays behind if the
// process is stopped.
func dead(point string) bool {
	answer := make(chan error, 1)
	go func() {
		var st syscall.Statfs_t
		answer <- syscall.Statfs(point, &st)
	}()
	select {
	case err := <-answer:
		return errors.Is(err, syscall.ENOTCONN) || errors.Is(err, syscall.ECONNABORTED)
	case <-time.After(stalePatience):
		return false
	}
}
