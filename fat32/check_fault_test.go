package fat32

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"coffer/container/block/blocktest"
)

// damagedCraft has several kinds of damage at once.
func damagedCraft(t testing.TB) *craft {
	c := newCraft(t, FAT32, 300)
	c.dir(0, 0, "DIR", 30)
	c.add(30, 2, "A", 0, 10, 1500)
	c.add(0, 1, "B", 0, 20, 1400)
	c.chain(10, 11, 12)
	c.chain(20, 11)
	c.entry(11, 12)
	c.fill(10, 11, 12, 20)
	c.add(0, 2, "LONG", 0, 40, 10)
	c.chain(40, 41)
	c.chain(50, 51)
	c.add(0, 3, "A?B", 0, 0, 0)
	c.fsinfo()
	return c
}

// TestCheckFaults fails each read, write and sync of a repair in turn: the error
// comes out, nothing panics, and a later repair finishes with all data.
func TestCheckFaults(t *testing.T) {
	start := damagedCraft(t)
	whole := &craft{t: t, m: start.m.Clone(), b: start.b}
	checkMem(t, whole.m, CheckOptions{Repair: true})
	want := whole.list()
	for _, op := range []blocktest.Op{blocktest.OpRead, blocktest.OpWrite, blocktest.OpSync} {
		for _, short := range []int{0, 100} {
			n, err := blocktest.UntilPass(5000, func(n int) (bool, error) {
				m := start.m.Clone()
				f := blocktest.NewFault(m)
				f.Inject(blocktest.Injection{Op: op, Nth: n, Short: short})
				_, err := Check(context.Background(), f, CheckOptions{Repair: true, Location: time.UTC})
				if f.Fired() == 0 {
					return false, err
				}
				// A backup or FAT copy that cannot be read is replaced by
				// another one; everything else must be reported.
				if err == nil && op != blocktest.OpRead || err != nil && !errors.Is(err, blocktest.ErrInjected) {
					t.Errorf("operation %d of kind %d failed and the check returned %v", n, op, err)
				}
				checkMem(t, m, CheckOptions{Repair: true})
				if r := checkMem(t, m, CheckOptions{}); !r.Clean() {
					t.Errorf("after fault %d and a second repair:%s", n, findings(r))
				}
				compareFiles(t, (&craft{t: t, m: m, b: start.b}).list(), want)
				return true, nil
			})
			if err != nil || n < 1 {
				t.Errorf("%d faults of kind %d: %v", n, op, err)
			}
		}
	}
}

// TestCheckTransactional repairs through transactions: reservations are kept to,
// also when a transaction fills up, and everything is durable at the end.
func TestCheckTransactional(t *testing.T) {
	for _, o := range []blocktest.TxnOptions{{}, {LimitBytes: 64 << 10, CapacityBytes: 128 << 10, CountFresh: true}} {
		start := damagedCraft(t)
		x := blocktest.NewTxn(start.m, o)
		r := checkMem(t, x, CheckOptions{Repair: true})
		if !strings.Contains(codes(r), CodeCrossLink) {
			t.Error("nothing to repair:", findings(r))
		}
		if v := x.Violations(); len(v) > 0 {
			t.Errorf("violations: %q", v)
		}
		wantSound(t, x.Crash(), "the durable state")
	}
}

// FuzzCheck: any image is looked at and repaired without a panic or a hang, and
// what was repaired is sound.
func FuzzCheck(f *testing.F) {
	for _, path := range []string{"testdata/syz/vfat_00.img.gz", "testdata/syz/msdos_05.img.gz", "testdata/syz/msdos_03.img.gz", "testdata/syz/vfat_15.img.gz"} {
		m := loadImage(f, path)
		p := make([]byte, m.Size())
		if _, err := m.ReadAt(p, 0); err != nil {
			f.Fatal(err)
		}
		f.Add(p)
	}
	f.Fuzz(func(t *testing.T, p []byte) {
		if len(p) > 1<<20 {
			return
		}
		fuzzOne(t, blocktest.FromBytes(p), len(p) > 0 && p[len(p)-1]&1 == 1)
	})
}
