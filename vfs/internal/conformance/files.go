//go:build unix

package conformance

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

var fileCases = map[string]Case{
	"write-read":       writeRead,
	"random-access":    randomAccess,
	"gap":              gap,
	"append":           appendTwo,
	"truncate":         truncate,
	"open-truncates":   openTruncates,
	"exclusive":        exclusive,
	"parallel-writers": parallelWriters,
	"parallel-files":   parallelFiles,
	"sync":             syncAll,
	"too-big":          tooBig,
	"locks":            locks,
	"copy-range":       copyRange,
	"seek-data":        seekData,
	"write-only":       writeOnly,
	"direct-io":        directIO,
}

func writeRead(t *testing.T, dir string) {
	p := filepath.Join(dir, "a file.txt")
	write(t, p, "hello")
	wantFile(t, p, "hello")
	write(t, p, "")
	wantFile(t, p, "")
	f := open(t, p, os.O_RDWR)
	for i := range 100 {
		if _, err := fmt.Fprintf(f, "line %d\n", i); err != nil {
			t.Fatal(err)
		}
	}
	must(t, f.Close())
	got, err := os.ReadFile(p)
	must(t, err)
	if !bytes.HasSuffix(got, []byte("line 98\nline 99\n")) || len(got) != 790 {
		t.Errorf("%d bytes, end %q", len(got), got[max(0, len(got)-20):])
	}
}

// randomAccess compares random reads and writes with a model, across pages, clusters and requests.
func randomAccess(t *testing.T, dir string) {
	const size = 5<<20 + 4321
	r := rand.New(rand.NewPCG(1, 2))
	model := make([]byte, size)
	f := open(t, filepath.Join(dir, "data"), os.O_RDWR|os.O_CREATE)
	fill := func(p []byte) {
		for i := range p {
			p[i] = byte(r.Uint32())
		}
	}
	fill(model)
	for at := 0; at < size; at += 1 << 20 {
		_, err := f.WriteAt(model[at:min(at+1<<20, size)], int64(at))
		must(t, err)
	}
	for range 300 {
		at := r.IntN(size)
		n := min(1+r.IntN(200_000), size-at)
		if r.IntN(2) == 0 {
			fill(model[at : at+n])
			_, err := f.WriteAt(model[at:at+n], int64(at))
			must(t, err)
			continue
		}
		got := make([]byte, n)
		if _, err := f.ReadAt(got, int64(at)); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, model[at:at+n]) {
			t.Fatalf("%d bytes at %d differ", n, at)
		}
	}
	must(t, f.Close())
	got, err := os.ReadFile(filepath.Join(dir, "data"))
	must(t, err)
	if !bytes.Equal(got, model) {
		t.Error("content differs after closing")
	}
}

func gap(t *testing.T, dir string) {
	p := filepath.Join(dir, "gap")
	f := open(t, p, os.O_RDWR|os.O_CREATE)
	_, err := f.WriteAt([]byte("end"), 300_000)
	must(t, err)
	got, err := os.ReadFile(p)
	must(t, err)
	if len(got) != 300_003 || string(got[300_000:]) != "end" || !bytes.Equal(got[:300_000], make([]byte, 300_000)) {
		t.Errorf("a gap does not read as zeros (%d bytes)", len(got))
	}
	if n, err := f.ReadAt(make([]byte, 10), 300_003); n != 0 || err != io.EOF {
		t.Errorf("read at the end: %d, %v", n, err)
	}
}

func appendTwo(t *testing.T, dir string) {
	p := filepath.Join(dir, "log")
	a, b := open(t, p, os.O_WRONLY|os.O_CREATE|os.O_APPEND), open(t, p, os.O_WRONLY|os.O_APPEND)
	want := ""
	for i := range 50 {
		for _, f := range []*os.File{a, b} {
			line := fmt.Sprintf("%p %d\n", f, i)
			_, err := f.WriteString(line)
			must(t, err)
			want += line
		}
	}
	wantFile(t, p, want)
}

