//go:build probe

package window

import (
	"encoding/json"
	"expvar"
	"slices"
	"sync"
	"time"
)

// Responsiveness, measured in the process: how long a function that is posted to Fyne's goroutine waits until it runs. A program
// built with the measured loop of .ci/story tells also what that goroutine did with its time: drawing, events, posted functions.

// postStep is the time between two posted functions.
const postStep = 50 * time.Millisecond

func init() {
	var m measurement
	probes["measure"] = func(order string) any {
		if order == "start" {
			m.start()
			return map[string]bool{"measuring": true}
		}
		return m.take()
	}
}

// span is the distribution of a time, in milliseconds.
type span struct {
	Count int     `json:"count"`
	P50   float64 `json:"p50"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
}

// spanOf sorts times, which are in milliseconds.
func spanOf(times []float64) span {
	if len(times) == 0 {
		return span{}
	}
	slices.Sort(times)
	at := func(part float64) float64 { return times[int(part*float64(len(times)-1))] }
	return span{len(times), at(0.5), at(0.99), times[len(times)-1]}
}

type measurement struct {
	mu     sync.Mutex
	stop   chan struct{}
	delays []float64
}

// start forgets what was measured and begins anew.
func (m *measurement) start() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stop != nil {
		close(m.stop)
	}
	stop := make(chan struct{})
	m.stop, m.delays = stop, nil
	loopTimes()
	go func() {
		tick := time.NewTicker(postStep)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case posted := <-tick.C:
				posted = time.Now()
				idle.post(func() { m.note(stop, time.Since(posted)) })
			}
		}
	}()
}

func (m *measurement) note(of chan struct{}, delay time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stop == of {
		m.delays = append(m.delays, float64(delay)/1e6)
	}
}

// take ends measuring and tells what was found, by name.
func (m *measurement) take() map[string]span {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stop != nil {
		close(m.stop)
		m.stop = nil
	}
	found := map[string]span{"posted function waits": spanOf(m.delays)}
	for name, times := range loopTimes() {
		found[name] = spanOf(times)
	}
	return found
}

// loopTimes are what the measured loop has noted since it was asked last; nothing in a program without it.
func loopTimes() map[string][]float64 {
	times := map[string][]float64{}
	if v := expvar.Get("fyne.loop"); v != nil {
		_ = json.Unmarshal([]byte(v.String()), &times)
	}
	return times
}
