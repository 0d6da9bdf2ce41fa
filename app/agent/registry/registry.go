// Package registry knows which containers of this user are unlocked on this computer.
//
// Every process that holds an unlocked container owns these files in the runtime folder, named after the identity of the
// image (not after a path, so that two paths to one file are one container):
//
//	<id>.lock  locked for the life of the process; holds its process id
//	<id>.json  the Entry
//	<id>.sock  the control socket
//	<id>.crash empty, until the runtime ends the process and writes why
//
// The lock is the truth: the system takes it away when the process ends, however it ends. Whoever finds an entry whose
// lock is free cleans up what its process has left. Nothing here is secret, and no name from inside a container is kept.
package registry

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"coffer/app/config"
)

// Version is the version of the entries and of the control protocol.
const Version = 1

// maxEntryBytes bounds an entry file.
const maxEntryBytes = 64 << 10

// Entry is one unlocked container. As JSON its field names are stable.
type Entry struct {
	Version    int       `json:"version"`
	ID         string    `json:"id"`    // of the image file: 16 hexadecimal digits
	Image      string    `json:"image"` // absolute path it was unlocked by
	PID        int       `json:"pid"`   // process that holds it
	Started    time.Time `json:"started"`
	Ready      bool      `json:"ready"`                // false while it is being unlocked
	MountPoint string    `json:"mountPoint,omitempty"` // "" without a drive
	OwnPoint   bool      `json:"ownPoint,omitempty"`   // the mount point is a folder that Coffer made and removes
	ReadOnly   bool      `json:"readOnly"`
	Raw        bool      `json:"raw,omitempty"`
	Program    string    `json:"program,omitempty"` // version of the program that holds it
	Copying    bool      `json:"copying,omitempty"` // a copy job waits or is under way: to be told should the process die
}

// Registry is the runtime folder of one user.
type Registry struct{ folder string }

// In returns the registry kept in folder, which need not exist for reading; "" is a registry that is always empty.
func In(folder string) Registry { return Registry{folder} }

