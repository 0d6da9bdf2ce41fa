package fat32

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"
	"time"

	"coffer/container/block/blocktest"
)

// TestCheckBootSectors: damage of the reserved area of a FAT32 volume.
func TestCheckBootSectors(t *testing.T) {
	le := binary.LittleEndian
	for _, k := range []struct {
		name  string
		make  func(c *craft)
		codes string
	}{
		{"first gone", func(c *craft) { c.put(0, make([]byte, 512)) }, CodeBootSector},
		{"first with another cluster size that parses", func(c *craft) { c.put(13, []byte{2}) }, CodeBootSector},
		{"first with a reserved area too long", func(c *craft) { c.put(14, []byte{40}) }, CodeBootSector},
		{"first with another root", func(c *craft) { c.put(44, []byte{9}) }, CodeBootSector},
		{"backup gone", func(c *craft) { c.put(6*512, make([]byte, 512)) }, CodeBackupBoot},
		{"backup with another cluster size", func(c *craft) { c.put(6*512+13, []byte{2}) }, CodeBackupBoot},
		{"no backup", func(c *craft) { c.put(50, []byte{0, 0}) }, CodeBackupBoot},
		{"backup where FSInfo is", func(c *craft) { c.put(50, []byte{1, 0}) }, CodeBackupBoot},
		{"FSInfo outside", func(c *craft) { c.put(48, []byte{99, 0}); c.put(6*512+48, []byte{99, 0}) }, CodeFSInfo},
		{"FSInfo without signatures", func(c *craft) { c.put(512, make([]byte, 512)) }, CodeFSInfo},
		{"FSInfo unknown", func(c *craft) { c.put(512+488, []byte{255, 255, 255, 255}) }, CodeFreeCount},
		{"FSInfo hint outside", func(c *craft) { c.put(512+492, []byte{255, 255, 0, 0}) }, CodeFSInfo},
		{"media byte", func(c *craft) { c.put(21, []byte{1}); c.put(6*512+21, []byte{1}) }, CodeBootSector},
		{"marked after disk errors", func(c *craft) { c.put(65, []byte{2}); c.entry(1, entryEnd&^noHardError32) }, CodeIOErrorMark},
		{"dirty in the boot sector only", func(c *craft) { c.put(65, []byte{1}) }, CodeDirty},
		{"no label record", func(c *craft) { c.put(66, []byte{0}); c.put(6*512+66, []byte{0}) }, CodeBootLabel},
		{"root's first entry free", func(c *craft) { c.entry(2, 0) }, CodeDirStart},
		{"root's chain runs out", func(c *craft) { c.entry(2, 7); c.entry(7, 0x0ABCDEF) }, CodeChainRange},
	} {
		t.Run(k.name, func(t *testing.T) {
			c := newCraft(t, FAT32, 300)
			c.dir(0, 0, "DIR", 10)
			c.add(10, 2, "FILE", 0, 11, 600)
			c.chain(11, 12)
			c.fill(11, 12)
			c.fsinfo()
			k.make(c)
			look := checkMem(t, c.m, CheckOptions{})
			r := checkMem(t, c.m, CheckOptions{Repair: true})
			if codes(look) != codes(r) {
				t.Errorf("look %q, repair %q", codes(look), codes(r))
			}
			found := false
			for _, f := range r.Findings {
				found = found || f.Code == k.codes
			}
			if !found {
				t.Errorf("%q is not reported:%s", k.codes, findings(r))
			}
			wantSound(t, c.m, k.name)
			compareFiles(t, c.list(), map[string]string{"DIR/": "", "DIR/FILE": content(600, 11, 12)})
		})
	}
	c := newCraft(t, FAT32, 300)
	c.put(0, make([]byte, 512))
	c.put(6*512, make([]byte, 512))
	if _, err := Check(context.Background(), c.m, CheckOptions{}); !errors.Is(err, ErrNotFAT) {
		t.Error("both boot sectors gone:", err)
	}
	raw := make([]byte, 512)
	_, _ = newCraft(t, FAT32, 300).m.ReadAt(raw, 0)
	le.PutUint32(raw[32:], 100000)
	if _, err := Check(context.Background(), blocktest.FromBytes(append(raw, make([]byte, 60000)...)), CheckOptions{}); !errors.Is(err, ErrCorrupt) {
		t.Error("a volume longer than its device:", err)
	}
	for _, size := range []int{0, 1, 511, 512} {
		if _, err := Check(context.Background(), blocktest.FromBytes(make([]byte, size)), CheckOptions{}); !errors.Is(err, ErrNotFAT) {
			t.Errorf("device of %d bytes: %v", size, err)
		}
	}
}

