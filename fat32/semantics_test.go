package fat32_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"testing"
	"time"

	"coffer/container/block"
	"coffer/container/block/blocktest"
	"coffer/fat32"
)

// TestNeverStale fills a volume with a pattern, frees it, and makes files
// longer in every way there is: nothing of the pattern may show.
func TestNeverStale(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			m := format(t, k.size, k.o)
			v := mount(t, m)
			fill := bytes.Repeat([]byte{0xAA}, 1<<20)
			put(t, v, "/fill", fill)
			must(t, v.Sync())
			f, err := v.OpenFile("/fill", fat32.ReadWrite)
			must(t, err)
			must(t, f.Truncate(10))
			must(t, f.Truncate(300000))
			check := func(name string, known int) {
				t.Helper()
				for i, c := range get(t, v, name)[known:] {
					if c != 0 {
						t.Fatalf("%s: byte %d is %#x", name, known+i, c)
					}
				}
			}
			check("/fill", 10)
			must(t, f.Truncate(0))
			must(t, v.Sync())
			if _, err := f.WriteAt([]byte{0}, 200000); err != nil {
				t.Fatal(err)
			}
			check("/fill", 0)
			g, err := v.OpenFile("/new", fat32.ReadWrite|fat32.Create)
			must(t, err)
			for _, size := range []int64{1, 100, 513, 5000, 5001, 70000} {
				must(t, g.Truncate(size))
			}
			check("/new", 0)
			must(t, f.Close())
			must(t, g.Close())
			must(t, v.Close())
			fsck(t, m)
		})
	}
}

func TestTooBig(t *testing.T) {
	m := format(t, 6<<30, fat32.FormatOptions{})
	v := mount(t, m)
	f, err := v.OpenFile("/big", fat32.ReadWrite|fat32.Create)
	must(t, err)
	if err := f.Truncate(1 << 32); !errors.Is(err, fat32.ErrTooBig) {
		t.Fatalf("truncate to 4 GiB: %v", err)
	}
	if n, err := f.WriteAt([]byte("xy"), 1<<32-2); n != 0 || !errors.Is(err, fat32.ErrTooBig) {
		t.Fatalf("write up to 4 GiB: %d, %v", n, err)
	}
	if _, err := f.WriteAt([]byte("x"), 1<<32-2); err != nil {
		t.Fatal(err)
	}
	if i, _ := f.Stat(); i.Size != fat32.MaxFileSize {
		t.Fatalf("size %d", i.Size)
	}
	if err := f.Reserve(1 << 33); !errors.Is(err, fat32.ErrTooBig) {
		t.Fatalf("reserve: %v", err)
	}
	g, err := v.OpenFile("/second", fat32.ReadWrite|fat32.Create)
	must(t, err)
	free := v.StatFS().FreeBytes
	if err := g.Truncate(free + 1); !errors.Is(err, fat32.ErrNoSpace) {
		t.Fatalf("truncate beyond the volume: %v", err)
	}
	if v.StatFS().FreeBytes != free {
		t.Fatal("a failed truncate took space")
	}
	must(t, f.Close())
	must(t, g.Close())
	must(t, v.Sync())
	fsckDirty(t, m)
	// fsck.vfat counts the bytes of a chain in 32 bits and cannot judge the largest file.
	must(t, v.Remove("/big"))
	must(t, v.Close())
	fsck(t, m)
}

// TestFullVolume rewrites and replaces files on a volume without one free cluster.
func TestFullVolume(t *testing.T) {
	for _, k := range kinds[:5] {
		t.Run(k.name, func(t *testing.T) {
			m := format(t, k.size, k.o)
			v := mount(t, m)
			put(t, v, "/a", pattern(1, 500000))
			f, err := v.OpenFile("/rest", fat32.ReadWrite|fat32.Create)
			must(t, err)
			must(t, f.Truncate(v.StatFS().FreeBytes))
			must(t, f.Close())
			if s := v.StatFS(); s.FreeBytes != 0 {
				t.Fatalf("%d bytes free", s.FreeBytes)
			}
			for i := range 5 {
				put(t, v, "/a", pattern(i, 500000)) // truncate and rewrite
				must(t, v.Remove("/a"))
				put(t, v, "/a", pattern(i+10, 500000)) // delete and create
			}
			if !bytes.Equal(get(t, v, "/a"), pattern(14, 500000)) {
				t.Fatal("content differs")
			}
			g, err := v.OpenFile("/a", fat32.ReadWrite)
			must(t, err)
			if n, err := g.WriteAt(make([]byte, 100000), 500000); n != 0 || !errors.Is(err, fat32.ErrNoSpace) {
				t.Fatalf("append: %d, %v", n, err)
			}
			must(t, v.Close())
			fsck(t, m)
		})
	}
}

