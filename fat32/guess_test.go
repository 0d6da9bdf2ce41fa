package fat32

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"coffer/container/block"
	"coffer/container/block/blocktest"
)

// TestSalvageBootFields: any one field of the boot sector of FAT12 and FAT16 set to
// something else, or its signature gone, or the sector wiped, costs no file.
func TestSalvageBootFields(t *testing.T) {
	fields := []struct {
		name   string
		at     int
		values [][]byte
	}{
		{"signature", 510, [][]byte{{0, 0}}},
		{"FAT count", 16, [][]byte{{0}, {1}, {3}, {4}, {255}}},
		{"bytes per sector", 11, [][]byte{{0, 0}, {0, 4}, {0, 8}, {0, 16}, {17, 2}}},
		{"sectors per cluster", 13, [][]byte{{0}, {1}, {2}, {4}, {8}, {64}, {128}, {3}}},
		{"reserved sectors", 14, [][]byte{{0, 0}, {2, 0}, {9, 0}, {255, 255}}},
		{"root entries", 17, [][]byte{{0, 0}, {16, 0}, {0, 1}, {0, 4}, {255, 255}}},
		{"FAT size", 22, [][]byte{{0, 0}, {1, 0}, {7, 0}, {0, 1}, {255, 255}}},
		{"total sectors", 19, [][]byte{{0, 0}, {255, 0}, {0, 0x40}, {255, 255}}},
		{"total sectors, long", 32, [][]byte{{0, 0, 0, 0}, {255, 255, 255, 255}, {0, 1, 0, 0}}},
		{"media", 21, [][]byte{{0}, {0x41}}},
		{"all", 11, [][]byte{make([]byte, 501)}},
	}
	volumes := 0
	for _, p := range populatedVolumes {
		m := makePopulated(t, p)
		b, err := parseBoot(m)
		if err != nil {
			t.Fatal(err)
		}
		if b.Type == FAT32 {
			continue // has a backup
		}
		volumes++
		want := mcopyOut(t, m)
		m.Freeze()
		for _, f := range fields {
			for _, value := range f.values {
				v := m.Clone()
				if f.name == "total sectors, long" && binary.LittleEndian.Uint16(b.raw[19:]) != 0 {
					continue // means nothing
				}
				if _, err := v.WriteAt(value, int64(f.at)); err != nil {
					t.Fatal(err)
				}
				s := newMemorySink(t)
				r, err := Salvage(context.Background(), block.ReadOnly(v), s, SalvageOptions{})
				if err != nil {
					t.Errorf("%s, %s %x: %v", p.name, f.name, value, err)
					continue
				}
				missing := 0
				for name, data := range want {
					if got := s.files[name]; got == nil || !bytes.Equal(got.Bytes(), data) {
						missing++
					}
				}
				if missing > 0 {
					t.Errorf("%s, %s %x: %d of %d files are missing; %+v", p.name, f.name, value, missing, len(want), r.Damaged)
				}
			}
		}
	}
	if volumes < 2 {
		t.Errorf("only %d volumes", volumes)
	}
}

// TestGuessLeavesSoundAlone: nothing is guessed where the boot sector is right,
// and nothing where there is no volume.
func TestGuessLeavesSoundAlone(t *testing.T) {
	for _, p := range populatedVolumes {
		m := makePopulated(t, p)
		if r := salvage(t, m, newMemorySink(t)); len(r.Damaged) > 0 {
			t.Errorf("%s: %+v", p.name, r.Damaged)
		}
	}
	for _, typ := range []Type{FAT12, FAT16} {
		c := newCraft(t, typ, map[Type]int{FAT12: 100, FAT16: 4200}[typ])
		if b := guessBoot(func(p []byte, off int64) error { return readFull(c.m, p, off) }, c.m.Size(), c.b.raw, c.b); b != nil {
			t.Errorf("%v: %+v", typ, b.Geometry)
		}
	}
	for _, fill := range []byte{0, 0xF8, 0xFF} {
		m := blocktest.NewMem(1 << 20)
		_, _ = m.WriteAt(bytes.Repeat([]byte{fill}, 1<<20), 0)
		if _, err := Salvage(context.Background(), m, newMemorySink(t), SalvageOptions{}); !errors.Is(err, ErrNotFAT) {
			t.Errorf("%#x everywhere: %v", fill, err)
		}
	}
}