func truncate(t *testing.T, dir string) {
	p := filepath.Join(dir, "t")
	write(t, p, "0123456789")
	must(t, os.Truncate(p, 4))
	wantFile(t, p, "0123")
	must(t, os.Truncate(p, 8))
	wantFile(t, p, "0123\x00\x00\x00\x00")
	f := open(t, p, os.O_RDWR)
	must(t, f.Truncate(100_000))
	if st := fstat(t, f); st.Size != 100_000 {
		t.Errorf("size %d", st.Size)
	}
	got := make([]byte, 100_000)
	_, err := f.ReadAt(got, 0)
	must(t, err)
	if string(got[:4]) != "0123" || !bytes.Equal(got[4:], make([]byte, 99_996)) {
		t.Error("what was added does not read as zeros")
	}
	must(t, f.Truncate(0))
	_, err = f.WriteAt([]byte("x"), 2)
	must(t, err)
	wantFile(t, p, "\x00\x00x")
	r := open(t, p, os.O_RDONLY)
	wantErr(t, "ftruncate of a handle for reading", r.Truncate(1), syscall.EINVAL, syscall.EBADF)
	wantErr(t, "truncate of a folder", os.Truncate(dir, 0), syscall.EISDIR)
}

func openTruncates(t *testing.T, dir string) {
	p := filepath.Join(dir, "o")
	write(t, p, "something long")
	f := open(t, p, os.O_WRONLY|os.O_TRUNC)
	if st := fstat(t, f); st.Size != 0 {
		t.Errorf("size after O_TRUNC: %d", st.Size)
	}
	_, err := f.WriteString("s")
	must(t, err)
	wantFile(t, p, "s")
}

