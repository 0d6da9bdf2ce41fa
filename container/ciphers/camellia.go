package ciphers

import (
	"crypto/cipher"
	"encoding/binary"
	"math/bits"
	"sync"
)

// camelliaS1 is SBOX1 of RFC 3713, section 2.4.1; the other three are rotations of it.
var camelliaS1 = [256]byte{
	112, 130, 44, 236, 179, 39, 192, 229, 228, 133, 87, 53, 234, 12, 174, 65,
	35, 239, 107, 147, 69, 25, 165, 33, 237, 14, 79, 78, 29, 101, 146, 189,
	134, 184, 175, 143, 124, 235, 31, 206, 62, 48, 220, 95, 94, 197, 11, 26,
	166, 225, 57, 202, 213, 71, 93, 61, 217, 1, 90, 214, 81, 86, 108, 77,
	139, 13, 154, 102, 251, 204, 176, 45, 116, 18, 43, 32, 240, 177, 132, 153,
	223, 76, 203, 194, 52, 126, 118, 5, 109, 183, 169, 49, 209, 23, 4, 215,
	20, 88, 58, 97, 222, 27, 17, 28, 50, 15, 156, 22, 83, 24, 242, 34,
	254, 68, 207, 178, 195, 181, 122, 145, 36, 8, 232, 168, 96, 252, 105, 80,
	170, 208, 160, 125, 161, 137, 98, 151, 84, 91, 30, 149, 224, 255, 100, 210,
	16, 196, 0, 72, 163, 247, 117, 219, 138, 3, 230, 218, 9, 63, 221, 148,
	135, 92, 131, 2, 205, 74, 144, 51, 115, 103, 246, 243, 157, 127, 191, 226,
	82, 155, 216, 38, 200, 55, 198, 59, 129, 150, 111, 75, 19, 190, 99, 46,
	233, 121, 167, 140, 159, 110, 188, 142, 41, 245, 249, 182, 47, 253, 180, 89,
	120, 152, 6, 106, 231, 70, 113, 186, 212, 37, 171, 66, 136, 162, 141, 250,
	114, 7, 185, 85, 248, 238, 172, 10, 54, 73, 42, 104, 60, 56, 241, 164,
	64, 40, 211, 123, 187, 201, 67, 193, 21, 227, 173, 244, 119, 199, 128, 158,
}

// camelliaSigma are the key schedule constants of RFC 3713, section 2.2.
var camelliaSigma = [6]uint64{
	0xa09e667f3bcc908b, 0xb67ae8584caa73b2, 0xc6ef372fe94f82be,
	0x54ff53a5f1d36f1c, 0x10e527fade682d1d, 0xb05688c2b3e6c1fd,
}

// camelliaSpread[i] names the output bytes (y1 is bit 7, y8 bit 0) that t(i+1) goes into: the P-function of
// RFC 3713, section 2.4.1, read by columns.
var camelliaSpread = [8]byte{0b11101001, 0b01111100, 0b10110110, 0b11010011, 0b01110111, 0b10111011, 0b11011101, 0b11101110}

// camelliaTables hold, for each byte of the F-function's input, S-box and P-function in one look-up: 16 KiB.
type camelliaTables [8][256]uint64

// camelliaTablesOnce computes them when Camellia is first used: a program that never does pays nothing.
var camelliaTablesOnce = sync.OnceValue(func() *camelliaTables {
	var tables camelliaTables
	for position, box := range [8]int{1, 2, 3, 4, 2, 3, 4, 1} {
		for x := range 256 {
			y := camelliaS1[x]
			switch box {
			case 2:
				y = bits.RotateLeft8(y, 1)
			case 3:
				y = bits.RotateLeft8(y, 7)
			case 4:
				y = camelliaS1[bits.RotateLeft8(uint8(x), 1)]
			}
			var word uint64
			for out := range 8 {
				if camelliaSpread[position]>>(7-out)&1 == 1 {
					word |= uint64(y) << (56 - 8*out)
				}
			}
			tables[position][x] = word
		}
	}
	return &tables
})

