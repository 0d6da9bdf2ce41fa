package rate

import "time"

// Progress is what a recorder has seen so far, while it goes on: for a screen, never for a record. Rates are in bytes per
// second.
type Progress struct {
	Bytes   int64
	Elapsed time.Duration
	// Current is the rate over the last second, Average that since the start.
	Current, Average float64
	// Window is the length of the windows; it doubles when a run becomes very long.
	Window time.Duration
	// Whole is how many windows are complete, Maximum and Minimum the highest and lowest of them; 0 before there is one.
	Whole            int
	Maximum, Minimum float64
	// Series is the rate of each of them from the number asked for on.
	Series []float64
}

// Progress tells what was booked so far. Windows are as long as those of the summary will be unless the run ends before
// eight of them are complete.
func (r *Recorder) Progress(from int) Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := r.ended
	if !r.isEnded {
		at = r.elapsedLocked()
	}
	p := Progress{Bytes: r.bytes, Elapsed: at, Average: per(r.bytes, at)}
	if !r.isEnded {
		p.Current = r.currentLocked(at)
	}
	sums := r.windows
	if at >= shortRun*r.window {
		_, sums = r.windowsLocked(at)
	} else if !r.folded {
		sums = fold(r.slots, int(r.window/Slot))
	}
	p.Window = r.window
	p.Whole = int(at / p.Window)
	for i := range p.Whole {
		var sum int64
		if i < len(sums) {
			sum = sums[i]
		}
		speed := per(sum, p.Window)
		if i == 0 {
			p.Maximum, p.Minimum = speed, speed
		}
		p.Maximum, p.Minimum = max(p.Maximum, speed), min(p.Minimum, speed)
		if i >= from {
			p.Series = append(p.Series, speed)
		}
	}
	return p
}
