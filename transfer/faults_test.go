//go:build linux

package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"coffer/container/block/blocktest"
	"coffer/fat32"
	"coffer/transfer/report"
)

// Files another user must not read are listed and the rest goes on. The copy
// runs as nobody, since root reads everything.
func TestUnreadable(t *testing.T) {
	if os.Getuid() != 0 {
		t.Fatal("this test must be root to become another user")
	}
	base := t.TempDir()
	for dir := base; dir != "/" && dir != "/tmp"; dir = filepath.Dir(dir) {
		os.Chmod(dir, 0o755)
	}
	src, dst := filepath.Join(base, "src"), filepath.Join(base, "dst")
	write(t, filepath.Join(src, "fine"), []byte("fine"))
	write(t, filepath.Join(src, "secret"), []byte("secret"))
	write(t, filepath.Join(src, "closed", "inside"), []byte("inside"))
	write(t, filepath.Join(src, "open", "inside"), []byte("inside"))
	os.Chmod(filepath.Join(src, "secret"), 0o600)
	os.Chmod(filepath.Join(src, "closed"), 0o700)
	os.Mkdir(dst, 0o755)
	os.Chown(dst, 65534, 65534)
	self := filepath.Join(base, "self")
	data, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(self, data, 0o755); err != nil {
		t.Fatal(err)
	}
	spec, _ := json.Marshal(childSpec{From: src, To: dst, Report: true})
	cmd := exec.Command(self)
	cmd.Dir = base
	cmd.Env = append(os.Environ(), childEnv+"="+string(spec))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if !strings.Contains(string(out), "partial 2 map[unreadable:2]") {
		t.Fatalf("%s", out)
	}
	sameBytes(t, filepath.Join(dst, "open", "inside"), []byte("inside"))
}

// tmpfs mounts a small file system that is soon full.
func tmpfs(t *testing.T, bytes int64) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", bytes)); err != nil {
		t.Fatalf("mounting a tmpfs needs root: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, syscall.MNT_DETACH) })
	return dir
}

// A file system mounted inside the target folder is synced as well.
func TestMountInsideTarget(t *testing.T) {
	src, dst := filepath.Join(t.TempDir(), "src"), t.TempDir()
	files, bytes := sampleTree(t, src)
	if err := os.MkdirAll(filepath.Join(dst, "src", "many"), 0o755); err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dst, "src", "many")
	if err := syscall.Mount("tmpfs", other, "tmpfs", 0, "size=20m"); err != nil {
		t.Fatalf("mounting a tmpfs needs root: %v", err)
	}
	defer syscall.Unmount(other, syscall.MNT_DETACH)
	p, err := Job{Sources: []Place{host(src)}, Destination: host(dst)}.Plan(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	folders := p.target.(*hostTree).folders
	whole(t, mustRun(t, p), files, bytes)
	if runtime.GOOS == "linux" && len(folders.foreign) != 0 {
		t.Fatal("handles of the other file system are still open")
	}
	if d := diff(snapshot(t, src), snapshot(t, filepath.Join(dst, "src"))); d != "" {
		t.Fatal(d)
	}
	tree, err := newHostTree(dst)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.close()
	if _, err := tree.stat("src/many/x"); !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	if runtime.GOOS == "linux" && len(tree.folders.foreign) != 1 {
		t.Fatal("the mount was not noticed")
	}
	if err := tree.sync(); err != nil {
		t.Fatal(err)
	}
}

