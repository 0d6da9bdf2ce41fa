// Package jobs is the queue of the copy jobs of one agent: what package protocol promises of them (protocol.JobsPrefix).
//
// A job belongs to the agent, not to who started it. One copies at a time, in the order in which they came. While it waits,
// copies or is paused it counts as an operation on the container. A job that asks does not: nothing is written yet, nobody
// knows when the answer will come, and neither the jobs behind it nor the auto-lock wait for that. Once it is answered it is
// first in the queue again, by its age.
//
// # Locks
//
// Queue.mu guards the queue and all jobs in it and is held for moments only, never while a copy is looked at or made. Taken
// under it: the locks of the agent (Host.Begin and its end) and of transfer.Control.
package jobs

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"coffer/app/protocol"
	"coffer/app/session"
	"coffer/transfer"
	"coffer/transfer/report"
)

// Host is the agent as the queue sees it.
type Host interface {
	// Begin notes that a copy uses the container until end is called. ctx ends when the container is locked by force.
	Begin() (ctx context.Context, end func(), err error)
	// Plan looks at a copy and writes nothing. ctx ends with the copy.
	Plan(ctx context.Context, c protocol.CopyJob, h Hands) (Planned, error)
}

// Hands are what a copy is held by and what it tells.
type Hands struct {
	Control *transfer.Control
	Event   func(transfer.Event)
	Remark  func(string) // something a person should know
}

// Planned is a copy that was looked at. It is run, or closed.
type Planned interface {
	Found() Found
	Run(ctx context.Context) (*report.Record, error)
	Close()
}

// Found is what a look at a copy has shown.
type Found struct {
	Files, Bytes int64
	Problems     []report.Problem // what is known to fail or be left out, by name; some of very many
	Dropped      int64            // problems beyond these
	Failed       map[string]int64 // counts of what is known to fail, by reason
	NoRoom       bool             // it does not fit: running it only says so
}

// Bounds of what a queue remembers.
const (
	maxEnded    = 100  // jobs that have ended
	maxOpen     = 1000 // jobs that have not
	maxProblems = 1000 // of one job, by name
	maxNotes    = 50
	maxListed   = 20 // problems of one job in a listing
	maxExamples = 5
)

// settlePatience is how long a request waits for what it asked for: that a copy stands still, or has ended.
const settlePatience = 2 * time.Second

// Queue holds the jobs of one agent. Make it with New; safe for concurrent use.
type Queue struct {
	host     Host
	patience time.Duration

	mu      sync.Mutex
	last    uint64 // number of the latest job
	jobs    []*job // by number
	current *job   // the one that copies, or looks at what it will copy
}

// New makes an empty queue.
func New(host Host) *Queue { return &Queue{host: host, patience: settlePatience} }

// job is one copy job. Its fields are guarded by Queue.mu.
type job struct {
	id      uint64
	copy    protocol.CopyJob  // as it was asked for
	state   protocol.JobState // never JobPaused: control knows that
	queued  time.Time
	started time.Time
	ended   time.Time
	control *transfer.Control

	ctx    context.Context // while it counts as an operation
	cancel context.CancelFunc
	end    func()
	done   chan struct{} // closed when it has ended

	existing   string // what happens to existing files, once that is known
	split      bool
	skipTooBig bool
	questions  []protocol.Question

	event    transfer.Event // the latest that tells how far it is
	files    int64          // to copy, and their bytes, after a look
	bytes    int64
	notes    []string
	problems []report.Problem
	dropped  int64
	problem  *protocol.Problem
	record   *report.Record
}

