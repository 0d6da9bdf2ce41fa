package blocktest

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"coffer/container/block"
)

// The devices of this package are block devices.
var (
	_ block.Device    = (*Mem)(nil)
	_ block.Device    = (*Crash)(nil)
	_ block.Device    = (*Trace)(nil)
	_ block.Device    = (*Fault)(nil)
	_ block.Device    = (*Txn)(nil)
	_ block.Discarder = (*Mem)(nil)
	_ block.Discarder = (*DiscardingCrash)(nil)
	_ block.Discarder = (*Txn)(nil)
	_ block.Discarder = (*Fault)(nil)
	_ Backend         = (*os.File)(nil)
)

// contents reads a whole device.
func contents(t *testing.T, d block.Device) []byte {
	t.Helper()
	p := make([]byte, d.Size())
	if err := block.ReadFull(d, p, 0); err != nil {
		t.Fatal(err)
	}
	return p
}

// TestMemAgainstSlice compares random writes, discards, truncations, clones
// and freezes with a plain byte slice.
func TestMemAgainstSlice(t *testing.T) {
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 1))
		size := 64<<10 + r.IntN(5000)
		m, want := NewMem(int64(size)), make([]byte, size)
		var clones []*Mem
		var copies [][]byte
		for range 2000 {
			off := r.IntN(len(want))
			n := r.IntN(min(len(want)-off, []int{100, 5000, 30000}[r.IntN(3)]) + 1)
			switch k := r.IntN(20); {
			case k < 12:
				p := make([]byte, n)
				if r.IntN(3) > 0 {
					for i := range p {
						p[i] = byte(r.Uint32())
					}
				}
				if _, err := m.WriteAt(p, int64(off)); err != nil {
					t.Fatal(err)
				}
				copy(want[off:], p)
			case k < 17:
				if err := m.Discard(int64(off), int64(n)); err != nil {
					t.Fatal(err)
				}
				clear(want[off : off+n])
			case k == 17 && len(clones) < 10:
				clones, copies = append(clones, m.Clone()), append(copies, bytes.Clone(want))
			case k == 18:
				m.Freeze()
			case k == 19:
				to := 30<<10 + r.IntN(80<<10)
				if err := m.Truncate(int64(to)); err != nil {
					t.Fatal(err)
				}
				next := make([]byte, to)
				copy(next, want)
				want = next
			}
		}
		clones, copies = append(clones, m), append(copies, want)
		for i := range clones {
			if !bytes.Equal(contents(t, clones[i]), copies[i]) {
				t.Fatalf("seed %d: clone %d differs from the model", seed, i)
			}
		}
	}
}

func TestMemBounds(t *testing.T) {
	m := NewMem(5000)
	for _, c := range [][2]int64{{-1, 1}, {4999, 2}, {5000, 1}, {1 << 62, 1}} {
		if n, err := m.WriteAt(make([]byte, c[1]), c[0]); n != 0 || !errors.Is(err, block.ErrOutOfRange) {
			t.Errorf("write at %d: %d, %v", c[0], n, err)
		}
	}
	p := make([]byte, 10)
	if n, err := m.ReadAt(p, 4995); n != 5 || err != io.EOF {
		t.Errorf("read over the end: %d, %v", n, err)
	}
	if n, err := m.ReadAt(p[:5], 4995); n != 5 || err != nil {
		t.Errorf("read to the end: %d, %v", n, err)
	}
	if _, err := m.ReadAt(p, -1); !errors.Is(err, block.ErrOutOfRange) {
		t.Error(err)
	}
}

// TestMemSparse: 16 TiB cost only what is written, and zeros give memory back.
func TestMemSparse(t *testing.T) {
	m := NewMem(MaxMemBytes)
	for i := range int64(16) {
		if _, err := m.WriteAt([]byte("x"), i<<40+i); err != nil {
			t.Fatal(err)
		}
	}
	if got := m.UsedBytes(); got != 16*pageBytes {
		t.Fatalf("%d bytes used", got)
	}
	if err := m.Discard(1<<40, 14<<40); err != nil { // the byte at 15 TiB + 15 stays
		t.Fatal(err)
	}
	if got := m.UsedBytes(); got != 2*pageBytes {
		t.Fatalf("%d bytes used after discard", got)
	}
	if _, err := m.WriteAt(make([]byte, pageBytes), 0); err != nil {
		t.Fatal(err)
	}
	if got := m.UsedBytes(); got != pageBytes {
		t.Fatalf("%d bytes used after zeros", got)
	}
}

// TestMemConcurrent: neighbours in one page, no lost bytes. Meant for -race.
func TestMemConcurrent(t *testing.T) {
	m := NewMem(3 * pageBytes)
	var wg sync.WaitGroup
	const workers = 8
	for w := range workers {
		wg.Go(func() {
			for i := w; i < 3*pageBytes; i += workers {
				if _, err := m.WriteAt([]byte{byte(w + 1)}, int64(i)); err != nil {
					t.Error(err)
				}
				if i%97 == 0 {
					_ = m.Clone()
				}
			}
		})
	}
	wg.Wait()
	for i, b := range contents(t, m) {
		if int(b) != i%workers+1 {
			t.Fatalf("byte %d is %d", i, b)
		}
	}
}

func TestMemSaveLoad(t *testing.T) {
	m := NewMem(3 << 30)
	for _, off := range []int64{0, 1<<30 + 7, 3<<30 - 3} {
		if _, err := m.WriteAt([]byte("abc"), off); err != nil {
			t.Fatal(err)
		}
	}
	path := filepath.Join(t.TempDir(), "image")
	if err := m.Save(path); err != nil {
		t.Fatal(err)
	}
	st, err := os.Stat(path)
	if err != nil || st.Size() != 3<<30 {
		t.Fatal(st, err)
	}
	if runtime.GOOS != "linux" {
		return // without SEEK_DATA the load reads 3 GiB
	}
	back, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := Diff(m, back); err != nil {
		t.Fatal(err)
	}
	if back.UsedBytes() > 64<<10 {
		t.Fatalf("loading a sparse file took %d bytes", back.UsedBytes())
	}
	if _, err := back.WriteAt([]byte{9}, 1<<20); err != nil {
		t.Fatal(err)
	}
	if err := Diff(m, back); !errors.Is(err, ErrDiffer) || !strings.Contains(err.Error(), "byte 1048576:") {
		t.Fatal(err)
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
}
