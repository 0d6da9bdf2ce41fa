package blocktest

import (
	"fmt"
	"iter"
	"math/rand/v2"
)

// sectorBytes is the unit a disk writes whole or not at all.
const sectorBytes = 512

// Mode says which of the writes that were not yet synced reached the disk.
type Mode uint8

// The modes of a Cut.
const (
	KeepAll   Mode = iota // every write before the cut: a plain prefix
	KeepNone              // only what was synced
	KeepSome              // a seeded random choice; some writes only in part
	TornLast              // all, but of the last write only the first Sectors*512 bytes
	TornAlone             // of the unsynced writes only the first Sectors*512 bytes of the last
)

func (m Mode) String() string {
	names := [...]string{"keep-all", "keep-none", "keep-some", "torn-last", "torn-alone"}
	if int(m) >= len(names) {
		return "?"
	}
	return names[m]
}

// Cut is one power cut: after the first At events of a log.
type Cut struct {
	At      int
	Mode    Mode
	Seed    uint64 // of KeepSome
	Sectors int    // of TornLast and TornAlone: sectors of 512 B that got through
}

func (c Cut) String() string {
	return fmt.Sprintf("cut at event %d, %v, seed %d, sectors %d", c.At, c.Mode, c.Seed, c.Sectors)
}

// Image returns what the cut leaves on the disk. It costs a replay of the
// log's beginning; States is cheaper for many cuts.
func (l *Log) Image(c Cut) (*Mem, error) {
	events := l.Events()[:c.At]
	synced := lastSync(events)
	m := l.Start()
	if err := applyAll(m, events[:synced]); err != nil {
		return nil, err
	}
	return m, applyCut(m, events[synced:], c)
}

// lastSync is the number of events that a sync among them made durable.
func lastSync(events []Event) int {
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].Kind == Sync {
			return i + 1
		}
	}
	return 0
}

func applyAll(m *Mem, events []Event) error {
	for _, e := range events {
		if err := e.apply(m); err != nil {
			return fmt.Errorf("apply %v: %w", e, err)
		}
	}
	return nil
}

// applyCut applies the part of the unsynced events that c keeps.
func applyCut(m *Mem, unsynced []Event, c Cut) error {
	switch c.Mode {
	case KeepAll:
		return applyAll(m, unsynced)
	case KeepNone:
		return nil
	case KeepSome:
		return applySome(m, unsynced, c.Seed)
	}
	last := lastWrite(unsynced)
	if last < 0 {
		if c.Mode == TornLast {
			return applyAll(m, unsynced)
		}
		return nil
	}
	if c.Mode == TornLast {
		if err := applyAll(m, unsynced[:last]); err != nil {
			return err
		}
	}
	torn := unsynced[last]
	torn.Data = torn.Data[:min(len(torn.Data), c.Sectors*sectorBytes)]
	torn.Len = int64(len(torn.Data))
	return torn.apply(m)
}

func lastWrite(events []Event) int {
	for i := len(events) - 1; i >= 0; i-- {
		if events[i].Kind == Write {
			return i
		}
	}
	return -1
}

// applySome keeps a random share of the writes. Nothing orders unsynced writes
// of a disk, nor the sectors inside one, so a write may also arrive in part.
func applySome(m *Mem, events []Event, seed uint64) error {
	r := rand.New(rand.NewPCG(seed, 0x637574))
	share := []float64{0.1, 0.5, 0.5, 0.9}[r.IntN(4)]
	for _, e := range events {
		if e.Kind == Write && e.Len > sectorBytes && r.IntN(4) == 0 {
			if err := applySectors(m, e, r, share); err != nil {
				return err
			}
			continue
		}
		if r.Float64() < share {
			if err := e.apply(m); err != nil {
				return fmt.Errorf("apply %v: %w", e, err)
			}
		}
	}
	return nil
}

