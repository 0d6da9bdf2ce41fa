//go:build unix

package transfer

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"coffer/container/block/blocktest"
	"coffer/fat32"
	"coffer/transfer/report"
)

// die counts down and kills the process in place of the step that reaches 0.
func die(left *int64) {
	if atomic.AddInt64(left, -1) == 0 {
		syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	}
}

// mortalTree dies before a change of the target.
type mortalTree struct {
	tree
	left int64
}

type mortalFile struct {
	targetFile
	t *mortalTree
}

func (t *mortalTree) mkdir(p string) error         { die(&t.left); return t.tree.mkdir(p) }
func (t *mortalTree) remove(p string) error        { die(&t.left); return t.tree.remove(p) }
func (t *mortalTree) sync() error                  { die(&t.left); return t.tree.sync() }
func (t *mortalTree) dress(p string, n node) error { die(&t.left); return t.tree.dress(p, n) }
func (t *mortalTree) create(o createOptions) (targetFile, error) {
	die(&t.left)
	f, err := t.tree.create(o)
	if err != nil {
		return nil, err
	}
	return &mortalFile{f, t}, nil
}
func (f *mortalFile) WriteAt(p []byte, off int64) (int, error) {
	die(&f.t.left)
	return f.targetFile.WriteAt(p, off)
}
func (f *mortalFile) publish(n node, replace bool) error {
	die(&f.t.left)
	return f.targetFile.publish(n, replace)
}

// discard dies before and after: the state file goes by it.
func (f *mortalFile) discard() error {
	die(&f.t.left)
	err := f.targetFile.discard()
	die(&f.t.left)
	return err
}

// mortalDevice dies before a write.
type mortalDevice struct {
	*fileDevice
	left int64
}

func (d *mortalDevice) WriteAt(p []byte, off int64) (int, error) {
	die(&d.left)
	return d.fileDevice.WriteAt(p, off)
}

// repeatTree has what a copy does in one step each, and a folder named like itself.
func repeatTree(t *testing.T) (string, map[string]entry) {
	src := filepath.Join(t.TempDir(), "plain")
	write(t, filepath.Join(src, "big"), fill(5, 5*blockBytes+17))
	for i := range 4 {
		write(t, filepath.Join(src, fmt.Sprintf("sub/a longer file name %d", i)), fill(uint64(i), 3000+i*11))
	}
	write(t, filepath.Join(src, "plain", "inner"), fill(3, 100))
	return src, snapshot(t, src)
}

// again repeats a killed command until it ends, and once more.
func again(t *testing.T, c childSpec) {
	t.Helper()
	at := c.KillAt
	c.KillAt, c.Resume, c.Report = 0, true, true
	for round := range 2 {
		out, finished := killed(t, c, moment{after: time.Minute})
		if !finished {
			t.Fatal("the repeated command did not finish")
		}
		if !slices.ContainsFunc(out, func(l string) bool { return strings.HasPrefix(l, "done ") }) {
			t.Fatalf("killed at %d, repetition %d: %.600q", at, round, out)
		}
		if round == 1 && !slices.ContainsFunc(out, func(l string) bool { return strings.HasPrefix(l, "done 0 ") }) {
			t.Fatalf("the second repetition copied: %q", out)
		}
	}
}

// A command with resume, killed at any step and repeated, makes one copy.
func TestKillAtEveryStepHost(t *testing.T) {
	src, want := repeatTree(t)
	stride := int64(1)
	if testing.Short() {
		stride = 7
	}
	for at := int64(1); ; at += stride {
		base := t.TempDir()
		c := childSpec{From: src, To: filepath.Join(base, "newp"), Named: true, Resume: true, KillAt: at}
		_, finished := killed(t, c, moment{after: time.Minute})
		again(t, c)
		if d := diff(want, snapshot(t, c.To)); d != "" {
			t.Fatalf("killed at step %d: %s", at, d)
		}
		if got := snapshot(t, base); len(got) != len(want)+1 {
			t.Fatalf("killed at step %d: %d names, want %d", at, len(got), len(want)+1)
		}
		if finished {
			if at < 20 {
				t.Fatalf("only %d steps", at)
			}
			return
		}
	}
}

