package aesxts

import (
	"bytes"
	"os"
	"syscall"
	"testing"
)

// fenced returns size bytes that end (or, with front, begin) where an
// unreadable page begins (ends): one byte too far, even read, kills the test.
func fenced(t *testing.T, size int, front bool) []byte {
	t.Helper()
	page := os.Getpagesize()
	inner := (size + page - 1) / page * page
	all, err := syscall.Mmap(-1, 0, inner+2*page, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Munmap(all); err != nil {
			t.Error(err)
		}
	})
	for _, fence := range [][]byte{all[:page], all[page+inner:]} {
		if err := syscall.Mprotect(fence, syscall.PROT_NONE); err != nil {
			t.Fatal(err)
		}
	}
	if front {
		return all[page:][:size:size]
	}
	return all[page+inner-size:][:size:size]
}

func TestNoAccessOutsideTheBuffers(t *testing.T) {
	const most = 2 * 1040
	for _, front := range []bool{false, true} {
		memory := fenced(t, ScheduleSize, front)
		srcAll, dstAll := fenced(t, most, front), fenced(t, most, front)
		cut := func(all []byte, size int) []byte {
			if front {
				return all[:size]
			}
			return all[len(all)-size:]
		}
		eachKind(t, func(t *testing.T, k kind) {
			for _, keySize := range []int{32, 64} {
				for size := 16; size <= 1040; size++ {
					key, plain := randomBytes(keySize), randomBytes(2*size)
					e, err := New(key, max(16, size/16*16), WithMemory(memory), WithImplementation(k.String()))
					if err != nil {
						t.Fatal(err)
					}
					n := size
					src, dst := cut(srcAll, n), cut(dstAll, n)
					copy(src, plain)
					EncryptUnit(e, dst, src, 1)
					DecryptUnit(e, dst, dst, 1)
					if !bytes.Equal(dst, plain[:n]) {
						t.Fatalf("AES-%d: a unit of %d bytes did not come back", keySize*4, n)
					}
					if size%16 == 0 {
						src, dst = cut(srcAll, 2*size), cut(dstAll, 2*size)
						copy(src, plain)
						e.EncryptUnits(dst, src, 1)
						e.DecryptUnits(dst, dst, 1)
						if !bytes.Equal(dst, plain) {
							t.Fatalf("AES-%d: units of %d bytes did not come back", keySize*4, size)
						}
					}
					e.Wipe()
				}
			}
		})
	}
}
