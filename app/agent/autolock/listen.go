package autolock

import (
	"context"
	"errors"
	"time"
)

// How long to wait between attempts to reach the system's announcer.
const (
	firstReconnect = time.Second
	lastReconnect  = 5 * time.Minute
)

// listen passes the system's events on until ctx ends, then closes the channel. Where the announcer cannot be reached it
// tries again now and then. listening is told whenever that changes.
func listen(ctx context.Context, listening func(bool)) <-chan Event {
	return listenTo(ctx, connectSystem, listening)
}

// errForGood says that there is no use in trying again.
var errForGood = errors.New("this session announces nothing")

// announcer is a connection to whatever announces events.
type announcer interface {
	// serve passes events on until ctx ends (nil) or the connection breaks.
	serve(ctx context.Context, events chan<- Event) error
}

// listenTo is listen with a given way to connect. A system without announcer gives a nil announcer.
func listenTo(ctx context.Context, connect func(context.Context) (announcer, error), listening func(bool)) <-chan Event {
	events := make(chan Event)
	go func() {
		defer close(events)
		for wait := firstReconnect; ; wait = min(2*wait, lastReconnect) {
			a, err := connect(ctx)
			if a == nil && err == nil {
				return
			}
			if err == nil {
				wait = firstReconnect
				listening(true)
				err = a.serve(ctx, events)
				listening(false)
			}
			if err == nil || errors.Is(err, errForGood) || ctx.Err() != nil {
				return
			}
			select {
			case <-ctx.Done():
				return
			case <-time.After(wait):
			}
		}
	}()
	return events
}

// send passes an event on unless ctx ends.
func send(ctx context.Context, events chan<- Event, e Event) {
	select {
	case events <- e:
	case <-ctx.Done():
		e.done()
	}
}
