package ciphers

import (
	"crypto/cipher"
	"encoding/binary"
	"errors"
)

// xts is IEEE 1619 over any cipher with 128-bit blocks, for sectors of whole blocks.
type xts struct {
	shape
	data, tweak cipher.Block
	numbering   Numbering
}

// NewXTS makes XTS (IEEE 1619-2018, section 5) of two block ciphers with 16-byte blocks, keyed with the two halves of the
// key: data for the blocks, tweak for the sector number, which is 16 little-endian bytes. sectorBytes is a multiple of 16
// up to 16 MiB. It has no tags: tampering is not noticed. The caller checks that the halves differ.
//
// It goes block by block, for ciphers that have no better: AES-XTS is container/aesxts.
func NewXTS(data, tweak cipher.Block, sectorBytes int, numbering Numbering) (Sectors, error) {
	if data.BlockSize() != 16 || tweak.BlockSize() != 16 {
		return nil, errors.New("ciphers: XTS needs a cipher with blocks of 16 bytes")
	}
	if err := checkSectorSize(sectorBytes, 16); err != nil {
		return nil, err
	}
	return &xts{shape{sectorBytes, 0}, data, tweak, numbering}, nil
}

func (x *xts) Encrypt(dst, tags, src []byte, first uint64) error {
	return x.run(dst, tags, src, first, x.data.Encrypt)
}

func (x *xts) Decrypt(dst, tags, src []byte, first uint64) error {
	return x.run(dst, tags, src, first, x.data.Decrypt)
}

func (x *xts) run(dst, tags, src []byte, first uint64, crypt func(dst, src []byte)) error {
	n, err := x.check(dst, tags, src)
	if err != nil {
		return err
	}
	for i := range n {
		at, end := i*x.sectorBytes, (i+1)*x.sectorBytes
		x.sector(dst[at:end:end], src[at:end:end], first+uint64(i), crypt)
	}
	return nil
}

func (x *xts) sector(dst, src []byte, sector uint64, crypt func(dst, src []byte)) {
	// The tweak is encrypted in dst's first block, which saves an allocation; src may be the same memory.
	p0, p1 := binary.LittleEndian.Uint64(src), binary.LittleEndian.Uint64(src[8:])
	high, low := x.numbering.wide(sector)
	binary.LittleEndian.PutUint64(dst, low)
	binary.LittleEndian.PutUint64(dst[8:], high)
	x.tweak.Encrypt(dst[:16], dst[:16])
	t0, t1 := binary.LittleEndian.Uint64(dst), binary.LittleEndian.Uint64(dst[8:])
	for {
		block := dst[:16:16]
		binary.LittleEndian.PutUint64(block, p0^t0)
		binary.LittleEndian.PutUint64(block[8:], p1^t1)
		crypt(block, block)
		binary.LittleEndian.PutUint64(block, binary.LittleEndian.Uint64(block)^t0)
		binary.LittleEndian.PutUint64(block[8:], binary.LittleEndian.Uint64(block[8:])^t1)
		dst, src = dst[16:], src[16:]
		if len(src) == 0 {
			return
		}
		p0, p1 = binary.LittleEndian.Uint64(src), binary.LittleEndian.Uint64(src[8:])
		// Times alpha in GF(2^128), section 5.2.
		t0, t1 = t0<<1^0x87&-(t1>>63), t1<<1|t0>>63
	}
}

func (x *xts) Wipe() { wipe(x.data, x.tweak) }
