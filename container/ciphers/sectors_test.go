package ciphers

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os/exec"
	"strconv"
	"sync"
	"testing"

	"coffer/container/aesxts"
)

// randomBytes are the same in every run.
func randomBytes(seed byte, n int) []byte {
	b := make([]byte, n)
	rand.NewChaCha8([32]byte{seed}).Read(b)
	return b
}

// withMACs is every algorithm with every MAC that goes with it.
func withMACs() []Algorithm {
	var list []Algorithm
	for _, a := range Algorithms() {
		for _, m := range MACs() {
			if a.MAC = m; a.Check() == nil {
				list = append(list, a)
			}
		}
	}
	return list
}

func open(t testing.TB, a Algorithm, sectorBytes int) Sectors {
	t.Helper()
	s, err := a.New(randomBytes(1, a.KeyBytes()), sectorBytes)
	if err != nil {
		t.Fatalf("%s: %v", a.Name(), err)
	}
	return s
}

func seal(t testing.TB, s Sectors, plain []byte, first uint64) (secret, tags []byte) {
	t.Helper()
	secret, tags = make([]byte, len(plain)), make([]byte, len(plain)/s.SectorBytes()*s.TagBytes())
	if err := s.Encrypt(secret, tags, plain, first); err != nil {
		t.Fatal(err)
	}
	return secret, tags
}

// TestRoundTrip: every algorithm gives back what it took, in place and beside it, at once and sector by sector, by another
// instance with the same key; and does encrypt.
func TestRoundTrip(t *testing.T) {
	names := map[string]bool{}
	for _, a := range withMACs() {
		if names[a.Name()] || names[a.Title()] {
			t.Errorf("%s or %s names two algorithms", a.Name(), a.Title())
		}
		names[a.Name()], names[a.Title()] = true, true
		for _, size := range []int{512, 4096} {
			plain := randomBytes(2, 5*size)
			secret, tags := seal(t, open(t, a, size), plain, 1<<40)
			if a.Cipher != Null && bytes.Contains(secret, plain[:16]) {
				t.Errorf("%s does not encrypt", a.Name())
			}
			s, out := open(t, a, size), make([]byte, len(plain))
			if err := s.Decrypt(out, tags, secret, 1<<40); err != nil || !bytes.Equal(out, plain) {
				t.Errorf("%s, %d: does not give back what it took: %v", a.Name(), size, err)
			}
			inPlace := bytes.Clone(plain)
			again := make([]byte, len(tags))
			if err := s.Encrypt(inPlace, again, inPlace, 1<<40); err != nil || a.Mode != GCM && a.Mode != Poly1305 && !bytes.Equal(inPlace, secret) {
				t.Errorf("%s, %d: in place is something else: %v", a.Name(), size, err)
			}
			for i := 4; i >= 0; i-- {
				one := inPlace[i*size : (i+1)*size]
				if err := s.Decrypt(one, again[i*s.TagBytes():(i+1)*s.TagBytes()], one, 1<<40+uint64(i)); err != nil {
					t.Errorf("%s, %d: sector %d alone: %v", a.Name(), size, i, err)
				}
			}
			if !bytes.Equal(inPlace, plain) {
				t.Errorf("%s, %d: decrypting in place, sector by sector, is something else", a.Name(), size)
			}
		}
	}
	if len(names) < 200 {
		t.Errorf("%d names: algorithms are missing", len(names))
	}
}

