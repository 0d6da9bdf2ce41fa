package operations

import (
	"bufio"
	"encoding/json"
	"net/http"
	"sync"

	"coffer/app/session"
)

// maxEntries is how many lines may wait for a client that does not read before a listing waits for it.
const maxEntries = 1024

// lines writes an answer. Work never waits for a client to read of its progress: a client that is stopped (Ctrl-Z) while
// the container stands still for its check must not stop everybody else. Safe for concurrent use.
type lines struct {
	mu     sync.Mutex
	change *sync.Cond // the queue became longer, or shorter
	queue  []line
	over   bool          // nothing is added any more
	gone   bool          // the client takes nothing any more
	done   chan struct{} // all is written
}

// newLines begins an answer. It must be ended.
func newLines(w http.ResponseWriter) *lines {
	l := &lines{done: make(chan struct{})}
	l.change = sync.NewCond(&l.mu)
	go l.write(bufio.NewWriterSize(w, 64<<10), http.NewResponseController(w).Flush)
	return l
}

// event adds an event; it is a session.Reporter. Of progress only the latest matters.
func (l *lines) event(e session.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if last := len(l.queue) - 1; last >= 0 && e.Kind == session.EventProgress && l.queue[last].Kind == e.Kind && l.queue[last].Stage == e.Stage {
		l.queue[last].Event = e
		return
	}
	l.addLocked(line{Event: e})
}

// entry adds an entry of a listing, and waits for a client that is slow to read.
func (l *lines) entry(e *session.Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.queue) >= maxEntries && !l.gone {
		l.change.Wait()
	}
	l.addLocked(line{Event: session.Event{Kind: lineEntry}, Entry: e})
}

// send adds any line.
func (l *lines) send(one line) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.addLocked(one)
}

func (l *lines) addLocked(one line) {
	if !l.gone {
		l.queue = append(l.queue, one)
		l.change.Broadcast()
	}
}

// end adds the last line and returns when all are written or the client is gone.
func (l *lines) end(last line) {
	l.mu.Lock()
	l.addLocked(last)
	l.over = true
	l.change.Broadcast()
	l.mu.Unlock()
	<-l.done
}

// write writes lines until the last.
func (l *lines) write(to *bufio.Writer, flush func() error) {
	defer close(l.done)
	for {
		l.mu.Lock()
		for len(l.queue) == 0 && !l.over {
			l.change.Wait()
		}
		batch := l.queue
		l.queue = nil
		l.change.Broadcast()
		l.mu.Unlock()
		if len(batch) == 0 {
			return
		}
		if err := writeLines(to, batch); err != nil || flush() != nil {
			l.mu.Lock()
			l.gone, l.queue = true, nil // the context of the request ends too
			l.change.Broadcast()
			l.mu.Unlock()
		}
	}
}

// writeLines encodes lines.
func writeLines(to *bufio.Writer, batch []line) error {
	for i := range batch {
		text, err := json.Marshal(&batch[i])
		if err != nil {
			return err
		}
		if _, err := to.Write(append(text, '\n')); err != nil {
			return err
		}
	}
	return to.Flush()
}
