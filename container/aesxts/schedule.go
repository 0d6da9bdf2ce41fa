package aesxts

import (
	"encoding/binary"
	"math/bits"
)

// The expanded keys, in one block of memory. Offsets in bytes; round keys are
// 16 bytes each, at most 15 of them.
//
// Assembly implementations:
//
//	  0  240  K1, for encryption, rounds 0..n
//	240  240  K1, for the equivalent inverse cipher (FIPS 197, 5.3.5), in the
//	          order of use: round n, n-1 .. 1 through InvMixColumns, 0
//	480  240  K2, for encryption (the tweak is encrypted both ways)
//
// generic (bitsliced planes of one round key: 8 words of 8 bytes):
//
//	   0  960  K1, rounds 0..n
//	 960  960  K2, rounds 0..n
//	1920  240  scratch of the expansion, zero afterwards
const (
	roundKeysSize = 15 * blockSize
	planesSize    = 15 * 64

	offEncrypt = 0
	offDecrypt = roundKeysSize
	offTweak   = 2 * roundKeysSize

	offPlanes1 = 0
	offPlanes2 = planesSize
	offScratch = 2 * planesSize

	// ScheduleSize is the number of bytes WithMemory needs.
	ScheduleSize = offScratch + roundKeysSize
)

type schedule [ScheduleSize]byte

// fill expands K1 || K2 in the layout k wants.
func (s *schedule) fill(key []byte, k kind) {
	half := len(key) / 2
	if k != kindGeneric {
		expandKey(s[offEncrypt:offEncrypt+roundKeysSize], key[:half])
		invertKey(s[offDecrypt:offDecrypt+roundKeysSize], s[offEncrypt:offEncrypt+roundKeysSize], half/4+6)
		expandKey(s[offTweak:offTweak+roundKeysSize], key[half:])
		return
	}
	scratch := s[offScratch : offScratch+roundKeysSize]
	expandKey(scratch, key[:half])
	packRoundKeys((*planes)(s[offPlanes1:]), scratch, half/4+6)
	expandKey(scratch, key[half:])
	packRoundKeys((*planes)(s[offPlanes2:]), scratch, half/4+6)
	clear(scratch)
}

// expandKey is KeyExpansion of FIPS 197, section 5.2, without look-up tables,
// for keys of 16 and 32 bytes.
func expandKey(dst, key []byte) {
	nk := len(key) / 4
	copy(dst, key)
	rcon := uint32(1)
	for i := nk; i < 4*(nk+7); i++ {
		w := binary.LittleEndian.Uint32(dst[4*i-4:])
		switch {
		case i%nk == 0:
			w = subWord(bits.RotateLeft32(w, -8)) ^ rcon
			rcon = xtimeColumn(rcon)
		case nk == 8 && i%nk == 4:
			w = subWord(w)
		}
		w ^= binary.LittleEndian.Uint32(dst[4*(i-nk):])
		binary.LittleEndian.PutUint32(dst[4*i:], w)
	}
}

// invertKey derives the keys of the equivalent inverse cipher.
func invertKey(dst, enc []byte, rounds int) {
	for r := 0; r <= rounds; r++ {
		for c := 0; c < blockSize; c += 4 {
			w := binary.LittleEndian.Uint32(enc[(rounds-r)*blockSize+c:])
			if r > 0 && r < rounds {
				w = invMixColumn(w)
			}
			binary.LittleEndian.PutUint32(dst[r*blockSize+c:], w)
		}
	}
}

// xtimeColumn multiplies the four bytes of w by x in GF(2^8).
func xtimeColumn(w uint32) uint32 {
	return w&0x7f7f7f7f<<1 ^ w>>7&0x01010101*0x1b
}

// invMixColumn is InvMixColumns on one column, byte 0 the least significant.
func invMixColumn(w uint32) uint32 {
	// circ(14,11,13,9) = circ(2,3,1,1) * circ(5,0,4,0)
	w ^= xtimeColumn(xtimeColumn(w ^ bits.RotateLeft32(w, 16)))
	next := bits.RotateLeft32(w, -8)
	return xtimeColumn(w^next) ^ next ^ bits.RotateLeft32(w^next, 16)
}

// subWord applies the S-box to the four bytes of w.
func subWord(w uint32) uint32 {
	var q [8]uint64
	for b := range q {
		// Bits b, b+8, b+16, b+24 of w, left where they are.
		q[b] = uint64(w >> b & 0x01010101)
	}
	subBytes(&q)
	w = 0
	for b, v := range q {
		w |= uint32(v&0x01010101) << b
	}
	clear(q[:])
	return w
}
