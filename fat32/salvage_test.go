package fat32

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"coffer/container/block"
	"coffer/container/block/blocktest"
	"coffer/fat32/fattest"
)

// memorySink keeps what is salvaged, and checks the promises about names.
type memorySink struct {
	t     testing.TB
	files map[string]*bytes.Buffer
	dirs  map[string]bool
	seen  map[string]bool // folded
	fail  map[string]error
}

func newMemorySink(t testing.TB) *memorySink {
	return &memorySink{t: t, files: map[string]*bytes.Buffer{}, dirs: map[string]bool{"": true}, seen: map[string]bool{}, fail: map[string]error{}}
}

func (s *memorySink) check(path []string) string {
	for _, n := range path {
		if n == "" || n == "." || n == ".." || strings.ContainsAny(n, "/\\\x00\n:") || len(n) > 255 {
			s.t.Errorf("unsafe name %q", path)
		}
	}
	p := strings.Join(path, "/")
	if s.seen[strings.ToUpper(p)] {
		s.t.Errorf("%q is given twice", p)
	}
	s.seen[strings.ToUpper(p)] = true
	if parent := strings.Join(path[:len(path)-1], "/"); !s.dirs[parent] {
		s.t.Errorf("%q comes before its folder", p)
	}
	return p
}

func (s *memorySink) Mkdir(path []string) error {
	p := s.check(path)
	if err := s.fail[p]; err != nil {
		return err
	}
	s.dirs[p] = true
	return nil
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

func (s *memorySink) Create(path []string, _ Salvaged) (io.WriteCloser, error) {
	p := s.check(path)
	if err := s.fail[p]; err != nil {
		return nil, err
	}
	s.files[p] = new(bytes.Buffer)
	return nopCloser{s.files[p]}, nil
}

// badSectors is a device with unreadable ranges.
type badSectors struct {
	block.Device
	bad []int64 // sectors of 512 B
}

var errSector = errors.New("bad sector")

func (b badSectors) ReadAt(p []byte, off int64) (int, error) {
	for _, s := range b.bad {
		if s*512 < off+int64(len(p)) && off < (s+1)*512 {
			return 0, errSector
		}
	}
	return b.Device.ReadAt(p, off)
}

func salvage(t testing.TB, dev Device, sink SalvageSink) *SalvageReport {
	t.Helper()
	r, err := Salvage(context.Background(), dev, sink, SalvageOptions{})
	if err != nil {
		t.Fatalf("salvage: %v %+v", err, r)
	}
	return r
}

// mcopyOut reads all files of a volume with mtools.
func mcopyOut(t *testing.T, m *blocktest.Mem) map[string][]byte {
	t.Helper()
	dir := t.TempDir()
	image := filepath.Join(dir, "volume.img")
	if err := m.Save(image); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "out")
	if err := os.Mkdir(out, 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(fattest.Tool(t, "mcopy", "mtools"), "-s", "-i", image, "::/", out)
	cmd.Env = append(os.Environ(), "MTOOLS_SKIP_CHECK=1", "LC_ALL=C.UTF-8")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("mcopy: %v\n%s", err, text)
	}
	files := map[string][]byte{}
	err := filepath.WalkDir(out, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(out, path)
		files[filepath.ToSlash(rel)], err = os.ReadFile(path)
		return err
	})
	if err != nil || len(files) < 60 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	return files
}

// wantFiles compares what was salvaged.
func wantFiles(t *testing.T, s *memorySink, want map[string][]byte) {
	t.Helper()
	for name, data := range want {
		got := s.files[name]
		if got == nil {
			t.Errorf("%q is missing", name)
		} else if !bytes.Equal(got.Bytes(), data) {
			t.Errorf("%q differs: %d bytes, want %d", name, got.Len(), len(data))
		}
	}
}

func TestSalvageWhole(t *testing.T) {
	for _, p := range populatedVolumes {
		t.Run(p.name, func(t *testing.T) {
			m := makePopulated(t, p)
			want := mcopyOut(t, m)
			s := newMemorySink(t)
			r := salvage(t, block.ReadOnly(m), s)
			if len(r.Damaged) > 0 || int(r.Files) != len(want) || len(s.files) != len(want) {
				t.Errorf("%d files, want %d; %+v", r.Files, len(want), r.Damaged)
			}
			wantFiles(t, s, want)
			if !s.dirs["empty"] {
				t.Error("the empty folder is missing")
			}

			// Both FATs gone: files in one piece still come out.
			b, err := parseBoot(m)
			if err != nil {
				t.Fatal(err)
			}
			wiped := m.Clone()
			_ = wiped.Discard(b.FATOffset, int64(b.FATCount)*b.FATSize)
			if b.Type == FAT32 {
				return // only the first cluster of each folder is known then
			}
			s = newMemorySink(t)
			salvage(t, wiped, s)
			if got := s.files["README.TXT"]; got == nil || !bytes.Equal(got.Bytes(), want["README.TXT"]) {
				t.Error("README.TXT did not survive the loss of the FATs")
			}
		})
	}
}

