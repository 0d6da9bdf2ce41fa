package vfs

import (
	"sync/atomic"
	"time"
)

// counters counts without locks. The zero value is not usable: see newCounters.
type counters struct {
	start      time.Time
	read       atomic.Int64
	written    atomic.Int64
	operations atomic.Int64
	lastUse    atomic.Int64 // nanoseconds after start, monotonic
	open       atomic.Int64
	writers    atomic.Int64 // of those, open for writing
}

func newCounters() *counters { return &counters{start: time.Now()} }

// look counts an operation that is no use of the drive: systems and programs look at it all the time, without anybody
// wanting anything of it, and so do we to flush and to unmount it.
func (c *counters) look() { c.operations.Add(1) }

// opened and closed count an open file.
func (c *counters) opened(write bool) { c.openings(1, write) }
func (c *counters) closed(write bool) { c.openings(-1, write) }

func (c *counters) openings(n int64, write bool) {
	c.open.Add(n)
	if write {
		c.writers.Add(n)
	}
}

// use counts an operation that is use.
func (c *counters) use() {
	c.look()
	c.lastUse.Store(int64(time.Since(c.start)))
}

// snapshot returns the figures.
func (c *counters) snapshot() Counters {
	return Counters{
		BytesRead:    c.read.Load(),
		BytesWritten: c.written.Load(),
		Operations:   c.operations.Load(),
		LastUse:      c.start.Add(time.Duration(c.lastUse.Load())),
		OpenFiles:    int(c.open.Load()),
		OpenWriters:  int(c.writers.Load()),
	}
}
