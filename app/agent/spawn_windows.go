package agent

import (
	"errors"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"

	"golang.org/x/sys/windows"
)

// rootFolder is where an agent runs, so that it keeps no folder of the person in use.
func rootFolder() string {
	folder, err := windows.GetSystemDirectory()
	if err != nil {
		return ""
	}
	return filepath.VolumeName(folder) + `\`
}

// detached are the ways to start a process without a console: first one that outlives the job it is started in (a
// terminal that ends with all that runs in it), which not every job allows.
func detached() []*syscall.SysProcAttr {
	const apart = windows.DETACHED_PROCESS | windows.CREATE_NEW_PROCESS_GROUP
	return []*syscall.SysProcAttr{
		{HideWindow: true, CreationFlags: apart | windows.CREATE_BREAKAWAY_FROM_JOB},
		{HideWindow: true, CreationFlags: apart},
	}
}

// settle has nothing to do: there are no such signals for a detached process.
func settle() {}

// catchErrors leads what the runtime writes when it ends this process into f, which the caller may close. The first line of
// some failures is not among it.
func catchErrors(f *os.File) error { return debug.SetCrashOutput(f, debug.CrashOptions{}) }

// letGo ends the connection to the one who started the agent.
func letGo() error {
	return errors.Join(os.Stdin.Close(), os.Stdout.Close())
}
