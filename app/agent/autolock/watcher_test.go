package autolock

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// fakeDrive is a drive in memory.
type fakeDrive struct {
	mu       sync.Mutex
	last     time.Time
	busy     bool
	holder   error         // what an unforced lock answers
	broken   error         // what every lock answers
	flushes  int           // begun
	flushFor time.Duration // how long a flush takes
	lockFor  time.Duration
	attempts []bool // forced or not
	locked   time.Time
}

func (d *fakeDrive) set(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
}

func (d *fakeDrive) use() { d.set(func() { d.last = time.Now() }) }

func (d *fakeDrive) Activity() Activity {
	d.mu.Lock()
	defer d.mu.Unlock()
	return Activity{d.last, d.busy}
}

func (d *fakeDrive) Flush(ctx context.Context) error {
	d.mu.Lock()
	d.flushes++
	wait := d.flushFor
	d.mu.Unlock()
	time.Sleep(wait) // a disk that hangs knows no context
	return nil
}

func (d *fakeDrive) Lock(ctx context.Context, force bool) error {
	d.mu.Lock()
	wait := d.lockFor
	d.attempts = append(d.attempts, force)
	d.mu.Unlock()
	time.Sleep(wait)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.broken != nil {
		return d.broken
	}
	if !force && d.holder != nil {
		return d.holder
	}
	d.locked = time.Now()
	return nil
}

// bench runs a watcher in fake time.
type bench struct {
	t       *testing.T
	drive   *fakeDrive
	watcher *Watcher
	events  chan Event
	start   time.Time
	asleep  atomic.Int64 // time the machine was asleep, in ns
	notices []Reason
	failed  []error
	cancel  func()
	done    chan bool
}

// run tests f with a watcher, inside a bubble of fake time.
func run(t *testing.T, o Options, f func(*bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{t: t, drive: &fakeDrive{last: time.Now()}, events: make(chan Event), start: time.Now(), done: make(chan bool, 1)}
		b.watcher = newWatcher(b.drive, o, func(r Reason, err error) {
			b.notices, b.failed = append(b.notices, r), append(b.failed, err)
		}, func() time.Duration { return time.Since(b.start) + time.Duration(b.asleep.Load()) })
		ctx, cancel := context.WithCancel(t.Context())
		b.cancel = cancel
		go func() { b.done <- b.watcher.run(ctx, b.events) }()
		f(b)
		cancel()
		synctest.Wait()
		select {
		case <-b.done:
		default:
			t.Error("the watcher does not end")
		}
	})
}

