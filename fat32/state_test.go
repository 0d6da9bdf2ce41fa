package fat32_test

import (
	"bytes"
	"encoding/binary"
	"testing"
	"time"

	"coffer/container/block/blocktest"
	"coffer/fat32"
)

func peek(t testing.TB, m *blocktest.Mem, off int64, n int) []byte {
	t.Helper()
	p := make([]byte, n)
	if _, err := m.ReadAt(p, off); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestDirtyMarks: the disk says "in use" and "free count unknown" before the
// first change and the exact truth after Close.
func TestDirtyMarks(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			m := format(t, k.size, k.o)
			v := mount(t, m)
			g := v.Geometry()
			state := int64(37)
			if g.Type == fat32.FAT32 {
				state = 65
			}
			look := func() (boot, fat bool, free uint32) {
				boot = peek(t, m, state, 1)[0]&1 == 0
				switch g.Type {
				case fat32.FAT16:
					fat = binary.LittleEndian.Uint16(peek(t, m, g.FATOffset+2, 2))&0x8000 != 0
				case fat32.FAT32:
					fat = binary.LittleEndian.Uint32(peek(t, m, g.FATOffset+g.FATSize+4, 4))&(1<<27) != 0
					free = binary.LittleEndian.Uint32(peek(t, m, int64(g.SectorSize)+488, 4))
				default:
					fat = boot
				}
				return boot, fat, free
			}
			if boot, fat, _ := look(); !boot || !fat {
				t.Fatal("dirty after mounting")
			}
			put(t, v, "/f", pattern(1, 10000))
			if boot, fat, free := look(); boot || fat || g.Type == fat32.FAT32 && free != 0xFFFFFFFF {
				t.Fatalf("in use: clean %v, %v, %d free", boot, fat, free)
			}
			dirty := m.Clone()
			want := uint32(v.StatFS().FreeBytes / int64(g.ClusterSize))
			must(t, v.Close())
			if boot, fat, free := look(); !boot || !fat || g.Type == fat32.FAT32 && free != want {
				t.Fatalf("closed: clean %v, %v, %d free, want %d", boot, fat, free, want)
			}
			w := mount(t, dirty)
			if !w.WasDirty() {
				t.Error("a volume cut off is not seen as dirty")
			}
			put(t, w, "/g", nil)
			must(t, w.Close())
			if w = mount(t, dirty); !w.WasDirty() {
				t.Error("mounting and closing made a dirty volume clean")
			}
			must(t, w.Close())
		})
	}
}

// TestTimer: a change reaches the disk by itself.
func TestTimer(t *testing.T) {
	m := format(t, 40<<20, fat32.FormatOptions{})
	o := quiet()
	o.CommitInterval = 10 * time.Millisecond
	v, err := fat32.Mount(m, o)
	must(t, err)
	put(t, v, "/f", pattern(1, 100))
	for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		w, err := fat32.Mount(m.Clone(), fat32.MountOptions{ReadOnly: true})
		must(t, err)
		if got, err := slurp(w, "/f"); err == nil && bytes.Equal(got, pattern(1, 100)) {
			break
		}
		if time.Now().After(end) {
			t.Fatal("nothing on the disk after 20 s")
		}
	}
	must(t, v.Close())
}

// TestActiveFAT: with mirroring off only the active FAT is read and written.
func TestActiveFAT(t *testing.T) {
	m := format(t, 40<<20, fat32.FormatOptions{})
	g := mountGeometry(t, m)
	poke := func(off int64, p ...byte) {
		if _, err := m.WriteAt(p, off); err != nil {
			t.Fatal(err)
		}
	}
	poke(40, 0x81, 0) // mirroring off, FAT 1 is active
	poke(6*512+40, 0x81, 0)
	poke(g.FATOffset+8, bytes.Repeat([]byte{0x11}, 4000)...) // the other one is rubbish
	before := peek(t, m, g.FATOffset, int(g.FATSize))
	v := mount(t, m)
	if g := v.Geometry(); g.Mirrored || g.ActiveFAT != 1 {
		t.Fatalf("%+v", g)
	}
	put(t, v, "/f", pattern(1, 100000))
	must(t, v.Close())
	if !bytes.Equal(before, peek(t, m, g.FATOffset, int(g.FATSize))) {
		t.Error("the passive FAT was written")
	}
	v = mount(t, m)
	if !bytes.Equal(get(t, v, "/f"), pattern(1, 100000)) {
		t.Error("content differs")
	}
	must(t, v.Close())
}

func mountGeometry(t testing.TB, m *blocktest.Mem) fat32.Geometry {
	v := mount(t, m)
	defer v.Close()
	return v.Geometry()
}

// TestForeignNames: entries as other systems write them, and as nobody should.
func TestForeignNames(t *testing.T) {
	m := format(t, 40<<20, fat32.FormatOptions{})
	g := mountGeometry(t, m)
	long := func(order byte, sum byte, text string) []byte {
		p := bytes.Repeat([]byte{0xFF}, 32)
		p[0], p[11], p[12], p[13], p[26], p[27] = order, 0x0F, 0, sum, 0, 0
		units := append([]rune(text), 0)
		for i, at := range []int{1, 3, 5, 7, 9, 14, 16, 18, 20, 22, 24, 28, 30} {
			if i < len(units) {
				binary.LittleEndian.PutUint16(p[at:], uint16(units[i]))
			}
		}
		return p
	}
	short := func(name string, nt byte) []byte {
		p := make([]byte, 32)
		copy(p, name)
		p[11], p[12] = 0x20, nt
		return p
	}
	sum := func(name string) (s byte) {
		for i := range 11 {
			s = s>>1 | s<<7
			s += name[i]
		}
		return s
	}
	var dir []byte
	for _, p := range [][]byte{
		short("\x05BC        ", 0),                                       // σBC
		short("LOWER   TXT", 0x18),                                       // lower.txt
		long(0x41, 0x00, "wrong checksum"[:13]), short("CHECKSUM   ", 0), // short name counts
		long(0x41, sum("SLASH      "), "../../etc"), short("SLASH      ", 0), // would escape
		long(0x41, sum("DOTS       "), ".."), short("DOTS       ", 0),
		long(0x41, sum("SURROG~1   "), "a\ufffdb"), short("SURROG~1   ", 0),
		short("A/B\\C  \x01X  ", 0),
	} {
		dir = append(dir, p...)
	}
	if _, err := m.WriteAt(dir, g.DataOffset); err != nil {
		t.Fatal(err)
	}
	v := mount(t, m)
	want := []string{"σBC", "lower.txt", "CHECKSUM", "SLASH", "DOTS", "a\ufffdb", "A_B_C  _.X"}
	got := names(t, v, "/")
	if len(got) != len(want) {
		t.Fatalf("%q", got)
	}
	for i, n := range got {
		if n != want[i] {
			t.Errorf("entry %d is %q, want %q", i, n, want[i])
		}
		if _, err := v.Stat("/" + n); err != nil {
			t.Errorf("%q: %v", n, err)
		}
	}
	must(t, v.Close())
}
