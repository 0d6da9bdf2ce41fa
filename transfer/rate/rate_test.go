package rate

import (
	"errors"
	"math"
	"math/rand/v2"
	"sort"
	"testing"
	"time"
)

// clock is a hand-driven clock.
type clock struct{ t time.Time }

func (c *clock) now() time.Time { return c.t }

func newClock() *clock { return &clock{t: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)} }

// write is one traced write: when it was accepted and how long it was.
type write struct {
	at    time.Duration
	bytes int64
}

// recompute derives every figure from the trace alone, by another road than the
// recorder: for each window it walks the whole trace.
func recompute(trace []write, window, copied, total time.Duration, files int64) Summary {
	var bytes int64
	for _, w := range trace {
		bytes += w.bytes
	}
	if total < 8*window {
		window = total / 8
		window -= window % (10 * time.Millisecond)
		if window < 50*time.Millisecond {
			window = 50 * time.Millisecond
		}
	}
	s := Summary{
		WindowSeconds:  window.Seconds(),
		Average:        float64(bytes) / total.Seconds(),
		CopyAverage:    float64(bytes) / copied.Seconds(),
		FilesPerSecond: float64(files) / total.Seconds(),
	}
	for from := time.Duration(0); from+window <= total; from += window {
		var in int64
		for _, w := range trace {
			if w.at >= from && w.at < from+window {
				in += w.bytes
			}
		}
		s.Series = append(s.Series, float64(in)/window.Seconds())
	}
	var inside float64
	outside := true
	for _, v := range s.Series {
		inside += v * window.Seconds()
	}
	for _, v := range s.Series {
		for _, w := range s.Series {
			outside = outside && !(v <= s.Average && s.Average <= w)
		}
	}
	if n := len(s.Series); n < 2 || math.Round(inside)*2 < float64(bytes) || n < 8 && outside {
		s.Series, s.SingleWindow = nil, true
		s.Maximum, s.Minimum, s.P5, s.P50, s.P95 = s.Average, s.Average, s.Average, s.Average, s.Average
		return s
	}
	sorted := append([]float64(nil), s.Series...)
	sort.Float64s(sorted)
	s.Minimum, s.Maximum = sorted[0], sorted[len(sorted)-1]
	rank := func(p int) float64 { // smallest value with at least p percent of the windows at or below it
		for _, v := range sorted {
			n := 0
			for _, x := range sorted {
				if x <= v {
					n++
				}
			}
			if n*100 >= p*len(sorted) {
				return v
			}
		}
		return math.NaN()
	}
	s.P5, s.P50, s.P95 = rank(5), rank(50), rank(95)
	return s
}

func same(a, b float64) bool {
	return math.Abs(a-b) <= 1e-9*math.Max(1, math.Max(math.Abs(a), math.Abs(b)))
}

func compare(t *testing.T, got, want Summary) {
	t.Helper()
	pairs := map[string][2]float64{
		"window": {got.WindowSeconds, want.WindowSeconds}, "average": {got.Average, want.Average},
		"maximum": {got.Maximum, want.Maximum}, "minimum": {got.Minimum, want.Minimum},
		"copyAverage": {got.CopyAverage, want.CopyAverage}, "p5": {got.P5, want.P5}, "p50": {got.P50, want.P50},
		"p95": {got.P95, want.P95}, "files": {got.FilesPerSecond, want.FilesPerSecond},
		"windows": {float64(len(got.Series)), float64(len(want.Series))},
	}
	for name, p := range pairs {
		if !same(p[0], p[1]) {
			t.Fatalf("%s = %v, the trace says %v", name, p[0], p[1])
		}
	}
	for i := range got.Series {
		if !same(got.Series[i], want.Series[i]) {
			t.Fatalf("series[%d] = %v, the trace says %v", i, got.Series[i], want.Series[i])
		}
	}
	if got.SingleWindow != want.SingleWindow {
		t.Fatalf("single window = %v, the trace says %v", got.SingleWindow, want.SingleWindow)
	}
}

// replay books the trace and returns the recorder's figures.
func replay(t *testing.T, trace []write, window, copied, total time.Duration, files int64) Summary {
	t.Helper()
	c := newClock()
	zero := c.t
	r, err := New(window, c.now)
	if err != nil {
		t.Fatal(err)
	}
	r.Start()
	done := false
	for _, w := range trace {
		if !done && w.at > copied {
			c.t = zero.Add(copied)
			r.CopyDone()
			done = true
		}
		c.t = zero.Add(w.at)
		r.Book(w.bytes)
	}
	if !done {
		c.t = zero.Add(copied)
		r.CopyDone()
	}
	c.t = zero.Add(total)
	return r.Summary(files)
}

