package fat32_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"coffer/container/block/blocktest"
	"coffer/fat32"
)

// TestIdentity: a file keeps its identity through renames and while thousands
// of others come and go, and no two files share one.
func TestIdentity(t *testing.T) {
	v := mount(t, format(t, 300<<20, fat32.FormatOptions{}))
	must(t, v.Mkdir("/a"))
	must(t, v.Mkdir("/b"))
	put(t, v, "/a/file", []byte("x"))
	id := func(p string) uint64 {
		i, err := v.Stat(p)
		must(t, err)
		return i.ID
	}
	want := id("/a/file")
	at := "/a/file"
	for i := range 200 {
		to := fmt.Sprintf("/%c/another name %d", 'a'+i%2, i)
		must(t, v.Rename(at, to, true))
		at = to
		put(t, v, "/a/file", []byte("y")) // takes the first place
		if id(at) != want {
			t.Fatalf("identity changed from %x to %x", want, id(at))
		}
		if i%50 == 0 {
			must(t, v.Sync())
		}
	}
	for i := range 12000 { // more than the table keeps
		put(t, v, fmt.Sprintf("/b/f%d", i), nil)
	}
	must(t, v.Sync())
	if id(at) != want {
		t.Fatal("identity changed")
	}
	seen := map[uint64]string{}
	for _, dir := range []string{"/", "/a", "/b"} {
		list, err := v.ReadDir(dir)
		must(t, err)
		for _, i := range list {
			if other, ok := seen[i.ID]; ok {
				t.Fatalf("%s and %s share %x", i.Name, other, i.ID)
			}
			seen[i.ID] = i.Name
		}
	}
	must(t, v.Close())
}

// slowSync is a disk whose syncs take a while.
type slowSync struct{ *blocktest.Fault }

func (d slowSync) Sync() error { time.Sleep(3 * time.Millisecond); return d.Fault.Sync() }

// TestSyncIsShared: many callers at once need few flushes.
func TestSyncIsShared(t *testing.T) {
	dev := slowSync{blocktest.NewFault(format(t, 40<<20, fat32.FormatOptions{}))}
	v := mount(t, dev)
	put(t, v, "/f", []byte("x"))
	must(t, v.Sync())
	before := dev.Count(blocktest.OpSync)
	must(t, v.Sync())
	if n := dev.Count(blocktest.OpSync) - before; n != 0 {
		t.Errorf("%d device syncs with nothing to do", n)
	}
	var group sync.WaitGroup
	const callers = 64
	for i := range callers {
		group.Go(func() {
			put(t, v, fmt.Sprintf("/f%d", i), []byte("y"))
			if err := v.Sync(); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if n := dev.Count(blocktest.OpSync) - before; n > callers {
		t.Errorf("%d device syncs for %d callers", n, callers)
	}
	must(t, v.Close())
}

// TestBarriers counts the device syncs of common operations: stages that are
// empty have none.
func TestBarriers(t *testing.T) {
	dev := blocktest.NewFault(format(t, 40<<20, fat32.FormatOptions{}))
	v := mount(t, dev)
	v.StatFS()
	for _, p := range []string{"/a", "/b", "/c", "/over"} {
		put(t, v, p, pattern(1, 5000))
	}
	must(t, v.Sync())
	for _, c := range []struct {
		name string
		most int
		do   func()
	}{
		{"create with data", 2, func() { put(t, v, "/new", pattern(2, 100)) }},
		{"overwrite", 1, func() { must(t, writeFile(v, "/a", 0, "overwritten", 0)) }},
		{"append within the cluster", 2, func() { must(t, writeFile(v, "/a", 5000, "appended", 0)) }},
		{"append clusters", 3, func() { must(t, writeFile(v, "/a", 5008, text(3, 5000), 0)) }},
		{"truncate and rewrite", 3, func() { put(t, v, "/a", pattern(4, 3000)) }},
		{"save over", 3, func() { put(t, v, "/tmp", pattern(5, 3000)); must(t, v.Rename("/tmp", "/over", true)) }},
		{"delete and create", 3, func() { must(t, v.Remove("/b")); put(t, v, "/b", pattern(6, 10)) }},
		{"unlink", 2, func() { must(t, v.Remove("/c")) }},
		{"rename in place", 1, func() { must(t, v.Rename("/b", "/d", false)) }},
	} {
		before := dev.Count(blocktest.OpSync)
		c.do()
		must(t, v.Sync())
		if n := dev.Count(blocktest.OpSync) - before; n > c.most {
			t.Errorf("%s: %d barriers, want %d", c.name, n, c.most)
		}
	}
	must(t, v.Close())
}
