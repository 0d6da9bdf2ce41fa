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
	q0, q1, q2, q3, q4, q5, q6, q7 := q[0], q[1], q[2], q[3], q[4], q[5], q[6], q[7]
	const one, two, four = 0x5555555555555555, 0x3333333333333333, 0x0f0f0f0f0f0f0f0f
	q0, q1 = exchange(q0, q1, 1, one)
	q2, q3 = exchange(q2, q3, 1, one)
	q4, q5 = exchange(q4, q5, 1, one)
	q6, q7 = exchange(q6, q7, 1, one)
	q0, q2 = exchange(q0, q2, 2, two)
	q1, q3 = exchange(q1, q3, 2, two)
	q4, q6 = exchange(q4, q6, 2, two)
	q5, q7 = exchange(q5, q7, 2, two)
	q[0], q[4] = exchange(q0, q4, 4, four)
	q[1], q[5] = exchange(q1, q5, 4, four)
	q[2], q[6] = exchange(q2, q6, 4, four)
	q[3], q[7] = exchange(q3, q7, 4, four)
}

// exchange swaps the bits of a above the mask with the bits of b in it.
func exchange(a, b uint64, n uint, mask uint64) (uint64, uint64) {
	t := (a>>n ^ b) & mask
	return a ^ t<<n, b ^ t
}

// The functions below are unrolled by hand: the compiler unrolls no loop, and
// as loops the linear layers took twice the time of the S-box.

func addRoundKey(q *[8]uint64, keys *planes, round int) {
	k := (*[64]byte)(keys[round*64:])
	q[0] ^= binary.LittleEndian.Uint64(k[0:])
	q[1] ^= binary.LittleEndian.Uint64(k[8:])
	q[2] ^= binary.LittleEndian.Uint64(k[16:])
	q[3] ^= binary.LittleEndian.Uint64(k[24:])
	q[4] ^= binary.LittleEndian.Uint64(k[32:])
	q[5] ^= binary.LittleEndian.Uint64(k[40:])
	q[6] ^= binary.LittleEndian.Uint64(k[48:])
	q[7] ^= binary.LittleEndian.Uint64(k[56:])
}

// shiftRow is ShiftRows on one plane, row r left by r columns: rows 2 and 3 by
// two, then rows 1 and 3 by one.
func shiftRow(x uint64) uint64 {
	t := (x ^ x>>8) & 0x00ff00ff00000000
	x ^= t ^ t<<8
	return x&0x0000ffff0000ffff | x>>4&0x0fff00000fff0000 | x<<12&0xf0000000f0000000
}

func invShiftRow(x uint64) uint64 {
	t := (x ^ x>>8) & 0x00ff00ff00000000
	x ^= t ^ t<<8
	return x&0x0000ffff0000ffff | x<<4&0xfff00000fff00000 | x>>12&0x000f0000000f0000
}

// shiftMix is ShiftRows and MixColumns.
func shiftMix(q *[8]uint64) {
	mixColumns(q, shiftRow(q[0]), shiftRow(q[1]), shiftRow(q[2]), shiftRow(q[3]),
		shiftRow(q[4]), shiftRow(q[5]), shiftRow(q[6]), shiftRow(q[7]))
}

// mixColumns stores MixColumns of its arguments in q: with a' the next row,
// out = 2*(a+a') + a' + (a+a' two rows on).
func mixColumns(q *[8]uint64, q0, q1, q2, q3, q4, q5, q6, q7 uint64) {
	n7 := nextRow(q7)
	d7 := q7 ^ n7
	n0 := nextRow(q0)
	d0 := q0 ^ n0
	q[0] = d7 ^ n0 ^ twoRows(d0)
	n1 := nextRow(q1)
	d1 := q1 ^ n1
	q[1] = d0 ^ d7 ^ n1 ^ twoRows(d1)
	n2 := nextRow(q2)
	d2 := q2 ^ n2
	q[2] = d1 ^ n2 ^ twoRows(d2)
	n3 := nextRow(q3)
	d3 := q3 ^ n3
	q[3] = d2 ^ d7 ^ n3 ^ twoRows(d3)
	n4 := nextRow(q4)
	d4 := q4 ^ n4
	q[4] = d3 ^ d7 ^ n4 ^ twoRows(d4)
	n5 := nextRow(q5)
	d5 := q5 ^ n5
	q[5] = d4 ^ n5 ^ twoRows(d5)
	n6 := nextRow(q6)
	d6 := q6 ^ n6
	q[6] = d5 ^ n6 ^ twoRows(d6)
	q[7] = d6 ^ n7 ^ twoRows(d7)
}

// invMixColumns is mixColumns after a += 4*(a + a two rows on).
func invMixColumns(q *[8]uint64) {
	q0, q1, q2, q3, q4, q5, q6, q7 := q[0], q[1], q[2], q[3], q[4], q[5], q[6], q[7]
	d6, d7 := q6^twoRows(q6), q7^twoRows(q7)
	d67 := d6 ^ d7
	mixColumns(q,
		q0^d6,
		q1^d67,
		q2^q0^twoRows(q0)^d7,
		q3^q1^twoRows(q1)^d6,
		q4^q2^twoRows(q2)^d67,
		q5^q3^twoRows(q3)^d7,
		q6^q4^twoRows(q4),
		q7^q5^twoRows(q5))
}

func nextRow(x uint64) uint64 { return bits.RotateLeft64(x, -16) }
func twoRows(x uint64) uint64 { return bits.RotateLeft64(x, 32) }

func shiftRows(q *[8]uint64) {
	for b := range q {
		q[b] = shiftRow(q[b])
	}
}

func invShiftRows(q *[8]uint64) {
	q[0], q[1], q[2], q[3] = invShiftRow(q[0]), invShiftRow(q[1]), invShiftRow(q[2]), invShiftRow(q[3])
	q[4], q[5], q[6], q[7] = invShiftRow(q[4]), invShiftRow(q[5]), invShiftRow(q[6]), invShiftRow(q[7])
}

// encryptPlanes is Cipher of FIPS 197 on four bitsliced blocks.
func encryptPlanes(q *[8]uint64, keys *planes, rounds int) {
	addRoundKey(q, keys, 0)
	for r := 1; r < rounds; r++ {
		subBytes(q)
		shiftMix(q)
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
