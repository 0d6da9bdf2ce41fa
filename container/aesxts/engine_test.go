package aesxts

import (
	"bytes"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"testing"
)

func randomBytes(n int) []byte {
	b := make([]byte, n)
	rand.Read(b)
	return b
}

func mustNew(t testing.TB, keySize, unit int, opts ...Option) Engine {
	t.Helper()
	e, err := New(randomBytes(keySize), unit, opts...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func mustPanic(t *testing.T, text string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got, _ := recover().(string); !strings.Contains(got, text) {
			t.Errorf("panic %q, want %q", got, text)
		}
	}()
	f()
}

func TestNewRefuses(t *testing.T) {
	equal := bytes.Repeat([]byte{3}, 64)
	good := randomBytes(64)
	for _, c := range []struct {
		name, want string
		key        []byte
		unit       int
		opts       []Option
	}{
		{"no key", "0 bytes", nil, 512, nil},
		{"AES-192", "48 bytes", randomBytes(48), 512, nil},
		{"long key", "65 bytes", randomBytes(65), 512, nil},
		{"no unit", "data unit of 0", good, 0, nil},
		{"negative unit", "data unit of -16", good, -16, nil},
		{"odd unit", "data unit of 520", good, 520, nil},
		{"unit too long", "data unit of 16777232", good, 16*MaxUnitBlocks + 16, nil},
		{"equal halves", "halves", equal, 512, nil},
		{"equal halves, AES-128", "halves", equal[:32], 512, nil},
		{"little memory", "want 2160", good, 512, []Option{WithMemory(make([]byte, ScheduleSize-1))}},
		{"empty memory", "want 2160", good, 512, []Option{WithMemory([]byte{})}},
		{"workers", "-1 workers", good, 512, []Option{WithMaxWorkers(-1)}},
		{"implementation", `"none"`, good, 512, []Option{WithImplementation("none")}},
	} {
		e, err := New(c.key, c.unit, c.opts...)
		if e != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: engine %v, error %v, want %q in it", c.name, e, err, c.want)
		}
	}
	if _, err := New(equal, 512); !errors.Is(err, ErrEqualKeys) {
		t.Errorf("equal halves: %v", err)
	}
	if _, err := New(equal, 512, AllowEqualKeys()); err != nil {
		t.Errorf("equal halves, allowed: %v", err)
	}
}

func TestMisusePanics(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		e := mustNew(t, 32, 64, WithImplementation(k.String()))
		buf := make([]byte, 512)
		for _, op := range []func(dst, src []byte, n uint64){e.EncryptUnits, e.DecryptUnits} {
			mustPanic(t, "not full data units", func() { op(buf, buf[:65], 0) })
			mustPanic(t, "not full data units", func() { op(buf, buf[:1], 0) })
			mustPanic(t, "output smaller", func() { op(buf[:127], buf[:128], 0) })
			mustPanic(t, "output smaller", func() { op(nil, buf[:128], 0) })
			mustPanic(t, "overlap", func() { op(buf[1:], buf[:128], 0) })
			mustPanic(t, "overlap", func() { op(buf, buf[127:255], 0) })
			op(buf, buf[128:256], 0) // side by side is fine
			op(buf[128:], buf[:128], 0)
		}
		for _, op := range []func(e Engine, dst, src []byte, n uint64){EncryptUnit, DecryptUnit} {
			mustPanic(t, "shorter than a block", func() { op(e, buf, buf[:15], 0) })
			mustPanic(t, "shorter than a block", func() { op(e, buf, nil, 0) })
			mustPanic(t, "longer than", func() { op(e, nil, make([]byte, 16*MaxUnitBlocks+1), 0) })
			mustPanic(t, "output smaller", func() { op(e, buf[:16], buf[:17], 0) })
			mustPanic(t, "overlap", func() { op(e, buf[16:], buf[:17], 0) })
		}
	})
}

