// Package client is a front end's way to Coffer: it runs the program `coffer` for what needs a key or a locked container,
// and asks the agents of unlocked containers over their control sockets. It holds no key, links no container format and no
// file system, and what it starts goes on without it.
//
// # Secrets
//
// A Secret is written into the standard input of the process that needs it and to nowhere else: never an argument, the
// environment, a file or a log. Names from inside a container travel over the socket only, for arguments can be read by
// other users of the computer.
package client

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"coffer/app/config"
	"coffer/app/protocol"
)

// Client reaches Coffer. Its methods may be used concurrently; the end of a context ends what was asked with it, unless it
// says otherwise.
type Client struct {
	program string // absolute path of coffer
	paths   config.Paths
}

// New makes a client of the program at path; "" is the one beside this executable, or else on the PATH.
func New(path string) (*Client, error) {
	if path == "" {
		found, err := find()
		if err != nil {
			return nil, err
		}
		path = found
	}
	return &Client{program: path, paths: config.Locate(path)}, nil
}

// Program is the path of the program coffer.
func (c *Client) Program() string { return c.program }

// Paths are the folders of settings, records and logs, the same that the command line uses.
func (c *Client) Paths() config.Paths { return c.paths }

// find looks for coffer beside this executable, then on the PATH.
func find() (string, error) {
	name := "coffer"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if own, err := os.Executable(); err == nil {
		if resolved, err := filepath.EvalSymlinks(own); err == nil {
			own = resolved
		}
		beside := filepath.Join(filepath.Dir(own), name)
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
			return beside, nil
		}
	}
	found, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("the program %s is neither beside this one nor on the PATH; install both together: %w", name, err)
	}
	return filepath.Abs(found)
}

// Error is a failure as Coffer explains it.
type Error struct{ protocol.Problem }

// Error is the sentence for people.
func (e *Error) Error() string { return e.Sentence }

// Explain is any error as it is told to people: the words of Coffer where there are some.
func Explain(err error) protocol.Problem {
	var told *Error
	switch {
	case errors.As(err, &told):
		return told.Problem
	case errors.Is(err, context.Canceled):
		return protocol.Problem{Sentence: "cancelled", Code: protocol.Interrupted}
	}
	return protocol.Problem{Sentence: err.Error(), Code: protocol.Failed}
}

// Code is the exit code an error stands for; protocol.Done for nil.
func Code(err error) protocol.ExitCode {
	if err == nil {
		return protocol.Done
	}
	return Explain(err).Code
}
