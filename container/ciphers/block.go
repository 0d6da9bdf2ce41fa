package ciphers

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/des"
	"fmt"
	"slices"

	//lint:ignore SA1019 GELI containers of 2008 use it
	"golang.org/x/crypto/blowfish"
	//lint:ignore SA1019 VeraCrypt and TrueCrypt containers use it
	"golang.org/x/crypto/twofish"
)

// Cipher names a cipher.
type Cipher string

// Ciphers. Null is none at all: what remains is the cost of everything else.
const (
	Null       Cipher = "null"
	AES        Cipher = "aes"
	Blowfish   Cipher = "blowfish"
	Camellia   Cipher = "camellia"
	ChaCha20   Cipher = "chacha20"
	Kuznyechik Cipher = "kuznyechik"
	Serpent    Cipher = "serpent"
	TripleDES  Cipher = "3des"
	Twofish    Cipher = "twofish"
)

// Title is the name for people.
func (c Cipher) Title() string {
	switch c {
	case AES:
		return "AES"
	case TripleDES:
		return "3DES"
	case ChaCha20:
		return "ChaCha20"
	case Null:
		return "null cipher"
	case "":
		return ""
	}
	return string(c[0]-'a'+'A') + string(c[1:])
}

// KeySizes are the usual key sizes in bits; those of 3DES include the parity bits. nil for Null and what is unknown.
func (c Cipher) KeySizes() []int {
	switch c {
	case AES, Camellia, Serpent, Twofish:
		return []int{128, 192, 256}
	case Blowfish:
		return []int{128, 192, 256, 448}
	case TripleDES:
		return []int{192}
	case Kuznyechik, ChaCha20:
		return []int{256}
	}
	return nil
}

// BlockBytes is the block size in bytes; 0 for what is no block cipher.
func (c Cipher) BlockBytes() int {
	switch c {
	case AES, Camellia, Serpent, Twofish, Kuznyechik:
		return 16
	case Blowfish, TripleDES:
		return 8
	}
	return 0
}

// NewBlock makes a block cipher from a key, which is not retained. Blowfish takes any key of 4 to 56 bytes, the others
// one of KeySizes. The result is safe for concurrent use.
func NewBlock(c Cipher, key []byte) (cipher.Block, error) {
	if c.BlockBytes() == 0 {
		return nil, fmt.Errorf("ciphers: %q is not a block cipher", string(c))
	}
	if c == Blowfish && (len(key) < 4 || len(key) > 56) || c != Blowfish && !slices.Contains(c.KeySizes(), 8*len(key)) {
		return nil, keySizeError(c.Title(), len(key))
	}
	switch c {
	case AES:
		return aes.NewCipher(key)
	case Blowfish:
		return blowfish.NewCipher(key)
	case Camellia:
		return newCamellia(key)
	case Kuznyechik:
		return newKuznyechik(key)
	case Serpent:
		return newSerpent(key)
	case TripleDES:
		return des.NewTripleDESCipher(key)
	}
	return twofish.NewCipher(key)
}

// KeySizeError tells that a cipher does not take keys of that many bytes.
type KeySizeError struct {
	Cipher   string
	KeyBytes int
}

func (e *KeySizeError) Error() string {
	return fmt.Sprintf("ciphers: %s does not take a key of %d bytes", e.Cipher, e.KeyBytes)
}

func keySizeError(name string, keyBytes int) error { return &KeySizeError{name, keyBytes} }

// checkBlock panics on buffers shorter than a block, as the ciphers of the standard library do.
func checkBlock(name string, dst, src []byte) {
	if len(src) < 16 || len(dst) < 16 {
		panic("ciphers: " + name + ": buffer shorter than a block")
	}
}

// wipe zeroes the keys of blocks that allow it.
func wipe(blocks ...any) {
	for _, b := range blocks {
		if w, ok := b.(interface{ Wipe() }); ok {
			w.Wipe()
		}
	}
}
