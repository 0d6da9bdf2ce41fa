package fat32_test

import (
	"bytes"
	"fmt"
	"testing"

	"coffer/fat32"
)

// kinds are the volumes most tests run on.
var kinds = []struct {
	name string
	size int64
	o    fat32.FormatOptions
}{
	{"FAT12", 2 << 20, fat32.FormatOptions{}},
	{"FAT12/4K", 4 << 20, fat32.FormatOptions{SectorSize: 4096, Type: fat32.FAT12}},
	{"FAT16", 20 << 20, fat32.FormatOptions{Type: fat32.FAT16}},
	{"FAT16/2K", 64 << 20, fat32.FormatOptions{SectorSize: 2048, Type: fat32.FAT16}},
	{"FAT32", 40 << 20, fat32.FormatOptions{}},
	{"FAT32/1K/8K", 600 << 20, fat32.FormatOptions{SectorSize: 1024, ClusterSize: 8192}},
	{"FAT32/4K", 300 << 20, fat32.FormatOptions{SectorSize: 4096}},
}

func TestCreateReadBack(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			m := format(t, k.size, k.o)
			fsck(t, m)
			v := mount(t, m)
			must(t, v.MkdirAll("/one/two/three"))
			for i := range 60 {
				put(t, v, fmt.Sprintf("/one/two/A long file name number %d.text", i), pattern(i, i*171))
				put(t, v, fmt.Sprintf("/one/SHORT%d.TXT", i), pattern(i, 10))
			}
			must(t, v.Remove("/one/two/a LONG file name number 7.TEXT"))
			must(t, v.Sync())
			check := func(v *fat32.Volume) {
				for i := range 60 {
					if i == 7 {
						continue
					}
					if got := get(t, v, fmt.Sprintf("/ONE/two/a long file name number %d.text", i)); !bytes.Equal(got, pattern(i, i*171)) {
						t.Fatalf("file %d differs", i)
					}
				}
				if n := len(names(t, v, "/one")); n != 61 {
					t.Fatalf("%d entries in /one", n)
				}
			}
			check(v)
			must(t, v.Close())
			fsck(t, m)
			selfCheck(t, m)
			v = mount(t, m)
			if v.WasDirty() {
				t.Fatal("volume was not unmounted cleanly")
			}
			check(v)
			must(t, v.Close())
		})
	}
}
