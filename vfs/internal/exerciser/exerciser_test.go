package exerciser

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
)

// kinds are the exercisers by name.
var kinds = map[string]func(context.Context, Config) error{"file": File, "tree": Tree}

func operations(full int) int {
	if testing.Short() {
		return full / 4
	}
	return full
}

// TestHost runs on the file system of the temporary folder, which is taken to be right: this tests the exercisers.
func TestHost(t *testing.T) {
	for name, run := range kinds {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(4) {
				dir := t.TempDir()
				remounts := 0
				c := Config{Dir: dir, Seed: seed, Operations: operations(3000), Remount: func() error { remounts++; return nil }}
				if seed == 3 {
					c.MaxSizeBytes = 3 << 20
				}
				if err := run(t.Context(), c); err != nil {
					t.Fatal(err)
				}
				if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
					t.Errorf("left behind: %v, %v", left, err)
				}
			}
		})
	}
}

// faulty puts faults between an exerciser and the host. A fault strikes from the after-th call on that it concerns: once
// is not always visible (what was written wrong can be overwritten before it is read).
type faulty struct {
	System
	fault string
	after int
}

func (s *faulty) strikes(fault string) bool {
	if s.fault != fault {
		return false
	}
	s.after--
	return s.after <= 0
}

func (s *faulty) Open(name string, flag int) (Handle, error) {
	if flag&os.O_EXCL != 0 && s.strikes("exclusive ignored") {
		flag &^= os.O_EXCL
	}
	if flag&os.O_TRUNC != 0 && s.strikes("truncation ignored") {
		flag &^= os.O_TRUNC
	}
	h, err := s.System.Open(name, flag)
	if err != nil {
		return nil, err
	}
	return &faultyHandle{h, s}, nil
}

func (s *faulty) Rename(from, to string) error {
	if s.strikes("rename lost") {
		return nil
	}
	return s.System.Rename(from, to)
}

func (s *faulty) Remove(name string) error {
	if s.strikes("remove lost") {
		return nil
	}
	return s.System.Remove(name)
}

func (s *faulty) List(name string) ([]fs.FileInfo, error) {
	infos, err := s.System.List(name)
	if len(infos) > 0 {
		switch {
		case s.strikes("entry not listed"):
			infos = infos[1:]
		case s.strikes("entry listed twice"):
			infos = append(infos, infos[0])
		}
	}
	return infos, err
}

type faultyHandle struct {
	Handle
	s *faulty
}

func (h *faultyHandle) WriteAt(p []byte, off int64) (int, error) {
	switch {
	case h.s.strikes("write lost"):
		if _, err := h.Handle.WriteAt(make([]byte, len(p)), off); err != nil {
			return 0, err
		}
		return len(p), nil
	case h.s.strikes("last byte lost"):
		n, err := h.Handle.WriteAt(p[:len(p)-1], off)
		return n + 1, err
	case h.s.strikes("write moved"):
		return h.Handle.WriteAt(p, off+1)
	case h.s.strikes("write fails"):
		return 0, errors.New("input/output error")
	}
	return h.Handle.WriteAt(p, off)
}

func (h *faultyHandle) Write(p []byte) (int, error) {
	if h.s.strikes("append at the start") {
		return len(p), h.overwrite(p)
	}
	return h.Handle.Write(p)
}

func (h *faultyHandle) overwrite([]byte) error { return h.Handle.Truncate(0) }

func (h *faultyHandle) ReadAt(p []byte, off int64) (int, error) {
	n, err := h.Handle.ReadAt(p, off)
	switch {
	case n > 0 && h.s.strikes("one bit read wrong"):
		p[n/2] ^= 1
	case n > 1 && h.s.strikes("read short"):
		n--
	}
	return n, err
}

// Truncate can leave what was there behind the end, for the next growth to show.
func (h *faultyHandle) Truncate(to int64) error {
	size, err := h.Handle.Size()
	if err != nil {
		return err
	}
	if err := h.Handle.Truncate(to); err != nil {
		return err
	}
	if to > size && h.s.strikes("hole not zero") {
		_, err = h.Handle.WriteAt([]byte{1}, to-1)
	}
	return err
}

