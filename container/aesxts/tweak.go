package aesxts

import (
	"encoding/binary"
	"math/bits"
)

// number is a data unit number, modulo 2^128.
type number struct{ lo, hi uint64 }

func loadNumber(b []byte) number {
	return number{binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])}
}

func (n number) store(b []byte) {
	binary.LittleEndian.PutUint64(b, n.lo)
	binary.LittleEndian.PutUint64(b[8:], n.hi)
}

func (n number) add(m number) number {
	lo, carry := bits.Add64(n.lo, m.lo, 0)
	hi, _ := bits.Add64(n.hi, m.hi, carry)
	return number{lo, hi}
}

// times returns index*step.
func times(index, step uint64) number {
	hi, lo := bits.Mul64(index, step)
	return number{lo, hi}
}

// double multiplies a tweak by x in GF(2^128) as IEEE 1619 section 5.2 orders
// its bits: little-endian, polynomial x^128 + x^7 + x^2 + x + 1.
func (n number) double() number {
	carry := -(n.hi >> 63) & 0x87
	return number{n.lo<<1 ^ carry, n.hi<<1 | n.lo>>63}
}
