package vfs

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"coffer/container/block/blocktest"
	"coffer/fat32"
	"coffer/fat32/fattest"
)

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func wantContent(t *testing.T, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s: %.60q, %v; want %.60q", filepath.Base(path), got, err, want)
	}
}

// TestPointIsMadeAndRemoved: a mount point that did not exist is made for its owner only, and goes with the mount.
func TestPointIsMadeAndRemoved(t *testing.T) {
	v, _ := newVolume(t, 32<<20)
	m := mustMount(t, v, filepath.Join(t.TempDir(), "drive"), Options{})
	if err := m.Unmount(testContext(t), false); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(m.Point()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
	here := t.TempDir()
	m = mustMount(t, v, here, Options{})
	if err := m.Unmount(testContext(t), false); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(here); err != nil {
		t.Errorf("a folder that was there before is gone: %v", err)
	}
	if err := m.Unmount(testContext(t), true); err != nil {
		t.Errorf("unmounting twice: %v", err)
	}
}

func mustMount(t testing.TB, v *fat32.Volume, point string, o Options) *Mount {
	t.Helper()
	m, err := MountVolume(testContext(t), v, point, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Unmount(context.Background(), true) })
	return m
}

func TestBadPoints(t *testing.T) {
	v, _ := newVolume(t, 32<<20)
	dir := t.TempDir()
	full, file, bin := filepath.Join(dir, "full"), filepath.Join(dir, "file"), filepath.Join(dir, "bin")
	for _, d := range []string{full, bin, filepath.Join(dir, "images")} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(t, filepath.Join(full, "x"), "")
	writeFile(t, file, "")
	t.Setenv("PATH", os.Getenv("PATH")+":"+bin)
	link := filepath.Join(dir, "link")
	if err := os.Symlink("/etc", link); err != nil {
		t.Fatal(err)
	}
	taken := mustMount(t, v, filepath.Join(dir, "taken"), Options{})
	for _, point := range []string{"", "/", "/etc", "/usr/bin", "/etc/nothing/there", "/usr/share/coffer-test", "/proc/self", "/tmp", "/home", full, file, bin, link,
		filepath.Join(link, "sub"), filepath.Join(dir, "none", "below"), taken.Point(), "a\x00b"} {
		if _, err := MountVolume(testContext(t), v, point, Options{}); !errors.Is(err, ErrPoint) {
			t.Errorf("mount at %q: %v", point, err)
		}
	}
	if _, err := MountVolume(testContext(t), v, filepath.Join(dir, "images"), Options{Image: filepath.Join(dir, "images", "a.img")}); !errors.Is(err, ErrPoint) {
		t.Errorf("mount over the image: %v", err)
	}
	if home, _ := os.UserHomeDir(); home != "" {
		if _, err := MountVolume(testContext(t), v, home, Options{}); !errors.Is(err, ErrPoint) {
			t.Errorf("mount over the home folder: %v", err)
		}
	}
	if err := os.Remove(full); err == nil {
		t.Error("the full folder was emptied")
	}
}

func TestDefaultPoint(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ name, want string }{{"photos", "photos"}, {"photos", "photos-2"}, {"photos", "photos-3"},
		{"../../etc", "_.._etc"}, {"", "drive"}, {"...", "drive-2"}, {"a/b\x01", "a_b_"}, {strings.Repeat("ü", 50), strings.Repeat("ü", 32)}} {
		at, err := DefaultPoint(dir, c.name)
		if err != nil || at != filepath.Join(dir, c.want) {
			t.Errorf("%q: %q, %v", c.name, at, err)
		}
		if info, err := os.Stat(at); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%q: %v, %v", c.name, info, err)
		}
	}
}

