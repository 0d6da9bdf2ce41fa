package vfs

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"coffer/container/block"
	"coffer/container/block/blocktest"
	"coffer/fat32"
)

// tool returns the path of a program the tests need, or fails naming its package.
func tool(t testing.TB, name, debian string) string {
	t.Helper()
	for _, dir := range []string{"", "/sbin/", "/usr/sbin/"} {
		if path, err := exec.LookPath(dir + name); err == nil {
			return path
		}
	}
	t.Fatalf("%s is missing: apt-get install %s", name, debian)
	return ""
}

// newVolume formats a device of size bytes in memory and mounts the volume. After the test the volume is closed, and
// must be clean to our own checker and to fsck.vfat.
func newVolume(t testing.TB, sizeBytes int64) (*fat32.Volume, *blocktest.Mem) {
	t.Helper()
	dev := blocktest.NewMem(sizeBytes)
	v := openVolume(t, dev, sizeBytes)
	t.Cleanup(func() {
		if err := v.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		checkClean(t, dev)
	})
	return v, dev
}

func openVolume(t testing.TB, dev block.Device, sizeBytes int64) *fat32.Volume {
	t.Helper()
	if _, err := fat32.Format(context.Background(), dev, fat32.FormatOptions{AssumeZero: true}); err != nil {
		t.Fatal(err)
	}
	v, err := fat32.Mount(dev, fat32.MountOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// checkClean fails unless nothing is wrong with the volume on dev.
func checkClean(t testing.TB, dev *blocktest.Mem) {
	t.Helper()
	r, err := fat32.Check(context.Background(), dev, fat32.CheckOptions{})
	if err != nil {
		t.Errorf("check: %v", err)
	} else if !r.Clean() {
		t.Errorf("check finds: %+v", r.Findings)
	}
	path := filepath.Join(t.TempDir(), "volume.img")
	if err := dev.Save(path); err != nil {
		t.Fatal(err)
	}
	defer os.Remove(path)
	out, err := exec.Command(tool(t, "fsck.vfat", "dosfstools"), "-n", path).CombinedOutput()
	if err != nil || strings.Count(string(out), "\n") > 2 {
		t.Errorf("fsck.vfat: %v\n%s", err, out)
	}
}

// mountTest mounts v for a test and unmounts it afterwards.
func mountTest(t testing.TB, v *fat32.Volume, o Options) *Mount {
	t.Helper()
	if err := Probe(); err != nil {
		t.Fatalf("the tests need FUSE (Debian package fuse3): %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	m, err := MountVolume(ctx, v, filepath.Join(t.TempDir(), "drive"), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := m.Unmount(ctx, false); err != nil {
			t.Errorf("unmount: %v; users %+v", err, m.Users())
			_ = m.Unmount(ctx, true)
		}
	})
	return m
}

// panicking is a device that panics when armed.
type panicking struct {
	*blocktest.Mem
	armed atomic.Bool
}

func (p *panicking) WriteAt(b []byte, off int64) (int, error) {
	if p.armed.Load() {
		panic("a secret name is in this text")
	}
	return p.Mem.WriteAt(b, off)
}

func itoa(n int) string { return strconv.Itoa(n) }