func TestRemovedOpenFile(t *testing.T) {
	m := format(t, 40<<20, fat32.FormatOptions{})
	v := mount(t, m)
	put(t, v, "/f", pattern(1, 100000))
	must(t, v.Sync())
	free := v.StatFS().FreeBytes
	f, err := v.OpenFile("/f", fat32.ReadWrite)
	must(t, err)
	must(t, v.Remove("/f"))
	put(t, v, "/f", []byte("another"))
	for range 3 { // would take the clusters if they were free
		put(t, v, "/g", pattern(2, 1<<20))
		must(t, v.Sync())
	}
	if _, err := f.WriteAt(pattern(3, 50000), 100000); err != nil {
		t.Fatal(err)
	}
	p := make([]byte, 150000)
	if n, err := f.ReadAt(p, 0); n != len(p) || err != nil {
		t.Fatal(n, err)
	}
	if !bytes.Equal(p, append(pattern(1, 100000), pattern(3, 50000)...)) {
		t.Fatal("a removed open file lost its content")
	}
	fsckDirty(t, m)
	must(t, f.Truncate(10))
	must(t, f.Close())
	must(t, v.Remove("/g"))
	must(t, v.Remove("/f"))
	must(t, v.Sync())
	if got := v.StatFS().FreeBytes; got != free+100352 {
		t.Fatalf("%d bytes free, want %d", got, free+100352)
	}
	must(t, v.Close())
	fsck(t, m)
}

// fsckDirty accepts what a mounted volume shows, and nothing else.
func fsckDirty(t testing.TB, m *blocktest.Mem) {
	t.Helper()
	r, err := fat32.Check(context.Background(), m, fat32.CheckOptions{})
	must(t, err)
	for _, f := range r.Findings {
		if f.Code != fat32.CodeDirty && f.Code != fat32.CodeFreeCount {
			t.Fatalf("check of a mounted volume: %+v", r.Findings)
		}
	}
}

func TestTimesAndAttributes(t *testing.T) {
	m := format(t, 40<<20, fat32.FormatOptions{})
	v := mount(t, m)
	put(t, v, "/f", []byte("x"))
	at := time.Date(2023, 7, 1, 12, 30, 31, 987654321, time.UTC)
	must(t, v.SetTimes("/f", fat32.Times{Modify: at, Create: at, Access: at}))
	must(t, v.SetAttr("/f", fat32.AttrReadOnly|fat32.AttrHidden|fat32.AttrDirectory))
	want := func(i fat32.Info) {
		t.Helper()
		if !i.ModTime.Equal(at.Truncate(2*time.Second)) || !i.CreateTime.Equal(at.Truncate(10*time.Millisecond)) || !i.AccessTime.Equal(time.Date(2023, 7, 1, 0, 0, 0, 0, time.UTC)) {
			t.Fatalf("times %v %v %v", i.ModTime, i.CreateTime, i.AccessTime)
		}
		if i.Attr != fat32.AttrReadOnly|fat32.AttrHidden {
			t.Fatalf("attributes %#x", i.Attr)
		}
	}
	i, err := v.Stat("/f")
	must(t, err)
	want(i)
	if _, err := v.OpenFile("/f", fat32.ReadWrite); !errors.Is(err, fs.ErrPermission) {
		t.Fatalf("open of a read-only file: %v", err)
	}
	must(t, v.Mkdir("/early"))
	must(t, v.SetTimes("/early", fat32.Times{Modify: time.Unix(0, 0)}))
	must(t, v.Mkdir("/late"))
	must(t, v.SetTimes("/late", fat32.Times{Modify: time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC)}))
	must(t, v.Close())
	fsck(t, m)
	v = mount(t, m)
	i, err = v.Stat("/f")
	must(t, err)
	want(i)
	for name, year := range map[string]int{"/early": 1980, "/late": 2107} {
		if i, err := v.Stat(name); err != nil || i.ModTime.Year() != year {
			t.Fatalf("%s: %v, %v", name, i.ModTime, err)
		}
	}
}

