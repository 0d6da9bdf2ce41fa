package agent

import (
	"errors"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// sessionNice is where the kernel takes the nice value of a whole session (sched(7), "The autogroup feature"): the desktop's
// scheduling shares processors between sessions first, so those of the processes inside do not matter to other sessions. It
// can be raised again, which that of a process cannot without privilege. nil for a process that shares its session with
// others, and where the kernel has no autogroups.
//
// It is opened before main, because main makes the process undumpable, and then the file belongs to root.
var sessionNice = openSessionNice()

func openSessionNice() *os.File {
	if session, err := unix.Getsid(0); err != nil || session != os.Getpid() {
		return nil
	}
	f, err := os.OpenFile("/proc/self/autogroup", os.O_WRONLY, 0)
	if err != nil {
		return nil
	}
	return f
}

// setSessionNice changes the rank of the session this process leads. later: the system wants some time between two changes.
func setSessionNice(nice int) (later bool) {
	if sessionNice == nil {
		return false
	}
	_, err := sessionNice.Write([]byte(strconv.Itoa(nice)))
	return errors.Is(err, unix.EAGAIN)
}
