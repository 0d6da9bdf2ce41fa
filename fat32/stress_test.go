package fat32_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"coffer/fat32"
)

// TestStress runs writers, readers, movers and syncers on one volume at once.
// Every worker knows what its own files must hold.
func TestStress(t *testing.T) {
	for _, transactional := range []bool{false, true} {
		t.Run(fmt.Sprintf("transactional=%v", transactional), func(t *testing.T) {
			m := format(t, 64<<20, fat32.FormatOptions{})
			dev, verify := modelDevice(t, m, transactional)
			o := quiet()
			o.CommitInterval = 5 * time.Millisecond
			v, err := fat32.Mount(dev, o)
			must(t, err)
			must(t, v.MkdirAll("/shared/a"))
			must(t, v.MkdirAll("/shared/b"))
			put(t, v, "/shared/hot", pattern(1, 300000))
			rounds := 120
			if testing.Short() {
				rounds = 30
			}
			var group sync.WaitGroup
			for w := range 6 {
				group.Go(func() { stressWorker(t, v, w, rounds) })
			}
			var stop atomic.Bool
			var others sync.WaitGroup
			for range 2 {
				others.Go(func() { stressReader(t, v, &stop) })
			}
			others.Go(func() {
				for !stop.Load() {
					if err := v.Sync(); err != nil {
						t.Error(err)
					}
					v.StatFS()
				}
			})
			group.Wait()
			stop.Store(true)
			others.Wait()
			must(t, v.Close())
			verify()
		})
	}
}

func stressWorker(t *testing.T, v *fat32.Volume, w, rounds int) {
	r := rand.New(rand.NewPCG(uint64(w), 3))
	files := map[string][]byte{}
	fail := func(what string, err error) {
		if err != nil {
			t.Errorf("worker %d: %s: %v", w, what, err)
		}
	}
	for i := range rounds {
		name := fmt.Sprintf("/shared/%c/worker %d file %d.dat", 'a'+r.IntN(2), w, r.IntN(12))
		data, exists := files[name]
		switch r.IntN(5) {
		case 0, 1:
			f, err := v.OpenFile(name, fat32.ReadWrite|fat32.Create)
			if err != nil {
				fail("open", err)
				continue
			}
			for range 1 + r.IntN(4) {
				part := pattern(i, 1+r.IntN(60000))
				_, err = f.WriteAt(part, int64(len(data)))
				fail("append", err)
				data = append(bytes.Clone(data), part...)
			}
			if r.IntN(3) == 0 {
				n := r.IntN(len(data))
				fail("truncate", f.Truncate(int64(n)))
				data = data[:n:n]
			}
			if r.IntN(3) == 0 {
				fail("sync", f.Sync())
			}
			fail("close", f.Close())
			files[name] = data
		case 2:
			if exists {
				to := fmt.Sprintf("/shared/%c/worker %d moved %d.dat", 'a'+r.IntN(2), w, r.IntN(4))
				fail("rename", v.Rename(name, to, true))
				delete(files, name)
				files[to] = data
			}
		case 3:
			if exists {
				fail("remove", v.Remove(name))
				delete(files, name)
			}
		case 4:
			dir := fmt.Sprintf("/shared/dir %d", w)
			fail("mkdir", v.Mkdir(dir))
			fail("rename directory", v.Rename(dir, dir+" moved", false))
			fail("rmdir", v.Remove(dir+" moved"))
		}
		if i%10 == 9 {
			for name, want := range files {
				got, err := slurp(v, name)
				fail("read", err)
				if !bytes.Equal(got, want) {
					t.Errorf("worker %d: %s differs", w, name)
				}
			}
		}
	}
}

func stressReader(t *testing.T, v *fat32.Volume, stop *atomic.Bool) {
	want := pattern(1, 300000)
	f, err := v.OpenFile("/shared/hot", fat32.ReadOnly)
	if err != nil {
		t.Error(err)
		return
	}
	defer f.Close()
	p := make([]byte, 70000)
	for off := int64(0); !stop.Load(); off = (off + 33333) % 300000 {
		n, err := f.ReadAt(p, off)
		if err != nil && err != io.EOF || !bytes.Equal(p[:n], want[off:off+int64(n)]) {
			t.Errorf("read at %d: %d bytes, %v", off, n, err)
		}
		for _, dir := range []string{"/shared/a", "/shared/b"} {
			list, err := v.ReadDir(dir)
			if err != nil {
				t.Error(err)
			}
			for _, i := range list {
				if _, err := v.Stat(dir + "/" + i.Name); err != nil && !errors.Is(err, fat32.ErrNotExist) {
					t.Error(err)
				}
			}
		}
	}
}

// TestSharedFile writes one file from many goroutines at once, each its own part.
func TestSharedFile(t *testing.T) {
	m := format(t, 64<<20, fat32.FormatOptions{})
	v := mount(t, m)
	f, err := v.OpenFile("/file", fat32.ReadWrite|fat32.Create)
	must(t, err)
	want := pattern(5, 4<<20)
	var group sync.WaitGroup
	for w := range 8 {
		group.Go(func() {
			for i := w; i < 64; i += 8 {
				if _, err := f.WriteAt(want[i<<16:(i+1)<<16], int64(i)<<16); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	must(t, f.Close())
	if !bytes.Equal(get(t, v, "/file"), want) {
		t.Fatal("content differs")
	}
	must(t, v.Close())
	fsck(t, m)
}
