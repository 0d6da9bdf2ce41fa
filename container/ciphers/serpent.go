package ciphers

import (
	"crypto/cipher"
	"encoding/binary"
	"math/bits"
)

// serpent is the cipher of "Serpent: A Proposal for the Advanced Encryption Standard" (Anderson, Biham, Knudsen 1998) in
// its bitsliced form: the S-boxes are circuits over four words (serpentsbox.go), so no table is indexed by, and no
// branch depends on, key or data.
type serpent struct {
	keys [33][4]uint32
}

// newSerpent makes the cipher for a key of 16, 24 or 32 bytes.
func newSerpent(key []byte) (cipher.Block, error) {
	switch len(key) {
	case 16, 24, 32:
	default:
		return nil, keySizeError("Serpent", len(key))
	}
	var padded [32]byte
	copy(padded[:], key)
	if len(key) < len(padded) {
		padded[len(key)] = 1 // one bit, then zeros
	}
	var w [140]uint32
	for i := range 8 {
		w[i] = binary.LittleEndian.Uint32(padded[4*i:])
	}
	const phi = 0x9e3779b9 // the fraction of the golden ratio
	for i := range 132 {
		w[i+8] = bits.RotateLeft32(w[i]^w[i+3]^w[i+5]^w[i+7]^phi^uint32(i), 11)
	}
	s := &serpent{}
	for i := range s.keys {
		k := &s.keys[i]
		a, b, c, d := w[4*i+8], w[4*i+9], w[4*i+10], w[4*i+11]
		switch (35 - i) % 8 { // S3, S2, S1, S0, S7, ...
		case 0:
			k[0], k[1], k[2], k[3] = serpentS0(a, b, c, d)
		case 1:
			k[0], k[1], k[2], k[3] = serpentS1(a, b, c, d)
		case 2:
			k[0], k[1], k[2], k[3] = serpentS2(a, b, c, d)
		case 3:
			k[0], k[1], k[2], k[3] = serpentS3(a, b, c, d)
		case 4:
			k[0], k[1], k[2], k[3] = serpentS4(a, b, c, d)
		case 5:
			k[0], k[1], k[2], k[3] = serpentS5(a, b, c, d)
		case 6:
			k[0], k[1], k[2], k[3] = serpentS6(a, b, c, d)
		case 7:
			k[0], k[1], k[2], k[3] = serpentS7(a, b, c, d)
		}
	}
	clear(w[:])
	clear(padded[:])
	return s, nil
}

// serpentMix is the linear transformation.
func serpentMix(a, b, c, d uint32) (uint32, uint32, uint32, uint32) {
	a, c = bits.RotateLeft32(a, 13), bits.RotateLeft32(c, 3)
	b, d = bits.RotateLeft32(b^a^c, 1), bits.RotateLeft32(d^c^a<<3, 7)
	return bits.RotateLeft32(a^b^d, 5), b, bits.RotateLeft32(c^d^b<<7, 22), d
}

// serpentUnmix is its inverse.
func serpentUnmix(a, b, c, d uint32) (uint32, uint32, uint32, uint32) {
	a, c = bits.RotateLeft32(a, -5)^b^d, bits.RotateLeft32(c, -22)^d^b<<7
	b, d = bits.RotateLeft32(b, -1)^a^c, bits.RotateLeft32(d, -7)^c^a<<3
	return bits.RotateLeft32(a, -13), b, bits.RotateLeft32(c, -3), d
}

func (s *serpent) BlockSize() int { return 16 }

