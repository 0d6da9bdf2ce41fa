//go:build windows || ((darwin || freebsd) && cgo) || (linux && cgofuse)

package vfs

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/winfsp/cgofuse/fuse"
)

// TestWindowsPanic: a panic in a callback is an error of that callback; the volume is read-only then, reads go on, and the
// report holds nothing from inside.
func TestWindowsPanic(t *testing.T) {
	c, v, dev := windowsFS(t)
	var report string
	c.fs.options.OnPanic = func(r []byte) { report = string(r) }
	d := newWinDrive(t, c)
	d.put("/secret-name", "secret-content")
	if errc := c.Utimens3("/secret-name", nil, noFh); errc != -fuse.EIO { // a library that passes nonsense
		t.Fatalf("answered %v", fuse.Error(errc))
	}
	if !strings.Contains(report, "Utimens3") || strings.Contains(report, "secret") {
		t.Errorf("report: %s", report)
	}
	_, errc := d.open("/new", winOpt{how: createNew, write: true})
	d.refused("create", errc, fuse.EROFS)
	if got := d.get("/secret-name"); got != "secret-content" {
		t.Errorf("read %q", got)
	}
	_ = v.Close() // says that not everything could be written
	_ = dev
}

// TestWindowsParallel: callbacks come from many threads; each has a folder of its own and one they share.
func TestWindowsParallel(t *testing.T) {
	d, finish := newTestWinDrive(t, false)
	d.mkdir("/shared")
	c := d.fs
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			path := "/shared/" + string(rune('a'+worker))
			for i := range 200 {
				fi := fuse.FileInfo_t{Flags: fuse.O_CREAT | fuse.O_EXCL | fuse.O_RDWR}
				if errc := c.CreateEx(path, 0, &fi); errc != 0 {
					t.Errorf("create %s: %v", path, fuse.Error(errc))
					return
				}
				data := strings.Repeat(path, i)
				if n := c.Write(path, []byte(data), 0, fi.Fh); n != len(data) {
					t.Errorf("write: %d", n)
				}
				moved := path + ".moved"
				var stat fuse.Stat_t
				errs := []int{c.Rename3(path, moved, 0), c.Chflags(path, fuse.UF_HIDDEN), c.Getattr(path, &stat, fi.Fh),
					c.Unlink(path), c.Flush(path, fi.Fh), c.Release(path, fi.Fh)} // by the stale path
				for at, errc := range errs {
					if errc != 0 {
						t.Errorf("round %d, step %d: %v", i, at, fuse.Error(errc))
					}
				}
				if stat.Size != int64(len(data)) || stat.Flags&fuse.UF_HIDDEN == 0 {
					t.Errorf("stat %+v", stat)
				}
				_, fh := c.Opendir("/SHARED")
				c.Readdir("/SHARED", func(string, *fuse.Stat_t, int64) bool { return true }, 0, fh)
				c.Releasedir("/SHARED", fh)
			}
		})
	}
	wg.Wait()
	finish(map[string]string{"/shared/": ""})
}

// TestWindowsBadHandles: handles nobody gave out are refused.
func TestWindowsBadHandles(t *testing.T) {
	d, finish := newTestWinDrive(t, false)
	c := d.fs
	for _, fh := range []uint64{0, 1, 77, dirHandles, dirHandles + 1, noFh} {
		for what, errc := range map[string]int{"read": c.Read("/", make([]byte, 1), 0, fh), "write": c.Write("/", []byte("x"), 0, fh),
			"release": c.Release("/", fh), "releasedir": c.Releasedir("/", fh)} {
			if errc != -fuse.EBADF {
				t.Errorf("%s of handle %x: %v", what, fh, fuse.Error(errc))
			}
		}
	}
	f := d.mustOpen("/f", winOpt{how: createNew, write: true})
	for what, errc := range map[string]int{"read before the start": c.Read("/f", make([]byte, 1), -1, f.fh),
		"write before the start": c.Write("/f", []byte("x"), -1, f.fh), "negative size": c.Truncate("/f", -1, f.fh)} {
		if errc != -fuse.EINVAL {
			t.Errorf("%s: %v", what, fuse.Error(errc))
		}
	}
	f.close()
	finish(map[string]string{"/f": ""})
}

// TestWindowsLargeFolder: every entry of a folder of thousands is listed once, also when the system stops in between.
func TestWindowsLargeFolder(t *testing.T) {
	d, finish := newTestWinDrive(t, false)
	want := map[string]string{}
	for i := range 2*listEntries + 3 {
		name := fmt.Sprintf("/file with a long name %s %d", strings.Repeat("x", i%7), i)
		d.put(name, "")
		want[name] = ""
	}
	if got := len(d.names("/")); got != len(want) {
		t.Errorf("%d of %d entries listed", got, len(want))
	}
	root := d.mustOpen("/", winOpt{dir: true})
	n := 0
	d.must("readdir", d.fs.Readdir("/", func(string, *fuse.Stat_t, int64) bool { n++; return n < 600 }, 0, root.fh))
	if n != 600 {
		t.Errorf("filled %d entries after the system had enough", n)
	}
	root.close()
	finish(want)
}

// TestWindowsHiddenCounter: which names can be libfuse's.
func TestWindowsHiddenCounter(t *testing.T) {
	for name, want := range map[string]uint32{".fuse_hidden0000000200000001": 1, ".fuse_hiddenffffffff000000ff": 255} {
		if got, ok := hiddenCounter(name); !ok || got != want {
			t.Errorf("%s: %d, %v", name, got, ok)
		}
	}
	for _, name := range []string{"", ".fuse_hidden", ".fuse_hidden000000020000000", ".fuse_hidden00000002000000011", ".fuse_hidden000000020000000G",
		".fuse_hidden000000020000000A", ".fuse_hidden+000000200000001", "x.fuse_hidden0000000200000001"} {
		if got, ok := hiddenCounter(name); ok {
			t.Errorf("%q passes as %d", name, got)
		}
	}
	var h hiddenFiles
	h.last = ^uint32(0) - 1
	for counter, want := range map[uint32]bool{h.last: false, h.last + 1: true, 5: true, hiddenAhead - 2: true, hiddenAhead: false} {
		if h.follows(counter) != want {
			t.Errorf("%x after %x: %v", counter, h.last, !want)
		}
	}
}

// TestWindowsOptionText: nothing a user can choose gets out of its place in a list of mount options.
func TestWindowsOptionText(t *testing.T) {
	for text, want := range map[string]string{"": "coffer", " \t": "_", "My Drive": "My Drive", "a,allow_other": "a_allow_other", `b\,c="d"`: "b__c__d_",
		"\xff\x00": "__", "Größe": "Größe"} {
		if got := cgoOptionText(text, "coffer"); got != want {
			t.Errorf("%q becomes %q, not %q", text, got, want)
		}
	}
}
