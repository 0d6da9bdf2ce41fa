package agent

import (
	"sync"
	"time"

	"coffer/app/protocol"
)

// Traffic is what has passed some place, and how fast it passes now.
type Traffic = protocol.Traffic

// counts are the counters of both places at one moment.
type counts struct {
	at                  time.Time
	fileSystem, backing struct{ read, written int64 }
}

// meterSpan is what "now" means for a rate, meterStep how often the counters are looked at.
const (
	meterSpan = 3 * time.Second
	meterStep = time.Second
)

// meter keeps the counters of the last seconds.
type meter struct {
	mu      sync.Mutex
	samples []counts // oldest first
}

// sample notes the counters.
func (m *meter) sample(now counts) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.samples = append(m.samples, now)
	for len(m.samples) > 1 && now.at.Sub(m.samples[1].at) >= meterSpan {
		m.samples = append(m.samples[:0], m.samples[1:]...)
	}
}

// traffic is what the counters say now: at the file system and at the image file.
func (m *meter) traffic(now counts) (fileSystem, image Traffic) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := now
	if len(m.samples) > 0 {
		before = m.samples[0]
	}
	seconds := now.at.Sub(before.at).Seconds()
	rate := func(from, to int64) float64 {
		if seconds <= 0 {
			return 0
		}
		return float64(to-from) / seconds
	}
	between := func(before, now struct{ read, written int64 }) Traffic {
		return Traffic{BytesRead: now.read, BytesWritten: now.written,
			ReadRate: rate(before.read, now.read), WriteRate: rate(before.written, now.written)}
	}
	return between(before.fileSystem, now.fileSystem), between(before.backing, now.backing)
}
