package fat32_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"

	"coffer/container/block/blocktest"
	"coffer/fat32"
)

// faultRun does things to a volume until one fails, and tells what had been
// acknowledged by then.
func faultRun(v *fat32.Volume, s tree) (acked tree, err error) {
	now := maps.Clone(s)
	acked = maps.Clone(s)
	for i := range 4 {
		for _, op := range crashOps() {
			if !op.ok(now) || op.parts != nil {
				continue
			}
			if err := op.do(v); err != nil {
				return acked, fmt.Errorf("%s: %w", op.name, err)
			}
			op.set(now)
			if i%2 == 0 && op.name < "d" {
				if err := v.Sync(); err != nil {
					return acked, err
				}
				acked = maps.Clone(now)
			}
		}
	}
	if err := v.Sync(); err != nil {
		return acked, err
	}
	return now, nil
}

// TestFaults lets every single read, write and sync fail once. Nothing may be
// acknowledged that is not there, nothing may panic, and after a failed sync
// the volume takes no more changes but can be read.
func TestFaults(t *testing.T) {
	base := format(t, 1<<20, fat32.FormatOptions{})
	v := mount(t, base)
	start := crashBase(t, v)
	must(t, v.Close())
	for name, kind := range map[string]blocktest.Op{"read": blocktest.OpRead, "write": blocktest.OpWrite, "sync": blocktest.OpSync} {
		t.Run(name, func(t *testing.T) {
			n, err := blocktest.UntilPass(5000, func(n int) (bool, error) {
				m := base.Clone()
				dev := blocktest.NewFault(m)
				dev.Inject(blocktest.Injection{Op: kind, Nth: n, Err: syscall.EIO})
				v, err := fat32.Mount(dev, quiet())
				if err != nil {
					return dev.Fired() > 0, nil // said so
				}
				acked, opErr := faultRun(v, start)
				closeErr := v.Close()
				if dev.Fired() == 0 && (opErr != nil || closeErr != nil) {
					return false, fmt.Errorf("without a fault: %v, %v", opErr, closeErr)
				}
				if kind == blocktest.OpSync && dev.Fired() > 0 && opErr == nil && closeErr == nil {
					return true, errors.New("a failed sync went unnoticed")
				}
				return dev.Fired() > 0, judgeFault(m, acked, opErr)
			})
			t.Logf("%d faults", n)
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}

// judgeFault mends the volume and looks for what had been acknowledged.
func judgeFault(m *blocktest.Mem, acked tree, opErr error) error {
	if _, err := fat32.Check(context.Background(), m, fat32.CheckOptions{Repair: true}); err != nil {
		return err
	}
	v, err := fat32.Mount(m, fat32.MountOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer v.Close()
	found, err := readTree(v)
	if err != nil {
		return err
	}
	if opErr == nil {
		if d := diffTrees(found, acked); d != nil {
			return fmt.Errorf("all went well, but %v", d)
		}
		return nil
	}
	for _, p := range []string{"/keep/one of the files that nobody touches", "/keep/two", "/three"} {
		if found[p] != acked[p] {
			return fmt.Errorf("%s is lost", p)
		}
	}
	return nil
}

func TestFailedSyncIsSticky(t *testing.T) {
	m := format(t, 40<<20, fat32.FormatOptions{})
	dev := blocktest.NewFault(m)
	v := mount(t, dev)
	put(t, v, "/f", pattern(1, 5000))
	must(t, v.Sync())
	put(t, v, "/g", pattern(2, 5000))
	dev.Inject(blocktest.Injection{Op: blocktest.OpSync, Err: syscall.EIO})
	if err := v.Sync(); !errors.Is(err, syscall.EIO) {
		t.Fatalf("sync: %v", err)
	}
	for i := range 3 {
		if err := v.Sync(); !errors.Is(err, fat32.ErrReadOnly) || !errors.Is(err, syscall.EIO) {
			t.Fatalf("sync %d after the failure: %v", i, err)
		}
	}
	if _, err := v.OpenFile("/h", fat32.ReadWrite|fat32.Create); !errors.Is(err, fat32.ErrReadOnly) {
		t.Fatal(err)
	}
	if v.Err() == nil || !bytes.Equal(get(t, v, "/f"), pattern(1, 5000)) {
		t.Fatal("state after a failed sync")
	}
	if err := v.Close(); !errors.Is(err, syscall.EIO) {
		t.Fatalf("close: %v", err)
	}
}

// TestFullHost: the disk below is full for a while. Every write says so, and
// when there is room again the same volume goes on.
func TestFullHost(t *testing.T) {
	for nth := range 25 {
		m := format(t, 40<<20, fat32.FormatOptions{})
		dev := blocktest.NewFault(m)
		v := mount(t, dev)
		must(t, v.Mkdir("/d"))
		put(t, v, "/d/before", pattern(1, 5000))
		must(t, v.Sync())
		dev.Inject(blocktest.Injection{Op: blocktest.OpWrite, Nth: nth, Err: syscall.ENOSPC, Sticky: true})
		var failed error
		for i := range 6 {
			f, err := v.OpenFile(fmt.Sprintf("/d/file number %d.dat", i), fat32.ReadWrite|fat32.Create)
			if err == nil {
				_, err = f.WriteAt(pattern(i, 30000), 0)
				must(t, f.Close())
			}
			if err == nil {
				err = v.Sync()
			}
			if err != nil {
				failed = err
			}
		}
		must(t, v.Rename("/d/before", "/d/after", true))
		if failed == nil {
			failed = v.Sync()
		}
		if failed != nil && !errors.Is(failed, fat32.ErrNoSpace) || v.Err() != nil {
			t.Fatalf("fault %d: %v, %v", nth, failed, v.Err())
		}
		dev.Heal()
		for i := range 6 {
			put(t, v, fmt.Sprintf("/d/file number %d.dat", i), pattern(i, 30000))
		}
		must(t, v.Close())
		fsck(t, m)
		v = mount(t, m)
		for i := range 6 {
			if !bytes.Equal(get(t, v, fmt.Sprintf("/d/file number %d.dat", i)), pattern(i, 30000)) {
				t.Fatalf("fault %d: file %d differs", nth, i)
			}
		}
		if !bytes.Equal(get(t, v, "/d/after"), pattern(1, 5000)) {
			t.Fatal("renamed file differs")
		}
		if _, err := v.Stat("/d/before"); !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
}

// TestTransactionCuts: on a transactional device a power cut leaves exactly
// what the last commit had, clean and without any repair.
func TestTransactionCuts(t *testing.T) {
	for _, k := range []int{0, 2, 4} {
		t.Run(kinds[k].name, func(t *testing.T) {
			base := format(t, kinds[k].size, kinds[k].o)
			v := mount(t, base)
			start := crashBase(t, v)
			must(t, v.Close())
			dev := blocktest.NewTxn(base, blocktest.TxnOptions{LimitBytes: 4 << 20, CapacityBytes: 16 << 20, CountFresh: k == 2})
			v = mount(t, dev)
			r := rand.New(rand.NewPCG(uint64(k), 1))
			now, committed := maps.Clone(start), maps.Clone(start)
			ops := crashOps()
			for i := range 3000 {
				op := ops[r.IntN(len(ops))]
				if op.ok(now) {
					parts := op.parts
					if parts == nil {
						parts = []crashOp{op}
					}
					for _, p := range parts {
						if err := p.do(v); err != nil {
							t.Fatalf("%s: %v", op.name, err)
						}
						if strings.HasSuffix(p.name, "after sync") {
							committed = maps.Clone(now)
						}
						p.set(now)
					}
				} else if r.IntN(4) == 0 { // begin anew
					committed = renew(t, v, now, start)
				}
				if r.IntN(6) == 0 {
					must(t, v.Sync())
					committed = maps.Clone(now)
				}
				if i%50 == 0 {
					judgeTransaction(t, dev.Crash(), committed, i)
				}
			}
			must(t, v.Close())
			if bad := dev.Violations(); len(bad) > 0 {
				t.Fatal(bad)
			}
		})
	}
}

// renew makes the volume hold start again and commits that.
func renew(t *testing.T, v *fat32.Volume, now, start tree) tree {
	t.Helper()
	for p := range now {
		if p[len(p)-1] != '/' {
			must(t, v.Remove(p))
		}
	}
	for again := true; again; {
		again = false
		for p := range now {
			if p[len(p)-1] == '/' {
				err := v.Remove(p[:len(p)-1])
				again = again || errors.Is(err, fat32.ErrNotEmpty)
			}
		}
	}
	clear(now)
	maps.Copy(now, crashBase(t, v))
	must(t, v.Sync())
	return maps.Clone(now)
}

func judgeTransaction(t *testing.T, m *blocktest.Mem, want tree, step int) {
	t.Helper()
	fsck(t, m)
	selfCheck(t, m)
	v, err := fat32.Mount(m, fat32.MountOptions{ReadOnly: true})
	must(t, err)
	defer v.Close()
	if v.WasDirty() {
		t.Fatal("dirty")
	}
	found, err := readTree(v)
	must(t, err)
	if d := diffTrees(found, want); d != nil {
		t.Fatalf("step %d: %v", step, d)
	}
}
