package ciphers

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/binary"
	"fmt"
	"hash"
	"hash/crc32"
	"sync"

	//lint:ignore SA1019 GELI containers of 2008 use it
	"golang.org/x/crypto/ripemd160"
)

// MAC names what authenticates a sector.
type MAC string

// MACs. CRC32C is none: it finds accidents, and anybody can make it fit; it is there as the cheapest check there is.
const (
	NoMAC         MAC = ""
	CRC32C        MAC = "crc32c"
	HMACMD5       MAC = "hmac-md5"
	HMACSHA1      MAC = "hmac-sha1"
	HMACRIPEMD160 MAC = "hmac-ripemd160"
	HMACSHA256    MAC = "hmac-sha256"
	HMACSHA512    MAC = "hmac-sha512"
)

// MACs lists all, none first.
func MACs() []MAC {
	return []MAC{NoMAC, CRC32C, HMACMD5, HMACSHA1, HMACRIPEMD160, HMACSHA256, HMACSHA512}
}

// Title is the name for people; "" for none.
func (m MAC) Title() string {
	switch m {
	case CRC32C:
		return "CRC32C"
	case HMACMD5:
		return "HMAC-MD5"
	case HMACSHA1:
		return "HMAC-SHA1"
	case HMACRIPEMD160:
		return "HMAC-RIPEMD160"
	case HMACSHA256:
		return "HMAC-SHA256"
	case HMACSHA512:
		return "HMAC-SHA512"
	}
	return ""
}

// TagBytes is the size of a tag, never truncated; 0 for none and what is unknown.
func (m MAC) TagBytes() int {
	if m == CRC32C {
		return crc32.Size
	}
	if h := m.hash(); h != nil {
		return h().Size()
	}
	return 0
}

// KeyBytes is the size of the key Algorithm uses: that of the hash.
func (m MAC) KeyBytes() int {
	if m == CRC32C {
		return 0
	}
	return m.TagBytes()
}

func (m MAC) hash() func() hash.Hash {
	switch m {
	case HMACMD5:
		return md5.New
	case HMACSHA1:
		return sha1.New
	case HMACRIPEMD160:
		return ripemd160.New
	case HMACSHA256:
		return sha256.New
	case HMACSHA512:
		return sha512.New
	}
	return nil
}

// macState is a keyed hash and room for its input and output, used by one goroutine at a time.
type macState struct {
	hash   hash.Hash // nil: CRC32C
	number [8]byte
	sum    [sha512.Size]byte
}

// authenticated adds a tag to each sector of what it wraps: encrypt, then MAC. The tag is over the sector's number
// (8 bytes, little-endian) and its ciphertext, so a sector moved elsewhere is noticed; an old one put back is not.
type authenticated struct {
	inner  Sectors
	shape  shape
	crc    *crc32.Table
	states sync.Pool // of *macState
}

// WithMAC wraps s, which must have no tags of its own. key may have any length but 0 (none is needed for CRC32C).
func WithMAC(s Sectors, m MAC, key []byte) (Sectors, error) {
	if m == NoMAC {
		return s, nil
	}
	if s.TagBytes() != 0 {
		return nil, fmt.Errorf("ciphers: %s over sectors that are authenticated already", m)
	}
	a := &authenticated{inner: s, shape: shape{s.SectorBytes(), m.TagBytes()}}
	newHash := m.hash()
	switch {
	case m == CRC32C:
		a.crc = crc32.MakeTable(crc32.Castagnoli)
		a.states.New = func() any { return &macState{} }
	case newHash == nil:
		return nil, fmt.Errorf("ciphers: no MAC is called %q", string(m))
	case len(key) == 0:
		return nil, fmt.Errorf("ciphers: %s without a key", m)
	default:
		key = append([]byte(nil), key...)
		a.states.New = func() any { return &macState{hash: hmac.New(newHash, key)} }
	}
	return a, nil
}

func (a *authenticated) SectorBytes() int { return a.shape.sectorBytes }
func (a *authenticated) TagBytes() int    { return a.shape.tagBytes }

// tag computes the tag of one sector in st.sum.
func (a *authenticated) tag(st *macState, sector uint64, cipherText []byte) []byte {
	binary.LittleEndian.PutUint64(st.number[:], sector)
	if st.hash == nil {
		sum := crc32.Update(crc32.Checksum(st.number[:], a.crc), a.crc, cipherText)
		return binary.LittleEndian.AppendUint32(st.sum[:0], sum)
	}
	st.hash.Reset()
	st.hash.Write(st.number[:])
	st.hash.Write(cipherText)
	return st.hash.Sum(st.sum[:0])
}

// Encrypt goes sector by sector, so that the MAC finds the ciphertext in the nearest cache.
func (a *authenticated) Encrypt(dst, tags, src []byte, first uint64) error {
	n, err := a.shape.check(dst, tags, src)
	if err != nil {
		return err
	}
	st := a.states.Get().(*macState)
	defer a.states.Put(st)
	for i := range n {
		at, end := i*a.shape.sectorBytes, (i+1)*a.shape.sectorBytes
		if err := a.inner.Encrypt(dst[at:end:end], nil, src[at:end:end], first+uint64(i)); err != nil {
			return err
		}
		copy(tags[i*a.shape.tagBytes:(i+1)*a.shape.tagBytes], a.tag(st, first+uint64(i), dst[at:end]))
	}
	return nil
}

func (a *authenticated) Decrypt(dst, tags, src []byte, first uint64) error {
	n, err := a.shape.check(dst, tags, src)
	if err != nil {
		return err
	}
	st := a.states.Get().(*macState)
	defer a.states.Put(st)
	for i := range n {
		at, end := i*a.shape.sectorBytes, (i+1)*a.shape.sectorBytes
		want := tags[i*a.shape.tagBytes : (i+1)*a.shape.tagBytes]
		if subtle.ConstantTimeCompare(want, a.tag(st, first+uint64(i), src[at:end])) != 1 {
			return &TagError{first + uint64(i)}
		}
		if err := a.inner.Decrypt(dst[at:end:end], nil, src[at:end:end], first+uint64(i)); err != nil {
			return err
		}
	}
	return nil
}

// Wipe cannot reach the MAC's key inside crypto/hmac.
func (a *authenticated) Wipe() { a.inner.Wipe() }
