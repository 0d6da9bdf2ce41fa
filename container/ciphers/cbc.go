package ciphers

import (
	"crypto/cipher"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
)

// IV makes initialisation vectors for CBC. It is safe for concurrent use.
type IV interface {
	// Make fills iv, one block long, for the sector with that number (see Numbering).
	Make(iv []byte, number uint64)
}

type plain64 struct{}

func (plain64) Make(iv []byte, number uint64) {
	clear(iv)
	binary.LittleEndian.PutUint64(iv, number)
}

// Plain64 is the number in little-endian bytes, padded with zeros. It gives away sectors that begin alike
// (watermarking), which is why ESSIV exists.
func Plain64() IV { return plain64{} }

type essiv struct{ block cipher.Block }

func (e essiv) Make(iv []byte, number uint64) {
	clear(iv)
	binary.LittleEndian.PutUint64(iv, number)
	e.block.Encrypt(iv, iv)
}

func (e essiv) Wipe() { wipe(e.block) }

// ESSIV is Plain64 encrypted with the cipher c under the SHA-256 of key, as dm-crypt's essiv:sha256: c must take 32-byte
// keys, so 3DES and ciphers limited to others give an error.
func ESSIV(c Cipher, key []byte) (IV, error) {
	digest := sha256.Sum256(key)
	block, err := NewBlock(c, digest[:])
	clear(digest[:])
	if err != nil {
		return nil, fmt.Errorf("ciphers: essiv:sha256: %w", err)
	}
	return essiv{block}, nil
}

// cbc chains the blocks of each sector (NIST SP 800-38A, section 6.2).
type cbc struct {
	shape
	block     cipher.Block
	iv        IV
	numbering Numbering
}

// NewCBC makes CBC within each sector; the block size divides sectorBytes, which is up to 16 MiB. It has no tags, and
// an attacker can change plaintext bits at will in one block by garbling the one before.
func NewCBC(block cipher.Block, iv IV, sectorBytes int, numbering Numbering) (Sectors, error) {
	if n := block.BlockSize(); n != 8 && n != 16 {
		return nil, fmt.Errorf("ciphers: CBC of blocks of %d bytes: neither 8 nor 16", n)
	}
	if err := checkSectorSize(sectorBytes, block.BlockSize()); err != nil {
		return nil, err
	}
	return &cbc{shape{sectorBytes, 0}, block, iv, numbering}, nil
}

func (c *cbc) Encrypt(dst, tags, src []byte, first uint64) error {
	n, err := c.check(dst, tags, src)
	if err != nil {
		return err
	}
	size := c.block.BlockSize()
	for i := range n {
		at, end := i*c.sectorBytes, (i+1)*c.sectorBytes
		out, in := dst[at:end], src[at:end]
		// The vector is made in out's first block, which saves an allocation; in may be the same memory.
		var plain [16]byte
		copy(plain[:size], in)
		c.iv.Make(out[:size:size], c.numbering.number(first+uint64(i)))
		subtle.XORBytes(out[:size], out[:size], plain[:size])
		c.block.Encrypt(out[:size:size], out[:size:size])
		for k := size; k < len(in); k += size {
			block := out[k : k+size : k+size]
			subtle.XORBytes(block, in[k:k+size], out[k-size:k])
			c.block.Encrypt(block, block)
		}
	}
	return nil
}

func (c *cbc) Decrypt(dst, tags, src []byte, first uint64) error {
	n, err := c.check(dst, tags, src)
	if err != nil {
		return err
	}
	size := c.block.BlockSize()
	for i := range n {
		at, end := i*c.sectorBytes, (i+1)*c.sectorBytes
		out, in := dst[at:end], src[at:end]
		// Backwards, so that in place the ciphertext needed next is still there.
		for k := len(in) - size; k > 0; k -= size {
			block := out[k : k+size : k+size]
			c.block.Decrypt(block, in[k:k+size])
			subtle.XORBytes(block, block, in[k-size:k])
		}
		var cipherText, iv [16]byte
		copy(cipherText[:size], in)
		head := out[:size:size]
		c.iv.Make(head, c.numbering.number(first+uint64(i)))
		copy(iv[:size], head)
		copy(head, cipherText[:size])
		c.block.Decrypt(head, head)
		subtle.XORBytes(head, head, iv[:size])
	}
	return nil
}

func (c *cbc) Wipe() { wipe(c.block, c.iv) }
