package client

import (
	"os/exec"
	"syscall"
)

// hideConsole keeps a console window from flashing up.
func hideConsole(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{HideWindow: true}
}
