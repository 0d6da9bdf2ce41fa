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

// letGo ends the connection to the one who started the agent: the standard streams lead nowhere from now on.
func letGo() error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	for fd := range 3 {
		if err := dup(int(null.Fd()), fd); err != nil {
			return os.NewSyscallError("dup", err)
		}
	}
	return nil
}
