package container

import (
	"fmt"
	"path/filepath"
	"testing"

	"coffer/container/block"
	"coffer/container/block/blocktest"
	"coffer/container/image"
)

// BenchmarkVolume writes and reads in sequence, in requests of several sizes,
// over a device in memory and over a file (page cache; no sync).
func BenchmarkVolume(b *testing.B) {
	const size = 256 << 20
	devices := map[string]func(b *testing.B) block.Device{
		"memory": func(*testing.B) block.Device { return blocktest.NewMem(size + 8192) },
		"file": func(b *testing.B) block.Device {
			f, err := image.Create(filepath.Join(b.TempDir(), "a.img"), size+8192, image.Options{})
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = f.Close() })
			return f
		},
	}
	for _, name := range []string{"memory", "file"} {
		for _, request := range []int{4 << 10, 128 << 10, 1 << 20} {
			for _, encrypted := range []bool{false, true} {
				b.Run(fmt.Sprintf("%s/%dK/encrypted=%v", name, request>>10, encrypted), func(b *testing.B) {
					benchVolume(b, devices[name](b), request, encrypted)
				})
			}
		}
	}
}

func benchVolume(b *testing.B, dev block.Device, request int, encrypted bool) {
	var v *Volume
	if encrypted {
		v = memVolume(b, dev, 4096)
	} else {
		var err error
		if v, err = newVolume(dev, layout{base: 8192, size: dev.Size() - 8192, unit: 512}, nil); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { _ = v.Close() })
	}
	p := make([]byte, request)
	for off := int64(0); off < v.Size(); off += int64(request) {
		if _, err := v.WriteAt(p, off); err != nil {
			b.Fatal(err)
		}
	}
	for _, op := range []string{"write", "read"} {
		b.Run(op, func(b *testing.B) {
			b.SetBytes(int64(request))
			off := int64(0)
			for b.Loop() {
				var err error
				if op == "write" {
					_, err = v.WriteAt(p, off)
				} else {
					_, err = v.ReadAt(p, off)
				}
				if err != nil {
					b.Fatal(err)
				}
				if off += int64(request); off+int64(request) > v.Size() {
					off = 0
				}
			}
		})
	}
}
