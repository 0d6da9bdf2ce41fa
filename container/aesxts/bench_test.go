package aesxts

import (
	"fmt"
	"testing"
)

// BenchmarkEncrypt/impl/unit/size: one thread, in place, sizes in bytes.
func BenchmarkEncrypt(b *testing.B) {
	benchmark(b, func(e Engine, buf []byte) { e.EncryptUnits(buf, buf, 0) })
}

func BenchmarkDecrypt(b *testing.B) {
	benchmark(b, func(e Engine, buf []byte) { e.DecryptUnits(buf, buf, 0) })
}

func benchmark(b *testing.B, op func(e Engine, buf []byte)) {
	for _, name := range Implementations() {
		for _, unit := range []int{512, 4096} {
			for _, size := range []int{4 << 10, 64 << 10, 1 << 20} {
				b.Run(fmt.Sprintf("%s/%d/%d", name, unit, size), func(b *testing.B) {
					e := mustNew(b, 64, unit, WithImplementation(name), WithMaxWorkers(1))
					buf := make([]byte, size)
					b.SetBytes(int64(size))
					for b.Loop() {
						op(e, buf)
					}
				})
			}
		}
	}
}

// BenchmarkShared/impl/size/way: what sharing among workers brings; "one"
// keeps to one goroutine, "shared" splits whatever the size.
func BenchmarkShared(b *testing.B) {
	for _, name := range Implementations() {
		for size := 16 << 10; size <= 4<<20; size *= 2 {
			for way, opt := range map[string]Option{"one": WithMaxWorkers(1), "shared": withSplit(size, min(size/2, 64<<10))} {
				b.Run(fmt.Sprintf("%s/%d/%s", name, size, way), func(b *testing.B) {
					e := mustNew(b, 64, 4096, WithImplementation(name), opt)
					buf := make([]byte, size)
					b.SetBytes(int64(size))
					for b.Loop() {
						e.EncryptUnits(buf, buf, 0)
					}
				})
			}
		}
	}
}

func BenchmarkNew(b *testing.B) {
	key := randomBytes(64)
	for b.Loop() {
		if _, err := New(key, 4096); err != nil {
			b.Fatal(err)
		}
	}
}
