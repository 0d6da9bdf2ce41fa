package transfer

import (
	"sync"
	"sync/atomic"
	"time"

	"coffer/transfer/rate"
	"coffer/transfer/report"
)

// progressInterval is the shortest time between two progress events.
const progressInterval = 100 * time.Millisecond

// teller hands events to the caller, one at a time, and collects problems.
type teller struct {
	to         func(Event)
	rate       *rate.Recorder
	control    *Control
	totalFiles int64
	totalBytes int64

	files atomic.Int64
	seen  atomic.Int64 // bytes done in the stage, where the rate recorder does not count them

	mu    sync.Mutex // one event at a time; also guards what follows
	stage string
	begun stopwatch
	found *problems

	quit chan struct{}
	done chan struct{}
}

func newTeller(p *Plan, r *rate.Recorder) *teller {
	t := &teller{to: p.job.OnEvent, rate: r, control: p.job.Control, totalFiles: p.Files + p.Resumed + p.AlreadyThere, totalBytes: p.Bytes, found: p.found, quit: make(chan struct{}), done: make(chan struct{})}
	go t.run()
	return t
}

func (t *teller) run() {
	defer close(t.done)
	if t.to == nil {
		<-t.quit
		return
	}
	tick := time.NewTicker(progressInterval)
	defer tick.Stop()
	for {
		select {
		case <-t.quit:
			return
		case <-tick.C:
			t.mu.Lock()
			if t.stage != "" && !t.control.Paused() {
				t.to(t.progressLocked(EventProgress))
			}
			t.mu.Unlock()
		}
	}
}

func (t *teller) stop() {
	close(t.quit)
	<-t.done
}

func (t *teller) progressLocked(k EventKind) Event {
	ev := Event{Kind: k, Stage: t.stage, Files: t.files.Load(), TotalFiles: t.totalFiles, TotalBytes: t.totalBytes}
	elapsed := t.begun.read()
	switch t.stage {
	case StageCopy, StageSync:
		ev.Bytes, ev.Rate = t.rate.Bytes(), t.rate.Current()
	default:
		ev.Bytes = t.seen.Load()
		if s := elapsed.Seconds(); s > 0 {
			ev.Rate = float64(ev.Bytes) / s
		}
	}
	if t.stage != StageSync {
		ev.Remaining = etaOf(t.totalBytes-ev.Bytes, ev.Bytes, elapsed)
	}
	return ev
}

// enter begins a stage.
func (t *teller) enter(stage string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stage, t.begun = stage, startWatch(t.control)
	if stage != StageSync {
		t.files.Store(0)
		t.seen.Store(0)
	}
	if t.to != nil {
		t.to(t.progressLocked(EventStage))
	}
}

func (t *teller) fileDone() { t.files.Add(1) }

// emit hands one event over.
func (t *teller) emit(ev Event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	ev.Stage = t.stage
	t.to(ev)
}

// failed books a problem and tells it.
func (t *teller) failed(p report.Problem) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.found.add(p)
	if t.to != nil && p.Failed {
		t.to(Event{Kind: EventFailed, Stage: t.stage, Problem: &p})
	}
}
