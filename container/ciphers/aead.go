package ciphers

import (
	"crypto/cipher"
	"encoding/binary"
	"sync"
	"sync/atomic"
)

const (
	aeadCounterBytes = 4
	aeadTagBytes     = 16
)

// aead seals each sector on its own.
type aead struct {
	shape
	aead    cipher.AEAD
	writes  atomic.Uint64 // calls of Encrypt so far
	scratch sync.Pool     // of *[]byte: one sector and its tag
}

// newAEAD serves GCM and ChaCha20-Poly1305: nonce = sector number (8 bytes, little-endian) || counter (4 bytes), where the
// counter is the number of this call of Encrypt; what is stored beside a sector is counter || tag.
//
// This is for measuring, not a format. Within one instance no nonce is used twice: a call counts once and a sector
// occurs once in it. But the counter starts at zero with every instance, so a key must never be used by a second one;
// a format needs nonces that survive a restart and the return of an old copy of the file. And replaying an old sector
// with its old tag goes unnoticed.
func newAEAD(a cipher.AEAD, sectorBytes int) (Sectors, error) {
	if err := checkSectorSize(sectorBytes, 1); err != nil {
		return nil, err
	}
	s := &aead{shape: shape{sectorBytes, aeadCounterBytes + aeadTagBytes}, aead: a}
	s.scratch.New = func() any { b := make([]byte, sectorBytes+aeadTagBytes+a.NonceSize()); return &b }
	return s, nil
}

// Encrypt goes through a scratch sector, because the standard interface puts the tag right behind the ciphertext; the
// copy stays in the processor's nearest cache.
func (s *aead) Encrypt(dst, tags, src []byte, first uint64) error {
	n, err := s.check(dst, tags, src)
	if err != nil {
		return err
	}
	counter := s.writes.Add(1) - 1
	if counter > 1<<32-1 {
		return ErrNonces
	}
	buffer := s.scratch.Get().(*[]byte)
	defer s.scratch.Put(buffer)
	sealed, nonce := (*buffer)[:s.sectorBytes+aeadTagBytes], (*buffer)[s.sectorBytes+aeadTagBytes:]
	binary.LittleEndian.PutUint32(nonce[8:], uint32(counter))
	for i := range n {
		at, end := i*s.sectorBytes, (i+1)*s.sectorBytes
		tag := tags[i*s.tagBytes : (i+1)*s.tagBytes]
		binary.LittleEndian.PutUint64(nonce, first+uint64(i))
		s.aead.Seal(sealed[:0], nonce, src[at:end], nil)
		copy(dst[at:end], sealed)
		copy(tag, nonce[8:])
		copy(tag[aeadCounterBytes:], sealed[s.sectorBytes:])
	}
	return nil
}

func (s *aead) Decrypt(dst, tags, src []byte, first uint64) error {
	n, err := s.check(dst, tags, src)
	if err != nil {
		return err
	}
	buffer := s.scratch.Get().(*[]byte)
	defer s.scratch.Put(buffer)
	sealed, nonce := (*buffer)[:s.sectorBytes+aeadTagBytes], (*buffer)[s.sectorBytes+aeadTagBytes:]
	for i := range n {
		at, end := i*s.sectorBytes, (i+1)*s.sectorBytes
		tag := tags[i*s.tagBytes : (i+1)*s.tagBytes]
		binary.LittleEndian.PutUint64(nonce, first+uint64(i))
		copy(nonce[8:], tag)
		copy(sealed, src[at:end])
		copy(sealed[s.sectorBytes:], tag[aeadCounterBytes:])
		if _, err := s.aead.Open(dst[at:at:end], nonce, sealed, nil); err != nil {
			return &TagError{first + uint64(i)}
		}
	}
	return nil
}

// Wipe can reach no key: crypto/cipher and x/crypto hold them.
func (*aead) Wipe() {}