func TestSalvageDamaged(t *testing.T) {
	m := makePopulated(t, populatedVolumes[2])
	want := mcopyOut(t, m)
	b, err := parseBoot(m)
	if err != nil {
		t.Fatal(err)
	}
	t.Run("boot sector gone", func(t *testing.T) {
		v := m.Clone()
		_ = v.Discard(0, 512)
		s := newMemorySink(t)
		salvage(t, v, s)
		wantFiles(t, s, want)
	})
	t.Run("first FAT unreadable", func(t *testing.T) {
		s := newMemorySink(t)
		fat := b.FATOffset / 512
		r := salvage(t, badSectors{m, []int64{fat, fat + 1, fat + 2}}, s)
		if len(r.Damaged) != 0 {
			t.Error(r.Damaged)
		}
		wantFiles(t, s, want)
	})
	t.Run("shorter device", func(t *testing.T) {
		v := m.Clone()
		if err := v.Truncate(b.clusterOffset(250)); err != nil {
			t.Fatal(err)
		}
		s := newMemorySink(t)
		r := salvage(t, v, s)
		damaged := map[string]bool{}
		for _, f := range r.Damaged {
			damaged[strings.TrimPrefix(f.Path, "/")] = true
		}
		whole := 0
		for name, data := range want {
			if got := s.files[name]; got != nil && bytes.Equal(got.Bytes(), data) {
				whole++
				continue
			}
			said := false // of the file or a folder above it
			for part := name; part != "."; part = filepath.ToSlash(filepath.Dir(part)) {
				said = said || damaged[part]
			}
			if !said {
				t.Errorf("%q is not whole and nothing is said", name)
			}
		}
		if whole == 0 || whole == len(want) {
			t.Errorf("%d of %d files are whole", whole, len(want))
		}
	})
	t.Run("every sector unreadable in turn", func(t *testing.T) {
		last := b.clusterOffset(380) / 512
		step := int64(1)
		if testing.Short() {
			step = 7
		}
		for sector := int64(0); sector < last; sector += step {
			if sector > 40 && sector < b.DataOffset/512 && sector%97 != 0 {
				continue // the middle of the FATs is empty
			}
			s := newMemorySink(t)
			r := salvage(t, badSectors{m, []int64{sector}}, s)
			lost := 0
			for name, data := range want {
				if got := s.files[name]; got == nil || !bytes.Equal(got.Bytes(), data) {
					lost++
				}
			}
			// A sector of the root directory or of "docs" holds up to 16 slots;
			// everything else is one file.
			if lost > 1 && len(r.Damaged) == 0 {
				t.Errorf("sector %d: %d files lost without a word", sector, lost)
			}
			if lost > 0 && sector < b.DataOffset/512 {
				t.Errorf("sector %d of the reserved area or a FAT cost %d files", sector, lost)
			}
		}
	})
}

func TestSalvageLostAndSinks(t *testing.T) {
	m := makePopulated(t, populatedVolumes[1])
	want := mcopyOut(t, m)
	b, err := parseBoot(m)
	if err != nil {
		t.Fatal(err)
	}
	// The root directory gone: everything is lost chains and folders.
	v := m.Clone()
	_ = v.Discard(b.RootOffset, int64(b.RootEntries)*32)
	s := newMemorySink(t)
	r := salvage(t, v, s)
	if r.LostChains == 0 {
		t.Fatal("no lost chains")
	}
	found := 0
	for name, data := range want {
		base := name[strings.LastIndexByte(name, '/')+1:]
		for got, buf := range s.files {
			if strings.HasSuffix(got, "/"+base) && bytes.Equal(buf.Bytes(), data) {
				found++
				break
			}
		}
	}
	if found < len(want)-3 { // README.TXT and zero.bin have lost their names
		t.Errorf("%d of %d files found by name", found, len(want))
	}

	s = newMemorySink(t)
	s.fail["docs"] = errors.New("no")
	s.fail["README.TXT"] = errors.New("no")
	r = salvage(t, m, s)
	if s.files["PLAIN/ONE.DAT"] == nil || len(r.Damaged) != 2 {
		t.Errorf("a refused file must not end the rest: %+v", r.Damaged)
	}
	s = newMemorySink(t)
	s.fail["docs"] = fmt.Errorf("full: %w", ErrSalvageStop)
	if _, err := Salvage(context.Background(), m, s, SalvageOptions{}); !errors.Is(err, ErrSalvageStop) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Salvage(ctx, m, newMemorySink(t), SalvageOptions{}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestSalvageAnything: random damage never panics, hangs or gives unsafe names.
func TestSalvageAnything(t *testing.T) {
	for _, p := range populatedVolumes[:3] {
		start := makePopulated(t, p)
		b, err := parseBoot(start)
		if err != nil {
			t.Fatal(err)
		}
		start.Freeze()
		for seed := range 60 {
			r := newRand(seed)
			m := start.Clone()
			for range 8 {
				damage(r, m, b)
			}
			_, _ = Salvage(context.Background(), block.ReadOnly(m), newMemorySink(t), SalvageOptions{})
		}
	}
}

func TestSafeName(t *testing.T) {
	for in, want := range map[string]string{
		"plain.txt": "plain.txt", "..": "_", ".": "_", "": "_", "a/b\\c": "a_b_c", "x\x00y\nz": "x_y_z", "end. .": "end",
		"CON": "_CON", "lpt1.txt": "_lpt1.txt", "CONSOLE": "CONSOLE", "a\u0085b": "a_b", "C:x": "C_x", "ü.txt": "ü.txt",
		strings.Repeat("ü", 200): strings.Repeat("ü", 127),
	} {
		if got := safeName(in); got != want {
			t.Errorf("safeName(%q) = %q, want %q", in, got, want)
		}
	}
}
