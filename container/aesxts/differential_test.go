package aesxts

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// differentialCases is the number of random cases every implementation gets.
// -short is for emulated processors.
func differentialCases() int {
	if testing.Short() {
		return 1000
	}
	return 10000
}

const guard = 64 // bytes before and after every buffer that must not change

// arena is a buffer at a chosen misalignment between guards.
type arena struct{ all, buf []byte }

func newArena(rnd *rand.ChaCha8, offset, size int) *arena {
	all := make([]byte, guard+offset+size+guard)
	rnd.Read(all)
	return &arena{all, all[guard+offset:][:size:size]}
}

// intact says whether only buf changed since before was taken.
func (a *arena) intact(before []byte) bool {
	start := len(a.all) - guard - len(a.buf)
	end := len(a.all) - guard
	return bytes.Equal(a.all[:start], before[:start]) && bytes.Equal(a.all[end:], before[end:])
}

type testCase struct {
	keySize, unit, units int
	base                 [16]byte
	first, step          uint64
	dstOffset, srcOffset int
	inPlace              bool
	key                  []byte
}

func (c *testCase) String() string {
	return fmt.Sprintf("AES-%d, %d units of %d bytes, base %x, first %d, step %d, offsets %d and %d, in place %v",
		c.keySize*4, c.units, c.unit, c.base, c.first, c.step, c.dstOffset, c.srcOffset, c.inPlace)
}

func randomCase(rnd *rand.ChaCha8) *testCase {
	r := rand.New(rnd)
	c := &testCase{keySize: 32 << r.IntN(2), dstOffset: r.IntN(64), srcOffset: r.IntN(64), inPlace: r.IntN(3) == 0}
	switch r.IntN(8) {
	case 0:
		c.unit, c.units = 512<<r.IntN(4), 1+r.IntN(5)
	case 1:
		c.unit, c.units = 16*(1+r.IntN(4)), 1+r.IntN(80) // more units than one batch of tweaks
	case 2:
		c.unit, c.units = 16*(1+r.IntN(700)), 1
	default:
		c.unit, c.units = 16*(1+r.IntN(96)), 1+r.IntN(6)
	}
	c.step = []uint64{1, 2, 8, 512, 0, 1 << 63, r.Uint64()}[r.IntN(7)]
	c.first = []uint64{0, 1, uint64(r.Uint32()), 1<<63 - 1, ^uint64(0) - uint64(r.IntN(4)), r.Uint64()}[r.IntN(6)]
	switch r.IntN(4) {
	case 0:
		rnd.Read(c.base[:])
	case 1:
		copy(c.base[:], bytes.Repeat([]byte{255}, 8+8*r.IntN(2))) // the next one carries
	case 2:
		number{lo: uint64(r.Uint32())}.store(c.base[:])
	}
	c.key = make([]byte, c.keySize)
	rnd.Read(c.key)
	return c
}

// engines makes one engine of each kind for c.
func (c *testCase) engines(t testing.TB) []Engine {
	t.Helper()
	var list []Engine
	for _, name := range Implementations() {
		e, err := New(c.key, c.unit, WithTweak(0, c.step), WithTweakBase(c.base), WithImplementation(name))
		if err != nil {
			t.Fatal(err)
		}
		if e.Implementation() != name || e.UnitSize() != c.unit {
			t.Fatalf("asked for %s and %d bytes, got %s and %d", name, c.unit, e.Implementation(), e.UnitSize())
		}
		list = append(list, e)
	}
	return list
}

// both checks an operation both ways: guards, the untouched source, the
// result. encrypt and decrypt work on dst and src of len(plain).
func (c *testCase) both(rnd *rand.ChaCha8, plain, want []byte, encrypt, decrypt func(dst, src []byte)) error {
	for _, way := range []struct {
		name     string
		do       func(dst, src []byte)
		in, want []byte
	}{{"encryption", encrypt, plain, want}, {"decryption", decrypt, want, plain}} {
		src := newArena(rnd, c.srcOffset, len(plain))
		copy(src.buf, way.in)
		dst := src
		if !c.inPlace {
			dst = newArena(rnd, c.dstOffset, len(plain))
		}
		srcBefore, dstBefore := slices.Clone(src.all), slices.Clone(dst.all)
		way.do(dst.buf, src.buf)
		if !bytes.Equal(dst.buf, way.want) {
			return fmt.Errorf("%s: wrong bytes", way.name)
		}
		if !dst.intact(dstBefore) {
			return fmt.Errorf("%s: wrote outside dst", way.name)
		}
		if !c.inPlace && !bytes.Equal(src.all, srcBefore) {
			return fmt.Errorf("%s: wrote to src", way.name)
		}
	}
	return nil
}

// seedOf is fixed, so that a failure repeats; COFFER_TEST_SEED explores.
func seedOf(t testing.TB) *rand.ChaCha8 {
	var seed [32]byte
	copy(seed[:], t.Name()+os.Getenv("COFFER_TEST_SEED"))
	return rand.NewChaCha8(seed)
}

func TestDifferentialUnits(t *testing.T) {
	rnd := seedOf(t)
	cases := differentialCases()
	for i := range cases {
		c := randomCase(rnd)
		plain := make([]byte, c.unit*c.units)
		rnd.Read(plain)
		want := newReference(t, c.key).encryptUnits(t, plain, c.unit, c.base, c.first, c.step)
		for _, e := range c.engines(t) {
			err := c.both(rnd, plain, want,
				func(d, s []byte) { e.EncryptUnits(d, s, c.first) },
				func(d, s []byte) { e.DecryptUnits(d, s, c.first) })
			if err != nil {
				t.Fatalf("case %d: %s: %v: %v", i, e.Implementation(), c, err)
			}
			e.Wipe()
		}
	}
	t.Logf("%d cases for each of %v", cases, Implementations())
}

