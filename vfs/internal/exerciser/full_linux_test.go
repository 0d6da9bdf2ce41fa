package exerciser

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// largestWrite of TestFull, in bytes.
const largestWrite = 300_000

// kept is what a file of TestFull must hold: the bytes whose write was acknowledged.
type kept struct {
	path  string
	step  int // of fill
	bytes int64
}

// fillUp writes files until the volume is full and returns what was acknowledged. The only error allowed is that there
// is no space.
func fillUp(t *testing.T, dir string, r *rand.Rand, step *int) (files []kept) {
	t.Helper()
	for {
		*step++
		k := kept{path: filepath.Join(dir, fmt.Sprintf("file number %d.bin", *step)), step: *step}
		f, err := os.OpenFile(k.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, syscall.ENOSPC) {
			return files
		} else if err != nil {
			t.Fatal(err)
		}
		full := false
		for size := r.Int64N(2 << 20); k.bytes < size && !full; {
			p := make([]byte, 1+r.Int64N(largestWrite))
			fill(p, k.bytes, k.step)
			// The bare call: WriteAt of package os forgets what a short write before the error has written.
			n, err := syscall.Pwrite(int(f.Fd()), p, k.bytes)
			k.bytes += int64(max(n, 0))
			if err != nil {
				if full = errors.Is(err, syscall.ENOSPC); !full {
					t.Fatal(err)
				}
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		files = append(files, k)
		if full {
			return files
		}
	}
}

func compareKept(t *testing.T, files []kept) {
	t.Helper()
	for _, k := range files {
		got, err := os.ReadFile(k.path)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]byte, k.bytes)
		fill(want, 0, k.step)
		if d := difference(got, want, 0, k.step); d != "" {
			t.Fatalf("%s: %s", filepath.Base(k.path), d)
		}
	}
}

// TestFull fills a mounted volume to the last cluster again and again: writers are told, nothing acknowledged is lost,
// space freed works at once, and the volume stays clean.
func TestFull(t *testing.T) {
	for kind := range volumes {
		if kind == 0 {
			continue // cannot be small
		}
		t.Run(volumes[kind].name, func(t *testing.T) {
			d := newSizedDrive(t, kind, 48<<20)
			r := rand.New(rand.NewPCG(uint64(kind), 3))
			step := 0
			var files []kept
			for range operations(4) {
				files = append(files, fillUp(t, d.point, r, &step)...)
				compareKept(t, files)
				var space syscall.Statfs_t
				// A write there is no room for changes nothing, so less than one can be left.
				if err := syscall.Statfs(d.point, &space); err != nil || int64(space.Bavail)*space.Bsize > largestWrite {
					t.Errorf("full, and statfs says that %d blocks of %d bytes are free: %v", space.Bavail, space.Bsize, err)
				}
				if err := errors.Join(d.down(), d.up()); err != nil {
					t.Fatal(err)
				}
				compareKept(t, files)
				r.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
				for _, k := range files[len(files)/2:] {
					if err := os.Remove(k.path); err != nil {
						t.Fatal(err)
					}
				}
				files = files[:len(files)/2]
			}
			if err := d.down(); err != nil {
				t.Fatal(err)
			}
		})
	}
}
