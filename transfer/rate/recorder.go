// Package rate measures how fast bytes are accepted: it books them in slots of
// 10 ms and turns the slots into windows of fixed length, their highest, lowest
// and percentile rates, and averages. Nothing is smoothed, nothing is estimated.
//
// The package is pure: the clock is injected, there is no I/O and no goroutine.
// The definitions are those of the command-line specification, "What a transfer
// record holds"; what counts as a single window is in docs/adr-0001-single-window.md.
package rate

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	// Slot is the resolution at which bytes are booked.
	Slot = 10 * time.Millisecond
	// DefaultWindow is the length of a window when none is asked for.
	DefaultWindow = time.Second
	// MinWindow is the shortest window a short run falls back to.
	MinWindow = 50 * time.Millisecond
	// MaxWindow is the longest window that may be asked for; it bounds memory.
	MaxWindow = time.Minute

	// shortRun is the number of windows below which a run counts as short and
	// gets windows of an eighth of its own time.
	shortRun = 8
	// maxWindows bounds memory (8 MiB) whatever the clock does: beyond it the
	// window length doubles. At one second that is after twelve days.
	maxWindows = 1 << 20
)

// ErrWindow is returned for a window that is not a positive multiple of Slot
// between MinWindow and MaxWindow.
var ErrWindow = errors.New("rate: window must be a multiple of 10 ms from 50 ms to 60 s")

// CheckWindow tells whether w may be used as a window; 0 stands for DefaultWindow.
func CheckWindow(w time.Duration) error {
	if w == 0 {
		return nil
	}
	if w < MinWindow || w > MaxWindow || w%Slot != 0 {
		return fmt.Errorf("%w, not %v", ErrWindow, w)
	}
	return nil
}

// Recorder books accepted bytes. All methods may be called concurrently.
// Its memory is bounded whatever the run time and whatever the clock does.
type Recorder struct {
	now func() time.Time

	mu      sync.Mutex
	started bool
	start   time.Time
	last    time.Duration // highest elapsed time seen: a clock running backwards is clamped to it
	window  time.Duration
	slots   []int64 // while the run is short; nil afterwards
	windows []int64 // once it is not
	folded  bool
	bytes   int64
	copied  time.Duration // elapsed time at CopyDone
	ended   time.Duration // elapsed time at End
	isEnded bool
	isDone  bool

	recent     [recentSlots]int64 // ring of the latest slots, for Current
	recentLast int64              // slot index of the newest one in the ring
}

// recentSlots covers the second that Current looks back on, and the slot being filled.
const recentSlots = int64(time.Second/Slot) + 1

// New returns a recorder with the given window (0: DefaultWindow) and clock
// (nil: time.Now, whose monotonic reading makes wall-clock jumps harmless).
func New(window time.Duration, now func() time.Time) (*Recorder, error) {
	if err := CheckWindow(window); err != nil {
		return nil, err
	}
	if window == 0 {
		window = DefaultWindow
	}
	if now == nil {
		now = time.Now
	}
	return &Recorder{now: now, window: window}, nil
}

// Start sets the zero of time. A second call is ignored.
func (r *Recorder) Start() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.startLocked()
}

func (r *Recorder) startLocked() {
	if !r.started {
		r.started, r.start = true, r.now()
	}
}

// elapsedLocked is the time since Start; it never goes backwards.
func (r *Recorder) elapsedLocked() time.Duration {
	r.startLocked()
	d := max(r.now().Sub(r.start), 0)
	if d > r.last {
		r.last = d
	}
	return r.last
}

// Book notes that n payload bytes have just been accepted by the destination.
// It does nothing for n <= 0 and after End.
func (r *Recorder) Book(n int64) {
	if n <= 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isEnded {
		return
	}
	at := r.elapsedLocked()
	r.bytes += n
	r.bookRecentLocked(int64(at/Slot), n)
	if !r.folded && at >= shortRun*r.window {
		r.foldLocked()
	}
	if !r.folded {
		i := int(at / Slot)
		r.slots = grow(r.slots, i)
		r.slots[i] += n
		return
	}
	r.widenLocked(at)
	i := int(at / r.window)
	r.windows = grow(r.windows, i)
	r.windows[i] += n
}

// grow makes s[i] exist.
func grow(s []int64, i int) []int64 {
	if i < len(s) {
		return s
	}
	if i < cap(s) {
		return s[:i+1] // never shrunk, so the tail is still zero
	}
	n := make([]int64, i+1, max(64, (i+1)*3/2))
	copy(n, s)
	return n
}

// foldLocked turns slots into windows once the run is long enough for its window.
func (r *Recorder) foldLocked() {
	r.windows = fold(r.slots, int(r.window/Slot))
	r.slots, r.folded = nil, true
}

// fold sums groups of n consecutive values.
func fold(slots []int64, n int) []int64 {
	out := make([]int64, (len(slots)+n-1)/n)
	for i, v := range slots {
		out[i/n] += v
	}
	return out
}

// widenLocked doubles the window until time at fits into maxWindows of them.
func (r *Recorder) widenLocked(at time.Duration) {
	for int64(at/r.window) >= maxWindows {
		r.windows = fold(r.windows, 2)
		r.window *= 2
	}
}

func (r *Recorder) bookRecentLocked(slot, n int64) {
	if slot > r.recentLast {
		for i := max(r.recentLast+1, slot-recentSlots+1); i <= slot; i++ {
			r.recent[i%recentSlots] = 0
		}
		r.recentLast = slot
	}
	r.recent[slot%recentSlots] += n
}

// Bytes is the number of bytes booked so far.
func (r *Recorder) Bytes() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.bytes
}

// Elapsed is the time since Start, or up to End.
func (r *Recorder) Elapsed() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isEnded {
		return r.ended
	}
	return r.elapsedLocked()
}

// Current is the rate over the last second (less at the very start) in bytes
// per second: for a progress line, never for a record.
func (r *Recorder) Current() float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.currentLocked(r.elapsedLocked())
}

func (r *Recorder) currentLocked(at time.Duration) float64 {
	r.bookRecentLocked(int64(at/Slot), 0)
	span := min(at, time.Second)
	if span < Slot {
		return 0
	}
	var sum int64
	for _, v := range r.recent {
		sum += v
	}
	return float64(sum) / span.Seconds()
}

// CopyDone marks the end of copying and the beginning of the final sync.
func (r *Recorder) CopyDone() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.isDone && !r.isEnded {
		r.copied, r.isDone = r.elapsedLocked(), true
	}
}

// End marks the end of the final sync; nothing is booked afterwards.
func (r *Recorder) End() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.isEnded {
		return
	}
	r.ended, r.isEnded = r.elapsedLocked(), true
	if !r.isDone {
		r.copied, r.isDone = r.ended, true
	}
}