func TestSummaryAgreesWithTheTrace(t *testing.T) {
	for seed := range uint64(400) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		window := []time.Duration{50 * time.Millisecond, 100 * time.Millisecond, 250 * time.Millisecond, time.Second, 2 * time.Second}[rnd.IntN(5)]
		var trace []write
		var at time.Duration
		for range rnd.IntN(300) {
			at += time.Duration(rnd.Int64N(int64(80 * time.Millisecond)))
			if rnd.IntN(40) == 0 {
				at += time.Duration(rnd.Int64N(int64(5 * time.Second))) // a stall
			}
			trace = append(trace, write{at, 1 + rnd.Int64N(1<<20)})
		}
		copied := at + time.Duration(1+rnd.Int64N(int64(time.Second)))
		total := copied + time.Duration(rnd.Int64N(int64(3*time.Second)))
		files := rnd.Int64N(1000)
		got := replay(t, trace, window, copied, total, files)
		compare(t, got, recompute(trace, window, copied, total, files))
		if got.Minimum > got.Maximum {
			t.Fatalf("seed %d: minimum %v > maximum %v", seed, got.Minimum, got.Maximum)
		}
		if n := len(got.Series); n < 8 && (got.Minimum > got.Average || got.Average > got.Maximum) {
			t.Fatalf("seed %d: %d windows, average %v outside %v..%v", seed, n, got.Average, got.Minimum, got.Maximum)
		}
		// Without a partial window the average lies between the extremes.
		if w := time.Duration(math.Round(got.WindowSeconds * 1e9)); total%w == 0 && (got.Average > got.Maximum*(1+1e-9) || got.Average < got.Minimum*(1-1e-9)) {
			t.Fatalf("seed %d: average %v outside %v..%v", seed, got.Average, got.Minimum, got.Maximum)
		}
	}
}

// The average of whole windows alone always lies between minimum and maximum.
func TestMinimumAverageMaximumWithoutPartialWindow(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 7))
	for range 200 {
		n := 8 + rnd.IntN(20)
		total := time.Duration(n) * time.Second
		var trace []write
		for at := time.Duration(0); at < total; at += time.Duration(1 + rnd.Int64N(int64(300*time.Millisecond))) {
			trace = append(trace, write{at, rnd.Int64N(1 << 22)})
		}
		s := replay(t, trace, time.Second, total-time.Second, total, 1)
		if s.Minimum > s.Average+1e-6 || s.Average > s.Maximum+1e-6 {
			t.Fatalf("minimum %v, average %v, maximum %v", s.Minimum, s.Average, s.Maximum)
		}
	}
}

func TestSingleWindow(t *testing.T) {
	s := replay(t, []write{{time.Millisecond, 1000}}, 0, 20*time.Millisecond, 40*time.Millisecond, 1)
	if !s.SingleWindow || s.Average != 25000 || s.Maximum != s.Average || s.Minimum != s.Average || len(s.Series) != 0 {
		t.Fatalf("%+v", s)
	}
	if s.CopyAverage != 50000 || s.WindowSeconds != 0.05 {
		t.Fatalf("%+v", s)
	}
}

// What whole windows cannot tell about a short run is not told by them.
func TestShortRunsAreReadable(t *testing.T) {
	ms := time.Millisecond
	for name, c := range map[string]struct {
		trace  []write
		total  time.Duration
		single bool
	}{
		"one whole window":              {[]write{{10 * ms, 1000}, {60 * ms, 3000}}, 80 * ms, true},
		"nothing in the whole windows":  {[]write{{260 * ms, 1000}}, 290 * ms, true},
		"less than half":                {[]write{{10 * ms, 400}, {60 * ms, 500}, {110 * ms, 1000}}, 130 * ms, true},
		"average above the maximum":     {[]write{{10 * ms, 1000}, {60 * ms, 1000}, {110 * ms, 1900}}, 110 * ms, true},
		"two windows that tell it":      {[]write{{10 * ms, 1000}, {60 * ms, 3000}}, 100 * ms, false},
		"long, with most bytes at last": {[]write{{10 * ms, 1000}, {9500 * ms, 9000}}, 9800 * ms, true},
		"long, average over maximum":    {[]write{{10 * ms, 1000}, {1010 * ms, 1000}, {2010 * ms, 1000}, {3010 * ms, 1000}, {4010 * ms, 1000}, {5010 * ms, 1000}, {6010 * ms, 1000}, {7010 * ms, 1000}, {8010 * ms, 7000}}, 8500 * ms, false},
	} {
		s := replay(t, c.trace, 0, c.total, c.total, 1)
		compare(t, s, recompute(c.trace, time.Second, c.total, c.total, 1))
		if s.SingleWindow != c.single {
			t.Errorf("%s: single window %v: %+v", name, s.SingleWindow, s)
		}
	}
	for seed := range uint64(3000) { // dense in short runs
		rnd := rand.New(rand.NewPCG(seed, 2))
		total := time.Duration(1 + rnd.Int64N(int64(600*ms)))
		var trace []write
		for at := time.Duration(0); at < total; at += time.Duration(1 + rnd.Int64N(int64(total/4+1))) {
			trace = append(trace, write{at, 1 + rnd.Int64N(1<<20)})
		}
		s := replay(t, trace, 0, total, total, 1)
		compare(t, s, recompute(trace, time.Second, total, total, 1))
		if len(s.Series) < 8 && (s.Minimum > s.Average || s.Average > s.Maximum) {
			t.Fatalf("seed %d: average %v outside %v..%v", seed, s.Average, s.Minimum, s.Maximum)
		}
	}
}