func exclusive(t *testing.T, dir string) {
	p := filepath.Join(dir, "x")
	f, err := os.OpenFile(p, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	must(t, err)
	must(t, f.Close())
	_, err = os.OpenFile(p, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	wantErr(t, "O_EXCL", err, syscall.EEXIST)
	_, err = os.OpenFile(dir, os.O_WRONLY, 0)
	wantErr(t, "a folder for writing", err, syscall.EISDIR)
	_, err = os.Open(filepath.Join(p, "below"))
	wantErr(t, "below a file", err, syscall.ENOTDIR)
}

// parallelWriters fill one file from several goroutines and handles.
func parallelWriters(t *testing.T, dir string) {
	const writers, block, blocks = 8, 10_007, 40
	p := filepath.Join(dir, "shared")
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			f, err := os.OpenFile(p, os.O_CREATE|os.O_WRONLY, 0o600)
			if err != nil {
				t.Error(err)
				return
			}
			defer f.Close()
			for b := range blocks {
				k := b*writers + w
				if _, err := f.WriteAt(bytes.Repeat([]byte{byte(k)}, block), int64(k)*block); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	got, err := os.ReadFile(p)
	must(t, err)
	for k := range writers * blocks {
		if !bytes.Equal(got[k*block:(k+1)*block], bytes.Repeat([]byte{byte(k)}, block)) {
			t.Fatalf("block %d differs", k)
		}
	}
}

func parallelFiles(t *testing.T, dir string) {
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			sub := filepath.Join(dir, fmt.Sprint("worker ", w))
			if err := os.Mkdir(sub, 0o700); err != nil {
				t.Error(err)
			}
			for i := range 60 {
				p := filepath.Join(sub, fmt.Sprintf("file number %d", i))
				want := bytes.Repeat([]byte{byte(w), byte(i)}, i*97)
				if err := os.WriteFile(p, want, 0o600); err != nil {
					t.Error(err)
				}
				if got, err := os.ReadFile(p); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s: %v", p, err)
				}
				if i%3 == 0 {
					if err := os.Rename(p, filepath.Join(dir, fmt.Sprintf("moved %d %d", w, i))); err != nil {
						t.Error(err)
					}
				}
				if i%3 == 1 {
					if err := os.Remove(p); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	list, err := os.ReadDir(dir)
	must(t, err)
	if len(list) != 8+8*20 {
		t.Errorf("%d entries", len(list))
	}
}

func syncAll(t *testing.T, dir string) {
	f := open(t, filepath.Join(dir, "s"), os.O_RDWR|os.O_CREATE)
	_, err := f.WriteString("data")
	must(t, err)
	must(t, f.Sync())
	d := open(t, dir, os.O_RDONLY)
	must(t, d.Sync())
	must(t, f.Sync())
}

func tooBig(t *testing.T, dir string) {
	p := filepath.Join(dir, "big")
	write(t, p, "x")
	wantErr(t, "truncate to 4 GiB", os.Truncate(p, 1<<32), syscall.EFBIG)
	f := open(t, p, os.O_RDWR)
	_, err := f.WriteAt([]byte("xy"), 1<<32-2)
	wantErr(t, "write across 4 GiB - 1", err, syscall.EFBIG)
	_, err = f.WriteAt([]byte("x"), 1<<40)
	wantErr(t, "write at 1 TiB", err, syscall.EFBIG)
	wantFile(t, p, "x")
}

func locks(t *testing.T, dir string) {
	p := filepath.Join(dir, "lock")
	a, b := open(t, p, os.O_RDWR|os.O_CREATE), open(t, p, os.O_RDWR)
	must(t, unix.Flock(int(a.Fd()), unix.LOCK_EX))
	wantErr(t, "second flock", unix.Flock(int(b.Fd()), unix.LOCK_EX|unix.LOCK_NB), syscall.EWOULDBLOCK)
	must(t, unix.Flock(int(a.Fd()), unix.LOCK_UN))
	must(t, unix.Flock(int(b.Fd()), unix.LOCK_EX|unix.LOCK_NB))
	must(t, unix.FcntlFlock(a.Fd(), unix.F_SETLK, &unix.Flock_t{Type: unix.F_WRLCK, Len: 10}))
}

// copyRange copies inside the drive as programs do: through copy_file_range or what stands in for it.
func copyRange(t *testing.T, dir string) {
	want := bytes.Repeat([]byte("0123456789abcdef"), 20_000)
	must(t, os.WriteFile(filepath.Join(dir, "from"), want, 0o600))
	from, to := open(t, filepath.Join(dir, "from"), os.O_RDONLY), open(t, filepath.Join(dir, "to"), os.O_RDWR|os.O_CREATE)
	n, err := io.Copy(to, from)
	if err != nil || n != int64(len(want)) {
		t.Fatal(n, err)
	}
	wantFile(t, filepath.Join(dir, "to"), string(want))
}

func seekData(t *testing.T, dir string) {
	p := filepath.Join(dir, "d")
	write(t, p, "0123456789")
	f := open(t, p, os.O_RDONLY)
	if at, err := unix.Seek(int(f.Fd()), 3, 3); err != nil || at != 3 { // SEEK_DATA
		t.Errorf("SEEK_DATA: %d, %v", at, err)
	}
	if at, err := unix.Seek(int(f.Fd()), 3, 4); err != nil || at != 10 { // SEEK_HOLE
		t.Errorf("SEEK_HOLE: %d, %v", at, err)
	}
}

func writeOnly(t *testing.T, dir string) {
	p := filepath.Join(dir, "w")
	f := open(t, p, os.O_WRONLY|os.O_CREATE)
	_, err := f.WriteAt([]byte("abc"), 5000)
	must(t, err)
	_, err = f.WriteAt([]byte("d"), 5001)
	must(t, err)
	_, err = f.ReadAt(make([]byte, 1), 0)
	wantErr(t, "read of a handle for writing", err, syscall.EBADF)
	r := open(t, p, os.O_RDONLY)
	_, err = r.WriteAt([]byte("x"), 0)
	wantErr(t, "write to a handle for reading", err, syscall.EBADF)
	wantFile(t, p, string(make([]byte, 5000))+"adc")
}
