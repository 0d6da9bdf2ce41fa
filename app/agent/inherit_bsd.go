//go:build unix && !linux

package agent

import "golang.org/x/sys/unix"

// keepFilesBack makes sure that a process started from here inherits no file but its standard streams; see the Linux side.
func keepFilesBack() {
	const usual = 1024 // these systems have no call for all of them; a shell hands down small numbers
	for fd := 3; fd < usual; fd++ {
		unix.CloseOnExec(fd)
	}
}