// after waits and lets everything settle.
func (b *bench) after(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// sleep puts the machine to sleep: no timer runs meanwhile.
func (b *bench) sleep(d time.Duration) { b.asleep.Add(int64(d)) }

// lockedAt is when the drive was locked, from the start; -1 if it is not.
func (b *bench) lockedAt() time.Duration {
	b.drive.mu.Lock()
	defer b.drive.mu.Unlock()
	if b.drive.locked.IsZero() {
		return -1
	}
	return b.drive.locked.Sub(b.start)
}

func (b *bench) wantLocked(at, slack time.Duration) {
	b.t.Helper()
	if got := b.lockedAt(); got < at || got > at+slack {
		b.t.Errorf("locked at %v, want %v to %v", got, at, at+slack)
	}
}

func (b *bench) wantOpen() {
	b.t.Helper()
	if got := b.lockedAt(); got >= 0 {
		b.t.Errorf("locked at %v, want open", got)
	}
}

// tell passes an event on and returns how long the system was held up.
func (b *bench) tell(kind Kind, last bool) time.Duration {
	b.t.Helper()
	done := make(chan struct{})
	began := time.Now()
	b.events <- Event{Kind: kind, Last: last, Done: once(func() { close(done) })}
	<-done
	synctest.Wait()
	return time.Since(began)
}

func TestIdle(t *testing.T) {
	run(t, Options{Idle: 10 * time.Minute}, func(b *bench) {
		b.after(9 * time.Minute)
		b.drive.use()
		b.after(9*time.Minute + 59*time.Second)
		b.wantOpen()
		s := b.watcher.Status()
		if s.Next != ReasonIdle || s.LocksIn != time.Second || s.IdleFor != 10*time.Minute-time.Second {
			t.Errorf("status %+v", s)
		}
		b.after(2 * time.Second)
		b.wantLocked(19*time.Minute, time.Second)
		if !slices.Equal(b.drive.attempts, []bool{false}) {
			t.Errorf("attempts %v, want one, not forced", b.drive.attempts)
		}
	})
}

// TestBusyIsNotIdle: a file open for writing or a job that runs keeps the drive open; afterwards the whole idle time counts.
func TestBusyIsNotIdle(t *testing.T) {
	run(t, Options{Idle: time.Minute}, func(b *bench) {
		b.drive.set(func() { b.drive.busy = true })
		b.after(time.Hour)
		b.wantOpen()
		b.drive.set(func() { b.drive.busy, b.drive.last = false, time.Now() })
		b.after(59 * time.Second)
		b.wantOpen()
		b.after(2 * time.Second)
		b.wantLocked(time.Hour+time.Minute, time.Second)
	})
}

// TestIdleHeld: a program that only holds the drive delays the lock, is named, and the lock comes when it lets go.
func TestIdleHeld(t *testing.T) {
	held := errors.New("sh (pid 7) is in /mnt")
	run(t, Options{Idle: time.Minute}, func(b *bench) {
		b.drive.set(func() { b.drive.holder = held })
		b.after(10 * time.Minute)
		b.wantOpen()
		if s := b.watcher.Status(); !errors.Is(s.Held, held) || s.HeldFor != ReasonIdle {
			t.Errorf("status %+v, want the holder", s)
		}
		if len(b.notices) != 1 {
			t.Errorf("%d notices of one holder, want 1", len(b.notices))
		}
		if n := len(b.drive.attempts); n < 10 || n > 40 || slices.Contains(b.drive.attempts, true) {
			t.Errorf("attempts %v in nine minutes", b.drive.attempts)
		}
		b.drive.use()
		if s := b.watcher.Status(); s.Held != nil {
			t.Errorf("held %v although the drive was used since", s.Held)
		}
		b.after(5 * time.Minute)
		b.drive.set(func() { b.drive.holder = nil })
		b.after(31 * time.Second)
		b.wantLocked(15*time.Minute, 31*time.Second)
	})
}

func TestLifetimeIsHard(t *testing.T) {
	run(t, Options{Idle: time.Hour, Lifetime: 2 * time.Hour}, func(b *bench) {
		b.drive.set(func() { b.drive.busy, b.drive.holder = true, errors.New("busy") })
		b.after(2*time.Hour - time.Second)
		b.wantOpen()
		b.after(2 * time.Second)
		b.wantLocked(2*time.Hour, time.Second)
		if !slices.Equal(b.drive.attempts, []bool{true}) {
			t.Errorf("attempts %v, want one, forced", b.drive.attempts)
		}
	})
}

// TestLifetimeRetries: a lock that fails is repeated, with pauses.
func TestLifetimeRetries(t *testing.T) {
	run(t, Options{Lifetime: time.Minute}, func(b *bench) {
		b.drive.set(func() { b.drive.broken = errors.New("disk fell out") })
		b.after(10 * time.Minute)
		if n := len(b.drive.attempts); n < 10 || n > 60 {
			t.Errorf("%d attempts in nine minutes", n)
		}
		b.drive.set(func() { b.drive.broken = nil })
		b.after(31 * time.Second)
		b.wantLocked(10*time.Minute, 31*time.Second)
	})
}

// TestLifetimeCountsSleep: time asleep counts for the lifetime, not for idle time.
func TestLifetimeCountsSleep(t *testing.T) {
	run(t, Options{Idle: time.Hour, Lifetime: 8 * time.Hour}, func(b *bench) {
		b.after(30 * time.Minute)
		b.sleep(7 * time.Hour) // timers stand still meanwhile
		b.after(20 * time.Second)
		b.wantOpen()
		b.drive.use()
		b.sleep(30 * time.Minute)
		b.after(pollTime)
		if got := b.lockedAt(); got < 30*time.Minute+20*time.Second || got > 30*time.Minute+20*time.Second+pollTime {
			t.Errorf("locked at %v of time awake, want soon after the lifetime was over", got)
		}
	})
}

func TestSuspend(t *testing.T) {
	run(t, Options{Suspend: true}, func(b *bench) {
		b.drive.set(func() { b.drive.lockFor = time.Second })
		if d := b.tell(Suspend, false); d != time.Second {
			t.Errorf("suspend was held up for %v, want 1 s", d)
		}
		b.wantLocked(time.Second, 0)
		if b.drive.flushes != 1 {
			t.Errorf("%d flushes", b.drive.flushes)
		}
	})
}

// TestSuspendNeverHangs: whatever hangs, the machine sleeps after two seconds.
func TestSuspendNeverHangs(t *testing.T) {
	for name, hang := range map[string]func(*fakeDrive){
		"flush": func(d *fakeDrive) { d.flushFor = time.Hour },
		"lock":  func(d *fakeDrive) { d.lockFor = time.Hour },
	} {
		t.Run(name, func(t *testing.T) {
			run(t, Options{Suspend: true}, func(b *bench) {
				b.drive.set(func() { hang(b.drive) })
				if d := b.tell(Suspend, false); d != flushTime {
					t.Errorf("suspend was held up for %v, want %v", d, flushTime)
				}
				b.wantOpen()
				b.after(2 * time.Hour)
				if name == "lock" && b.lockedAt() < 0 {
					t.Error("the lock that took long was never finished")
				}
			})
		})
	}
}

// TestSuspendInUse: a drive in use is flushed and stays, unless force was chosen.
func TestSuspendInUse(t *testing.T) {
	for _, c := range []struct {
		name  string
		o     Options
		busy  bool
		held  bool
		locks bool
	}{
		{"job", Options{Suspend: true}, true, false, false},
		{"program", Options{Suspend: true}, false, true, false},
		{"job, forced", Options{Suspend: true, Force: true}, true, false, true},
		{"program, forced", Options{Suspend: true, Force: true}, false, true, true},
		{"not wanted", Options{Idle: 100 * time.Hour}, false, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			run(t, c.o, func(b *bench) {
				b.drive.set(func() { b.drive.busy = c.busy })
				if c.held {
					b.drive.set(func() { b.drive.holder = errors.New("held") })
				}
				b.tell(Suspend, false)
				if b.drive.flushes != 1 {
					t.Errorf("%d flushes, want 1", b.drive.flushes)
				}
				if locked := b.lockedAt() >= 0; locked != c.locks {
					t.Errorf("locked %v, want %v", locked, c.locks)
				}
				if c.locks {
					return
				}
				if s := b.watcher.Status(); (s.Held != nil) != (c.o.Suspend) {
					t.Errorf("status %+v", s)
				}
				b.sleep(time.Hour)
				b.tell(Resume, false)
				b.after(time.Minute)
				b.wantOpen() // it is not taken away from somebody who is back
				if s := b.watcher.Status(); s.Held != nil {
					t.Errorf("still held after waking: %+v", s)
				}
			})
		})
	}
}

