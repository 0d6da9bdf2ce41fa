package container

import "sync"

// syncGroup lets callers of Sync share the work: those that come while a sync
// runs wait for one more sync, together, since the running one may have begun
// before their writes.
type syncGroup struct {
	running sync.Mutex // held while a sync runs
	mu      sync.Mutex
	next    *syncRun // not begun yet
}

// syncRun is one sync and those that wait for it.
type syncRun struct {
	done chan struct{}
	err  error
}

// do returns the result of a sync that began after do was called.
func (g *syncGroup) do(sync func() error) error {
	g.mu.Lock()
	if run := g.next; run != nil {
		g.mu.Unlock()
		<-run.done
		return run.err
	}
	run := &syncRun{done: make(chan struct{})}
	g.next = run
	g.mu.Unlock()

	g.running.Lock()
	g.mu.Lock()
	g.next = nil // whoever comes from here on is too late for this one
	g.mu.Unlock()
	run.err = sync()
	g.running.Unlock()
	close(run.done)
	return run.err
}