func TestLabel(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			o := k.o
			o.Label = "First"
			m := format(t, k.size, o)
			v := mount(t, m)
			if v.Label() != "FIRST" {
				t.Fatalf("label %q", v.Label())
			}
			for _, l := range []string{"", "second", "Übung 11ch", ""} {
				must(t, v.SetLabel(l))
				must(t, v.Sync())
			}
			if v.Label() != "" {
				t.Fatalf("label %q", v.Label())
			}
			must(t, v.SetLabel("third"))
			for _, bad := range []string{"a/b", "twelve chars", "日本", "x\n"} {
				if err := v.SetLabel(bad); !errors.Is(err, fat32.ErrName) {
					t.Fatalf("%q: %v", bad, err)
				}
			}
			must(t, v.Close())
			fsck(t, m)
			selfCheck(t, m)
			v = mount(t, m)
			if v.Label() != "THIRD" || len(names(t, v, "/")) != 0 {
				t.Fatalf("label %q, names %q", v.Label(), names(t, v, "/"))
			}
		})
	}
}

// noWrites fails the test on any write.
type noWrites struct {
	block.Device
	t *testing.T
}

func (d noWrites) WriteAt(p []byte, off int64) (int, error) {
	d.t.Errorf("write of %d bytes at %d to a read-only volume", len(p), off)
	return len(p), nil
}
func (d noWrites) Sync() error { d.t.Error("sync of a read-only volume"); return nil }

func TestReadOnly(t *testing.T) {
	m := format(t, 40<<20, fat32.FormatOptions{Label: "RO"})
	v := mount(t, m)
	put(t, v, "/f", pattern(1, 5000))
	must(t, v.Close())
	v, err := fat32.Mount(noWrites{m, t}, fat32.MountOptions{ReadOnly: true})
	must(t, err)
	if !bytes.Equal(get(t, v, "/f"), pattern(1, 5000)) || v.StatFS().FreeBytes == 0 {
		t.Fatal("content or free space")
	}
	for what, err := range map[string]error{
		"mkdir": v.Mkdir("/d"), "remove": v.Remove("/f"), "rename": v.Rename("/f", "/g", false), "attr": v.SetAttr("/f", 0),
		"times": v.SetTimes("/f", fat32.Times{Modify: testTime}), "label": v.SetLabel("X"),
	} {
		if !errors.Is(err, fat32.ErrReadOnly) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := v.OpenFile("/f", fat32.ReadWrite); !errors.Is(err, fat32.ErrReadOnly) {
		t.Error(err)
	}
	must(t, v.Sync())
	must(t, v.Close())
	if _, err := v.Stat("/f"); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
}

func TestErrors(t *testing.T) {
	v := mount(t, format(t, 40<<20, fat32.FormatOptions{}))
	must(t, v.MkdirAll("/d/e"))
	put(t, v, "/f", nil)
	for what, c := range map[string]struct{ got, want error }{
		"rmdir of a full directory":   {v.Remove("/d"), fat32.ErrNotEmpty},
		"remove of the root":          {v.Remove("/"), fat32.ErrInvalid},
		"remove of nothing":           {v.Remove("/x"), fs.ErrNotExist},
		"mkdir below a file":          {v.Mkdir("/f/x"), fat32.ErrNotDir},
		"mkdir of the root":           {v.Mkdir("/"), fat32.ErrExist},
		"mkdir of a bad name":         {v.Mkdir("/a:b"), fat32.ErrName},
		"rename into itself":          {v.Rename("/d", "/d/e/x", true), fat32.ErrInvalid},
		"rename of nothing":           {v.Rename("/x", "/y", true), fat32.ErrNotExist},
		"rename onto, no replace":     {v.Rename("/f", "/d", false), fat32.ErrExist},
		"rename of a file over a dir": {v.Rename("/f", "/d", true), fat32.ErrIsDir},
		"rename of a dir over a file": {v.Rename("/d", "/f", true), fat32.ErrNotDir},
		"path upwards":                {v.Mkdir("/d/../x"), fat32.ErrName},
		"mkdirall below a file":       {v.MkdirAll("/f/x/y"), fat32.ErrNotDir},
	} {
		if !errors.Is(c.got, c.want) {
			t.Errorf("%s: %v, want %v", what, c.got, c.want)
		}
	}
	if _, err := v.OpenFile("/d", fat32.ReadOnly); !errors.Is(err, fat32.ErrIsDir) {
		t.Error(err)
	}
	f, err := v.OpenFile("/f", fat32.ReadOnly)
	must(t, err)
	if _, err := f.WriteAt([]byte("x"), 0); !errors.Is(err, fs.ErrPermission) {
		t.Error(err)
	}
	if n, err := f.ReadAt(make([]byte, 1), 0); n != 0 || err != io.EOF {
		t.Error(n, err)
	}
	must(t, f.Close())
	if err := f.Close(); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
	if _, err := f.ReadAt(nil, 0); !errors.Is(err, fs.ErrClosed) {
		t.Error(err)
	}
}
