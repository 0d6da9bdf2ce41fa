package vfs

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"coffer/fat32"
)

// TestLitterMounted: programs see nothing special about litter, and the container nothing of it.
func TestLitterMounted(t *testing.T) {
	v, dev := newVolume(t, 64<<20)
	m := mountTest(t, v, Options{Litter: true})
	script := `set -e
cd "$1"
mkdir docs && echo text > docs/letter.txt
echo icons > .DS_Store; echo fork > docs/._letter.txt; echo thumbs > docs/Thumbs.db
mkdir -p .Trash-0/files .Trash-0/info '$RECYCLE.BIN' 'System Volume Information'
echo gone > .Trash-0/files/gone.txt; echo x > 'System Volume Information/IndexerVolumeGuid'
[ "$(cat .DS_Store docs/._letter.txt .Trash-0/files/gone.txt)" = "icons
fork
gone" ]
[ "$(ls -A | sort | tr '\n' ' ')" = '$RECYCLE.BIN .DS_Store .Trash-0 System Volume Information docs ' ]
find . > /dev/null; ls -lR . > /dev/null
# A file manager's trash, and back: the program copies, whole.
mv docs/letter.txt .Trash-0/files/; [ ! -e docs/letter.txt ]; [ "$(cat .Trash-0/files/letter.txt)" = text ]
mv .Trash-0/files/letter.txt docs/letter.txt; [ "$(cat docs/letter.txt)" = text ]
# Under another name it is a file of the container; and back.
mv docs/._letter.txt docs/fork.txt; [ "$(cat docs/fork.txt)" = fork ]
mv docs/fork.txt docs/._letter.txt; [ "$(cat docs/._letter.txt)" = fork ]; [ ! -e docs/fork.txt ]
# Save by renaming over.
echo new > ._tmp; mv ._tmp docs/letter.txt; [ "$(cat docs/letter.txt)" = new ]
echo again >> docs/letter.txt; [ "$(tail -n 1 docs/letter.txt)" = again ]; [ "$(wc -l < docs/letter.txt)" = 2 ]
dd if=/dev/urandom of=._random bs=65536 count=20 status=none; cp ._random random; cmp ._random random
truncate -s 100 ._random; [ "$(stat -c %s ._random)" = 100 ]
touch -d 2001-02-03T04:05:06 ._random; [ "$(date -r ._random +%s)" = "$(date -d 2001-02-03T04:05:06 +%s)" ]
chmod a-w ._random; [ ! -w ._random ] || [ "$(id -u)" = 0 ]
mkdir empty; echo x > empty/.DS_Store; rmdir empty; [ ! -e empty ]
mkdir full; echo x > full/.DS_Store; echo y > full/y; ! rmdir full 2>/dev/null; rm -r full; [ ! -e full ]
cp -r docs copy; [ "$(cat copy/._letter.txt)" = fork ]
sync -f .
`
	if out, err := exec.Command("bash", "-c", script, "bash", m.Point()).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := m.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	inside, err := fat32.Mount(dev.Clone(), fat32.MountOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer inside.Close()
	var names []string
	var walk func(path string)
	walk = func(path string) {
		list, err := inside.ReadDir(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range list {
			names = append(names, path+i.Name)
			if i.IsDir() {
				walk(path + i.Name + "/")
			}
		}
	}
	walk("/")
	slices.Sort(names)
	want := []string{"/copy", "/copy/letter.txt", "/docs", "/docs/letter.txt", "/random"}
	if !slices.Equal(names, want) {
		t.Errorf("in the container: %q, want %q", names, want)
	}
}

// TestLitterMountedRename: renames across answer EXDEV where nothing can be lost by it, and an open file goes on.
func TestLitterMountedRename(t *testing.T) {
	v, _ := newVolume(t, 64<<20)
	m := mountTest(t, v, Options{Litter: true})
	at := func(name string) string { return filepath.Join(m.Point(), name) }
	f, err := os.Create(at("._a"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteString("before"); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(at("._a"), at("a")); err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(" after"); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(at("a")); err != nil || string(got) != "before after" {
		t.Errorf("%q %v", got, err)
	}
	if err := f.Sync(); err != nil {
		t.Error(err)
	}
	if err := os.Rename(at("a"), at("._a")); !errors.Is(err, syscall.EXDEV) {
		t.Errorf("into litter: %v, want EXDEV", err)
	}
	// The kernel drops what it knows; the file is still the same.
	if err := os.WriteFile("/proc/sys/vm/drop_caches", []byte("3"), 0); err != nil {
		t.Logf("caches are not dropped: %v", err)
	}
	if _, err := f.WriteString("!"); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(at("a")); err != nil || string(got) != "before after!" {
		t.Errorf("%q %v", got, err)
	}
	first, err := os.Stat(at("a"))
	if err != nil {
		t.Fatal(err)
	}
	if own, err := f.Stat(); err != nil || !os.SameFile(first, own) {
		t.Errorf("handle and name are two files: %v", err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(at("a")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(at("a")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("removed: %v", err)
	}
}

// TestLitterMountedMany: a folder of litter with many files lists whole, while files come and go.
func TestLitterMountedMany(t *testing.T) {
	v, _ := newVolume(t, 64<<20)
	m := mountTest(t, v, Options{Litter: true})
	folder := filepath.Join(m.Point(), ".Trashes")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	const files = 2000
	for i := range files {
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("file %d", i)), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := os.ReadDir(folder)
	if err != nil || len(list) != files {
		t.Fatalf("%d of %d files: %v", len(list), files, err)
	}
	for i := 0; i < files; i += 2 {
		if err := os.Remove(filepath.Join(folder, fmt.Sprintf("file %d", i))); err != nil {
			t.Fatal(err)
		}
	}
	if list, err = os.ReadDir(folder); err != nil || len(list) != files/2 {
		t.Fatalf("%d of %d files: %v", len(list), files/2, err)
	}
	for _, e := range list {
		if !strings.HasPrefix(e.Name(), "file ") {
			t.Errorf("%q", e.Name())
		}
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
}
