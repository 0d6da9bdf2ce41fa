package ciphers

import (
	"crypto/cipher"
	"encoding/binary"
	"sync"
)

// kuznyechikPi is the substitution of RFC 7801, section 4.1.1.
var kuznyechikPi = [256]byte{
	252, 238, 221, 17, 207, 110, 49, 22, 251, 196, 250, 218, 35, 197, 4, 77,
	233, 119, 240, 219, 147, 46, 153, 186, 23, 54, 241, 187, 20, 205, 95, 193,
	249, 24, 101, 90, 226, 92, 239, 33, 129, 28, 60, 66, 139, 1, 142, 79,
	5, 132, 2, 174, 227, 106, 143, 160, 6, 11, 237, 152, 127, 212, 211, 31,
	235, 52, 44, 81, 234, 200, 72, 171, 242, 42, 104, 162, 253, 58, 206, 204,
	181, 112, 14, 86, 8, 12, 118, 18, 191, 114, 19, 71, 156, 183, 93, 135,
	21, 161, 150, 41, 16, 123, 154, 199, 243, 145, 120, 111, 157, 158, 178, 177,
	50, 117, 25, 61, 255, 53, 138, 126, 109, 84, 198, 128, 195, 189, 13, 87,
	223, 245, 36, 169, 62, 168, 67, 201, 215, 121, 214, 246, 124, 34, 185, 3,
	224, 15, 236, 222, 122, 148, 176, 188, 220, 232, 40, 80, 78, 51, 10, 74,
	167, 151, 96, 115, 30, 0, 98, 68, 26, 184, 56, 130, 100, 159, 38, 65,
	173, 69, 70, 146, 39, 94, 85, 47, 140, 163, 165, 125, 105, 213, 149, 59,
	7, 88, 179, 64, 134, 172, 29, 247, 48, 55, 107, 228, 136, 217, 231, 137,
	225, 27, 131, 73, 76, 63, 248, 254, 141, 83, 170, 144, 202, 216, 133, 97,
	32, 113, 103, 164, 45, 43, 9, 91, 203, 155, 37, 208, 190, 229, 108, 82,
	89, 166, 116, 210, 230, 244, 180, 192, 209, 102, 175, 194, 57, 75, 99, 182,
}

// kuznyechikRow are the coefficients of the linear function l, RFC 7801, section 4.1.2, first byte first.
var kuznyechikRow = [16]byte{148, 32, 133, 16, 194, 192, 1, 251, 1, 192, 194, 16, 133, 32, 148, 1}

// vector is a block as two big-endian words.
type vector [2]uint64

func (v vector) xor(w vector) vector { return vector{v[0] ^ w[0], v[1] ^ w[1]} }

func loadVector(b []byte) vector {
	return vector{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}
}

func (v vector) store(b []byte) {
	binary.BigEndian.PutUint64(b, v[0])
	binary.BigEndian.PutUint64(b[8:], v[1])
}

// kuznyechikTables hold S-box and linear transformation in one look-up per byte, 64 KiB for each direction.
type kuznyechikTables struct {
	forward  [16][256]vector // L(S(x))
	backward [16][256]vector // the inverse of L of the inverse of S
	inverse  [256]byte       // of the S-box
}

// kuznyechikTablesOnce computes them when the cipher is first used.
var kuznyechikTablesOnce = sync.OnceValue(func() *kuznyechikTables {
	t := &kuznyechikTables{}
	for x, y := range kuznyechikPi {
		t.inverse[y] = byte(x)
	}
	for position := range 16 {
		for x := range 256 {
			var b [16]byte
			b[position] = kuznyechikPi[x]
			t.forward[position][x] = loadVector(kuznyechikL(b[:]))
			clear(b[:])
			b[position] = t.inverse[x]
			t.backward[position][x] = loadVector(kuznyechikInverseL(b[:]))
		}
	}
	return t
})

// kuznyechikTimes multiplies in the field of RFC 7801, section 2.2: modulo x^8+x^7+x^6+x+1.
func kuznyechikTimes(a, b byte) byte {
	var product byte
	for ; b != 0; b >>= 1 {
		product ^= a & -(b & 1)
		a = a<<1 ^ 0xc3&-(a>>7)
	}
	return product
}

