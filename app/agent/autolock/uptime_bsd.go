//go:build unix && !linux

package autolock

import (
	"time"

	"golang.org/x/sys/unix"
)

// uptime is the time since boot, with the time the machine slept: on macOS, unlike on Linux, CLOCK_MONOTONIC counts it,
// while Go's own monotonic clock does not.
func uptime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return time.Since(epoch)
	}
	return time.Duration(ts.Nano())
}