// TestBusy: an open file keeps the drive; force takes it away, with everything written until then on the volume.
func TestBusy(t *testing.T) {
	v, _ := newVolume(t, 32<<20)
	m := mustMount(t, v, filepath.Join(t.TempDir(), "drive"), Options{})
	// It goes to the drive by itself: a new process that does so before it runs its program holds a thread of this one, which
	// serves the drive.
	holder := exec.Command(fattest.Tool(t, "sh", "dash"), "-c", `cd "$0"; exec 3>held; echo ready >&3; echo up; read x; echo more >&3; echo rc=$?`, m.Point())
	in, err := holder.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	err = m.Unmount(testContext(t), false)
	var busy *BusyError
	if !errors.As(err, &busy) || !errors.Is(err, ErrBusy) {
		t.Fatalf("unmount of a drive in use: %v", err)
	}
	found := false
	for _, u := range busy.Users {
		found = found || u.PID == holder.Process.Pid && u.Write && u.Path == filepath.Join(m.Point(), "held")
	}
	if !found {
		t.Errorf("the holder %d is not among %+v", holder.Process.Pid, busy.Users)
	}
	if !m.Writing("/HELD") || m.Writing("/other") {
		t.Error("Writing does not know what is open for writing")
	}
	wantContent(t, filepath.Join(m.Point(), "held"), "ready\n")
	if err := m.Unmount(testContext(t), true); err != nil {
		t.Fatalf("forced: %v", err)
	}
	select {
	case <-m.Done():
	default:
		t.Error("not done")
	}
	if _, err := in.Write([]byte("\n")); err != nil {
		t.Error(err)
	}
	rest := new(bytes.Buffer)
	_, _ = rest.ReadFrom(out)
	_ = holder.Wait()
	if strings.Contains(rest.String(), "rc=0") {
		t.Error("a write after the forced unmount succeeded")
	}
	f, err := v.OpenFile("/held", fat32.ReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got := make([]byte, 100)
	n, _ := f.ReadAt(got, 0)
	if string(got[:n]) != "ready\n" {
		t.Errorf("the volume holds %q", got[:n])
	}
}

// mapMark is what the process of TestForcedWithMap writes into its mapping, at mapMarkAt.
const (
	mapMark   = "mapped and not synced"
	mapMarkAt = 5000
)

// mapAndMark writes into a mapping of a new file and leaves it mapped.
func mapAndMark(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Truncate(8192); err != nil {
		return err
	}
	p, err := unix.Mmap(int(f.Fd()), 0, 8192, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	copy(p[mapMarkAt:], mapMark)
	return nil
}

// TestForcedWithMap: what was written into a mapped file is on the volume after a forced unmount.
func TestForcedWithMap(t *testing.T) {
	v, _ := newVolume(t, 32<<20)
	m := mustMount(t, v, filepath.Join(t.TempDir(), "drive"), Options{})
	startUser(t, "mapmark", filepath.Join(m.Point(), "map"))
	if err := m.Unmount(testContext(t), true); err != nil {
		t.Fatal(err)
	}
	file, err := v.OpenFile("/map", fat32.ReadOnly)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	got := make([]byte, len(mapMark))
	if _, err := file.ReadAt(got, mapMarkAt); err != nil || string(got) != mapMark {
		t.Errorf("%q, %v", got, err)
	}
}

// TestOutsideUnmount: somebody else unmounts.
func TestOutsideUnmount(t *testing.T) {
	v, _ := newVolume(t, 32<<20)
	m := mustMount(t, v, filepath.Join(t.TempDir(), "drive"), Options{})
	writeFile(t, filepath.Join(m.Point(), "x"), "content")
	if out, err := exec.Command(fattest.Tool(t, "umount", "mount"), m.Point()).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	select {
	case <-m.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("nobody noticed")
	}
	if err := m.Unmount(testContext(t), false); err != nil {
		t.Error(err)
	}
	m.Changed(Change{Path: "/x"})
	if err := m.Flush(testContext(t)); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(m.Point()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
}

func TestReadOnlyMount(t *testing.T) {
	v, dev := newVolume(t, 32<<20)
	m := mustMount(t, v, filepath.Join(t.TempDir(), "drive"), Options{})
	writeFile(t, filepath.Join(m.Point(), "x"), "content")
	if err := m.Unmount(testContext(t), false); err != nil {
		t.Fatal(err)
	}
	if err := v.Sync(); err != nil {
		t.Fatal(err)
	}
	before := dev.Clone()
	ro, err := fat32.Mount(before, fat32.MountOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer ro.Close()
	copyOf := before.Clone()
	m = mustMount(t, ro, filepath.Join(t.TempDir(), "drive"), Options{ReadOnly: true})
	p := filepath.Join(m.Point(), "x")
	wantContent(t, p, "content")
	for what, err := range map[string]error{
		"write":  os.WriteFile(p, []byte("y"), 0o600),
		"create": os.WriteFile(p+"2", []byte("y"), 0o600),
		"remove": os.Remove(p),
		"rename": os.Rename(p, p+"2"),
		"mkdir":  os.Mkdir(p+"d", 0o700),
		"times":  os.Chtimes(p, time.Now(), time.Now()),
		"chmod":  os.Chmod(p, 0o444),
	} {
		if !errors.Is(err, syscall.EROFS) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := m.Unmount(testContext(t), false); err != nil {
		t.Fatal(err)
	}
	if err := blocktest.Diff(before, copyOf); err != nil {
		t.Errorf("a read-only mount wrote: %v", err)
	}
}

// TestChanged: changes beside the mount are seen through it at once, whatever the kernel has cached.
func TestChanged(t *testing.T) {
	v, _ := newVolume(t, 32<<20)
	m := mustMount(t, v, filepath.Join(t.TempDir(), "drive"), Options{})
	at := func(name string) string { return filepath.Join(m.Point(), name) }
	writeFile(t, at("file"), "old content")
	if err := os.MkdirAll(at("dir/sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, at("dir/sub/deep"), "d")
	look := func() { // fills the kernel's caches
		_, _ = os.ReadFile(at("file"))
		_, _ = os.Stat(at("none"))
		_ = filepath.WalkDir(m.Point(), func(string, os.DirEntry, error) error { return nil })
	}
	put := func(path, content string) {
		t.Helper()
		f, err := v.OpenFile(path, fat32.ReadWrite|fat32.Create|fat32.Truncate)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteAt([]byte(content), 0); err != nil {
			t.Fatal(err)
		}
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	look()
	put("/file", "NEW and longer content")
	m.Changed(Change{Path: "/file", Kind: Written})
	wantContent(t, at("file"), "NEW and longer content")
	look()
	put("/file", "short")
	m.Changed(Change{Path: "/file", Kind: Written})
	wantContent(t, at("file"), "short")
	look()
	put("/none", "now it is")
	m.Changed(Change{Path: "/none", Kind: Created})
	wantContent(t, at("none"), "now it is")
	look()
	check(v.Rename("/none", "/dir/moved", false))
	m.Changed(Change{Path: "/none", Kind: Removed})
	m.Changed(Change{Path: "/dir/moved", Kind: Created})
	if _, err := os.Stat(at("none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old name is still seen: %v", err)
	}
	wantContent(t, at("dir/moved"), "now it is")
	look()
	check(v.Rename("/dir/moved", "/file", true)) // replaces what the kernel knows
	m.Changed(Change{Path: "/dir/moved", Kind: Removed})
	m.Changed(Change{Path: "/file", Kind: Created})
	wantContent(t, at("file"), "now it is")
	look()
	check(v.Remove("/dir/sub/deep"))
	m.Changed(Change{Path: "/dir/sub/deep", Kind: Removed})
	check(v.Remove("/dir/sub"))
	m.Changed(Change{Path: "/dir/sub", Kind: Removed})
	if list, err := os.ReadDir(at("dir")); err != nil || len(list) != 0 {
		t.Errorf("lists %v, %v", list, err)
	}
	check(v.Rename("/dir", "/DIR", false))
	m.Changed(Change{Path: "/dir", Kind: Removed})
	m.Changed(Change{Path: "/DIR", Kind: Created})
	if _, err := os.Stat(at("dir")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old spelling is still seen: %v", err)
	}
	if _, err := os.Stat(at("DIR")); err != nil {
		t.Error(err)
	}
}

// TestPanic: a panic in a callback costs that call only; the volume is read-only, reads go on, the report is clean.
func TestPanic(t *testing.T) {
	dev := blocktest.NewMem(32 << 20)
	bad := &panicking{Mem: dev}
	v := openVolume(t, bad, 32<<20)
	var mu sync.Mutex
	var reports []string
	m := mustMount(t, v, filepath.Join(t.TempDir(), "drive"), Options{OnPanic: func(r []byte) {
		mu.Lock()
		defer mu.Unlock()
		reports = append(reports, string(r))
	}})
	p := filepath.Join(m.Point(), "name that is secret")
	writeFile(t, p, "content")
	f, err := os.OpenFile(p, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	bad.armed.Store(true)
	if _, err := f.WriteAt([]byte("x"), 0); !errors.Is(err, syscall.EIO) {
		t.Errorf("the write in which it happens: %v", err)
	}
	bad.armed.Store(false)
	if _, err := f.WriteAt([]byte("x"), 0); !errors.Is(err, syscall.EROFS) {
		t.Errorf("the next write: %v", err)
	}
	if err := f.Sync(); !errors.Is(err, syscall.EIO) {
		t.Errorf("sync: %v", err)
	}
	if err := os.Mkdir(p+"d", 0o700); !errors.Is(err, syscall.EROFS) {
		t.Errorf("mkdir: %v", err)
	}
	f.Close()
	wantContent(t, p, "content")
	if v.Err() == nil {
		t.Error("the volume does not know")
	}
	mu.Lock()
	if len(reports) != 1 || strings.Contains(reports[0], "secret") || !strings.Contains(reports[0], "writeAt") {
		t.Errorf("reports: %q", reports)
	}
	mu.Unlock()
	if err := m.Unmount(testContext(t), false); err == nil {
		t.Error("unmount of a volume that lost something says nothing")
	}
	_ = m.Unmount(testContext(t), true)
	if err := v.Close(); err == nil {
		t.Error("close of a volume that lost something says nothing")
	}
}

// TestStale: a process that served a mount is gone.
func TestStale(t *testing.T) {
	v, _ := newVolume(t, 32<<20)
	m := mustMount(t, v, filepath.Join(t.TempDir(), "drive"), Options{})
	if err := CleanStale(m.Point()); err != nil {
		t.Errorf("a mount that lives: %v", err)
	}
	writeFile(t, filepath.Join(m.Point(), "x"), "alive")
	wantContent(t, filepath.Join(m.Point(), "x"), "alive")
	if err := CleanStale(t.TempDir()); err != nil {
		t.Errorf("no mount: %v", err)
	}
	if err := CleanStale(filepath.Join(t.TempDir(), "none")); err != nil {
		t.Errorf("no folder: %v", err)
	}
	// The kernel's end of a connection is what a killed process leaves.
	point := t.TempDir()
	fd, err := syscall.Open("/dev/fuse", syscall.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	opts := "fd=" + itoa(fd) + ",rootmode=40000,user_id=0,group_id=0"
	if err := syscall.Mount("dead", point, "fuse.dead", 0, opts); err != nil {
		syscall.Close(fd)
		t.Fatalf("this test needs root: %v", err)
	}
	syscall.Close(fd)
	if _, err := MountVolume(testContext(t), v, point, Options{}); !errors.Is(err, ErrPoint) {
		t.Errorf("mount over a dead one: %v", err)
	}
	if err := CleanStale(point); err != nil {
		t.Error(err)
	}
	if list, err := os.ReadDir(point); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
}
