package transfer

import (
	"sync"
	"time"

	"coffer/transfer/report"
)

// Timed may be implemented by a Backing: how long the device below a volume has been at work so far, summed over all
// goroutines, by ciphers, by reads and writes of what is below it, and by syncs of that.
type Timed interface {
	BusyTimes() (crypto, read, write, sync time.Duration)
}

// activity is what a goroutine of the engine is doing.
type activity int

const (
	doingRead  activity = iota // the source: opening and reading files
	doingWrite                 // the target: the bytes of files
	doingMeta                  // the target: making files and folders, giving names and times
	doingSync                  // waiting for a sync of the target
	activities
)

// phaseClock divides time among what the goroutines of an engine are doing: at every moment it is shared equally among
// those that read or write. A sync counts only while nobody does: what runs beside the copying costs it nothing. Its
// methods may be called concurrently; a nil clock does nothing.
type phaseClock struct {
	mu     sync.Mutex
	watch  stopwatch
	last   time.Duration // when the account was last brought up to date
	active [activities]int
	share  [activities]float64 // nanoseconds of the clock on the wall
	busy   [activities]float64 // nanoseconds, summed over goroutines
}

// enter says that this goroutine begins a, leave that it ends it. Activities do not nest.
func (c *phaseClock) enter(a activity) {
	if c == nil {
		return
	}
	c.mu.Lock()
	c.accountLocked()
	c.active[a]++
	c.mu.Unlock()
}

func (c *phaseClock) leave(a activity) {
	if c == nil {
		return
	}
	c.mu.Lock()
	c.accountLocked()
	c.active[a]--
	c.mu.Unlock()
}

// accountLocked shares the time since the last change among what was active.
func (c *phaseClock) accountLocked() {
	now := max(c.watch.read(), c.last)
	passed := float64(now - c.last)
	c.last = now
	working := c.active[doingRead] + c.active[doingWrite] + c.active[doingMeta]
	if working == 0 {
		if n := c.active[doingSync]; n > 0 {
			c.share[doingSync] += passed
			c.busy[doingSync] += passed * float64(n)
		}
		return
	}
	each := passed / float64(working)
	for a, n := range c.active {
		if n == 0 {
			continue
		}
		c.busy[a] += passed * float64(n)
		if activity(a) != doingSync {
			c.share[a] += each * float64(n)
		}
	}
}

// during runs work under the clock.
func (e *engine) during(a activity, work func()) {
	e.clock.enter(a)
	defer e.clock.leave(a)
	work()
}

// timedInput is a source whose reads are timed.
type timedInput struct {
	input
	clock *phaseClock
}

func (t timedInput) ReadAt(p []byte, off int64) (int, error) {
	t.clock.enter(doingRead)
	n, err := t.input.ReadAt(p, off)
	t.clock.leave(doingRead)
	return n, err
}

// deviceTimes are readings of a Timed, in nanoseconds.
type deviceTimes struct{ crypto, read, write, sync float64 }

func (d deviceTimes) since(before deviceTimes) deviceTimes {
	return deviceTimes{d.crypto - before.crypto, d.read - before.read, d.write - before.write, d.sync - before.sync}
}

// scaled is d with everything times f.
func (d deviceTimes) scaled(f float64) deviceTimes {
	return deviceTimes{d.crypto * f, d.read * f, d.write * f, d.sync * f}
}

// timedOf is what tells the times of a place: the device below its volume, or the process behind its drive.
func timedOf(p Place) Timed {
	if p.Volume == nil {
		return p.Drive
	}
	t, _ := p.Backing.(Timed)
	return t
}

func readTimes(t Timed) deviceTimes {
	if t == nil {
		return deviceTimes{}
	}
	crypto, read, write, sync := t.BusyTimes()
	return deviceTimes{float64(crypto), float64(read), float64(write), float64(sync)}
}

// phaseMeter measures the phases of one run.
type phaseMeter struct {
	clock                      phaseClock
	source, target             Timed // nil: not a volume, or it does not tell
	sourceBefore, targetBefore deviceTimes
	sourceMount, targetMount   bool // a drive: the file system behind it cannot be told from the way there
}

// newPhaseMeter starts measuring.
func newPhaseMeter(j *Job) *phaseMeter {
	m := &phaseMeter{clock: phaseClock{watch: startWatch(j.Control)}, source: timedOf(j.Sources[0]), target: timedOf(j.Destination)}
	m.sourceBefore, m.targetBefore = readTimes(m.source), readTimes(m.target)
	m.sourceMount, m.targetMount = j.Sources[0].Drive != nil, j.Destination.Drive != nil
	return m
}

// ends reads both devices and gives what each did. One device on both sides is divided by how long either side was busy.
func (m *phaseMeter) ends(readBusy, writeBusy float64) (source, target deviceTimes) {
	source, target = readTimes(m.source).since(m.sourceBefore), readTimes(m.target).since(m.targetBefore)
	if m.source != nil && m.source == m.target && readBusy+writeBusy > 0 {
		reading := readBusy / (readBusy + writeBusy)
		source, target = source.scaled(reading), target.scaled(1-reading)
		source.read += target.read
		target.write += source.write
	}
	return source, target
}

// phases are the shares of wallSeconds, the time of copy and sync, which has just ended.
func (m *phaseMeter) phases(wallSeconds float64) []report.Phase {
	c := &m.clock
	c.mu.Lock()
	c.accountLocked()
	share, busy := c.share, c.busy
	c.mu.Unlock()
	var total [6]float64 // source read, crypto, file system, image write, sync, kernel
	source, target := m.ends(busy[doingRead], busy[doingWrite]+busy[doingMeta]+busy[doingSync])
	// rest is where time goes that neither ciphers nor the image explain.
	rest := func(mount bool) int {
		if mount {
			return 5
		}
		return 2
	}
	if read := share[doingRead]; m.source == nil {
		total[0] += read
	} else {
		crypto, below := parts(busy[doingRead], source.crypto, source.read)
		total[1] += read * crypto
		total[0] += read * below
		total[rest(m.sourceMount)] += read * (1 - crypto - below)
	}
	if data, meta := share[doingWrite], share[doingMeta]; m.target == nil {
		total[3] += data
		total[2] += meta
		total[4] += share[doingSync]
	} else { // a sync of a volume first writes what its file system still holds
		waiting, _ := parts(busy[doingSync], target.sync, 0)
		total[4] += share[doingSync] * waiting
		work := data + meta + share[doingSync]*(1-waiting)
		crypto, below := parts(busy[doingWrite]+busy[doingMeta]+busy[doingSync]*(1-waiting), target.crypto, target.write)
		total[1] += work * crypto
		total[3] += work * below
		total[rest(m.targetMount)] += work * (1 - crypto - below)
	}
	var list []report.Phase
	for i, name := range report.PhaseNames()[:len(total)] {
		list = append(list, report.Phase{Name: name, Seconds: total[i] / float64(time.Second)})
	}
	return report.SharePhases(list, wallSeconds)
}

// parts are a and b as parts of the whole; together they are never more than it.
func parts(whole, a, b float64) (float64, float64) {
	whole = max(whole, a+b)
	if whole <= 0 {
		return 0, 0
	}
	return max(a, 0) / whole, max(b, 0) / whole
}
