package aesxts

import (
	"bytes"
	"runtime"
	"sync"
	"testing"
	"time"
)

// withProcs runs f with n processors for Go, however many there are.
func withProcs(t *testing.T, n int, f func()) {
	t.Helper()
	before := runtime.GOMAXPROCS(n)
	defer runtime.GOMAXPROCS(before)
	f()
}

func TestSharedEqualsSingle(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for _, unit := range []int{16, 512, 528, 4096, 65536} {
			key := randomBytes(64)
			base := [16]byte{0: 0xff, 1: 0xff, 7: 0xff, 15: 0xff}
			opts := []Option{WithTweak(0, 1<<62+3), WithTweakBase(base), WithImplementation(k.String())}
			single, err := New(key, unit, append(opts, WithMaxWorkers(1))...)
			if err != nil {
				t.Fatal(err)
			}
			plain := randomBytes(unit * (1 + 300000/unit))
			want := make([]byte, len(plain))
			const first = 1<<64 - 5 // unit numbers beyond 64 bits
			single.EncryptUnits(want, plain, first)
			for _, procs := range []int{1, 2, 3, 8} {
				shared, err := New(key, unit, append(opts, withSplit(8192, 4096))...)
				if err != nil {
					t.Fatal(err)
				}
				withProcs(t, procs, func() {
					got := make([]byte, len(plain))
					shared.EncryptUnits(got, plain, first)
					if !bytes.Equal(got, want) {
						t.Errorf("units of %d, %d processors: encryption differs", unit, procs)
					}
					shared.DecryptUnits(got, got, first)
					if !bytes.Equal(got, plain) {
						t.Errorf("units of %d, %d processors: decryption differs", unit, procs)
					}
				})
			}
		}
	})
}

// One engine, many goroutines, large and small calls; for -race.
func TestConcurrentUse(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		withProcs(t, 4, func() {
			e := mustNew(t, 64, 512, WithImplementation(k.String()), withSplit(8192, 4096))
			var all sync.WaitGroup
			for g := range 8 {
				all.Go(func() {
					for i := range 10 {
						plain := randomBytes(512 * (1 + (g*i)%40))
						got := make([]byte, len(plain))
						e.EncryptUnits(got, plain, uint64(i))
						e.DecryptUnits(got, got, uint64(i))
						if !bytes.Equal(got, plain) {
							t.Errorf("goroutine %d, round %d: not the plaintext", g, i)
						}
					}
				})
			}
			all.Wait()
		})
	})
}

func TestWorkersEnd(t *testing.T) {
	withProcs(t, 8, func() {
		e := mustNew(t, 64, 512, withSplit(4096, 2048))
		before := runtime.NumGoroutine()
		buf := make([]byte, 1<<18)
		for range 100 {
			e.EncryptUnits(buf, buf, 0)
		}
		for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; {
			if time.Now().After(deadline) {
				t.Fatalf("%d goroutines, %d before", runtime.NumGoroutine(), before)
			}
			time.Sleep(time.Millisecond)
		}
	})
}

// A Wipe under a running operation is a mistake of the caller, but it must
// not turn into wrong bytes on a disk: the operation panics instead.
func TestWipeDuringOperation(t *testing.T) {
	const raceFree = "generic" // the others' reads are invisible to the race detector
	caught := 0
	for _, k := range kinds() {
		if k.String() == raceFree && raceEnabled {
			t.Logf("%s: not run under the race detector, which would report the caller's mistake itself", k)
			continue
		}
		key, plain := randomBytes(64), randomBytes(64<<10)
		want := newReference(t, key).encryptUnits(t, plain, 512, [16]byte{}, 0, 1)
		for range 30 {
			e, err := New(key, 512, WithImplementation(k.String()))
			if err != nil {
				t.Fatal(err)
			}
			stopped := make(chan string, 1)
			started := make(chan struct{})
			go func() {
				defer func() { text, _ := recover().(string); stopped <- text }()
				got := make([]byte, len(plain))
				for i := 0; ; i++ {
					e.EncryptUnits(got, plain, 0)
					if !bytes.Equal(got, want) {
						t.Errorf("%s: returned wrong bytes", k)
						return
					}
					if i == 0 {
						close(started)
					}
				}
			}()
			<-started
			e.Wipe()
			if text := <-stopped; text != "" {
				caught++
			}
		}
	}
	t.Logf("%d operations stopped", caught)
}
