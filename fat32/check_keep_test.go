package fat32

import (
	"context"
	"errors"
	"testing"
	"time"

	"coffer/container/block/blocktest"
)

// TestCheckKeepsFiles: damage of one FAT copy, of FSInfo, of the backup boot
// sector or of the first boot sector of FAT32 costs no file at all.
func TestCheckKeepsFiles(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 10
	}
	for _, p := range populatedVolumes {
		start := makePopulated(t, p)
		b, err := parseBoot(start)
		if err != nil {
			t.Fatal(err)
		}
		start.Freeze()
		want := (&craft{t: t, m: start.Clone(), b: b}).list()
		for seed := range rounds {
			r := newRand(seed)
			m := start.Clone()
			what := ""
			garble := func(off int64, n int) {
				q := make([]byte, n)
				switch r.IntN(3) {
				case 0:
					for i := range q {
						q[i] = byte(r.Uint32())
					}
				case 1:
					for i := range q {
						q[i] = 0xFF
					}
				}
				if _, err := m.WriteAt(q, off); err != nil {
					t.Fatal(err)
				}
			}
			switch k := r.IntN(4); {
			case k == 0 && b.Type == FAT32:
				what = "boot sector"
				garble(0, 512)
			case k == 1 && b.Type == FAT32:
				what = "backup and FSInfo"
				garble(b.backupOffset, 512)
				garble(b.fsInfoOffset, 512)
			default:
				// The last sector in use first: FAT12 has three here.
				what = "sector of a FAT"
				garble(b.FATOffset+int64(r.IntN(2))*b.FATSize+int64(r.IntN(3))*int64(b.SectorSize), b.SectorSize)
			}
			checkMem(t, m, CheckOptions{Repair: true})
			got := (&craft{t: t, m: m, b: b}).list()
			for name, data := range want {
				if got[name] != data {
					t.Errorf("%s, seed %d, %s: %q is lost or differs", p.name, seed, what, name)
				}
			}
			if ok, out := fsck(t, m); !ok {
				t.Errorf("%s, seed %d, %s: %s", p.name, seed, what, out)
			}
			if t.Failed() {
				return
			}
		}
	}
}

// fuzzBase is a small populated volume of each type for FuzzCheckEdits.
func fuzzBase(t testing.TB, typ Type) *craft {
	c := newCraft(t, typ, map[Type]int{FAT12: 100, FAT16: 4200, FAT32: 100}[typ])
	c.dir(0, 0, "DIR", 30)
	c.dir(30, 2, "SUB", 31)
	c.long(30, 5, "LONGNA~1", "a long name of a file")
	c.add(30, 5, "LONGNA~1", 0, 10, 1500)
	c.chain(10, 11, 12)
	c.add(31, 2, "DEEP", 0, 20, 700)
	c.chain(20, 21)
	c.add(0, 1, "LABEL", attrVolumeID, 0, 0)
	c.add(0, 2, "B", 0, 40, 512)
	c.chain(40)
	c.fsinfo()
	checkMem(t, c.m, CheckOptions{Repair: true})
	return c
}

// FuzzCheckEdits changes bytes where the structures of a small volume are: each
// four bytes of input are an offset, a value and how often to write it.
func FuzzCheckEdits(f *testing.F) {
	bases := make([]*craft, 0, 3)
	for _, typ := range []Type{FAT12, FAT16, FAT32} {
		c := fuzzBase(f, typ)
		c.m.Freeze()
		bases = append(bases, c)
	}
	f.Add(byte(0), []byte{0, 0, 0, 0})
	f.Add(byte(1), []byte{2, 40, 0xE5, 1, 3, 9, 0xFF, 60})
	f.Add(byte(2), []byte{1, 11, 16, 1, 2, 26, 30, 1, 0, 40, 0, 1})
	f.Fuzz(func(t *testing.T, base byte, edits []byte) {
		if len(edits) > 400 {
			return
		}
		c := bases[int(base)%len(bases)]
		m := c.m.Clone()
		regions := []int64{0, c.b.FATOffset, c.slotOffset(0, 0), c.b.clusterOffset(30), c.b.clusterOffset(31),
			c.b.FATOffset + c.b.FATSize, 512, 6 * 512, c.b.FATOffset + 40, c.b.FATOffset + c.b.FATSize + 40}
		for ; len(edits) >= 4; edits = edits[4:] {
			off := regions[int(edits[0])%len(regions)] + int64(edits[1])*2
			for k := range int64(edits[3]%64) + 1 {
				_, _ = m.WriteAt(edits[2:3], min(off+k, m.Size()-1))
			}
		}
		fuzzOne(t, m, base&64 != 0)
	})
}

// fuzzOne looks, repairs, salvages and looks again.
func fuzzOne(t *testing.T, m *blocktest.Mem, keep bool) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := Check(ctx, m, CheckOptions{}); errors.Is(err, context.DeadlineExceeded) {
		t.Fatal("the look does not end")
	}
	if _, err := Salvage(ctx, m, newMemorySink(t), SalvageOptions{}); errors.Is(err, context.DeadlineExceeded) {
		t.Fatal("the salvage does not end")
	}
	first, err := Check(ctx, m, CheckOptions{Repair: true, KeepLost: keep, Location: time.UTC})
	if errors.Is(err, context.DeadlineExceeded) {
		t.Fatal("the repair does not end")
	}
	if err != nil || !allFixed(first) {
		return
	}
	if r, err := Check(ctx, m, CheckOptions{}); err != nil || !r.Clean() {
		t.Fatalf("repair:%s\nthen: %v%s", findings(first), err, findings(r))
	}
}
