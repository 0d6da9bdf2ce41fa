package block_test

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"coffer/container/block"
	"coffer/container/block/blocktest"
)

func TestCheckRange(t *testing.T) {
	const max = int64(^uint64(0) >> 1)
	for _, c := range []struct {
		off, n, size int64
		ok           bool
	}{
		{0, 0, 0, true}, {0, 10, 10, true}, {10, 0, 10, true}, {3, 7, 10, true},
		{-1, 1, 10, false}, {0, -1, 10, false}, {11, 0, 10, false}, {3, 8, 10, false},
		{max, max, 10, false}, {5, max, 10, false}, {max, 0, max, true},
	} {
		err := block.CheckRange(c.off, c.n, c.size)
		if (err == nil) != c.ok {
			t.Errorf("CheckRange(%d, %d, %d) = %v, want ok %v", c.off, c.n, c.size, err, c.ok)
		}
		if err != nil && !errors.Is(err, block.ErrOutOfRange) {
			t.Errorf("CheckRange(%d, %d, %d) = %v, not ErrOutOfRange", c.off, c.n, c.size, err)
		}
	}
}

func TestSectionStaysInside(t *testing.T) {
	m := blocktest.NewMem(4096)
	whole := bytes.Repeat([]byte{0xAA}, 4096)
	if _, err := m.WriteAt(whole, 0); err != nil {
		t.Fatal(err)
	}
	s, err := block.Section(m, 1000, 100)
	if err != nil {
		t.Fatal(err)
	}
	if s.Size() != 100 {
		t.Fatalf("size %d", s.Size())
	}
	for _, c := range []struct {
		off int64
		n   int
	}{{-1, 1}, {0, 101}, {100, 1}, {50, 51}, {1 << 62, 1}} {
		if n, err := s.WriteAt(make([]byte, c.n), c.off); n != 0 || !errors.Is(err, block.ErrOutOfRange) {
			t.Errorf("write %d bytes at %d: %d, %v", c.n, c.off, n, err)
		}
	}
	got := make([]byte, 4096)
	if err := block.ReadFull(m, got, 0); err != nil || !bytes.Equal(got, whole) {
		t.Fatal("a refused write changed the parent", err)
	}
	if _, err := s.WriteAt(bytes.Repeat([]byte{1}, 100), 0); err != nil {
		t.Fatal(err)
	}
	want := bytes.Clone(whole)
	for i := 1000; i < 1100; i++ {
		want[i] = 1
	}
	if err := block.ReadFull(m, got, 0); err != nil || !bytes.Equal(got, want) {
		t.Fatal("write through the section landed elsewhere", err)
	}
	n, err := s.ReadAt(got[:50], 80)
	if n != 20 || err != io.EOF || !bytes.Equal(got[:20], bytes.Repeat([]byte{1}, 20)) {
		t.Fatalf("read across the end: %d, %v", n, err)
	}
	if n, err := s.ReadAt(got[:20], 80); n != 20 || err != nil {
		t.Fatalf("read up to the end: %d, %v", n, err)
	}
	if n, err := s.ReadAt(got[:1], 100); n != 0 || err != io.EOF {
		t.Fatalf("read at the end: %d, %v", n, err)
	}
	if n, err := s.ReadAt(got[:1], -1); n != 0 || !errors.Is(err, block.ErrOutOfRange) {
		t.Fatalf("read before the start: %d, %v", n, err)
	}
}

func TestSectionBounds(t *testing.T) {
	m := blocktest.NewMem(1000)
	for _, c := range [][2]int64{{-1, 5}, {0, 1001}, {1001, 0}, {500, 501}, {500, -1}} {
		if _, err := block.Section(m, c[0], c[1]); !errors.Is(err, block.ErrOutOfRange) {
			t.Errorf("Section(%d, %d): %v", c[0], c[1], err)
		}
	}
}

// hideDiscard is a device without the optional interface.
type hideDiscard struct{ block.Device }

func TestSectionDiscard(t *testing.T) {
	m := blocktest.NewMem(8192)
	if _, err := m.WriteAt(bytes.Repeat([]byte{7}, 8192), 0); err != nil {
		t.Fatal(err)
	}
	s, _ := block.Section(m, 4096, 4096)
	d, ok := s.(block.Discarder)
	if !ok {
		t.Fatal("a section of a device that discards must discard")
	}
	if err := d.Discard(0, 4097); !errors.Is(err, block.ErrOutOfRange) {
		t.Fatal(err)
	}
	if err := d.Discard(0, 4096); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, 8192)
	_ = block.ReadFull(m, got, 0)
	if got[4095] != 7 || got[4096] != 0 || got[8191] != 0 {
		t.Fatal("discard hit the wrong range")
	}
	plain, _ := block.Section(hideDiscard{m}, 0, 10)
	if _, ok := plain.(block.Discarder); ok {
		t.Fatal("a section must not claim a discard that its parent has not")
	}
}

func TestReadOnly(t *testing.T) {
	m := blocktest.NewMem(512)
	r := block.ReadOnly(m)
	if _, err := r.WriteAt([]byte{1}, 0); !errors.Is(err, block.ErrReadOnly) {
		t.Fatal(err)
	}
	if _, ok := r.(block.Discarder); ok {
		t.Fatal("a read-only device must not discard")
	}
	if err := r.Sync(); err != nil || r.Size() != 512 {
		t.Fatal(err)
	}
	got := []byte{9}
	if _, err := r.ReadAt(got, 0); err != nil || got[0] != 0 {
		t.Fatal("the refused write arrived")
	}
}

func TestReadFull(t *testing.T) {
	m := blocktest.NewMem(10)
	if err := block.ReadFull(m, make([]byte, 10), 0); err != nil {
		t.Fatal(err)
	}
	if err := block.ReadFull(m, make([]byte, 10), 1); err != io.ErrUnexpectedEOF {
		t.Fatal(err)
	}
}
