package fat32

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// listed mounts a volume and lists a directory.
func listed(t *testing.T, c *craft, path string) ([]string, error) {
	t.Helper()
	v, err := Mount(c.m, MountOptions{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer v.Close()
	infos, err := v.ReadDir(path)
	var names []string
	for _, i := range infos {
		names = append(names, i.Name)
		if _, err := v.Stat(path + "/" + i.Name); err != nil {
			t.Errorf("%s is listed but not found: %v", i.Name, err)
		}
	}
	return names, err
}

// TestDestroyedDirectory: a directory overwritten with something else is told,
// never shown as empty, neither the root nor one below it.
func TestDestroyedDirectory(t *testing.T) {
	for _, typ := range []Type{FAT12, FAT16, FAT32} {
		for what, fill := range map[string]func(i int) byte{
			"FF":     func(int) byte { return 0xFF },
			"F6":     func(int) byte { return 0xF6 },
			"text":   func(i int) byte { return "What a person wrote, again and again. "[i%38] },
			"random": func(i int) byte { return byte(uint32(i+1)*2654435761>>13) | 1 },
		} {
			c := fuzzBase(t, typ)
			garbage := make([]byte, 512)
			for i := range garbage {
				garbage[i] = fill(i)
			}
			c.put(c.b.clusterOffset(31), garbage)
			if names, err := listed(t, c, "/DIR/SUB"); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%v, %s, folder: %q %v", typ, what, names, err)
			}
			if names, err := listed(t, c, "/DIR"); err != nil || len(names) < 2 {
				t.Errorf("%v, %s, its parent: %q %v", typ, what, names, err)
			}
			c.put(c.slotOffset(0, 0), garbage)
			if names, err := listed(t, c, "/"); !errors.Is(err, ErrCorrupt) {
				t.Errorf("%v, %s, root: %q %v", typ, what, names, err)
			}
		}
		c := fuzzBase(t, typ)
		c.put(c.b.clusterOffset(31), make([]byte, 512))
		if names, err := listed(t, c, "/DIR/SUB"); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%v, folder of zeros: %q %v", typ, names, err)
		}
	}
}

// TestDamagedEntryIsTold: an entry with data that has no usable name is shown
// under another one; one that cannot be shown makes the listing an error that
// still has the others.
func TestDamagedEntryIsTold(t *testing.T) {
	for _, typ := range []Type{FAT12, FAT16, FAT32} {
		for _, test := range []struct {
			name  string
			attr  Attr
			want  string // shown as
			error bool
		}{
			{"..", 0, "__", false}, {".", 0, "_", false}, {"A/B", 0, "A_B", false}, {"A\x00B", 0, "A_B", false}, {"\x01", 0, "_", false},
			{"FILE", attrVolumeID, "", true}, {"FILE", 0xFF, "", true},
		} {
			c := fuzzBase(t, typ)
			c.add(0, 3, test.name, test.attr, 50, 512)
			if test.name[0] == '.' { // not "..      " split at its dot
				c.put(c.slotOffset(0, 3), []byte(test.name+strings.Repeat(" ", 11-len(test.name))))
			}
			c.chain(50)
			names, err := listed(t, c, "/")
			if test.error != errors.Is(err, ErrCorrupt) || !test.error && err != nil || !slices.Contains(names, "B") ||
				test.want != "" && !slices.Contains(names, test.want) {
				t.Errorf("%v, %q %#x: %q %v", typ, test.name, test.attr, names, err)
			}
			if test.want == "" {
				continue
			}
			v, err := Mount(c.m, MountOptions{ReadOnly: true})
			if err != nil {
				t.Fatal(err)
			}
			f, err := v.OpenFile("/"+test.want, ReadOnly)
			if err != nil {
				t.Fatalf("%v, %q: %v", typ, test.name, err)
			}
			p := make([]byte, 512)
			if n, err := f.ReadAt(p, 0); n != 512 {
				t.Errorf("%v, %q: read %d %v", typ, test.name, n, err)
			}
			v.Close()
			s := newMemorySink(t)
			salvage(t, c.m, s)
			found := false
			for name := range s.files {
				found = found || !strings.Contains(name, "/") && strings.HasPrefix(name, "_") || name == "A_B"
			}
			if !found {
				t.Errorf("%v, %q: not salvaged under a name", typ, test.name)
			}
		}
	}
}

// TestOddButSoundDirectories are listed without complaint.
func TestOddButSoundDirectories(t *testing.T) {
	for _, typ := range []Type{FAT12, FAT16, FAT32} {
		c := fuzzBase(t, typ)
		slot := 3
		add := func(name string, attr Attr, f func(p []byte)) {
			p := make([]byte, slotSize)
			copy(p, name+strings.Repeat(" ", 11-len(name)))
			p[11] = byte(attr)
			if f != nil {
				f(p)
			}
			c.put(c.slotOffset(0, slot), p)
			slot++
		}
		add("MY.DISK", attrVolumeID|AttrArchive, nil)
		add("second", attrVolumeID, nil)
		add("lower", 0, nil)
		add(" BLANK", 0, nil)
		add("NTFLAGS", AttrSystem|AttrHidden, func(p []byte) { p[12] = 0xFF })
		add("\xE5DELETED", 0xFF, func(p []byte) { p[26], p[27] = 0xFF, 0xFF })
		add("A", attrLongName, func(p []byte) { p[0] = 0x41 }) // belongs to nothing
		add(".", AttrDirectory, nil)
		add("..", AttrDirectory, nil)
		for range 2 {
			add(" \x00/:", 0, func(p []byte) { p[12] = noShort })
		}
		if names, err := listed(t, c, "/"); err != nil || len(names) != 2+3+2 {
			t.Errorf("%v: %q %v", typ, names, err)
		}
	}
}