// TestCheckKeepLost: lost chains become files, lost folders folders with all
// that is in them; the root directory grows for them.
func TestCheckKeepLost(t *testing.T) {
	for _, ft := range fatTypes {
		c := newCraft(t, ft.typ, ft.clusters)
		want := map[string]string{}
		// A lost folder with a file and a folder below it.
		c.dir(0, 0, "DIR", 100)
		c.dir(100, 2, "SUB", 101)
		c.add(101, 2, "DEEP", 0, 102, 500)
		c.chain(102)
		c.fill(102)
		c.put(c.slotOffset(0, 0), make([]byte, 32))
		folder := ""
		files := 0
		for n := uint32(10); n < 50; n += 2 { // more than the FAT32 root has slots
			c.chain(n, n+1)
			c.fill(n, n+1)
			want[fmt.Sprintf("FSCK%04d.REC", files)] = content(1024, n, n+1)
			files++
		}
		folder = fmt.Sprintf("FSCK%04d.REC", files)
		want[folder+"/"], want[folder+"/SUB/"], want[folder+"/SUB/DEEP"] = "", "", content(500, 102)
		c.chain(60, 61) // a loop
		c.entry(61, 60)
		c.fill(60, 61)
		want[fmt.Sprintf("FSCK%04d.REC", files+1)] = content(1024, 60, 61)
		c.fsinfo()
		r := checkMem(t, c.m, CheckOptions{Repair: true, KeepLost: true, Now: func() time.Time { return time.Unix(1e9, 0) }})
		if !allFixed(r) || r.Files != int64(files+2) || r.Dirs != 2 {
			t.Errorf("%v: %d files, %d folders:%s", ft.typ, r.Files, r.Dirs, findings(r))
		}
		wantSound(t, c.m, ft.typ.String())
		compareFiles(t, c.list(), want)
	}
}

// TestCheckHostile: volumes made to waste time and memory are done with soon.
func TestCheckHostile(t *testing.T) {
	const clusters = 60000
	slow := func(t *testing.T, c *craft) {
		t.Helper()
		c.m.Freeze()
		for _, o := range []CheckOptions{{}, {Repair: true}, {Repair: true, KeepLost: true}} {
			start := time.Now()
			r := checkMem(t, c.m.Clone(), o)
			if d := time.Since(start); d > time.Minute {
				t.Errorf("%+v took %v", o.Repair, d)
			}
			if len(r.Findings) > maxFindings+1 {
				t.Errorf("%d findings kept", len(r.Findings))
			}
		}
		start := time.Now()
		s := newMemorySink(t)
		salvage(t, c.m, s)
		total := 0
		for _, f := range s.files {
			total += f.Len()
		}
		if d := time.Since(start); d > time.Minute || int64(total) > 3*c.m.Size() {
			t.Errorf("salvage took %v and wrote %d bytes of a volume of %d", d, total, c.m.Size())
		}
	}
	long := func(c *craft, from uint32) { // one chain over the rest of the volume
		p := make([]byte, 0, 4*(c.b.limit()-from))
		for n := from; n < c.b.limit(); n++ {
			v := n + 1
			if v == c.b.limit() {
				v = entryEnd
			}
			p = binary.LittleEndian.AppendUint32(p, v)
		}
		for k := range int64(2) {
			c.put(c.b.FATOffset+k*c.b.FATSize+int64(from)*4, p)
		}
	}
	// entries fills a chain of directory clusters with one entry pattern.
	entries := func(c *craft, dir, n uint32, attr Attr, start func(i uint32) uint32, size uint32) {
		for i := range n {
			c.entry(dir+i, dir+i+1)
		}
		c.entry(dir+n-1, entryEnd)
		buf := make([]byte, n*512)
		for i := range n * 16 {
			e := dirEntry{attr: attr, cluster: start(i), size: size, modify: stamp{date: 0x5000}}
			copy(e.name[:], fmt.Sprintf("E%07d   ", i))
			e.encode(FAT32, buf[i*32:])
		}
		c.put(c.b.clusterOffset(dir), buf)
	}
	t.Run("every file into one long chain", func(t *testing.T) {
		c := newCraft(t, FAT32, clusters)
		entries(c, 2, 2000, 0, func(i uint32) uint32 { return 3000 + i }, 0xFFFFFFFF)
		long(c, 3000)
		slow(t, c)
	})
	t.Run("every file the same", func(t *testing.T) {
		c := newCraft(t, FAT32, clusters)
		entries(c, 2, 2000, 0, func(uint32) uint32 { return 3000 }, 0xFFFFFFFF)
		long(c, 3000)
		c.dirty()
		slow(t, c)
	})
	t.Run("directories that are none, in one long chain", func(t *testing.T) {
		c := newCraft(t, FAT32, clusters)
		entries(c, 2, 2000, AttrDirectory, func(i uint32) uint32 { return 3000 + i }, 0)
		long(c, 3000)
		c.put(c.b.clusterOffset(3000), bytes.Repeat([]byte{0xAB, 0xD7}, 256*40000))
		slow(t, c)
	})
	t.Run("folders inside folders", func(t *testing.T) {
		c := newCraft(t, FAT32, clusters)
		parent := uint32(0)
		for n := uint32(10); n < 12000; n++ {
			c.add(parent, 2, "D", AttrDirectory, n, 0)
			c.add(n, 0, ".", AttrDirectory, n, 0)
			c.add(n, 1, "..", AttrDirectory, parent, 0)
			c.entry(n, entryEnd)
			parent = n
		}
		slow(t, c)
	})
	t.Run("one name 65,536 times", func(t *testing.T) {
		c := newCraft(t, FAT32, clusters)
		entries(c, 2, 4096, 0, func(uint32) uint32 { return 0 }, 0)
		for i := range uint32(65536) {
			c.put(c.b.clusterOffset(2)+int64(i)*32, []byte("SAME       "))
		}
		slow(t, c)
	})
}
