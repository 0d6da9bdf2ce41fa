package aesxts

import (
	"encoding/binary"
	"math/bits"
)

// The generic cipher works on four blocks at once, as eight planes of 64 bits:
// plane b holds bit b of all 64 bytes. The byte of row r, column c of block k
// (FIPS 197: row = index mod 4) is bit 16*r + 4*c + k of every plane. So the
// next row is a rotation by 16 bits, and a column moves four bits in its row.

// planes are the bitsliced round keys of one AES key, little-endian words.
type planes [planesSize]byte

// packRoundKeys bitslices the round keys, the same in all four blocks.
func packRoundKeys(dst *planes, keys []byte, rounds int) {
	var q [8]uint64
	for r := 0; r <= rounds; r++ {
		k := loadNumber(keys[r*blockSize:])
		for i := range 4 {
			packBlock(&q, i, k.lo, k.hi)
		}
		transpose(&q)
		for b, v := range q {
			binary.LittleEndian.PutUint64(dst[r*64+8*b:], v)
		}
	}
	clear(q[:])
}

// packBlock spreads block k to the words that transpose turns into planes:
// word 4*(c&1) + k holds at byte 2*r + c/2 the byte of row r and column c.
func packBlock(q *[8]uint64, k int, lo, hi uint64) {
	q[k] = interleave(uint32(lo)) | interleave(uint32(hi))<<8
	q[4+k] = interleave(uint32(lo>>32)) | interleave(uint32(hi>>32))<<8
}

func unpackBlock(q *[8]uint64, k int) (lo, hi uint64) {
	even, odd := q[k], q[4+k]
	lo = uint64(gather(even)) | uint64(gather(odd))<<32
	hi = uint64(gather(even>>8)) | uint64(gather(odd>>8))<<32
	return lo, hi
}

// interleave moves byte i of w to byte 2*i.
func interleave(w uint32) uint64 {
	x := uint64(w)
	x = (x | x<<16) & 0x0000ffff0000ffff
	return (x | x<<8) & 0x00ff00ff00ff00ff
}

// gather undoes interleave and drops the odd bytes.
func gather(x uint64) uint32 {
	x &= 0x00ff00ff00ff00ff
	x = (x | x>>8) & 0x0000ffff0000ffff
	return uint32(x | x>>16)
}

// transpose exchanges word index and bit index within each byte; it is its
// own inverse.
func transpose(q *[8]uint64) {
	for i := 0; i < 8; i += 2 {
		q[i], q[i+1] = exchange(q[i], q[i+1], 1, 0x5555555555555555)
	}
	for _, i := range [4]int{0, 1, 4, 5} {
		q[i], q[i+2] = exchange(q[i], q[i+2], 2, 0x3333333333333333)
	}
	for i := range 4 {
		q[i], q[i+4] = exchange(q[i], q[i+4], 4, 0x0f0f0f0f0f0f0f0f)
	}
}

// exchange swaps the bits of a above the mask with the bits of b in it.
func exchange(a, b uint64, n uint, mask uint64) (uint64, uint64) {
	t := (a>>n ^ b) & mask
	return a ^ t<<n, b ^ t
}

func addRoundKey(q *[8]uint64, keys *planes, round int) {
	k := (*[64]byte)(keys[round*64:])
	for b := range q {
		q[b] ^= binary.LittleEndian.Uint64(k[8*b:])
	}
}

// shiftRows rotates row r left by r columns.
func shiftRows(q *[8]uint64) {
	for b, x := range q {
		q[b] = x&0x000000000000ffff |
			x&0x00000000fff00000>>4 | x&0x00000000000f0000<<12 |
			x&0x0000ff0000000000>>8 | x&0x000000ff00000000<<8 |
			x&0xf000000000000000>>12 | x&0x0fff000000000000<<4
	}
}

func invShiftRows(q *[8]uint64) {
	for b, x := range q {
		q[b] = x&0x000000000000ffff |
			x&0x000000000fff0000<<4 | x&0x00000000f0000000>>12 |
			x&0x0000ff0000000000>>8 | x&0x000000ff00000000<<8 |
			x&0x000f000000000000<<12 | x&0xfff0000000000000>>4
	}
}

// mixColumns: with a' the next row, out = 2*(a+a') + a' + (a+a' two rows on).
func mixColumns(q *[8]uint64) {
	q0, q1, q2, q3, q4, q5, q6, q7 := q[0], q[1], q[2], q[3], q[4], q[5], q[6], q[7]
	n0, n1, n2, n3 := nextRow(q0), nextRow(q1), nextRow(q2), nextRow(q3)
	n4, n5, n6, n7 := nextRow(q4), nextRow(q5), nextRow(q6), nextRow(q7)
	d0, d1, d2, d3 := q0^n0, q1^n1, q2^n2, q3^n3
	d4, d5, d6, d7 := q4^n4, q5^n5, q6^n6, q7^n7
	q[0] = d7 ^ n0 ^ twoRows(d0)
	q[1] = d0 ^ d7 ^ n1 ^ twoRows(d1)
	q[2] = d1 ^ n2 ^ twoRows(d2)
	q[3] = d2 ^ d7 ^ n3 ^ twoRows(d3)
	q[4] = d3 ^ d7 ^ n4 ^ twoRows(d4)
	q[5] = d4 ^ n5 ^ twoRows(d5)
	q[6] = d5 ^ n6 ^ twoRows(d6)
	q[7] = d6 ^ n7 ^ twoRows(d7)
}

// invMixColumns is mixColumns after a += 4*(a + a two rows on).
func invMixColumns(q *[8]uint64) {
	q0, q1, q2, q3, q4, q5, q6, q7 := q[0], q[1], q[2], q[3], q[4], q[5], q[6], q[7]
	d6, d7 := q6^twoRows(q6), q7^twoRows(q7)
	d67 := d6 ^ d7
	q[0] = q0 ^ d6
	q[1] = q1 ^ d67
	q[2] = q2 ^ q0 ^ twoRows(q0) ^ d7
	q[3] = q3 ^ q1 ^ twoRows(q1) ^ d6
	q[4] = q4 ^ q2 ^ twoRows(q2) ^ d67
	q[5] = q5 ^ q3 ^ twoRows(q3) ^ d7
	q[6] = q6 ^ q4 ^ twoRows(q4)
	q[7] = q7 ^ q5 ^ twoRows(q5)
	mixColumns(q)
}

func nextRow(x uint64) uint64 { return bits.RotateLeft64(x, -16) }
func twoRows(x uint64) uint64 { return bits.RotateLeft64(x, 32) }

// encryptPlanes is Cipher of FIPS 197 on four bitsliced blocks.
func encryptPlanes(q *[8]uint64, keys *planes, rounds int) {
	addRoundKey(q, keys, 0)
	for r := 1; r < rounds; r++ {
		subBytes(q)
		shiftRows(q)
		mixColumns(q)
		addRoundKey(q, keys, r)
	}
	subBytes(q)
	shiftRows(q)
	addRoundKey(q, keys, rounds)
}

// decryptPlanes is InvCipher of FIPS 197.
func decryptPlanes(q *[8]uint64, keys *planes, rounds int) {
	addRoundKey(q, keys, rounds)
	for r := rounds - 1; r > 0; r-- {
		invShiftRows(q)
		invSubBytes(q)
		addRoundKey(q, keys, r)
		invMixColumns(q)
	}
	invShiftRows(q)
	invSubBytes(q)
	addRoundKey(q, keys, 0)
}