func (s *serpent) Encrypt(dst, src []byte) {
	checkBlock("Serpent", dst, src)
	a, b := binary.LittleEndian.Uint32(src), binary.LittleEndian.Uint32(src[4:])
	c, d := binary.LittleEndian.Uint32(src[8:]), binary.LittleEndian.Uint32(src[12:])
	for i := 0; ; i += 8 {
		k := (*[8][4]uint32)(s.keys[i:])
		a, b, c, d = serpentMix(serpentS0(a^k[0][0], b^k[0][1], c^k[0][2], d^k[0][3]))
		a, b, c, d = serpentMix(serpentS1(a^k[1][0], b^k[1][1], c^k[1][2], d^k[1][3]))
		a, b, c, d = serpentMix(serpentS2(a^k[2][0], b^k[2][1], c^k[2][2], d^k[2][3]))
		a, b, c, d = serpentMix(serpentS3(a^k[3][0], b^k[3][1], c^k[3][2], d^k[3][3]))
		a, b, c, d = serpentMix(serpentS4(a^k[4][0], b^k[4][1], c^k[4][2], d^k[4][3]))
		a, b, c, d = serpentMix(serpentS5(a^k[5][0], b^k[5][1], c^k[5][2], d^k[5][3]))
		a, b, c, d = serpentMix(serpentS6(a^k[6][0], b^k[6][1], c^k[6][2], d^k[6][3]))
		a, b, c, d = serpentS7(a^k[7][0], b^k[7][1], c^k[7][2], d^k[7][3])
		if i == 24 {
			break // the last round has a key instead of the linear transformation
		}
		a, b, c, d = serpentMix(a, b, c, d)
	}
	k := &s.keys[32]
	putWords(dst, a^k[0], b^k[1], c^k[2], d^k[3])
}

func (s *serpent) Decrypt(dst, src []byte) {
	checkBlock("Serpent", dst, src)
	k := &s.keys[32]
	a, b := binary.LittleEndian.Uint32(src)^k[0], binary.LittleEndian.Uint32(src[4:])^k[1]
	c, d := binary.LittleEndian.Uint32(src[8:])^k[2], binary.LittleEndian.Uint32(src[12:])^k[3]
	for i := 24; ; i -= 8 {
		k := (*[8][4]uint32)(s.keys[i:])
		a, b, c, d = serpentInverseS7(a, b, c, d)
		a, b, c, d = serpentUnmix(a^k[7][0], b^k[7][1], c^k[7][2], d^k[7][3])
		a, b, c, d = serpentInverseS6(a, b, c, d)
		a, b, c, d = serpentUnmix(a^k[6][0], b^k[6][1], c^k[6][2], d^k[6][3])
		a, b, c, d = serpentInverseS5(a, b, c, d)
		a, b, c, d = serpentUnmix(a^k[5][0], b^k[5][1], c^k[5][2], d^k[5][3])
		a, b, c, d = serpentInverseS4(a, b, c, d)
		a, b, c, d = serpentUnmix(a^k[4][0], b^k[4][1], c^k[4][2], d^k[4][3])
		a, b, c, d = serpentInverseS3(a, b, c, d)
		a, b, c, d = serpentUnmix(a^k[3][0], b^k[3][1], c^k[3][2], d^k[3][3])
		a, b, c, d = serpentInverseS2(a, b, c, d)
		a, b, c, d = serpentUnmix(a^k[2][0], b^k[2][1], c^k[2][2], d^k[2][3])
		a, b, c, d = serpentInverseS1(a, b, c, d)
		a, b, c, d = serpentUnmix(a^k[1][0], b^k[1][1], c^k[1][2], d^k[1][3])
		a, b, c, d = serpentInverseS0(a, b, c, d)
		a, b, c, d = a^k[0][0], b^k[0][1], c^k[0][2], d^k[0][3]
		if i == 0 {
			break
		}
		a, b, c, d = serpentUnmix(a, b, c, d)
	}
	putWords(dst, a, b, c, d)
}

func putWords(dst []byte, a, b, c, d uint32) {
	binary.LittleEndian.PutUint32(dst, a)
	binary.LittleEndian.PutUint32(dst[4:], b)
	binary.LittleEndian.PutUint32(dst[8:], c)
	binary.LittleEndian.PutUint32(dst[12:], d)
}

func (s *serpent) Wipe() { s.keys = [33][4]uint32{} }
