package ciphers

import (
	"bufio"
	"bytes"
	"crypto/cipher"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"testing"
)

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// published are vectors of the documents that define the ciphers.
var published = []struct {
	source              string
	cipher              Cipher
	key, plain, enciphd string
}{
	{"RFC 3713, appendix A, 128", Camellia, "0123456789abcdeffedcba9876543210",
		"0123456789abcdeffedcba9876543210", "67673138549669730857065648eabe43"},
	{"RFC 3713, appendix A, 192", Camellia, "0123456789abcdeffedcba98765432100011223344556677",
		"0123456789abcdeffedcba9876543210", "b4993401b3e996f84ee5cee7d79b09b9"},
	{"RFC 3713, appendix A, 256", Camellia, "0123456789abcdeffedcba987654321000112233445566778899aabbccddeeff",
		"0123456789abcdeffedcba9876543210", "9acc237dff16d76c20ef7c919e3a7509"},
	{"RFC 7801, section 5.5", Kuznyechik, "8899aabbccddeeff0011223344556677fedcba98765432100123456789abcdef",
		"1122334455667700ffeeddccbbaa9988", "7f679d90bebc24305a468d42b9d4edcd"},
	{"FIPS 197, C.1", AES, "000102030405060708090a0b0c0d0e0f",
		"00112233445566778899aabbccddeeff", "69c4e0d86a7b0430d8cdb78070b4c55a"},
	{"FIPS 197, C.3", AES, "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f",
		"00112233445566778899aabbccddeeff", "8ea2b7ca516745bfeafc49904b496089"},
	{"Twofish paper, ECB, 128", Twofish, "00000000000000000000000000000000",
		"00000000000000000000000000000000", "9f589f5cf6122c32b6bfec2f2ae8c35a"},
	{"Schneier's Blowfish vectors", Blowfish, "0123456789abcdef", "1111111111111111", "61f9c3802281b096"},
}

func checkVector(t *testing.T, source string, c Cipher, key, plain, want []byte) {
	t.Helper()
	block, err := NewBlock(c, key)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	got := make([]byte, len(plain))
	block.Encrypt(got, plain)
	if !bytes.Equal(got, want) {
		t.Errorf("%s: %s of %x under %x is %x, want %x", source, c, plain, key, got, want)
	}
	block.Decrypt(got, got)
	if !bytes.Equal(got, plain) {
		t.Errorf("%s: %s deciphers %x under %x to %x, want %x", source, c, want, key, got, plain)
	}
}

func TestPublishedVectors(t *testing.T) {
	for _, v := range published {
		checkVector(t, v.source, v.cipher, unhex(t, v.key), unhex(t, v.plain), unhex(t, v.enciphd))
	}
}

// TestLibgcryptVectors: testdata/blocks.tsv is from another implementation (testdata/gcrypt.py).
func TestLibgcryptVectors(t *testing.T) {
	file, err := os.Open("testdata/blocks.tsv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	seen := map[Cipher]int{}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		f := strings.Split(lines.Text(), "\t")
		seen[Cipher(f[0])]++
		checkVector(t, "libgcrypt", Cipher(f[0]), unhex(t, f[1]), unhex(t, f[2]), unhex(t, f[3]))
	}
	for _, c := range []Cipher{AES, Camellia, Serpent, Twofish, Blowfish, TripleDES} {
		if seen[c] < 16 {
			t.Errorf("%d vectors of %s", seen[c], c)
		}
	}
}

