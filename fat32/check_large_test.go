package fat32

import (
	"context"
	"encoding/binary"
	"errors"
	"runtime"
	"testing"
	"time"

	"coffer/container/block/blocktest"
)

// largeCraft makes a FAT32 volume of the largest size: 2^32-1 sectors.
func largeCraft(t testing.TB, sector int, perCluster byte) *craft {
	t.Helper()
	le := binary.LittleEndian
	const total = 0xFFFFFFFF
	boot := make([]byte, 512)
	copy(boot, []byte{0xEB, 0x58, 0x90})
	le.PutUint16(boot[11:], uint16(sector))
	boot[13], boot[16], boot[21] = perCluster, 2, 0xF8
	le.PutUint16(boot[14:], 32)
	le.PutUint32(boot[32:], total)
	fat := (uint64(total)/uint64(perCluster)*4)/uint64(sector) + 1
	le.PutUint32(boot[36:], uint32(fat))
	le.PutUint32(boot[44:], 2)
	le.PutUint16(boot[48:], 1)
	le.PutUint16(boot[50:], 6)
	boot[66] = 0x29
	copy(boot[71:], "NO NAME    ")
	boot[510], boot[511] = 0x55, 0xAA
	c := &craft{t: t, m: blocktest.NewMem(total * int64(sector))}
	c.put(0, boot)
	c.put(6*int64(sector), boot)
	b, err := parseBoot(c.m)
	if err != nil {
		t.Fatal(err)
	}
	c.b = b
	c.entry(0, entryEnd&^0xFF|0xF8)
	c.entry(1, entryEnd)
	c.entry(2, entryEnd)
	return c
}

// TestCheckLarge: volumes of 2 TiB (512 B sectors) and 16 TiB (4096 B) are
// checked and mended in bounded time and memory.
func TestCheckLarge(t *testing.T) {
	for _, k := range []struct {
		name       string
		sector     int
		perCluster byte
	}{{"2 TiB, 32 KiB clusters", 512, 64}, {"16 TiB, 64 KiB clusters", 4096, 16}} {
		t.Run(k.name, func(t *testing.T) {
			if testing.Short() {
				k.perCluster = 128 // fewer clusters, same length
			}
			c := largeCraft(t, k.sector, k.perCluster)
			last := c.b.limit() - 1
			size := uint32(3 * c.b.ClusterSize)
			c.add(0, 0, "FAR", 0, last-1, size-5)
			c.chain(last-1, last, 3)
			c.add(0, 1, "CROSS", 0, last-2, size)
			c.chain(last-2, last) // shares the tail
			c.entry(last, 3)
			c.chain(1000000, 1000001, 5000000) // lost
			c.put(int64(k.sector), encodeFSInfo(c.b.ClusterCount, fsInfoNoIdea))

			before := heapInUse()
			start := time.Now()
			r := checkMem(t, c.m, CheckOptions{Repair: true})
			t.Logf("%d clusters: repair took %v, heap grew by %d MiB:%s", c.b.ClusterCount, time.Since(start), (heapInUse()-before)>>20, findings(r))
			compareCodes(t, "repair", r, CodeCrossLink+" "+CodeLostChain)
			if r := checkMem(t, c.m, CheckOptions{}); !r.Clean() {
				t.Error("second check:", findings(r))
			}
			if used := r.ClustersUsed; used != 1+3+3 {
				t.Errorf("%d clusters in use", used)
			}
			if k.sector > 512 {
				return // salvage takes the same way, only longer
			}
			s := newMemorySink(t)
			sr := salvage(t, c.m, s)
			if sr.Files != 2 || len(sr.Damaged) != 0 {
				t.Errorf("salvage: %+v", sr)
			}
		})
	}
}

func heapInUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestCheckCancel: a cancelled check returns soon and says so.
func TestCheckCancel(t *testing.T) {
	c := largeCraft(t, 512, 32)
	ctx, cancel := context.WithCancel(context.Background())
	calls := 0
	o := CheckOptions{Repair: true, Progress: func(stage string, done, total int64) {
		if calls++; calls == 3 {
			cancel()
		}
		if stage == "" || done < 0 || total < 0 {
			t.Errorf("progress %q %d of %d", stage, done, total)
		}
	}}
	_, err := Check(ctx, c.m, o)
	if !errors.Is(err, context.Canceled) || calls < 3 {
		t.Fatalf("%v after %d calls", err, calls)
	}
}
