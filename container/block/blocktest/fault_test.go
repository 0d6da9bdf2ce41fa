package blocktest

import (
	"errors"
	"syscall"
	"testing"
)

func TestFault(t *testing.T) {
	m := NewMem(4096)
	f := NewFault(m)
	write(t, f, 1, 100, 0)
	f.Inject(Injection{Op: OpWrite, Nth: 1, Err: syscall.ENOSPC, Short: 10})
	write(t, f, 2, 100, 0)
	n, err := f.WriteAt(make([]byte, 100), 0)
	if n != 10 || !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("second write after arming: %d, %v", n, err)
	}
	p := contents(t, m)
	if p[9] != 0 || p[10] != 2 {
		t.Fatal("a short write must store exactly its beginning")
	}
	write(t, f, 3, 100, 0) // not sticky
	if f.Fired() != 1 || f.Count(OpWrite) != 4 || f.Count(OpAny) != 4 {
		t.Fatal("counts", f.Fired(), f.Count(OpWrite), f.Count(OpAny))
	}

	f.Inject(Injection{Op: OpSync | OpRead, Sticky: true})
	if err := f.Sync(); !errors.Is(err, ErrInjected) {
		t.Fatal(err)
	}
	if _, err := f.ReadAt(p[:1], 0); !errors.Is(err, ErrInjected) {
		t.Fatal(err)
	}
	write(t, f, 4, 1, 0)
	f.Heal()
	if err := f.Sync(); err != nil {
		t.Fatal(err)
	}

	f.Inject(Injection{Op: OpWrite, Lost: true})
	write(t, f, 9, 1, 0)
	if p := contents(t, m); p[0] != 4 {
		t.Fatal("a lost write arrived")
	}
	f.Inject(Injection{Op: OpDiscard})
	if err := f.Discard(0, 10); !errors.Is(err, ErrInjected) {
		t.Fatal(err)
	}
	if err := f.Discard(0, 10); err != nil || contents(t, m)[0] != 0 {
		t.Fatal(err)
	}
}

func TestUntilPass(t *testing.T) {
	var seen []int
	n, err := UntilPass(100, func(n int) (bool, error) {
		f := NewFault(NewMem(512))
		f.Inject(Injection{Op: OpWrite, Nth: n})
		for i := range 5 {
			if _, err := f.WriteAt([]byte{1}, 0); err != nil {
				seen = append(seen, i)
			}
		}
		return f.Fired() > 0, nil
	})
	if n != 5 || err != nil || len(seen) != 5 || seen[4] != 4 {
		t.Fatal(n, err, seen)
	}
	if _, err := UntilPass(10, func(int) (bool, error) { return true, nil }); err == nil {
		t.Fatal("an endless sweep must be reported")
	}
	boom := errors.New("boom")
	if n, err := UntilPass(10, func(n int) (bool, error) {
		if n == 3 {
			return true, boom
		}
		return true, nil
	}); n != 3 || !errors.Is(err, boom) {
		t.Fatal(n, err)
	}
}
