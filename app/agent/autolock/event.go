package autolock

import (
	"errors"
	"sync"
)

// Kind is what the system announces.
type Kind int

// The kinds of events.
const (
	Suspend        Kind = iota + 1 // the machine is about to sleep
	Resume                         // it woke
	Shutdown                       // it is about to be switched off
	ScreenLocked                   // the screen of one of the user's sessions was locked
	ScreenUnlocked                 // and unlocked
)

// Event is one announcement. The system waits until Done has been called, if it is not nil, or until its patience ends.
type Event struct {
	Kind Kind
	Done func()
	// Last: the process will be ended without another word.
	Last bool
}

func (e Event) done() {
	if e.Done != nil {
		e.Done()
	}
}

// errBusy is why a drive that is being written to does not lock.
var errBusy = errors.New("files are being written or a job runs")

// once makes f harmless to call again.
func once(f func()) func() {
	var o sync.Once
	return func() { o.Do(f) }
}
