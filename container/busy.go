package container

import (
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// busy counts how long a volume has been at what, summed over all goroutines. It is always on: a large request is timed
// once for each chunk, of small ones a random few stand for all.
type busy struct {
	start                     time.Time
	crypto, read, write, sync atomic.Int64 // nanoseconds
}

const (
	// busySmall is the size below which timing every request would cost more than a percent of it.
	busySmall = 32 << 10
	// busySample: one small request in so many is timed.
	busySample = 64
)

// weight is for how many requests like this one of n bytes stands; 0: it is not timed. Which small requests are timed is
// random, so that no sector written over and over is always or never among them.
func (b *busy) weight(n int) int64 {
	if n >= busySmall {
		return 1
	}
	if rand.Uint32()%busySample == 0 {
		return busySample
	}
	return 0
}

// now begins a stretch of something with that weight.
func (b *busy) now(weight int64) time.Duration {
	if weight == 0 {
		return 0
	}
	return time.Since(b.start)
}

// add books the stretch since from and begins the next one.
func (b *busy) add(to *atomic.Int64, from time.Duration, weight int64) time.Duration {
	if weight == 0 {
		return 0
	}
	now := time.Since(b.start)
	to.Add(int64(now-from) * weight)
	return now
}

// BusyTimes is how long the volume has been at work since it was opened: ciphers, reads from and writes to the device,
// and syncs of it. Goroutines at work side by side count each; of requests below 32 KiB a random sample is timed and
// stands for the others. What remains of the time that a caller saw are locks and the merging of edges.
func (v *Volume) BusyTimes() (crypto, read, write, sync time.Duration) {
	b := &v.busy
	return time.Duration(b.crypto.Load()), time.Duration(b.read.Load()), time.Duration(b.write.Load()), time.Duration(b.sync.Load())
}
