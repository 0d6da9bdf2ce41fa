package operations

import (
	"context"
	"fmt"
	"sync"

	"coffer/app/session"
)

// jobs are the running operations, to be cancelled by number. Safe for concurrent use.
type jobs struct {
	mu      sync.Mutex
	next    uint64
	running map[uint64]context.CancelCauseFunc
}

// begin adds a job whose context ends when ctx does or it is cancelled. end takes it out again.
func (j *jobs) begin(ctx context.Context) (inner context.Context, id uint64, end func()) {
	inner, cancel := context.WithCancelCause(ctx)
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.running == nil {
		j.running = map[uint64]context.CancelCauseFunc{}
	}
	j.next++
	id = j.next
	j.running[id] = cancel
	return inner, id, func() {
		cancel(nil)
		j.mu.Lock()
		defer j.mu.Unlock()
		delete(j.running, id)
	}
}

// cancel ends one job; one that has ended is none any more.
func (j *jobs) cancel(id uint64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if cancel := j.running[id]; cancel != nil {
		cancel(errAsked)
	}
}

// errAsked is why a job ends that its client cancelled.
var errAsked = fmt.Errorf("interrupted: %w", context.Canceled)

// because is err, or the reason of a cancellation that err is: somebody asked for it, or else the container is being
// locked. (Of a client that went away nobody hears.)
func because(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	if problem := session.Explain(err); problem.Code != session.Interrupted {
		return err
	}
	if context.Cause(ctx) == errAsked {
		return errAsked
	}
	return &session.Error{Err: fmt.Errorf("the container is being locked: %w", context.Canceled), Code: session.Interrupted,
		Hint: "what was reported as durable is safe; unlock it again and repeat the command (a copy with --resume)"}
}