func applySectors(m *Mem, e Event, r *rand.Rand, share float64) error {
	for done := int64(0); done < e.Len; {
		// Steps end at sector boundaries of the disk, not of the write.
		n := min(e.Len-done, sectorBytes-(e.Off+done)%sectorBytes)
		if r.Float64() < share {
			part := Event{Kind: Write, Off: e.Off + done, Len: n, Data: e.Data[done : done+n]}
			if err := part.apply(m); err != nil {
				return err
			}
		}
		done += n
	}
	return nil
}

// StateOptions chooses the power cuts that States makes.
type StateOptions struct {
	From, To int  // cuts after From..To events; To 0 = the whole log
	Stride   int  // every Stride-th cut only; 0 or 1 = every one
	Subsets  int  // random subsets of the unsynced writes per cut
	Torn     bool // also the last write torn at each 512-byte step, with and without the other unsynced ones
	Seed     uint64
}

// States makes the images of many power cuts, in the order of the log: for
// each cut every write kept, none of the unsynced kept, Subsets random
// choices, and torn last writes. Cuts that give the same image as the one
// before (nothing unsynced, a mark) are left out, except that every prefix
// is made once. Each image belongs to the loop's body, which may change it.
// A log that cannot be applied panics: it is a mistake in the test device.
func (l *Log) States(o StateOptions) iter.Seq2[Cut, *Mem] {
	events := l.Events()
	if o.To == 0 || o.To > len(events) {
		o.To = len(events)
	}
	o.Stride = max(o.Stride, 1)
	return func(yield func(Cut, *Mem) bool) {
		w := &stateWalk{events: events, durable: l.Start(), prefix: l.Start(), yield: yield}
		for at := 0; at <= o.To; at++ {
			if at > 0 {
				w.step(at)
			}
			if at < o.From || (at-o.From)%o.Stride != 0 {
				continue
			}
			if at > o.From && o.Stride == 1 && (events[at-1].Kind == Mark) {
				continue
			}
			if !w.cuts(at, o) {
				return
			}
		}
	}
}

// stateWalk carries the two running states of States through the log.
type stateWalk struct {
	events  []Event
	durable *Mem // everything up to the last sync
	synced  int  // events in durable
	prefix  *Mem // every event so far
	yield   func(Cut, *Mem) bool
}

func (w *stateWalk) must(err error) {
	if err != nil {
		panic(fmt.Sprintf("blocktest: %v", err))
	}
}

func (w *stateWalk) step(at int) {
	e := w.events[at-1]
	w.must(applyAll(w.prefix, w.events[at-1:at]))
	if e.Kind == Sync {
		w.must(applyAll(w.durable, w.events[w.synced:at]))
		w.synced = at
	}
}

// cuts yields all images for a cut after at events.
func (w *stateWalk) cuts(at int, o StateOptions) bool {
	if !w.yield(Cut{At: at, Mode: KeepAll}, w.prefix.Clone()) {
		return false
	}
	unsynced := w.events[w.synced:at]
	last := lastWrite(unsynced)
	if last < 0 && !hasChange(unsynced) {
		return true
	}
	var list []Cut
	list = append(list, Cut{At: at, Mode: KeepNone})
	for k := range o.Subsets {
		list = append(list, Cut{At: at, Mode: KeepSome, Seed: o.Seed + uint64(at)*1_000_003 + uint64(k)})
	}
	if o.Torn && last == len(unsynced)-1 {
		for k := 1; int64(k)*sectorBytes < unsynced[last].Len; k++ {
			list = append(list, Cut{At: at, Mode: TornLast, Sectors: k}, Cut{At: at, Mode: TornAlone, Sectors: k})
		}
	}
	for _, c := range list {
		m := w.durable.Clone()
		w.must(applyCut(m, unsynced, c))
		if !w.yield(c, m) {
			return false
		}
	}
	return true
}

func hasChange(events []Event) bool {
	for _, e := range events {
		if e.Kind == Write || e.Kind == Discard || e.Kind == Truncate {
			return true
		}
	}
	return false
}
