//go:build unix

package cli_test

import "syscall"

// noTerminal starts a process in a session of its own, without a controlling terminal: it cannot ask.
func noTerminal() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
