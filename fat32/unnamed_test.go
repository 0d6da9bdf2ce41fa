package fat32_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"coffer/container/block/blocktest"
	"coffer/fat32"
)

func unnamed(t testing.TB, v *fat32.Volume, data string) *fat32.File {
	t.Helper()
	f, err := v.CreateUnnamed()
	must(t, err)
	if len(data) > 0 {
		_, err = f.WriteAt([]byte(data), 0)
		must(t, err)
	}
	return f
}

// TestUnnamedIsNowhere: a file without a name shows up nowhere and leaves nothing behind.
func TestUnnamedIsNowhere(t *testing.T) {
	m := format(t, 34<<20, fat32.FormatOptions{})
	v := mount(t, m)
	free := v.StatFS().FreeBytes
	f := unnamed(t, v, text(1, 5000))
	if got := v.StatFS().FreeBytes; got >= free {
		t.Fatalf("%d bytes free, %d before", got, free)
	}
	if list := names(t, v, "/"); len(list) != 0 || f.Name() != "" {
		t.Fatal(list, f.Name())
	}
	i, err := f.Stat()
	if err != nil || !i.Removed || i.Size != 5000 || i.Name != "" {
		t.Fatalf("%+v, %v", i, err)
	}
	p := make([]byte, 5000)
	if _, err := f.ReadAt(p, 0); err != nil || string(p) != text(1, 5000) {
		t.Fatal("content differs", err)
	}
	r := f.Ref()
	if r.Path() != "" || r.Name() != "" || !r.Removed() || r.ID() == 0 {
		t.Fatal(r.Path(), r.Name(), r.ID())
	}
	r.Release()
	must(t, v.Sync())
	must(t, f.Close())
	must(t, v.Sync())
	if got := v.StatFS().FreeBytes; got != free {
		t.Fatalf("%d bytes free, %d before", got, free)
	}
	left := unnamed(t, v, text(2, 3000)) // still open when the volume is closed
	must(t, v.Close())
	if err := left.Link("/late", false); !errors.Is(err, fat32.ErrClosed) {
		t.Fatal(err)
	}
	fsck(t, m)
	selfCheck(t, m)
	ro, err := fat32.Mount(m, fat32.MountOptions{ReadOnly: true})
	must(t, err)
	if _, err := ro.CreateUnnamed(); !errors.Is(err, fat32.ErrReadOnly) {
		t.Fatal(err)
	}
	must(t, ro.Close())
}

func TestLink(t *testing.T) {
	m := format(t, 34<<20, fat32.FormatOptions{})
	v := mount(t, m)
	must(t, v.Mkdir("/dir"))
	put(t, v, "/dir/old", []byte("old"))
	must(t, v.Sync())
	f := unnamed(t, v, text(3, 2000))
	ref := f.Ref()
	for path, want := range map[string]error{"/dir/old": fat32.ErrExist, "/dir/OLD": fat32.ErrExist, "/none/x": fat32.ErrNotExist,
		"/dir/old/x": fat32.ErrNotDir, "/": fat32.ErrInvalid, "/dir/a:b": fat32.ErrName} {
		if err := f.Link(path, false); !errors.Is(err, want) {
			t.Errorf("link %s: %v, want %v", path, err, want)
		}
	}
	if err := f.Link("/dir", true); !errors.Is(err, fat32.ErrIsDir) {
		t.Error(err)
	}
	must(t, f.SetTimes(fat32.Times{Modify: testTime.Add(-time.Hour)}))
	open, err := v.OpenFile("/dir/old", fat32.ReadOnly)
	must(t, err)
	must(t, f.Link("/dir/Old", true)) // another spelling
	if got := names(t, v, "/dir"); len(got) != 1 || got[0] != "Old" {
		t.Fatal(got)
	}
	p := make([]byte, 3)
	if _, err := open.ReadAt(p, 0); err != nil || string(p) != "old" {
		t.Fatalf("the replaced file, still open: %q, %v", p, err)
	}
	i, err := v.Stat("/dir/Old")
	if err != nil || i.ID != ref.ID() || i.Removed || !i.ModTime.Equal(testTime.Add(-time.Hour)) || ref.Path() != "/dir/Old" || f.Name() != "Old" {
		t.Fatalf("%+v, %v, %x %s", i, err, ref.ID(), ref.Path())
	}
	if err := f.Link("/dir/second", false); !errors.Is(err, fat32.ErrInvalid) {
		t.Fatalf("second name: %v", err)
	}
	if _, err := f.WriteAt([]byte("more"), 2000); err != nil {
		t.Fatal(err)
	}
	must(t, v.Remove("/dir/Old"))
	if err := f.Link("/dir/again", false); !errors.Is(err, fat32.ErrInvalid) {
		t.Fatalf("name after removal: %v", err)
	}
	must(t, f.Close())
	must(t, open.Close())
	ref.Release()
	closed := unnamed(t, v, "x")
	must(t, closed.Close())
	if err := closed.Link("/dir/closed", false); !errors.Is(err, fat32.ErrClosed) {
		t.Fatal(err)
	}
	must(t, v.Close())
	fsck(t, m)
	selfCheck(t, m)
}

