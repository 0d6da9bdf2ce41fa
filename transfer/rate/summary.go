package rate

import (
	"math"
	"slices"
	"time"
)

// Summary is what a transfer record says about rates. Rates are in bytes per
// second, unrounded.
type Summary struct {
	// WindowSeconds is the length of the windows below.
	WindowSeconds float64 `json:"windowSeconds"`
	// SingleWindow is set when the whole windows do not describe the run: there is
	// none or one; or they hold less than half of the bytes; or there are fewer
	// than eight and the partial window takes the average out of their range.
	// Average, maximum, minimum and percentiles are then the same number and there
	// is no series (docs/adr-0001-single-window.md).
	SingleWindow bool `json:"singleWindow"`
	// Average is all bytes over the seconds of copy and sync.
	Average float64 `json:"average"`
	// Maximum and Minimum are the highest and lowest whole window.
	Maximum float64 `json:"maximum"`
	Minimum float64 `json:"minimum"`
	// CopyAverage is all bytes over the seconds of copy alone.
	CopyAverage float64 `json:"copyAverage"`
	// P5, P50 and P95 are percentiles of the whole windows, by nearest rank.
	P5  float64 `json:"p5"`
	P50 float64 `json:"p50"`
	P95 float64 `json:"p95"`
	// FilesPerSecond is files over the seconds of copy and sync.
	FilesPerSecond float64 `json:"filesPerSecond"`
	// Series is the rate of each whole window in order.
	Series []float64 `json:"series"`
}

// Summary computes the figures; End is called if it was not. files is the
// number of files that were copied.
func (r *Recorder) Summary(files int64) Summary {
	r.End()
	r.mu.Lock()
	defer r.mu.Unlock()
	total := r.ended
	s := Summary{
		Average:        per(r.bytes, total),
		CopyAverage:    per(r.bytes, r.copied),
		FilesPerSecond: per(files, total),
		Series:         []float64{},
	}
	window, sums := r.windowsLocked(total)
	s.WindowSeconds = window.Seconds()
	whole := int(total / window)
	if !describes(sums[:min(whole, len(sums))], whole, window, r.bytes, s.Average) {
		s.SingleWindow = true
		s.Maximum, s.Minimum = s.Average, s.Average
		s.P5, s.P50, s.P95 = s.Average, s.Average, s.Average
		return s
	}
	s.Series = make([]float64, whole)
	for i := range s.Series {
		if i < len(sums) {
			s.Series[i] = per(sums[i], window)
		}
	}
	sorted := slices.Clone(s.Series)
	slices.Sort(sorted)
	s.Minimum, s.Maximum = sorted[0], sorted[whole-1]
	s.P5, s.P50, s.P95 = percentile(sorted, 5), percentile(sorted, 50), percentile(sorted, 95)
	return s
}

// describes tells whether whole windows, of which sums holds the beginning (the
// rest are 0), may stand for a run of so many bytes and this average.
func describes(sums []int64, whole int, window time.Duration, bytes int64, average float64) bool {
	if whole < 2 {
		return false
	}
	var held, low, high int64
	if len(sums) == whole {
		low = sums[0]
	}
	for _, n := range sums {
		held, low, high = held+n, min(low, n), max(high, n)
	}
	if held < bytes-held {
		return false
	}
	return whole >= shortRun || per(low, window) <= average && average <= per(high, window)
}

// windowsLocked is the window that applies to a run of length total, and the bytes per window.
func (r *Recorder) windowsLocked(total time.Duration) (time.Duration, []int64) {
	if total >= shortRun*r.window {
		if !r.folded {
			r.foldLocked()
		}
		r.widenLocked(total)
		return r.window, r.windows
	}
	w := shortWindow(total)
	if r.folded { // cannot be: folding needs a booking past shortRun windows, and End comes after it
		return r.window, r.windows
	}
	return w, fold(r.slots, int(w/Slot))
}

// shortWindow is an eighth of the run, cut to whole slots, at least MinWindow.
func shortWindow(total time.Duration) time.Duration {
	return max((total / shortRun).Truncate(Slot), MinWindow)
}

// per is n per second over d; 0 when no time passed, rather than infinity.
func per(n int64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return float64(n) / d.Seconds()
}

// percentile is the nearest-rank percentile p (0 < p <= 100) of sorted values.
func percentile(sorted []float64, p float64) float64 {
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[min(max(rank, 1), len(sorted))-1]
}
