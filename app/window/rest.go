package window

import (
	"context"
	"sync/atomic"
	"time"

	"fyne.io/fyne/v2"
	"github.com/go-gl/glfw/v3.3/glfw"
)

// The toolkit looks for events 60 times a second whether there are any or not, which alone takes one percent of a processor
// for as long as the window is open. A rester lets its loop sleep while nobody touches anything: the loop runs a function that
// waits for the next event of the display, which is then served at once.
//
// What the toolkit does by its own clocks (the blinking of a cursor) happens between two rests only; an animation begins
// with an event, or with something that is posted, and no rest begins for a while after an event.

const (
	restLength  = 400 * time.Millisecond  // one wait, at most: how late a clock of the toolkit can be noticed
	restBetween = 40 * time.Millisecond   // enough for the loop to look around and draw twice
	restAfter   = 1500 * time.Millisecond // after an event, longer than any animation
)

// rester makes the loop of the toolkit rest. Everything that the window posts goes through post, which ends a rest.
type rester struct {
	do   func(func())        // runs something on the toolkit's goroutine, later
	wait func(time.Duration) // on that goroutine, for the next event of the display
	wake func()              // ends it

	resting atomic.Bool
	posted  atomic.Int64 // functions on their way
}

// idle is that of this process.
var idle = &rester{
	do:   fyne.Do,
	wait: func(most time.Duration) { glfw.WaitEventsTimeout(most.Seconds()) },
	wake: glfw.PostEmptyEvent,
}

// post runs something on the toolkit's goroutine, soon. It can be called from any goroutine.
func (r *rester) post(something func()) {
	r.posted.Add(1)
	r.do(func() {
		r.posted.Add(-1)
		something()
	})
	if r.resting.Load() { // if not, the rest that begins just now sees what was posted
		r.wake()
	}
}

// run lets the loop rest, again and again, until ctx ends.
func (r *rester) run(ctx context.Context) {
	pause := time.NewTimer(restAfter)
	defer pause.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-pause.C:
		}
		touched := make(chan bool, 1)
		r.do(func() { touched <- r.rest() })
		select {
		case <-ctx.Done(): // the loop may have ended with the function in its queue
			return
		case again := <-touched:
			pause.Reset(restBetween)
			if again {
				pause.Reset(restAfter)
			}
		}
	}
}

// rest waits, on the toolkit's goroutine, for an event of the display or something posted; touched: it was an event.
func (r *rester) rest() (touched bool) {
	r.resting.Store(true)
	defer r.resting.Store(false)
	if r.posted.Load() > 0 {
		return false
	}
	began := time.Now()
	r.wait(restLength)
	return r.posted.Load() == 0 && time.Since(began) < restLength-time.Millisecond
}
