package autolock

import (
	"context"
	"sync"
	"time"
)

const (
	// flushTime is how long a machine that is about to sleep waits for us, at most. logind itself waits for 5 s.
	flushTime = 2 * time.Second
	// pollTime is how often time is looked at that timers do not count: they stand still while the machine sleeps.
	pollTime = 10 * time.Second
	// retryTime is the longest time between attempts to lock a drive that is held.
	retryTime = 30 * time.Second
	// sleepGap is how much longer than the monotonic clock the machine must have been up to have slept.
	sleepGap = 5 * time.Second
)

// Watcher locks one drive when its time has come.
type Watcher struct {
	drive  Drive
	o      Options
	uptime func() time.Duration // since boot, sleep included
	born   time.Duration        // uptime when it began
	notice func(Reason, error)

	// Used by Run only.
	lastBusy  time.Time     // when the drive was last seen busy
	retryAt   time.Time     // no attempt for idle time or screen before this
	tries     int           // attempts since the drive was used
	endAt     time.Time     // no attempt for the lifetime before this
	screenOff bool          // the screen is locked and the drive should be
	skew      time.Duration // uptime less monotonic clock, as last seen
	locking   bool          // an attempt runs
	outcomes  chan outcome  // of attempts

	mu        sync.Mutex
	held      error
	heldFor   Reason
	heldAt    time.Time // last use when the attempt failed
	listening bool
}

// outcome is how an attempt to lock ended.
type outcome struct {
	reason Reason
	err    error
}

// New makes a watcher for drive; its lifetime begins now. notice, if not nil, is told of every attempt to lock: the reason
// and, if it failed, the error, which may name files.
func New(drive Drive, o Options, notice func(Reason, error)) *Watcher {
	return newWatcher(drive, o, notice, uptime)
}

func newWatcher(drive Drive, o Options, notice func(Reason, error), uptime func() time.Duration) *Watcher {
	if notice == nil {
		notice = func(Reason, error) {}
	}
	return &Watcher{drive: drive, o: o, notice: notice, uptime: uptime, born: uptime(), outcomes: make(chan outcome, 1)}
}

// Run watches until the drive is locked (true) or ctx ends (false). The system's events are listened to as long: also
// a drive that is not to be locked is flushed before the machine sleeps.
func (w *Watcher) Run(ctx context.Context) (locked bool) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	return w.run(ctx, listen(ctx, w.setListening))
}

func (w *Watcher) isListening() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.listening
}

func (w *Watcher) setListening(yes bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.listening = yes
}

// run is Run over given events; nil gives none.
func (w *Watcher) run(ctx context.Context, events <-chan Event) (locked bool) {
	w.skew = w.currentSkew()
	for {
		timer := time.NewTimer(w.wait())
		select {
		case <-ctx.Done():
			timer.Stop()
			return false
		case e, ok := <-events:
			timer.Stop()
			if !ok {
				events = nil
				continue
			}
			locked = w.handle(ctx, e)
		case out := <-w.outcomes:
			timer.Stop()
			locked = w.settle(out)
		case <-timer.C:
			w.look(ctx)
		}
		if locked {
			return true
		}
	}
}

// idleFor is the time since the last use.
func (w *Watcher) idleFor(a Activity) time.Duration {
	if a.Busy {
		w.lastBusy = time.Now()
	}
	last := a.LastUse
	if w.lastBusy.After(last) {
		last = w.lastBusy
	}
	return max(time.Since(last), 0)
}

// left is the rest of the lifetime.
func (w *Watcher) left() time.Duration { return w.o.Lifetime - (w.uptime() - w.born) }

// wait is how long nothing can happen by itself.
func (w *Watcher) wait() time.Duration {
	wait := time.Hour
	if w.locking {
		return wait
	}
	if w.o.Idle > 0 {
		d := w.o.Idle - w.idleFor(w.drive.Activity())
		if d <= 0 {
			d = time.Until(w.retryAt)
		}
		wait = min(wait, d)
	}
	if w.screenOff {
		wait = min(wait, time.Until(w.retryAt))
	}
	if w.o.Lifetime > 0 {
		wait = min(wait, max(w.left(), time.Until(w.endAt)), pollTime)
	}
	if w.o.Suspend {
		wait = min(wait, pollTime)
	}
	return max(wait, time.Millisecond)
}

// look locks if it is time to.
func (w *Watcher) look(ctx context.Context) {
	slept := w.slept()
	if w.locking {
		return
	}
	if w.o.Lifetime > 0 && w.left() <= 0 && !time.Now().Before(w.endAt) {
		w.attempt(ctx, ReasonLifetime, true)
		return
	}
	if slept && w.o.Suspend && !w.isListening() {
		w.lock(ctx, ReasonSuspend, w.o.Force) // nobody told us before: late is better than never
		return
	}
	if time.Now().Before(w.retryAt) {
		return
	}
	switch {
	case w.screenOff:
		w.lock(ctx, ReasonScreen, w.o.Force)
	case w.o.Idle > 0 && w.idleFor(w.drive.Activity()) >= w.o.Idle:
		w.attempt(ctx, ReasonIdle, false)
	default:
		w.tries = 0
	}
}

