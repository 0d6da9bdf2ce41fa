//go:build unix

package agent

import (
	"os"
	"os/signal"
	"syscall"
)

// rootFolder is where an agent runs, so that it keeps no other file system busy.
func rootFolder() string { return "/" }

// detached are the ways to start a process in a session of its own: no terminal, no job control and no logout reaches it.
func detached() []*syscall.SysProcAttr { return []*syscall.SysProcAttr{{Setsid: true}} }

// settle makes the process indifferent to the loss of a terminal.
func settle() { signal.Ignore(syscall.SIGHUP) }

// letGo ends the connection to the one who started the agent: the standard streams lead nowhere from now on. That of errors
// never led to them, and may lead to the crash file now.
func letGo() error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	for fd := range 2 {
		if err := dup(int(null.Fd()), fd); err != nil {
			return os.NewSyscallError("dup", err)
		}
	}
	return nil
}

// catchErrors leads the standard stream of errors of this process into f, which the caller may close.
func catchErrors(f *os.File) error {
	return os.NewSyscallError("dup", dup(int(f.Fd()), 2))
}
