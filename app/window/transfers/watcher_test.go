package transfers

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"coffer/app/protocol"
	"coffer/transfer/report"
)

// news are the notifications so far.
func (s *stand) news() (all []string) {
	for _, one := range s.Asked {
		if words, ok := strings.CutPrefix(one, "Notify "); ok {
			all = append(all, words)
		}
	}
	return all
}

func (s *stand) set(j *protocol.Job, change func(j *protocol.Job)) {
	s.Coffer.Mu.Lock()
	defer s.Coffer.Mu.Unlock()
	change(j)
}

func TestSummaryAddsUp(t *testing.T) {
	s := newStand(t)
	s.look()
	if got := s.watcher.Summary(); got != (Summary{}) || got.Fraction() >= 0 {
		t.Errorf("without jobs: %+v, fraction %v", got, got.Fraction())
	}
	old := s.job(s.vault, protocol.JobDone, "/old")
	old.Bytes, old.TotalBytes = 777, 777
	s.look()
	if got := s.watcher.Summary(); got != (Summary{}) {
		t.Errorf("what ended before counts: %+v", got)
	}
	a, b := s.job(s.photos, protocol.JobRunning, "/a"), s.job(s.vault, protocol.JobPaused, "/b")
	s.job(s.photos, protocol.JobWaiting, "/c")
	s.job(s.photos, protocol.JobAsking, "/d")
	a.Bytes, a.TotalBytes, a.Current = 100, 400, 50
	b.Bytes, b.TotalBytes = 50, 100
	s.look()
	want := Summary{Running: 1, Waiting: 1, Asking: 1, Paused: 1, Done: 150, Total: 500, Rate: 50}
	if got := s.watcher.Summary(); got != want || got.Active() != 4 || got.Fraction() != 0.3 {
		t.Errorf("got %+v (%d active, %v), want %+v", got, got.Active(), got.Fraction(), want)
	}
	s.set(a, func(j *protocol.Job) { j.State, j.Bytes, j.Current = protocol.JobPartly, 390, 0 })
	s.look()
	if got := s.watcher.Summary(); got.Done != 440 || got.Total != 490 || got.Rate != 0 {
		t.Errorf("a job that has ended stays in the total with what arrived; got %+v", got)
	}
	s.Coffer.Mu.Lock()
	for _, j := range append(s.photos.Jobs, s.vault.Jobs...) {
		j.State = protocol.JobCancelled
	}
	s.Coffer.Mu.Unlock()
	s.look()
	if got := s.watcher.Summary(); got != (Summary{}) {
		t.Errorf("after the last job the total begins anew; got %+v", got)
	}
}

// TestComparingCountsTwice: the share goes up to the end, though the second pass counts its bytes from 0.
func TestComparingCountsTwice(t *testing.T) {
	last := -1.0
	for _, c := range []struct {
		state protocol.JobState
		stage string
		bytes int64
		want  float64
	}{{protocol.JobRunning, "copy", 0, 0}, {protocol.JobRunning, "copy", 50, 0.25}, {protocol.JobRunning, "sync", 100, 0.5}, {protocol.JobPaused, "verify", 0, 0.5},
		{protocol.JobRunning, "verify", 50, 0.75}, {protocol.JobRunning, "move", 100, 1}, {protocol.JobDone, "", 100, 1}} {
		j := Job{Job: protocol.Job{State: c.state, Stage: c.stage, Bytes: c.bytes, TotalBytes: 100, Copy: protocol.CopyJob{Verify: true}}}
		if got := j.Fraction(); got != c.want || got < last {
			t.Errorf("%s %s at %d: %v, want %v", c.state, c.stage, c.bytes, got, c.want)
		}
		last = j.Fraction()
	}
}

func TestNewsAreToldOnce(t *testing.T) {
	s := newStand(t)
	before := s.job(s.photos, protocol.JobFailed, "/before")
	before.Ended = s.watcher.started.Add(-time.Minute)
	jobs := map[protocol.JobState]*protocol.Job{}
	ends := []protocol.JobState{protocol.JobDone, protocol.JobPartly, protocol.JobFailed, protocol.JobCancelled, protocol.JobAsking}
	for _, state := range ends {
		jobs[state] = s.job(s.photos, protocol.JobRunning, "/home/ann/to be "+string(state))
	}
	s.look()
	if got := s.news(); len(got) != 0 {
		t.Fatalf("told before anything happened: %q", got)
	}
	for _, state := range ends {
		s.set(jobs[state], func(j *protocol.Job) {
			j.State, j.Ended, j.Bytes, j.Average = state, time.Now(), 5e6, 2e6
			if state == protocol.JobFailed {
				j.Problem = &protocol.Problem{Sentence: "the disk is full", Hint: "make room"}
			}
		})
	}
	s.look()
	s.look()
	got := strings.Join(s.news(), "\n")
	for _, want := range []string{"Copied: to be done, 5.0 MB, 2.0 MB/s", "Copied, but not everything: to be partly", "A copy failed: to be failed: The disk is full. Make room.", "A copy has a question: to be asking"} {
		if strings.Count(got, want) != 1 {
			t.Errorf("%q is told %d times; all: %s", want, strings.Count(got, want), got)
		}
	}
	if len(s.news()) != 4 {
		t.Errorf("told %d things, want 4: what the person cancelled, or ended before, is no news: %s", len(s.news()), got)
	}
	s.set(jobs[protocol.JobAsking], func(j *protocol.Job) { j.State = protocol.JobRunning })
	s.look()
	s.set(jobs[protocol.JobAsking], func(j *protocol.Job) { j.State = protocol.JobDone })
	s.look()
	if len(s.news()) != 5 {
		t.Errorf("a job that was answered tells its end too: %q", s.news())
	}
}

