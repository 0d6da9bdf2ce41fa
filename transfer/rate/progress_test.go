package rate

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestProgressIsTheBeginningOfTheSummary: what is told on the way is the beginning of what the summary will tell, of a run
// that is not short.
func TestProgressIsTheBeginningOfTheSummary(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 5))
	for round := range 50 {
		c := newClock()
		window := time.Duration(5+rnd.IntN(200)) * Slot
		r, err := New(window, c.now)
		if err != nil {
			t.Fatal(err)
		}
		start := c.t
		r.Start()
		if p := r.Progress(0); p.Whole != 0 || len(p.Series) != 0 || p.Bytes != 0 || p.Average != 0 || p.Window != window {
			t.Fatalf("at the start: %+v", p)
		}
		var seen []float64
		for c.t.Sub(start) < 20*window {
			c.t = c.t.Add(time.Duration(rnd.Int64N(int64(window))))
			if rnd.IntN(4) > 0 {
				r.Book(rnd.Int64N(1 << 20))
			}
			p := r.Progress(len(seen))
			elapsed := c.t.Sub(start)
			if p.Whole != int(elapsed/window) || p.Whole != len(seen)+len(p.Series) || p.Elapsed != elapsed || p.Window != window {
				t.Fatalf("round %d after %v: %d of %d windows of %v from %d on: %+v", round, elapsed, len(p.Series), p.Whole, window, len(seen), p)
			}
			if !same(p.Average*elapsed.Seconds(), float64(p.Bytes)) {
				t.Fatalf("average %v of %d bytes in %v", p.Average, p.Bytes, elapsed)
			}
			seen = append(seen, p.Series...)
			if len(seen) > 0 && (p.Maximum != slices.Max(seen) || p.Minimum != slices.Min(seen)) {
				t.Fatalf("highest %v, lowest %v of %v", p.Maximum, p.Minimum, seen)
			}
		}
		s := r.Summary(1)
		if !slices.Equal(s.Series[:len(seen)], seen) {
			t.Fatalf("round %d: on the way %v, at the end %v", round, seen, s.Series)
		}
		last := r.Progress(0)
		if !slices.Equal(last.Series, s.Series) || last.Maximum != s.Maximum || last.Minimum != s.Minimum || last.Current != 0 {
			t.Fatalf("after the end: %+v", last)
		}
	}
}

// TestProgressOfALongRun: windows that doubled are told with their length.
func TestProgressOfALongRun(t *testing.T) {
	c := newClock()
	r, _ := New(MinWindow, c.now)
	r.Start()
	r.Book(1000)
	c.t = c.t.Add(maxWindows*MinWindow + time.Second)
	if p := r.Progress(0); p.Window != 2*MinWindow || p.Whole != int((maxWindows*MinWindow+time.Second)/(2*MinWindow)) || p.Maximum != 10000 {
		t.Errorf("%v, %d whole, highest %v", p.Window, p.Whole, p.Maximum)
	}
}
