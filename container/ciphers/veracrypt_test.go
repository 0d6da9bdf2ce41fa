package ciphers

import (
	"crypto/pbkdf2"
	"crypto/sha512"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"os"
	"testing"
)

// TestVeraCryptHeaders opens headers that VeraCrypt 1.26.20 wrote (password below, PIM 1, SHA-512): Kuznyechik has no other
// implementation here to compare with, and cascades show XTS of several ciphers on top of each other. The checksums in the
// header cover all of its 448 bytes.
func TestVeraCryptHeaders(t *testing.T) {
	for name, chain := range map[string][]Cipher{ // as VeraCrypt names them: the last one encrypts first
		"kuznyechik": {Kuznyechik}, "camellia-serpent": {Camellia, Serpent}, "twofish-serpent": {Twofish, Serpent},
		"aes-twofish-serpent": {AES, Twofish, Serpent},
	} {
		header, err := os.ReadFile("testdata/veracrypt-" + name + ".header")
		if err != nil {
			t.Fatal(err)
		}
		keys, err := pbkdf2.Key(sha512.New, "correct horse battery staple", header[:64], 16000, 64*len(chain))
		if err != nil {
			t.Fatal(err)
		}
		plain := header[64:512]
		for i, c := range chain {
			at := 32 * (len(chain) - 1 - i) // keys are in the order of encryption: all data keys, then all tweak keys
			data, err1 := NewBlock(c, keys[at:at+32])
			tweak, err2 := NewBlock(c, keys[32*len(chain)+at:][:32])
			if err := errors.Join(err1, err2); err != nil {
				t.Fatal(err)
			}
			s, err := NewXTS(data, tweak, len(plain), Plain())
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Decrypt(plain, nil, plain, 0); err != nil {
				t.Fatal(err)
			}
		}
		if string(plain[:4]) != "VERA" || crc32.ChecksumIEEE(plain[:188]) != binary.BigEndian.Uint32(plain[188:]) ||
			crc32.ChecksumIEEE(plain[192:]) != binary.BigEndian.Uint32(plain[8:]) {
			t.Errorf("%s: the header does not open: %x", name, plain[:16])
		}
	}
}