func TestLockedMeanwhile(t *testing.T) {
	s := newStand(t)
	s.job(s.vault, protocol.JobRunning, "/a")
	s.job(s.vault, protocol.JobWaiting, "/b")
	s.job(s.photos, protocol.JobDone, "/c")
	s.look()
	asked := len(s.news())
	s.Coffer.Mu.Lock()
	s.vault.Unlocked, s.photos.Unlocked = false, false
	s.Coffer.Mu.Unlock()
	s.Deps.Model.Look(context.Background())
	s.look()
	s.look()
	got := s.news()[asked:]
	if len(got) != 1 || !strings.Contains(got[0], "vault was locked before all files were copied") {
		t.Errorf("got %q, want one about the vault", got)
	}
	if len(s.watcher.Jobs()) != 0 {
		t.Errorf("jobs go with their agent, left: %v", s.watcher.Jobs())
	}
}

func TestWhoDoesNotAnswer(t *testing.T) {
	s := newStand(t)
	s.show()
	s.job(s.vault, protocol.JobRunning, "/a")
	s.job(s.photos, protocol.JobRunning, "/b")
	s.look()
	s.Coffer.Mu.Lock()
	s.Coffer.Fail["Jobs"] = errors.New("it is of another version")
	s.Coffer.Mu.Unlock()
	s.look()
	if len(s.watcher.Jobs()) != 2 || len(s.watcher.Trouble()) != 1 {
		t.Errorf("one agent fails: %d jobs, trouble %v; want both as they were, and its trouble", len(s.watcher.Jobs()), s.watcher.Trouble())
	}
	s.MustSay("It is of another version")
	s.look()
	if len(s.watcher.Trouble()) != 0 || s.Says("another version") {
		t.Errorf("it answers again: trouble %v", s.watcher.Trouble())
	}
}

func TestWindowsAreAskedForOnce(t *testing.T) {
	s := newStand(t)
	s.show()
	j := s.job(s.photos, protocol.JobRunning, "/a")
	windows := func() []float64 { return s.watcher.Jobs()[0].Windows }
	j.Windows = wave(3, 1e6, 0)
	s.look()
	s.set(j, func(j *protocol.Job) { j.Windows = wave(5, 1e6, 0); j.Windows[0] = 9 })
	s.look()
	if got := windows(); len(got) != 5 || got[0] == 9 {
		t.Errorf("got %v: the first windows are not asked for again", got)
	}
	s.set(j, func(j *protocol.Job) { j.Windows, j.WindowSeconds = wave(2, 3e6, 0), 2 })
	s.look()
	if got := windows(); len(got) != 2 || got[0] != 3e6 {
		t.Errorf("got %v: longer windows are others", got)
	}
	s.set(j, func(j *protocol.Job) {
		j.State, j.Windows, j.WindowSeconds, j.Record = protocol.JobDone, wave(8, 4e6, 0), 0.25, &report.Record{}
	})
	s.look()
	if got := s.watcher.Jobs()[0]; len(got.Windows) != 8 || !got.whole {
		t.Errorf("got %d windows, want those of the record", len(got.Windows))
	}
	calls := s.Coffer.Called("Job")
	s.look()
	if got := s.Coffer.Called("Job"); got != calls {
		t.Errorf("a job that has ended was asked for %d times more", got-calls)
	}
}

func TestNothingIsPolledWhileHidden(t *testing.T) {
	s := newStand(t)
	j := s.job(s.photos, protocol.JobRunning, "/a")
	s.show()
	shown := s.Coffer.Called("Job")
	if shown == 0 {
		t.Error("the windows of the job that is shown were not asked for")
	}
	if s.watcher.step() != attendedStep {
		t.Errorf("looks every %v while shown", s.watcher.step())
	}
	s.screen.Hidden()
	if s.watcher.step() != hiddenStep {
		t.Errorf("looks every %v while hidden", s.watcher.step())
	}
	s.set(j, func(j *protocol.Job) { j.Bytes++; j.State = protocol.JobDone; j.Ended = time.Now() })
	row := s.screen.queue.jobs[0]
	s.look()
	if s.Coffer.Called("Job") != shown {
		t.Error("windows are asked for though nobody looks")
	}
	if s.screen.queue.jobs[0].State != row.State {
		t.Error("the hidden screen was drawn")
	}
	if s.watcher.Jobs()[0].State != protocol.JobDone {
		t.Error("the watcher has to go on")
	}
	calls := s.Coffer.Called("Jobs")
	s.look()
	s.look()
	if got := s.Coffer.Called("Jobs"); got != calls {
		t.Errorf("agents in which nothing goes on were asked %d times", got-calls)
	}
	s.Coffer.Mu.Lock()
	s.photos.Status.FileSystem.BytesRead++
	s.Coffer.Mu.Unlock()
	s.Deps.Model.Look(context.Background())
	s.look()
	if got := s.Coffer.Called("Jobs"); got != calls+1 {
		t.Errorf("one agent has done something, %d were asked", got-calls)
	}
	s.watcher.Refresh()
	s.look()
	if got := s.Coffer.Called("Jobs"); got != calls+3 {
		t.Errorf("after Refresh both are asked, got %d", got-calls-1)
	}
}

func TestRunLooksUntilItsEnd(t *testing.T) {
	s := newStand(t)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		s.watcher.Run(ctx)
		close(ended)
	}()
	told := make(chan struct{}, 100)
	stop := s.watcher.Listen(func() { told <- struct{}{} })
	s.job(s.photos, protocol.JobRunning, "/a")
	s.watcher.Refresh()
	select {
	case <-told:
	case <-time.After(20 * time.Second):
		t.Fatal("listeners are not told of a new job")
	}
	stop()
	cancel()
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Fatal("it goes on after its context")
	}
}