// TestTampering: with authentication, any changed bit of sector or tag, and any sector in another place, is noticed, names
// the sector and gives no plaintext of it; the sectors before are there. Without, it is not an error.
func TestTampering(t *testing.T) {
	const size, n = 512, 4
	plain := randomBytes(3, n*size)
	for _, a := range withMACs() {
		s := open(t, a, size)
		secret, tags := seal(t, s, plain, 100)
		attempt := func(what string, secret, tags []byte, first uint64, sector uint64) {
			out := make([]byte, len(secret))
			err := s.Decrypt(out, tags, secret, first)
			var tag *TagError
			if s.TagBytes() == 0 {
				if err != nil {
					t.Errorf("%s, %s: %v", a.Name(), what, err)
				}
				return
			}
			if !errors.As(err, &tag) || tag.Sector != sector {
				t.Fatalf("%s, %s: %v, want sector %d", a.Name(), what, err, sector)
			}
			good := int(sector-first) * size
			if !bytes.Equal(out[:good], plain[:good]) || bytes.Contains(out[good:], plain[good:good+16]) {
				t.Errorf("%s, %s: sectors before are missing or plaintext came out", a.Name(), what)
			}
		}
		for _, at := range []int{0, size - 1, 2*size + 77, n*size - 1} {
			bad := bytes.Clone(secret)
			bad[at] ^= 1 << (at % 8)
			attempt("bit of ciphertext", bad, tags, 100, 100+uint64(at/size))
		}
		for at := range tags {
			bad := bytes.Clone(tags)
			bad[at] ^= 0x80
			attempt("bit of tag "+strconv.Itoa(at), secret, bad, 100, 100+uint64(at/s.TagBytes()))
		}
		attempt("elsewhere", secret, tags, 101, 101)
	}
}

// TestWrongLengths: buffers that do not fit are an error, and nothing is written.
func TestWrongLengths(t *testing.T) {
	for _, a := range withMACs() {
		s := open(t, a, 512)
		for _, c := range [][3]int{{511, 511, 1}, {512, 511, 1}, {1, 512, 1}, {1024, 512, 2}, {513, 1024, 2}, {512, 512, 0}} {
			src, dst, tags := randomBytes(4, c[0]), make([]byte, c[1]), make([]byte, c[2]*s.TagBytes())
			if c[2] == 0 && s.TagBytes() == 0 {
				continue // no tags are needed
			}
			var length *LengthError
			if err := s.Encrypt(dst, tags, src, 0); !errors.As(err, &length) {
				t.Errorf("%s: encrypting %v: %v", a.Name(), c, err)
			}
			if err := s.Decrypt(dst, tags, src, 0); !errors.As(err, &length) {
				t.Errorf("%s: decrypting %v: %v", a.Name(), c, err)
			}
			if !bytes.Equal(dst, make([]byte, len(dst))) {
				t.Errorf("%s: %v: something was written", a.Name(), c)
			}
		}
		if err := errors.Join(s.Encrypt(nil, nil, nil, 0), s.Decrypt(nil, nil, nil, 0)); err != nil {
			t.Errorf("%s: nothing to do: %v", a.Name(), err)
		}
		for _, size := range []int{0, -512, 1<<24 + 16, math.MaxInt} {
			if _, err := a.New(make([]byte, a.KeyBytes()), size); err == nil {
				t.Errorf("%s takes sectors of %d bytes", a.Name(), size)
			}
		}
		if b := a.Cipher.BlockBytes(); b != 0 && a.Mode != GCM {
			if _, err := a.New(make([]byte, a.KeyBytes()), 512+b/2); err == nil {
				t.Errorf("%s takes sectors that are no whole blocks", a.Name())
			}
		}
		for _, n := range []int{-1, 1} {
			if a.KeyBytes()+n < 0 {
				continue
			}
			var size *KeySizeError
			if _, err := a.New(make([]byte, a.KeyBytes()+n), 512); !errors.As(err, &size) {
				t.Errorf("%s with a key of %d bytes: %v", a.Name(), a.KeyBytes()+n, err)
			}
		}
	}
}

// TestRefused: combinations that cannot be say why, by Check and New.
func TestRefused(t *testing.T) {
	for _, a := range []Algorithm{{}, {Cipher: "rot13", KeyBits: 128, Mode: XTS}, {Cipher: AES, KeyBits: 255, Mode: XTS}, {Cipher: AES, KeyBits: 256},
		{Cipher: Blowfish, KeyBits: 128, Mode: XTS}, {Cipher: TripleDES, KeyBits: 192, Mode: XTS}, {Cipher: TripleDES, KeyBits: 192, Mode: CBCESSIV},
		{Cipher: Camellia, KeyBits: 128, Mode: GCM}, {Cipher: Null, KeyBits: 128}, {Cipher: Null, Mode: XTS}, {Cipher: AES, KeyBits: 128, Mode: Poly1305},
		{Cipher: AES, KeyBits: 128, Mode: GCM, MAC: HMACSHA256}, {Cipher: AES, KeyBits: 128, Mode: XTS, MAC: "md2"}, {Cipher: AES, KeyBits: 128, Mode: "ecb"}} {
		if err := a.Check(); err == nil {
			t.Errorf("%+v is allowed", a)
		}
		if _, err := a.New(make([]byte, max(0, a.KeyBytes())), 512); err == nil {
			t.Errorf("%+v can be made", a)
		}
	}
	if _, err := WithMAC(open(t, Algorithm{Cipher: AES, KeyBits: 128, Mode: GCM}, 512), CRC32C, nil); err == nil {
		t.Error("a MAC over sectors with tags")
	}
	if _, err := WithMAC(open(t, Algorithm{Cipher: Null}, 512), HMACSHA1, nil); err == nil {
		t.Error("a MAC without a key")
	}
	if _, err := WithMAC(open(t, Algorithm{Cipher: Null}, 512), "md2", []byte{1}); err == nil {
		t.Error("an unknown MAC")
	}
}

