package fat32_test

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"coffer/container/block/blocktest"
	"coffer/fat32"
)

// slowDevice delays writes and can fail them.
type slowDevice struct {
	*blocktest.Mem
	delay atomic.Int64 // of large writes
	fail  atomic.Pointer[error]
	panic atomic.Bool
	syncs atomic.Int64
}

func (d *slowDevice) WriteAt(p []byte, off int64) (int, error) {
	if len(p) >= 64<<10 {
		time.Sleep(time.Duration(d.delay.Load()))
		if d.panic.Load() {
			panic("device")
		}
		if err := d.fail.Load(); err != nil {
			return 0, *err
		}
	}
	return d.Mem.WriteAt(p, off)
}

func (d *slowDevice) Sync() error { d.syncs.Add(1); return d.Mem.Sync() }

func behindVolume(t *testing.T) (*slowDevice, *fat32.Volume, *fat32.File) {
	t.Helper()
	dev := &slowDevice{Mem: blocktest.NewMem(64 << 20)}
	if _, err := fat32.Format(context.Background(), dev, fat32.FormatOptions{AssumeZero: true}); err != nil {
		t.Fatal(err)
	}
	v, err := fat32.Mount(dev, fat32.MountOptions{CommitInterval: -1})
	if err != nil {
		t.Fatal(err)
	}
	f, err := v.OpenFile("/file", fat32.ReadWrite|fat32.Create)
	if err != nil {
		t.Fatal(err)
	}
	return dev, v, f
}

func behindWrite(t *testing.T, f *fat32.File, p []byte, off int64) {
	t.Helper()
	if n, err := f.WriteBehind(p, off); n != len(p) || err != nil {
		t.Fatalf("write: %d, %v", n, err)
	}
}

