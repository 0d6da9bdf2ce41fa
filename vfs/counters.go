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
}

func newCounters() *counters { return &counters{start: time.Now()} }

// use counts an operation.
func (c *counters) use() {
	c.operations.Add(1)
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
	}
}