// TestXTSLikeTheEngine compares XTS block by block with container/aesxts, numberings past 2^64 included.
func TestXTSLikeTheEngine(t *testing.T) {
	for _, keyBytes := range []int{32, 64} {
		for _, size := range []int{16, 512, 4096} {
			for _, n := range []Numbering{Plain(), {0, 8}, {256, 1}, {1<<64 - 3, 1}, {5, 1<<63 + 1}} {
				key := randomBytes(byte(keyBytes), keyBytes)
				engine, err := aesxts.New(key, size, aesxts.WithTweak(n.Base, n.Step))
				if err != nil {
					t.Fatal(err)
				}
				data, err1 := NewBlock(AES, key[:keyBytes/2])
				tweak, err2 := NewBlock(AES, key[keyBytes/2:])
				s, err3 := NewXTS(data, tweak, size, n)
				if err := errors.Join(err1, err2, err3); err != nil {
					t.Fatal(err)
				}
				for _, first := range []uint64{0, 1, 1 << 33, 1<<64 - 8} {
					plain := randomBytes(6, 4*size)
					want := make([]byte, len(plain))
					engine.EncryptUnits(want, plain, first)
					if got, _ := seal(t, s, plain, first); !bytes.Equal(got, want) {
						t.Errorf("key of %d bytes, sectors of %d, numbering %v from %d: not what the engine writes", keyBytes, size, n, first)
					}
				}
			}
		}
	}
}

// TestOpenSSL compares CBC with the openssl command for each cipher it has.
func TestOpenSSL(t *testing.T) {
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		t.Fatalf("%v: apt-get install openssl", err)
	}
	for _, c := range []struct {
		Algorithm
		name string
	}{
		{Algorithm{AES, 128, CBCPlain64, NoMAC}, "aes-128-cbc"}, {Algorithm{AES, 192, CBCPlain64, NoMAC}, "aes-192-cbc"},
		{Algorithm{AES, 256, CBCPlain64, NoMAC}, "aes-256-cbc"}, {Algorithm{Camellia, 128, CBCPlain64, NoMAC}, "camellia-128-cbc"},
		{Algorithm{Camellia, 192, CBCPlain64, NoMAC}, "camellia-192-cbc"}, {Algorithm{Camellia, 256, CBCPlain64, NoMAC}, "camellia-256-cbc"},
		{Algorithm{Blowfish, 128, CBCPlain64, NoMAC}, "bf-cbc"}, {Algorithm{TripleDES, 192, CBCPlain64, NoMAC}, "des-ede3-cbc"},
	} {
		for _, sector := range []uint64{0, 1, 0x123456789abcdef0} {
			key, plain := randomBytes(1, c.KeyBytes()), randomBytes(7, 4096)
			iv := make([]byte, c.Cipher.BlockBytes())
			binary.LittleEndian.PutUint64(iv, sector)
			command := exec.Command(openssl, "enc", "-"+c.name, "-nopad", "-K", fmt.Sprintf("%x", key), "-iv", fmt.Sprintf("%x", iv), "-provider", "legacy", "-provider", "default")
			command.Stdin = bytes.NewReader(plain)
			var complaint bytes.Buffer
			command.Stderr = &complaint
			want, err := command.Output()
			if err != nil {
				t.Fatalf("openssl %s: %v: %s", c.name, err, complaint.String())
			}
			if got, _ := seal(t, open(t, c.Algorithm, 4096), plain, sector); !bytes.Equal(got, want) {
				t.Errorf("%s, sector %d: not what openssl writes", c.name, sector)
			}
		}
	}
}

