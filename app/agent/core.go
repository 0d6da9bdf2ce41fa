package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"coffer/app/agent/autolock"
	"coffer/app/agent/jobs"
	"coffer/app/agent/operations"
	"coffer/app/agent/registry"
	"coffer/app/session"
	"coffer/vfs"
)

// core is an unlocked container and all that happens to it. Handlers and background work share it.
type core struct {
	settings   Settings
	detached   bool // from the terminal: nobody reads what this process writes
	claim      *registry.Claim
	listener   net.Listener       // of the control socket
	http       *http.Server       // answers on it
	device     *session.Device    // the open container
	session    *session.Session   // its file system; nil with Settings.Raw
	mount      *vfs.Mount         // nil without a drive
	operations *operations.Server // made with the routes
	copies     *jobs.Queue        // made with the routes
	log        func(event string, err error)
	began      time.Time // with its monotonic clock

	auto *autolock.Watcher // locks by itself
	rank courtesy          // of what it computes

	used  atomic.Int64 // last use that did not come through the drive, in ns since began
	meter meter

	locking sync.Mutex  // one attempt to lock at a time
	forced  atomic.Bool // a forced one has begun or waits for its turn
	mu      sync.Mutex
	jobs    map[*job]struct{}
	closing bool          // no new jobs
	locked  chan struct{} // closed when the container is locked
	lockErr error         // what went wrong then; set before locked is closed
	warning string        // what a person should know, for Status

	copyingMu sync.Mutex
	copying   int // copy jobs that wait or are under way
}

// job is an operation that a client asked for and that is not done yet.
type job struct {
	what    string // "copy", "ls", ...
	pid     int    // of the client, 0 when not known
	started time.Time
	cancel  context.CancelFunc
	done    chan struct{}
}

// errLocking refuses new operations while a container is being locked.
var errLocking = errors.New("the container is being locked")

// begin notes that an operation begins: it counts as use until end is called, and ctx ends when the container is locked by
// force.
func (c *core) begin(parent context.Context, what string, pid int) (ctx context.Context, end func(), err error) {
	ctx, cancel := context.WithCancel(parent)
	j := &job{what: what, pid: pid, started: time.Now(), cancel: cancel, done: make(chan struct{})}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closing {
		cancel()
		return nil, nil, &session.Error{What: what, Err: errLocking, Code: session.InUse}
	}
	c.jobs[j] = struct{}{}
	c.touch()
	return ctx, func() {
		cancel()
		c.mu.Lock()
		delete(c.jobs, j)
		c.mu.Unlock()
		c.touch()
		close(j.done)
	}, nil
}

// touch notes that the container was used just now.
func (c *core) touch() { c.used.Store(int64(time.Since(c.began))) }

// running is the number of operations under way.
func (c *core) running() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.jobs)
}

// warn leaves a remark that Status shows; "" takes it back.
func (c *core) warn(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.warning = text
}

// named is the image as the person wrote it.
func (c *core) named() string { return c.settings.Named }

// Limits of the steps of a forced lock: together below five seconds, unless the disk needs longer to take what was written.
// jobPatience is also how long an unforced lock waits for operations.
const (
	jobPatience     = 1 * time.Second
	unmountPatience = 2500 * time.Millisecond
)

// lock writes everything down, takes the drive away and forgets the key; then the process ends. Without force it fails
// with exit code 5, and nothing changes, when a program or an operation is in the way. With force operations are cancelled
// and the drive is taken from the programs that use it; what they have written is kept. It returns when all is done. After
// the container is locked every call returns the result of the first.
func (c *core) lock(ctx context.Context, force bool, reason string) error {
	if force {
		c.forced.Store(true)
	}
	c.locking.Lock()
	defer c.locking.Unlock()
	select {
	case <-c.locked:
		return c.lockErr
	default:
	}
	err := c.stopJobs(ctx, force)
	if err == nil {
		err = c.unmount(ctx, force)
	}
	if err != nil && !force {
		c.mu.Lock()
		c.closing = false
		c.mu.Unlock()
		return err
	}
	if err = joinCauses(err, c.close()); err != nil {
		c.lockErr = &session.Error{What: "lock " + c.named(), Err: fmt.Errorf("it is locked, but not everything could be written down: %w", err)}
	}
	c.log("locked: "+reason, c.lockErr)
	close(c.locked)
	return c.lockErr
}

// joinCauses joins the errors of two steps, but for a second one whose cause the first has told: a file system that could not
// write something goes on saying so.
func joinCauses(first, second error) error {
	if first != nil && second != nil && strings.Contains(first.Error(), cause(second)) {
		return first
	}
	return errors.Join(first, second)
}

// cause is the text of what is at the bottom of an error.
func cause(err error) string {
	for {
		switch below := err.(type) {
		case interface{ Unwrap() error }:
			if next := below.Unwrap(); next != nil {
				err = next
				continue
			}
		case interface{ Unwrap() []error }:
			if all := below.Unwrap(); len(all) > 0 {
				err = all[len(all)-1]
				continue
			}
		}
		return err.Error()
	}
}

// stopJobs lets no new operation begin and waits for the end of those that run; with force they are cancelled. Without, one
// that goes on for longer is in the way; with force the file system refuses it once it is closed.
func (c *core) stopJobs(ctx context.Context, force bool) error {
	c.mu.Lock()
	c.closing = true
	running := make([]*job, 0, len(c.jobs))
	for j := range c.jobs {
		running = append(running, j)
		if force {
			j.cancel()
		}
	}
	c.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, jobPatience)
	defer cancel()
	for _, j := range running {
		select {
		case <-j.done:
		case <-ctx.Done():
			if force {
				return nil
			}
			return c.inTheWay(j)
		}
	}
	return nil
}

// inTheWay refuses to lock because of an operation.
func (c *core) inTheWay(j *job) error {
	who := ""
	if j.pid != 0 {
		who = fmt.Sprintf(" of process %d", j.pid)
	}
	return &session.Error{What: "lock " + c.named(), Code: session.InUse,
		Err:  fmt.Errorf("%s%s is running, since %s", j.what, who, j.started.Format(time.TimeOnly)),
		Hint: "wait until it is done, or add --force: it is cancelled, and what it has finished stays"}
}

// close ends the use of the container. It takes as long as the disk needs: giving up would lose what was written.
func (c *core) close() error {
	if c.session != nil {
		return c.session.Close()
	}
	return c.device.Close()
}