// TestSerpentBoxes compares each circuit with the table of the proposal it was made from, all sixteen inputs at once.
func TestSerpentBoxes(t *testing.T) {
	boxes := []string{"38f1a65bed42709c", "fc27905a1be86d34", "86793cafd1e40b52", "0fb8c963d124a75e",
		"1f83c0b6254a9e7d", "f52b4a9c03e8d671", "72c5846be91fd3a0", "1df0e82b74ca9356"}
	type circuit func(a, b, c, d uint32) (uint32, uint32, uint32, uint32)
	forward := []circuit{serpentS0, serpentS1, serpentS2, serpentS3, serpentS4, serpentS5, serpentS6, serpentS7}
	backward := []circuit{serpentInverseS0, serpentInverseS1, serpentInverseS2, serpentInverseS3,
		serpentInverseS4, serpentInverseS5, serpentInverseS6, serpentInverseS7}
	nibble := func(w [4]uint32, x int) int {
		return int(w[0]>>x&1 | w[1]>>x&1<<1 | w[2]>>x&1<<2 | w[3]>>x&1<<3)
	}
	for i, box := range boxes {
		var y, back [4]uint32
		y[0], y[1], y[2], y[3] = forward[i](0xaaaa, 0xcccc, 0xf0f0, 0xff00)
		back[0], back[1], back[2], back[3] = backward[i](y[0], y[1], y[2], y[3])
		for x := range 16 {
			if want := strings.IndexByte("0123456789abcdef", box[x]); nibble(y, x) != want {
				t.Errorf("S%d(%d) = %d, want %d", i, x, nibble(y, x), want)
			}
			if nibble(back, x) != x {
				t.Errorf("the inverse of S%d gives %d for S%d(%d)", i, nibble(back, x), i, x)
			}
		}
	}
}

// TestKeySizes: what a cipher does not take is an error that says so, never a panic.
func TestKeySizes(t *testing.T) {
	for _, c := range []Cipher{AES, Blowfish, Camellia, Kuznyechik, Serpent, TripleDES, Twofish} {
		for n := range 80 {
			block, err := NewBlock(c, make([]byte, n))
			usual := false
			for _, bits := range c.KeySizes() {
				usual = usual || bits == 8*n
			}
			var size *KeySizeError
			switch {
			case usual && err != nil, err != nil && !errors.As(err, &size), err == nil && block == nil:
				t.Errorf("%s with %d bytes of key: %v", c, n, err)
			case err == nil && !usual && (c != Blowfish || n < 4 || n > 56):
				t.Errorf("%s takes %d bytes of key", c, n)
			}
			if err == nil && block.BlockSize() != c.BlockBytes() {
				t.Errorf("%s: blocks of %d bytes, want %d", c, block.BlockSize(), c.BlockBytes())
			}
		}
	}
	for _, c := range []Cipher{Null, ChaCha20, "", "rot13"} {
		if _, err := NewBlock(c, make([]byte, 32)); err == nil {
			t.Errorf("%q became a block cipher", c)
		}
	}
}

// TestWipe: a wiped cipher no longer has its key: it behaves as another one.
func TestWipe(t *testing.T) {
	key := unhex(t, "8899aabbccddeeff0011223344556677fedcba98765432100123456789abcdef")
	for _, c := range []Cipher{Camellia, Kuznyechik, Serpent} {
		block, err := NewBlock(c, key)
		if err != nil {
			t.Fatal(err)
		}
		before, after := make([]byte, 16), make([]byte, 16)
		block.Encrypt(before, make([]byte, 16))
		wipe(block)
		block.Encrypt(after, make([]byte, 16))
		if bytes.Equal(before, after) {
			t.Errorf("%s still has its key", c)
		}
	}
}

// BenchmarkBlock is the outside measurement of the ciphers block by block.
func BenchmarkBlock(b *testing.B) {
	for _, c := range []Cipher{AES, Camellia, Kuznyechik, Serpent, Twofish, Blowfish, TripleDES} {
		for name, crypt := range map[string]func(cipher.Block) func(dst, src []byte){
			"encrypt": func(c cipher.Block) func(dst, src []byte) { return c.Encrypt },
			"decrypt": func(c cipher.Block) func(dst, src []byte) { return c.Decrypt },
		} {
			sizes := c.KeySizes()
			block, err := NewBlock(c, make([]byte, min(32, sizes[len(sizes)-1]/8)))
			if err != nil {
				b.Fatal(err)
			}
			b.Run(string(c)+"/"+name, func(b *testing.B) {
				buffer := make([]byte, block.BlockSize())
				b.SetBytes(int64(len(buffer)))
				f := crypt(block)
				for range b.N {
					f(buffer, buffer)
				}
			})
		}
	}
}
