package agent

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"coffer/app/agent/registry"
	"coffer/app/config"
	"coffer/app/session"
)

// openRegistry finds the registry of this user. With make its folder is made; without, a missing one is an empty registry.
func openRegistry(make bool) (r registry.Registry, err error) {
	if make {
		folder, failed := config.RuntimeDir()
		r, err = registry.In(folder), failed
	} else {
		r, err = registry.OfUser()
	}
	if err != nil {
		return registry.Registry{}, &session.Error{What: "look for unlocked containers", Err: err}
	}
	return r, nil
}

// List returns the containers of this user that are unlocked now, in the order they were unlocked.
func List(context.Context) ([]Entry, error) {
	r, err := openRegistry(false)
	if err != nil {
		return nil, err
	}
	live, err := r.Live()
	if err != nil {
		return nil, &session.Error{What: "look for unlocked containers", Err: err}
	}
	entries := []Entry{}
	for _, e := range live {
		if e.Ready {
			entries = append(entries, e)
		}
	}
	return entries, nil
}

// Gone is an agent that ended without locking, and what became of its drive.
type Gone struct {
	Entry
	Report string // where the report of its crash is; "" if it did not crash but was killed
	Err    error  // why its drive could not be detached; nil when all is tidy
}

// String is a remark for people.
func (g Gone) String() string {
	how := "has ended without locking"
	if g.Report != "" {
		how = "has crashed"
	}
	text := fmt.Sprintf("the process that held %s open (%d) %s", g.Image, g.PID, how)
	switch {
	case g.Err != nil:
		text = fmt.Sprintf("%s; its drive %s could not be detached: %v", text, g.MountPoint, g.Err)
	case g.MountPoint != "":
		text = fmt.Sprintf("%s; its drive %s was detached", text, g.MountPoint)
	}
	if g.Copying {
		text += "; a copy was interrupted: what has its name there is complete, and copying again with --resume goes on from there"
	}
	if g.Report != "" {
		text += fmt.Sprintf("; a report without names or secrets, for the makers of the program, is in %s", g.Report)
	}
	return text
}

// Sweep cleans up after agents that ended without doing so themselves: dead mounts, sockets, registry entries. Every
// command begins with it; with no agents about it costs one look at a folder that is not there.
func Sweep() ([]Gone, error) {
	r, err := openRegistry(false)
	if err != nil {
		return nil, err
	}
	left, err := r.Sweep(cleaner())
	if err != nil {
		return nil, &session.Error{What: "look for unlocked containers", Err: err}
	}
	var gone []Gone
	for _, l := range left {
		if l.Ready || l.Err != nil || l.Report != "" { // one that was killed while it unlocked had nothing to lock
			gone = append(gone, Gone(l))
		}
	}
	return gone, nil
}

// ErrNotUnlocked: no agent holds the container.
var ErrNotUnlocked = errors.New("not unlocked")

// Find returns the client of the agent that holds the image, whatever path leads to it, or whose drive is at the mount
// point. The error is ErrNotUnlocked when there is none.
func Find(_ context.Context, imageOrMountPoint string) (*Client, error) {
	r, err := openRegistry(false)
	if err != nil {
		return nil, err
	}
	live, err := r.Live()
	if err != nil {
		return nil, &session.Error{What: "look for unlocked containers", Err: err}
	}
	if e, ok := pick(live, imageOrMountPoint); ok {
		if !e.Ready {
			return nil, &session.Error{What: "reach " + imageOrMountPoint, Code: session.InUse,
				Err: fmt.Errorf("process %d is just unlocking or locking it", e.PID)}
		}
		return newClient(r, e), nil
	}
	return nil, &session.Error{What: "reach " + imageOrMountPoint, Err: ErrNotUnlocked,
		Hint: "`coffer list` shows what is unlocked"}
}

// pick finds an entry by what a person named. The mount point is compared by name first: looking at a drive whose agent
// hangs would hang too. The path an image was unlocked by counts also when another file, or none, is there now.
func pick(entries []Entry, named string) (Entry, bool) {
	absolute := named
	if !isDrive(named) {
		if path, err := filepath.Abs(named); err == nil {
			absolute = path
		}
	}
	for _, e := range entries {
		if e.MountPoint != "" && samePoint(e.MountPoint, absolute) {
			return e, true
		}
	}
	if id, err := registry.ID(absolute); err == nil {
		for _, e := range entries {
			if e.ID == id {
				return e, true
			}
		}
	}
	for _, e := range entries {
		if e.Image == absolute {
			return e, true
		}
	}
	return Entry{}, false
}

// samePoint compares mount points: as written, then with links above them followed.
func samePoint(a, b string) bool {
	if runtime.GOOS == "windows" {
		return strings.EqualFold(strings.TrimRight(a, `\/`), strings.TrimRight(b, `\/`))
	}
	return a == b || filepath.Base(a) == filepath.Base(b) && followed(a) == followed(b)
}

// followed is a path whose folder's links are followed; the last part is not looked at.
func followed(path string) string {
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return path
	}
	return filepath.Join(folder, filepath.Base(path))
}

// inUse is the refusal to unlock what is unlocked already.
func inUse(named string, held *registry.HeldError) error {
	problem := &session.Error{What: "unlock " + named, Err: held, Code: session.InUse, Hint: "`coffer lock " + named + "` locks it"}
	switch e := held.Entry; {
	case e.Ready && e.MountPoint != "":
		problem.Err = fmt.Errorf("already unlocked at %s, by process %d, since %s", e.MountPoint, e.PID, e.Started.Local().Format(time.DateTime))
	case e.Ready:
		problem.Err = fmt.Errorf("already unlocked, by process %d, since %s", e.PID, e.Started.Local().Format(time.DateTime))
	case held.PID != 0:
		problem.Err = fmt.Errorf("process %d is just unlocking or locking it", held.PID)
		problem.Hint = ""
	}
	return problem
}

// CheckFree says whether the image can be unlocked, that is, whether no agent of this user holds it: to be known before a
// person is asked for a password.
func CheckFree(s Settings) error {
	r, err := openRegistry(false)
	if err != nil {
		return err
	}
	live, err := r.Live()
	if err != nil {
		return &session.Error{What: "look for unlocked containers", Err: err}
	}
	id, err := registry.ID(s.Image)
	if err != nil {
		return &session.Error{What: "open " + s.Named, Err: err}
	}
	for _, e := range live {
		if e.ID == id {
			return inUse(s.Named, &registry.HeldError{PID: e.PID, Entry: e})
		}
	}
	return nil
}
