//go:build unix && !linux

package agent

import "golang.org/x/sys/unix"

// dup makes to another name of from.
func dup(from, to int) error { return unix.Dup2(from, to) }
