package luks

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"hash"

	"coffer/container/block"
	"coffer/container/kdf"
	"coffer/container/secret"
)

// hashFunc makes a hash.
type hashFunc = func() hash.Hash

const (
	// DefaultPayloadOffset is where cryptsetup lets payloads begin: 16 MiB.
	DefaultPayloadOffset = 16 << 20
	// DefaultHeaderSize is the size of one header copy: 16 KiB.
	DefaultHeaderSize = minHeaderSize
	// AreaAlignment is the alignment of keyslot areas and regions, in bytes.
	AreaAlignment = 4096

	// digestRounds of PBKDF2 over the volume key. The key is random, so the
	// rounds defend nothing; cryptsetup refuses fewer than 1000.
	digestRounds = 50_000
	digestBytes  = 32
	kdfSaltBytes = 32

	areaKeyBytes = 64 // AES-256-XTS for every keyslot area, as cryptsetup
	hashName     = "sha256"
)

// FormatOptions describe a new container.
type FormatOptions struct {
	HeaderSize    int64  // of one copy: a power of two, 16 KiB..4 MiB
	KeyslotsBytes int64  // size of the keyslots region, a multiple of 4096
	PayloadOffset int64  // bytes, a multiple of 4096
	SectorBytes   int    // 512, 1024, 2048 or 4096
	KeyBytes      int    // 64: AES-256-XTS, 32: AES-128-XTS
	Label         string // at most 47 bytes
	KDF           kdf.Params

	digestRounds uint64 // tests lower it; 0: digestRounds
}

// AreaBytes is the size of the area of one keyslot for a volume key of
// keyBytes: the split key, rounded up to 4096.
func AreaBytes(keyBytes int) int64 {
	return (int64(keyBytes)*afStripes + AreaAlignment - 1) / AreaAlignment * AreaAlignment
}

// Check refuses options that the format does not allow.
func (o *FormatOptions) Check(deviceSize int64) error {
	switch {
	case !validHeaderSize(uint64(o.HeaderSize)):
		return fmt.Errorf("metadata size %d: not a power of two from 16 KiB to 4 MiB: %w", o.HeaderSize, ErrUnsupported)
	case o.KeyBytes != 32 && o.KeyBytes != 64:
		return fmt.Errorf("volume key of %d bits: %w", 8*o.KeyBytes, ErrUnsupported)
	case o.KeyslotsBytes%AreaAlignment != 0 || o.KeyslotsBytes > maxKeyslotsBytes:
		return fmt.Errorf("keyslots region of %d bytes: not a multiple of 4096 up to 128 MiB: %w", o.KeyslotsBytes, ErrUnsupported)
	case o.KeyslotsBytes < AreaBytes(o.KeyBytes):
		return fmt.Errorf("keyslots region of %d bytes does not hold one keyslot of %d: %w", o.KeyslotsBytes, AreaBytes(o.KeyBytes), ErrTooSmall)
	case o.PayloadOffset%AreaAlignment != 0 || o.PayloadOffset < 2*o.HeaderSize+o.KeyslotsBytes:
		return fmt.Errorf("payload offset %d: inside the header or not a multiple of 4096: %w", o.PayloadOffset, ErrUnsupported)
	case o.PayloadOffset+int64(o.SectorBytes) > deviceSize:
		return fmt.Errorf("%d bytes with a payload from %d: %w", deviceSize, o.PayloadOffset, ErrTooSmall)
	case len(o.Label) >= labelBytes:
		return fmt.Errorf("label of %d bytes, at most %d fit: %w", len(o.Label), labelBytes-1, ErrUnsupported)
	}
	switch o.SectorBytes {
	case 512, 1024, 2048, 4096:
		return nil
	}
	return fmt.Errorf("sector size %d: not 512, 1024, 2048 or 4096: %w", o.SectorBytes, ErrUnsupported)
}

// Format makes dev a new container with a random volume key that opens with
// passphrase (keyslot 0), and returns the header and the key, to be destroyed
// by the caller. The payload is left as it is. dev should be new: what it held
// is not wiped.
func Format(ctx context.Context, dev block.Device, d kdf.Deriver, o FormatOptions, passphrase []byte) (*Header, *secret.Buffer, error) {
	if err := o.Check(dev.Size()); err != nil {
		return nil, nil, err
	}
	key, err := secret.New(o.KeyBytes)
	if err != nil {
		return nil, nil, err
	}
	h, err := format(ctx, dev, d, o, passphrase, key.Bytes())
	if err != nil {
		key.Destroy()
		return nil, nil, err
	}
	return h, key, nil
}

func format(ctx context.Context, dev block.Device, d kdf.Deriver, o FormatOptions, passphrase, key []byte) (*Header, error) {
	if _, err := rand.Read(key); err != nil {
		return nil, fmt.Errorf("random numbers: %w", err)
	}
	uuid, err := newUUID()
	if err != nil {
		return nil, err
	}
	dig, err := newDigest(ctx, key, cmp.Or(o.digestRounds, digestRounds))
	if err != nil {
		return nil, err
	}
	root := newObject().
		set("keyslots", newObject()).
		set("tokens", newObject()).
		set("segments", newObject().set("0", newObject().
			set("type", newString("crypt")).
			set("offset", newUint64(uint64(o.PayloadOffset))).
			set("size", newString("dynamic")).
			set("iv_tweak", newString("0")).
			set("encryption", newString(cipherXTS)).
			set("sector_size", newInt(uint64(o.SectorBytes))))).
		set("digests", newObject().set("0", dig)).
		set("config", newObject().
			set("json_size", newUint64(uint64(o.HeaderSize-binarySize))).
			set("keyslots_size", newUint64(uint64(o.KeyslotsBytes))))
	meta, err := parseMetadata(root, o.HeaderSize)
	if err != nil {
		return nil, err
	}
	h := &Header{
		bin:     binaryHeader{headerSize: o.HeaderSize, label: o.Label, uuid: uuid},
		root:    root,
		meta:    meta,
		Primary: CopyGood, Secondary: CopyGood,
	}
	_, err = h.AddKey(ctx, dev, d, key, o.KDF, passphrase, AnySlot)
	return h, err
}

// newDigest makes the digest object of a volume key: bound to segment 0, to no
// keyslot yet.
func newDigest(ctx context.Context, key []byte, rounds uint64) (*value, error) {
	p := kdf.Params{Kind: kdf.PBKDF2, Hash: hashName, Iterations: rounds, Salt: make([]byte, kdfSaltBytes)}
	if _, err := rand.Read(p.Salt); err != nil {
		return nil, fmt.Errorf("random numbers: %w", err)
	}
	sum := make([]byte, digestBytes)
	if err := (kdf.InProcess{}).Derive(ctx, p, key, sum); err != nil {
		return nil, err
	}
	return newObject().
		set("type", newString("pbkdf2")).
		set("keyslots", newArray()).
		set("segments", newArray(newString("0"))).
		set("hash", newString(p.Hash)).
		set("iterations", newInt(p.Iterations)).
		set("salt", newBase64(p.Salt)).
		set("digest", newBase64(sum)), nil
}

func newBase64(b []byte) *value { return newString(base64.StdEncoding.EncodeToString(b)) }

// newUUID is a random UUID (RFC 9562 version 4).
func newUUID() (string, error) {
	var b [16]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("random numbers: %w", err)
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:]), nil
}
