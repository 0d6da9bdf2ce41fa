package fat32_test

import (
	"testing"

	"coffer/container/block"
	"coffer/container/block/blocktest"
	"coffer/fat32"
)

// TestRenameCaseOnly: a name that changes only in case, of a file and of a
// folder with something in it, at the top and deeper, before and after it is on
// the disk, on every FAT type, on plain and transactional devices.
func TestRenameCaseOnly(t *testing.T) {
	for _, typ := range []fat32.Type{fat32.FAT12, fat32.FAT16, fat32.FAT32} {
		for _, txn := range []bool{false, true} {
			for _, flushed := range []bool{false, true} {
				size := map[fat32.Type]int64{fat32.FAT12: 2 << 20, fat32.FAT16: 16 << 20, fat32.FAT32: 40 << 20}[typ]
				m := format(t, size, fat32.FormatOptions{Type: typ})
				var dev block.Device = m
				if txn {
					dev = blocktest.NewTxn(m, blocktest.TxnOptions{LimitBytes: 4 << 20, CapacityBytes: 16 << 20})
				}
				renameCases(t, dev, flushed)
			}
		}
	}
}

func renameCases(t *testing.T, dev block.Device, flushed bool) {
	t.Helper()
	v := mount(t, dev)
	data := pattern(7, 3000)
	must(t, v.Mkdir("/Fold"))
	put(t, v, "/Fold/File.txt", data)
	must(t, v.Mkdir("/Fold/A Longer Folder"))
	put(t, v, "/Fold/A Longer Folder/x", data)
	if flushed {
		must(t, v.Sync())
	}
	for _, step := range [][2]string{
		{"/Fold", "/fold"}, {"/fold", "/FOLD"}, {"/FOLD", "/FoLd"}, {"/FoLd", "/FoLd"}, {"/fold", "/fold"},
		{"/fold/File.txt", "/FOLD/file.TXT"}, {"/fold/a longer folder", "/Fold/a LONGER folder"},
	} {
		for _, replace := range []bool{false, true} {
			if err := v.Rename(step[0], step[1], replace); err != nil {
				t.Fatalf("%v, replace %v: %v", step, replace, err)
			}
		}
		if flushed {
			must(t, v.Sync())
		}
	}
	check := func() {
		t.Helper()
		if got := names(t, v, "/"); len(got) != 1 || got[0] != "fold" {
			t.Fatalf("root: %q", got)
		}
		got := names(t, v, "/fold")
		if len(got) != 2 || got[0]+got[1] != "file.TXT"+"a LONGER folder" && got[1]+got[0] != "file.TXT"+"a LONGER folder" {
			t.Fatalf("folder: %q", got)
		}
		if string(get(t, v, "/fold/file.txt")) != string(data) || string(get(t, v, "/fold/a LONGER folder/x")) != string(data) {
			t.Fatal("data differ")
		}
	}
	check()
	must(t, v.Close())
	selfCheck(t, dev)
	v = mount(t, dev)
	check()
	must(t, v.Close())
}