// TestOpenSSLMAC compares tags with the openssl command: HMAC over the sector's number and the ciphertext.
func TestOpenSSLMAC(t *testing.T) {
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		t.Fatalf("%v: apt-get install openssl", err)
	}
	for m, name := range map[MAC]string{HMACMD5: "md5", HMACSHA1: "sha1", HMACRIPEMD160: "ripemd160", HMACSHA256: "sha256", HMACSHA512: "sha512"} {
		a := Algorithm{Cipher: Null, MAC: m}
		plain := randomBytes(8, 512)
		_, tag := seal(t, open(t, a, 512), plain, 77)
		command := exec.Command(openssl, "dgst", "-"+name, "-mac", "HMAC", "-macopt", fmt.Sprintf("hexkey:%x", randomBytes(1, a.KeyBytes())),
			"-binary", "-provider", "legacy", "-provider", "default")
		command.Stdin = bytes.NewReader(append(binary.LittleEndian.AppendUint64(nil, 77), plain...))
		var complaint bytes.Buffer
		command.Stderr = &complaint
		if want, err := command.Output(); err != nil || !bytes.Equal(tag, want) {
			t.Errorf("%s: %x, openssl has %x (%v %s)", m, tag, want, err, complaint.String())
		}
	}
	// RFC 3720, B.4 has the CRC32C of 32 zero bytes: 8 of the number 0, 24 of the sector.
	if _, tag := seal(t, open(t, Algorithm{Cipher: Null, MAC: CRC32C}, 24), make([]byte, 24), 0); !bytes.Equal(tag, []byte{0xaa, 0x36, 0x91, 0x8a}) {
		t.Errorf("CRC32C is %x", tag)
	}
}

// TestNonces: no two calls use the same nonce, and the last one is used once.
func TestNonces(t *testing.T) {
	for _, a := range []Algorithm{{AES, 256, GCM, NoMAC}, {ChaCha20, 256, Poly1305, NoMAC}} {
		s := open(t, a, 64)
		seen := map[string]bool{}
		for range 100 {
			secret, tags := seal(t, s, make([]byte, 3*64), 9)
			for i := range 3 {
				nonce := fmt.Sprint(i, tags[i*s.TagBytes():i*s.TagBytes()+aeadCounterBytes])
				if seen[nonce] || seen[string(secret[i*64:(i+1)*64])] {
					t.Fatalf("%s: a nonce was used twice", a.Name())
				}
				seen[nonce], seen[string(secret[i*64:(i+1)*64])] = true, true
			}
		}
		s.(*aead).writes.Store(1<<32 - 1)
		tags := make([]byte, s.TagBytes())
		if err := s.Encrypt(make([]byte, 64), tags, make([]byte, 64), 0); err != nil {
			t.Errorf("%s: the last nonce: %v", a.Name(), err)
		}
		for range 2 {
			if err := s.Encrypt(make([]byte, 64), tags, make([]byte, 64), 0); !errors.Is(err, ErrNonces) {
				t.Errorf("%s: after the last nonce: %v", a.Name(), err)
			}
		}
	}
}

// TestConcurrent: one instance serves many goroutines (run with -race).
func TestConcurrent(t *testing.T) {
	for _, a := range []Algorithm{{Camellia, 256, XTS, HMACSHA256}, {Blowfish, 128, CBCESSIV, CRC32C}, {AES, 256, GCM, NoMAC}, {Kuznyechik, 256, XTS, HMACMD5}} {
		s := open(t, a, 512)
		var group sync.WaitGroup
		for i := range 8 {
			group.Go(func() {
				plain := randomBytes(byte(i), 2048)
				for first := range uint64(20) {
					secret, tags := make([]byte, len(plain)), make([]byte, 4*s.TagBytes())
					err := errors.Join(s.Encrypt(secret, tags, plain, first), s.Decrypt(secret, tags, secret, first))
					if err != nil || !bytes.Equal(secret, plain) {
						t.Errorf("%s: %v", a.Name(), err)
						return
					}
				}
			})
		}
		group.Wait()
	}
}
