package vfs

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"coffer/fat32"
)

// litterDrive is a core with litter in memory, used by paths.
type litterDrive struct {
	t  *testing.T
	fs *FS
	v  *fat32.Volume
}

func newLitterDrive(t *testing.T) *litterDrive {
	t.Helper()
	v, _ := newVolume(t, 64<<20)
	return &litterDrive{t, newFS(v, Options{Litter: true}, true), v}
}

func (d *litterDrive) parent(path string) (Node, string) {
	d.t.Helper()
	dir, name, err := d.fs.FindParent(path)
	if err != nil {
		d.t.Fatalf("%s: %v", path, err)
	}
	return dir, name
}

func (d *litterDrive) open(path string, flag fat32.OpenFlag) (*Handle, error) {
	d.t.Helper()
	dir, name := d.parent(path)
	defer dir.Release()
	return d.fs.Create(dir, name, flag, 1)
}

func (d *litterDrive) put(path, text string) {
	d.t.Helper()
	h, err := d.open(path, fat32.ReadWrite|fat32.Truncate)
	if err != nil {
		d.t.Fatalf("%s: %v", path, err)
	}
	if n, err := d.fs.Write(h, []byte(text), 0); n != len(text) || err != nil {
		d.t.Fatalf("write %s: %d %v", path, n, err)
	}
	if err := d.fs.Close(h.ID()); err != nil {
		d.t.Fatal(err)
	}
}

func (d *litterDrive) text(h *Handle) string {
	d.t.Helper()
	p := make([]byte, 1<<20)
	n, err := d.fs.Read(h, p, 0)
	if err != nil {
		d.t.Fatalf("read: %v", err)
	}
	return string(p[:n])
}

func (d *litterDrive) get(path string) string {
	d.t.Helper()
	n, err := d.fs.Find(path)
	if err != nil {
		return "?" + err.Error()
	}
	defer n.Release()
	h, err := d.fs.Open(n, fat32.ReadOnly, 1)
	if err != nil {
		d.t.Fatalf("open %s: %v", path, err)
	}
	defer d.fs.Close(h.ID())
	return d.text(h)
}

func (d *litterDrive) mkdir(path string) error {
	d.t.Helper()
	dir, name := d.parent(path)
	defer dir.Release()
	n, err := d.fs.Mkdir(dir, name)
	if err == nil {
		n.Release()
	}
	return err
}

func (d *litterDrive) remove(path string) error {
	d.t.Helper()
	dir, name := d.parent(path)
	defer dir.Release()
	n, _, err := d.fs.Lookup(dir, name)
	if err != nil {
		return err
	}
	isDir := n.IsDir()
	n.Release()
	if isDir {
		return d.fs.Rmdir(dir, name)
	}
	return d.fs.Unlink(dir, name)
}

func (d *litterDrive) rename(from, to string, replace bool) error {
	d.t.Helper()
	a, x := d.parent(from)
	defer a.Release()
	b, y := d.parent(to)
	defer b.Release()
	_, err := d.fs.Rename(a, x, b, y, replace)
	return err
}

// names lists a folder in small steps.
func (d *litterDrive) names(path string) []string {
	d.t.Helper()
	n, err := d.fs.Find(path)
	if err != nil {
		d.t.Fatal(err)
	}
	defer n.Release()
	var names []string
	for from := 0; ; {
		list, err := d.fs.List(nil, n, from, 3, true)
		if err != nil {
			d.t.Fatal(err)
		}
		for _, e := range list {
			names = append(names, e.Info.Name)
			if e.Info.ID != e.Node.ID() {
				d.t.Errorf("%s: identity %d of the entry, %d of the node", e.Info.Name, e.Info.ID, e.Node.ID())
			}
			e.Node.Release()
			from = e.Next
		}
		if len(list) < 3 {
			slices.Sort(names)
			return names
		}
	}
}

// inside lists a folder of the container itself.
func (d *litterDrive) inside(path string) []string {
	d.t.Helper()
	list, err := d.v.ReadDir(path)
	if err != nil {
		d.t.Fatal(err)
	}
	names := []string{}
	for _, i := range list {
		names = append(names, i.Name)
	}
	slices.Sort(names)
	return names
}

