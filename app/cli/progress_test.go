package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/vbauerster/mpb/v8"

	"coffer/app/session"
)

// clock is a hand-driven time.
type clock struct{ at time.Time }

func (c *clock) now() time.Time       { return c.at }
func (c *clock) pass(d time.Duration) { c.at = c.at.Add(d) }

func TestMeter(t *testing.T) {
	c := &clock{at: time.Unix(1e9, 0)}
	m := meter{now: c.now}
	if _, ok := m.left(); ok || m.rate() != 0 {
		t.Error("an empty meter has a rate")
	}
	for i := range 1000 {
		m.add(int64(i)*1e6, 2000e6) // 1 MB each 10 ms
		c.pass(10 * time.Millisecond)
	}
	if got := m.rate(); math.Abs(got-100e6) > 2e6 {
		t.Errorf("rate %.0f, want about 100 MB/s", got)
	}
	if left, ok := m.left(); !ok || left < 9*time.Second || left > 11*time.Second {
		t.Errorf("left %v %v, want about 10 s", left, ok)
	}
	if n := len(m.samples); n > int(meterSpan/meterStep)*2 {
		t.Errorf("%d samples kept", n)
	}
	c.pass(30 * time.Second)
	if got := m.rate(); got > 10e6 {
		t.Errorf("rate of a stalled copy is %.0f", got)
	}
	m.reset()
	if m.rate() != 0 {
		t.Error("a rate after reset")
	}
}

// TestBarDoesNotStandInTheWay sends events from several goroutines while the bar draws all the time: none may get stuck.
func TestBarDoesNotStandInTheWay(t *testing.T) {
	for range 20 {
		p := newBarProgress(io.Discard, time.Millisecond, mpb.WithAutoRefresh())
		var senders sync.WaitGroup
		for range 4 {
			senders.Go(func() {
				for i := range 2000 {
					p.event(session.Event{Kind: session.EventProgress, Stage: "copy", Done: int64(i), Total: 2000, Unit: session.UnitBytes})
				}
			})
		}
		done := make(chan struct{})
		go func() {
			senders.Wait()
			p.close()
			p.event(session.Event{Kind: session.EventProgress, Stage: "late", Done: 1, Total: 2})
			p.close()
			close(done)
		}()
		select {
		case <-done:
		case <-time.After(30 * time.Second):
			t.Fatal("the bar blocks the work it shows")
		}
	}
}

func TestJSONProgress(t *testing.T) {
	c, buffer := &clock{at: time.Unix(1e9, 0)}, &bytes.Buffer{}
	p := &jsonProgress{to: buffer, now: c.now}
	for i := range 100 {
		p.event(session.Event{Kind: session.EventProgress, Stage: "copy", Done: int64(i), Total: 100, Unit: session.UnitBytes})
		p.event(session.Event{Kind: session.EventDurable, Files: int64(i), Bytes: 5, Through: "a\x1bb"})
		c.pass(10 * time.Millisecond)
	}
	p.close()
	p.event(session.Event{Kind: session.EventDurable})
	counts := map[string]int{}
	for line := range strings.Lines(buffer.String()) {
		var e struct {
			Event string `json:"event"`
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		if strings.Contains(line, "\x1b") {
			t.Errorf("a control character on stderr: %q", line)
		}
		counts[e.Event]++
	}
	if counts["durable"] != 100 || counts["progress"] < 4 || counts["progress"] > 7 {
		t.Errorf("events: %v, want 100 durable and about 5 progress", counts)
	}
}
