package operations

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"coffer/app/session"
)

// stuck is an answer that nobody reads until it is let go.
type stuck struct {
	mu   sync.Mutex
	free chan struct{}
	text bytes.Buffer
}

func (s *stuck) Header() http.Header { return http.Header{} }
func (s *stuck) WriteHeader(int)     {}
func (s *stuck) Flush()              {}

func (s *stuck) Write(p []byte) (int, error) {
	<-s.free
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

// TestProgressNeverWaits: events of work go on while the client reads nothing, without taking memory for each of them, and
// nothing but progress is lost; a listing waits.
func TestProgressNeverWaits(t *testing.T) {
	w := &stuck{free: make(chan struct{})}
	l := newLines(w)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 100_000 {
			l.event(session.Event{Kind: session.EventProgress, Stage: "copy", Done: int64(i)})
			if i%10_000 == 0 {
				l.event(session.Event{Kind: session.EventDurable, Files: int64(i)})
			}
		}
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("events wait for a client that does not read")
	}
	l.mu.Lock()
	waiting := len(l.queue)
	l.mu.Unlock()
	if waiting > 100 {
		t.Errorf("%d lines wait", waiting)
	}
	listed := make(chan struct{})
	go func() {
		defer close(listed)
		for range 10 * maxEntries {
			l.entry(&session.Entry{Path: "/x"})
		}
		l.end(line{Event: session.Event{Kind: lineEnd}})
	}()
	select {
	case <-listed:
		t.Error("a listing does not wait for its reader")
	case <-time.After(50 * time.Millisecond):
	}
	close(w.free)
	<-listed
	counts := map[string]int{}
	last := int64(0)
	for text := range strings.Lines(w.text.String()) {
		var one line
		if err := json.Unmarshal([]byte(text), &one); err != nil {
			t.Fatal(err)
		}
		counts[one.Kind]++
		if one.Kind == session.EventProgress {
			if one.Done < last {
				t.Errorf("progress goes back from %d to %d", last, one.Done)
			}
			last = one.Done
		}
	}
	if counts[session.EventDurable] != 10 || counts[lineEntry] != 10*maxEntries || counts[lineEnd] != 1 || last != 99_999 {
		t.Errorf("arrived: %v, last progress %d", counts, last)
	}
}