// OfUser returns the registry of this user, for reading. One that is missing is empty; one that others can enter is an error.
func OfUser() (Registry, error) {
	folder, err := config.RuntimeFolder()
	if errors.Is(err, config.ErrNoRuntime) {
		return In(""), nil
	}
	if err == nil {
		if err = config.CheckPrivate(folder); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err != nil {
		return Registry{}, err
	}
	return In(folder), nil
}

// Folder is where the registry is kept.
func (r Registry) Folder() string { return r.folder }

// Socket is the path of the control socket of a container.
func (r Registry) Socket(id string) string { return r.file(id, ".sock") }

func (r Registry) file(id, suffix string) string { return filepath.Join(r.folder, id+suffix) }

// read reads an entry; fs.ErrNotExist when there is none.
func (r Registry) read(id string) (Entry, error) {
	var e Entry
	info, err := os.Lstat(r.file(id, ".json"))
	if err != nil {
		return e, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxEntryBytes {
		return e, fmt.Errorf("registry entry %s is no small file", r.file(id, ".json"))
	}
	raw, err := os.ReadFile(r.file(id, ".json"))
	if err != nil {
		return e, err
	}
	if err := json.Unmarshal(raw, &e); err != nil {
		return e, fmt.Errorf("registry entry %s: %w", r.file(id, ".json"), err)
	}
	if e.ID != id {
		return e, fmt.Errorf("registry entry %s says it is %q", r.file(id, ".json"), e.ID)
	}
	return e, nil
}

// write replaces an entry in one step.
func (r Registry) write(e Entry) error {
	raw, err := json.Marshal(e)
	if err != nil {
		return err
	}
	temporary := r.file(e.ID, ".new")
	if err := os.WriteFile(temporary, append(raw, '\n'), 0o600); err != nil {
		return fmt.Errorf("write registry entry: %w", err)
	}
	if err := os.Rename(temporary, r.file(e.ID, ".json")); err != nil {
		return fmt.Errorf("write registry entry: %w", err)
	}
	return nil
}

// ids are the names of the entries there are.
func (r Registry) ids() ([]string, error) {
	if r.folder == "" {
		return nil, nil
	}
	found, err := os.ReadDir(r.folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the registry: %w", err)
	}
	var ids []string
	for _, file := range found {
		if id, ok := strings.CutSuffix(file.Name(), ".json"); ok {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// Live returns the entries whose process lives, oldest first, those still being unlocked included.
func (r Registry) Live() ([]Entry, error) {
	ids, err := r.ids()
	if err != nil {
		return nil, err
	}
	var entries []Entry
	for _, id := range ids {
		e, err := r.read(id)
		// While somebody cleans up after a dead process the lock is held too, but not by the process of the entry. One that cannot
		// be seen from here, from inside of a sandbox for one, still answers.
		if err == nil && r.Held(id) && (lives(e.PID) || answers(r.Socket(id))) {
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, func(a, b Entry) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.ID, b.ID))
	})
	return entries, nil
}

// askPatience is how long Ask waits for one process.
const askPatience = 2 * time.Second

// Ask asks the processes of entries, all at once, and returns their answers in the order of the entries. One that does not
// answer for two seconds has its context ended; one for which ask has no answer is left out.
func Ask[Answer any](ctx context.Context, entries []Entry, ask func(context.Context, Entry) (answer Answer, ok bool)) []Answer {
	ctx, cancel := context.WithTimeout(ctx, askPatience)
	defer cancel()
	answers, answered := make([]Answer, len(entries)), make([]bool, len(entries))
	var asked sync.WaitGroup
	for i, e := range entries {
		asked.Go(func() { answers[i], answered[i] = ask(ctx, e) })
	}
	asked.Wait()
	all := []Answer{}
	for i, a := range answers {
		if answered[i] {
			all = append(all, a)
		}
	}
	return all
}

// Held says whether a process holds the container.
func (r Registry) Held(id string) bool {
	lock, err := os.OpenFile(r.file(id, ".lock"), os.O_RDWR, 0)
	if err != nil {
		return errors.Is(err, fs.ErrPermission)
	}
	defer lock.Close()
	return tryLock(lock, true) != nil
}

// Gone says whether the process of an entry has let go of the container and ended.
func (r Registry) Gone(e Entry) bool { return !r.Held(e.ID) && !lives(e.PID) }

// Died says whether the process that held a container ended without letting go of it. Nobody knows any more once somebody
// has cleaned up after it.
func (r Registry) Died(id string) bool {
	_, err := os.Lstat(r.file(id, ".json"))
	return err == nil && !r.Held(id)
}

// Left is what a process that ended without cleaning up has left.
type Left struct {
	Entry
	Report string // where the report of its crash is kept; "" if it left none (it was killed)
	Err    error  // what could not be cleaned; nil when all is gone
}

// Cleaner is how to clean up after a process that is gone.
type Cleaner struct {
	// Detach detaches the dead mount at a mount point.
	Detach func(point string) error
	// Keep keeps what the runtime wrote when it ended the process, and says where. It may be nil.
	Keep func(e Entry, crash []byte) (report string, err error)
}

const (
	crashSuffix   = ".crash"
	maxCrashBytes = 1 << 20 // of a crash file that are read
)

// Sweep cleans up after processes that are gone: dead mounts are detached; then the files go, and the mount point if
// Coffer made it. An entry that could not be cleaned stays for the next time. It returns what was found.
func (r Registry) Sweep(cleaner Cleaner) ([]Left, error) {
	ids, err := r.ids()
	if err != nil {
		return nil, err
	}
	var found []Left
	for _, id := range ids {
		lock, err := r.acquire(id)
		if err != nil {
			continue // it lives, or somebody else is cleaning up
		}
		if left, dead := r.sweepHeld(id, lock, cleaner); dead {
			found = append(found, left)
		}
	}
	return found, nil
}

// sweepHeld cleans up one entry whose lock is held, and lets go of the lock. dead is false when there is nothing to clean
// up after all.
func (r Registry) sweepHeld(id string, lock *os.File, cleaner Cleaner) (left Left, dead bool) {
	entry, err := r.read(id)
	// A lock file that somebody removed by hand must not make a living process look dead.
	if errors.Is(err, fs.ErrNotExist) || answers(r.Socket(id)) {
		removeLock(lock)
		return Left{}, false
	}
	if err != nil {
		entry = Entry{ID: id} // nothing it says is to be believed
	}
	left = Left{Entry: entry, Report: r.keepCrash(entry, cleaner)}
	if entry.MountPoint != "" {
		left.Err = cleaner.Detach(entry.MountPoint)
		if left.Err == nil && entry.OwnPoint {
			if err := os.Remove(entry.MountPoint); err != nil && !errors.Is(err, fs.ErrNotExist) {
				left.Err = fmt.Errorf("remove the mount point: %w", err)
			}
		}
	}
	if left.Err == nil {
		left.Err = r.forget(id, lock)
	} else {
		_ = lock.Close()
	}
	return left, true
}

// keepCrash passes on why a process crashed, once. A report that cannot be kept is no reason not to clean up: it is lost.
func (r Registry) keepCrash(e Entry, cleaner Cleaner) (report string) {
	path := r.file(e.ID, crashSuffix)
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	crash, err := io.ReadAll(io.LimitReader(f, maxCrashBytes))
	_ = f.Close()
	if err == nil && len(crash) > 0 && cleaner.Keep != nil {
		if report, err = cleaner.Keep(e, crash); err != nil {
			report = ""
		}
	}
	_ = os.Remove(path)
	return report
}

// forget removes the files of a container and lets go of its lock, which must be held.
func (r Registry) forget(id string, lock *os.File) error {
	var failed error
	for _, suffix := range []string{".new", ".sock", crashSuffix, ".json"} {
		if err := os.Remove(r.file(id, suffix)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = errors.Join(failed, err)
		}
	}
	removeLock(lock)
	return failed
}

// answerTimeout is how long a socket may take to accept a connection.
const answerTimeout = time.Second

// answers says whether a process listens on a socket.
func answers(socket string) bool {
	var conn net.Conn
	err := AtShortPath(socket, func(path string) (err error) {
		conn, err = net.DialTimeout("unix", path, answerTimeout)
		return err
	})
	if err != nil {
		return false
	}
	_ = conn.Close()
	return true
}
