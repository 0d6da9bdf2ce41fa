package fat32_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"coffer/container/block"
	"coffer/container/block/blocktest"
	"coffer/fat32"
	"coffer/fat32/fattest"
)

// fsck fails unless fsck.vfat finds nothing at all: exit code 0 and no output
// but banner and summary.
func fsck(t testing.TB, m fattest.Saver) {
	t.Helper()
	if out := fattest.FsckDevice(t, m); out != "" {
		t.Fatalf("fsck.vfat complains:\n%s", out)
	}
}

// selfCheck fails unless our own checker finds nothing.
func selfCheck(t testing.TB, dev block.Device) {
	t.Helper()
	r, err := fat32.Check(context.Background(), dev, fat32.CheckOptions{})
	if err != nil {
		t.Fatalf("check: %v", err)
	}
	if !r.Clean() {
		t.Fatalf("check found %v", r.Findings)
	}
}

// format makes a volume in memory.
func format(t testing.TB, size int64, o fat32.FormatOptions) *blocktest.Mem {
	t.Helper()
	m := blocktest.NewMem(size)
	o.AssumeZero = true
	if _, err := fat32.Format(context.Background(), m, o); err != nil {
		t.Fatal(err)
	}
	return m
}

// testTime is a moment every FAT time can hold.
var testTime = time.Date(2024, 2, 29, 13, 14, 16, 0, time.UTC)

// quiet mounts without a timer, in UTC, at a fixed time.
func quiet() fat32.MountOptions {
	return fat32.MountOptions{CommitInterval: -1, Location: time.UTC, Now: func() time.Time { return testTime }}
}

func mount(t testing.TB, dev block.Device) *fat32.Volume {
	t.Helper()
	v, err := fat32.Mount(dev, quiet())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// pattern returns n bytes that differ by seed and place.
func pattern(seed, n int) []byte {
	p := make([]byte, n)
	x := uint32(seed)*2654435761 + 12345
	for i := range p {
		x = x*1664525 + 1013904223
		p[i] = byte(x >> 24)
	}
	return p
}

// put writes a file whole.
func put(t testing.TB, v *fat32.Volume, path string, data []byte) {
	t.Helper()
	f, err := v.OpenFile(path, fat32.ReadWrite|fat32.Create|fat32.Truncate)
	must(t, err)
	if _, err := f.WriteAt(data, 0); err != nil {
		t.Fatal(err)
	}
	must(t, f.Close())
}

// get reads a file whole.
func get(t testing.TB, v *fat32.Volume, path string) []byte {
	t.Helper()
	p, err := slurp(v, path)
	must(t, err)
	return p
}

func slurp(v *fat32.Volume, path string) ([]byte, error) {
	f, err := v.OpenFile(path, fat32.ReadOnly)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	p := make([]byte, info.Size)
	if n, err := f.ReadAt(p, 0); n != len(p) {
		return nil, fmt.Errorf("read %d of %d bytes: %w", n, len(p), err)
	}
	return p, nil
}

// names lists a directory.
func names(t testing.TB, v *fat32.Volume, path string) []string {
	t.Helper()
	list, err := v.ReadDir(path)
	must(t, err)
	out := make([]string, len(list))
	for i, e := range list {
		out[i] = e.Name
	}
	return out
}
