package blocktest

import (
	"encoding/gob"
	"fmt"
	"io"
	"slices"
	"sync"
)

// Kind is what an Event of a Log is.
type Kind uint8

// The kinds of events.
const (
	Write    Kind = iota + 1 // Data at Off
	Sync                     // everything before is durable
	Discard                  // Len bytes at Off became zeros
	Truncate                 // the device is Len bytes long from here on
	Mark                     // Label, put in by the test: "operation 7 acknowledged"
)

func (k Kind) String() string {
	names := [...]string{"?", "write", "sync", "discard", "truncate", "mark"}
	if int(k) >= len(names) {
		k = 0
	}
	return names[k]
}

// Event is one entry of a Log. Off and Len are bytes.
type Event struct {
	Kind  Kind
	Off   int64
	Len   int64
	Data  []byte // of a Write; never changed once in a log
	Label string // of a Mark
}

func (e Event) String() string {
	switch e.Kind {
	case Mark:
		return "mark " + e.Label
	case Sync:
		return "sync"
	default:
		return fmt.Sprintf("%v %d+%d", e.Kind, e.Off, e.Len)
	}
}

// Log is what happened to a device since a start state. It is safe for
// concurrent use; the order of concurrent calls is the order in which they
// were entered.
type Log struct {
	mu     sync.Mutex
	start  *Mem // never written
	events []Event
}

// NewLog starts an empty log on a copy of start. start itself is frozen by the
// call (see Mem.Freeze), so that the copies of later states are cheap.
func NewLog(start *Mem) *Log {
	start.Freeze()
	return &Log{start: start.Clone()}
}

// Add appends an event. A Write's data are copied.
func (l *Log) Add(e Event) {
	if e.Kind == Write {
		e.Data = slices.Clone(e.Data)
		e.Len = int64(len(e.Data))
	}
	l.mu.Lock()
	l.events = append(l.events, e)
	l.mu.Unlock()
}

// Mark appends a mark of the test's own.
func (l *Log) Mark(label string) { l.Add(Event{Kind: Mark, Label: label}) }

// Len is the number of events so far.
func (l *Log) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.events)
}

// Events returns the events so far. The Data of the events are shared and must
// not be changed.
func (l *Log) Events() []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.events)
}

// Marks returns the labels of the marks among the first cut events: what the
// test had been told before a power cut at that point.
func (l *Log) Marks(cut int) []string {
	var labels []string
	for _, e := range l.Events()[:cut] {
		if e.Kind == Mark {
			labels = append(labels, e.Label)
		}
	}
	return labels
}

// Start returns a copy of the device as it was when the log began.
func (l *Log) Start() *Mem { return l.start.Clone() }

// Replay returns the device after the first n events, all of them having
// reached the disk.
func (l *Log) Replay(n int) (*Mem, error) {
	m := l.Start()
	for i, e := range l.Events()[:n] {
		if err := e.apply(m); err != nil {
			return nil, fmt.Errorf("replay event %d (%v): %w", i, e, err)
		}
	}
	return m, nil
}

// apply does to m what the event did.
func (e Event) apply(m *Mem) error {
	switch e.Kind {
	case Write:
		if end := e.Off + e.Len; end > m.Size() { // an image file grows by writing
			if err := m.Truncate(end); err != nil {
				return err
			}
		}
		_, err := m.WriteAt(e.Data, e.Off)
		return err
	case Discard:
		return m.Discard(e.Off, min(e.Len, max(0, m.Size()-e.Off)))
	case Truncate:
		return m.Truncate(e.Len)
	}
	return nil
}

// Save writes the events (not the start state) so that LoadEvents gives them
// back, for a failing trace to be kept.
func (l *Log) Save(w io.Writer) error {
	if err := gob.NewEncoder(w).Encode(l.Events()); err != nil {
		return fmt.Errorf("save write trace: %w", err)
	}
	return nil
}

// LoadEvents appends events written by Save.
func (l *Log) LoadEvents(r io.Reader) error {
	var events []Event
	if err := gob.NewDecoder(r).Decode(&events); err != nil {
		return fmt.Errorf("load write trace: %w", err)
	}
	l.mu.Lock()
	l.events = append(l.events, events...)
	l.mu.Unlock()
	return nil
}
