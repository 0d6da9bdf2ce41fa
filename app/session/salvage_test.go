package session

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"coffer/container/block/blocktest"
	"coffer/fat32"
)

// fullDisk is a hostSink on a disk with room for so many bytes.
type fullDisk struct {
	hostSink
	room *int
}

func (d fullDisk) Create(path []string, info fat32.Salvaged) (io.WriteCloser, error) {
	w, err := d.hostSink.Create(path, info)
	if err != nil {
		return nil, err
	}
	return &fullDiskFile{w.(*salvagedFile), d.room}, nil
}

type fullDiskFile struct {
	*salvagedFile
	room *int
}

func (f *fullDiskFile) Write(p []byte) (int, error) {
	n, err := f.salvagedFile.Write(p[:min(len(p), *f.room)])
	if *f.room -= n; err == nil && n < len(p) {
		err = stopWhenFull(&os.PathError{Op: "write", Path: f.temporary, Err: syscall.ENOSPC})
	}
	return n, err
}

// TestSalvageHostFull: when the host's disk fills up, no short file stays; the file at which it happened is listed and
// not counted.
func TestSalvageHostFull(t *testing.T) {
	volume := blocktest.NewMem(4 << 20)
	if _, err := fat32.Format(context.Background(), volume, fat32.FormatOptions{AssumeZero: true}); err != nil {
		t.Fatal(err)
	}
	v, err := fat32.Mount(volume, fat32.MountOptions{CommitInterval: -1})
	if err != nil {
		t.Fatal(err)
	}
	const size = 100_000
	for _, name := range []string{"/a.bin", "/b.bin", "/c.bin"} {
		f, err := v.OpenFile(name, fat32.ReadWrite|fat32.Create)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.WriteAt([]byte(strings.Repeat(name[1:2], size)), 0)
		if err := errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	for _, room := range []int{0, 1, size - 1, size, 2*size - 1, 2 * size, 3 * size} {
		path := t.TempDir()
		folder, err := emptyFolder(path)
		if err != nil {
			t.Fatal(err)
		}
		left := room
		r, err := fat32.Salvage(context.Background(), volume, fullDisk{hostSink{folder}, &left}, fat32.SalvageOptions{})
		whole := room / size
		if full := whole < 3; full != errors.Is(err, syscall.ENOSPC) || full != errors.Is(err, fat32.ErrSalvageStop) {
			t.Errorf("room %d: %v", room, err)
		} else if full && (len(r.Damaged) != 1 || r.Damaged[0].Path != "/"+"abc"[whole:whole+1]+".bin" || r.Damaged[0].Code != fat32.CodeSink) {
			t.Errorf("room %d: listed are %+v", room, r.Damaged)
		}
		if r.Files != int64(whole) || r.Bytes != int64(whole*size) {
			t.Errorf("room %d: %d files, %d bytes are counted", room, r.Files, r.Bytes)
		}
		entries, err := os.ReadDir(path)
		if err != nil || len(entries) != whole {
			t.Errorf("room %d: %v %v", room, entries, err)
		}
		for _, entry := range entries {
			if data, err := os.ReadFile(filepath.Join(path, entry.Name())); err != nil || string(data) != strings.Repeat(entry.Name()[:1], size) {
				t.Errorf("room %d: %s: %d bytes, %v", room, entry.Name(), len(data), err)
			}
		}
		folder.Close()
	}
}

// TestSalvageNeverOverwrites: a name that is there already is refused.
func TestSalvageNeverOverwrites(t *testing.T) {
	path := t.TempDir()
	folder, err := emptyFolder(path)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Close()
	if err := os.WriteFile(filepath.Join(path, "x"), []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (hostSink{folder}).Create([]string{"x"}, fat32.Salvaged{}); !errors.Is(err, os.ErrExist) {
		t.Error(err)
	}
	if data, _ := os.ReadFile(filepath.Join(path, "x")); string(data) != "old" {
		t.Errorf("now %q", data)
	}
}

// TestMoveCaseOnly: a folder or file moved to its own name in other case is renamed, not put into itself.
func TestMoveCaseOnly(t *testing.T) {
	ctx := context.Background()
	target := Target{Path: filepath.Join(t.TempDir(), "x.img"), Format: FormatRaw}
	if _, err := Create(ctx, CreateRequest{Target: target, SizeBytes: 4 << 20}, Credential{}); err != nil {
		t.Fatal(err)
	}
	s, err := Open(ctx, target, OpenOptions{}, Credential{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := errors.Join(s.Mkdir(context.Background(), "/Fold", false), s.Mkdir(context.Background(), "/Fold/Inner", false)); err != nil {
		t.Fatal(err)
	}
	for _, m := range [][2]string{{"/Fold", "/fold"}, {"/fold/Inner", "/FOLD/INNER"}} {
		if moved, err := s.Move(ctx, []Place{{Path: m[0]}}, Place{Path: m[1]}, false); err != nil || len(moved) != 1 || moved[0].To != m[1] {
			t.Errorf("%v: %v %v", m, moved, err)
		}
	}
	for path, want := range map[string]string{"/fold": "fold", "/fold/inner": "INNER"} {
		if info, err := s.Volume.Stat(path); err != nil || info.Name != want {
			t.Errorf("%s: %q %v", path, info.Name, err)
		}
	}
	// The very same name, or one that says folder, is a move into it.
	for _, to := range []Place{{Path: "/fold"}, {Path: "/FOLD", Folder: true}} {
		if _, err := s.Move(ctx, []Place{{Path: "/fold"}}, to, false); !errors.Is(err, fat32.ErrInvalid) {
			t.Errorf("%+v: %v", to, err)
		}
	}
}

// TestDamagedListing: an entry that cannot be shown makes List an error that comes after the others.
func TestDamagedListing(t *testing.T) {
	ctx := context.Background()
	target := Target{Path: filepath.Join(t.TempDir(), "x.img"), Format: FormatRaw}
	if _, err := Create(ctx, CreateRequest{Target: target, SizeBytes: 4 << 20}, Credential{}); err != nil {
		t.Fatal(err)
	}
	s, err := Open(ctx, target, OpenOptions{}, Credential{})
	if err != nil {
		t.Fatal(err)
	}
	g := s.Volume.Geometry()
	if err := errors.Join(s.Mkdir(context.Background(), "/GOOD", false), s.Mkdir(context.Background(), "/WRONG", false), s.Close()); err != nil {
		t.Fatal(err)
	}
	image, err := os.ReadFile(target.Path)
	if err != nil {
		t.Fatal(err)
	}
	at := strings.Index(string(image[g.RootOffset:]), "WRONG   ")
	if g.RootOffset == 0 || at < 0 {
		t.Fatalf("no entry in the root at %d", g.RootOffset)
	}
	image[g.RootOffset+int64(at)+11] |= 0x08 // the volume bit
	if err := os.WriteFile(target.Path, image, 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err = Open(ctx, target, OpenOptions{ReadOnly: true}, Credential{}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var seen []string
	err = s.List(ctx, "/", true, func(e Entry) error { seen = append(seen, e.Path); return nil })
	if !errors.Is(err, fat32.ErrCorrupt) || Explain(err).Code != Damaged || len(seen) != 1 || seen[0] != "/GOOD" {
		t.Errorf("%q, %v", seen, err)
	}
}
