//go:build linux

package image_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"coffer/container/image"
)

func mustCreate(t *testing.T, path string, size int64) *image.File {
	t.Helper()
	f, err := image.Create(path, size, image.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func TestCreateNeverOverwrites(t *testing.T) {
	dir := t.TempDir()
	file, link, folder := filepath.Join(dir, "file"), filepath.Join(dir, "link"), filepath.Join(dir, "folder")
	if err := errors.Join(os.WriteFile(file, []byte("precious"), 0o600), os.Symlink(filepath.Join(dir, "nowhere"), link), os.Mkdir(folder, 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{file, link, folder} {
		if f, err := image.Create(path, 10, image.Options{}); !errors.Is(err, image.ErrExist) {
			t.Errorf("%s: %v %v", path, f, err)
		}
	}
	if b, err := os.ReadFile(file); string(b) != "precious" || err != nil {
		t.Errorf("file was touched: %q %v", b, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "nowhere")); err == nil {
		t.Error("created through a dangling link")
	}
}

func TestCreateSparse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "big.img")
	start := time.Now()
	f := mustCreate(t, path, 100_000_000_000)
	if d := time.Since(start); d > 2*time.Second {
		t.Errorf("100 GB took %v", d)
	}
	if n, err := f.AllocatedBytes(); err != nil || n > 1<<20 {
		t.Errorf("takes %d bytes, %v", n, err)
	}
	if fi, err := os.Stat(path); err != nil || fi.Size() != 100_000_000_000 || fi.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", fi, err)
	}
}

func TestPreallocate(t *testing.T) {
	f, err := image.Create(filepath.Join(t.TempDir(), "a.img"), 8<<20, image.Options{Preallocate: true})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if n, err := f.AllocatedBytes(); err != nil || n < 8<<20 {
		t.Errorf("takes %d bytes, %v", n, err)
	}
}

// TestAbandon: the way back of a creation removes its own file only.
func TestAbandon(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.img")
	if err := mustCreate(t, path, 100).Abandon(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("left behind: %v", err)
	}
	f := mustCreate(t, path, 100)
	if err := errors.Join(os.Rename(path, path+".moved"), os.WriteFile(path, []byte("other"), 0o600), f.Abandon()); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(path); string(b) != "other" || err != nil {
		t.Errorf("another file was removed: %q %v", b, err)
	}
}

func TestReadWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.img")
	f := mustCreate(t, path, 1000)
	if n, err := f.WriteAt([]byte("hello"), 995); n != 5 || err != nil {
		t.Fatal(n, err)
	}
	if n, err := f.WriteAt([]byte("hello"), 996); n != 0 || err == nil {
		t.Errorf("write over the end: %d %v", n, err)
	}
	got := make([]byte, 10)
	if n, err := f.ReadAt(got, 995); n != 5 || err != io.EOF || !bytes.Equal(got[:5], []byte("hello")) {
		t.Errorf("read over the end: %d %v", n, err)
	}
	if n, err := f.FreeBytes(); n <= 0 || err != nil {
		t.Errorf("free space %d %v", n, err)
	}
	for name, err := range map[string]error{
		"sync": f.Sync(), "name": f.SyncName(), "writeback": f.StartWriteback(0, 1000), "prefetch": f.Prefetch(0, 1000),
		"drop": f.DropCache(0, 1000), "discard": f.Discard(0, 1000), "close": f.Close(), "close again": f.Close(),
	} {
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestDiscard: a discarded range reads as zeros and gives its blocks back.
func TestDiscard(t *testing.T) {
	f := mustCreate(t, filepath.Join(t.TempDir(), "a.img"), 4<<20)
	if _, err := f.WriteAt(bytes.Repeat([]byte{1}, 4<<20), 0); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(f.Sync(), f.Discard(1<<20, 2<<20)); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 4<<20)
	if _, err := f.ReadAt(got, 0); err != nil {
		t.Fatal(err)
	}
	if got[1<<20-1] != 1 || got[1<<20] != 0 || got[3<<20-1] != 0 || got[3<<20] != 1 {
		t.Error("wrong range discarded")
	}
	if n, err := f.AllocatedBytes(); err != nil || n > 2<<20+64<<10 {
		t.Errorf("still takes %d bytes, %v", n, err)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{fifo, dir, "/dev/null"} {
		for _, readOnly := range []bool{false, true} {
			if _, err := image.Open(path, readOnly); !errors.Is(err, image.ErrNotRegular) {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
	if _, err := image.Open(filepath.Join(dir, "none"), true); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

// TestReadOnly: nothing gets through a read-only open.
func TestReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.img")
	if err := os.WriteFile(path, []byte("content"), 0o400); err != nil {
		t.Fatal(err)
	}
	f, err := image.Open(path, true)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte("x"), 0); !errors.Is(err, image.ErrReadOnly) {
		t.Errorf("write: %v", err)
	}
	if err := f.Truncate(1); !errors.Is(err, image.ErrReadOnly) {
		t.Errorf("truncate: %v", err)
	}
	if err := f.Discard(0, 1); !errors.Is(err, image.ErrReadOnly) {
		t.Errorf("discard: %v", err)
	}
	if b, _ := os.ReadFile(path); string(b) != "content" {
		t.Errorf("content is %q", b)
	}
}

// TestChanged: whatever happens to the image behind our back is noticed, the
// error sticks, and a file that takes the name over is never written to.
func TestChanged(t *testing.T) {
	for name, change := range map[string]func(path string) error{
		"truncated": func(p string) error { return os.Truncate(p, 100) },
		"deleted":   os.Remove,
		"replaced": func(p string) error {
			return errors.Join(os.WriteFile(p+".new", make([]byte, 5000), 0o600), os.Rename(p+".new", p))
		},
		"moved and replaced": func(p string) error {
			return errors.Join(os.Rename(p, p+".old"), os.WriteFile(p, make([]byte, 5000), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.img")
			f := mustCreate(t, path, 5000)
			if _, err := f.WriteAt([]byte("before"), 10); err != nil {
				t.Fatal(err)
			}
			if err := change(path); err != nil {
				t.Fatal(err)
			}
			if name != "moved and replaced" { // found at the next look at the name: at a sync, or within a second
				if _, err := f.WriteAt([]byte("after"), 4000); !errors.Is(err, image.ErrChanged) {
					t.Errorf("write: %v", err)
				}
			}
			for range 2 {
				if err := f.Sync(); !errors.Is(err, image.ErrChanged) {
					t.Errorf("sync: %v", err)
				}
			}
			if _, err := f.WriteAt([]byte("after"), 4000); !errors.Is(err, image.ErrChanged) {
				t.Errorf("write after the sync: %v", err)
			}
			if now, err := os.ReadFile(path); err == nil && (bytes.Contains(now, []byte("after")) || name == "truncated" && len(now) != 100) {
				t.Errorf("the file of that name was written to")
			}
			got := make([]byte, 6)
			if _, err := f.ReadAt(got, 10); err != nil || string(got) != "before" {
				t.Errorf("read of what is still there: %q %v", got, err)
			}
			if _, err := f.ReadAt(got, 4000); (name == "truncated") != errors.Is(err, image.ErrChanged) {
				t.Errorf("read at 4000: %v", err)
			}
		})
	}
	t.Run("moved", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "a.img")
		f := mustCreate(t, path, 5000)
		if err := os.Rename(path, path+".elsewhere"); err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt([]byte("x"), 0); err != nil || f.Sync() != nil {
			t.Errorf("a moved image must go on: %v", err)
		}
	})
}