func TestHostDiskFull(t *testing.T) {
	src := filepath.Join(t.TempDir(), "src")
	for i := range 20 {
		write(t, filepath.Join(src, fmt.Sprint(i)), fill(uint64(i), blockBytes/2))
	}
	want := snapshot(t, src)
	dst := tmpfs(t, 6<<20)
	j := Job{Sources: []Place{{Path: src, Contents: true}}, Destination: host(dst)}
	// Known before: nothing is written.
	if _, err := try(t, j); !errors.Is(err, ErrNoSpace) || !errors.Is(err, syscall.ENOSPC) {
		t.Fatal(err)
	}
	if got := snapshot(t, dst); len(got) != 0 {
		t.Fatal(got)
	}
	// Not known before.
	p, err := j.Plan(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	p.SpaceErr = nil
	rec, err := Run(context.Background(), p)
	if !errors.Is(err, syscall.ENOSPC) || rec.Outcome != report.Failed || rec.Files < 5 {
		t.Fatal(err, rec.Files)
	}
	got := snapshot(t, dst)
	for name, g := range got {
		if !isLeftover(name) && g != want[name] {
			t.Errorf("%s is short", name)
		}
	}
	// The image's own disk fills up below a volume.
	thin := tmpfs(t, 5<<20)
	image := filepath.Join(thin, "image")
	f, err := os.Create(image)
	if err != nil {
		t.Fatal(err)
	}
	f.Truncate(64 << 20)
	f.Close()
	dev, err := openFileDevice(image)
	if err != nil {
		t.Fatal(err)
	}
	defer dev.Close()
	if _, err := fat32.Format(context.Background(), dev, fat32.FormatOptions{AssumeZero: true}); err != nil {
		t.Fatal(err)
	}
	place := mount(t, dev)
	rec, err = try(t, Job{Sources: j.Sources, Destination: place})
	if !errors.Is(err, syscall.ENOSPC) && !errors.Is(err, fat32.ErrNoSpace) || rec.Outcome != report.Failed {
		t.Fatalf("%v, %s", err, rec.Outcome)
	}
	place.FreeBytes = 5 << 20
	if _, err = try(t, Job{Sources: j.Sources, Destination: place, Resume: true}); !errors.Is(err, ErrNoSpace) {
		t.Fatalf("the free space below a thin image was not looked at: %v", err)
	}
	place.Volume.Close() // may fail: the disk is full
	if err := syscall.Mount("tmpfs", thin, "tmpfs", syscall.MS_REMOUNT, "size=90m"); err != nil {
		t.Fatal(err)
	}
	if _, err := fat32.Check(context.Background(), dev, fat32.CheckOptions{Repair: true}); err != nil {
		t.Fatal(err)
	}
	sound(t, dev)
	have := readBack(t, dev)
	for name, g := range have {
		if !isLeftover(name) && (g.size != want[name].size || g.sum != want[name].sum) {
			t.Errorf("%s is short", name)
		}
	}
	place = mount(t, dev)
	run(t, Job{Sources: j.Sources, Destination: place, Resume: true})
	unmount(t, place, dev)
	if d := diff(want, readBack(t, dev)); d != "" {
		t.Fatal(d)
	}
}

// cutTree is a source small enough for hundreds of cuts.
func cutTree(t *testing.T) (string, map[string]entry) {
	src := filepath.Join(t.TempDir(), "src")
	write(t, filepath.Join(src, "huge"), fill(5, 5*blockBytes+17))
	for i := range 60 {
		write(t, filepath.Join(src, fmt.Sprintf("f/%02d/a longer file name %03d", i%5, i)), fill(uint64(i), 300+i*911))
	}
	return src, snapshot(t, src)
}

// crashCopy copies onto a device that records, with marks of what was announced.
func crashCopy(t *testing.T, src string, start *blocktest.Mem, resume bool) *blocktest.Crash {
	t.Helper()
	dev := blocktest.NewCrash(start)
	place := mount(t, dev)
	run(t, Job{Sources: []Place{{Path: src, Contents: true}}, Destination: place, Workers: 2, Resume: resume, Overwrite: OverwriteReplace,
		tune: tuning{resumableBytes: 2 * blockBytes, batchBytes: 128 << 10, batchInterval: 20 * time.Millisecond},
		OnEvent: func(e Event) {
			for _, p := range e.Safe {
				dev.Mark(p)
			}
		}})
	unmount(t, place, dev)
	return dev
}

// repaired mends what a cut left and reads it all.
func repaired(t *testing.T, cut blocktest.Cut, img *blocktest.Mem) map[string]entry {
	t.Helper()
	if _, err := fat32.Check(context.Background(), img, fat32.CheckOptions{Repair: true}); err != nil {
		t.Fatal(cut, err)
	}
	v, err := fat32.Mount(img, fat32.MountOptions{ReadOnly: true, Location: time.UTC})
	if err != nil {
		t.Fatal(cut, err)
	}
	defer v.Close()
	got := map[string]entry{}
	readVolume(t, v, "/", got)
	return got
}

func freshVolume(t *testing.T, bytes int64) *blocktest.Mem {
	t.Helper()
	mem := blocktest.NewMem(bytes)
	if _, err := fat32.Format(context.Background(), mem, fat32.FormatOptions{AssumeZero: true}); err != nil {
		t.Fatal(err)
	}
	return mem
}

// Whatever a power cut leaves: what a durable event named is there and exact, and
// no short file stands under a final name.
func TestAnnouncedSurvivesPowerCuts(t *testing.T) {
	src, want := cutTree(t)
	dev := crashCopy(t, src, freshVolume(t, 40<<20), false)
	cuts, checked := 0, 0
	for cut, img := range dev.States(blocktest.StateOptions{Stride: max(1, dev.Len()/150), Subsets: 2, Seed: 3}) {
		cuts++
		safe := dev.Marks(cut.At)
		checked += len(safe)
		demand(t, cut.At, want, repaired(t, cut, img), safe)
	}
	if checked == 0 {
		t.Fatal("nothing was announced before any cut")
	}
	t.Logf("%d cuts, %d announced files looked at", cuts, checked)
}

// The same for a resume after a cut, cut again: what either run announced stays.
func TestResumeSurvivesPowerCuts(t *testing.T) {
	src, want := cutTree(t)
	first := crashCopy(t, src, freshVolume(t, 40<<20), false)
	cuts, checked, parts := 0, 0, 8
	if testing.Short() {
		parts = 3
	}
	for cut, img := range first.States(blocktest.StateOptions{From: first.Len() / 10, Stride: max(1, first.Len()/parts), Subsets: 1, Seed: 9}) {
		earlier := first.Marks(cut.At)
		demand(t, cut.At, want, repaired(t, cut, img), earlier)
		second := crashCopy(t, src, img, true)
		if d := diff(want, repaired(t, cut, second.Live)); d != "" {
			t.Fatalf("%v: after the resume:\n%s", cut, d)
		}
		for cut2, img2 := range second.States(blocktest.StateOptions{Stride: max(1, second.Len()/25), Subsets: 1, Seed: 3}) {
			cuts++
			safe := append(second.Marks(cut2.At), earlier...)
			checked += len(safe)
			demand(t, cut2.At, want, repaired(t, cut2, img2), safe)
		}
	}
	t.Logf("%d cuts, %d announced files looked at", cuts, checked)
}

// Rates agree with bytes over wall time, and with what the destination took.
func TestRatesAgreeWithTheWrites(t *testing.T) {
	src := filepath.Join(t.TempDir(), "src")
	files, bytes := sampleTree(t, src)
	write(t, filepath.Join(src, "huge"), fill(5, 64*blockBytes))
	files, bytes = files+1, bytes+64*blockBytes
	dev := blocktest.NewMem(200 << 20)
	place := volume(t, dev, fat32.FAT32)
	var seen, last atomic.Int64
	var events []time.Time
	p, err := Job{Sources: []Place{host(src)}, Destination: place, Window: 50 * time.Millisecond, OnEvent: func(e Event) {
		if e.Kind == EventProgress && e.Stage == StageCopy {
			events = append(events, time.Now())
			if e.Bytes < last.Load() {
				t.Errorf("progress went back")
			}
			last.Store(e.Bytes)
			seen.Add(1)
		}
	}}.Plan(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	// Slow enough for several windows on any machine.
	p.sources[0] = &hookedTree{tree: p.sources[0], onRead: func(file string, _ int64) {
		if strings.HasSuffix(file, "huge") {
			time.Sleep(40 * time.Millisecond)
		}
	}}
	rec := mustRun(t, p)
	whole(t, rec, files, bytes)
	if rec.Rates.SingleWindow || len(rec.Rates.Series) < 4 {
		t.Fatalf("only %d windows", len(rec.Rates.Series))
	}
	var sum float64
	for _, v := range rec.Rates.Series {
		sum += v * rec.Rates.WindowSeconds
	}
	seconds := rec.Seconds.Copy + rec.Seconds.Sync
	partial := seconds - float64(len(rec.Rates.Series))*rec.Rates.WindowSeconds
	if sum > float64(bytes)*1.0001 || partial < -0.001 || partial > rec.Rates.WindowSeconds+0.01 {
		t.Fatalf("windows hold %v of %d bytes, %v s are outside of them", sum, bytes, partial)
	}
	if avg := float64(bytes) / seconds; rec.Rates.Average < avg*0.98 || rec.Rates.Average > avg*1.02 {
		t.Fatalf("average %v, bytes over wall time %v", rec.Rates.Average, avg)
	}
	if rec.Rates.CopyAverage < rec.Rates.Average || rec.CPU.Total.UserSeconds+rec.CPU.Total.SystemSeconds <= 0 || rec.Seconds.Total < seconds {
		t.Fatalf("%+v", rec)
	}
	for i := 1; i < len(events); i++ {
		if d := events[i].Sub(events[i-1]); d < 20*time.Millisecond && i > 1 && events[i].Sub(events[i-2]) < 60*time.Millisecond {
			t.Fatalf("progress events %v apart", d)
		}
	}
	unmount(t, place, dev)
}

// Memory does not grow with what is copied.
func TestMemoryIsBounded(t *testing.T) {
	src := filepath.Join(t.TempDir(), "src")
	if err := os.MkdirAll(src, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 6 { // sparse: zeros to read, nothing on the disk
		name := filepath.Join(src, fmt.Sprint("zeros", i))
		write(t, name, nil)
		if err := os.Truncate(name, 100<<20); err != nil {
			t.Fatal(err)
		}
	}
	dst := t.TempDir()
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	var most atomic.Uint64
	rec := run(t, Job{Sources: []Place{host(src)}, Destination: host(dst), Workers: 4, OnEvent: func(Event) {
		runtime.ReadMemStats(&now)
		most.Store(max(most.Load(), now.HeapInuse))
	}})
	whole(t, rec, 6, 6*100<<20)
	if grown := int64(most.Load()) - int64(before.HeapInuse); grown > 48<<20 {
		t.Fatalf("the heap grew by %d bytes", grown)
	}
}

// A target folder that cannot be written, but its subfolders can.
func TestWritableSubfolderOnly(t *testing.T) {
	if os.Getuid() != 0 {
		t.Fatal("this test must be root to become another user")
	}
	base := t.TempDir()
	for dir := base; dir != "/" && dir != "/tmp"; dir = filepath.Dir(dir) {
		os.Chmod(dir, 0o755)
	}
	src, dst := filepath.Join(base, "src"), filepath.Join(base, "dst")
	write(t, filepath.Join(src, "sub", "file"), []byte("content"))
	os.MkdirAll(filepath.Join(dst, "sub"), 0o755)
	os.Chown(filepath.Join(dst, "sub"), 65534, 65534)
	self := filepath.Join(base, "self")
	data, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(self, data, 0o755); err != nil {
		t.Fatal(err)
	}
	spec, _ := json.Marshal(childSpec{From: src, To: dst, Report: true})
	cmd := exec.Command(self)
	cmd.Dir = base
	cmd.Env = append(os.Environ(), childEnv+"="+string(spec))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "done 1 map[]") {
		t.Fatalf("%v: %s", err, out)
	}
	sameBytes(t, filepath.Join(dst, "sub", "file"), []byte("content"))
}
