package autolock

import (
	"time"

	"golang.org/x/sys/unix"
)

// uptime is the time since boot, with the time the machine slept.
func uptime() time.Duration {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_BOOTTIME, &ts); err != nil {
		return time.Since(epoch)
	}
	return time.Duration(ts.Nano())
}