// camelliaSchedule is the subkeys in the order in which one direction uses them.
type camelliaSchedule struct {
	whitenIn, whitenOut [2]uint64
	rounds              [24]uint64
	layers              [6]uint64 // of FL and its inverse, in pairs, after every six rounds
}

type camellia struct {
	tables           *camelliaTables
	groups           int // of six rounds: 3 for 128-bit keys, 4 for longer ones
	encrypt, decrypt camelliaSchedule
}

// newCamellia makes the cipher of RFC 3713 for a key of 16, 24 or 32 bytes.
func newCamellia(key []byte) (cipher.Block, error) {
	c := &camellia{tables: camelliaTablesOnce()}
	switch len(key) {
	case 16:
		c.groups = 3
	case 24, 32:
		c.groups = 4
	default:
		return nil, keySizeError("Camellia", len(key))
	}
	c.expand(key)
	return c, nil
}

// rotate128 is the 128-bit value k rotated left by n bits, 0 <= n < 128.
func rotate128(k [2]uint64, n uint) [2]uint64 {
	if n >= 64 {
		k[0], k[1], n = k[1], k[0], n-64
	}
	if n == 0 {
		return k
	}
	return [2]uint64{k[0]<<n | k[1]>>(64-n), k[1]<<n | k[0]>>(64-n)}
}

// expand makes both schedules, RFC 3713, section 2.2.
func (c *camellia) expand(key []byte) {
	var kl, kr [2]uint64
	kl[0], kl[1] = binary.BigEndian.Uint64(key), binary.BigEndian.Uint64(key[8:])
	switch len(key) {
	case 24:
		kr[0] = binary.BigEndian.Uint64(key[16:])
		kr[1] = ^kr[0]
	case 32:
		kr[0], kr[1] = binary.BigEndian.Uint64(key[16:]), binary.BigEndian.Uint64(key[24:])
	}
	t := c.tables
	ka := [2]uint64{kl[0] ^ kr[0], kl[1] ^ kr[1]}
	ka[1] ^= t.f(ka[0] ^ camelliaSigma[0])
	ka[0] ^= t.f(ka[1] ^ camelliaSigma[1])
	ka[0], ka[1] = ka[0]^kl[0], ka[1]^kl[1]
	ka[1] ^= t.f(ka[0] ^ camelliaSigma[2])
	ka[0] ^= t.f(ka[1] ^ camelliaSigma[3])
	kb := [2]uint64{ka[0] ^ kr[0], ka[1] ^ kr[1]}
	kb[1] ^= t.f(kb[0] ^ camelliaSigma[4])
	kb[0] ^= t.f(kb[1] ^ camelliaSigma[5])

	e := &c.encrypt
	e.whitenIn = kl
	put := func(dst []uint64, k [2]uint64, n uint) { copy(dst, sliceOf(rotate128(k, n))) }
	if len(key) == 16 {
		put(e.rounds[0:], ka, 0)
		put(e.rounds[2:], kl, 15)
		put(e.rounds[4:], ka, 15)
		put(e.layers[0:], ka, 30)
		put(e.rounds[6:], kl, 45)
		e.rounds[8], e.rounds[9] = rotate128(ka, 45)[0], rotate128(kl, 60)[1]
		put(e.rounds[10:], ka, 60)
		put(e.layers[2:], kl, 77)
		put(e.rounds[12:], kl, 94)
		put(e.rounds[14:], ka, 94)
		put(e.rounds[16:], kl, 111)
		e.whitenOut = rotate128(ka, 111)
	} else {
		put(e.rounds[0:], kb, 0)
		put(e.rounds[2:], kr, 15)
		put(e.rounds[4:], ka, 15)
		put(e.layers[0:], kr, 30)
		put(e.rounds[6:], kb, 30)
		put(e.rounds[8:], kl, 45)
		put(e.rounds[10:], ka, 45)
		put(e.layers[2:], kl, 60)
		put(e.rounds[12:], kr, 60)
		put(e.rounds[14:], kb, 60)
		put(e.rounds[16:], kl, 77)
		put(e.layers[4:], ka, 77)
		put(e.rounds[18:], kr, 94)
		put(e.rounds[20:], ka, 94)
		put(e.rounds[22:], kl, 111)
		e.whitenOut = rotate128(kb, 111)
	}
	// Section 2.3.3: deciphering is the same with the subkeys in reverse order.
	d := &c.decrypt
	d.whitenIn, d.whitenOut = e.whitenOut, e.whitenIn
	for i := range 6 * c.groups {
		d.rounds[i] = e.rounds[6*c.groups-1-i]
	}
	for i := range 2 * (c.groups - 1) {
		d.layers[i] = e.layers[2*(c.groups-1)-1-i]
	}
}