func (h *faultyHandle) Size() (int64, error) {
	n, err := h.Handle.Size()
	if h.s.strikes("size wrong") {
		n++
	}
	return n, err
}

func (h *faultyHandle) Map(sizeBytes int64, writable bool) (Mapping, error) {
	m, err := h.Handle.Map(sizeBytes, writable)
	if err == nil && h.s.strikes("map is a copy") {
		return copied{slices.Clone(m.Bytes()), m}, nil
	}
	return m, err
}

// copied is a map that is not shared.
type copied struct {
	bytes []byte
	Mapping
}

func (c copied) Bytes() []byte { return c.bytes }

// TestNotices puts one fault at a time below the exercisers: each must be noticed, by a message with the seed and the
// last operations, and the same again with the same seed.
func TestNotices(t *testing.T) {
	for exerciser, faults := range map[string][]string{
		"file": {"write lost", "last byte lost", "write moved", "write fails", "append at the start", "one bit read wrong",
			"read short", "hole not zero", "size wrong", "map is a copy", "rename lost"},
		"tree": {"write lost", "last byte lost", "write moved", "write fails", "append at the start", "one bit read wrong",
			"read short", "hole not zero", "size wrong", "rename lost", "remove lost", "entry not listed", "entry listed twice",
			"exclusive ignored", "truncation ignored"},
	} {
		for _, fault := range faults {
			t.Run(exerciser+"/"+fault, func(t *testing.T) {
				var first *Failure
				for range 2 {
					s := &faulty{System: OS(), fault: fault, after: 5}
					err := kinds[exerciser](t.Context(), Config{Dir: t.TempDir(), Seed: 9, Operations: 4000, System: s})
					var failure *Failure
					if !errors.As(err, &failure) {
						t.Fatalf("not noticed (%d calls were missing to strike): %v", s.after, err)
					}
					if text := err.Error(); !strings.Contains(text, "with seed 9") || !strings.Contains(text, "last operations:\n") {
						t.Errorf("the message does not say how to repeat it: %s", text)
					}
					if first != nil && (first.Operation != failure.Operation || !slices.Equal(first.Last, failure.Last)) {
						t.Errorf("not repeatable: operation %d, then %d", first.Operation, failure.Operation)
					}
					first = failure
				}
				t.Logf("noticed: %s", strings.SplitN(first.Error(), "\n", 2)[0])
			})
		}
	}
}

// TestCaseRules: with FAT the model knows that names which differ in case are one, so a system that keeps them apart
// must be noticed.
func TestCaseRules(t *testing.T) {
	var failure *Failure
	if err := Tree(t.Context(), Config{Dir: t.TempDir(), Operations: 4000, FAT: true}); !errors.As(err, &failure) {
		t.Fatalf("a case-sensitive file system passed for FAT: %v", err)
	}
	if err := File(t.Context(), Config{Dir: t.TempDir(), Operations: 4000, FAT: true}); err != nil && !strings.Contains(err.Error(), "punched") {
		t.Fatal(err)
	}
}

func TestContentIsTraceable(t *testing.T) {
	p, q := make([]byte, 100), make([]byte, 40)
	fill(p, 5, 7)
	fill(q, 25, 7)
	if !slices.Equal(p[20:60], q) {
		t.Fatal("what an operation writes depends on where it starts")
	}
	for i := 0; i+8 <= len(p); i++ {
		if string(p[i:i+8]) == strings.Repeat("\x00", 8) {
			t.Fatal("content looks like a hole")
		}
	}
	got := slices.Clone(p)
	fill(got[30:50], 35, 3)
	clear(p[60:])
	for _, part := range []string{"from byte 35", "of operation 3", "want", "of operation 7"} {
		if d := difference(got, p, 5, 9); !strings.Contains(d, part) {
			t.Errorf("%q does not say %q", d, part)
		}
	}
}
