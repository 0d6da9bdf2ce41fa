//go:build !windows

package report

import (
	"time"

	"golang.org/x/sys/unix"
)

func processTimes() Times {
	var ru unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &ru) != nil {
		return Times{}
	}
	return Times{User: time.Duration(ru.Utime.Nano()), System: time.Duration(ru.Stime.Nano())}
}
