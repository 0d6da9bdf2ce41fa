package registry

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// HeldError says that another process holds the container.
type HeldError struct {
	PID   int   // 0 when not known
	Entry Entry // the zero Entry when its process has not written it yet
}

func (e *HeldError) Error() string {
	if e.PID == 0 {
		return "held by another process"
	}
	return fmt.Sprintf("held by process %d", e.PID)
}

// claimPatience is how long Claim waits while the lock is only held by somebody who cleans up after a dead process.
const claimPatience = 3 * time.Second

// Claim is the hold of this process on a container. It is safe for concurrent use.
type Claim struct {
	registry Registry

	mu       sync.Mutex
	lock     *os.File
	entry    Entry
	released bool
}

// Claim takes the container of the entry for this process and writes the entry. If another process has it the error is a
// *HeldError and comes at once. What a dead process left is cleaned up first, as in Sweep.
func (r Registry) Claim(e Entry, cleaner Cleaner) (*Claim, error) {
	e.Version, e.PID = Version, os.Getpid()
	for deadline := time.Now().Add(claimPatience); ; time.Sleep(10 * time.Millisecond) {
		lock, err := r.acquire(e.ID)
		if err == nil {
			claim, err := r.take(lock, e, cleaner)
			if errors.Is(err, errSwept) {
				continue
			}
			return claim, err
		}
		if !errors.Is(err, errLocked) {
			return nil, err
		}
		// The holder writes its process id a moment after it has the lock. A dead id means that the lock is held by
		// somebody who cleans up.
		pid := r.holder(e.ID)
		if pid != 0 && lives(pid) || time.Now().After(deadline) {
			held := &HeldError{PID: pid}
			if entry, err := r.read(e.ID); err == nil && entry.PID == pid {
				held.Entry = entry
			}
			return nil, held
		}
	}
}

// take completes a claim whose lock is held.
func (r Registry) take(lock *os.File, e Entry, cleaner Cleaner) (*Claim, error) {
	give := func(err error) (*Claim, error) {
		_ = lock.Close()
		return nil, err
	}
	if _, err := r.read(e.ID); !errors.Is(err, fs.ErrNotExist) {
		if left, _ := r.sweepHeld(e.ID, lock, cleaner); left.Err != nil {
			return give(fmt.Errorf("clean up after process %d: %w", left.PID, left.Err))
		}
		return give(errSwept)
	}
	if err := errors.Join(lock.Truncate(0), writeAt(lock, strconv.Itoa(e.PID))); err != nil {
		return give(fmt.Errorf("write the lock: %w", err))
	}
	c := &Claim{registry: r, lock: lock, entry: e}
	if err := r.write(e); err != nil {
		return nil, errors.Join(err, r.forget(e.ID, lock))
	}
	return c, nil
}

// errSwept: something was cleaned up, the lock file with it; try again.
var errSwept = errors.New("cleaned up")

func writeAt(f *os.File, text string) error {
	_, err := f.WriteAt([]byte(text), 0)
	return err
}

// errLocked: another process has the lock.
var errLocked = errors.New("locked by another process")

// acquire takes the lock of a container. The file may be removed by its holder between our opening and locking it; then
// the lock is worth nothing and is tried again on the file that is there now.
func (r Registry) acquire(id string) (*os.File, error) {
	for {
		lock, err := os.OpenFile(r.file(id, ".lock"), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, fmt.Errorf("open the lock: %w", err)
		}
		if err := tryLock(lock, false); err != nil {
			_ = lock.Close()
			return nil, err
		}
		mine, err := lock.Stat()
		if err != nil {
			_ = lock.Close()
			return nil, fmt.Errorf("look at the lock: %w", err)
		}
		if there, err := os.Lstat(r.file(id, ".lock")); err == nil && os.SameFile(mine, there) {
			return lock, nil
		}
		_ = lock.Close()
	}
}

// holder is the process id in a lock file, 0 when there is none yet.
func (r Registry) holder(id string) int {
	raw, err := os.ReadFile(r.file(id, ".lock"))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil || pid < 1 {
		return 0
	}
	return pid
}

// Entry is the entry as last written.
func (c *Claim) Entry() Entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.entry
}

// Socket is the path of the control socket that belongs to the claim.
func (c *Claim) Socket() string { return c.registry.Socket(c.Entry().ID) }

// CrashFile is where the holder of the claim may let the runtime write why it ended. It is removed with the claim; of a
// process that left it behind with something in it, Sweep passes it on.
func (c *Claim) CrashFile() string { return c.registry.file(c.Entry().ID, crashSuffix) }

// Update changes the entry and writes it. After Release it does nothing.
func (c *Claim) Update(change func(*Entry)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.released {
		return nil
	}
	e := c.entry
	change(&e)
	if err := c.registry.write(e); err != nil {
		return err
	}
	c.entry = e
	return nil
}

// Heal takes the lock and writes the entry again if something (a cleaner of old files, the end of a login session) has
// removed them. It says whether the socket is still there.
func (c *Claim) Heal() (socketThere bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := os.Mkdir(c.registry.folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return false, err
	}
	mine, err := c.lock.Stat()
	if err != nil {
		return false, err
	}
	if there, err := os.Lstat(c.registry.file(c.entry.ID, ".lock")); err != nil || !os.SameFile(mine, there) {
		lock, err := c.registry.acquire(c.entry.ID)
		if err != nil {
			return false, err
		}
		_ = c.lock.Close()
		c.lock = lock
		if err := writeAt(lock, strconv.Itoa(c.entry.PID)); err != nil {
			return false, err
		}
	}
	if _, err := os.Lstat(c.registry.file(c.entry.ID, ".json")); errors.Is(err, fs.ErrNotExist) {
		if err := c.registry.write(c.entry); err != nil {
			return false, err
		}
	}
	_, err = os.Lstat(c.registry.Socket(c.entry.ID))
	return !errors.Is(err, fs.ErrNotExist), nil
}

// Release removes the files and lets go of the container.
func (c *Claim) Release() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.released = true
	return c.registry.forget(c.entry.ID, c.lock)
}