// TestSleepNoticedLate: without an announcer the drive is locked after waking; a jump of the clock is no sleep.
func TestSleepNoticedLate(t *testing.T) {
	run(t, Options{Suspend: true}, func(b *bench) {
		b.after(time.Hour)
		b.wantOpen()
		b.sleep(time.Minute)
		b.after(pollTime)
		b.wantLocked(time.Hour, pollTime)
	})
	run(t, Options{Suspend: true}, func(b *bench) {
		b.watcher.setListening(true)
		b.sleep(time.Minute)
		b.after(time.Minute)
		b.wantOpen()
	})
}

func TestScreen(t *testing.T) {
	run(t, Options{Screen: true}, func(b *bench) {
		b.tell(ScreenLocked, false)
		b.wantLocked(0, 0)
	})
	run(t, Options{Suspend: true}, func(b *bench) {
		b.tell(ScreenLocked, false)
		b.after(time.Hour)
		b.wantOpen()
	})
}

// TestScreenHeld: while the screen stays locked, the drive locks as soon as nobody holds it; once it is unlocked, no more.
func TestScreenHeld(t *testing.T) {
	run(t, Options{Screen: true}, func(b *bench) {
		b.drive.set(func() { b.drive.busy = true })
		b.tell(ScreenLocked, false)
		b.after(10 * time.Minute)
		b.wantOpen()
		if s := b.watcher.Status(); s.Held == nil || s.HeldFor != ReasonScreen {
			t.Errorf("status %+v", s)
		}
		b.drive.set(func() { b.drive.busy = false })
		b.after(31 * time.Second)
		b.wantLocked(10*time.Minute, 31*time.Second)
	})
	run(t, Options{Screen: true}, func(b *bench) {
		b.drive.set(func() { b.drive.busy = true })
		b.tell(ScreenLocked, false)
		b.tell(ScreenUnlocked, false)
		b.drive.set(func() { b.drive.busy = false })
		b.after(time.Hour)
		b.wantOpen()
	})
}

// TestShutdown: flushed, and locked by force only where nothing else will end us.
func TestShutdown(t *testing.T) {
	run(t, Options{}, func(b *bench) {
		b.tell(Shutdown, false)
		b.wantOpen()
		if b.drive.flushes != 1 {
			t.Errorf("%d flushes", b.drive.flushes)
		}
	})
	run(t, Options{}, func(b *bench) {
		b.drive.set(func() { b.drive.busy, b.drive.holder = true, errors.New("held") })
		b.tell(Shutdown, true)
		b.wantLocked(0, 0)
	})
}

func TestNothingToDo(t *testing.T) {
	run(t, Options{}, func(b *bench) {
		b.sleep(1000 * time.Hour)
		b.after(1000 * time.Hour)
		b.wantOpen()
		if s := b.watcher.Status(); s.LocksIn >= 0 || s.Next != "" {
			t.Errorf("status %+v", s)
		}
	})
}
