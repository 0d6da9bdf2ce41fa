package files

import (
	"context"
	"errors"
	"sync"
	"time"

	"coffer/app/protocol"
)

// Times of a listing: the first rows soon, then as often as an eye can follow.
const (
	firstRows = 40 * time.Millisecond
	moreRows  = 150 * time.Millisecond
)

// maxFound bounds the results of a search.
const maxFound = 20000

// errEnough ends a search that has found more.
var errEnough = errors.New("enough")

// load is a listing under way, of a folder or of what a search finds in it.
type load struct {
	id     string // of the container
	folder string
	words  string // searched for; "": everything in the folder
	quiet  bool   // nothing is shown before the end: the same list again
	began  time.Time
	cancel context.CancelFunc

	mu      sync.Mutex
	order   order
	pending []*item
}

// setOrder changes the order while the listing goes on.
func (l *load) setOrder(o order) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.order = o
}

// lister is whom a load asks.
type lister interface {
	List(ctx context.Context, id, path string, recursive bool, visit func(protocol.Entry) error) error
}

// run lists, and calls show with a new sorted list now and then, and at the end. It returns then.
func (l *load) run(ctx context.Context, from lister, show func(items []*item, ended bool, err error)) {
	match, found := matcher(l.words), 0
	var all []*item
	var by order
	meanwhile(func() error {
		return from.List(ctx, l.id, l.folder, l.words != "", func(e protocol.Entry) error {
			i := newItem(e)
			if l.words != "" && !match(i) {
				return nil
			}
			if found++; l.words != "" && found > maxFound {
				return errEnough
			}
			l.mu.Lock()
			defer l.mu.Unlock()
			l.pending = append(l.pending, i)
			return nil
		})
	}, func(ended bool, err error) {
		l.mu.Lock()
		batch, order := l.pending, l.order
		l.pending = nil
		l.mu.Unlock()
		if !ended && (l.quiet || len(batch) == 0) {
			l.mu.Lock()
			l.pending = append(batch, l.pending...)
			l.mu.Unlock()
			return
		}
		if order != by {
			all, by = order.sorted(all), order
		}
		all = order.merged(all, order.sorted(batch))
		if errors.Is(err, errEnough) {
			err = nil
		}
		show(all, ended, err)
	})
}

// meanwhile does work in a goroutine of its own and calls turn now and then, and at the end with its error.
func meanwhile(work func() error, turn func(ended bool, err error)) {
	end := make(chan error, 1)
	go func() { end <- work() }()
	timer := time.NewTimer(firstRows)
	defer timer.Stop()
	for {
		select {
		case err := <-end:
			turn(true, err)
			return
		case <-timer.C:
			turn(false, nil)
			timer.Reset(moreRows)
		}
	}
}
