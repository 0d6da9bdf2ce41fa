package secret

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// keepOutOfDumps excludes the memory from core dumps. An error (a kernel
// without the advice) is no reason to give up.
func keepOutOfDumps(p []byte) { _ = unix.Madvise(p, unix.MADV_DONTDUMP) }

// HardenProcess makes this process unreadable for its user's other processes
// (no ptrace, no /proc/PID/mem) and switches core dumps off. It is for main,
// before the first secret exists.
func HardenProcess() error {
	if err := noCoreDumps(); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("make the process undumpable: %w", err)
	}
	return nil
}
