package fat32_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"coffer/container/block/blocktest"
	"coffer/fat32"
)

// countingDevice counts writes and fails after some.
type countingDevice struct {
	*blocktest.Mem
	writes atomic.Int64
	left   atomic.Int64 // writes until they fail, if broken
	broken atomic.Bool
}

func (c *countingDevice) WriteAt(p []byte, off int64) (int, error) {
	c.writes.Add(1)
	if c.broken.Load() && c.left.Add(-1) < 0 {
		return 0, errors.New("broken")
	}
	return c.Mem.WriteAt(p, off)
}

func TestWriteUnnamed(t *testing.T) {
	for _, cluster := range []int{512, 4096, 8192} {
		t.Run(fmt.Sprint(cluster), func(t *testing.T) {
			dev := &countingDevice{Mem: format(t, 40<<20, fat32.FormatOptions{ClusterSize: cluster})}
			v := mount(t, dev)
			v.StatFS()
			var contents [][]byte
			for i, n := range []int{1000, 0, 1, 512, 4096, 4097, 70000, 300000, 3, 0, 9999} {
				contents = append(contents, pattern(i, n))
			}
			put(t, v, "/first", []byte("x")) // the volume is marked as in use
			free := v.StatFS().FreeBytes
			before := dev.writes.Load()
			files, err := v.WriteUnnamed(contents)
			must(t, err)
			if n := dev.writes.Load() - before; cluster <= 4096 && n > 3 {
				t.Errorf("%d writes of neighbours of 390 kB", n)
			}
			for i, f := range files {
				must(t, f.Link(fmt.Sprintf("/f%d", i), false))
				must(t, f.Close())
			}
			must(t, v.Close())
			fsck(t, dev)
			selfCheck(t, dev)
			v = mount(t, dev)
			for i, p := range contents {
				if string(get(t, v, fmt.Sprintf("/f%d", i))) != string(p) {
					t.Errorf("file %d differs", i)
				}
				must(t, v.Remove(fmt.Sprintf("/f%d", i)))
			}
			must(t, v.Sync())
			if got := v.StatFS().FreeBytes; got != free {
				t.Errorf("%d bytes free, %d before", got, free)
			}
			must(t, v.Close())
		})
	}
}

// TestWriteUnnamedFragments fills every gap of a volume in pieces, and is all or nothing.
func TestWriteUnnamedFragments(t *testing.T) {
	dev := &countingDevice{Mem: format(t, 20<<20, fat32.FormatOptions{ClusterSize: 4096})}
	v := mount(t, dev)
	cs := v.StatFS().ClusterSize
	must(t, v.Mkdir("/d"))
	for i := 0; ; i++ { // every other cluster
		f, err := v.CreateUnnamed()
		must(t, err)
		if _, err := f.WriteAt(pattern(i, cs), 0); errors.Is(err, fat32.ErrNoSpace) {
			break
		}
		must(t, f.Link(fmt.Sprintf("/d/%d", i), false))
		must(t, f.Close())
	}
	must(t, v.Sync())
	all := names(t, v, "/d")
	for i := 0; i < len(all); i += 2 {
		must(t, v.Remove("/d/"+all[i]))
	}
	must(t, v.Sync())
	free := v.StatFS().FreeBytes
	var contents [][]byte
	for left, i := int(free), 0; left > 0; i++ {
		n := min(left, 1+i%3*cs+cs/2)
		left -= (n + cs - 1) / cs * cs
		contents = append(contents, pattern(i, n))
	}
	if _, err := v.WriteUnnamed(append(contents, []byte("x"))); !errors.Is(err, fat32.ErrNoSpace) {
		t.Fatal(err)
	}
	if got := v.StatFS().FreeBytes; got != free {
		t.Fatalf("%d bytes free after a failure, %d before", got, free)
	}
	dev.left.Store(2)
	dev.broken.Store(true)
	if _, err := v.WriteUnnamed(contents); err == nil || errors.Is(err, fat32.ErrNoSpace) {
		t.Fatal(err)
	}
	dev.broken.Store(false)
	if got := v.StatFS().FreeBytes; got != free {
		t.Fatalf("%d bytes free after a broken write, %d before", got, free)
	}
	files, err := v.WriteUnnamed(contents)
	must(t, err)
	for i, f := range files {
		must(t, f.Link("/d/"+all[i*2%len(all)]+"n", true))
		must(t, f.Close())
	}
	must(t, v.Close())
	fsck(t, dev)
	selfCheck(t, dev)
	v = mount(t, dev)
	for i, p := range contents {
		if string(get(t, v, "/d/"+all[i*2%len(all)]+"n")) != string(p) {
			t.Fatalf("file %d differs", i)
		}
	}
	must(t, v.Close())
	if _, err := v.WriteUnnamed(nil); !errors.Is(err, fat32.ErrClosed) {
		t.Fatal(err)
	}
}