func sliceOf(k [2]uint64) []uint64 { return k[:] }

// f is the F-function of RFC 3713, section 2.4.1, of the input already added to its subkey.
func (t *camelliaTables) f(x uint64) uint64 {
	return t[0][x>>56] ^ t[1][uint8(x>>48)] ^ t[2][uint8(x>>40)] ^ t[3][uint8(x>>32)] ^
		t[4][uint8(x>>24)] ^ t[5][uint8(x>>16)] ^ t[6][uint8(x>>8)] ^ t[7][uint8(x)]
}

// crypt is RFC 3713, sections 2.3.1 and 2.3.2.
func (c *camellia) crypt(dst, src []byte, s *camelliaSchedule) {
	t := c.tables
	d1 := binary.BigEndian.Uint64(src) ^ s.whitenIn[0]
	d2 := binary.BigEndian.Uint64(src[8:]) ^ s.whitenIn[1]
	for group := range c.groups {
		if group > 0 {
			d1, d2 = camelliaLayers(d1, d2, s.layers[2*group-2], s.layers[2*group-1])
		}
		k := (*[6]uint64)(s.rounds[6*group:])
		d2 ^= t.f(d1 ^ k[0])
		d1 ^= t.f(d2 ^ k[1])
		d2 ^= t.f(d1 ^ k[2])
		d1 ^= t.f(d2 ^ k[3])
		d2 ^= t.f(d1 ^ k[4])
		d1 ^= t.f(d2 ^ k[5])
	}
	binary.BigEndian.PutUint64(dst, d2^s.whitenOut[0])
	binary.BigEndian.PutUint64(dst[8:], d1^s.whitenOut[1])
}

// camelliaLayers is FL on d1 and its inverse on d2: RFC 3713, sections 2.4.2 and 2.4.3.
func camelliaLayers(d1, d2, k1, k2 uint64) (uint64, uint64) {
	left, right := uint32(d1>>32), uint32(d1)
	right ^= bits.RotateLeft32(left&uint32(k1>>32), 1)
	left ^= right | uint32(k1)
	d1 = uint64(left)<<32 | uint64(right)

	left, right = uint32(d2>>32), uint32(d2)
	left ^= right | uint32(k2)
	right ^= bits.RotateLeft32(left&uint32(k2>>32), 1)
	return d1, uint64(left)<<32 | uint64(right)
}

func (c *camellia) BlockSize() int { return 16 }

func (c *camellia) Encrypt(dst, src []byte) {
	checkBlock("Camellia", dst, src)
	c.crypt(dst, src, &c.encrypt)
}

func (c *camellia) Decrypt(dst, src []byte) {
	checkBlock("Camellia", dst, src)
	c.crypt(dst, src, &c.decrypt)
}

func (c *camellia) Wipe() { c.encrypt, c.decrypt = camelliaSchedule{}, camelliaSchedule{} }
