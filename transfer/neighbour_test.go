//go:build unix

package transfer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"sync"
	"testing"

	"coffer/container/block/blocktest"
	"coffer/fat32"
)

// listener is a neighbour that keeps its own idea of the names in a volume, from what it is told only, and looks at the
// volume in every call: a lock held by the caller would be a deadlock.
type listener struct {
	volume *fat32.Volume
	mu     sync.Mutex
	names  map[string]bool
	busy   string // path that is in use
	asked  []string
	t      *testing.T
}

// known is a path as a listener keeps it: the way there in any spelling, the name itself as stored.
func known(p string) string { return fat32.FoldName(path.Dir(p)) + ": " + path.Base(p) }

func (l *listener) Changed(c Change) {
	_, err := l.volume.Stat(c.Path)
	told := c.Path
	c.Path = known(c.Path)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch c.Kind {
	case Created:
		if err != nil {
			l.t.Errorf("told that %s is there: %v", told, err)
		}
		l.names[c.Path] = true
	case Removed:
		delete(l.names, c.Path)
	case Written:
		if !l.names[c.Path] {
			l.t.Errorf("told that %s changed, and never that it is there", told)
		}
	}
}

func (l *listener) BeforeRead(p string) error    { return l.ask("read", p) }
func (l *listener) BeforeReplace(p string) error { return l.ask("replace", p) }

func (l *listener) ask(what, p string) error {
	if err := l.volume.Sync(); err != nil {
		l.t.Error(err)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked = append(l.asked, what+" "+p)
	if p == l.busy {
		return fmt.Errorf("somebody writes to it: %w", fat32.ErrBusy)
	}
	return nil
}

// inVolume lists every path of a volume as stored.
func inVolume(t *testing.T, v *fat32.Volume, dir string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	infos, err := v.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range infos {
		p := path.Join(dir, i.Name)
		all[known(p)] = true
		if i.IsDir() {
			for q := range inVolume(t, v, p) {
				all[q] = true
			}
		}
	}
	return all
}

// TestNeighbourHearsEverything runs copies of all kinds into, inside and out of a volume: whoever believes what he is told
// knows what is there, names of parts and state files included, and is asked before anything that exists is read or
// replaced.
func TestNeighbourHearsEverything(t *testing.T) {
	dev := blocktest.NewMem(64 << 20)
	place := volume(t, dev, fat32.FAT16)
	l := &listener{volume: place.Volume, names: map[string]bool{}, t: t}
	place.Neighbour = l
	home := t.TempDir()
	for name, size := range map[string]int{"tree/a": 10, "tree/deep/er/b": 100_000, "tree/Big": 3 << 20, "tree/cut": 900_000} {
		write(t, home+"/"+name, fill(9, size))
	}
	agrees := func(after string) {
		t.Helper()
		if there := inVolume(t, place.Volume, "/"); !mapsEqual(there, l.names) {
			t.Fatalf("after %s:\nthere is %v\nthe neighbour knows %v", after, sorted(there), sorted(l.names))
		}
	}
	at := func(p string) Place { q := place; q.Path = p; return q }
	tree := Place{Path: home + "/tree"}
	for _, step := range []struct {
		name string
		job  Job
	}{
		{"a copy in", Job{Sources: []Place{tree}, Destination: at("/")}},
		{"a copy in over it", Job{Sources: []Place{tree}, Destination: at("/"), Overwrite: OverwriteReplace}},
		{"a copy in under other spellings", Job{Sources: []Place{tree}, Destination: at("/TREE/"), Overwrite: OverwriteReplace, Verify: true}},
		{"a cut copy", Job{Sources: []Place{tree}, Destination: at("/cut"), Split: true, PartBytes: 300_000, tune: tuning{maxFileBytes: 800_000}}},
		{"a copy inside", Job{Sources: []Place{at("/tree/deep")}, Destination: at("/deeper")}},
		{"a move inside", Job{Sources: []Place{at("/TREE/big")}, Destination: at("/small"), Move: true}},
		{"a move out", Job{Sources: []Place{at("/deeper")}, Destination: Place{Path: home + "/out"}, Move: true}},
		{"parts that would survive", Job{Sources: []Place{tree}, Destination: at("/parts"), tune: tuning{resumableBytes: 1 << 20, batchBytes: 1 << 20}}},
	} {
		plan, err := step.job.Plan(context.Background())
		if err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if record, err := Run(context.Background(), plan); err != nil || record.Incomplete() {
			t.Fatalf("%s: %v %v", step.name, err, record.Problems)
		}
		agrees(step.name)
	}
	ctx, cancel := context.WithCancel(context.Background())
	plan, err := Job{Sources: []Place{tree}, Destination: at("/stopped"), tune: tuning{resumableBytes: 1 << 20, batchBytes: 1 << 20},
		OnEvent: func(e Event) {
			if e.Kind == EventDurable {
				cancel()
			}
		}}.Plan(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Run(ctx, plan); err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	agrees("an interrupted copy")
	for _, want := range []string{"read /tree/deep/er/b", "read /TREE/Big", "replace /tree/a", "replace /TREE/Big"} {
		if !slices.ContainsFunc(l.asked, func(asked string) bool { return fat32.FoldName(asked) == fat32.FoldName(want) }) {
			t.Errorf("never asked to %s: %v", want, l.asked)
		}
	}
	unmount(t, place, dev)
}

func mapsEqual(a, b map[string]bool) bool { return slices.Equal(sorted(a), sorted(b)) }

func sorted(m map[string]bool) []string {
	var all []string
	for k := range m {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}

// TestBusyFilesAreLeftAlone: what a neighbour writes to is neither read nor replaced; it is listed, and the rest is copied.
func TestBusyFilesAreLeftAlone(t *testing.T) {
	dev := blocktest.NewMem(8 << 20)
	place := volume(t, dev, fat32.FAT12)
	l := &listener{volume: place.Volume, names: map[string]bool{}, busy: "/tree/held", t: t}
	home := t.TempDir()
	write(t, home+"/tree/held", []byte("new"))
	write(t, home+"/tree/free", []byte("new"))
	into := func(p Place, move bool) *Plan {
		plan, err := Job{Sources: []Place{{Path: home + "/tree"}}, Destination: p, Overwrite: OverwriteReplace, Move: move}.Plan(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return plan
	}
	if _, err := Run(context.Background(), into(place, false)); err != nil {
		t.Fatal(err)
	}
	place.Neighbour, l.names = l, inVolume(t, place.Volume, "/")
	for name, plan := range map[string]*Plan{"over it": into(place, true), "out": func() *Plan {
		from := place
		from.Path = "/tree"
		plan, err := Job{Sources: []Place{from}, Destination: Place{Path: home + "/out"}}.Plan(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return plan
	}()} {
		record, err := Run(context.Background(), plan)
		if err != nil || record.Failed[ReasonBusy] != 1 || record.Files != 1 || len(record.Problems) != 1 {
			t.Errorf("%s: %v, %+v", name, err, record)
		}
	}
	if _, err := place.Volume.Stat("/tree/held"); err != nil {
		t.Error(err)
	}
	for name, there := range map[string]bool{"out/held": false, "out/free": true, "tree/held": true, "tree/free": false} {
		if _, err := os.Stat(home + "/" + name); (err == nil) != there {
			t.Errorf("%s: %v, want it there: %v", name, err, there)
		}
	}
	unmount(t, place, dev)
}
