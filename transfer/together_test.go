//go:build unix

package transfer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"coffer/container/block/blocktest"
	"coffer/fat32"
	"coffer/transfer/report"
)

// groupTree is a source whose files go in groups, from empty to just too large for one.
func groupTree(t *testing.T) (src string, files, bytes int64) {
	src = filepath.Join(t.TempDir(), "src")
	for i := range 500 {
		n := []int{0, 1, 511, 1000, 4096, 4097, togetherFile, togetherFile + 1}[i%8]
		write(t, filepath.Join(src, fmt.Sprintf("%02d/file number %03d.dat", i/150, i)), fill(uint64(i), n))
		files, bytes = files+1, bytes+int64(n)
	}
	return src, files, bytes
}

// opens counts how the files of a source are opened.
type opens struct {
	tree
	onOpen func(p string)
}

func (o *opens) open(p string) (sourceFile, node, error) {
	o.onOpen(p)
	return o.tree.open(p)
}

// TestGroup: groups are made, and what arrives is exact, verified, named by events, with times and attributes.
func TestGroup(t *testing.T) {
	src, files, bytes := groupTree(t)
	readOnly := filepath.Join(src, "00", "file number 001.dat")
	if err := os.Chmod(readOnly, 0o444); err != nil {
		t.Fatal(err)
	}
	dev := blocktest.NewMem(64 << 20)
	place := volume(t, dev, fat32.Auto)
	named := map[string]int{}
	j := Job{Sources: []Place{{Path: src, Contents: true}}, Destination: place, Verify: true, OnEvent: func(e Event) {
		for _, p := range e.Safe {
			named[p]++
		}
	}}
	rec := run(t, j)
	whole(t, rec, files, bytes)
	if rec.Verified != files || int64(len(named)) != files {
		t.Fatalf("%d verified, %d named durable", rec.Verified, len(named))
	}
	for p, n := range named {
		if n != 1 {
			t.Errorf("%s was named %d times", p, n)
		}
	}
	info, err := place.Volume.Stat("/00/file number 001.dat")
	if err != nil || info.Attr&fat32.AttrReadOnly == 0 {
		t.Errorf("%+v, %v", info, err)
	}
	got := map[string]entry{}
	readVolume(t, place.Volume, "/", got)
	if d := diff(snapshot(t, src), got); d != "" {
		t.Fatal(d)
	}
	e := &engine{plan: &Plan{}, job: &Job{}}
	e.job.tune.resumableBytes = blockBytes
	e.plan.target = &volumeTree{}
	e.plan.folders = []folder{{}, {failed: true}}
	e.plan.items = []item{{}, {size: togetherFile}, {flags: flagReplace}, {}, {size: togetherFile + 1}, {flags: flagCut}, {flags: flagJoin}, {flags: flagResumed}, {folder: 1}, {}}
	var spans []string
	for from, to := e.grab(); from < to; from, to = e.grab() {
		spans = append(spans, fmt.Sprint(from, "-", to))
	}
	if s := strings.Join(spans, " "); s != "0-4 4-5 5-6 6-7 7-8 8-9 9-10" {
		t.Fatal(s)
	}
	unmount(t, place, dev)
}

