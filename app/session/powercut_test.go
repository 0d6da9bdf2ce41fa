package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"coffer/container"
	"coffer/container/block"
	"coffer/container/block/blocktest"
	"coffer/fat32"
)

// cutTable are the kinds of damage that the table of ordered writes in the architecture lists: check may find nothing else
// after a cut.
var cutTable = map[string]bool{
	fat32.CodeDirty: true, fat32.CodeFreeCount: true, fat32.CodeFATDiffer: true, fat32.CodeLostChain: true, fat32.CodeChainLong: true,
	fat32.CodeLongNameParts: true, fat32.CodeTwoNames: true,
	fat32.CodeDirCycle: true, // two names of one folder
}

// harmlessWhenClean are findings that may be there without the dirty mark: they cost nothing while the volume is used.
var harmlessWhenClean = map[string]bool{fat32.CodeFreeCount: true, fat32.CodeFATDiffer: true}

// setting reads a number for deeper runs from the environment.
func setting(t testing.TB, name string, otherwise int) int {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%q is no number from 1", name, text)
	}
	return n
}

// TestPowerCut cuts the power under an encrypted container. A recorder below the container logs what reaches the image
// file while a seeded workload runs; then images are made of the log as a power cut at some moment leaves them, and each is
// unlocked, checked, repaired, compared with the oracle and used again.
//
// COFFER_POWERCUT_SEEDS is how many workloads run on each kind of volume, COFFER_POWERCUT_STATES how many cuts are looked
// at in each.
func TestPowerCut(t *testing.T) {
	seeds, states := 1, 190
	if testing.Short() {
		states = 12
	}
	seeds, states = setting(t, "COFFER_POWERCUT_SEEDS", seeds), setting(t, "COFFER_POWERCUT_STATES", states)
	var looked, refereed, least atomic.Int64
	t.Run("volumes", func(t *testing.T) {
		for i, k := range shapes() {
			for s := range seeds {
				seed := uint64(1000*i + s + 1)
				t.Run(fmt.Sprintf("%s seed %d", k.name, seed), func(t *testing.T) {
					// While another test starts fsck.vfat, its child has a copy of every open file, and with it the lock
					// of an image that is closed meanwhile: so recordings come first, all together.
					least.Add(int64(states))
					p := recordWorkload(t, k, seed)
					t.Parallel()
					p.looked, p.refereed = &looked, &refereed
					p.look(t, states)
				})
			}
		}
	})
	t.Logf("%d states, %d of them shown to fsck.vfat", looked.Load(), refereed.Load())
	if n := least.Load(); looked.Load() < n || refereed.Load() < n/11 {
		t.Errorf("only %d states and %d for fsck.vfat, want %d and %d", looked.Load(), refereed.Load(), n, n/11)
	}
}

// TestPowerCutLyingDisk takes the syncs out of a recording, as a disk does that says "done" and is not. The judge must
// notice: else it would notice nothing.
func TestPowerCutLyingDisk(t *testing.T) {
	var looked, refereed atomic.Int64
	p := recordWorkload(t, shapes()[1], 77)
	p.looked, p.refereed, p.liar = &looked, &refereed, true
	p.events = slices.DeleteFunc(p.events, func(e blocktest.Event) bool { return e.Kind == blocktest.Sync })
	p.look(t, 30)
	t.Logf("%d of 30 cuts were found out", p.caught)
	if p.caught < 5 {
		t.Errorf("only %d of 30 cuts under a lying disk were found out", p.caught)
	}
}

// powercut is a recorded workload.
type powercut struct {
	shape    shape
	seed     uint64
	path     string // of the image
	events   []blocktest.Event
	start    *blocktest.Mem
	h        *history
	done     []string
	looked   *atomic.Int64
	refereed *atomic.Int64

	liar   bool // the disk lied about its syncs: failures are counted, not told
	caught int
	cached *cachedHeader // an unlocked container over images with this header
}

// look makes n cuts of the recording and judges each.
func (p *powercut) look(t *testing.T, n int) {
	r := rand.New(rand.NewPCG(p.seed, 99))
	durable := p.start
	moments := momentsOf(p.events, r, n)
	first := 0
	for i := 0; i <= len(p.events); i++ {
		if i < len(p.events) && p.events[i].Kind != blocktest.Sync {
			continue
		}
		// events[first:i] were written between two syncs: each cut there starts from the same durable image.
		segment := blocktest.NewLog(durable)
		for _, e := range p.events[first:i] {
			segment.Add(e)
		}
		for len(moments) > 0 && moments[0] <= i {
			p.lookAt(t, segment, first, p.cut(r, segment, moments[0]-first))
			moments = moments[1:]
		}
		next, err := segment.Replay(segment.Len())
		if err != nil {
			t.Fatal(err)
		}
		durable, first = next, i+1
	}
	if len(moments) > 0 {
		t.Fatalf("%d moments were not looked at", len(moments))
	}
	if p.cached != nil {
		_ = p.cached.v.Close()
	}
}

