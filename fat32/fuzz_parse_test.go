package fat32

import (
	"bytes"
	"hash/maphash"
	"strings"
	"testing"
	"time"
)

// FuzzBoot parses boot sectors: what is accepted must be consistent.
func FuzzBoot(f *testing.F) {
	for _, o := range []struct {
		size int64
		o    FormatOptions
	}{{1 << 20, FormatOptions{}}, {20 << 20, FormatOptions{Type: FAT16}}, {40 << 20, FormatOptions{}}, {300 << 20, FormatOptions{SectorSize: 4096}}} {
		g, err := layout(o.size, o.o)
		if err != nil {
			f.Fatal(err)
		}
		fm := &formatter{o: o.o, g: g, label: [11]byte([]byte("SEED       "))}
		f.Add(fm.bootSector()[:512], o.size)
	}
	f.Fuzz(func(t *testing.T, raw []byte, size int64) {
		if len(raw) < 512 {
			return
		}
		b, err := decodeBoot(raw[:512], size)
		if err != nil {
			return
		}
		g := &b.Geometry
		end := g.clusterOffset(g.limit()-1) + int64(g.ClusterSize)
		if end > g.TotalBytes || g.TotalBytes > size || g.FATOffset+int64(g.FATCount)*g.FATSize > g.DataOffset || g.Type.fatBytes(g.limit()) > g.FATSize {
			t.Fatalf("inconsistent: %+v", g)
		}
		if g.ActiveFAT < 0 || g.ActiveFAT >= g.FATCount || g.RootOffset+int64(g.RootEntries)*slotSize > g.DataOffset {
			t.Fatalf("inconsistent: %+v", g)
		}
		if g.Type == FAT32 && !g.valid(g.RootCluster) || b.fsInfoOffset < 0 || b.fsInfoOffset >= g.FATOffset || b.backupOffset >= g.FATOffset {
			t.Fatalf("inconsistent: %+v", b)
		}
	})
}

// FuzzDirectory parses directories and changes them: names must be safe, every
// listed entry must be found, and what is written must read back.
func FuzzDirectory(f *testing.F) {
	seed := maphash.MakeSeed()
	d := parseDirectory(make([]byte, 2048), seed, true)
	for _, name := range []string{"README.TXT", "lower.txt", "A long name with many words in it.text", "Ünïcödé 🙂", strings.Repeat("x", 255)} {
		set, _ := d.makeSet(name, -1)
		d.put(&set, d.findRun(set.slots()))
	}
	f.Add(d.raw, "New name", true)
	f.Add(bytes.Repeat([]byte{0xE5}, 1024), "README.TXT", false)
	f.Add([]byte(strings.Repeat(".          \x10                    ", 8)), "..", false)
	f.Fuzz(func(t *testing.T, raw []byte, name string, isRoot bool) {
		raw = raw[:min(len(raw), 1<<16)/dirUnit*dirUnit]
		d := parseDirectory(bytes.Clone(raw), seed, isRoot)
		live := 0
		for i := range d.slots() {
			if !d.used.has(i) || !d.isEntry(i, isRoot) || isLongSlot(d.slot(i)) {
				continue
			}
			live++
			n := d.name(int32(i))
			if n == "" || n == "." || n == ".." || strings.ContainsAny(n, "/\\\x00\n") {
				t.Fatalf("slot %d is shown as %q", i, n)
			}
			var q query
			q.prepare(seed, n)
			if s := d.find(&q); s < 0 {
				t.Fatalf("%q is listed and not found", n)
			}
			e := FAT32.decodeEntry(d.slot(i))
			e.modify.time(time.UTC)
		}
		if live != d.live {
			t.Fatalf("%d entries, %d counted", live, d.live)
		}
		if CheckName(name) != nil {
			return
		}
		var q query
		q.prepare(seed, name)
		if d.find(&q) >= 0 {
			return
		}
		set, ok := d.makeSet(name, -1)
		if !ok || set.slots() != DirSlots(name) {
			t.Fatalf("%q: %d slots, DirSlots says %d", name, set.slots(), DirSlots(name))
		}
		at := d.findRun(set.slots())
		if at < 0 {
			return
		}
		s := d.put(&set, at)
		if d.name(s) != name || d.find(&q) != s {
			t.Fatalf("%q is stored as %q at %d, found at %d", name, d.name(s), s, d.find(&q))
		}
		again := parseDirectory(bytes.Clone(d.raw), seed, isRoot)
		if s2 := again.find(&q); s2 != s {
			t.Fatalf("%q at %d reads back at %d", name, s, s2)
		}
		d.remove(s, false, ghost{})
		if d.find(&q) >= 0 || d.live != live {
			t.Fatalf("%q is still there", name)
		}
	})
}