func (d *litterDrive) same(what string, got, want []string) {
	d.t.Helper()
	if !slices.Equal(got, want) {
		d.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func (d *litterDrive) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *litterDrive) want(err, want error) {
	d.t.Helper()
	if !errors.Is(err, want) {
		d.t.Errorf("%v, want %v", err, want)
	}
}

func TestLitterNames(t *testing.T) {
	everywhere := []string{"Thumbs.db", "THUMBS.DB", "ehthumbs.db", ".DS_Store", ".ds_store", "._a", "._a.txt", "._.DS_Store"}
	inRoot := []string{"System Volume Information", "$RECYCLE.BIN", "$Recycle.Bin", ".Trash-1000", ".Trashes", ".fseventsd", ".Spotlight-V100"}
	never := []string{"", "a", "._", ".Trash", ".Trash-", "desktop.ini", "Thumbs.db.bak", "_a", ".a", ".DS_Store2", "thumbs", ".git", "Trashes"}
	for _, name := range everywhere {
		if !isLitter(name, false) || !isLitter(name, true) {
			t.Errorf("%q is not litter", name)
		}
	}
	for _, name := range inRoot {
		if isLitter(name, false) || !isLitter(name, true) {
			t.Errorf("%q is not litter in the root only", name)
		}
	}
	for _, name := range never {
		if name != ".Trash-" && isLitter(name, true) || isLitter(name, false) {
			t.Errorf("%q is litter", name)
		}
	}
}

// TestLitterStaysInMemory: files and folders of litter work, and the container never sees them.
func TestLitterStaysInMemory(t *testing.T) {
	d := newLitterDrive(t)
	d.must(d.mkdir("/docs"))
	d.put("/docs/letter.txt", "Dear")
	d.put("/.DS_Store", "icons")
	d.put("/docs/._letter.txt", "fork")
	d.must(d.mkdir("/.Trash-1000"))
	d.must(d.mkdir("/.Trash-1000/files"))
	d.put("/.Trash-1000/files/Any name.txt", "thrown away")
	for path, want := range map[string]string{"/.DS_Store": "icons", "/docs/._letter.txt": "fork", "/.Trash-1000/files/Any name.txt": "thrown away", "/docs/letter.txt": "Dear"} {
		if got := d.get(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	d.same("root", d.names("/"), []string{".DS_Store", ".Trash-1000", "docs"})
	d.same("docs", d.names("/docs"), []string{"._letter.txt", "letter.txt"})
	d.same("container", d.inside("/"), []string{"docs"})
	d.same("container", d.inside("/docs"), []string{"letter.txt"})
	d.want(d.mkdir("/.Trash-1000"), fat32.ErrExist)
	d.want(d.remove("/.Trash-1000"), fat32.ErrNotEmpty)
	d.want(d.remove("/docs"), fat32.ErrNotEmpty)
	if _, err := d.open("/.ds_store", fat32.ReadWrite|fat32.Exclusive); !errors.Is(err, fat32.ErrExist) {
		t.Errorf("another spelling: %v", err)
	}
	if _, err := d.fs.Find("/.ds_store"); !errors.Is(err, fat32.ErrNotExist) {
		t.Errorf("another spelling is found: %v", err)
	}
	d.must(d.remove("/.DS_Store"))
	d.same("root", d.names("/"), []string{".Trash-1000", "docs"})
	d.must(d.remove("/.Trash-1000/files/Any name.txt"))
	d.must(d.remove("/.Trash-1000/files"))
	d.must(d.remove("/.Trash-1000"))
	d.must(d.remove("/docs/._letter.txt"))
	if used := d.fs.litter.used; used != 0 {
		t.Errorf("%d bytes in use although all litter is gone", used)
	}
	if d.fs.litter.any.Load() || d.fs.litter.anyMoved.Load() {
		t.Error("marked as in use although all litter is gone")
	}
}

// TestLitterOfTheContainer: what is in the container under such a name is the user's and stays there.
func TestLitterOfTheContainer(t *testing.T) {
	d := newLitterDrive(t)
	f, err := d.v.OpenFile("/.DS_Store", fat32.ReadWrite|fat32.Create)
	d.must(err)
	_, err = f.WriteAt([]byte("old"), 0)
	d.must(errors.Join(err, f.Close()))
	d.must(d.v.Mkdir("/.Trashes"))
	if got := d.get("/.DS_Store"); got != "old" {
		t.Errorf("%q", got)
	}
	d.put("/.DS_Store", "new")
	d.put("/.Trashes/x", "kept")
	d.same("container", d.inside("/"), []string{".DS_Store", ".Trashes"})
	d.same("container", d.inside("/.Trashes"), []string{"x"})
	d.must(d.rename("/.DS_Store", "/plain", true))
	d.must(d.remove("/plain"))
	d.put("/.DS_Store", "fresh")
	d.same("container", d.inside("/"), []string{".Trashes"})
}

// TestLitterRename: between memory and container nothing is lost.
func TestLitterRename(t *testing.T) {
	d := newLitterDrive(t)
	d.put("/._temp", "content")
	stamp := time.Date(2001, 2, 3, 4, 5, 6, 0, time.Local)
	n, err := d.fs.Find("/._temp")
	d.must(err)
	d.must(d.fs.SetTimes(n, fat32.Times{Modify: stamp}))
	d.must(d.fs.SetAttr(n, fat32.AttrHidden, fat32.AttrHidden))
	h, err := d.fs.Open(n, fat32.ReadWrite, 1)
	d.must(err)
	id := n.ID()

	d.must(d.rename("/._temp", "/letter.txt", false))
	d.same("container", d.inside("/"), []string{"letter.txt"})
	if i, err := d.v.Stat("/letter.txt"); err != nil || !i.ModTime.Equal(stamp) || i.Attr&fat32.AttrHidden == 0 || i.Size != 7 {
		t.Errorf("copied: %+v %v", i, err)
	}
	// The open handle, the node and the new name are one file.
	if _, err := d.fs.Write(h, []byte(" more"), 7); err != nil {
		t.Fatal(err)
	}
	if got := d.get("/letter.txt"); got != "content more" || d.text(h) != got || n.Path() != "/letter.txt" || n.Name() != "letter.txt" {
		t.Errorf("file %q, handle %q, path %s", got, d.text(h), n.Path())
	}
	again, err := d.fs.Find("/letter.txt")
	d.must(err)
	list, err := d.fs.List(nil, d.fs.Root(), 0, 10, false)
	d.must(err)
	if again.ID() != id || len(list) != 1 || list[0].Info.ID != id {
		t.Errorf("identity %d, found as %d, listed as %d", id, again.ID(), list[0].Info.ID)
	}
	d.must(d.fs.Truncate(n, nil, 4))
	if i, err := d.fs.Stat(again); err != nil || i.Size != 4 || i.ID != id {
		t.Errorf("%+v %v", i, err)
	}
	again.Release()

	// Back: refused, for the container's files are not made to vanish.
	d.want(d.rename("/letter.txt", "/._temp", true), errCrossDevice)
	d.must(d.fs.Close(h.ID()))
	n.Release()
	if d.fs.litter.anyMoved.Load() || d.fs.litter.used != 0 {
		t.Errorf("something is left in memory: %d bytes", d.fs.litter.used)
	}
	d.want(d.rename("/letter.txt", "/._temp", true), errCrossDevice)
	d.want(d.rename("/nothing", "/._temp", true), fat32.ErrNotExist)
	if got := d.get("/letter.txt"); got != "cont" {
		t.Errorf("%q", got)
	}
	d.must(d.rename("/letter.txt", "/Letter.TXT", true))

	d.put("/._other", "replacement")
	d.want(d.rename("/._other", "/Letter.TXT", false), fat32.ErrExist)
	d.must(d.rename("/._other", "/Letter.TXT", true))
	if got := d.get("/Letter.TXT"); got != "replacement" {
		t.Errorf("%q", got)
	}
	d.same("container", d.inside("/"), []string{"Letter.TXT"})

	d.must(d.mkdir("/.Trashes"))
	d.must(d.mkdir("/folder"))
	d.want(d.rename("/.Trashes", "/bag", false), errCrossDevice)
	d.want(d.rename("/folder", "/.Trashes/folder", false), errCrossDevice)
	d.want(d.rename("/Letter.TXT", "/.Trashes/Letter.TXT", false), errCrossDevice)
	d.put("/._x", "x")
	d.want(d.rename("/._x", "/folder", true), fat32.ErrIsDir)
	d.must(d.rename("/._x", "/.Trashes/y", true))
	d.must(d.rename("/.Trashes/y", "/folder/z", true))
	d.same("container", d.inside("/folder"), []string{"z"})
	d.same("container", d.inside("/"), []string{"Letter.TXT", "folder"})
}

// TestLitterRenameInMemory: POSIX rules among litter.
func TestLitterRenameInMemory(t *testing.T) {
	d := newLitterDrive(t)
	d.must(d.mkdir("/.Trashes"))
	d.must(d.mkdir("/.Trashes/a"))
	d.must(d.mkdir("/.Trashes/a/b"))
	d.must(d.mkdir("/.Trashes/c"))
	d.put("/.Trashes/f", "f")
	d.want(d.rename("/.Trashes/a", "/.Trashes/a/b/a", true), fat32.ErrInvalid)
	d.want(d.rename("/.Trashes/f", "/.Trashes/c", true), fat32.ErrIsDir)
	d.want(d.rename("/.Trashes/c", "/.Trashes/f", true), fat32.ErrNotDir)
	d.want(d.rename("/.Trashes/c", "/.Trashes/a", true), fat32.ErrNotEmpty)
	d.want(d.rename("/.Trashes/f", "/.Trashes/a/b", false), fat32.ErrExist)
	d.want(d.rename("/.Trashes/f", "/.Trashes/a:b", true), fat32.ErrName)
	d.must(d.rename("/.Trashes/c", "/.Trashes/a/b", true))
	d.must(d.rename("/.Trashes/f", "/.Trashes/F", true))
	d.same("folder", d.names("/.Trashes"), []string{"F", "a"})
	d.must(d.rename("/.Trashes", "/.Trash-7", true))
	if got := d.get("/.Trash-7/F"); got != "f" {
		t.Errorf("%q", got)
	}
	d.same("container", d.inside("/"), []string{})
}

// TestLitterFolders: litter moves along with its folder, and a folder that holds only litter is empty.
func TestLitterFolders(t *testing.T) {
	d := newLitterDrive(t)
	d.must(d.mkdir("/a"))
	d.put("/a/.DS_Store", "icons")
	d.must(d.rename("/a", "/b", false))
	if got := d.get("/b/.DS_Store"); got != "icons" {
		t.Errorf("after the rename: %q", got)
	}
	n, err := d.fs.Find("/b/.DS_Store")
	d.must(err)
	h, err := d.fs.Open(n, fat32.ReadWrite, 1)
	d.must(err)
	d.must(d.remove("/b"))
	d.same("root", d.names("/"), nil)
	// An open file goes on after its folder went.
	if _, err := d.fs.Write(h, []byte("!"), 5); err != nil || d.text(h) != "icons!" {
		t.Errorf("%q %v", d.text(h), err)
	}
	if i, err := d.fs.Stat(n); err != nil || !i.Removed || n.Path() != "" {
		t.Errorf("%+v %v %q", i, err, n.Path())
	}
	d.must(d.fs.Close(h.ID()))
	n.Release()
	if d.fs.litter.used != 0 {
		t.Errorf("%d bytes are left", d.fs.litter.used)
	}
	// Nothing comes back in a new folder of that name, or in one that replaces it.
	d.must(d.mkdir("/b"))
	d.same("new folder", d.names("/b"), nil)
	d.put("/b/Thumbs.db", "x")
	d.must(d.mkdir("/c"))
	d.must(d.rename("/c", "/b", true))
	d.same("replaced folder", d.names("/b"), nil)
	if d.fs.litter.used != 0 {
		t.Errorf("%d bytes are left", d.fs.litter.used)
	}
}

// TestLitterIsBounded: what does not fit goes into the container, or is refused where it cannot.
func TestLitterIsBounded(t *testing.T) {
	d := newLitterDrive(t)
	d.fs.litter.limit = 100 << 10
	big := strings.Repeat("0123456789abcdef", 4096) // 64 KiB
	d.put("/._big", big)
	d.same("container", d.inside("/"), []string{})
	h, err := d.open("/._big", fat32.ReadWrite)
	d.must(err)
	if n, err := d.fs.Write(h, []byte(big), 60<<10); n != len(big) || err != nil {
		t.Fatal(n, err)
	}
	d.same("container", d.inside("/"), []string{"._big"})
	if got, want := d.text(h), big[:60<<10]+big; got != want || d.get("/._big") != want {
		t.Error("content differs after it moved")
	}
	d.must(d.fs.Close(h.ID()))
	d.put("/._hole", "x")
	h, err = d.open("/._hole", fat32.ReadWrite)
	d.must(err)
	d.must(d.fs.Truncate(h.Node(), h, 1<<20))
	if got := d.text(h); len(got) != 1<<20 || strings.Trim(got[1:], "\x00") != "" {
		t.Errorf("%d bytes", len(got))
	}
	d.must(d.fs.Close(h.ID()))

	d.must(d.mkdir("/.Trashes"))
	h, err = d.open("/.Trashes/big", fat32.ReadWrite)
	d.must(err)
	if _, err := d.fs.Write(h, make([]byte, 200<<10), 0); !errors.Is(err, fat32.ErrNoSpace) {
		t.Errorf("a file in a folder of litter: %v", err)
	}
	d.must(d.fs.Close(h.ID()))
	for i := range 1000 {
		if err = d.mkdir(fmt.Sprintf("/.Trashes/%d", i)); err != nil {
			break
		}
	}
	d.want(err, fat32.ErrNoSpace)
	d.put("/.DS_Store", "beyond the limit")
	d.same("container", d.inside("/"), []string{".DS_Store", "._big", "._hole"})
	if _, err := d.fs.Write(h, nil, 0); err == nil && d.fs.litter.used > d.fs.litter.limit {
		t.Errorf("%d bytes in use, limit %d", d.fs.litter.used, d.fs.litter.limit)
	}
}

// TestLitterFile: a file in memory behaves as one on FAT does.
func TestLitterFile(t *testing.T) {
	d := newLitterDrive(t)
	h, err := d.open("/._f", fat32.ReadWrite)
	d.must(err)
	other, err := d.v.OpenFile("/f", fat32.ReadWrite|fat32.Create)
	d.must(err)
	both := func(p []byte, off int64) {
		t.Helper()
		n, err := d.fs.Write(h, p, off)
		m, fatErr := other.WriteAt(p, off)
		if n != m || (err == nil) != (fatErr == nil) || errnoOf(err) != errnoOf(fatErr) {
			t.Errorf("write of %d at %d: %d %v, FAT %d %v", len(p), off, n, err, m, fatErr)
		}
	}
	both([]byte("hello"), 0)
	both([]byte("gap"), 5000)
	both([]byte("x"), -1)
	both([]byte("x"), fat32.MaxFileSize)
	both(nil, 10)
	for _, size := range []int64{100, 3, 70000, 0, 9, -1, fat32.MaxFileSize + 1} {
		err, fatErr := d.fs.Truncate(h.Node(), h, size), other.Truncate(size)
		if errnoOf(err) != errnoOf(fatErr) {
			t.Errorf("truncate to %d: %v, FAT %v", size, err, fatErr)
		}
		both([]byte("ab"), 2)
		got, want := make([]byte, 80000), make([]byte, 80000)
		n, err := d.fs.Read(h, got, 1)
		m, _ := other.ReadAt(want, 1)
		if err != nil || !bytes.Equal(got[:n], want[:m]) {
			t.Errorf("after %d: %d bytes, FAT %d; %v", size, n, m, err)
		}
	}
	d.must(other.Close())
	n := h.Node()
	d.must(d.fs.SetAttr(n, fat32.AttrReadOnly, fat32.AttrReadOnly))
	if _, err := d.fs.Open(n, fat32.WriteOnly, 1); errnoOf(err) != errnoAccess {
		t.Errorf("open for writing of a read-only file: %v", err)
	}
	if err := d.fs.Truncate(n, nil, 0); errnoOf(err) != errnoAccess {
		t.Errorf("truncate of a read-only file: %v", err)
	}
	d.must(d.remove("/._f"))
	if _, err := d.fs.Write(h, []byte("still"), 0); err != nil {
		t.Error(err)
	}
	d.must(d.fs.Close(h.ID()))
	if d.fs.litter.used != 0 {
		t.Errorf("%d bytes are left", d.fs.litter.used)
	}
}

// TestLitterOff: without the option such names are names.
func TestLitterOff(t *testing.T) {
	v, _ := newVolume(t, 64<<20)
	for _, o := range []Options{{}, {Litter: true, ReadOnly: true}} {
		if fs := newFS(v, o, true); fs.litter != nil {
			t.Errorf("%+v has litter", o)
		}
	}
	d := &litterDrive{t, newFS(v, Options{}, true), v}
	d.put("/.DS_Store", "kept")
	d.same("container", d.inside("/"), []string{".DS_Store"})
}

// TestLitterOnAFullVolume: litter that cannot move into the container stays where it is, and leaves nothing there.
func TestLitterOnAFullVolume(t *testing.T) {
	d := newLitterDrive(t)
	content := strings.Repeat("x", 300<<10)
	d.put("/._a", content)
	f, err := d.v.OpenFile("/filler", fat32.ReadWrite|fat32.Create)
	d.must(err)
	d.must(f.Truncate(d.v.StatFS().FreeBytes - 100<<10))
	d.want(d.rename("/._a", "/a", false), fat32.ErrNoSpace)
	d.same("container", d.inside("/"), []string{"filler"})
	if got := d.get("/._a"); got != content {
		t.Errorf("%d bytes are left of it", len(got))
	}
	d.must(f.Truncate(0))
	d.must(f.Close())
	d.must(d.rename("/._a", "/a", false))
	if got := d.get("/a"); got != content {
		t.Errorf("%d bytes arrived", len(got))
	}
}

// TestLitterStress: many at once, in memory, in the container and across, with little memory; in the end everything is
// accounted for.
func TestLitterStress(t *testing.T) {
	d := newLitterDrive(t)
	d.fs.litter.limit = 64 << 10
	d.must(d.mkdir("/dir"))
	names := []string{"/._a", "/._b", "/.DS_Store", "/plain", "/dir/._c", "/dir/Thumbs.db", "/.Trashes", "/.Trashes/x", "/.Trash-1", "/dir2", "/dir2/._d"}
	var workers sync.WaitGroup
	for w := range 8 {
		workers.Go(func() {
			r := rand.New(rand.NewPCG(uint64(w), 7))
			buf := make([]byte, 20<<10)
			for range 600 {
				stressLitter(d.fs, r, names, buf)
			}
		})
	}
	workers.Wait()
	root := d.fs.Root()
	d.empty(root)
	root.Release()
	if l := d.fs.litter; l.used != 0 || len(l.folders) != 0 || len(l.moved) != 0 || l.any.Load() || l.anyMoved.Load() {
		t.Errorf("left: %d bytes, %d folders, %d moved", l.used, len(l.folders), len(l.moved))
	}
	if open := d.fs.counters.snapshot(); open.OpenFiles != 0 || open.OpenWriters != 0 {
		t.Errorf("left open: %+v", open)
	}
}

// empty removes everything in a folder.
func (d *litterDrive) empty(dir Node) {
	d.t.Helper()
	list, err := d.fs.List(nil, dir, 0, 1000, true)
	d.must(err)
	for _, e := range list {
		if e.Node.IsDir() {
			d.empty(e.Node)
			d.must(d.fs.Rmdir(dir, e.Info.Name))
		} else {
			d.must(d.fs.Unlink(dir, e.Info.Name))
		}
		e.Node.Release()
	}
}

// stressLitter does one thing of many; most may fail.
func stressLitter(fs *FS, r *rand.Rand, names []string, buf []byte) {
	name := names[r.IntN(len(names))]
	dir, last, err := fs.FindParent(name)
	if err != nil {
		return
	}
	defer dir.Release()
	switch r.IntN(6) {
	case 0, 1:
		h, err := fs.Create(dir, last, fat32.ReadWrite, 1)
		if err != nil {
			return
		}
		for range 3 {
			_, _ = fs.Write(h, buf[:r.IntN(len(buf))], int64(r.IntN(30<<10)))
			_, _ = fs.Read(h, buf, int64(r.IntN(30<<10)))
			_ = fs.Truncate(h.Node(), h, int64(r.IntN(30<<10)))
		}
		_, _ = fs.Stat(h.Node())
		_ = h.Node().Path()
		_ = fs.Close(h.ID())
	case 2:
		if n, err := fs.Mkdir(dir, last); err == nil {
			n.Release()
		}
	case 3:
		removeQuietly(fs, name)
	case 4:
		to, newLast, err := fs.FindParent(names[r.IntN(len(names))])
		if err != nil {
			return
		}
		defer to.Release()
		_, _ = fs.Rename(dir, last, to, newLast, r.IntN(2) == 0)
	case 5:
		list, _ := fs.List(nil, dir, 0, 100, true)
		for _, e := range list {
			e.Node.Release()
		}
	}
}

func removeQuietly(fs *FS, name string) {
	dir, last, err := fs.FindParent(name)
	if err != nil {
		return
	}
	defer dir.Release()
	if fs.Unlink(dir, last) != nil {
		_ = fs.Rmdir(dir, last)
	}
}
