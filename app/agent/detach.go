package agent

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
)

// StartDetached starts another program in the folder given, apart from the terminal and the session of this one, with standard
// streams that lead nowhere.
func StartDetached(program, folder string, arguments ...string) (started *exec.Cmd, err error) {
	keepFilesBack()
	for _, apart := range detached() {
		started = exec.Command(program, arguments...)
		started.Dir, started.SysProcAttr, started.Env = folder, apart, os.Environ()
		if err = started.Start(); err == nil || !errors.Is(err, fs.ErrPermission) {
			break
		}
	}
	return started, err
}
