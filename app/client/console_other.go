//go:build !windows

package client

import "os/exec"

func hideConsole(*exec.Cmd) {}
