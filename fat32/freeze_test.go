package fat32

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"coffer/container/block/blocktest"
)

// TestFreezeIsAConsistentMoment freezes a volume that several writers change all the time: a check of the device in that
// moment finds nothing, not even a mark, and nothing is written to the device until it is thawed.
func TestFreezeIsAConsistentMoment(t *testing.T) {
	dev := blocktest.NewMem(16 << 20)
	if _, err := Format(context.Background(), dev, FormatOptions{Type: FAT16}); err != nil {
		t.Fatal(err)
	}
	v, err := Mount(dev, MountOptions{Location: time.UTC, CommitInterval: 3 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	var stop atomic.Bool
	var done atomic.Int64
	var wg sync.WaitGroup
	for w := range 3 {
		wg.Go(func() {
			for i := 0; !stop.Load(); i++ {
				if err := churn(v, w, i); err != nil {
					t.Error(err)
					return
				}
				done.Add(1)
			}
		})
	}
	rounds := 40
	if testing.Short() {
		rounds = 8
	}
	for range rounds {
		for before := done.Load(); done.Load() < before+3 && !t.Failed(); {
			time.Sleep(time.Millisecond)
		}
		thaw, err := v.Freeze()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.Freeze(); !errors.Is(err, ErrBusy) {
			t.Errorf("a second freeze: %v, want ErrBusy", err)
		}
		first := image(t, dev)
		report, err := Check(context.Background(), dev, CheckOptions{Location: time.UTC})
		if err != nil || !report.Clean() {
			t.Errorf("check of the frozen volume: %v, %v", err, report.Findings)
		}
		if _, err := v.ReadDir("/"); err != nil { // readers are not held
			t.Error(err)
		}
		time.Sleep(5 * time.Millisecond)
		if !bytes.Equal(first, image(t, dev)) {
			t.Error("the frozen device changed")
		}
		thaw()
		thaw()
	}
	stop.Store(true)
	wg.Wait()
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
}

// image is every byte of a device.
func image(t *testing.T, dev *blocktest.Mem) []byte {
	t.Helper()
	all := make([]byte, dev.Size())
	if _, err := dev.ReadAt(all, 0); err != nil {
		t.Fatal(err)
	}
	return all
}

// churn makes, fills, cuts, renames and removes a file and a folder.
func churn(v *Volume, w, i int) error {
	name := "/" + string(rune('a'+w)) + string(rune('0'+i%10)) + " with a longer name.bin"
	f, err := v.OpenFile(name, ReadWrite|Create)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(make([]byte, 3000+i%7*4096), 0)
	err = errors.Join(err, f.Truncate(int64(i%3)*1000), f.Close())
	err = errors.Join(err, v.MkdirAll(name+".d/sub"), v.Rename(name, name+".d/sub/moved", true))
	if i%2 == 0 {
		err = errors.Join(err, v.Remove(name+".d/sub/moved"), v.Remove(name+".d/sub"), v.Remove(name+".d"))
	}
	return err
}

// TestFreezeEndsWithTheVolume: whoever waits for a thaw hears of a close, and a volume marked clean by a freeze is marked
// again by the next change.
func TestFreezeEndsWithTheVolume(t *testing.T) {
	dev := blocktest.NewMem(4 << 20)
	if _, err := Format(context.Background(), dev, FormatOptions{}); err != nil {
		t.Fatal(err)
	}
	v, err := Mount(dev, MountOptions{CommitInterval: -1})
	if err != nil {
		t.Fatal(err)
	}
	dirty := func() bool {
		look, err := Mount(dev, MountOptions{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		defer look.Close()
		return look.WasDirty()
	}
	for range 2 {
		if err := v.MkdirAll("/folder"); err != nil {
			t.Fatal(err)
		}
		if err := churn(v, 0, 0); err != nil {
			t.Fatal(err)
		}
		if !dirty() {
			t.Fatal("a volume being written is not marked as in use")
		}
		thaw, err := v.Freeze()
		if err != nil {
			t.Fatal(err)
		}
		if dirty() {
			t.Fatal("a frozen volume is marked as in use")
		}
		thaw()
	}
	if _, err := v.Freeze(); err != nil {
		t.Fatal(err)
	}
	waiting := make(chan error, 1)
	go func() { waiting <- v.Mkdir("/late") }()
	select {
	case err := <-waiting:
		t.Fatalf("an operation ran in a frozen volume: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-waiting; !errors.Is(err, ErrClosed) {
		t.Errorf("an operation held when the volume was closed: %v, want ErrClosed", err)
	}
}