func wantBytes(t *testing.T, f *fat32.File, want []byte, off int64) {
	t.Helper()
	got := make([]byte, len(want))
	if n, err := f.ReadAt(got, off); n != len(want) || err != nil && n != len(want) {
		t.Fatalf("read: %d, %v", n, err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("%d bytes at %d differ", len(want), off)
	}
}

// TestBehindIsSeen: reads, small and large writes, truncation and other files meet what is under way.
func TestBehindIsSeen(t *testing.T) {
	dev, v, f := behindVolume(t)
	dev.delay.Store(int64(2 * time.Millisecond))
	want := pattern(1, 3<<20)
	begun := time.Now()
	behindWrite(t, f, want, 0)
	if took := time.Since(begun); took > time.Second {
		t.Errorf("took %v", took)
	}
	wantBytes(t, f, want, 0)
	for i := range 20 {
		big, small := pattern(i, 300_000), pattern(i+100, 1000)
		off := int64(i * 123_457 % 2_500_000)
		behindWrite(t, f, big, off)
		copy(want[off:], big)
		if _, err := f.WriteAt(small, off+150_000); err != nil {
			t.Fatal(err)
		}
		copy(want[off+150_000:], small)
		wantBytes(t, f, want[off+149_000:off+152_000], off+149_000)
	}
	wantBytes(t, f, want, 0)
	// A file cut off under way gives its clusters to another.
	g, err := v.OpenFile("/other", fat32.ReadWrite|fat32.Create)
	if err != nil {
		t.Fatal(err)
	}
	behindWrite(t, f, pattern(9, 2<<20), 3<<20)
	if err := f.Truncate(3 << 20); err != nil {
		t.Fatal(err)
	}
	other := pattern(77, 2<<20)
	behindWrite(t, g, other, 0)
	wantBytes(t, g, other, 0)
	wantBytes(t, f, want, 0)
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	selfCheck(t, dev.Mem)
	fsck(t, dev.Mem)
	v, err = fat32.Mount(dev.Mem, fat32.MountOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	if f, err = v.OpenFile("/file", fat32.ReadOnly); err != nil {
		t.Fatal(err)
	}
	wantBytes(t, f, want, 0)
	if g, err = v.OpenFile("/other", fat32.ReadOnly); err != nil {
		t.Fatal(err)
	}
	wantBytes(t, g, other, 0)
}

// TestBehindSync: what was written before a sync is on the device when it returns, and writers who go on do not hold it up.
func TestBehindSync(t *testing.T) {
	dev, v, f := behindVolume(t)
	dev.delay.Store(int64(time.Millisecond))
	want := pattern(5, 4<<20)
	behindWrite(t, f, want, 0)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		g, err := v.OpenFile("/endless", fat32.ReadWrite|fat32.Create)
		for p := pattern(1, 1<<20); err == nil; {
			select {
			case <-stop:
				return
			default:
				_, err = g.WriteBehind(p, 0)
			}
		}
		t.Error(err)
	})
	time.Sleep(5 * time.Millisecond)
	done := make(chan error, 1)
	go func() { done <- f.Sync() }()
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(20 * time.Second):
		t.Fatal("the sync waits for writes that came after it")
	}
	copied := dev.Clone()
	close(stop)
	wg.Wait()
	w, err := fat32.Mount(copied, fat32.MountOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	g, err := w.OpenFile("/file", fat32.ReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	wantBytes(t, g, want, 0)
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestBehindFails: an error, or a panic, of the device after the writer has gone on is told by the next sync and turns the volume read-only.
func TestBehindFails(t *testing.T) {
	for _, panics := range []bool{false, true} {
		dev, v, f := behindVolume(t)
		behindWrite(t, f, pattern(1, 1<<20), 0)
		if err := f.Sync(); err != nil {
			t.Fatal(err)
		}
		broken := errors.New("broken")
		dev.fail.Store(&broken)
		dev.panic.Store(panics)
		_, _ = f.WriteBehind(pattern(2, 1<<20), 0)
		if err := f.Sync(); err == nil || !panics && !errors.Is(err, broken) {
			t.Errorf("sync: %v", err)
		}
		if v.Err() == nil {
			t.Error("the volume goes on")
		}
		if _, err := f.WriteBehind(pattern(2, 1<<20), 0); !errors.Is(err, fat32.ErrReadOnly) {
			t.Errorf("write after a failure: %v", err)
		}
		dev.fail.Store(nil)
		dev.panic.Store(false)
		if err := f.Sync(); err == nil {
			t.Error("a sync after a failure succeeds")
		}
		if err := v.Close(); err == nil {
			t.Error("close after a failure succeeds")
		}
	}
}

// TestBehindHostFull: a full host, or a file of the host that may not grow, is told by the sync; when there is room again,
// what was accepted gets there.
func TestBehindHostFull(t *testing.T) {
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EFBIG} {
		t.Run(full.Error(), func(t *testing.T) { behindHostFull(t, full) })
	}
}

func behindHostFull(t *testing.T, full error) {
	dev, v, f := behindVolume(t)
	dev.delay.Store(int64(50 * time.Millisecond)) // both parts are accepted before the first fails
	dev.fail.Store(&full)
	want := pattern(3, 2<<20)
	behindWrite(t, f, want, 0)
	for range 3 {
		if err := f.Sync(); !errors.Is(err, fat32.ErrNoSpace) {
			t.Fatalf("sync on a full host: %v", err)
		}
	}
	if _, err := f.WriteBehind(want, 4<<20); !errors.Is(err, fat32.ErrNoSpace) {
		t.Errorf("write on a full host: %v", err)
	}
	if v.Err() != nil {
		t.Fatalf("the volume was given up: %v", v.Err())
	}
	dev.fail.Store(nil)
	if err := f.Sync(); err != nil {
		t.Fatalf("sync when there is room again: %v", err)
	}
	wantBytes(t, f, want, 0)
	behindWrite(t, f, want, 4<<20)
	wantBytes(t, f, want, 4<<20)
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	selfCheck(t, dev.Mem)
	fsck(t, dev.Mem)
}
