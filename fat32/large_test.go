package fat32_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"runtime"
	"testing"
	"time"

	"coffer/container/block/blocktest"
	"coffer/fat32"
)

// heapMiB is the memory in use after a collection.
func heapMiB() float64 {
	runtime.GC()
	var s runtime.MemStats
	runtime.ReadMemStats(&s)
	return float64(s.HeapAlloc) / (1 << 20)
}

// TestHugeVolumes formats and uses the largest volumes there are, at their far end.
func TestHugeVolumes(t *testing.T) {
	for _, k := range []struct {
		name string
		size int64
		o    fat32.FormatOptions
	}{
		{"2TiB", 2 << 40, fat32.FormatOptions{}},
		{"2TiB/4K clusters would be too many", 2<<40 - 512, fat32.FormatOptions{ClusterSize: 8192}},
		{"16TiB", 16 << 40, fat32.FormatOptions{SectorSize: 4096}},
	} {
		t.Run(k.name, func(t *testing.T) {
			begin := time.Now()
			m := format(t, k.size, k.o)
			t.Logf("format %v", time.Since(begin))
			before := heapMiB()
			v := mount(t, m)
			g := v.Geometry()
			// Make the allocator begin at the very end.
			must(t, v.Close())
			hint := make([]byte, 4)
			binary.LittleEndian.PutUint32(hint, g.ClusterCount-1000)
			if _, err := m.WriteAt(hint, int64(g.SectorSize)+492); err != nil {
				t.Fatal(err)
			}
			begin = time.Now()
			v = mount(t, m)
			t.Logf("mount %v, %d clusters of %d", time.Since(begin), g.ClusterCount, g.ClusterSize)
			begin = time.Now()
			total := v.StatFS()
			t.Logf("scan %v", time.Since(begin))
			if total.FreeBytes != total.TotalBytes-int64(g.ClusterSize) {
				t.Fatalf("%+v", total)
			}
			put(t, v, "/far", pattern(1, 3<<20))
			must(t, v.Sync())
			i, err := v.Stat("/far")
			must(t, err)
			if i.FirstCluster < g.ClusterCount-1000 {
				t.Fatalf("first cluster %d of %d", i.FirstCluster, g.ClusterCount)
			}
			if used := heapMiB() - before; used > 160 {
				t.Errorf("%.0f MiB of memory", used)
			}
			if got := v.StatFS().FreeBytes; got != total.FreeBytes-3<<20 {
				t.Fatalf("%d bytes free, want %d", got, total.FreeBytes-3<<20)
			}
			must(t, v.Close())
			v = mount(t, m)
			if !bytes.Equal(get(t, v, "/far"), pattern(1, 3<<20)) {
				t.Fatal("content differs")
			}
			must(t, v.Close())
		})
	}
	if _, err := fat32.Format(context.Background(), blocktest.NewMem(3<<40), fat32.FormatOptions{}); err == nil {
		t.Error("3 TiB with sectors of 512 bytes")
	}
}

// TestFullFATMount mounts a volume of 100 GB all of whose clusters are used.
func TestFullFATMount(t *testing.T) {
	m := format(t, 100e9, fat32.FormatOptions{})
	v := mount(t, m)
	g := v.Geometry()
	must(t, v.Close())
	fat := make([]byte, g.FATSize)
	if _, err := m.ReadAt(fat[:12], g.FATOffset); err != nil {
		t.Fatal(err)
	}
	for c := uint32(3); c < g.ClusterCount+2; c++ {
		next := c + 1
		if c%100000 == 0 || next == g.ClusterCount+2 {
			next = 0x0FFFFFFF
		}
		binary.LittleEndian.PutUint32(fat[4*c:], next)
	}
	for i := range g.FATCount {
		if _, err := m.WriteAt(fat, g.FATOffset+int64(i)*g.FATSize); err != nil {
			t.Fatal(err)
		}
	}
	begin := time.Now()
	v = mount(t, m)
	mounted := time.Since(begin)
	free := v.StatFS().FreeBytes
	t.Logf("mount %v, with the scan of %d clusters %v, %d bytes free", mounted, g.ClusterCount, time.Since(begin), free)
	if free != 0 {
		t.Errorf("%d bytes free", free)
	}
	if mounted > 300*time.Millisecond {
		t.Errorf("mounting took %v", mounted)
	}
	must(t, v.Close())
}

// TestFormatSizes formats every kind of size and lets fsck.vfat judge.
func TestFormatSizes(t *testing.T) {
	types := map[fat32.Type]int{}
	for _, sector := range []int{512, 1024, 2048, 4096} {
		for size := int64(256 << 10); size <= 80<<30; size = size*3/2 + int64(sector)*7 {
			m := format(t, size, fat32.FormatOptions{SectorSize: sector, Label: "SIZE"})
			v := mount(t, m)
			g := v.Geometry()
			types[g.Type]++
			if g.DataOffset%4096 != 0 || size >= 512<<20 && g.DataOffset%(1<<20) != 0 {
				t.Errorf("%d bytes: data area at %d", size, g.DataOffset)
			}
			// FAT32 needs 65,525 clusters of at least a sector; the FATs and the rest of 1 MiB come on top.
			switch least := int64(sector) * 65525; {
			case size < least && g.Type == fat32.FAT32, size > least+2<<20 && g.Type != fat32.FAT32:
				t.Errorf("%d bytes, sectors of %d: %v", size, sector, g.Type)
			}
			put(t, v, "/file", pattern(1, 3000))
			must(t, v.Close())
			if size < 4<<30 {
				fsck(t, m)
			}
			selfCheck(t, m)
		}
	}
	t.Log(types)
	// Without knowing the device is zero.
	m := blocktest.FromBytes(pattern(1, 40<<20))
	_, err := fat32.Format(context.Background(), m, fat32.FormatOptions{})
	must(t, err)
	fsck(t, m)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := fat32.Format(ctx, m, fat32.FormatOptions{}); err == nil {
		t.Error("cancelled format succeeded")
	}
}
