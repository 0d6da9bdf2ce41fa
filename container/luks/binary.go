package luks

import (
	"bytes"
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"fmt"

	"coffer/container/kdf"
)

// Sizes and places fixed by the specification.
const (
	binarySize    = 4096     // binary header; JSON follows
	minHeaderSize = 16 << 10 // binary header and JSON area of one copy
	maxHeaderSize = 4 << 20
	version2      = 2

	labelBytes     = 48
	uuidBytes      = 40
	subsystemBytes = 48
	saltBytes      = 64
	checksumOffset = 448
	checksumBytes  = 64
	checksumName   = "sha256" // what we write
)

var (
	primaryMagic   = []byte("LUKS\xba\xbe")
	secondaryMagic = []byte("SKUL\xba\xbe")
)

// headerSizes are the sizes the specification allows, and so the offsets at
// which a second copy can lie.
func headerSizes() []int64 {
	var sizes []int64
	for n := int64(minHeaderSize); n <= maxHeaderSize; n *= 2 {
		sizes = append(sizes, n)
	}
	return sizes
}

func validHeaderSize(n uint64) bool {
	return n >= minHeaderSize && n <= maxHeaderSize && n&(n-1) == 0
}

// binaryHeader is the decoded first 4096 bytes of a copy.
type binaryHeader struct {
	version    uint16
	headerSize int64
	seqID      uint64
	label      string
	checksum   string // name of the algorithm
	uuid       string
	subsystem  string
	offset     uint64
}

// decodeBinary reads the fixed part of a copy that was found at offset. It
// does not check the checksum, which covers the JSON as well.
func decodeBinary(b []byte, offset int64) (binaryHeader, error) {
	magic := primaryMagic
	if offset != 0 {
		magic = secondaryMagic
	}
	if !bytes.Equal(b[:6], magic) {
		return binaryHeader{}, errNoMagic
	}
	if v := binary.BigEndian.Uint16(b[6:]); v != version2 {
		return binaryHeader{version: v}, fmt.Errorf("LUKS version %d: %w", v, ErrUnsupported)
	}
	size := binary.BigEndian.Uint64(b[8:])
	if !validHeaderSize(size) {
		return binaryHeader{}, fmt.Errorf("header size %d is none that the format allows: %w", size, ErrDamaged)
	}
	h := binaryHeader{
		version:    version2,
		headerSize: int64(size),
		seqID:      binary.BigEndian.Uint64(b[16:]),
		offset:     binary.BigEndian.Uint64(b[256:]),
	}
	if h.offset != uint64(offset) || (offset != 0 && h.headerSize != offset) {
		return binaryHeader{}, fmt.Errorf("header copy at %d says it lies at %d, size %d: %w", offset, h.offset, size, ErrDamaged)
	}
	for _, field := range []struct {
		to  *string
		raw []byte
	}{{&h.label, b[24:72]}, {&h.checksum, b[72:104]}, {&h.uuid, b[168:208]}, {&h.subsystem, b[208:256]}} {
		text, _, ended := bytes.Cut(field.raw, []byte{0})
		if !ended {
			return binaryHeader{}, fmt.Errorf("text field without an end: %w", ErrDamaged)
		}
		*field.to = string(text)
	}
	return h, nil
}

// verifyChecksum checks a whole copy, binary header and JSON area. The field
// is zeroed while hashing and put back.
func verifyChecksum(copyBytes []byte, algorithm string) error {
	newHash, err := kdf.Hash(algorithm)
	if err != nil {
		return fmt.Errorf("header checksum: %w: %w", err, ErrDamaged)
	}
	field := copyBytes[checksumOffset : checksumOffset+checksumBytes]
	stored := bytes.Clone(field)
	clear(field)
	h := newHash()
	h.Write(copyBytes)
	copy(field, stored)
	if subtle.ConstantTimeCompare(h.Sum(nil), stored[:h.Size()]) != 1 {
		return fmt.Errorf("checksum does not match: %w", ErrDamaged)
	}
	return nil
}

// encodeCopy makes the bytes of one copy: h for offset, a fresh salt, the JSON
// text, the checksum.
func encodeCopy(h binaryHeader, offset int64, json []byte) ([]byte, error) {
	if int64(len(json)) >= h.headerSize-binarySize {
		return nil, fmt.Errorf("metadata of %d bytes does not fit the area of %d: %w", len(json), h.headerSize-binarySize, ErrHeaderFull)
	}
	b := make([]byte, h.headerSize)
	copy(b, primaryMagic)
	if offset != 0 {
		copy(b, secondaryMagic)
	}
	binary.BigEndian.PutUint16(b[6:], version2)
	binary.BigEndian.PutUint64(b[8:], uint64(h.headerSize))
	binary.BigEndian.PutUint64(b[16:], h.seqID)
	copy(b[24:24+labelBytes-1], h.label)
	copy(b[72:], checksumName)
	if _, err := rand.Read(b[104 : 104+saltBytes]); err != nil {
		return nil, fmt.Errorf("random numbers: %w", err)
	}
	copy(b[168:168+uuidBytes-1], h.uuid)
	copy(b[208:208+subsystemBytes-1], h.subsystem)
	binary.BigEndian.PutUint64(b[256:], uint64(offset))
	copy(b[binarySize:], json)
	newHash, err := kdf.Hash(checksumName)
	if err != nil {
		return nil, err
	}
	sum := newHash()
	sum.Write(b)
	copy(b[checksumOffset:], sum.Sum(nil))
	return b, nil
}
