//go:build windows || ((darwin || freebsd) && cgo) || (linux && cgofuse)

package vfs

import (
	"context"
	"io"
	"maps"
	"path"
	"runtime"
	"testing"

	"coffer/container/block/blocktest"
	"coffer/fat32"
)

// windowsFS makes the adapter as it is on Windows, over a new volume of 64 MiB.
func windowsFS(t *testing.T) (*cgoFS, *fat32.Volume, *blocktest.Mem) {
	t.Helper()
	dev := blocktest.NewMem(64 << 20)
	v := openVolume(t, dev, 64<<20)
	return newCgoFS(newFS(v, Options{}, false), cgoRules{stalePaths: true, flags: allFlags}), v, dev
}

// newTestWinDrive gives a script its drive: an empty one, or a read-only one with a file f and a folder d. finish compares
// everything in the volume with want, and checks it.
func newTestWinDrive(t *testing.T, readOnly bool) (d *winDrive, finish func(want map[string]string)) {
	t.Helper()
	c, v, dev := windowsFS(t)
	if readOnly {
		d = newWinDrive(t, c)
		d.put("/f", "content")
		d.mkdir("/d")
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
		var err error
		if v, err = fat32.Mount(dev, fat32.MountOptions{ReadOnly: true}); err != nil {
			t.Fatal(err)
		}
		c = newCgoFS(newFS(v, Options{ReadOnly: true}, false), cgoRules{stalePaths: true, flags: allFlags})
	}
	d = newWinDrive(t, c)
	return d, func(want map[string]string) {
		t.Helper()
		if open := c.fs.openHandles(); len(open) > 0 || len(c.table.byID) > 0 || len(c.table.byPath) > 0 {
			t.Errorf("still open: %v; %d handles, %d paths", open, len(c.table.byID), len(c.table.byPath))
		}
		for key, node := range d.nodes {
			t.Errorf("the script left %s open %d times", key, node.opens)
		}
		got := map[string]string{}
		readTree(t, v, "/", got)
		if !maps.Equal(got, want) {
			t.Errorf("the container holds %q, not %q", got, want)
		}
		if err := v.Close(); err != nil {
			t.Error(err)
		}
		checkVolume(t, dev)
	}
}

// checkVolume fails unless nothing is wrong with the volume on dev.
func checkVolume(t *testing.T, dev *blocktest.Mem) {
	t.Helper()
	if runtime.GOOS != "windows" {
		checkClean(t, dev) // by fsck.vfat too
		return
	}
	r, err := fat32.Check(context.Background(), dev, fat32.CheckOptions{})
	if err != nil || !r.Clean() {
		t.Errorf("check: %v, %+v", err, r)
	}
}

// readTree collects files with content, and folders with a slash at the end.
func readTree(t *testing.T, v *fat32.Volume, dir string, into map[string]string) {
	t.Helper()
	list, err := v.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range list {
		name := path.Join(dir, i.Name)
		if i.IsDir() {
			into[name+"/"] = ""
			readTree(t, v, name, into)
			continue
		}
		f, err := v.OpenFile(name, fat32.ReadOnly)
		if err != nil {
			t.Fatal(err)
		}
		content := make([]byte, i.Size)
		if n, err := f.ReadAt(content, 0); int64(n) != i.Size || err != nil && err != io.EOF {
			t.Fatalf("read %s: %d of %d bytes: %v", name, n, i.Size, err)
		}
		into[name] = string(content)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
