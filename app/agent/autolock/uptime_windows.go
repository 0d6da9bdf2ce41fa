package autolock

import (
	"time"

	"golang.org/x/sys/windows"
)

// uptime is the time since boot, with the time the machine slept.
func uptime() time.Duration { return windows.DurationSinceBoot() }