// kuznyechikL is sixteen steps of R, RFC 7801, section 4.2, in place.
func kuznyechikL(b []byte) []byte {
	for range 16 {
		var sum byte
		for i, coefficient := range kuznyechikRow {
			sum ^= kuznyechikTimes(b[i], coefficient)
		}
		copy(b[1:], b[:15])
		b[0] = sum
	}
	return b
}

// kuznyechikInverseL undoes kuznyechikL.
func kuznyechikInverseL(b []byte) []byte {
	for range 16 {
		// The step forward put l(a) in front and dropped the last byte, whose coefficient is 1.
		first := b[0]
		copy(b, b[1:])
		for i, coefficient := range kuznyechikRow[:15] {
			first ^= kuznyechikTimes(b[i], coefficient)
		}
		b[15] = first
	}
	return b
}

type kuznyechik struct {
	tables *kuznyechikTables
	keys   [10]vector
	// inverse[i] is the inverse of L of keys[i]: for deciphering with the keys added after the look-ups.
	inverse [10]vector
}

// newKuznyechik makes the cipher of RFC 7801 (GOST R 34.12-2015) for a key of 32 bytes.
func newKuznyechik(key []byte) (cipher.Block, error) {
	if len(key) != 32 {
		return nil, keySizeError("Kuznyechik", len(key))
	}
	k := &kuznyechik{tables: kuznyechikTablesOnce()}
	a, b := loadVector(key), loadVector(key[16:])
	k.keys[0], k.keys[1] = a, b
	for i := 1; i <= 32; i++ { // section 4.3
		var constant [16]byte
		constant[15] = byte(i)
		a, b = k.tables.apply(&k.tables.forward, a.xor(loadVector(kuznyechikL(constant[:])))).xor(b), a
		if i%8 == 0 {
			k.keys[i/4], k.keys[i/4+1] = a, b
		}
	}
	for i := range k.keys {
		var block [16]byte
		k.keys[i].store(block[:])
		k.inverse[i] = loadVector(kuznyechikInverseL(block[:]))
	}
	return k, nil
}

// apply adds up the look-ups of all sixteen bytes.
func (*kuznyechikTables) apply(t *[16][256]vector, v vector) vector {
	var sum vector
	for half, word := range v {
		at := (*[8][256]vector)(t[8*half:])
		for i := range at {
			entry := &at[i][uint8(word>>(56-8*i))]
			sum[0] ^= entry[0]
			sum[1] ^= entry[1]
		}
	}
	return sum
}

func (k *kuznyechik) BlockSize() int { return 16 }

// Encrypt is RFC 7801, section 4.4.1.
func (k *kuznyechik) Encrypt(dst, src []byte) {
	checkBlock("Kuznyechik", dst, src)
	v := loadVector(src)
	for i := range 9 {
		v = k.tables.apply(&k.tables.forward, v.xor(k.keys[i]))
	}
	v.xor(k.keys[9]).store(dst)
}

// Decrypt is RFC 7801, section 4.4.2, with L moved in front of the key addition: it is linear.
func (k *kuznyechik) Decrypt(dst, src []byte) {
	checkBlock("Kuznyechik", dst, src)
	var block [16]byte
	copy(block[:], src)
	for i := range block {
		block[i] = kuznyechikPi[block[i]] // so that the first look-up's inverse S-box cancels
	}
	v := k.tables.apply(&k.tables.backward, loadVector(block[:])).xor(k.inverse[9])
	for i := 8; i > 0; i-- {
		v = k.tables.apply(&k.tables.backward, v).xor(k.inverse[i])
	}
	v.store(block[:])
	for i := range block {
		block[i] = k.tables.inverse[block[i]]
	}
	loadVector(block[:]).xor(k.keys[0]).store(dst)
}

func (k *kuznyechik) Wipe() { k.keys, k.inverse = [10]vector{}, [10]vector{} }
