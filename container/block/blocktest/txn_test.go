package blocktest

import (
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
)

// fullMem is a device without fresh blocks, so that every write is counted.
func fullMem(t *testing.T, size int64) *Mem {
	m := NewMem(size)
	write(t, m, 0xEE, int(size), 0)
	return m
}

func reserve(t *testing.T, x *Txn, n int64) func() {
	t.Helper()
	release, err := x.Reserve(n)
	if err != nil {
		t.Fatal(err)
	}
	return release
}

func wantViolation(t *testing.T, x *Txn, part string) {
	t.Helper()
	v := x.Violations()
	if part == "" {
		if len(v) != 0 {
			t.Fatalf("violations: %q", v)
		}
		return
	}
	if len(v) == 0 || !strings.Contains(strings.Join(v, "\n"), part) {
		t.Fatalf("violations %q do not mention %q", v, part)
	}
}

func meta(t *testing.T, x *Txn, b byte, n int, off int64) {
	t.Helper()
	if k, err := x.WriteMeta([]byte(strings.Repeat(string([]byte{b}), n)), off); k != n || err != nil {
		t.Fatal(k, err)
	}
}

func TestTxnTogetherOrNotAtAll(t *testing.T) {
	x := NewTxn(fullMem(t, 64<<10), TxnOptions{})
	r := reserve(t, x, 4*pageBytes)
	write(t, x, 1, 100, 0)
	write(t, x, 1, 100, 40000)
	r()
	meta(t, x, 1, 10, 8192)
	at := func(m *Mem, off int64) byte {
		p := make([]byte, 1)
		_, _ = m.ReadAt(p, off)
		return p[0]
	}
	if m := x.Crash(); at(m, 0) != 0xEE || at(m, 40000) != 0xEE || at(m, 8192) != 0xEE {
		t.Fatal("something of the open transaction is durable")
	}
	wait := x.Seal()
	r = reserve(t, x, 3*pageBytes)
	write(t, x, 2, 100, 0) // after the seal: not in it
	r()
	if m := x.Crash(); at(m, 0) != 0xEE {
		t.Fatal("sealed is not durable")
	}
	if s := x.CrashStates(); len(s) != 2 || at(s[0], 0) != 0xEE || at(s[1], 0) != 1 || at(s[1], 8192) != 1 {
		t.Fatal("states of a commit in flight")
	}
	if err := wait(); err != nil {
		t.Fatal(err)
	}
	if m := x.Crash(); at(m, 0) != 1 || at(m, 40000) != 1 || at(m, 8192) != 1 {
		t.Fatal("the committed transaction is not durable as sealed")
	}
	if at(x.live, 0) != 2 {
		t.Fatal("the live device lost a write")
	}
	if err := errors.Join(wait(), x.Seal()()); err != nil {
		t.Fatal(err)
	}
	if m := x.Crash(); at(m, 0) != 2 {
		t.Fatal("second commit")
	}
	wantViolation(t, x, "")
}

func TestTxnViolations(t *testing.T) {
	for _, c := range []struct {
		name, want string
		run        func(t *testing.T, x *Txn)
	}{
		{"seal with a running operation", "sealed while", func(t *testing.T, x *Txn) {
			reserve(t, x, 1)
			x.Seal()
		}},
		{"sync with a running operation", "synced while", func(t *testing.T, x *Txn) {
			reserve(t, x, 1)
			_ = x.Sync()
		}},
		{"write outside", "outside any operation", func(t *testing.T, x *Txn) {
			reserve(t, x, pageBytes)()
			write(t, x, 1, 1, 0)
		}},
		{"operation over its reservation", "operations dirtied 8192", func(t *testing.T, x *Txn) {
			r := reserve(t, x, 2*pageBytes-1)
			write(t, x, 1, 2, pageBytes-1)
			r()
		}},
		{"transaction over its reservations", "transaction dirtied 8192", func(t *testing.T, x *Txn) {
			reserve(t, x, pageBytes)()
			meta(t, x, 1, 1, 0)
			meta(t, x, 1, 1, pageBytes)
			x.Seal()
		}},
		{"discard and rewrite in one transaction", "discard is not durable", func(t *testing.T, x *Txn) {
			r := reserve(t, x, pageBytes)
			_ = x.Discard(1024, 512)
			write(t, x, 1, 1, 1535)
			r()
		}},
		{"rewrite before the commit is durable", "discard is not durable", func(t *testing.T, x *Txn) {
			r := reserve(t, x, pageBytes)
			_ = x.Discard(0, 2*pageBytes)
			r()
			x.Seal()
			r = reserve(t, x, pageBytes)
			write(t, x, 1, 1, pageBytes)
			r()
		}},
		{"double release", "released twice", func(t *testing.T, x *Txn) {
			r := reserve(t, x, 0)
			r()
			r()
		}},
		{"none: exactly the reservation, rewrite after the commit", "", func(t *testing.T, x *Txn) {
			r := reserve(t, x, 2*pageBytes)
			write(t, x, 1, 2, pageBytes-1)
			write(t, x, 1, 2, pageBytes-1)
			_ = x.Discard(4*pageBytes, pageBytes)
			r()
			meta(t, x, 1, 1, 0)
			if err := x.Seal()(); err != nil {
				t.Fatal(err)
			}
			r = reserve(t, x, pageBytes)
			write(t, x, 1, 1, 4*pageBytes)
			r()
		}},
		{"none before the first reservation", "", func(t *testing.T, x *Txn) {
			write(t, x, 1, 100, 0)
			_ = x.Sync()
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := NewTxn(fullMem(t, 64<<10), TxnOptions{})
			c.run(t, x)
			wantViolation(t, x, c.want)
		})
	}
}

