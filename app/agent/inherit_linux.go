package agent

import (
	"math"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// keepFilesBack makes sure that a process started from here inherits no file but its standard streams. What the shell of a
// person had open (a lock, a pipe that somebody reads to its end) would stay open as long as the drive.
func keepFilesBack() {
	if unix.CloseRange(3, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC) == nil {
		return
	}
	names, err := os.ReadDir("/proc/self/fd") // before Linux 5.11
	if err != nil {
		return
	}
	for _, name := range names {
		if fd, err := strconv.Atoi(name.Name()); err == nil && fd > 2 {
			unix.CloseOnExec(fd)
		}
	}
}
