package transfer

import (
	"context"
	"sync"
	"time"

	"coffer/transfer/rate"
)

// Control is a hold on one job from outside: it stops the job for a while, and tells how fast it is. The zero value is ready;
// give it to Job.Control before the job is planned. All methods may be called concurrently, at any time.
//
// A job that is stopped stands still at the next block or file of each of its workers, with no lock held: its volumes can be
// used by others. It can be cancelled. The time for which all of it stands still does not count: not in its rates, windows
// and seconds, and the record tells it apart (report.Record.PausedSeconds). What was copied before goes on becoming durable.
type Control struct {
	mu       sync.Mutex
	pause    chan struct{} // closed by Pause; nil until somebody waits for it
	resume   chan struct{} // closed by Resume; nil: not paused
	still    chan struct{} // while paused: closed once nobody works
	working  int           // goroutines of the job that are at work
	since    time.Time     // since when it stands still; zero: it does not
	stood    time.Duration // how long it stood still before
	recorder *rate.Recorder
}

// Pause stops the job. One that is stopped already stays so.
func (c *Control) Pause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.resume != nil {
		return
	}
	c.resume, c.still = make(chan struct{}), make(chan struct{})
	if c.pause != nil {
		close(c.pause)
	}
	c.restLocked()
}

// Resume lets the job go on.
func (c *Control) Resume() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.resume == nil {
		return
	}
	close(c.resume)
	c.resume, c.still, c.pause = nil, nil, nil
	c.goOnLocked()
}

// Paused tells whether the job is stopped, or stopping.
func (c *Control) Paused() bool {
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.resume != nil
}

// Still is closed as soon as a job that was stopped stands still; nil while it is not stopped.
func (c *Control) Still() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.still
}

// Rates are how fast the job copies, with its windows from number from on; the zero value before it copies.
func (c *Control) Rates(from int) rate.Progress {
	c.mu.Lock()
	r := c.recorder
	c.mu.Unlock()
	if r == nil {
		return rate.Progress{}
	}
	return r.Progress(from)
}

// watch makes a recorder the one that Rates asks.
func (c *Control) watch(r *rate.Recorder) {
	if c != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.recorder = r
	}
}

// enter says that a goroutine of the job begins to work, leave that it ends or waits for others of them.
func (c *Control) enter() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.working++
	c.goOnLocked()
}

func (c *Control) leave() {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.working--
	c.restLocked()
}

// restLocked begins to stand still if everybody does.
func (c *Control) restLocked() {
	if c.resume == nil || c.working > 0 || !c.since.IsZero() {
		return
	}
	c.since = time.Now()
	select {
	case <-c.still: // it stood before, and somebody woke up for a moment
	default:
		close(c.still)
	}
}

// goOnLocked ends standing still.
func (c *Control) goOnLocked() {
	if !c.since.IsZero() {
		c.stood += time.Since(c.since)
		c.since = time.Time{}
	}
}

// pass is what each goroutine that entered comes by between blocks: it waits there while the job is stopped.
func (c *Control) pass(ctx context.Context) error {
	if c.Paused() {
		c.leave()
		c.wait(ctx)
		c.enter()
		if ctx.Err() != nil {
			return errInterrupted
		}
	}
	return nil
}

// wait waits while the job is stopped, or until ctx ends: for who works for others that entered.
func (c *Control) wait(ctx context.Context) {
	if c == nil {
		return
	}
	for ctx.Err() == nil {
		c.mu.Lock()
		resume := c.resume
		c.mu.Unlock()
		if resume == nil {
			return
		}
		select {
		case <-resume:
		case <-ctx.Done():
		}
	}
}

// pausing is closed when the job is stopped.
func (c *Control) pausing() <-chan struct{} {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pause == nil {
		c.pause = make(chan struct{})
		if c.resume != nil {
			close(c.pause)
		}
	}
	return c.pause
}

// stoodStill is how long the job has stood still so far.
func (c *Control) stoodStill() time.Duration {
	if c == nil {
		return 0
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.since.IsZero() {
		return c.stood
	}
	return c.stood + time.Since(c.since)
}

// clock is now without the time for which the job stood still. While it stands it is the same moment for everybody: two readings
// of now, one for the clock and one for how long it stands, would be some nanoseconds apart, and rates would shimmer.
func (c *Control) clock(now func() time.Time) func() time.Time {
	if c == nil {
		return now
	}
	return func() time.Time {
		c.mu.Lock()
		defer c.mu.Unlock()
		at := c.since
		if at.IsZero() {
			at = now()
		}
		return at.Add(-c.stood)
	}
}

// stopwatch measures how long a job runs, without the time for which it stands still.
type stopwatch struct {
	control *Control
	start   time.Time
	stood   time.Duration // at the start
}

func startWatch(c *Control) stopwatch { return stopwatch{c, time.Now(), c.stoodStill()} }

// read is how long the job has run since the start.
func (w stopwatch) read() time.Duration { return max(time.Since(w.start)-w.stoodStill(), 0) }

// stoodStill is how long it has stood still since the start.
func (w stopwatch) stoodStill() time.Duration { return w.control.stoodStill() - w.stood }
