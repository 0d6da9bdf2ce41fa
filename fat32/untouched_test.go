package fat32_test

import (
	"bytes"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"coffer/container/block/blocktest"
	"coffer/fat32"
)

// image is the content of a device.
func image(t testing.TB, m *blocktest.Mem) []byte {
	t.Helper()
	return peek(t, m, 0, int(m.Size()))
}

// TestUntouched: what reads, fails or changes nothing writes nothing, not even the marks; whatever changes something is
// seen in the image.
func TestUntouched(t *testing.T) {
	for _, k := range kinds {
		t.Run(k.name, func(t *testing.T) {
			m := format(t, k.size, k.o)
			v := mount(t, m)
			must(t, v.Mkdir("/dir"))
			put(t, v, "/dir/file", pattern(1, 10000))
			put(t, v, "/empty", nil)
			must(t, v.SetAttr("/dir/file", fat32.AttrReadOnly))
			must(t, v.Close())
			before := image(t, m)

			trace := &counting{Device: m}
			v, err := fat32.Mount(trace, quiet())
			must(t, err)
			untouched := []struct {
				what string
				do   func() error
				want error
			}{
				{"list", func() error { _, err := v.ReadDir("/dir"); return err }, nil},
				{"read", func() error { _, err := slurp(v, "/dir/file"); return err }, nil},
				{"free space", func() error { _ = v.StatFS(); return nil }, nil},
				{"directory that is there", func() error { return v.Mkdir("/dir") }, fat32.ErrExist},
				{"file that is there", func() error {
					_, err := v.OpenFile("/empty", fat32.ReadWrite|fat32.Create|fat32.Exclusive)
					return err
				}, fat32.ErrExist},
				{"bad name", func() error { return v.Mkdir("/a?b") }, fat32.ErrName},
				{"directory that is not empty", func() error { return v.Remove("/dir") }, fat32.ErrNotEmpty},
				{"what is not there", func() error { return v.Remove("/nothing") }, fat32.ErrNotExist},
				{"rename onto what is there", func() error { return v.Rename("/empty", "/dir", false) }, fat32.ErrExist},
				{"rename onto a directory", func() error { return v.Rename("/empty", "/dir", true) }, fat32.ErrIsDir},
				{"directory into itself", func() error { return v.Rename("/dir", "/dir/x", false) }, fat32.ErrInvalid},
				{"rename to itself", func() error { return v.Rename("/empty", "/empty", true) }, nil},
				{"write to a read-only file", func() error { _, err := v.OpenFile("/dir/file", fat32.ReadWrite); return err }, fat32.ErrPermission},
				{"the attributes it has", func() error { return v.SetAttr("/dir/file", fat32.AttrReadOnly) }, nil},
				{"the times it has", func() error {
					i, err := v.Stat("/dir/file")
					must(t, err)
					return v.SetTimes("/dir/file", fat32.Times{Modify: i.ModTime, Create: i.CreateTime, Access: i.AccessTime})
				}, nil},
				{"nothing written", func() error {
					f, err := v.OpenFile("/empty", fat32.ReadWrite)
					must(t, err)
					_, err = f.WriteAt(nil, 0)
					return errors.Join(err, f.Sync(), f.Close())
				}, nil},
				{"larger than the volume", func() error {
					f, err := v.OpenFile("/empty", fat32.ReadWrite)
					must(t, err)
					defer f.Close()
					return f.Truncate(v.StatFS().TotalBytes + 1)
				}, fat32.ErrNoSpace},
				{"sync", v.Sync, nil},
				{"freeze", func() error {
					thaw, err := v.Freeze()
					if err == nil {
						thaw()
					}
					return err
				}, nil},
			}
			for _, u := range untouched {
				if err := u.do(); u.want == nil && err != nil || u.want != nil && !errors.Is(err, u.want) {
					t.Errorf("%s: %v, want %v", u.what, err, u.want)
				}
				must(t, v.Sync())
				if n := trace.writes.Load(); n > 0 {
					t.Fatalf("%s: %d writes", u.what, n)
				}
			}
			must(t, v.Close())
			if n := trace.writes.Load(); n > 0 || !bytes.Equal(before, image(t, m)) {
				t.Fatalf("closing: %d writes", n)
			}

			for what, do := range map[string]func(v *fat32.Volume) error{
				"attributes": func(v *fat32.Volume) error { return v.SetAttr("/empty", fat32.AttrHidden) },
				"times": func(v *fat32.Volume) error {
					return v.SetTimes("/empty", fat32.Times{Modify: time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)})
				},
				"write":     func(v *fat32.Volume) error { put(t, v, "/empty", []byte("x")); return nil },
				"directory": func(v *fat32.Volume) error { return v.Mkdir("/new") },
				"rename":    func(v *fat32.Volume) error { return v.Rename("/empty", "/Empty2", false) },
				"remove":    func(v *fat32.Volume) error { return v.Remove("/empty") },
			} {
				own := m.Clone()
				v := mount(t, own)
				must(t, do(v))
				must(t, v.Close())
				if bytes.Equal(before, image(t, own)) {
					t.Errorf("%s: the image is as it was", what)
				}
			}
		})
	}
}

// counting counts what changes a device.
type counting struct {
	fat32.Device
	writes atomic.Int64
}

func (c *counting) WriteAt(p []byte, off int64) (int, error) {
	c.writes.Add(1)
	return c.Device.WriteAt(p, off)
}

func (c *counting) Discard(off, n int64) error {
	c.writes.Add(1)
	return nil
}
