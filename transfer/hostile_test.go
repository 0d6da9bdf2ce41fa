//go:build unix

package transfer

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"coffer/container/block/blocktest"
	"coffer/fat32"
)

// patch replaces every occurrence of a UTF-16 string on a device.
func patch(t *testing.T, dev *blocktest.Mem, from, to string) {
	t.Helper()
	encode := func(s string) []byte {
		var out []byte
		for _, u := range utf16.Encode([]rune(s)) {
			out = append(out, byte(u), byte(u>>8))
		}
		return out
	}
	data := make([]byte, dev.Size())
	if _, err := dev.ReadAt(data, 0); err != nil {
		t.Fatal(err)
	}
	old := encode(from)
	if len(encode(to)) != len(old) {
		t.Fatal("lengths differ")
	}
	n := bytes.Count(data, old)
	if n == 0 {
		t.Fatalf("%q is not on the device", from)
	}
	if _, err := dev.WriteAt(bytes.ReplaceAll(data, old, encode(to)), 0); err != nil {
		t.Fatal(err)
	}
}

// A crafted volume cannot write outside of the target, nor stop the rest.
func TestHostileNamesStayInside(t *testing.T) {
	// At most five characters are next to each other in a long slot.
	for _, c := range []struct{ name, from, to string }{
		{"aQQbQcd", "aQQbQ", "a/../"}, {"QQQescape", "QQQes", "../es"}, {"QetcQpass", "QetcQ", "/etc/"}, {"aaNnul", "aaNnu", "aa\x00nu"},
		{"X", "Xé", ".."}, {"abXcd", "abXcd", "ab\\cd"}, {"aCDb", "aCDb", "a\x1b\nb"},
	} {
		dev := blocktest.NewMem(36 << 20)
		place := volume(t, dev, fat32.FAT32)
		v := place.Volume
		for _, dir := range []string{"/folder", "/folder/" + c.name + " d é"} {
			if err := v.Mkdir(dir); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"/folder/" + c.name, "/folder/" + c.name + " d é/inside é", "/folder/good é"} {
			f, err := v.OpenFile(name, fat32.ReadWrite|fat32.Create)
			if err != nil {
				t.Fatal(err)
			}
			f.WriteAt([]byte("content"), 0)
			f.Close()
		}
		// Long slots, also where a short name would do.
		if err := v.Rename("/folder/"+c.name, "/folder/"+c.name+"é", false); err != nil {
			t.Fatal(err)
		}
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
		patch(t, dev, c.from, c.to)
		place = mount(t, dev)
		base := t.TempDir()
		target := filepath.Join(base, "jail", "target")
		os.MkdirAll(target, 0o755)
		rec := run(t, Job{Sources: []Place{place}, Destination: host(target), Split: true})
		got := snapshot(t, base)
		for name := range got {
			if name != "jail" && name != filepath.Join("jail", "target") && !strings.HasPrefix(name, filepath.Join("jail", "target")+"/") {
				t.Errorf("%q: wrote %s outside of the target", c.to, name)
			}
		}
		if _, ok := got[filepath.Join("jail", "target", "folder", "good é")]; !ok {
			t.Errorf("%q: the good file did not arrive: %v", c.to, rec.Problems)
		}
		place.Volume.Close()
	}
}

// A folder that contains itself is reported, not followed for ever.
func TestFolderInCircles(t *testing.T) {
	dev := blocktest.NewMem(36 << 20)
	place := volume(t, dev, fat32.FAT32)
	for _, dir := range []string{"/TOP", "/TOP/INNER", "/TOP/OTHER"} {
		if err := place.Volume.Mkdir(dir); err != nil {
			t.Fatal(err)
		}
	}
	top, err := place.Volume.Stat("/TOP")
	if err != nil {
		t.Fatal(err)
	}
	g := place.Volume.Geometry()
	if err := place.Volume.Close(); err != nil {
		t.Fatal(err)
	}
	// The short entries of INNER and OTHER get the first cluster of TOP.
	at := g.DataOffset + int64(top.FirstCluster-2)*int64(g.ClusterSize)
	dir := make([]byte, g.ClusterSize)
	dev.ReadAt(dir, at)
	changed := 0
	for i := 0; i < len(dir); i += 32 {
		if name := string(dir[i : i+5]); name == "INNER" || name == "OTHER" {
			dir[i+26], dir[i+27], dir[i+20], dir[i+21] = byte(top.FirstCluster), byte(top.FirstCluster>>8), byte(top.FirstCluster>>16), 0
			changed++
		}
	}
	if changed != 2 {
		t.Fatalf("%d entries changed", changed)
	}
	dev.WriteAt(dir, at)
	place = mount(t, dev)
	out := t.TempDir()
	rec := run(t, Job{Sources: []Place{place}, Destination: host(out)})
	if len(rec.Failed) == 0 || rec.Directories > 3 {
		t.Fatalf("%d folders, failed %v", rec.Directories, rec.Failed)
	}
	place.Volume.Close()
}