func TestTxnFresh(t *testing.T) {
	for _, count := range []bool{false, true} {
		x := NewTxn(NewMem(64<<10), TxnOptions{CountFresh: count})
		r := reserve(t, x, pageBytes)
		write(t, x, 1, 4*pageBytes, 0)
		r()
		want := ""
		if count {
			want = "operations dirtied 16384"
		}
		wantViolation(t, x, want)
	}
}

func TestTxnLimits(t *testing.T) {
	var x *Txn
	commits := 0
	x = NewTxn(NewMem(1<<20), TxnOptions{LimitBytes: 1000, CapacityBytes: 1500})
	_, err := x.Reserve(1001)
	var too interface{ TooLarge() bool }
	if !errors.As(err, &too) || !too.TooLarge() {
		t.Fatal(err)
	}
	reserve(t, x, 1000)()
	_, err = x.Reserve(1000)
	var full interface{ Full() bool }
	if !errors.Is(err, ErrFull) || errors.As(err, &too) || !errors.As(err, &full) || !full.Full() {
		t.Fatal(err)
	}
	x.opts.OnFull = func() error { commits++; return x.Seal()() }
	reserve(t, x, 1000)()
	if commits != 1 {
		t.Fatal("OnFull was called", commits, "times")
	}
}

func TestTxnFailedCommit(t *testing.T) {
	x := NewTxn(fullMem(t, 8192), TxnOptions{})
	boom := errors.New("boom")
	x.FailCommit(boom)
	r := reserve(t, x, pageBytes)
	write(t, x, 1, 1, 0)
	r()
	before := x.Crash()
	for range 2 {
		if err := x.Seal()(); !errors.Is(err, boom) {
			t.Fatal("a failed commit must stay failed:", err)
		}
	}
	if err := Diff(before, x.Crash()); err != nil {
		t.Fatal("a failed commit changed the durable state:", err)
	}
}

// TestTxnConcurrent: operations from several goroutines under a gate as the
// file system has it; no violation, and each state is a whole commit.
func TestTxnConcurrent(t *testing.T) {
	x := NewTxn(fullMem(t, 16*pageBytes), TxnOptions{})
	var gate sync.RWMutex
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 200 {
				gate.RLock()
				r, err := x.Reserve(2 * pageBytes)
				if err != nil {
					t.Error(err)
				}
				b := []byte{byte(i)}
				_, e1 := x.WriteAt(b, int64(w)*4*pageBytes)
				_, e2 := x.WriteAt(b, int64(w)*4*pageBytes+pageBytes)
				if err := errors.Join(e1, e2); err != nil {
					t.Error(err)
				}
				r()
				gate.RUnlock()
				if i%20 == 0 {
					gate.Lock()
					wait := x.Seal()
					gate.Unlock()
					if err := wait(); err != nil {
						t.Error(err)
					}
				}
				for _, m := range x.CrashStates() {
					var p, q [1]byte
					_, _ = m.ReadAt(p[:], int64(w)*4*pageBytes)
					_, _ = m.ReadAt(q[:], int64(w)*4*pageBytes+pageBytes)
					if p != q {
						t.Errorf("an operation was split: %d %d", p, q)
					}
				}
			}
		})
	}
	wg.Wait()
	wantViolation(t, x, "")
}

func TestRanges(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var set ranges
		var model [100]bool
		for range 20 {
			from := r.IntN(100)
			to := from + r.IntN(100-from)
			set.add(int64(from), int64(to))
			for i := from; i < to; i++ {
				model[i] = true
			}
		}
		for i := 1; i < len(set); i++ {
			if set[i-1].to >= set[i].from {
				t.Fatal("not merged", set)
			}
		}
		for from := range 100 {
			for to := from; to < 100; to++ {
				want := false
				for i := from; i < to; i++ {
					want = want || model[i]
				}
				if set.overlaps(int64(from), int64(to)) != want {
					t.Fatal(set, from, to, want)
				}
			}
		}
	}
}