// TestGroupOneByOne: of a group only the files fail that something is wrong with.
func TestGroupOneByOne(t *testing.T) {
	src, files, bytes := groupTree(t)
	dev := blocktest.NewMem(64 << 20)
	place := volume(t, dev, fat32.Auto)
	p, err := Job{Sources: []Place{{Path: src, Contents: true}}, Destination: place}.Plan(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	grown := fill(7, 40000)
	p.sources[0] = &opens{p.sources[0], func(name string) {
		path := filepath.Join(src, name)
		switch filepath.Base(name) {
		case "file number 010.dat": // gone since the scan
			os.Remove(path)
		case "file number 020.dat": // larger than a group since the scan
			write(t, path, grown)
		case "file number 030.dat": // appears at the target meanwhile
			if f, err := place.Volume.OpenFile("/"+strings.ToUpper(name), fat32.ReadWrite|fat32.Create); err == nil {
				f.Close()
			}
		}
	}}
	// One that changes while it is read.
	p.sources[0] = &hookedTree{tree: p.sources[0], onRead: func(name string, _ int64) {
		if filepath.Base(name) == "file number 043.dat" {
			when := time.Now().Add(time.Hour)
			if err := os.Chtimes(filepath.Join(src, name), when, when); err != nil {
				t.Error(err)
			}
		}
	}}
	rec, err := Run(context.Background(), p)
	if err != nil {
		t.Fatal(err)
	}
	if rec.Outcome != report.Partial || rec.Files != files-3 || rec.Failed[ReasonVanished] != 1 || rec.Failed[ReasonChanged] != 1 || len(rec.Failed) != 3 {
		t.Fatalf("%s, %d of %d files, %v", rec.Outcome, rec.Files, files, rec.Problems)
	}
	sizes := map[int]int64{10: 511, 20: 4096 - 40000, 30: togetherFile, 43: 1000}
	if rec.Bytes != bytes-sizes[10]-sizes[20]-sizes[30]-sizes[43] {
		t.Errorf("%d of %d bytes", rec.Bytes, bytes)
	}
	got := map[string]entry{}
	readVolume(t, place.Volume, "/", got)
	for name, want := range snapshot(t, src) {
		g, ok := got[name]
		switch base := filepath.Base(name); {
		case base == "file number 043.dat" || base == "file number 030.dat":
			if ok {
				t.Errorf("%s is at the target", name)
			}
		case g != want:
			t.Errorf("%s: %+v, want %+v", name, g, want)
		}
	}
	unmount(t, place, dev)
}

// TestGroupInterrupted: after a cancellation in a group nothing is half there, and a resume completes it.
func TestGroupInterrupted(t *testing.T) {
	src, files, _ := groupTree(t)
	want := snapshot(t, src)
	for _, after := range []int64{1, 70, 300} {
		dev := blocktest.NewMem(64 << 20)
		place := volume(t, dev, fat32.Auto)
		free := place.Volume.StatFS().FreeBytes
		ctx, cancel := context.WithCancel(context.Background())
		j := Job{Sources: []Place{{Path: src, Contents: true}}, Destination: place}
		p, err := j.Plan(ctx)
		if err != nil {
			t.Fatal(err)
		}
		var count atomic.Int64
		p.sources[0] = &opens{p.sources[0], func(string) {
			if count.Add(1) == after {
				cancel()
			}
		}}
		rec, err := Run(ctx, p)
		if !errors.Is(err, context.Canceled) || rec.Outcome != report.Cancelled || rec.Files >= files {
			t.Fatalf("%v, %s, %d files", err, rec.Outcome, rec.Files)
		}
		got := map[string]entry{}
		readVolume(t, place.Volume, "/", got)
		var used int64
		for name, g := range got {
			if g.dir || isLeftover(filepath.Base(name)) {
				continue
			}
			used += g.size
			if g != want[name] {
				t.Fatalf("%s is %+v, want %+v", name, g, want[name])
			}
		}
		if used > rec.Bytes {
			t.Errorf("%d bytes under final names, %d booked", used, rec.Bytes)
		}
		if used == 0 && place.Volume.StatFS().FreeBytes < free-1<<20 {
			t.Errorf("clusters were not given back: %d of %d free", place.Volume.StatFS().FreeBytes, free)
		}
		unmount(t, place, dev)
		sound(t, dev)
		place = mount(t, dev)
		j.Destination, j.Resume = place, true
		run(t, j)
		clear(got)
		readVolume(t, place.Volume, "/", got)
		if d := diff(want, got); d != "" {
			t.Fatal(d)
		}
		unmount(t, place, dev)
	}
}

// TestGroupReplaces: a group over files that exist, in another spelling too.
func TestGroupReplaces(t *testing.T) {
	src, files, bytes := groupTree(t)
	dev := blocktest.NewMem(64 << 20)
	place := volume(t, dev, fat32.Auto)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(place.Volume.Mkdir("/00"))
	for i := range 150 {
		name := fmt.Sprintf("/00/file number %03d.dat", i)
		if i%3 == 0 {
			name = strings.ToUpper(name)
		}
		f, err := place.Volume.OpenFile(name, fat32.ReadWrite|fat32.Create)
		must(err)
		_, err = f.WriteAt(fill(uint64(1000+i), i*50+1), 0)
		must(err)
		must(f.Close())
	}
	must(place.Volume.Sync())
	whole(t, run(t, Job{Sources: []Place{{Path: src, Contents: true}}, Destination: place, Overwrite: OverwriteReplace}), files, bytes)
	got := map[string]entry{}
	readVolume(t, place.Volume, "/", got)
	if d := diff(snapshot(t, src), got); d != "" {
		t.Fatal(d)
	}
	unmount(t, place, dev)
}
