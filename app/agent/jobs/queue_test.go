package jobs

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"coffer/app/protocol"
	"coffer/app/session"
	"coffer/transfer"
	"coffer/transfer/report"
)

// host is an agent whose copies do what a test says.
type host struct {
	t       *testing.T
	mu      sync.Mutex
	locking bool
	force   context.CancelFunc // ends all operations
	forced  context.Context
	begun   int // operations
	ended   int
	plan    func(ctx context.Context, c protocol.CopyJob, h Hands) (Planned, error)
}

func newHost(t *testing.T) *host {
	h := &host{t: t}
	h.forced, h.force = context.WithCancel(t.Context())
	return h
}

// Begin implements Host.
func (h *host) Begin() (context.Context, func(), error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.locking {
		return nil, nil, &session.Error{What: "copy", Err: errors.New("the container is being locked"), Code: session.InUse}
	}
	h.begun++
	return h.forced, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.ended++
	}, nil
}

// running is the number of operations under way.
func (h *host) running() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.begun - h.ended
}

// Plan implements Host.
func (h *host) Plan(ctx context.Context, c protocol.CopyJob, hands Hands) (Planned, error) {
	return h.plan(ctx, c, hands)
}

// copying is a copy of a test.
type copying struct {
	found Found
	run   func(ctx context.Context) (*report.Record, error)
}

func (c *copying) Found() Found                                    { return c.found }
func (c *copying) Run(ctx context.Context) (*report.Record, error) { return c.run(ctx) }
func (c *copying) Close()                                          {}
func record(problems ...report.Problem) *report.Record {
	r := &report.Record{Outcome: report.Done, Files: 3, Bytes: 300, Problems: problems, Skipped: map[string]int64{}, Failed: map[string]int64{}}
	for _, p := range problems {
		r.Failed[p.Reason]++
	}
	r.Rates.Average, r.Rates.Maximum, r.Rates.Minimum, r.Rates.WindowSeconds, r.Rates.Series = 5, 9, 1, 0.25, []float64{1, 9}
	return r
}

// script is a copy that waits at gates a test opens.
type script struct {
	planning, running chan struct{} // received from before it goes on
	mu                sync.Mutex
	order             []string // what ran, by destination
}

// on makes the copies of a host follow a script.
func (s *script) on(h *host) {
	s.planning, s.running = make(chan struct{}), make(chan struct{})
	h.plan = func(ctx context.Context, c protocol.CopyJob, _ Hands) (Planned, error) {
		if err := await(ctx, s.planning); err != nil {
			return nil, err
		}
		return &copying{found: Found{Files: 3, Bytes: 300}, run: func(ctx context.Context) (*report.Record, error) {
			s.mu.Lock()
			s.order = append(s.order, c.Destination)
			s.mu.Unlock()
			if err := await(ctx, s.running); err != nil {
				r := record()
				r.Outcome = report.Cancelled
				return r, err
			}
			return record(), nil
		}}, nil
	}
}

