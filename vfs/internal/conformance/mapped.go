//go:build unix

package conformance

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

var mapCases = map[string]Case{
	"map-read":         mapRead,
	"map-write":        mapWrite,
	"map-after-close":  mapAfterClose,
	"map-unlinked":     mapUnlinked,
	"map-and-truncate": mapAndTruncate,
}

func mapFile(t *testing.T, f *os.File, size, prot int) []byte {
	t.Helper()
	p, err := unix.Mmap(int(f.Fd()), 0, size, prot, unix.MAP_SHARED)
	must(t, err)
	return p
}

func mapRead(t *testing.T, dir string) {
	want := bytes.Repeat([]byte("mapped. "), 5000)
	p := filepath.Join(dir, "m")
	must(t, os.WriteFile(p, want, 0o600))
	f := open(t, p, os.O_RDWR)
	m := mapFile(t, f, len(want), unix.PROT_READ)
	if !bytes.Equal(m, want) {
		t.Error("mapped content differs")
	}
	_, err := f.WriteAt([]byte("WRITTEN"), 8192)
	must(t, err)
	if string(m[8192:8199]) != "WRITTEN" {
		t.Error("a write is not seen in the mapping")
	}
	must(t, unix.Munmap(m))
}

func mapWrite(t *testing.T, dir string) {
	p := filepath.Join(dir, "m")
	f := open(t, p, os.O_RDWR|os.O_CREATE)
	must(t, f.Truncate(100_000))
	m := mapFile(t, f, 100_000, unix.PROT_READ|unix.PROT_WRITE)
	copy(m[50_000:], "through the map")
	got := make([]byte, 15)
	_, err := f.ReadAt(got, 50_000)
	must(t, err)
	if string(got) != "through the map" {
		t.Errorf("read gives %q", got)
	}
	must(t, unix.Msync(m, unix.MS_SYNC))
	copy(m, "start")
	must(t, unix.Munmap(m))
	must(t, f.Close())
	all, err := os.ReadFile(p)
	must(t, err)
	if string(all[:5]) != "start" || string(all[50_000:50_015]) != "through the map" || len(all) != 100_000 {
		t.Error("content differs after unmapping")
	}
}

// mapAfterClose writes through a mapping whose handle is closed.
func mapAfterClose(t *testing.T, dir string) {
	p := filepath.Join(dir, "m")
	f := open(t, p, os.O_RDWR|os.O_CREATE)
	must(t, f.Truncate(20_000))
	m := mapFile(t, f, 20_000, unix.PROT_READ|unix.PROT_WRITE)
	must(t, f.Close())
	copy(m[10_000:], "late")
	must(t, unix.Msync(m, unix.MS_SYNC))
	copy(m[12_000:], "later")
	must(t, unix.Munmap(m))
	all, err := os.ReadFile(p)
	must(t, err)
	if string(all[10_000:10_004]) != "late" || string(all[12_000:12_005]) != "later" {
		t.Error("what was written after closing is lost")
	}
}

func mapUnlinked(t *testing.T, dir string) {
	p := filepath.Join(dir, "m")
	f := open(t, p, os.O_RDWR|os.O_CREATE)
	must(t, f.Truncate(20_000))
	m := mapFile(t, f, 20_000, unix.PROT_READ|unix.PROT_WRITE)
	copy(m, "before")
	must(t, os.Remove(p))
	copy(m[10_000:], "after")
	must(t, unix.Msync(m, unix.MS_SYNC))
	got := make([]byte, 5)
	_, err := f.ReadAt(got, 10_000)
	must(t, err)
	if string(got) != "after" {
		t.Errorf("read gives %q", got)
	}
	must(t, unix.Munmap(m))
}

func mapAndTruncate(t *testing.T, dir string) {
	f := open(t, filepath.Join(dir, "m"), os.O_RDWR|os.O_CREATE)
	must(t, f.Truncate(8192))
	m := mapFile(t, f, 8192, unix.PROT_READ|unix.PROT_WRITE)
	copy(m, bytes.Repeat([]byte{1}, 8192))
	must(t, f.Truncate(5000))
	must(t, f.Truncate(8192))
	for i, b := range m[5000:] {
		if b != 0 {
			t.Fatalf("byte %d was cut off and came back", 5000+i)
		}
	}
	must(t, unix.Munmap(m))
}
