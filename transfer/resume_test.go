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

// interrupted runs a job and cancels it once file has been read up to off and a
// sync that began after that has returned.
func interrupted(t *testing.T, j Job, file string, off int64) *report.Record {
	t.Helper()
	p, err := j.Plan(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	target := &syncCounter{tree: p.target}
	p.target = target
	p.sources[0] = &hookedTree{tree: p.sources[0], onRead: func(path string, at int64) {
		if !strings.HasSuffix(path, file) || at < off {
			return
		}
		began := target.began.Load()
		for start := time.Now(); target.returned.Load() <= began && time.Since(start) < time.Minute; {
			time.Sleep(5 * time.Millisecond)
		}
		time.Sleep(20 * time.Millisecond)
		cancel()
	}}
	rec, err := Run(ctx, p)
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return rec
}

// syncCounter counts syncs of a target.
type syncCounter struct {
	tree
	began, returned atomic.Int64
}

func (s *syncCounter) sync() error {
	n := s.began.Add(1)
	err := s.tree.sync()
	s.returned.Store(n)
	return err
}

func TestResumeContinues(t *testing.T) {
	for _, verify := range []bool{false, true} {
		src, dst := filepath.Join(t.TempDir(), "src"), t.TempDir()
		files, _ := sampleTree(t, src)
		write(t, filepath.Join(src, "ÿlast", "zz-huge"), fill(5, 40*blockBytes+5))
		files++
		j := Job{Sources: []Place{host(src)}, Destination: host(dst), Verify: verify, Workers: 1,
			tune: tuning{resumableBytes: 2 * blockBytes, batchBytes: 4 * blockBytes, batchInterval: 10 * time.Millisecond}}
		rec := interrupted(t, j, "zz-huge", 30*blockBytes)
		if rec.Outcome != report.Cancelled || rec.Files < files-3 {
			t.Fatalf("%s, %d files", rec.Outcome, rec.Files)
		}
		j.Resume = true
		rec = run(t, j)
		if rec.Outcome != report.Done || rec.Resumed < files-10 || rec.Resumed+rec.Files != files {
			t.Fatalf("%s: resumed %d, copied %d of %d files: %v", rec.Outcome, rec.Resumed, rec.Files, files, rec.Problems)
		}
		if rec.Bytes > 25*blockBytes {
			t.Fatalf("the resume wrote %d bytes again", rec.Bytes)
		}
		if verify && rec.Verified != files {
			t.Fatalf("verified %d of %d", rec.Verified, files)
		}
		if d := diff(snapshot(t, src), snapshot(t, filepath.Join(dst, "src"))); d != "" {
			t.Fatal(d)
		}
		noLeftovers(t, dst)
	}
}

// A source that changed since restarts, a part included.
func TestResumeAfterChange(t *testing.T) {
	src, dst := filepath.Join(t.TempDir(), "src"), t.TempDir()
	for _, n := range []string{"a", "b", "c"} {
		write(t, filepath.Join(src, n), fill(1, 50_000))
	}
	write(t, filepath.Join(src, "zz"), fill(5, 20*blockBytes))
	j := Job{Sources: []Place{host(src)}, Destination: host(dst), Workers: 1, tune: tuning{resumableBytes: 2 * blockBytes, batchBytes: 2 * blockBytes, batchInterval: 10 * time.Millisecond}}
	interrupted(t, j, "zz", 15*blockBytes)
	write(t, filepath.Join(src, "b"), fill(2, 50_001))
	write(t, filepath.Join(src, "zz"), fill(6, 20*blockBytes))
	os.Chtimes(filepath.Join(src, "zz"), time.Now(), time.Now())
	j.Resume, j.Overwrite = true, OverwriteReplace
	rec := run(t, j)
	if rec.Outcome != report.Done || rec.Bytes < 20*blockBytes {
		t.Fatal(rec.Outcome, rec.Bytes, rec.Problems)
	}
	if d := diff(snapshot(t, src), snapshot(t, filepath.Join(dst, "src"))); d != "" {
		t.Fatal(d)
	}
	noLeftovers(t, dst)
}

// A run without resume starts over and leaves nothing of the earlier one.
func TestStartOver(t *testing.T) {
	src, dst := filepath.Join(t.TempDir(), "src"), t.TempDir()
	write(t, filepath.Join(src, "zz"), fill(5, 20*blockBytes))
	j := Job{Sources: []Place{host(src)}, Destination: host(dst), Workers: 1, tune: tuning{resumableBytes: 2 * blockBytes, batchBytes: 2 * blockBytes}}
	interrupted(t, j, "zz", 15*blockBytes)
	parts := 0
	for name := range snapshot(t, dst) {
		if isLeftover(filepath.Base(name)) {
			parts++
		}
	}
	if parts != 2 {
		t.Fatalf("%d leftovers, want state and part", parts)
	}
	rec := run(t, j)
	whole(t, rec, 1, 20*blockBytes)
	noLeftovers(t, dst)
}

// A damaged or hostile state file costs at most work.
func TestHostileState(t *testing.T) {
	base := t.TempDir()
	src, dst := filepath.Join(base, "src"), filepath.Join(base, "dst")
	write(t, filepath.Join(src, "f"), []byte("content"))
	write(t, filepath.Join(base, "victim"), []byte("victim"))
	os.Mkdir(dst, 0o755)
	name := stateName([]operand{{name: "src"}}, landing{})
	for _, content := range []string{
		"", "\x00\x00", "{", "{\"copyState\":2}\n", strings.Repeat("x", 1<<20),
		"{\"copyState\":1}\n{\"part\":\"../victim\",\"of\":\"src/f\",\"size\":7,\"bytes\":3}\n",
		"{\"copyState\":1}\n{\"part\":\"../.coffer-part-0\",\"of\":\"../victim\",\"size\":-1,\"bytes\":-3}\n",
		"{\"copyState\":1}\n{\"done\":\"src/f\",\"size\":7,\"modified\":1600000014000000000}\n",
		"{\"copyState\":1}\n{\"done\":\"../victim\",\"size\":7}\n{\"done\":\"",
	} {
		for _, resume := range []bool{false, true} {
			os.RemoveAll(filepath.Join(dst, "src"))
			if err := os.WriteFile(filepath.Join(dst, name), []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
			rec := run(t, Job{Sources: []Place{host(src)}, Destination: host(dst), Resume: resume})
			if rec.Outcome != report.Done {
				t.Fatalf("%q: %v", content, rec.Problems)
			}
			sameBytes(t, filepath.Join(dst, "src", "f"), []byte("content"))
			sameBytes(t, filepath.Join(base, "victim"), []byte("victim"))
			noLeftovers(t, base)
		}
	}
}

func TestSplitAndJoin(t *testing.T) {
	src, out := filepath.Join(t.TempDir(), "src"), filepath.Join(t.TempDir(), "out")
	data := fill(9, 5*blockBytes+77)
	write(t, filepath.Join(src, "sub", "big.iso"), data)
	write(t, filepath.Join(src, "small"), []byte("small"))
	dev := blocktest.NewMem(64 << 20)
	place := volume(t, dev, fat32.FAT32)
	j := Job{Sources: []Place{host(src)}, Destination: place, Split: true, PartBytes: 2 * blockBytes, Verify: true}
	j.tune.maxFileBytes = 3 * blockBytes // FAT's limit is 4 GiB
	rec := run(t, j)
	whole(t, rec, 2, int64(len(data)+5))
	got := listVolume(t, place.Volume, "/", map[string]int64{})
	if got["/src/sub/big.iso.part0001"] != 2*blockBytes || got["/src/sub/big.iso.part0003"] != blockBytes+77 || got["/src/sub/big.iso"+manifestSuffix] == 0 || len(got) != 7 {
		t.Fatalf("%v", got)
	}
	back := Job{Sources: []Place{{Volume: place.Volume, Path: "/src"}}, Destination: host(out), Split: true, Verify: true}
	rec = run(t, back)
	whole(t, rec, 2, int64(len(data)+5))
	if d := diff(snapshot(t, src), snapshot(t, out)); d != "" {
		t.Fatal(d)
	}
	// Without split the parts come out as they are.
	plain := filepath.Join(t.TempDir(), "plain")
	if rec = run(t, Job{Sources: back.Sources, Destination: host(plain)}); rec.Files != 5 {
		t.Fatal(rec.Files)
	}
	// A part with one wrong bit is noticed, and nothing stands under the name.
	f, err := place.Volume.OpenFile("/src/sub/big.iso.part0002", fat32.ReadWrite)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteAt([]byte{data[2*blockBytes+500] ^ 1}, 500)
	f.Close()
	bad := filepath.Join(t.TempDir(), "bad")
	back.Destination = host(bad)
	rec = run(t, back)
	if rec.Failed[ReasonSplitDamaged] != 1 || rec.Files != 1 {
		t.Fatal(rec.Problems)
	}
	if _, err := os.Stat(filepath.Join(bad, "sub", "big.iso")); !errors.Is(err, os.ErrNotExist) {
		t.Fatal("a damaged file was published")
	}
	// A part missing: listed, and the others are copied as they are.
	place.Volume.Remove("/src/sub/big.iso.part0002")
	back.Destination = host(filepath.Join(t.TempDir(), "missing"))
	rec = run(t, back)
	if rec.Failed[ReasonSplitDamaged] != 1 || rec.Files != 4 {
		t.Fatal(rec.Files, rec.Problems)
	}
	unmount(t, place, dev)
}

func TestMove(t *testing.T) {
	base := t.TempDir()
	src, out := filepath.Join(base, "src"), filepath.Join(base, "out")
	files, bytes := sampleTree(t, src)
	os.Symlink("nowhere", filepath.Join(src, "many", "link"))
	want := snapshot(t, src)
	delete(want, filepath.Join("many", "link"))
	dev := blocktest.NewMem(64 << 20)
	place := volume(t, dev, fat32.FAT32)
	rec := run(t, Job{Sources: []Place{host(src)}, Destination: place, Move: true, Verify: true})
	if rec.Files != files || rec.Bytes != bytes || rec.Moved != files || rec.Skipped[ReasonLink] != 1 {
		t.Fatalf("%d files, %d moved, %v", rec.Files, rec.Moved, rec.Problems)
	}
	left := snapshot(t, src)
	if len(left) != 2 { // the link and its folder
		t.Fatalf("left: %v", left)
	}
	rec = run(t, Job{Sources: []Place{{Volume: place.Volume, Path: "/src"}}, Destination: host(out), Move: true})
	if rec.Moved != files {
		t.Fatal(rec.Moved, rec.Problems)
	}
	if d := diff(want, snapshot(t, out)); d != "" {
		t.Fatal(d)
	}
	if got := listVolume(t, place.Volume, "/", map[string]int64{}); len(got) != 0 {
		t.Fatalf("left in the volume: %v", got)
	}
	unmount(t, place, dev)
}

// badDisk gives back a wrong bit in one block, once the copy is there.
type badDisk struct {
	*blocktest.Mem
	bad atomic.Bool
}

func (d *badDisk) ReadAt(p []byte, off int64) (int, error) {
	n, err := d.Mem.ReadAt(p, off)
	if d.bad.Load() && len(p) >= blockBytes/2 {
		p[len(p)/2] ^= 1
	}
	return n, err
}

// A copy that differs when re-read is reported, taken away, and its source kept.
func TestVerifyFindsWrongBits(t *testing.T) {
	src := filepath.Join(t.TempDir(), "src")
	write(t, filepath.Join(src, "small"), []byte("small"))
	write(t, filepath.Join(src, "large"), fill(3, 3*blockBytes))
	disk := &badDisk{Mem: blocktest.NewMem(64 << 20)}
	place := volume(t, disk, fat32.FAT32)
	rec := run(t, Job{Sources: []Place{host(src)}, Destination: place, Verify: true, Move: true, OnEvent: func(e Event) {
		if e.Kind == EventStage && e.Stage == StageVerify {
			disk.bad.Store(true)
		}
	}})
	if rec.Failed[ReasonMismatch] != 1 || rec.Verified != 1 || rec.Moved != 1 || rec.Files != 1 || rec.Outcome != report.Partial {
		t.Fatalf("%+v %v", rec.Failed, rec.Problems)
	}
	if rec.Bytes != 5 || rec.FailedBytes != 3*blockBytes {
		t.Fatalf("%d bytes arrived, %d did not", rec.Bytes, rec.FailedBytes)
	}
	sameBytes(t, filepath.Join(src, "large"), fill(3, 3*blockBytes))
	if _, err := place.Volume.Stat("/src/large"); !errors.Is(err, fat32.ErrNotExist) {
		t.Fatal("a wrong copy stands under its final name")
	}
	disk.bad.Store(false)
	unmount(t, place, disk)
}

// TestStateGoneForGood: of a copy that has ended nothing comes back when the process that holds the volume is killed then, and the
// volume is found as the device has it.
func TestStateGoneForGood(t *testing.T) {
	src := filepath.Join(t.TempDir(), "src")
	for i := range 20 {
		write(t, filepath.Join(src, fmt.Sprintf("file %02d", i)), fill(uint64(i), 100<<10))
	}
	dev := blocktest.NewMem(64 << 20)
	place := volume(t, dev, fat32.FAT32)
	run(t, Job{Sources: []Place{{Path: src, Contents: true}}, Destination: place})
	left := make([]byte, dev.Size()) // what a kill would leave
	if _, err := dev.ReadAt(left, 0); err != nil {
		t.Fatal(err)
	}
	unmount(t, place, dev)
	killed := blocktest.NewMem(int64(len(left)))
	if _, err := killed.WriteAt(left, 0); err != nil {
		t.Fatal(err)
	}
	found := mount(t, killed)
	defer found.Volume.Close()
	names := listVolume(t, found.Volume, "/", map[string]int64{})
	for name := range names {
		if isLeftover(strings.TrimPrefix(name, "/")) {
			t.Errorf("%s is there again", name)
		}
	}
	if len(names) != 20 {
		t.Errorf("%d files: %v", len(names), names)
	}
}