func await(ctx context.Context, gate chan struct{}) error {
	select {
	case <-gate:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// in is a job that copies in.
func in(to string) protocol.CopyJob {
	return protocol.CopyJob{Sources: []string{"/host/a"}, Destination: to, ToInside: true}
}

// must is a job that a request returns.
func must(t *testing.T) func(*protocol.Job, error) *protocol.Job {
	return func(j *protocol.Job, err error) *protocol.Job {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
}

// until waits for a job to be in a state.
func until(t *testing.T, q *Queue, id uint64, state protocol.JobState) *protocol.Job {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; runtime.Gosched() {
		j, err := q.Show(protocol.JobShow{ID: id})
		if err != nil {
			t.Fatal(err)
		}
		if j.State == state {
			return j
		}
		if time.Now().After(deadline) {
			t.Fatalf("job %d is %s, not %s: %+v", id, j.State, state, j.Problem)
		}
	}
}

func states(q *Queue) string {
	var all []string
	for _, j := range q.List() {
		all = append(all, string(j.State))
	}
	return strings.Join(all, " ")
}

func TestOneAtATimeInOrder(t *testing.T) {
	h := newHost(t)
	var s script
	s.on(h)
	q := New(h)
	ok := must(t)
	for _, to := range []string{"/1", "/2", "/3"} {
		ok(q.Start(in(to)))
	}
	if got := states(q); got != "planning waiting waiting" || h.running() != 3 {
		t.Fatalf("%s, %d operations", got, h.running())
	}
	s.planning <- struct{}{}
	until(t, q, 1, protocol.JobRunning)
	if j := ok(q.Cancel(2)); j.State != protocol.JobCancelled || j.Record != nil {
		t.Errorf("%+v", j)
	}
	s.running <- struct{}{}
	j := until(t, q, 1, protocol.JobDone)
	if j.Record == nil || j.Files != 3 || j.Bytes != 300 || j.Average != 5 || j.Maximum != 9 || j.Minimum != 1 || j.WindowSeconds != 0.25 ||
		!slices.Equal(j.Windows, []float64{1, 9}) || j.Started.IsZero() || j.Ended.Before(j.Started) || j.Problem != nil {
		t.Errorf("%+v", j)
	}
	if j := ok(q.Show(protocol.JobShow{ID: 1, From: 1})); !slices.Equal(j.Windows, []float64{9}) {
		t.Errorf("windows from 1 on: %v", j.Windows)
	}
	if j := ok(q.Show(protocol.JobShow{ID: 1, From: 7})); len(j.Windows) != 0 {
		t.Errorf("windows from 7 on: %v", j.Windows)
	}
	if j := q.List()[0]; len(j.Windows) != 0 {
		t.Errorf("windows in a listing: %v", j.Windows)
	}
	s.planning <- struct{}{}
	s.running <- struct{}{}
	until(t, q, 3, protocol.JobDone)
	if got := strings.Join(s.order, " "); got != "/1 /3" {
		t.Errorf("copied %s", got)
	}
	if h.running() != 0 {
		t.Errorf("%d operations are left", h.running())
	}
}

func TestCancel(t *testing.T) {
	h := newHost(t)
	var s script
	s.on(h)
	q := New(h)
	ok := must(t)
	ok(q.Start(in("/planning")))
	if j := ok(q.Cancel(1)); j.State != protocol.JobCancelled || j.Record != nil || j.Problem != nil {
		t.Errorf("while planning: %+v", j)
	}
	ok(q.Start(in("/running")))
	s.planning <- struct{}{}
	until(t, q, 2, protocol.JobRunning)
	if j := ok(q.Cancel(2)); j.State != protocol.JobCancelled || j.Record == nil || j.Problem != nil {
		t.Errorf("while running: %+v", j)
	}
	if h.running() != 0 {
		t.Errorf("%d operations are left", h.running())
	}
}

// TestForcedLockEndsAll: the context of the operations ends, and with it all jobs.
func TestForcedLockEndsAll(t *testing.T) {
	h := newHost(t)
	var s script
	s.on(h)
	q := New(h)
	ok := must(t)
	for range 3 {
		ok(q.Start(in("/x")))
	}
	s.planning <- struct{}{}
	until(t, q, 1, protocol.JobRunning)
	ok(q.Pause(1))
	h.force()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	q.Wait(ctx)
	for id := range uint64(3) {
		until(t, q, id+1, protocol.JobCancelled)
	}
	if h.running() != 0 {
		t.Errorf("%d operations are left", h.running())
	}
	h.locking = true
	if _, err := q.Start(in("/y")); err == nil || session.Explain(err).Code != session.InUse {
		t.Errorf("while locking: %v", err)
	}
}

func TestPauseAndResume(t *testing.T) {
	h := newHost(t)
	q := New(h)
	q.patience = time.Millisecond
	var control *transfer.Control
	var s script
	s.on(h)
	plan := h.plan
	h.plan = func(ctx context.Context, c protocol.CopyJob, hands Hands) (Planned, error) {
		control = hands.Control
		hands.Event(transfer.Event{Kind: transfer.EventProgress, Stage: transfer.StageScan, Files: 2, Bytes: 20})
		return plan(ctx, c, hands)
	}
	ok := must(t)
	ok(q.Start(in("/1")))
	ok(q.Start(in("/2")))
	if _, err := q.Pause(2); err == nil || !strings.Contains(err.Error(), "not begun") {
		t.Errorf("a waiting job was paused: %v", err)
	}
	if _, err := q.Resume(2); err == nil {
		t.Error("a waiting job was resumed")
	}
	s.planning <- struct{}{}
	until(t, q, 1, protocol.JobRunning)
	if j := ok(q.Pause(1)); j.State != protocol.JobPaused || !control.Paused() || j.Current != 0 {
		t.Errorf("%+v", j)
	}
	ok(q.Pause(1)) // twice is once
	if got := states(q); got != "paused waiting" {
		t.Error(got)
	}
	if j := ok(q.Resume(1)); j.State != protocol.JobRunning || control.Paused() {
		t.Errorf("%+v", j)
	}
	ok(q.Pause(1))
	if j := ok(q.Cancel(1)); j.ID != 1 {
		t.Errorf("%+v", j)
	}
	until(t, q, 1, protocol.JobCancelled)
	if _, err := q.Pause(1); err == nil || !strings.Contains(err.Error(), "cancelled") {
		t.Errorf("a job that has ended was paused: %v", err)
	}
	if _, err := q.Resume(1); err == nil {
		t.Error("a job that has ended was resumed")
	}
	if _, err := q.Cancel(1); err == nil {
		t.Error("a job that has ended was cancelled")
	}
}

// asker plans copies that find what exists and is too big unless they are told what to do.
func asker(h *host, exist, tooBig int64, ran *protocol.CopyJob) {
	h.plan = func(_ context.Context, c protocol.CopyJob, hands Hands) (Planned, error) {
		hands.Remark("dates are odd")
		found := Found{Files: 9, Bytes: 90, Failed: map[string]int64{}}
		fail := func(n int64, reason string) {
			for i := range n {
				found.Problems = append(found.Problems, report.Problem{Name: fmt.Sprint(reason, " ", i), Reason: reason, Failed: true})
				found.Failed[reason]++
			}
		}
		if c.Existing == protocol.ExistingAsk {
			fail(exist, transfer.ReasonExists)
		}
		if !c.Split {
			fail(tooBig, transfer.ReasonTooBig)
		}
		return &copying{found: found, run: func(context.Context) (*report.Record, error) {
			*ran = c
			return record(found.Problems...), nil
		}}, nil
	}
}

func TestQuestions(t *testing.T) {
	h := newHost(t)
	var ran protocol.CopyJob
	asker(h, 7, 2, &ran)
	q := New(h)
	ok := must(t)
	ok(q.Start(in("/1")))
	j := until(t, q, 1, protocol.JobAsking)
	if len(j.Questions) != 2 || j.Questions[0].Kind != protocol.QuestionExists || j.Questions[0].Files != 7 || len(j.Questions[0].Examples) != 5 ||
		j.Questions[0].Examples[0] != "exists 0" || j.Questions[1].Kind != protocol.QuestionTooBig || j.Questions[1].Files != 2 || len(j.Questions[1].Examples) != 2 {
		t.Fatalf("%+v", j.Questions)
	}
	if ran.Destination != "" || h.running() != 0 {
		t.Error("something was copied, or the container is in use, before the answers")
	}
	for _, wrong := range []map[string]string{{"exists": "burn"}, {"exists": "ask"}, {"colour": "red"}, {"exists": "skip", "too-big": "fold"}} {
		if _, err := q.Answer(protocol.JobAnswer{ID: 1, Answers: wrong}); err == nil || session.Explain(err).Code != session.Usage {
			t.Errorf("%v: %v", wrong, err)
		}
	}
	until(t, q, 1, protocol.JobAsking)
	h.locking = true
	if _, err := q.Answer(protocol.JobAnswer{ID: 1, Answers: map[string]string{"exists": "newer", "too-big": "split"}}); err == nil {
		t.Error("answered while the container was being locked")
	}
	h.locking = false
	ok(q.Answer(protocol.JobAnswer{ID: 1, Answers: map[string]string{"exists": "newer", "too-big": "split"}}))
	j = until(t, q, 1, protocol.JobDone)
	if ran.Existing != protocol.ExistingNewer || !ran.Split || len(j.Questions) != 0 || len(j.Notes) != 1 {
		t.Errorf("%+v ran as %+v", j, ran)
	}
	if _, err := q.Answer(protocol.JobAnswer{ID: 1}); err == nil {
		t.Error("a job that is done was answered")
	}
}

// TestSkippedIsNotAskedAgain, and is told.
func TestSkippedIsNotAskedAgain(t *testing.T) {
	h := newHost(t)
	var ran protocol.CopyJob
	asker(h, 0, 2, &ran)
	q := New(h)
	ok := must(t)
	ok(q.Start(in("/1")))
	until(t, q, 1, protocol.JobAsking)
	ok(q.Answer(protocol.JobAnswer{ID: 1, Answers: map[string]string{"too-big": "skip"}}))
	if j := until(t, q, 1, protocol.JobPartly); len(j.Problems) != 2 || ran.Split {
		t.Errorf("%+v", j)
	}
}

func TestNoAnswerCancels(t *testing.T) {
	h := newHost(t)
	var ran protocol.CopyJob
	asker(h, 1, 1, &ran)
	q := New(h)
	ok := must(t)
	ok(q.Start(in("/1")))
	until(t, q, 1, protocol.JobAsking)
	if j := ok(q.Answer(protocol.JobAnswer{ID: 1, Answers: map[string]string{"exists": "skip"}})); j.State != protocol.JobCancelled || len(j.Questions) != 0 {
		t.Errorf("%+v", j)
	}
	ok(q.Start(in("/2")))
	until(t, q, 2, protocol.JobAsking)
	if j := ok(q.Cancel(2)); j.State != protocol.JobCancelled {
		t.Errorf("%+v", j)
	}
	if ran.Destination != "" {
		t.Error("something was copied")
	}
}

// TestAskingLetsOthersGo, and is first again once it is answered.
func TestAskingLetsOthersGo(t *testing.T) {
	h := newHost(t)
	var ran protocol.CopyJob
	asker(h, 1, 0, &ran)
	asks := h.plan
	var s script
	s.on(h)
	runs := h.plan
	h.plan = func(ctx context.Context, c protocol.CopyJob, hands Hands) (Planned, error) {
		if c.Destination == "/asks" && c.Existing == protocol.ExistingAsk {
			return asks(ctx, c, hands)
		}
		return runs(ctx, c, hands)
	}
	q := New(h)
	ok := must(t)
	for _, to := range []string{"/asks", "/2", "/3"} {
		ok(q.Start(in(to)))
	}
	until(t, q, 1, protocol.JobAsking)
	s.planning <- struct{}{}
	until(t, q, 2, protocol.JobRunning)
	if j := ok(q.Answer(protocol.JobAnswer{ID: 1, Answers: map[string]string{"exists": "replace"}})); j.State != protocol.JobWaiting {
		t.Errorf("answered, and %s", j.State)
	}
	s.running <- struct{}{}
	s.planning <- struct{}{}
	until(t, q, 1, protocol.JobRunning)
	s.running <- struct{}{}
	s.planning <- struct{}{}
	s.running <- struct{}{}
	until(t, q, 3, protocol.JobDone)
	if got := strings.Join(s.order, " "); got != "/2 /asks /3" {
		t.Errorf("copied %s", got)
	}
}

// TestNoRoomIsNotAsked: no answer would help.
func TestNoRoomIsNotAsked(t *testing.T) {
	h := newHost(t)
	h.plan = func(context.Context, protocol.CopyJob, Hands) (Planned, error) {
		return &copying{found: Found{NoRoom: true, Failed: map[string]int64{transfer.ReasonExists: 1}}, run: func(context.Context) (*report.Record, error) {
			return record(), &session.Error{What: "copy", Err: errors.New("no room"), Code: session.NoSpace, Hint: "make some"}
		}}, nil
	}
	q := New(h)
	must(t)(q.Start(in("/1")))
	if j := until(t, q, 1, protocol.JobFailed); j.Problem == nil || j.Problem.Code != protocol.NoSpace || j.Problem.Hint != "make some" || j.Record == nil {
		t.Errorf("%+v", j)
	}
}

func TestFailures(t *testing.T) {
	h := newHost(t)
	q := New(h)
	ok := must(t)
	h.plan = func(context.Context, protocol.CopyJob, Hands) (Planned, error) {
		return nil, errors.New("no such folder")
	}
	ok(q.Start(in("/1")))
	if j := until(t, q, 1, protocol.JobFailed); j.Problem.Sentence != "no such folder" {
		t.Errorf("%+v", j.Problem)
	}
	h.plan = func(context.Context, protocol.CopyJob, Hands) (Planned, error) {
		panic("broken at a.img:/private/name")
	}
	ok(q.Start(in("/2")))
	if j := until(t, q, 2, protocol.JobFailed); !strings.Contains(j.Problem.Sentence, "internal error") || strings.Contains(j.Problem.Sentence, "private") {
		t.Errorf("%+v", j.Problem)
	}
	var many []report.Problem
	for i := range maxProblems + 5 {
		many = append(many, report.Problem{Name: fmt.Sprint(i), Reason: "x", Failed: true})
	}
	h.plan = func(context.Context, protocol.CopyJob, Hands) (Planned, error) {
		return &copying{run: func(context.Context) (*report.Record, error) { return record(many...), nil }}, nil
	}
	ok(q.Start(in("/3")))
	if j := until(t, q, 3, protocol.JobPartly); len(j.Problems) != maxProblems || j.Dropped != 5 {
		t.Errorf("%d problems, %d dropped", len(j.Problems), j.Dropped)
	}
	if j := q.List()[2]; len(j.Problems) != maxListed || j.Dropped != maxProblems+5-maxListed {
		t.Errorf("in a listing: %d problems, %d dropped", len(j.Problems), j.Dropped)
	}
}

// TestHowFar: what the events say while it goes on.
func TestHowFar(t *testing.T) {
	h := newHost(t)
	var s script
	s.on(h)
	plan := h.plan
	var hands Hands
	got := make(chan struct{})
	h.plan = func(ctx context.Context, c protocol.CopyJob, given Hands) (Planned, error) {
		hands = given
		close(got)
		return plan(ctx, c, given)
	}
	q := New(h)
	ok := must(t)
	ok(q.Start(in("/1")))
	<-got
	hands.Event(transfer.Event{Kind: transfer.EventProgress, Stage: transfer.StageScan, Files: 2, Bytes: 20})
	if j := ok(q.Show(protocol.JobShow{ID: 1})); j.Stage != "scan" || j.Files != 0 || j.Bytes != 0 || j.TotalFiles != 2 || j.TotalBytes != 20 {
		t.Errorf("planning: %+v", j)
	}
	s.planning <- struct{}{}
	if j := until(t, q, 1, protocol.JobRunning); j.Files != 0 || j.TotalFiles != 3 || j.TotalBytes != 300 {
		t.Errorf("before the first event: %+v", j)
	}
	hands.Event(transfer.Event{Kind: transfer.EventProgress, Stage: transfer.StageCopy, Files: 1, Bytes: 100, TotalFiles: 3, TotalBytes: 300, Remaining: 4 * time.Second})
	hands.Event(transfer.Event{Kind: transfer.EventFailed, Stage: transfer.StageCopy, Problem: &report.Problem{Name: "b", Reason: "vanished", Failed: true}})
	if j := ok(q.Show(protocol.JobShow{ID: 1})); j.Stage != "copy" || j.Files != 1 || j.Bytes != 100 || j.TotalBytes != 300 || j.RemainingSeconds != 4 || len(j.Problems) != 1 {
		t.Errorf("copying: %+v", j)
	}
	s.running <- struct{}{}
	if j := until(t, q, 1, protocol.JobDone); j.Stage != "" || j.RemainingSeconds != 0 || j.Current != 0 || j.Bytes != 300 || j.TotalBytes != 300 {
		t.Errorf("done: %+v", j)
	}
}

func TestOldestEndedAreForgotten(t *testing.T) {
	h := newHost(t)
	h.plan = func(context.Context, protocol.CopyJob, Hands) (Planned, error) { return nil, errors.New("no") }
	q := New(h)
	ok := must(t)
	for i := range maxEnded + 7 {
		ok(q.Start(in("/1")))
		until(t, q, uint64(i+1), protocol.JobFailed)
	}
	all := q.List()
	if len(all) != maxEnded || all[0].ID != 8 {
		t.Errorf("%d jobs from %d on", len(all), all[0].ID)
	}
	if err := q.Forget(8); err != nil {
		t.Error(err)
	}
	if _, err := q.Show(protocol.JobShow{ID: 8}); err == nil || session.Explain(err).Code != session.Usage {
		t.Errorf("a forgotten job: %v", err)
	}
	for _, err := range []error{q.Forget(8), q.Forget(0)} {
		if err == nil {
			t.Error("a job that is not there was forgotten")
		}
	}
}

func TestTooManyAndUnended(t *testing.T) {
	h := newHost(t)
	var s script
	s.on(h)
	q := New(h)
	for range maxOpen {
		must(t)(q.Start(in("/1")))
	}
	if _, err := q.Start(in("/1")); err == nil || !strings.Contains(err.Error(), "1000 copies are waiting") {
		t.Error(err)
	}
	for id := range uint64(2) {
		if err := q.Forget(id + 1); err == nil {
			t.Error("a job that goes on was forgotten")
		}
	}
	h.force()
}

func TestSenselessJobs(t *testing.T) {
	fine := in("/to")
	for what, spoil := range map[string]func(*protocol.CopyJob){
		"no sources":            func(c *protocol.CopyJob) { c.Sources = nil },
		"all on the host":       func(c *protocol.CopyJob) { c.ToInside = false },
		"relative source":       func(c *protocol.CopyJob) { c.Sources = []string{"/a", "b"} },
		"empty source":          func(c *protocol.CopyJob) { c.Sources = []string{""} },
		"NUL":                   func(c *protocol.CopyJob) { c.Sources = []string{"/a\x00b"} },
		"relative destination":  func(c *protocol.CopyJob) { c.Destination = "to" },
		"no destination":        func(c *protocol.CopyJob) { c.Destination = "" },
		"relative inside":       func(c *protocol.CopyJob) { c.FromInside, c.Sources = true, []string{"a"} },
		"peer without sources":  func(c *protocol.CopyJob) { c.Peer = "abc" },
		"peer to the host":      func(c *protocol.CopyJob) { c.Peer, c.FromInside, c.ToInside = "abc", true, false },
		"relative records":      func(c *protocol.CopyJob) { c.Records = "records" },
		"unknown existing":      func(c *protocol.CopyJob) { c.Existing = "burn" },
		"window of 7 ms":        func(c *protocol.CopyJob) { c.WindowMillis = 7 },
		"window without end":    func(c *protocol.CopyJob) { c.WindowMillis = 1 << 60 },
		"window before the day": func(c *protocol.CopyJob) { c.WindowMillis = -1000 },
	} {
		c := fine
		spoil(&c)
		if err := check(&c); err == nil || session.Explain(err).Code != session.Usage {
			t.Errorf("%s: %v", what, err)
		}
	}
	c := protocol.CopyJob{Sources: []string{"/../../a/./b", "/"}, FromInside: true, Destination: "/host/../x/."}
	if err := check(&c); err != nil || c.Sources[0] != "/a/b" || c.Sources[1] != "/" || c.Destination != "/host/../x/." || c.Existing != protocol.ExistingAsk {
		t.Errorf("%v: %+v", err, c)
	}
}
