package vfs

import (
	"context"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"coffer/container/block"
	"coffer/container/block/blocktest"
	"coffer/fat32"
	"coffer/fat32/fattest"
)

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
	if out := fattest.FsckDevice(t, dev); out != "" {
		t.Errorf("fsck.vfat complains:\n%s", out)
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
