//go:build cgofuse

package vfs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"coffer/fat32"
)

// TestLibfuse makes sure that what passed here went through the library this build is about.
func TestLibfuse(t *testing.T) {
	v, _ := newVolume(t, 64<<20)
	m := mountTest(t, v, Options{Name: `Ein, "Name" = x\`})
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	library := map[string]string{"libfuse2": "/libfuse.so.2", "libfuse3-3": "/libfuse3.so.3"}[libfusePackage]
	if !bytes.Contains(maps, []byte(library)) {
		t.Errorf("%s is not in use", library)
	}
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) {
		if f := strings.Fields(line); f[1] == m.Point() {
			if f[2] != "fuse.coffer" || !strings.Contains(f[3], "nosuid") || !strings.Contains(f[3], "nodev") || strings.Contains(f[3], "allow_other") {
				t.Errorf("mounted as %s", line)
			}
			return
		}
	}
	t.Errorf("%s is not in the list of mounts", m.Point())
}

// TestLibfuseLeavesSignals: SIGTERM and SIGINT are for the program. cgofuse would unmount.
func TestLibfuseLeavesSignals(t *testing.T) {
	v, _ := newVolume(t, 64<<20)
	m := mountTest(t, v, Options{})
	mine := make(chan os.Signal, 2)
	signal.Notify(mine, syscall.SIGTERM, syscall.SIGINT)
	defer signal.Stop(mine)
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		if err := syscall.Kill(os.Getpid(), s); err != nil {
			t.Fatal(err)
		}
		if got := <-mine; got != s {
			t.Errorf("got %v, not %v", got, s)
		}
	}
	select {
	case <-m.Done():
		t.Error("the drive is gone")
	case <-time.After(300 * time.Millisecond):
	}
	if err := os.WriteFile(filepath.Join(m.Point(), "still here"), nil, 0o600); err != nil {
		t.Error(err)
	}
}

// hiddenNames lists what is called .fuse_hidden in the container, as it is on the disk too after a sync.
func hiddenNames(t *testing.T, v *fat32.Volume, dir string) (names []string) {
	t.Helper()
	list, err := v.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range list {
		if strings.HasPrefix(i.Name, hiddenPrefix) {
			names = append(names, i.Name)
		}
	}
	return names
}

// TestHiddenFiles: open files that are removed or replaced leave no .fuse_hidden in the container, not even while they are
// open, and go on under their handles with everything programs do with them.
func TestHiddenFiles(t *testing.T) {
	v, _ := newVolume(t, 64<<20)
	m := mountTest(t, v, Options{})
	sub := filepath.Join(m.Point(), "sub")
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	for round := range 20 {
		path := filepath.Join(sub, "f")
		f := create(t, path, "old")
		var err error
		if round%2 == 0 {
			err = os.Remove(path)
		} else {
			create(t, path+".new", "new").Close()
			err = os.Rename(path+".new", path)
		}
		if err != nil {
			t.Fatal(err)
		}
		if names := hiddenNames(t, v, "/sub"); len(names) > 0 {
			t.Fatalf("the container holds %q", names)
		}
		for _, to := range []string{"moved", "sub"} { // its folder may get another name, more than once
			useRemoved(t, f)
			if err := os.Rename(sub, filepath.Join(m.Point(), to)); err != nil {
				t.Fatal(err)
			}
			sub = filepath.Join(m.Point(), to)
			path = filepath.Join(sub, "f")
		}
		useRemoved(t, f)
		want := 0
		if round%2 == 1 {
			want = 1
		}
		if list, err := os.ReadDir(sub); err != nil || len(list) != want {
			t.Fatalf("the folder lists %v (%v)", list, err)
		}
		_ = os.Remove(path)
		if round == 19 {
			if err := os.Remove(sub); err != nil { // with a removed file of it still open
				t.Error(err)
			}
		}
		f.Close()
	}
	if err := v.Sync(); err != nil {
		t.Fatal(err)
	}
}

// create makes a file that is open until the test has ended at the latest: a program that serves a drive and ends
// with files of it open waits for itself.
func create(t *testing.T, path, content string) *os.File {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	if _, err := f.WriteString(content); err != nil {
		t.Fatal(err)
	}
	return f
}

// useRemoved does with a removed open file what programs do.
func useRemoved(t *testing.T, f *os.File) {
	t.Helper()
	if _, err := f.WriteAt([]byte("OLDER"), 0); err != nil {
		t.Fatal(err)
	}
	info, err := f.Stat()
	if err != nil || info.Size() != 5 {
		t.Fatalf("stat: %v, %v", info, err)
	}
	if err := f.Truncate(3); err != nil {
		t.Fatal(err)
	}
	when := time.Unix(1.6e9, 0)
	tv := [2]syscall.Timeval{{Sec: when.Unix()}, {Sec: when.Unix()}}
	if err := syscall.Futimes(int(f.Fd()), tv[:]); err != nil {
		t.Fatalf("futimes: %v", err)
	}
	if err := f.Chmod(0o600); err != nil {
		t.Fatal(err)
	}
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(io.NewSectionReader(f, 0, 100))
	if err != nil || string(content) != "OLD" {
		t.Fatalf("read %q, %v", content, err)
	}
}

// TestHiddenNamesOfPrograms: a program may call a file of its own so, and keeps it.
func TestHiddenNamesOfPrograms(t *testing.T) {
	v, _ := newVolume(t, 64<<20)
	m := mountTest(t, v, Options{})
	point := m.Point()
	const name = ".fuse_hidden0000000200000001" // what libfuse would take next
	if err := os.WriteFile(filepath.Join(point, name), []byte("made"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(point, name)); string(b) != "made" {
		t.Fatalf("%q, %v", b, err)
	}
	// As rsync does: written under another name, closed, renamed.
	for i := range 50 {
		tmp := filepath.Join(point, ".tmp")
		if err := os.WriteFile(tmp, fmt.Append(nil, i), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(tmp, filepath.Join(point, name)); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(filepath.Join(point, name)); string(b) != fmt.Sprint(i) {
			t.Fatalf("round %d: %q, %v", i, b, err)
		}
	}
	// While it is open, into another folder.
	if err := os.Mkdir(filepath.Join(point, "d"), 0o700); err != nil {
		t.Fatal(err)
	}
	f := create(t, filepath.Join(point, "open"), "open")
	if err := os.Rename(filepath.Join(point, "open"), filepath.Join(point, "d", name)); err != nil {
		t.Fatal(err)
	}
	f.Close()
	if names := append(hiddenNames(t, v, "/"), hiddenNames(t, v, "/d")...); len(names) != 2 {
		t.Errorf("the container holds %q", names)
	}
}

// TestOtherSpelling: a file that is opened by creating it in another spelling can be used by that handle, and has the stored
// spelling only.
func TestOtherSpelling(t *testing.T) {
	v, _ := newVolume(t, 64<<20)
	m := mountTest(t, v, Options{})
	stored, other := filepath.Join(m.Point(), "ReadMe"), filepath.Join(m.Point(), "README")
	if err := os.WriteFile(stored, []byte("text"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(other, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := f.Stat(); err != nil || info.Size() != 4 {
		t.Errorf("stat: %v, %v", info, err)
	}
	if err := f.Truncate(2); err != nil {
		t.Error(err)
	}
	if _, err := f.WriteAt([]byte("xt"), 2); err != nil {
		t.Error(err)
	}
	f.Close()
	deadline := time.Now().Add(5 * time.Second) // the kernel releases when it likes
	for {
		_, err := os.Stat(other)
		if errors.Is(err, os.ErrNotExist) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("the other spelling is still there: %v", err)
		}
		time.Sleep(time.Millisecond)
	}
	if b, err := os.ReadFile(stored); err != nil || string(b) != "text" {
		t.Errorf("%q, %v", b, err)
	}
}

// TestForeignChanges: what does not come through the mount is seen through it at once, content of other openings included.
func TestForeignChanges(t *testing.T) {
	v, _ := newVolume(t, 64<<20)
	m := mountTest(t, v, Options{})
	path := filepath.Join(m.Point(), "f")
	for i := range 100 {
		content := fmt.Sprintf("content %03d", i) // always as long, often within one step of FAT's times
		f, err := v.OpenFile("/f", fat32.ReadWrite|fat32.Create)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt([]byte(content), 0); err != nil {
			t.Fatal(err)
		}
		f.Close()
		m.Changed(Change{Path: "/f", Kind: Written})
		if b, err := os.ReadFile(path); err != nil || string(b) != content {
			t.Fatalf("%q, %v; wanted %q", b, err, content)
		}
		if i%2 == 0 {
			continue
		}
		if err := v.Remove("/f"); err != nil {
			t.Fatal(err)
		}
		m.Changed(Change{Path: "/f", Kind: Removed})
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Fatalf("a removed file: %v", err)
		}
	}
}
