package fat32_test

import (
	"encoding/binary"
	"testing"

	"coffer/container/block/blocktest"
	"coffer/fat32"
)

// FuzzMount edits a sound volume, mounts it, and does everything to it: it may
// fail, but not panic, hang or show more than there is room for.
func FuzzMount(f *testing.F) {
	var bases []*blocktest.Mem
	for _, k := range []struct {
		size int64
		o    fat32.FormatOptions
	}{{512 << 10, fat32.FormatOptions{}}, {5 << 20, fat32.FormatOptions{Type: fat32.FAT16, ClusterSize: 512}}, {34 << 20, fat32.FormatOptions{}}} {
		m := format(f, k.size, k.o)
		v := mount(f, m)
		crashBase(f, v)
		g := v.Geometry()
		must(f, v.Close())
		m.Freeze()
		bases = append(bases, m)
		edit := func(off int64, value ...byte) []byte {
			p := []byte{byte(len(bases) - 1)}
			for i, b := range value {
				p = append(binary.LittleEndian.AppendUint32(p, uint32(off)+uint32(i)), b)
			}
			return p
		}
		f.Add(edit(g.FATOffset+8, 3, 0, 0, 0, 2, 0, 0, 0))   // a loop
		f.Add(edit(g.FATOffset+12, 3, 0, 3, 0, 3))           // itself
		f.Add(edit(g.DataOffset+26, 2, 0))                   // . elsewhere
		f.Add(edit(g.DataOffset+64+26, 3, 0, 255, 255, 255)) // start and size of an entry
		f.Add(edit(13, 128))
		f.Add(edit(17, 1, 0))
	}
	f.Fuzz(func(t *testing.T, edits []byte) {
		if len(edits) == 0 {
			return
		}
		m := bases[int(edits[0])%len(bases)].Clone()
		for p := edits[1:]; len(p) >= 5; p = p[5:] {
			off := int64(binary.LittleEndian.Uint32(p)) % m.Size()
			if _, err := m.WriteAt(p[4:5], off); err != nil {
				t.Fatal(err)
			}
		}
		v, err := fat32.Mount(m, quiet())
		if err != nil {
			return
		}
		budget := 300
		explore(v, "/", 0, &budget)
		_ = v.Mkdir("/new")
		_ = writeFile(v, "/new/file", 5000, "data", fat32.Create)
		_ = v.Rename("/dir/a", "/dir/b", true)
		_ = v.Rename("/dir/sub", "/new/sub", true)
		_ = v.SetLabel("FUZZ")
		_ = v.Sync()
		budget = 300
		explore(v, "/", 0, &budget)
		if s := v.StatFS(); s.FreeBytes < 0 || s.FreeBytes > s.TotalBytes {
			t.Fatalf("%+v", s)
		}
		_ = v.Close()
	})
}

// explore reads, changes and removes what it finds, up to a budget: a damaged
// tree may be endless.
func explore(v *fat32.Volume, dir string, depth int, budget *int) {
	list, err := v.ReadDir(dir)
	if err != nil || depth > 12 {
		return
	}
	for i, e := range list {
		if *budget--; *budget < 0 {
			return
		}
		p := dir + e.Name
		if e.IsDir() {
			explore(v, p+"/", depth+1, budget)
		} else if f, err := v.OpenFile(p, fat32.ReadWrite); err == nil {
			buf := make([]byte, 4096)
			_, _ = f.ReadAt(buf, 0)
			_, _ = f.ReadAt(buf, e.Size-10)
			_, _ = f.WriteAt(buf[:700], min(e.Size, 1<<16))
			if i%2 == 0 {
				_ = f.Truncate(e.Size / 2)
			}
			_ = f.Close()
		}
		if i%3 == 0 {
			_ = v.Remove(p)
		}
	}
}