// momentsOf chooses n moments of a log, in order: numbers of events before the cut. Marks count as moments too: right after
// an acknowledgement nothing may be missing.
func momentsOf(events []blocktest.Event, r *rand.Rand, n int) []int {
	chosen := make([]int, len(events)+1)
	for i := range n {
		// Spread evenly, each at random within its part.
		from, to := i*len(chosen)/n, max((i+1)*len(chosen)/n, i*len(chosen)/n+1)
		chosen[from+r.IntN(to-from)]++
	}
	var list []int
	for at, count := range chosen {
		// The cut between the last write and its sync is one before the sync; after the sync belongs to the next segment.
		for range count {
			list = append(list, at)
		}
	}
	return list
}

// cut chooses what the power cut does to the writes that were not synced.
func (p *powercut) cut(r *rand.Rand, segment *blocktest.Log, at int) blocktest.Cut {
	c := blocktest.Cut{At: at, Seed: r.Uint64()}
	last := int64(0)
	for _, e := range segment.Events()[:at] {
		if e.Kind == blocktest.Write {
			last = e.Len
		}
	}
	switch x := r.IntN(100); {
	case last == 0 || x < 25:
		c.Mode = blocktest.KeepAll
	case x < 32:
		c.Mode = blocktest.KeepNone
	case x < 70:
		c.Mode = blocktest.KeepSome
	case x < 90:
		c.Mode = blocktest.TornLast
	default:
		c.Mode = blocktest.TornAlone
	}
	if sectors := int(last / 512); sectors > 1 {
		c.Sectors = 1 + r.IntN(sectors-1)
	}
	return c
}

// lookAt judges one cut and says all it knows if that fails.
func (p *powercut) lookAt(t *testing.T, segment *blocktest.Log, first int, cut blocktest.Cut) {
	m, err := segment.Image(cut)
	if err != nil {
		t.Fatal(err)
	}
	number := p.looked.Add(1)
	keep := m.Clone()
	if err := p.judge(t, m, first+cut.At, number); err != nil && p.liar {
		p.caught++
	} else if err != nil {
		k := p.known(first + cut.At)
		t.Errorf("seed %d, event %d, %v: %v", p.seed, first+cut.At, cut, err)
		t.Logf("states %d to %d, operations since the last acknowledgement:", k.synced, k.begun)
		for _, line := range p.done {
			number, _, _ := strings.Cut(line, ":")
			if n, _ := strconv.Atoi(number); n > k.synced && n <= k.begun+1 {
				t.Log(line)
			}
		}
		if dir := os.Getenv("COFFER_POWERCUT_KEEP"); dir != "" {
			to := filepath.Join(dir, fmt.Sprintf("seed%d-event%d.image", p.seed, first+cut.At))
			t.Logf("image kept as %s: %v", to, keep.Save(to))
		}
		t.FailNow()
	}
}

func (p *powercut) known(at int) knowledge {
	k := knowledge{files: map[string]int{}}
	k.readMarks(p.events[:at])
	return k
}

// judge takes the image of a cut through all that a person would do next. at is the number of events before the cut.
func (p *powercut) judge(t *testing.T, m *blocktest.Mem, at int, number int64) error {
	v, err := p.unlock(m, at, number)
	if err != nil {
		return err
	}
	s := &Session{Device: Device{target: Target{Path: "image"}, container: v}}
	if p.cached == nil || p.cached.v != v {
		defer v.Close()
	}
	findings, err := mend(s, number%2 == 0)
	if err != nil {
		return err
	}
	if number%10 == 0 {
		p.refereed.Add(1)
		if out := fsck(t, &s.Device); out != "" {
			return fmt.Errorf("fsck.vfat after the repair: %s", out)
		}
	}
	if err := s.mount(context.Background(), OpenOptions{}); err != nil {
		return fmt.Errorf("mount: %w", err)
	}
	found, err := readTree(s.Volume)
	if err == nil {
		err = p.h.judge(p.known(at), found)
		if err != nil {
			err = fmt.Errorf("%w; repaired: %+v", err, findings)
		}
	}
	if err != nil {
		return errors.Join(err, s.Volume.Close())
	}
	return useAgain(s, found, number)
}