// TestLinkTogether links, replaces, removes and lists from several goroutines while
// flushes run; what was linked last under a name is what a new mount reads.
func TestLinkTogether(t *testing.T) {
	m := format(t, 34<<20, fat32.FormatOptions{})
	v := mount(t, m)
	const workers, rounds = 4, 400
	var wg sync.WaitGroup
	last := make([]map[string]string, workers)
	for w := range workers {
		last[w] = map[string]string{}
		wg.Go(func() {
			for k := range rounds {
				path, data := fmt.Sprintf("/file %d of worker %d.txt", k%50, w), text(w*rounds+k, 1+k*7%3000)
				f := unnamed(t, v, data)
				if k%9 == 0 {
					path = "/shared"
				}
				if err := f.Link(path, true); err != nil {
					t.Error(err)
				} else if path != "/shared" {
					last[w][path] = data
				}
				must(t, f.Close())
				switch {
				case k%41 == 0:
					must(t, v.Sync())
				case k%17 == 0 && path != "/shared":
					must(t, v.Remove(path))
					delete(last[w], path)
				case k%13 == 0:
					names(t, v, "/")
				}
			}
		})
	}
	wg.Wait()
	must(t, v.Close())
	fsck(t, m)
	v = mount(t, m)
	defer v.Close()
	want := 1
	for _, files := range last {
		want += len(files)
		for path, data := range files {
			if string(get(t, v, path)) != data {
				t.Errorf("%s differs", path)
			}
		}
	}
	if got := len(names(t, v, "/")); got != want {
		t.Errorf("%d files, want %d", got, want)
	}
}

// TestLooseIsDiscarded: a volume closed over open files without a name leaves no
// cluster that a device with transactions takes for used while the FAT has it free.
func TestLooseIsDiscarded(t *testing.T) {
	x := blocktest.NewTxn(format(t, 20<<20, fat32.FormatOptions{ClusterSize: 4096}), blocktest.TxnOptions{LimitBytes: 8 << 20, CapacityBytes: 32 << 20})
	for range 3 {
		v := mount(t, x)
		unnamed(t, v, text(1, 300000))
		put(t, v, "/gone", pattern(2, 200000))
		f, err := v.OpenFile("/gone", fat32.ReadWrite)
		must(t, err)
		must(t, v.Sync())
		must(t, v.Remove("/gone"))
		_, err = f.WriteAt(pattern(3, 100000), 200000)
		must(t, err)
		must(t, v.Sync())
		must(t, v.Close()) // both are open
		v = mount(t, x)
		put(t, v, "/all", pattern(4, int(v.StatFS().FreeBytes)-100000)) // over all of them
		must(t, v.Remove("/all"))
		must(t, v.Close())
	}
	if bad := x.Violations(); len(bad) > 0 {
		t.Fatal(bad)
	}
}
