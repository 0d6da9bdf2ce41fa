package transfer

import (
	"math"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"coffer/transfer/rate"
	"coffer/transfer/report"
)

// TestPhaseClock: time is shared equally among those at work; a sync counts only when nobody is.
func TestPhaseClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &phaseClock{watch: startWatch(nil)}
		pass := func(seconds float64) { time.Sleep(time.Duration(seconds * float64(time.Second))) }
		pass(1) // nobody
		c.enter(doingRead)
		pass(2)
		c.enter(doingWrite)
		c.enter(doingWrite)
		pass(3) // one reads, two write
		c.enter(doingSync)
		pass(3) // a sync beside them
		c.leave(doingRead)
		c.leave(doingWrite)
		c.leave(doingWrite)
		pass(4) // the sync alone
		c.leave(doingSync)
		c.enter(doingMeta)
		pass(1)
		c.leave(doingMeta)
		pass(1)
		c.mu.Lock()
		c.accountLocked()
		c.mu.Unlock()
		second := float64(time.Second)
		for a, want := range [activities][2]float64{doingRead: {4, 8}, doingWrite: {4, 12}, doingMeta: {1, 1}, doingSync: {4, 7}} {
			if math.Abs(c.share[a]/second-want[0]) > 1e-6 || math.Abs(c.busy[a]/second-want[1]) > 1e-6 {
				t.Errorf("activity %d: share %v, busy %v, want %v", a, c.share[a]/second, c.busy[a]/second, want)
			}
		}
	})
}

// fakeTimes is a device that has been busy as a test says.
type fakeTimes struct{ crypto, read, write, sync time.Duration }

func (f *fakeTimes) BusyTimes() (crypto, read, write, sync time.Duration) {
	return f.crypto, f.read, f.write, f.sync
}

// TestPhasesOfSides: what each combination of sides makes of the same work: 4 s of reading, 3 s of writing, 1 s of names,
// 2 s of a sync, one after the other, and 1 s of nothing.
func TestPhasesOfSides(t *testing.T) {
	const s = time.Second
	source, target := fakeTimes{crypto: s, read: 2 * s}, fakeTimes{crypto: s, write: 2 * s, sync: s}
	for name, c := range map[string]struct {
		meter *phaseMeter
		want  map[string]float64
	}{
		"host to host": {&phaseMeter{}, map[string]float64{report.PhaseSourceRead: 4, report.PhaseImageWrite: 3, report.PhaseFileSystem: 1, report.PhaseSync: 2, report.PhaseOther: 1}},
		"volume to host": {&phaseMeter{source: &source}, map[string]float64{report.PhaseSourceRead: 2, report.PhaseCrypto: 1, report.PhaseFileSystem: 1 + 1,
			report.PhaseImageWrite: 3, report.PhaseSync: 2, report.PhaseOther: 1}},
		// Of the sync, half is the wait and half the file system's own work; of the 5 s of work, 1 is crypto and 2 are writes.
		"host to volume": {&phaseMeter{target: &target}, map[string]float64{report.PhaseSourceRead: 4, report.PhaseCrypto: 1, report.PhaseImageWrite: 2,
			report.PhaseFileSystem: 2, report.PhaseSync: 1, report.PhaseOther: 1}},
		"volume to volume": {&phaseMeter{source: &source, target: &target}, map[string]float64{report.PhaseSourceRead: 2, report.PhaseCrypto: 2, report.PhaseImageWrite: 2,
			report.PhaseFileSystem: 3, report.PhaseSync: 1, report.PhaseOther: 1}},
		"into a drive": {&phaseMeter{target: &target, targetMount: true}, map[string]float64{report.PhaseSourceRead: 4, report.PhaseCrypto: 1, report.PhaseImageWrite: 2,
			report.PhaseKernel: 2, report.PhaseSync: 1, report.PhaseOther: 1}},
		"out of a drive": {&phaseMeter{source: &source, sourceMount: true}, map[string]float64{report.PhaseSourceRead: 2, report.PhaseCrypto: 1, report.PhaseKernel: 1,
			report.PhaseImageWrite: 3, report.PhaseFileSystem: 1, report.PhaseSync: 2, report.PhaseOther: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := c.meter
				m.clock.watch = startWatch(nil)
				for a, d := range [activities]time.Duration{doingRead: 4 * s, doingWrite: 3 * s, doingMeta: s, doingSync: 2 * s} {
					m.clock.enter(activity(a))
					time.Sleep(d)
					m.clock.leave(activity(a))
				}
				time.Sleep(s)
				sum := 0.0
				for _, p := range m.phases(11) {
					sum += p.Seconds
					if math.Abs(p.Seconds-c.want[p.Name]) > 1e-6 {
						t.Errorf("%s: %v s, not %v", p.Name, p.Seconds, c.want[p.Name])
					}
				}
				if math.Abs(sum-11) > 1e-6 {
					t.Errorf("they add up to %v s", sum)
				}
			})
		})
	}
}

