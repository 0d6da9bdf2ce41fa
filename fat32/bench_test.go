package fat32_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"coffer/fat32"
	"coffer/fat32/fattest"
)

// discarding is a device that takes writes nowhere: what remains is the cost
// of the file system. Metadata is kept.
type sink struct {
	saverDevice
	dataFrom int64
	writes   atomic.Int64
}

type saverDevice interface {
	fat32.Device
	fattest.Saver
}

func (s *sink) WriteAt(p []byte, off int64) (int, error) {
	s.writes.Add(1)
	if off >= s.dataFrom {
		return len(p), nil
	}
	return s.saverDevice.WriteAt(p, off)
}

func BenchmarkCreateSmall(b *testing.B) {
	for _, size := range []int{0, 1024} {
		b.Run(fmt.Sprintf("%dB", size), func(b *testing.B) {
			data := pattern(1, size)
			for done := 0; done < b.N; {
				b.StopTimer()
				v := mount(b, format(b, 1<<30, fat32.FormatOptions{}))
				v.StatFS()
				must(b, v.Mkdir("/dir"))
				b.StartTimer()
				for i := 0; i < 20000 && done < b.N; i++ {
					f, err := v.OpenFile(fmt.Sprintf("/dir/file%06d.dat", i), fat32.WriteOnly|fat32.Create)
					must(b, err)
					if size > 0 {
						if _, err := f.WriteAt(data, 0); err != nil {
							b.Fatal(err)
						}
					}
					must(b, f.Close())
					done++
				}
				must(b, v.Sync())
				b.StopTimer()
				must(b, v.Close())
				b.StartTimer()
			}
		})
	}
}

func BenchmarkSequentialWrite(b *testing.B) {
	for _, name := range []string{"memory", "null"} {
		b.Run(name, func(b *testing.B) {
			m := format(b, 8<<30, fat32.FormatOptions{})
			var dev saverDevice = m
			if name == "null" {
				dev = &sink{saverDevice: m, dataFrom: 64 << 20}
			}
			v := mount(b, dev)
			v.StatFS()
			chunk := pattern(1, 1<<20)
			const chunks = 512
			b.SetBytes(int64(len(chunk)))
			f, err := v.OpenFile("/stream", fat32.ReadWrite|fat32.Create)
			must(b, err)
			i := 0
			for b.Loop() {
				if i%chunks == 0 {
					must(b, f.Truncate(0))
					must(b, v.Sync())
				}
				if _, err := f.WriteAt(chunk, int64(i%chunks)<<20); err != nil {
					b.Fatal(err)
				}
				i++
			}
			must(b, f.Close())
			must(b, v.Close())
		})
	}
}

func BenchmarkSequentialRead(b *testing.B) {
	v := mount(b, format(b, 1<<30, fat32.FormatOptions{}))
	const chunks = 64
	put(b, v, "/stream", pattern(1, chunks<<20))
	f, err := v.OpenFile("/stream", fat32.ReadOnly)
	must(b, err)
	p := make([]byte, 1<<20)
	b.SetBytes(int64(len(p)))
	i := 0
	for b.Loop() {
		if _, err := f.ReadAt(p, int64(i%chunks)<<20); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

func BenchmarkRandomWrite4K(b *testing.B) {
	m := format(b, 1<<30, fat32.FormatOptions{})
	v := mount(b, &sink{saverDevice: m, dataFrom: 64 << 20})
	put(b, v, "/file", make([]byte, 64<<20))
	f, err := v.OpenFile("/file", fat32.ReadWrite)
	must(b, err)
	p := pattern(1, 4096)
	i := 0
	for b.Loop() {
		if _, err := f.WriteAt(p, int64(i*7919%16384)<<12); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

func BenchmarkStat(b *testing.B) {
	v := mount(b, format(b, 64<<20, fat32.FormatOptions{}))
	must(b, v.MkdirAll("/one/two/three"))
	for i := range 1000 {
		put(b, v, fmt.Sprintf("/one/two/three/a name of usual length %d.txt", i), []byte("x"))
	}
	i := 0
	for b.Loop() {
		if _, err := v.Stat(fmt.Sprintf("/one/two/three/a name of usual length %d.txt", i%1000)); err != nil {
			b.Fatal(err)
		}
		i++
	}
}

func BenchmarkRemove(b *testing.B) {
	for done := 0; done < b.N; {
		b.StopTimer()
		v := mount(b, format(b, 1<<30, fat32.FormatOptions{}))
		must(b, v.Mkdir("/dir"))
		const files = 10000
		for i := range files {
			put(b, v, fmt.Sprintf("/dir/file%06d.dat", i), []byte("content"))
		}
		must(b, v.Sync())
		b.StartTimer()
		for i := 0; i < files && done < b.N; i++ {
			must(b, v.Remove(fmt.Sprintf("/dir/file%06d.dat", i)))
			done++
		}
		must(b, v.Sync())
		b.StopTimer()
		must(b, v.Close())
		b.StartTimer()
	}
}