// TestUnsignedIsOne: mount, check and salvage agree on a volume that lacks only 55 AA.
func TestUnsignedIsOne(t *testing.T) {
	for _, p := range populatedVolumes {
		m := makePopulated(t, p)
		_, _ = m.WriteAt([]byte{0, 0}, 510)
		v, err := Mount(m, MountOptions{ReadOnly: true})
		if err != nil {
			t.Errorf("%s: mount: %v", p.name, err)
		} else {
			v.Close()
		}
		if _, err := Check(context.Background(), m, CheckOptions{}); err != nil {
			t.Errorf("%s: check: %v", p.name, err)
		}
		salvage(t, m, newMemorySink(t))
	}
}

// TestSalvageBootFlat: the same for volumes of our own layout without folders, by
// which a layout is told best, for damage after which the sector is of no use.
func TestSalvageBootFlat(t *testing.T) {
	for _, typ := range []Type{FAT12, FAT16} {
		m := blocktest.NewMem(map[Type]int64{FAT12: 3 << 20, FAT16: 40 << 20}[typ])
		if _, err := Format(context.Background(), m, FormatOptions{Type: typ, AssumeZero: true}); err != nil {
			t.Fatal(err)
		}
		v, err := Mount(m, MountOptions{CommitInterval: -1})
		if err != nil {
			t.Fatal(err)
		}
		data := bytes.Repeat([]byte("0123456789abcdef"), 3000)
		f, err := v.OpenFile("/only file.bin", ReadWrite|Create)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.WriteAt(data, 0)
		if err := errors.Join(err, f.Close(), v.Close()); err != nil {
			t.Fatal(err)
		}
		for _, damage := range []struct {
			at    int64
			value []byte
		}{{510, []byte{0, 0}}, {16, []byte{0}}, {11, []byte{0, 0}}, {13, []byte{0}}, {14, []byte{0, 0}}, {17, []byte{0, 0}}, {22, []byte{0, 0}}, {22, []byte{1, 0}},
			{19, []byte{0, 0, 0}}, {32, []byte{255, 255, 255, 255}}, {11, []byte{0, 4}}, {16, []byte{1}}, {14, []byte{7, 0}}} {
			c := m.Clone()
			_, _ = c.WriteAt(damage.value, damage.at)
			s := newMemorySink(t)
			r, err := Salvage(context.Background(), c, s, SalvageOptions{})
			if got := s.files["only file.bin"]; err != nil || got == nil || !bytes.Equal(got.Bytes(), data) {
				t.Errorf("%v, %x at %d: %v %+v", typ, damage.value, damage.at, err, r.Damaged)
			}
		}
	}
}

// TestGuessIsBounded: a device on which every sector begins like a FAT and holds
// links does not make the search long.
func TestGuessIsBounded(t *testing.T) {
	m := blocktest.NewMem(40 << 20)
	sector := bytes.Repeat([]byte{3, 0}, 256)
	copy(sector, []byte{0xF8, 0xFF, 0xFF, 0xFF})
	_, _ = m.WriteAt(bytes.Repeat(sector, 40<<11), 0)
	start := time.Now()
	guessBoot(func(p []byte, off int64) error { return readFull(m, p, off) }, m.Size(), make([]byte, 512), nil)
	if took := time.Since(start); took > 30*time.Second {
		t.Errorf("it took %v", took)
	} else {
		t.Log(took)
	}
}