// TestPhasesOfOneDevice: a copy inside one volume divides what its device did by what either side was busy.
func TestPhasesOfOneDevice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		device := fakeTimes{crypto: 4 * time.Second, read: time.Second, write: 2 * time.Second}
		m := &phaseMeter{source: &device, target: &device, clock: phaseClock{watch: startWatch(nil)}}
		for _, a := range []activity{doingRead, doingWrite} {
			m.clock.enter(a)
			time.Sleep(4 * time.Second)
			m.clock.leave(a)
		}
		for _, p := range m.phases(8) {
			want := map[string]float64{report.PhaseCrypto: 4, report.PhaseSourceRead: 1, report.PhaseImageWrite: 2, report.PhaseFileSystem: 1}[p.Name]
			if math.Abs(p.Seconds-want) > 1e-6 {
				t.Errorf("%s: %v s, not %v", p.Name, p.Seconds, want)
			}
		}
	})
}

// TestPhasesNeverNegative: a device that claims more than the time there was does not make anything negative.
func TestPhasesNeverNegative(t *testing.T) {
	device := fakeTimes{crypto: time.Hour, read: time.Hour, write: time.Hour, sync: time.Hour}
	m := &phaseMeter{source: &device, target: &device, clock: phaseClock{watch: startWatch(nil)}}
	m.clock.enter(doingWrite)
	m.clock.leave(doingWrite)
	sum := 0.0
	for _, p := range m.phases(2) {
		if sum += p.Seconds; p.Seconds < 0 || math.IsNaN(p.Seconds) {
			t.Errorf("%+v", p)
		}
	}
	if math.Abs(sum-2) > 1e-9 {
		t.Errorf("they add up to %v", sum)
	}
}

// recordOneBlock is everything that is recorded of 1 MiB on its way: read and written under the clock, booked, the device
// below timed in chunks of 256 KiB.
func recordOneBlock(c *phaseClock, r *rate.Recorder, start time.Time, counter *atomic.Int64) {
	c.enter(doingRead)
	c.leave(doingRead)
	c.enter(doingWrite)
	for range 4 {
		a := time.Since(start)
		b := time.Since(start)
		counter.Add(int64(b - a))
		counter.Add(int64(time.Since(start) - b))
	}
	c.leave(doingWrite)
	r.Book(blockBytes)
}

// BenchmarkRecording is the cost of recording 1 MiB, and its part of the 210 us that a block of 1 MiB takes at 5 GB/s: to stay
// under 1 %.
func BenchmarkRecording(b *testing.B) {
	r, err := rate.New(0, nil)
	if err != nil {
		b.Fatal(err)
	}
	r.Start()
	c, start := &phaseClock{watch: startWatch(&Control{})}, time.Now()
	var counter atomic.Int64
	b.SetBytes(blockBytes)
	for b.Loop() {
		recordOneBlock(c, r, start, &counter)
	}
	perBlock := float64(b.Elapsed().Nanoseconds()) / float64(b.N)
	b.ReportMetric(100*perBlock/(blockBytes/5.0), "%-at-5GB/s")
}
