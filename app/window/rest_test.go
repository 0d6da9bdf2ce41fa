package window

import (
	"context"
	"sync/atomic"
	"testing"
	"time"
)

// loop is a toolkit's loop: it runs what is posted, one after the other, in a goroutine.
type loop struct {
	queue  chan func()
	events chan struct{} // of the display; one that comes while nobody waits is kept, as a display keeps it
	waits  atomic.Int64
}

func newLoop(t *testing.T) (*loop, *rester) {
	l := &loop{queue: make(chan func(), 1000), events: make(chan struct{}, 1000)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for f := range l.queue {
			f()
		}
	}()
	t.Cleanup(func() {
		close(l.queue)
		<-done
	})
	return l, &rester{do: func(f func()) { l.queue <- f }, wake: func() { l.events <- struct{}{} }, wait: func(most time.Duration) {
		l.waits.Add(1)
		select {
		case <-l.events:
		case <-time.After(most):
		}
	}}
}

// on runs something on the loop and waits for its answer.
func (l *loop) on(f func() bool) bool {
	answer := make(chan bool)
	l.queue <- func() { answer <- f() }
	return <-answer
}

func TestRestEndsWithAnEvent(t *testing.T) {
	l, r := newLoop(t)
	l.events <- struct{}{}
	if !l.on(r.rest) {
		t.Error("an event of the display did not count as one")
	}
	if l.on(r.rest) {
		t.Error("a rest without an event counted as one with")
	}
}

// TestPostEndsRest: whatever is posted, at whatever moment, does not wait for the end of a rest.
func TestPostEndsRest(t *testing.T) {
	l, r := newLoop(t)
	r.wait = func(time.Duration) { // a rest that nobody ends lasts for ever
		l.waits.Add(1)
		<-l.events
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	resting := make(chan struct{})
	go func() {
		defer close(resting)
		for ctx.Err() == nil { // without a pause between: as many encounters as possible
			done := make(chan struct{})
			l.queue <- func() {
				r.rest()
				close(done)
			}
			<-done
		}
	}()
	for range 20_000 {
		ran := make(chan struct{})
		r.post(func() { close(ran) })
		select {
		case <-ran:
		case <-ctx.Done():
			t.Fatal("something posted was not run")
		}
	}
	cancel()
	for ended := false; !ended; { // the last rest
		r.post(func() {})
		select {
		case <-resting:
			ended = true
		case <-time.After(time.Millisecond):
		}
	}
	if l.waits.Load() == 0 {
		t.Error("it never rested")
	}
}

// TestRunEnds: the end of the window does not wait for a loop that has ended already.
func TestRunEnds(t *testing.T) {
	r := &rester{do: func(func()) {}, wake: func() {}, wait: func(time.Duration) {}}
	ctx, cancel := context.WithTimeout(t.Context(), restAfter+100*time.Millisecond)
	defer cancel()
	r.run(ctx)
}