func TestMemoryHoldsTheKeysAndWipeClearsIt(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		for _, keySize := range []int{32, 64} {
			memory := bytes.Repeat([]byte{0xa5}, 3+ScheduleSize+7)
			key := randomBytes(keySize)
			before := slices.Clone(key)
			e, err := New(key, 512, WithMemory(memory[3:]), WithImplementation(k.String()))
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(key, before) {
				t.Error("New changed the key")
			}
			clear(key) // the engine must not need it any more
			plain := randomBytes(1024)
			want := newReference(t, before).encryptUnits(t, plain, 512, [16]byte{}, 0, 1)
			got := make([]byte, 1024)
			e.EncryptUnits(got, plain, 0)
			if !bytes.Equal(got, want) {
				t.Fatal("wrong bytes")
			}
			// The keys are in that memory, not elsewhere: other bytes there, another cipher.
			memory[3] ^= 1
			e.EncryptUnits(got, plain, 0)
			if bytes.Equal(got, want) {
				t.Error("the engine does not use the memory it was given")
			}
			e.Wipe()
			e.Wipe()
			edges := append(slices.Clone(memory[:3]), memory[3+ScheduleSize:]...)
			if !bytes.Equal(edges, bytes.Repeat([]byte{0xa5}, 10)) {
				t.Error("bytes around the schedule changed")
			}
			if !bytes.Equal(memory[3:3+ScheduleSize], make([]byte, ScheduleSize)) {
				t.Error("Wipe left something")
			}
			const text = "wiped"
			mustPanic(t, text, func() { e.EncryptUnits(got, plain, 0) })
			mustPanic(t, text, func() { e.DecryptUnits(got, nil, 0) })
			mustPanic(t, text, func() { EncryptUnit(e, got, plain, 0) })
			mustPanic(t, text, func() { DecryptUnit(e, got, plain, 0) })
			if e.UnitSize() != 512 || e.Implementation() != k.String() {
				t.Error("the engine forgot what it was")
			}
		}
	})
}

func TestDefaultIsTheFastest(t *testing.T) {
	e := mustNew(t, 64, 4096)
	if e.Implementation() != Implementations()[0] {
		t.Errorf("New chose %s of %v", e.Implementation(), Implementations())
	}
}

func TestNoAllocation(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		e := mustNew(t, 64, 512, WithImplementation(k.String()), WithMaxWorkers(1))
		buf := make([]byte, 4096)
		if n := testing.AllocsPerRun(20, func() {
			e.EncryptUnits(buf, buf, 1)
			e.DecryptUnits(buf, buf, 1)
			EncryptUnit(e, buf, buf[:77], 1)
		}); n != 0 {
			t.Errorf("%v allocations an operation", n)
		}
	})
}

// The bitsliced pieces against crypto/aes-free definitions of FIPS 197.
func TestSubBytes(t *testing.T) {
	for base := 0; base < 256; base += 64 {
		var q [8]uint64
		for i := range 64 {
			for b := range q {
				q[b] |= uint64((base+i)>>b&1) << i
			}
		}
		start := q
		subBytes(&q)
		for i := range 64 {
			var got byte
			for b := range q {
				got |= byte(q[b]>>i&1) << b
			}
			if want := sboxByDefinition(byte(base + i)); got != want {
				t.Fatalf("S-box of %#x is %#x, want %#x", base+i, got, want)
			}
		}
		invSubBytes(&q)
		if q != start {
			t.Fatalf("inverse S-box of %#x..", base)
		}
	}
}

// sboxByDefinition is section 5.1.1 of FIPS 197.
func sboxByDefinition(x byte) byte {
	inv := byte(0)
	for y := range 256 {
		if multiply(x, byte(y)) == 1 {
			inv = byte(y)
		}
	}
	out := byte(0x63)
	for i := range 5 {
		out ^= inv<<i | inv>>(8-i)
	}
	return out
}

func multiply(x, y byte) (p byte) {
	for ; y > 0; y >>= 1 {
		if y&1 == 1 {
			p ^= x
		}
		x = x<<1 ^ (x>>7)*0x1b
	}
	return p
}
