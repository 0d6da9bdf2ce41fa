// Package outside measures ciphers without the lab: by plain loops over the same code or the primitives below it, and by
// `openssl speed`. Its test holds the figures of the lab's cipher experiment against both.
package outside

import (
	"bufio"
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"fmt"
	"hash"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/crypto/chacha20poly1305"
	//lint:ignore SA1019 compared, not used
	"golang.org/x/crypto/ripemd160"

	"coffer/container/aesxts"
	"coffer/container/ciphers"
	"coffer/transfer/report"
)

// SectorBytes is the size of what is encrypted at a time.
const SectorBytes = 4096

// Comparison is one row of the lab and the same work elsewhere.
type Comparison struct {
	Title string // of the lab's row
	// Loop encrypts and authenticates whole sectors with the same algorithm, by the same code, without the lab.
	Loop func() (func(dst, src []byte), error)
	// OpenSSL are the arguments of `openssl speed`; nil: it does not have the algorithm.
	OpenSSL []string
	// OwnCode says what other code openssl runs for it: its figure is for information.
	OwnCode string
}

func key(n int) []byte { return bytes.Repeat([]byte{1, 2, 3, 4, 5, 6, 7, 8}, n/8) }

// direct is the code the lab measures, in a loop of its own.
func direct(a ciphers.Algorithm) func() (func(dst, src []byte), error) {
	return func() (func(dst, src []byte), error) {
		s, err := a.New(key(a.KeyBytes()), SectorBytes)
		return func(dst, src []byte) {
			if err := s.Encrypt(dst, nil, src, 1); err != nil {
				panic(err) // the lengths are constants above
			}
		}, err
	}
}

func cbc(c ciphers.Cipher, bits int) func() (func(dst, src []byte), error) {
	return direct(ciphers.Algorithm{Cipher: c, KeyBits: bits, Mode: ciphers.CBCPlain64})
}

func xts(c ciphers.Cipher) func() (func(dst, src []byte), error) {
	return direct(ciphers.Algorithm{Cipher: c, KeyBits: 256, Mode: ciphers.XTS})
}

func sealed(newAEAD func() (cipher.AEAD, error)) func() (func(dst, src []byte), error) {
	return func() (func(dst, src []byte), error) {
		a, err := newAEAD()
		if err != nil {
			return nil, err
		}
		nonce, room := make([]byte, a.NonceSize()), make([]byte, 0, SectorBytes+a.Overhead())
		return func(_, src []byte) {
			for sector := range slices.Chunk(src, SectorBytes) {
				a.Seal(room, nonce, sector, nil)
			}
		}, nil
	}
}

// macAfter is a cipher, and then the MAC of each sector.
func macAfter(open func() (func(dst, src []byte), error), newHash func() hash.Hash) func() (func(dst, src []byte), error) {
	return func() (func(dst, src []byte), error) {
		encrypt, err := open()
		mac := hmac.New(newHash, key(newHash().Size()/8*8))
		sum := make([]byte, 0, 64)
		return func(dst, src []byte) {
			for at := 0; at < len(src); at += SectorBytes {
				sector := dst[at : at+SectorBytes]
				encrypt(sector, src[at:at+SectorBytes])
				mac.Reset()
				mac.Write(sector)
				mac.Sum(sum)
			}
		}, err
	}
}

// copying is the null cipher.
func copying() (func(dst, src []byte), error) {
	return func(dst, src []byte) { copy(dst, src) }, nil
}

