package aesxts

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"math/big"
	"slices"
	"testing"

	"golang.org/x/crypto/xts"
)

// reference is XTS as IEEE 1619 writes it, block by block over crypto/aes with
// math/big for the numbers: nothing in it is shared with the engine. Where
// golang.org/x/crypto/xts can say something (64-bit numbers, whole blocks), it
// is asked and must agree.
type reference struct {
	data, tweak cipher.Block
	other       *xts.Cipher
}

func newReference(t testing.TB, key []byte) *reference {
	t.Helper()
	half := len(key) / 2
	data, err := aes.NewCipher(key[:half])
	if err != nil {
		t.Fatal(err)
	}
	tweak, err := aes.NewCipher(key[half:])
	if err != nil {
		t.Fatal(err)
	}
	other, err := xts.NewCipher(aes.NewCipher, key)
	if err != nil {
		t.Fatal(err)
	}
	return &reference{data, tweak, other}
}

// littleEndian128 is n modulo 2^128 as 16 little-endian bytes.
func littleEndian128(n *big.Int) [16]byte {
	var out [16]byte
	n = new(big.Int).Mod(n, new(big.Int).Lsh(big.NewInt(1), 128))
	n.FillBytes(out[:])
	slices.Reverse(out[:])
	return out
}

// unitNumber is base + (first+i)*step.
func unitNumber(base [16]byte, first, i, step uint64) [16]byte {
	b := slices.Clone(base[:])
	slices.Reverse(b)
	n := new(big.Int).Add(new(big.Int).SetUint64(first), new(big.Int).SetUint64(i))
	n.Mul(n, new(big.Int).SetUint64(step))
	return littleEndian128(n.Add(n, new(big.Int).SetBytes(b)))
}

// encrypt returns the ciphertext of one data unit of at least 16 bytes.
func (r *reference) encrypt(t testing.TB, number [16]byte, plain []byte) []byte {
	t.Helper()
	out := make([]byte, len(plain))
	var mask [16]byte
	r.tweak.Encrypt(mask[:], number[:])
	whole, tail := len(plain)/16, len(plain)%16
	for j := range whole {
		r.block(out[16*j:], plain[16*j:16*j+16], &mask)
		doubleBytes(&mask)
	}
	if tail > 0 {
		at := 16 * (whole - 1)
		stolen := slices.Clone(out[at : at+16])
		last := append(slices.Clone(plain[16*whole:]), stolen[tail:]...)
		r.block(out[at:], last, &mask)
		copy(out[16*whole:], stolen[:tail])
		return out
	}
	if binary.LittleEndian.Uint64(number[8:]) == 0 {
		want := make([]byte, len(plain))
		r.other.Encrypt(want, plain, binary.LittleEndian.Uint64(number[:]))
		if !slices.Equal(out, want) {
			t.Fatalf("the test's reference differs from x/crypto/xts")
		}
	}
	return out
}

func (r *reference) block(dst, src []byte, mask *[16]byte) {
	var x [16]byte
	for i := range x {
		x[i] = src[i] ^ mask[i]
	}
	r.data.Encrypt(x[:], x[:])
	for i := range x {
		dst[i] = x[i] ^ mask[i]
	}
}

// doubleBytes is the byte-wise form of IEEE 1619, section 5.2.
func doubleBytes(a *[16]byte) {
	carry := byte(0)
	for i, v := range a {
		a[i] = v<<1 | carry
		carry = v >> 7
	}
	if carry == 1 {
		a[0] ^= 0x87
	}
}

// encryptUnits is the reference of Engine.EncryptUnits.
func (r *reference) encryptUnits(t testing.TB, plain []byte, unit int, base [16]byte, first, step uint64) []byte {
	t.Helper()
	var out []byte
	for i := 0; i < len(plain)/unit; i++ {
		number := unitNumber(base, first, uint64(i), step)
		out = append(out, r.encrypt(t, number, plain[i*unit:(i+1)*unit])...)
	}
	return out
}
