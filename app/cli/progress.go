package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"coffer/app/session"
)

// progress shows how far long work is. event may be called from several goroutines; close may be called twice.
type progress interface {
	event(session.Event)
	close()
}

// startProgress chooses the form: JSON lines with --json, a bar on a terminal, nothing otherwise or with --quiet.
func (a *program) startProgress() progress {
	switch {
	case a.out.quiet:
		return noProgress{}
	case a.out.json:
		return &jsonProgress{to: a.stderr, now: time.Now}
	case a.stderrFile != nil && term.IsTerminal(int(a.stderrFile.Fd())):
		return newBarProgress(a.stderrFile, progressInterval)
	}
	return noProgress{}
}

type noProgress struct{}

func (noProgress) event(session.Event) {}
func (noProgress) close()              {}

// progressInterval is the least time between two progress lines.
const progressInterval = 200 * time.Millisecond

// jsonProgress writes events as JSON lines. Durable marks are never left out: a script relies on them.
type jsonProgress struct {
	mu     sync.Mutex
	to     io.Writer
	now    func() time.Time
	last   time.Time
	stage  string
	closed bool
}

func (p *jsonProgress) event(e session.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return
	}
	if e.Kind == session.EventProgress {
		now := p.now()
		if e.Stage == p.stage && now.Sub(p.last) < progressInterval && e.Done != e.Total {
			return
		}
		p.last, p.stage = now, e.Stage
	}
	line, err := json.Marshal(e)
	if err != nil {
		return
	}
	_, _ = p.to.Write(append(escapeJSON(line), '\n'))
}

func (p *jsonProgress) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
}

// barProgress draws one bar: stage, bar, percent, current rate, time left. Locks: mu is never held across a call of mpb,
// whose goroutine calls left and right, which take it.
type barProgress struct {
	mu     sync.Mutex
	bars   *mpb.Progress
	bar    *mpb.Bar
	meter  meter
	stage  string
	unit   string
	closed bool
}

func newBarProgress(to io.Writer, refresh time.Duration, options ...mpb.ContainerOption) *barProgress {
	p := &barProgress{meter: meter{now: time.Now}}
	p.bars = mpb.New(append(options, mpb.WithOutput(to), mpb.WithWidth(100), mpb.WithRefreshRate(refresh))...)
	p.bar = p.bars.New(0, mpb.BarStyle().Lbound("[").Filler("=").Tip(">").Padding(" ").Rbound("]"),
		mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Any(func(decor.Statistics) string { return p.left() }, decor.WCSyncSpaceR)),
		mpb.AppendDecorators(decor.Any(func(s decor.Statistics) string { return p.right(s) })))
	return p
}

func (p *barProgress) event(e session.Event) {
	if e.Kind != session.EventProgress {
		return
	}
	if !p.take(e) {
		return
	}
	// Not under the lock: the bar's goroutine answers these calls, and takes the lock when it draws.
	// One more than the total keeps the bar alive between two stages; mpb ends a bar that is full.
	p.bar.SetTotal(max(e.Total, e.Done)+1, false)
	p.bar.SetCurrent(e.Done)
}

// take notes an event; false when the bar is closed.
func (p *barProgress) take(e session.Event) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	if e.Stage != p.stage {
		p.stage, p.unit = e.Stage, e.Unit
		p.meter.reset()
	}
	p.meter.add(e.Done, e.Total)
	return true
}

func (p *barProgress) left() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stage
}

func (p *barProgress) right(s decor.Statistics) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	percent := 0.0
	if s.Total > 1 {
		percent = 100 * float64(s.Current) / float64(s.Total-1)
	}
	text := fmt.Sprintf("%3.0f %%", percent)
	rate := p.meter.rate()
	if rate <= 0 {
		return text
	}
	if p.unit == session.UnitBytes {
		text += fmt.Sprintf("  %.1f MB/s", rate/1e6)
	} else {
		text += fmt.Sprintf("  %.0f %s/s", rate, p.unit)
	}
	if left, ok := p.meter.left(); ok {
		text += "  ETA " + left.String()
	}
	return text
}

func (p *barProgress) close() {
	p.mu.Lock()
	already := p.closed
	p.closed = true
	p.mu.Unlock()
	if already {
		return
	}
	p.bar.Abort(true)
	p.bars.Wait()
}

// meter keeps the last seconds of progress to tell the current rate and the time left.
type meter struct {
	now     func() time.Time
	samples []sample // oldest first, at most meterSpan long
	total   int64
}

type sample struct {
	at   time.Time
	done int64
}

const (
	meterSpan = 3 * time.Second        // what "current" means
	meterStep = 100 * time.Millisecond // samples are no closer than this
)

func (m *meter) reset() { m.samples, m.total = nil, 0 }

// add notes that done of total are done now.
func (m *meter) add(done, total int64) {
	now := m.now()
	m.total = total
	if n := len(m.samples); n > 1 && now.Sub(m.samples[n-2].at) < meterStep {
		m.samples[n-1] = sample{now, done}
	} else {
		m.samples = append(m.samples, sample{now, done})
	}
	for len(m.samples) > 2 && now.Sub(m.samples[1].at) >= meterSpan {
		m.samples = m.samples[1:]
	}
}

// rate is units per second over the span; 0 when it cannot be told.
func (m *meter) rate() float64 {
	if len(m.samples) < 2 {
		return 0
	}
	first, last := m.samples[0], m.samples[len(m.samples)-1]
	// Measured up to now, not up to the last sample: a copy that stands still has a falling rate.
	if seconds := m.now().Sub(first.at).Seconds(); seconds > 0.05 {
		return float64(last.done-first.done) / seconds
	}
	return 0
}

// left estimates the time to the end, in whole seconds.
func (m *meter) left() (time.Duration, bool) {
	rate := m.rate()
	if rate <= 0 || len(m.samples) == 0 {
		return 0, false
	}
	seconds := float64(m.total-m.samples[len(m.samples)-1].done) / rate
	if seconds < 0 || seconds > 1e7 {
		return 0, false
	}
	return (time.Duration(seconds) * time.Second).Round(time.Second), true
}
