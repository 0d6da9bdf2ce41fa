//go:build !cgofuse

package vfs

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestKernelForgets: the kernel is asked to forget when it knows very many objects, and what it forgot is found again.
func TestKernelForgets(t *testing.T) {
	v, _ := newVolume(t, 64<<20)
	m := mustMount(t, v, filepath.Join(t.TempDir(), "drive"), Options{})
	raw := m.binding.(*gofuse).raw.(*fuseFS)
	for _, names := range []bool{false, true} {
		dir := filepath.Join(m.Point(), map[bool]string{false: "pruned", true: "by name"}[names])
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		held := filepath.Join(dir, "held")
		writeFile(t, held, "held")
		f, err := os.Open(held)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3000 {
			writeFile(t, filepath.Join(dir, "file "+itoa(i)), itoa(i))
		}
		raw.inodes.mu.Lock()
		before := len(raw.inodes.all)
		var ids []uint64
		for id, i := range raw.inodes.all {
			if !i.node.IsDir() {
				ids = append(ids, id)
			}
		}
		raw.inodes.mu.Unlock()
		if names {
			raw.trimNames(ids)
		} else {
			raw.trim(ids)
		}
		after := before
		for end := time.Now().Add(5 * time.Second); after > before/10 && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			raw.inodes.mu.Lock()
			after = len(raw.inodes.all)
			raw.inodes.mu.Unlock()
		}
		if before < 3000 || after > before/10 {
			t.Errorf("names %v: of %d objects the kernel still knows %d", names, before, after)
		}
		got := make([]byte, 4)
		if _, err := f.ReadAt(got, 0); err != nil || string(got) != "held" {
			t.Errorf("%q, %v", got, err)
		}
		wantContent(t, held, "held")
		for i := 0; i < 3000; i += 100 {
			wantContent(t, filepath.Join(dir, "file "+itoa(i)), itoa(i))
		}
		f.Close()
	}
}

// TestManyObjects goes over the limit of what the kernel is let to remember.
func TestManyObjects(t *testing.T) {
	v, _ := newVolume(t, 64<<20)
	m := mustMount(t, v, filepath.Join(t.TempDir(), "drive"), Options{})
	raw := m.binding.(*gofuse).raw.(*fuseFS)
	raw.inodes.mu.Lock()
	raw.inodes.most = 500
	raw.inodes.mu.Unlock()
	for i := range 2000 {
		writeFile(t, filepath.Join(m.Point(), "file "+itoa(i)), itoa(i))
	}
	for end := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		raw.inodes.mu.Lock()
		known := len(raw.inodes.all)
		raw.inodes.mu.Unlock()
		if known < 1990 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("the kernel knows %d objects", known)
		}
	}
	for i := range 2000 {
		wantContent(t, filepath.Join(m.Point(), "file "+itoa(i)), itoa(i))
	}
}