// mend checks the volume, and repairs it: by opening it, or as `coffer check --repair`. It returns what was found.
func mend(s *Session, byOpening bool) ([]fat32.Finding, error) {
	ctx := context.Background()
	report, err := fat32.Check(ctx, s.container, fat32.CheckOptions{})
	if err != nil {
		return nil, fmt.Errorf("check: %w", err)
	}
	if err := inTable(report); err != nil {
		return nil, err
	}
	if byOpening {
		if err := s.mount(ctx, OpenOptions{}); err != nil {
			return nil, fmt.Errorf("open after the cut: %w; findings %+v", err, report.Findings)
		}
		if err := s.Volume.Close(); err != nil {
			return nil, err
		}
	}
	if !byOpening || !report.Dirty { // opening leaves a volume alone that is not dirty, and what is harmless with it
		result, err := s.Device.Check(ctx, CheckRequest{Repair: true})
		if err != nil || !result.Sound {
			return nil, fmt.Errorf("repair: %w, %+v", err, result)
		}
	}
	again, err := fat32.Check(ctx, s.container, fat32.CheckOptions{})
	if err != nil || !again.Clean() {
		return nil, fmt.Errorf("not sound after the repair: %w, %+v; before: %+v", err, again, report.Findings)
	}
	return report.Findings, nil
}

// inTable fails if check found something after a cut that the table of ordered writes does not list.
func inTable(report *fat32.CheckReport) error {
	twoNames := slices.ContainsFunc(report.Findings, func(f fat32.Finding) bool { return f.Code == fat32.CodeDirCycle })
	for _, f := range report.Findings {
		// Of the two names of a folder that is being moved, one does not fit its "..".
		if !cutTable[f.Code] && !(f.Code == fat32.CodeDirDots && twoNames) {
			return fmt.Errorf("check finds what the table does not list: %+v, in all: %+v", f, report.Findings)
		}
		if !report.Dirty && !harmlessWhenClean[f.Code] {
			return fmt.Errorf("the volume is not marked dirty, so nobody would look, but: %+v", report.Findings)
		}
	}
	return nil
}

// cachedHeader is an unlocked container that serves every image with the same header.
type cachedHeader struct {
	swap   *swapped
	v      *container.Volume
	header []byte
}

// unlock opens an image with its password: every fourth one, and every one whose header has not been seen last.
func (p *powercut) unlock(m *blocktest.Mem, at int, number int64) (*container.Volume, error) {
	k := keyring{sure: map[string]bool{"first": true}, gone: map[string]bool{}}
	k.readMarks(p.events[:at])
	if number%4 == 0 {
		return k.open(m, p.shape.discard, true)
	}
	header := make([]byte, min(2<<20, m.Size()))
	if err := block.ReadFull(m, header, 0); err != nil {
		return nil, err
	}
	if p.cached != nil && bytes.Equal(p.cached.header, header) {
		p.cached.swap.Mem = m
		return p.cached.v, nil
	}
	if p.cached != nil {
		_ = p.cached.v.Close()
		p.cached = nil
	}
	swap := &swapped{m}
	v, err := k.open(swap, p.shape.discard, true)
	if err != nil {
		return nil, err
	}
	// Opening may have repaired a copy of the header; what is remembered is the header that was not.
	p.cached = &cachedHeader{swap, v, header}
	return v, nil
}

// useAgain writes to the mounted volume, closes it, and looks whether all is well: nothing old changed, the new is there,
// and check is silent.
func useAgain(s *Session, found tree, number int64) error {
	w := &workload{r: rand.New(rand.NewPCG(uint64(number), 3)), h: newHistory(found), log: blocktest.NewLog(blocktest.NewMem(0)), v: s.Volume, tolerant: true}
	if _, ok := found["/filler"]; ok && number%3 != 0 {
		w.remove("/filler")
	}
	if w.room(20_000) {
		w.mkdir("/after the cut")
		w.create("/after the cut/a file written after the cut", w.unique(5000), true)
		w.create("/after.bin", w.unique(700), false)
		if path := w.file(); path != "" {
			w.change("append after the cut", path, w.unique(1000), len(w.h.now()[path].data))
		}
		if number%25 == 0 {
			w.fill("/rest") // every free cluster but a few: none of them may belong to somebody
		}
	} else if path := w.file(); path != "" {
		w.remove(path)
	}
	err := errors.Join(errors.Join(w.failures...), s.Volume.Close())
	if err != nil {
		return fmt.Errorf("use after the cut: %w", err)
	}
	report, err := fat32.Check(context.Background(), s.container, fat32.CheckOptions{})
	if err != nil || !report.Clean() {
		return fmt.Errorf("check after use after the cut: %w, %+v", err, report)
	}
	s.Volume, err = fat32.Mount(s.container, fat32.MountOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	now, err := readTree(s.Volume)
	if err = errors.Join(err, s.Volume.Close()); err != nil {
		return err
	}
	if text := differ(now, w.h.now()); text != "" {
		return fmt.Errorf("use after the cut changed something else: %s", text)
	}
	return nil
}