func TestDifferentialStealing(t *testing.T) {
	rnd := seedOf(t)
	r := rand.New(rnd)
	cases := differentialCases()
	for i := range cases {
		c := randomCase(rnd)
		plain := make([]byte, 16+r.IntN(16+16<<r.IntN(7)))
		rnd.Read(plain)
		want := newReference(t, c.key).encrypt(t, unitNumber(c.base, c.first, 0, c.step), plain)
		for _, e := range c.engines(t) {
			err := c.both(rnd, plain, want,
				func(d, s []byte) { EncryptUnit(e, d, s, c.first) },
				func(d, s []byte) { DecryptUnit(e, d, s, c.first) })
			if err != nil {
				t.Fatalf("case %d: %s: %d bytes: %v: %v", i, e.Implementation(), len(plain), c, err)
			}
		}
	}
	t.Logf("%d cases for each of %v", cases, Implementations())
}

// Every size class: each count of blocks up to past twice the widest loop,
// sizes around the piece of one assembly call, and the largest of all.
func TestEveryUnitSizeClass(t *testing.T) {
	rnd := seedOf(t)
	sizes := []int{4096, 65536, 16 * (pieceBlocks - 1), 16 * pieceBlocks, 16 * (pieceBlocks + 1), 16 * MaxUnitBlocks}
	for blocks := 1; blocks <= 80; blocks++ {
		sizes = append(sizes, 16*blocks)
	}
	for _, keySize := range []int{32, 64} {
		for _, unit := range sizes {
			c := &testCase{keySize: keySize, unit: unit, units: 3, step: 1, first: 5, key: make([]byte, keySize)}
			if unit >= 1<<18 {
				c.units = 1
			}
			if unit > 1<<20 && keySize == 32 && testing.Short() {
				continue // the largest unit once is enough on an emulated processor
			}
			rnd.Read(c.key)
			plain := make([]byte, c.unit*c.units)
			rnd.Read(plain)
			want := newReference(t, c.key).encryptUnits(t, plain, unit, c.base, c.first, c.step)
			for _, e := range c.engines(t) {
				err := c.both(rnd, plain, want,
					func(d, s []byte) { e.EncryptUnits(d, s, c.first) },
					func(d, s []byte) { e.DecryptUnits(d, s, c.first) })
				if err != nil {
					t.Fatalf("%s: %v: %v", e.Implementation(), c, err)
				}
			}
		}
	}
}

// dst may be longer than src; the rest of it stays.
func TestLongerDestination(t *testing.T) {
	eachKind(t, func(t *testing.T, k kind) {
		e := mustNew(t, 64, 48, WithImplementation(k.String()))
		dst := bytes.Repeat([]byte{0xaa}, 200)
		e.EncryptUnits(dst, make([]byte, 96), 0)
		EncryptUnit(e, dst[:96], make([]byte, 37), 0)
		if !bytes.Equal(dst[96:], bytes.Repeat([]byte{0xaa}, 104)) {
			t.Error("bytes after len(src) changed")
		}
		e.EncryptUnits(nil, nil, 0) // nothing to do is no error
	})
}

func FuzzUnits(f *testing.F) {
	f.Add([]byte("0123456789abcdef0123456789abcdef"), []byte("0123456789abcdefg"), uint64(1), uint64(8), uint16(1))
	f.Add(bytes.Repeat([]byte{7}, 64), make([]byte, 1000), ^uint64(0), ^uint64(0), uint16(31))
	f.Fuzz(func(t *testing.T, seed, plain []byte, first, step uint64, blocks uint16) {
		c := &testCase{keySize: 32, unit: 16 * (1 + int(blocks)%64), step: step, first: first}
		if len(seed) > 32 {
			c.keySize = 64
		}
		c.key = make([]byte, c.keySize)
		copy(c.key, seed)
		c.key[0] = ^c.key[c.keySize/2] // never equal halves
		if len(plain) < 16 || len(plain) > 1<<16 {
			return
		}
		whole := plain[:len(plain)/c.unit*c.unit]
		ref := newReference(t, c.key)
		wantUnits := ref.encryptUnits(t, whole, c.unit, c.base, first, step)
		wantUnit := ref.encrypt(t, unitNumber(c.base, first, 0, step), plain)
		for _, e := range c.engines(t) {
			got := make([]byte, len(plain))
			e.EncryptUnits(got, whole, first)
			if !bytes.Equal(got[:len(whole)], wantUnits) {
				t.Fatalf("%s: EncryptUnits, %v", e.Implementation(), c)
			}
			e.DecryptUnits(got, got[:len(whole)], first)
			if !bytes.Equal(got[:len(whole)], whole) {
				t.Fatalf("%s: DecryptUnits, %v", e.Implementation(), c)
			}
			EncryptUnit(e, got, plain, first)
			if !bytes.Equal(got, wantUnit) {
				t.Fatalf("%s: EncryptUnit of %d bytes, %v", e.Implementation(), len(plain), c)
			}
			DecryptUnit(e, got, got, first)
			if !bytes.Equal(got, plain) {
				t.Fatalf("%s: DecryptUnit of %d bytes, %v", e.Implementation(), len(plain), c)
			}
		}
	})
}
