// Package autolock decides when an unlocked container locks by itself: after a time without use, after its lifetime,
// before the machine sleeps, when the screen is locked. It knows nothing of containers and mounts; the agent gives it a
// Drive to watch and to lock.
//
// Idle time is measured with the monotonic clock, so that setting the clock, a stopped process or a suspended
// machine neither lock a drive early nor keep it open. Lifetime also counts the time the machine sleeps.
//
// What systems announce, and how it reaches us without cgo:
//
//	Linux    suspend, shutdown (logind, with a delay inhibitor), screen lock (logind: Lock and LockedHint)
//	Windows  suspend, end of session, screen lock (messages to a hidden window)
//	others   nothing beforehand; that the machine slept is noticed after it woke, and locks then
package autolock

import (
	"context"
	"time"
)

// Options say when a drive locks by itself. The zero value never does.
type Options struct {
	// Idle is the time without use after which the drive locks; 0 is never. Reads, writes and opened files are use, and so
	// is, all the time, a file open for writing or a running job. A drive that programs hold otherwise, say by a
	// working directory, is not locked under them: it is tried again, and the Status says who holds it.
	Idle time.Duration
	// Lifetime is the time after which the drive locks whatever goes on; 0 is never. Programs that use it get errors;
	// everything they have written is kept.
	Lifetime time.Duration
	// Suspend locks before the machine sleeps, Screen when the session's screen is locked. A drive in use is only flushed,
	// unless Force is set.
	Suspend, Screen bool
	// Force locks on Suspend and Screen even if programs use the drive.
	Force bool
}

// Drive is what is watched. Methods may be called at any time, concurrently.
type Drive interface {
	// Activity tells about use. It must not count as use, nor wait for a disk.
	Activity() Activity
	// Flush makes everything written so far durable.
	Flush(ctx context.Context) error
	// Lock flushes, unmounts and begins the end of the process. Without force it fails while programs or jobs
	// use the drive, which stays as it is. nil means that the drive is locked.
	Lock(ctx context.Context, force bool) error
}

// Activity is how a drive is used.
type Activity struct {
	LastUse time.Time // with its monotonic reading
	Busy    bool      // a file is open for writing or a job runs
}

// Reason is why a drive locks.
type Reason string

// The reasons.
const (
	ReasonIdle     Reason = "idle"
	ReasonLifetime Reason = "lifetime"
	ReasonSuspend  Reason = "suspend"
	ReasonScreen   Reason = "screen"
	ReasonShutdown Reason = "shutdown"
)

// Status is the state of a Watcher, for people and programs.
type Status struct {
	IdleFor time.Duration // since the last use
	// LocksIn is the time until the next lock by idle time or lifetime; negative if none is to come.
	LocksIn time.Duration
	// Next is which of the two it is, "" if none.
	Next Reason
	// Held is why the last attempt to lock failed, nil if it did not or the drive was used since. It may name files: it
	// is for the screen, never for a log.
	Held error
	// HeldFor is what Held wanted to lock for.
	HeldFor Reason
	// Listening says whether the system announces suspend and screen locks to us.
	Listening bool
}
