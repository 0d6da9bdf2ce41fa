package secret

import (
	"fmt"

	"golang.org/x/sys/windows"
)

// HardenProcess switches the crash dialog and with it local dumps off. It is
// for main, before the first secret exists.
func HardenProcess() error {
	const noCrashDialog = windows.SEM_FAILCRITICALERRORS | windows.SEM_NOGPFAULTERRORBOX
	windows.SetErrorMode(noCrashDialog)
	if err := windows.SetDllDirectory(""); err != nil {
		// Not about dumps, but about the same attacker: no DLL from the
		// current folder enters a process that holds keys.
		return fmt.Errorf("take the current folder out of the DLL search path: %w", err)
	}
	return nil
}
