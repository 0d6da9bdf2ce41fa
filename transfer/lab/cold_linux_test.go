package lab

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"coffer/transfer/report"
)

// cached tells whether a page of a file can be read without waiting for the disk.
func cached(t *testing.T, path string, off int64) bool {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	n, err := unix.Preadv2(int(f.Fd()), [][]byte{make([]byte, 4096)}, off, unix.RWF_NOWAIT)
	if err != nil && !errors.Is(err, unix.EAGAIN) {
		t.Fatal(err)
	}
	return n > 0
}

// TestCool: an ordinary user's way makes the files and the image to be read cold, root's everything; with warm nothing is.
func TestCool(t *testing.T) {
	dir := t.TempDir()
	if kind := report.HostEndpoint(dir).FileSystem; kind == "tmpfs" || kind == "ramfs" {
		t.Fatalf("%s lies in memory: set TMPDIR to a folder on a disk", dir)
	}
	password, err := newPassword()
	if err != nil {
		t.Fatal(err)
	}
	defer password.Destroy()
	image, file := filepath.Join(dir, "c.img"), filepath.Join(dir, "file")
	b, err := createBox(context.Background(), image, "luks2", 320<<20, password)
	if err != nil {
		t.Fatal(err)
	}
	defer b.close()
	payload := b.volume.Info().ImageBytes - b.volume.Size() // the header before it is not asked to be forgotten
	if err := os.WriteFile(file, make([]byte, 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := b.files.Sync(); err != nil {
		t.Fatal(err)
	}
	warmUp := func() {
		t.Helper()
		if err := syncHost(dir); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{file, image} {
			if _, err := os.ReadFile(path); err != nil {
				t.Fatal(err)
			}
			if !cached(t, path, 0) {
				t.Fatalf("%s was read and is not cached: this test would show nothing", path)
			}
		}
	}
	for _, c := range []struct {
		name        string
		cooler      *cooler
		file, image bool // cold afterwards
	}{
		{"warm", newCooler(dir, true), false, false},
		{"ordinary user", &cooler{whyNotAll: os.ErrPermission}, true, true},
		{"not possible", &cooler{whyNotAll: os.ErrPermission, err: errors.ErrUnsupported}, false, false},
	} {
		warmUp()
		if err := c.cooler.cool(b.volume, file); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		if cached(t, file, 0) == c.file {
			t.Errorf("%s: the file is cached: %v", c.name, cached(t, file, 0))
		}
		if last := cached(t, image, payload); last == c.image && c.cooler.drops() {
			t.Errorf("%s: the image is cached: %v", c.name, last)
		}
		if c.cooler.method() == "" {
			t.Errorf("%s: no method", c.name)
		}
	}
	if c := newCooler(dir, false); c.everything { // root
		warmUp()
		if err := c.cool(nil); err != nil || cached(t, file, 0) {
			t.Errorf("everything was to be dropped (%v), and the file is cached", err)
		}
	}
}