// Comparisons are all there are.
func Comparisons() []Comparison {
	evp := func(name string) []string { return []string{"-evp", name} }
	hmacOf := func(name string) []string { return []string{"-hmac", name} }
	const goBlocks = "Go enciphers CBC block by block, openssl in one assembly loop"
	return []Comparison{
		{"AES-256-XTS, Coffer's engine", func() (func(dst, src []byte), error) {
			k := key(64)
			k[63] = 9 // the halves must differ
			e, err := aesxts.New(k, SectorBytes, aesxts.WithMaxWorkers(1))
			return func(dst, src []byte) { e.EncryptUnits(dst, src, 1) }, err
		}, evp("aes-256-xts"), "other assembly"},
		{"AES-256-GCM", sealed(func() (cipher.AEAD, error) {
			b, err := aes.NewCipher(key(32))
			if err != nil {
				return nil, err
			}
			return cipher.NewGCM(b)
		}), append(evp("aes-256-gcm"), "-aead"), "other assembly"},
		{"ChaCha20-Poly1305", sealed(func() (cipher.AEAD, error) { return chacha20poly1305.New(key(32)) }),
			append(evp("chacha20-poly1305"), "-aead"), "other assembly"},
		{"AES-256-CBC", cbc(ciphers.AES, 256), evp("aes-256-cbc"), goBlocks},
		{"AES-128-CBC", cbc(ciphers.AES, 128), evp("aes-128-cbc"), goBlocks},
		{"Camellia-128-CBC", cbc(ciphers.Camellia, 128), evp("camellia-128-cbc"), "Go tables against assembly"},
		{"3DES-CBC", cbc(ciphers.TripleDES, 192), evp("des-ede3-cbc"), "Go against assembly"},
		{"Blowfish-128-CBC", cbc(ciphers.Blowfish, 128), nil, ""},
		{"Twofish-256-XTS", xts(ciphers.Twofish), nil, ""},
		{"Serpent-256-XTS", xts(ciphers.Serpent), nil, ""},
		{"Camellia-256-XTS", xts(ciphers.Camellia), nil, ""},
		{"Kuznyechik-XTS", xts(ciphers.Kuznyechik), nil, ""},
		{"null cipher with HMAC-SHA512", macAfter(copying, sha512.New), hmacOf("sha512"), "other assembly"},
		{"null cipher with HMAC-SHA256", macAfter(copying, sha256.New), hmacOf("sha256"), "both by the processor's instructions, if it has them"},
		{"null cipher with HMAC-SHA1", macAfter(copying, sha1.New), hmacOf("sha1"), "both by the processor's instructions, if it has them"},
		{"null cipher with HMAC-MD5", macAfter(copying, md5.New), hmacOf("md5"), "both plain assembly"},
		{"AES-256-CBC with HMAC-SHA512", macAfter(cbc(ciphers.AES, 256), sha512.New), nil, ""},
		{"AES-256-CBC with HMAC-SHA256", macAfter(cbc(ciphers.AES, 256), sha256.New), nil, ""},
		{"AES-256-CBC with HMAC-SHA1", macAfter(cbc(ciphers.AES, 256), sha1.New), nil, ""},
		{"AES-256-CBC with HMAC-RIPEMD160", macAfter(cbc(ciphers.AES, 256), ripemd160.New), nil, ""},
		{"AES-256-CBC with HMAC-MD5", macAfter(cbc(ciphers.AES, 256), md5.New), nil, ""},
	}
}

// CPUSecondsPerGB runs a loop over 64 KiB for at least that long and returns processor seconds per 10^9 bytes, which other
// work on the machine disturbs less than the clock on the wall.
func (c Comparison) CPUSecondsPerGB(atLeast time.Duration) (float64, error) {
	work, err := c.Loop()
	if err != nil {
		return 0, fmt.Errorf("%s: %w", c.Title, err)
	}
	src, dst := make([]byte, 64<<10), make([]byte, 64<<10)
	before, start, done := report.ProcessTimes(), time.Now(), 0
	for time.Since(start) < atLeast {
		work(dst, src)
		done += len(src)
	}
	used := report.UsageBetween(before, report.ProcessTimes(), time.Since(start))
	return (used.UserSeconds + used.SystemSeconds) / float64(done) * 1e9, nil
}

// OpenSSLSecondsPerGB is what `openssl speed` says, which counts its user time.
func (c Comparison) OpenSSLSecondsPerGB(program string) (float64, error) {
	arguments := append([]string{"speed", "-mr", "-seconds", "1", "-bytes", strconv.Itoa(SectorBytes)}, c.OpenSSL...)
	out, err := exec.Command(program, arguments...).Output()
	if err != nil {
		return 0, fmt.Errorf("openssl %v: %w", arguments, err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		if fields := strings.Split(lines.Text(), ":"); fields[0] == "+F" && len(fields) == 4 {
			perSecond, err := strconv.ParseFloat(fields[3], 64)
			if err != nil || perSecond <= 0 {
				return 0, fmt.Errorf("openssl %v: %q", arguments, lines.Text())
			}
			return 1e9 / perSecond, nil
		}
	}
	return 0, fmt.Errorf("openssl %v: no figure in %q", arguments, out)
}