func TestNothingCopied(t *testing.T) {
	c := newClock()
	r, _ := New(0, c.now)
	s := r.Summary(0)
	if s.Average != 0 || s.Maximum != 0 || math.IsNaN(s.CopyAverage) || math.IsInf(s.CopyAverage, 0) {
		t.Fatalf("%+v", s)
	}
}

// A stopped process (SIGSTOP) books nothing for a while: zero windows, and the
// bytes after it do not pile up into an inflated maximum.
func TestStopLeavesZeroWindows(t *testing.T) {
	var trace []write
	for i := range 500 {
		at := time.Duration(i) * 10 * time.Millisecond
		if i >= 250 {
			at += 20 * time.Second
		}
		trace = append(trace, write{at, 1 << 20})
	}
	s := replay(t, trace, time.Second, 25*time.Second, 26*time.Second, 1)
	if s.Minimum != 0 || s.Maximum > 101<<20 {
		t.Fatalf("minimum %v, maximum %v", s.Minimum, s.Maximum)
	}
	compare(t, s, recompute(trace, time.Second, 25*time.Second, 26*time.Second, 1))
}

func TestClockBackwardsIsClamped(t *testing.T) {
	c := newClock()
	r, _ := New(0, c.now)
	r.Start()
	c.t = c.t.Add(3 * time.Second)
	r.Book(100)
	c.t = c.t.Add(-time.Hour)
	r.Book(100)
	if r.Elapsed() != 3*time.Second {
		t.Fatalf("elapsed %v", r.Elapsed())
	}
	if s := r.Summary(1); s.Average <= 0 || math.IsInf(s.Average, 0) || s.Average != 200.0/3 {
		t.Fatalf("%+v", s)
	}
}

// A clock that leaps by a century must cost neither memory nor time.
func TestLeapIsBounded(t *testing.T) {
	c := newClock()
	r, _ := New(0, c.now)
	r.Start()
	r.Book(1 << 20)
	c.t = c.t.Add(100 * 365 * 24 * time.Hour)
	r.Book(1 << 20)
	c.t = c.t.Add(time.Second)
	s := r.Summary(1)
	if len(s.Series) > maxWindows || s.WindowSeconds <= 1 {
		t.Fatalf("%d windows of %v s", len(s.Series), s.WindowSeconds)
	}
	var sum float64
	for _, v := range s.Series {
		sum += v * s.WindowSeconds
	}
	if sum > 2<<20+1 || sum < 1<<20-1 {
		t.Fatalf("series holds %v bytes", sum)
	}
}

func TestCurrentLooksBackOneSecond(t *testing.T) {
	c := newClock()
	r, _ := New(0, c.now)
	r.Start()
	for range 300 {
		c.t = c.t.Add(10 * time.Millisecond)
		r.Book(10_000)
	}
	if got := r.Current(); got < 0.97e6 || got > 1.03e6 {
		t.Fatalf("current %v, want about 1e6", got)
	}
	c.t = c.t.Add(5 * time.Second)
	if got := r.Current(); got != 0 {
		t.Fatalf("current %v after 5 idle seconds", got)
	}
}

func TestWindowIsChecked(t *testing.T) {
	for _, w := range []time.Duration{-time.Second, time.Millisecond, 55 * time.Millisecond, 2 * time.Hour} {
		if _, err := New(w, nil); !errors.Is(err, ErrWindow) {
			t.Errorf("window %v: %v", w, err)
		}
	}
}

// BenchmarkBook: at 5 GB/s in 1 MiB blocks there are 4768 bookings a second, so
// 1 % of one core allows 2 us each.
func BenchmarkBook(b *testing.B) {
	r, _ := New(0, nil)
	r.Start()
	for b.Loop() {
		r.Book(1 << 20)
	}
}

func TestRecordingCostsUnderOnePercent(t *testing.T) {
	res := testing.Benchmark(BenchmarkBook)
	perSecond := 5e9 / (1 << 20)
	if cost := float64(res.NsPerOp()) * perSecond / 1e9; cost >= 0.01 {
		t.Fatalf("booking takes %d ns: %.2f %% of a core at 5 GB/s", res.NsPerOp(), cost*100)
	}
}
