package ciphers

import (
	"errors"
	"fmt"
	"math/bits"
)

// Sectors encrypts and decrypts whole sectors. All methods but Wipe are safe for concurrent use.
type Sectors interface {
	// SectorBytes is the size of a sector.
	SectorBytes() int
	// TagBytes is what Encrypt stores beside each sector: 0 without authentication.
	TagBytes() int
	// Encrypt encrypts the sectors of src into dst and their tags into tags; first is the number of the first sector.
	// dst and src are the same buffer or do not overlap. The error is a *LengthError, or ErrNonces.
	Encrypt(dst, tags, src []byte, first uint64) error
	// Decrypt is the inverse of Encrypt. A sector that does not fit its tag gives a *TagError; neither it nor any later
	// one of the call is decrypted then, and what dst holds in their place is not plaintext.
	Decrypt(dst, tags, src []byte, first uint64) error
	// Wipe zeroes the expanded keys as far as the package holds them itself. No method may be called afterwards.
	Wipe()
}

// ErrNonces is returned by Encrypt when every nonce of a key is used up.
var ErrNonces = errors.New("ciphers: all nonces of this key are used")

// TagError tells that a sector does not fit its tag: it was altered, moved or damaged.
type TagError struct{ Sector uint64 }

func (e *TagError) Error() string {
	return fmt.Sprintf("ciphers: sector %d does not fit its tag", e.Sector)
}

// LengthError tells of buffers that do not fit the sector size or each other.
type LengthError struct{ SrcBytes, DstBytes, TagsBytes, SectorBytes, TagBytes int }

func (e *LengthError) Error() string {
	return fmt.Sprintf("ciphers: %d bytes into %d with %d bytes of tags: sectors have %d bytes and %d of tag",
		e.SrcBytes, e.DstBytes, e.TagsBytes, e.SectorBytes, e.TagBytes)
}

// shape is the sizes all Sectors have, and the check of buffers against them.
type shape struct{ sectorBytes, tagBytes int }

func (s shape) SectorBytes() int { return s.sectorBytes }
func (s shape) TagBytes() int    { return s.tagBytes }

// check returns the number of sectors of a call.
func (s shape) check(dst, tags, src []byte) (int, error) {
	n := len(src) / s.sectorBytes
	if len(src)%s.sectorBytes != 0 || len(dst) < len(src) || len(tags) < n*s.tagBytes {
		return 0, &LengthError{len(src), len(dst), len(tags), s.sectorBytes, s.tagBytes}
	}
	return n, nil
}

// checkSectorSize refuses sizes no mode can serve; blockBytes divides them.
func checkSectorSize(sectorBytes, blockBytes int) error {
	const most = 1 << 24 // IEEE 1619 allows 2^20 blocks
	if sectorBytes <= 0 || sectorBytes > most || sectorBytes%blockBytes != 0 {
		return fmt.Errorf("ciphers: sector size %d: not a multiple of %d from %d to %d", sectorBytes, blockBytes, blockBytes, most)
	}
	return nil
}

// Numbering turns the place of a sector into the number its tweak or initialisation vector is made from:
// Base + sector*Step, modulo 2^64 for CBC and 2^128 for XTS. dm-crypt with 4096-byte sectors counts in steps of 8, GELI
// in steps of the sector size. The zero value is not useful; Plain is the usual one.
type Numbering struct{ Base, Step uint64 }

// Plain numbers sectors 0, 1, 2, ...
func Plain() Numbering { return Numbering{Step: 1} }

func (n Numbering) number(sector uint64) uint64 { return n.Base + sector*n.Step }

// wide is the number with its high 64 bits first.
func (n Numbering) wide(sector uint64) (high, low uint64) {
	high, low = bits.Mul64(sector, n.Step)
	low, carry := bits.Add64(low, n.Base, 0)
	return high + carry, low
}

// null copies.
type null struct{ shape }

func (s null) Encrypt(dst, tags, src []byte, _ uint64) error {
	if _, err := s.check(dst, tags, src); err != nil {
		return err
	}
	copy(dst, src)
	return nil
}

func (s null) Decrypt(dst, tags, src []byte, first uint64) error {
	return s.Encrypt(dst, tags, src, first)
}

func (null) Wipe() {}
