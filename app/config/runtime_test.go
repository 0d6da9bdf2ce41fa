package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestRuntimeDir: the folder is made once, is this user's alone, and something else in its place is refused.
func TestRuntimeDir(t *testing.T) {
	folder, err := RuntimeFolder()
	if err != nil {
		t.Fatal(err)
	}
	if !filepath.IsAbs(folder) {
		t.Errorf("%q is no absolute path", folder)
	}
	base, err := os.MkdirTemp("", "runtime-*")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	private := filepath.Join(base, "private")
	if err := CheckPrivate(private); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a missing folder: %v", err)
	}
	for range 2 {
		if err := makePrivate(private); err != nil {
			t.Fatal(err)
		}
	}
	if err := CheckPrivate(private); err != nil {
		t.Errorf("our own folder: %v", err)
	}
	if err := os.WriteFile(filepath.Join(private, "inside"), []byte("x"), 0o600); err != nil {
		t.Errorf("write in our own folder: %v", err)
	}
	file := filepath.Join(base, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := makePrivate(file); err == nil {
		t.Error("a file was taken for a folder")
	}
}