// The same at writes of the device below a volume.
func TestKillAtEveryWriteVolume(t *testing.T) {
	src, want := repeatTree(t)
	whole := map[string]entry{"newp": {dir: true}}
	for name, e := range want {
		whole["newp/"+name] = e
	}
	stride := int64(1)
	if testing.Short() {
		stride = 11
	}
	for at := int64(1); ; at += stride {
		image := filepath.Join(t.TempDir(), "image")
		if err := os.WriteFile(image, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		os.Truncate(image, 16<<20)
		dev, err := openFileDevice(image)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fat32.Format(context.Background(), dev, fat32.FormatOptions{AssumeZero: true}); err != nil {
			t.Fatal(err)
		}
		c := childSpec{From: src, Image: image, Named: true, Resume: true, KillAt: at}
		_, finished := killed(t, c, moment{after: time.Minute})
		if _, err := fat32.Check(context.Background(), dev, fat32.CheckOptions{Repair: true}); err != nil {
			t.Fatal(err)
		}
		again(t, c)
		got := readBack(t, dev)
		dev.Close()
		os.Remove(image)
		if d := diff(whole, got); d != "" {
			t.Fatalf("killed at write %d: %s", at, d)
		}
		if finished {
			if at < 8 {
				t.Fatalf("only %d writes", at)
			}
			return
		}
	}
}

// A finished copy that fills more than half of the target needs no room again,
// by the first name and inside an existing folder, and a file that is another
// one of the same size and time is found by a move.
func TestResumeAfterTheEndNeedsNoSpace(t *testing.T) {
	src := filepath.Join(t.TempDir(), "big")
	write(t, filepath.Join(src, "f"), fill(1, 40*blockBytes))
	dev := blocktest.NewMem(96 << 20)
	place := volume(t, dev, fat32.FAT32)
	j := Job{Sources: []Place{host(src)}, Destination: place, Resume: true}
	whole(t, run(t, j), 1, 40*blockBytes)
	free := place.Volume.StatFS().FreeBytes
	f, err := place.Volume.OpenFile("/filler", fat32.ReadWrite|fat32.Create)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(make([]byte, free), 0); err != nil {
		t.Fatal(err)
	}
	f.Close()
	for _, verify := range []bool{false, true} {
		j.Verify = verify
		rec := run(t, j)
		if rec.Outcome != report.Done || rec.Files != 0 || rec.Bytes != 0 || rec.Skipped[ReasonThere] != 1 || verify != (rec.Verified == 1) {
			t.Fatalf("%s: %d files, %d bytes, skipped %v, verified %d", rec.Outcome, rec.Files, rec.Bytes, rec.Skipped, rec.Verified)
		}
	}
	place.Volume.Remove("/filler")
	write(t, filepath.Join(src, "f"), fill(2, 40*blockBytes)) // same size and time
	j.Verify, j.Move = false, true
	rec := run(t, j)
	got := map[string]entry{}
	readVolume(t, place.Volume, "/", got)
	if rec.Outcome != report.Done || rec.Moved != 1 || rec.Files != 1 || rec.Resumed != 0 || got["big/f"].sum != sha256.Sum256(fill(2, 40*blockBytes)) {
		t.Fatalf("%s: %d moved, %d copied, %d resumed: the source was deleted without its copy", rec.Outcome, rec.Moved, rec.Files, rec.Resumed)
	}
	unmount(t, place, dev)
}

// A cut file whose parts are there needs no room again either, manifest or not.
func TestResumeOfPartsNeedsNoSpace(t *testing.T) {
	src, want := filepath.Join(t.TempDir(), "big.iso"), fill(9, 40*blockBytes+77)
	write(t, src, want)
	dev := blocktest.NewMem(64 << 20)
	place := volume(t, dev, fat32.FAT32)
	j := Job{Sources: []Place{host(src)}, Destination: place, Split: true, Resume: true, PartBytes: 9 * blockBytes}
	j.tune.maxFileBytes = 10 * blockBytes
	whole(t, run(t, j), 1, int64(len(want)))
	if rec := run(t, j); rec.Outcome != report.Done || rec.Files != 0 || rec.Skipped[ReasonThere] != 1 {
		t.Fatal(rec.Outcome, rec.Files, rec.Skipped)
	}
	j.Verify = true
	if rec := run(t, j); rec.Outcome != report.Done || rec.Bytes != 0 || rec.Verified != 5 {
		t.Fatal(rec.Outcome, rec.Bytes, rec.Verified, rec.Problems)
	}
	// As killed before the manifest, one part is missing.
	place.Volume.Remove("/big.iso" + manifestSuffix)
	place.Volume.Remove("/big.iso.part0003")
	if rec := run(t, j); rec.Outcome != report.Done || rec.Bytes != 9*blockBytes || rec.Verified != 5 {
		t.Fatal(rec.Outcome, rec.Bytes, rec.Verified, rec.Problems)
	}
	unmount(t, place, dev)
}
