package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"coffer/app/session"
)

// A stream answers long work: JSON lines, each an event of session (with the field "event"), and at the end one line with
// the field "result" or "error". A stream without such a line was cut short.

// lastLine ends a stream.
type lastLine struct {
	Result json.RawMessage  `json:"result,omitempty"`
	Error  *session.Problem `json:"error,omitempty"`
}

// streamInterval is the least time between two progress events of one stage on the wire.
const streamInterval = 100 * time.Millisecond

// streamed runs work and answers with what it reports and its result. Result and error can both be there: a copy that
// failed half-way has a record.
func streamed(w http.ResponseWriter, work func(session.Reporter) (any, error)) error {
	w.Header().Set("Content-Type", "application/x-ndjson")
	s := &eventStream{w: w, flush: http.NewResponseController(w).Flush}
	result, err := work(s.report)
	var last lastLine
	if err != nil {
		problem := session.Explain(err)
		last.Error = &problem
	}
	if last.Result, err = json.Marshal(result); err != nil {
		return err
	}
	return s.line(last)
}

// eventStream writes lines; its methods may be called from several goroutines.
type eventStream struct {
	mu    sync.Mutex
	w     io.Writer
	flush func() error
	stage string
	last  time.Time
}

// report passes an event on. Of progress, which comes often, it leaves out what a person could not see.
func (s *eventStream) report(e session.Event) {
	if e.Kind == session.EventProgress {
		s.mu.Lock()
		skip := e.Stage == s.stage && time.Since(s.last) < streamInterval && e.Done != e.Total
		if !skip {
			s.stage, s.last = e.Stage, time.Now()
		}
		s.mu.Unlock()
		if skip {
			return
		}
	}
	_ = s.line(e) // a client that has gone cancels the work by its context
}

func (s *eventStream) line(value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.w.Write(append(raw, '\n')); err != nil {
		return err
	}
	return s.flush()
}

// readStream is the client's side of streamed: events go to report, the result into out (unless nil).
func readStream(r io.Reader, out any, report session.Reporter) error {
	for decoder := json.NewDecoder(r); ; {
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err != nil {
			return errCutShort
		}
		var line struct {
			lastLine
			Event string `json:"event"`
		}
		if err := json.Unmarshal(raw, &line); err != nil {
			return err
		}
		if line.Event != "" {
			var e session.Event
			if err := json.Unmarshal(raw, &e); err != nil {
				return err
			}
			if report != nil {
				report(e)
			}
			continue
		}
		var err error
		if out != nil && len(line.Result) > 0 && !bytes.Equal(line.Result, []byte("null")) {
			err = json.Unmarshal(line.Result, out)
		}
		if line.Error != nil {
			err = errors.Join(asError(*line.Error), err)
		}
		return err
	}
}

// errCutShort: the agent ended, or was killed, before it had answered.
var errCutShort = errors.New("the answer was cut short")