// Start puts a job at the end of the queue.
func (q *Queue) Start(c protocol.CopyJob) (*protocol.Job, error) {
	if err := check(&c); err != nil {
		return nil, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	open := 0
	for _, j := range q.jobs {
		if !j.state.Ended() {
			open++
		}
	}
	if open >= maxOpen {
		return nil, &session.Error{What: "copy", Err: fmt.Errorf("%d copies are waiting already", open), Hint: "wait until some of them are done, or cancel them"}
	}
	j := &job{copy: c, queued: time.Now(), control: &transfer.Control{}, done: make(chan struct{}), existing: c.Existing, split: c.Split}
	if err := q.beginLocked(j); err != nil {
		return nil, err
	}
	q.last++
	j.id = q.last
	q.jobs = append(q.jobs, j)
	q.advanceLocked()
	return j.shown(0), nil
}

// beginLocked makes a job wait for its turn, which counts as an operation.
func (q *Queue) beginLocked(j *job) error {
	ctx, end, err := q.host.Begin()
	if err != nil {
		return err
	}
	j.ctx, j.cancel = context.WithCancel(ctx)
	stop := context.AfterFunc(j.ctx, func() { q.cancelled(j) })
	j.end = func() {
		stop()
		j.cancel()
		end()
	}
	j.state = protocol.JobWaiting
	return nil
}

// cancelled ends a job that waits and is not wanted any more.
func (q *Queue) cancelled(j *job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if j.state == protocol.JobWaiting {
		q.finishLocked(j, protocol.JobCancelled)
	}
}

// advanceLocked begins the next job if none is under way.
func (q *Queue) advanceLocked() {
	if q.current != nil {
		return
	}
	for _, j := range q.jobs {
		if j.state == protocol.JobWaiting && j.ctx.Err() == nil {
			q.current, j.state = j, protocol.JobPlanning
			if j.started.IsZero() {
				j.started = time.Now()
			}
			go q.work(j, j.ctx, j.request())
			return
		}
	}
}

// finishLocked ends a job, and forgets the oldest of too many that have ended.
func (q *Queue) finishLocked(j *job, as protocol.JobState) {
	j.state, j.ended, j.questions = as, time.Now(), nil
	if j.end != nil {
		j.end()
		j.end = nil
	}
	close(j.done)
	ended := 0
	for _, other := range q.jobs {
		if other.state.Ended() {
			ended++
		}
	}
	for ; ended > maxEnded; ended-- {
		oldest := slices.IndexFunc(q.jobs, func(j *job) bool { return j.state.Ended() })
		q.jobs = slices.Delete(q.jobs, oldest, oldest+1)
	}
}

// List returns all jobs, oldest first, without their windows and with few of their problems: it is asked for often.
func (q *Queue) List() []*protocol.Job {
	q.mu.Lock()
	defer q.mu.Unlock()
	all := []*protocol.Job{}
	for _, j := range q.jobs {
		shown := j.shown(math.MaxInt)
		if more := len(shown.Problems) - maxListed; more > 0 {
			shown.Problems, shown.Dropped = shown.Problems[:maxListed], shown.Dropped+int64(more)
		}
		all = append(all, shown)
	}
	return all
}

// Show returns a job with its windows from the number asked for on.
func (q *Queue) Show(s protocol.JobShow) (*protocol.Job, error) {
	if s.From < 0 {
		return nil, &session.Error{What: named(s.ID), Err: fmt.Errorf("there is no window %d", s.From), Code: session.Usage}
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	j, err := q.findLocked(s.ID)
	if err != nil {
		return nil, err
	}
	return j.shown(s.From), nil
}

// named begins a sentence about a job.
func named(id uint64) string { return fmt.Sprintf("copy job %d", id) }

func (q *Queue) findLocked(id uint64) (*job, error) {
	for _, j := range q.jobs {
		if j.id == id {
			return j, nil
		}
	}
	return nil, &session.Error{What: named(id), Err: errors.New("there is none of this number; it may have been forgotten"), Code: session.Usage}
}

// Pause stops a job that copies, or looks at what it will copy. It returns once all of it stands still, if that does not take
// long.
func (q *Queue) Pause(id uint64) (*protocol.Job, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	j, err := q.underWayLocked(id, "pause")
	if err != nil {
		return nil, err
	}
	j.control.Pause()
	return q.settleLocked(j, j.control.Still()), nil
}

// Resume goes on with a job that was paused.
func (q *Queue) Resume(id uint64) (*protocol.Job, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	j, err := q.underWayLocked(id, "resume")
	if err != nil {
		return nil, err
	}
	j.control.Resume()
	return j.shown(0), nil
}

func (q *Queue) underWayLocked(id uint64, verb string) (*job, error) {
	j, err := q.findLocked(id)
	if err == nil && j != q.current {
		err = &session.Error{What: verb + " " + named(id), Err: errors.New(stateWords[j.state])}
	}
	return j, err
}

// stateWords say why something cannot be asked of a job.
var stateWords = map[protocol.JobState]string{
	protocol.JobWaiting: "it has not begun yet", protocol.JobPlanning: "it looks at what it will copy", protocol.JobAsking: "it waits for answers",
	protocol.JobRunning: "it is copying", protocol.JobDone: "it is done", protocol.JobPartly: "it is done", protocol.JobFailed: "it has failed",
	protocol.JobCancelled: "it was cancelled",
}

// settleLocked waits for something to happen to a job, or for its end, without holding the lock, and returns how it is then.
func (q *Queue) settleLocked(j *job, happened <-chan struct{}) *protocol.Job {
	q.mu.Unlock()
	patience := time.NewTimer(q.patience)
	select {
	case <-happened:
	case <-j.done:
	case <-patience.C:
	}
	patience.Stop()
	q.mu.Lock()
	return j.shown(0)
}

// Cancel ends a job; what was durable stays. It returns once the job has ended, if that does not take long.
func (q *Queue) Cancel(id uint64) (*protocol.Job, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	j, err := q.findLocked(id)
	switch {
	case err != nil:
		return nil, err
	case j.state.Ended():
		return nil, &session.Error{What: "cancel " + named(id), Err: errors.New(stateWords[j.state])}
	case j == q.current:
		j.cancel()
		return q.settleLocked(j, nil), nil
	}
	q.finishLocked(j, protocol.JobCancelled)
	return j.shown(0), nil
}

// Forget takes a job that has ended off the list.
func (q *Queue) Forget(id uint64) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	j, err := q.findLocked(id)
	if err != nil {
		return err
	}
	if !j.state.Ended() {
		return &session.Error{What: "forget " + named(id), Err: errors.New(stateWords[j.state]), Hint: "cancel it first"}
	}
	q.jobs = slices.DeleteFunc(q.jobs, func(other *job) bool { return other == j })
	return nil
}

// Wait waits for the job that is under way to end, or for ctx.
func (q *Queue) Wait(ctx context.Context) {
	q.mu.Lock()
	j := q.current
	q.mu.Unlock()
	if j == nil {
		return
	}
	select {
	case <-j.done:
	case <-ctx.Done():
	}
}