// slept says whether the machine was asleep since the last call. Setting the clock does not count: neither of the two
// clocks follows it.
func (w *Watcher) slept() bool {
	skew := w.currentSkew()
	gap := skew - w.skew
	w.skew = skew
	return gap >= sleepGap
}

// currentSkew is how far the uptime is ahead of the monotonic clock, from some fixed point.
func (w *Watcher) currentSkew() time.Duration { return w.uptime() - time.Since(epoch) }

// epoch is a point in time with a monotonic reading.
var epoch = time.Now()

// handle answers an event of the system.
func (w *Watcher) handle(ctx context.Context, e Event) (locked bool) {
	defer e.done()
	switch e.Kind {
	case Suspend:
		return w.rest(ctx, ReasonSuspend, w.o.Suspend, w.o.Force)
	case Shutdown:
		// Programs save their work now. Where we are told to end with them (TERM), nothing is taken from them before.
		return w.rest(ctx, ReasonShutdown, e.Last, true)
	case Resume:
		w.skew = w.currentSkew()
		w.clearHeld(ReasonSuspend)
	case ScreenLocked:
		if w.o.Screen {
			w.screenOff = true
			w.lock(ctx, ReasonScreen, w.o.Force)
		}
	case ScreenUnlocked:
		w.screenOff = false
		w.clearHeld(ReasonScreen)
	}
	return false
}

// rest flushes, and locks if asked to, within the time the system gives. It returns in time also if the disk does not.
func (w *Watcher) rest(parent context.Context, reason Reason, lock, force bool) (locked bool) {
	ctx, cancel := context.WithTimeout(parent, flushTime)
	defer cancel()
	flushed := make(chan error, 1)
	go func() { flushed <- w.drive.Flush(ctx) }()
	select {
	case err := <-flushed:
		if err != nil || !lock {
			w.notice(reason, err)
		}
	case <-ctx.Done():
		w.notice(reason, ctx.Err())
		return false
	}
	if !lock {
		return false
	}
	w.lock(parent, reason, force)
	for w.locking {
		select {
		case out := <-w.outcomes:
			if locked = w.settle(out); locked {
				return true
			}
		case <-ctx.Done():
			return false // it goes on by itself, after the machine woke if need be
		}
	}
	return false
}

// lock locks for an event. A job that runs, or a file that is being written, holds the drive as a program does.
func (w *Watcher) lock(ctx context.Context, reason Reason, force bool) {
	if !force && w.drive.Activity().Busy {
		w.fail(reason, errBusy)
		return
	}
	w.attempt(ctx, reason, force)
}

// attempt begins to lock, unless an attempt runs. It takes as long as the disk needs for what is not written yet; the
// outcome goes to settle.
func (w *Watcher) attempt(ctx context.Context, reason Reason, force bool) {
	if w.locking {
		return
	}
	w.locking = true
	go func() { w.outcomes <- outcome{reason, w.drive.Lock(ctx, force)} }()
}

// settle takes the outcome of an attempt.
func (w *Watcher) settle(out outcome) (locked bool) {
	w.locking = false
	if out.err != nil {
		w.fail(out.reason, out.err)
		return false
	}
	w.notice(out.reason, nil)
	return true
}

// fail remembers that the drive could not be locked and when to try again.
func (w *Watcher) fail(reason Reason, err error) {
	w.tries++
	wait := time.Second << min(w.tries-1, 5)
	if w.o.Idle > 0 {
		wait = min(wait, w.o.Idle)
	}
	w.retryAt = time.Now().Add(min(wait, retryTime))
	if reason == ReasonLifetime {
		w.endAt = w.retryAt
	}
	last := w.drive.Activity().LastUse
	w.mu.Lock()
	told := w.held != nil && w.heldFor == reason && w.held.Error() == err.Error()
	w.held, w.heldFor, w.heldAt = err, reason, last
	w.mu.Unlock()
	if !told {
		w.notice(reason, err)
	}
}

// clearHeld forgets that the drive could not be locked for a reason that is gone.
func (w *Watcher) clearHeld(reason Reason) {
	w.tries, w.retryAt = 0, time.Time{}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.heldFor == reason {
		w.held, w.heldFor = nil, ""
	}
}

// Status tells what is to come. It may be called at any time.
func (w *Watcher) Status() Status {
	a := w.drive.Activity()
	s := Status{LocksIn: -1}
	if !a.Busy {
		s.IdleFor = max(time.Since(a.LastUse), 0)
	}
	if w.o.Idle > 0 {
		s.LocksIn, s.Next = max(w.o.Idle-s.IdleFor, 0), ReasonIdle
	}
	if left := max(w.left(), 0); w.o.Lifetime > 0 && (s.Next == "" || left < s.LocksIn) {
		s.LocksIn, s.Next = left, ReasonLifetime
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	s.Listening = w.listening
	if w.held != nil && (w.heldFor != ReasonIdle || !a.LastUse.After(w.heldAt)) {
		s.Held, s.HeldFor = w.held, w.heldFor
	}
	return s
}
