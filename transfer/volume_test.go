//go:build unix

package transfer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"coffer/container/block"
	"coffer/container/block/blocktest"
	"coffer/fat32"
	"coffer/transfer/report"
)

// volume formats and mounts a device. The test ends with a check of it.
func volume(t testing.TB, dev block.Device, kind fat32.Type) Place {
	t.Helper()
	if _, err := fat32.Format(context.Background(), dev, fat32.FormatOptions{Type: kind, AssumeZero: true}); err != nil {
		t.Fatal(err)
	}
	return mount(t, dev)
}

func mount(t testing.TB, dev block.Device) Place {
	t.Helper()
	v, err := fat32.Mount(dev, fat32.MountOptions{Location: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	return Place{Volume: v, Path: "/", SizeBytes: dev.Size()}
}

// unmount closes a volume and demands that it is sound.
func unmount(t testing.TB, p Place, dev block.Device) {
	t.Helper()
	if err := p.Volume.Close(); err != nil {
		t.Fatal(err)
	}
	sound(t, dev)
}

// sound runs our check and fsck.vfat on a device.
func sound(t testing.TB, dev block.Device) {
	t.Helper()
	rep, err := fat32.Check(context.Background(), dev, fat32.CheckOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if !rep.Clean() {
		t.Fatalf("the volume is not sound: %+v", rep.Findings)
	}
	if _, err := exec.LookPath("fsck.vfat"); err != nil {
		t.Fatal("fsck.vfat is needed: install the Debian package dosfstools")
	}
	image := filepath.Join(t.TempDir(), "image")
	f, err := os.Create(image)
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(image)
	buf := make([]byte, 1<<20)
	for off := int64(0); off < dev.Size(); off += int64(len(buf)) {
		n := min(int64(len(buf)), dev.Size()-off)
		if _, err := dev.ReadAt(buf[:n], off); err != nil {
			t.Fatal(err)
		}
		if strings.Trim(string(buf[:n]), "\x00") == "" {
			continue
		}
		if _, err := f.WriteAt(buf[:n], off); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Truncate(dev.Size()); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if out, err := exec.Command("fsck.vfat", "-n", image).CombinedOutput(); err != nil {
		t.Fatalf("fsck.vfat: %v\n%s", err, out)
	}
}

// listVolume reads a whole volume: path to size, -1 for folders.
func listVolume(t testing.TB, v *fat32.Volume, dir string, out map[string]int64) map[string]int64 {
	t.Helper()
	infos, err := v.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range infos {
		p := strings.TrimSuffix(dir, "/") + "/" + i.Name
		if i.IsDir() {
			out[p] = -1
			listVolume(t, v, p, out)
		} else {
			out[p] = i.Size
		}
	}
	return out
}

func TestInAndOut(t *testing.T) {
	for _, kind := range []fat32.Type{fat32.FAT32, fat32.FAT16} {
		t.Run(kind.String(), func(t *testing.T) {
			size := int64(200 << 20)
			dev := blocktest.NewMem(size)
			place := volume(t, dev, kind)
			src, out := filepath.Join(t.TempDir(), "src"), filepath.Join(t.TempDir(), "out")
			files, bytes := sampleTree(t, src)
			rec := run(t, Job{Sources: []Place{host(src)}, Destination: place, Verify: true})
			whole(t, rec, files, bytes)
			if rec.Verified != files || rec.Destination.FileSystem != kind.String() || rec.Destination.ClusterBytes == 0 {
				t.Fatalf("%+v", rec)
			}
			unmount(t, place, dev)
			place = mount(t, dev)
			rec = run(t, Job{Sources: []Place{{Volume: place.Volume, Path: "/src"}}, Destination: host(out), Verify: true})
			whole(t, rec, files, bytes)
			if d := diff(snapshot(t, src), snapshot(t, out)); d != "" {
				t.Fatal(d)
			}
			// From one volume to another, and out of that one.
			dev2 := blocktest.NewMem(size)
			place2 := volume(t, dev2, fat32.FAT32)
			whole(t, run(t, Job{Sources: []Place{place}, Destination: place2, Verify: true}), files, bytes)
			out2 := filepath.Join(t.TempDir(), "out2")
			whole(t, run(t, Job{Sources: []Place{{Volume: place2.Volume, Path: "/src", Contents: true}}, Destination: host(out2)}), files, bytes)
			if d := diff(snapshot(t, src), snapshot(t, out2)); d != "" {
				t.Fatal(d)
			}
			unmount(t, place2, dev2)
			// Within one volume.
			within := Job{Sources: []Place{{Volume: place.Volume, Path: "/src"}}, Destination: Place{Volume: place.Volume, Path: "/again"}, Verify: true}
			whole(t, run(t, within), files, bytes)
			out3 := filepath.Join(t.TempDir(), "out3")
			whole(t, run(t, Job{Sources: []Place{{Volume: place.Volume, Path: "/again"}}, Destination: host(out3)}), files, bytes)
			if d := diff(snapshot(t, src), snapshot(t, out3)); d != "" {
				t.Fatal(d)
			}
			unmount(t, place, dev)
		})
	}
}

func TestVolumeRefusals(t *testing.T) {
	dev := blocktest.NewMem(64 << 20)
	p := volume(t, dev, fat32.Auto)
	v := p.Volume
	for _, d := range []string{"/a", "/a/b", "/c"} {
		if err := v.Mkdir(d); err != nil {
			t.Fatal(err)
		}
	}
	in := func(path string) Place { return Place{Volume: v, Path: path} }
	for name, c := range map[string]struct {
		from, to string
		want     error
	}{
		"inside":           {"/a", "/a/b", ErrInside},
		"inside, by case":  {"/A", "/a/B", ErrInside},
		"inside, new name": {"/a", "/a/b/new", ErrInside},
		"root into itself": {"/", "/c", ErrInside},
		"onto itself":      {"/a", "/", ErrSame},
		"missing":          {"/none", "/c", fat32.ErrNotExist},
		"missing parent":   {"/a", "/none/x", ErrTarget},
	} {
		if _, err := try(t, Job{Sources: []Place{in(c.from)}, Destination: in(c.to)}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	unmount(t, p, dev)
}

// Everything FAT cannot take is known before a byte is written, by reason.
func TestPreflightOfNames(t *testing.T) {
	src := filepath.Join(t.TempDir(), "src")
	put := func(name string) { write(t, filepath.Join(src, name), []byte(name)) }
	for _, n := range []string{"ok", "question?", "colon:x", "star*", "quote\"", "less<", "pipe|", "back\\slash", "tab\tx", "bad\xffutf8"} {
		put(n)
	}
	put("Readme")
	put("README")
	put("readme")
	put("caf\u00e9")
	put("cafe\u0301")
	put(strings.Repeat("\u65e5", 85)) // 255 bytes, 85 units: fine
	put("sub/inner:bad/x")
	put("sub/fine/x")
	dev := blocktest.NewMem(64 << 20)
	place := volume(t, dev, fat32.FAT32)
	p, err := Job{Sources: []Place{host(src)}, Destination: place}.Plan(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if got := listVolume(t, place.Volume, "/", map[string]int64{}); len(got) != 0 {
		t.Fatalf("planning wrote %v", got)
	}
	want := map[string]int64{ReasonName: 10, ReasonCollision: 3}
	for reason, n := range want {
		if p.Failed()[reason] != n {
			t.Errorf("%s: %d, want %d", reason, p.Failed()[reason], n)
		}
	}
	for _, pr := range p.Problems() {
		if form := strings.Contains(pr.Detail, "another Unicode form of the same letters"); pr.Reason == ReasonCollision && form != strings.Contains(pr.Name, "caf") {
			t.Errorf("%q: %s", pr.Name, pr.Detail)
		}
		if pr.Name == "src/question?" && !strings.Contains(pr.Detail, "question_") {
			t.Errorf("no legal name suggested: %s", pr.Detail)
		}
	}
	if p.Files != 5 || len(p.Remarks) == 0 {
		t.Errorf("%d files, remarks %q", p.Files, p.Remarks)
	}
	rec, err := Run(context.Background(), p)
	if err != nil || rec.Files != 5 || rec.Outcome != report.Partial {
		t.Fatal(err, rec.Files, rec.Problems)
	}
	// The same names by another spelling at the target.
	os.RemoveAll(src)
	put("OK")
	put("CAF\u00c9")
	rec = run(t, Job{Sources: []Place{host(src)}, Destination: place})
	if rec.Failed[ReasonExists] != 1 || rec.Failed[ReasonCollision] != 1 {
		t.Fatal(rec.Problems)
	}
	unmount(t, place, dev)
}

func TestPreflightOfSizeAndSpace(t *testing.T) {
	base := t.TempDir()
	src := filepath.Join(base, "src")
	write(t, filepath.Join(src, "small"), []byte("small"))
	huge := filepath.Join(src, "huge")
	write(t, huge, nil)
	if err := os.Truncate(huge, 5<<30); err != nil { // sparse
		t.Fatal(err)
	}
	dev := blocktest.NewMem(64 << 20)
	place := volume(t, dev, fat32.FAT32)
	rec := run(t, Job{Sources: []Place{host(src)}, Destination: place})
	if rec.Failed[ReasonTooBig] != 1 || rec.Files != 1 {
		t.Fatal(rec.Problems)
	}
	// With a split it would have to fit, and does not.
	rec, err := try(t, Job{Sources: []Place{host(huge)}, Destination: place, Split: true})
	var space *SpaceError
	if !errors.As(err, &space) || !errors.Is(err, syscall.ENOSPC) || !errors.Is(err, fat32.ErrNoSpace) || space.NeedBytes < 5<<30 || rec.Outcome != report.Failed {
		t.Fatal(err)
	}
	// Cluster waste counts: many tiny files.
	many := filepath.Join(base, "many")
	cluster := place.Volume.Geometry().ClusterSize
	n := int(place.Volume.StatFS().FreeBytes)/cluster + 10
	if n > 200_000 {
		t.Fatalf("%d files are too many for a test", n)
	}
	dev2 := blocktest.NewMem(24 << 20)
	place2 := volume(t, dev2, fat32.FAT16)
	cluster = place2.Volume.Geometry().ClusterSize
	n = int(place2.Volume.StatFS().FreeBytes)/cluster + 1
	for i := range n {
		write(t, filepath.Join(many, fmt.Sprintf("%03d", i/400), fmt.Sprint(i)), []byte("x"))
	}
	_, err = try(t, Job{Sources: []Place{host(many)}, Destination: place2})
	if !errors.As(err, &space) {
		t.Fatal(err)
	}
	if got := listVolume(t, place2.Volume, "/", map[string]int64{}); len(got) != 0 {
		t.Fatalf("a copy that cannot fit wrote %d names", len(got))
	}
	unmount(t, place, dev)
	unmount(t, place2, dev2)
}

func TestPreflightOfDirectorySlots(t *testing.T) {
	// The fixed root of FAT16 has 512 slots.
	base := t.TempDir()
	src := filepath.Join(base, "src")
	for i := range 300 {
		write(t, filepath.Join(src, fmt.Sprintf("a name of three slots %d", i)), nil)
	}
	dev := blocktest.NewMem(24 << 20)
	place := volume(t, dev, fat32.FAT16)
	rec := run(t, Job{Sources: []Place{{Path: src, Contents: true}}, Destination: place})
	slots := place.Volume.Geometry().RootEntries
	if rec.Failed[ReasonDirectoryFull] == 0 || rec.Files < int64(slots/3-10) || rec.Files+rec.Failed[ReasonDirectoryFull] != 300 {
		t.Fatalf("%d files, failed %v, %d slots", rec.Files, rec.Failed, slots)
	}
	unmount(t, place, dev)
}

// The volume fills up during the copy, behind the plan's back.
func TestVolumeFillsUp(t *testing.T) {
	src := filepath.Join(t.TempDir(), "src")
	for i := range 64 {
		write(t, filepath.Join(src, fmt.Sprintf("file %02d", i)), fill(uint64(i), 700<<10))
	}
	want := snapshot(t, src)
	dev := blocktest.NewMem(64 << 20)
	place := volume(t, dev, fat32.FAT32)
	p, err := Job{Sources: []Place{{Path: src, Contents: true}}, Destination: place}.Plan(context.Background())
	if err != nil || p.SpaceErr != nil {
		t.Fatal(err, p.SpaceErr)
	}
	f, err := place.Volume.OpenFile("/other", fat32.ReadWrite|fat32.Create)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt(fill(1, 40<<20), 0); err != nil {
		t.Fatal(err)
	}
	rec, err := Run(context.Background(), p)
	if !errors.Is(err, fat32.ErrNoSpace) || rec.Outcome != report.Failed {
		t.Fatal(err)
	}
	f.Close()
	got := listVolume(t, place.Volume, "/", map[string]int64{})
	if len(got) < 5 {
		t.Fatalf("only %d files", len(got))
	}
	for name, size := range got {
		base := strings.TrimPrefix(name, "/")
		if w, ok := want[base]; name != "/other" && !isLeftover(base) && (!ok || size != w.size) {
			t.Errorf("%s has %d bytes", name, size)
		}
	}
	if err := place.Volume.Remove("/other"); err != nil {
		t.Fatal(err)
	}
	// Room again: the rest arrives.
	run(t, Job{Sources: []Place{{Path: src, Contents: true}}, Destination: place, Resume: true})
	out := filepath.Join(t.TempDir(), "out")
	run(t, Job{Sources: []Place{place}, Destination: host(out)})
	if d := diff(want, snapshot(t, out)); d != "" {
		t.Fatal(d)
	}
	unmount(t, place, dev)
}

// A device error is never a silent success.
func TestDeviceErrors(t *testing.T) {
	src := filepath.Join(t.TempDir(), "src")
	files, _ := sampleTree(t, src)
	for _, op := range []blocktest.Op{blocktest.OpWrite, blocktest.OpSync} {
		for n := 1; n < 400; n = n*3/2 + 1 {
			mem := blocktest.NewMem(64 << 20)
			if _, err := fat32.Format(context.Background(), mem, fat32.FormatOptions{AssumeZero: true}); err != nil {
				t.Fatal(err)
			}
			fault := blocktest.NewFault(mem)
			place := mount(t, fault)
			fault.Inject(blocktest.Injection{Op: op, Nth: n, Err: syscall.EIO})
			rec, err := try(t, Job{Sources: []Place{host(src)}, Destination: place, tune: tuning{batchBytes: blockBytes}})
			fired := fault.Fired() > 0
			closeErr := place.Volume.Close()
			switch {
			case fired && err == nil && !rec.Incomplete() && closeErr == nil:
				t.Fatalf("op %v %d: an I/O error was swallowed", op, n)
			case !fired && (err != nil || rec.Files != files):
				t.Fatalf("op %v %d: nothing fired, %v", op, n, err)
			}
		}
	}
}

func TestTwentyThousandFiles(t *testing.T) {
	n := 20_000
	if testing.Short() {
		n = 3000
	}
	src, out := filepath.Join(t.TempDir(), "src"), filepath.Join(t.TempDir(), "out")
	os.Mkdir(src, 0o755)
	for i := range n {
		write(t, filepath.Join(src, fmt.Sprintf("f%05d", i)), fill(uint64(i), 100))
	}
	dev := blocktest.NewMem(512 << 20)
	place := volume(t, dev, fat32.FAT32)
	var durable atomic.Int64
	job := Job{Sources: []Place{host(src)}, Destination: place, OnEvent: func(e Event) {
		if e.Kind == EventDurable {
			durable.Store(e.Files)
		}
	}}
	whole(t, run(t, job), int64(n), int64(n)*100)
	if durable.Load() != int64(n) {
		t.Fatalf("%d files named durable", durable.Load())
	}
	whole(t, run(t, Job{Sources: []Place{{Volume: place.Volume, Path: "/src"}}, Destination: host(out)}), int64(n), int64(n)*100)
	if d := diff(snapshot(t, src), snapshot(t, out)); d != "" {
		t.Fatal(d)
	}
	unmount(t, place, dev)
}

func TestAttributesAndTimes(t *testing.T) {
	src, out := filepath.Join(t.TempDir(), "src"), filepath.Join(t.TempDir(), "out")
	write(t, filepath.Join(src, "d", "locked"), []byte("locked"))
	write(t, filepath.Join(src, "d", "old"), []byte("old"))
	when := time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)
	os.Chmod(filepath.Join(src, "d", "locked"), 0o444)
	ancient := time.Date(1955, 11, 5, 6, 0, 0, 0, time.UTC)
	os.Chtimes(filepath.Join(src, "d", "old"), ancient, ancient)
	os.Chtimes(filepath.Join(src, "d"), when, when)
	dev := blocktest.NewMem(64 << 20)
	place := volume(t, dev, fat32.FAT32)
	p, err := Job{Sources: []Place{host(src)}, Destination: place}.Plan(context.Background())
	if err != nil || len(p.Notes) != 1 || len(p.Remarks) != 1 {
		t.Fatal(err, p.Notes, p.Remarks)
	}
	if _, err := Run(context.Background(), p); err != nil {
		t.Fatal(err)
	}
	info, err := place.Volume.Stat("/src/d/locked")
	if err != nil || info.Attr&fat32.AttrReadOnly == 0 {
		t.Fatal(err, info)
	}
	if info, err := place.Volume.Stat("/src/d"); err != nil || !info.ModTime.Equal(when) {
		t.Fatal(err, info.ModTime)
	}
	if info, err := place.Volume.Stat("/src/d/old"); err != nil || info.ModTime.Year() != 1980 {
		t.Fatal(err, info.ModTime)
	}
	run(t, Job{Sources: []Place{{Volume: place.Volume, Path: "/src"}}, Destination: host(out)})
	if st, err := os.Stat(filepath.Join(out, "d", "locked")); err != nil || st.Mode().Perm() != 0o444 {
		t.Fatal(err, st.Mode())
	}
	if st, err := os.Stat(filepath.Join(out, "d")); err != nil || !st.ModTime().Equal(when) {
		t.Fatal(err, st.ModTime())
	}
	unmount(t, place, dev)
}
