// Package agent keeps an unlocked container open: one process per container, which alone holds the key, serves the drive
// and answers on a control socket. The command line and the window are its clients.
//
// # Life of an agent
//
// Unlock starts this program again with the hidden verb Verb, detached from terminal and session, and gives it settings
// and credential through a pipe (wire.go). The agent claims the image in the registry, derives the key in a child process,
// opens the file system, mounts the drive, listens, and says that it is ready; only when the one who started it confirms
// does it stay. Anything before that (Ctrl-C, a killed parent, a failure) undoes it all. Afterwards nothing but a lock
// request, SIGTERM, an unmount from outside or auto-lock ends it.
//
// # Control socket
//
// HTTP and JSON over a unix socket that only its owner can reach, on a path below /v1/. Handlers are registered in
// extend.go. A failure is answered with the sentence, hint and exit code that the command line would have found itself,
// so that both ways look the same. What can be done with the files inside is in package operations. A client that goes
// away cancels what it asked for.
//
// # Locks
//
// core.mu guards the fields of core and is held for moments only. core.locking serialises attempts to lock; it is taken
// before mu. Neither is held while a handler of an operation runs.
package agent

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"coffer/app/agent/registry"
	"coffer/app/config"
	"coffer/app/session"
)

// Verb is the hidden command that runs an agent.
const Verb = "agent"

// Entry is one unlocked container.
type Entry = registry.Entry

// Settings say what to unlock and how. They travel to the agent as one JSON line; nothing in them is secret.
type Settings struct {
	Image      string   `json:"image"`  // absolute path
	Named      string   `json:"named"`  // the image as the person wrote it, for messages
	Format     string   `json:"format"` // one of session's formats
	Header     string   `json:"header,omitempty"`
	ReadOnly   bool     `json:"readOnly,omitempty"`
	NoMount    bool     `json:"noMount,omitempty"`
	Raw        bool     `json:"raw,omitempty"`
	AllowOther bool     `json:"allowOther,omitempty"` // other users may use the drive
	MountPoint string   `json:"mountPoint,omitempty"` // absolute, or a drive letter; "": chosen
	Drives     string   `json:"drives,omitempty"`     // folder in which a mount point is chosen; "": the runtime folder's
	Idle       Duration `json:"idle,omitempty"`       // lock after so long without use; 0: never
	Lifetime   Duration `json:"lifetime,omitempty"`   // lock after so long whatever happens; 0: never
	AutoLock   AutoLock `json:"autoLock"`
	Litter     string   `json:"litter,omitempty"`  // where the system's own clutter goes: config.LitterMemory or config.LitterKeep
	Program    string   `json:"program,omitempty"` // version, for the registry
	Slot       int      `json:"slot"`              // key slot to try; -1: any
}

// AutoLock are the events of the system that lock a drive.
type AutoLock struct {
	Suspend bool `json:"suspend,omitempty"` // before the computer sleeps
	Screen  bool `json:"screen,omitempty"`  // when the screen is locked
	Force   bool `json:"force,omitempty"`   // also if programs use the drive
}

// Duration is a time.Duration, in JSON as text ("10m0s").
type Duration = config.Duration

// target is the container as package session opens it.
func (s Settings) target() session.Target {
	return session.Target{Path: s.Image, Format: s.Format, Header: s.Header}
}

// complete makes the paths absolute: an agent runs in the root folder.
func (s *Settings) complete() error {
	if s.Named == "" {
		s.Named = s.Image
	}
	if s.Format == "" {
		s.Format = session.FormatAuto
	}
	for _, path := range []*string{&s.Image, &s.Header, &s.MountPoint} {
		if *path == "" || path == &s.MountPoint && isDrive(*path) {
			continue
		}
		absolute, err := filepath.Abs(*path)
		if err != nil {
			return fmt.Errorf("where is %s: %w", *path, err)
		}
		*path = absolute
	}
	return nil
}

// asNamed is a failed opening in which the image is called what the person called it.
func (s Settings) asNamed(err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	problem := session.Explain(err)
	problem.Sentence = strings.Replace(problem.Sentence, "open "+s.Image, "open "+s.Named, 1)
	if problem.Code == session.WrongKey {
		problem.Hint += "; a wrong password takes as long to check as a right one"
	}
	return asError(problem)
}

// isDrive says whether a mount point is a drive letter of Windows.
func isDrive(point string) bool {
	return runtime.GOOS == "windows" && len(strings.TrimRight(point, `\/`)) == 2 && point[1] == ':'
}
