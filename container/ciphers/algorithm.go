package ciphers

import (
	"crypto/cipher"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/crypto/chacha20poly1305"
)

// Mode names how a cipher is applied to a sector.
type Mode string

// Modes.
const (
	NoMode     Mode = ""                 // of Null
	XTS        Mode = "xts"              // numbers are sector numbers
	CBCPlain64 Mode = "cbc-plain64"      // see Plain64
	CBCESSIV   Mode = "cbc-essiv:sha256" // see ESSIV
	GCM        Mode = "gcm"              // authenticated; for measuring, not a format
	Poly1305   Mode = "poly1305"         // of ChaCha20; authenticated; for measuring, not a format
)

// Algorithm is everything that is done to a sector.
type Algorithm struct {
	Cipher  Cipher
	KeyBits int // of the cipher: 256 for AES-256-XTS, although its key has 512; 0 for Null
	Mode    Mode
	MAC     MAC
}

// Algorithms lists every cipher, key size and mode that goes together, without MAC.
func Algorithms() []Algorithm {
	list := []Algorithm{{Cipher: Null}}
	for _, c := range []Cipher{AES, Camellia, Kuznyechik, Serpent, Twofish, Blowfish, TripleDES, ChaCha20} {
		for _, bits := range c.KeySizes() {
			for _, m := range []Mode{XTS, CBCPlain64, CBCESSIV, GCM, Poly1305} {
				if a := (Algorithm{c, bits, m, NoMAC}); a.Check() == nil {
					list = append(list, a)
				}
			}
		}
	}
	return list
}

// Check tells why an algorithm cannot be.
func (a Algorithm) Check() error {
	known := map[Mode]bool{
		NoMode:     a.Cipher == Null,
		XTS:        a.Cipher.BlockBytes() == 16,
		CBCPlain64: a.Cipher.BlockBytes() != 0,
		CBCESSIV:   a.Cipher.BlockBytes() != 0 && a.Cipher != TripleDES, // whose keys are no SHA-256
		GCM:        a.Cipher == AES,                                     // others would be slower than slow
		Poly1305:   a.Cipher == ChaCha20,
	}
	if a.Cipher != Null && a.Cipher.KeySizes() == nil {
		return fmt.Errorf("ciphers: no cipher is called %q", string(a.Cipher))
	}
	if !known[a.Mode] {
		return fmt.Errorf("ciphers: %s has no mode %q", a.Cipher.Title(), string(a.Mode))
	}
	if (a.Cipher == Null) != (a.KeyBits == 0) || a.Cipher != Null && !slices.Contains(a.Cipher.KeySizes(), a.KeyBits) {
		return fmt.Errorf("ciphers: %s has no keys of %d bits", a.Cipher.Title(), a.KeyBits)
	}
	if a.MAC != NoMAC && a.MAC.TagBytes() == 0 {
		return fmt.Errorf("ciphers: no MAC is called %q", string(a.MAC))
	}
	if a.MAC != NoMAC && (a.Mode == GCM || a.Mode == Poly1305) {
		return fmt.Errorf("ciphers: %s is authenticated already", a.Cipher.Title()+"-"+string(a.Mode))
	}
	return nil
}

// Name is the name for programs: "aes-256-xts", "null", "chacha20-poly1305", "camellia-256-cbc-plain64+hmac-sha256".
func (a Algorithm) Name() string {
	parts := []string{string(a.Cipher)}
	if len(a.Cipher.KeySizes()) > 1 {
		parts = append(parts, strconv.Itoa(a.KeyBits))
	}
	if a.Mode != NoMode {
		parts = append(parts, string(a.Mode))
	}
	name := strings.Join(parts, "-")
	if a.MAC != NoMAC {
		name += "+" + string(a.MAC)
	}
	return name
}

// Title is the name for people: "AES-256-XTS", "Camellia-256-CBC with HMAC-SHA256".
func (a Algorithm) Title() string {
	title := a.Cipher.Title()
	if len(a.Cipher.KeySizes()) > 1 {
		title += "-" + strconv.Itoa(a.KeyBits)
	}
	switch a.Mode {
	case XTS, GCM:
		title += "-" + strings.ToUpper(string(a.Mode))
	case CBCPlain64:
		title += "-CBC"
	case CBCESSIV:
		title += "-CBC-ESSIV"
	case Poly1305:
		title += "-Poly1305"
	}
	if a.MAC != NoMAC {
		title += " with " + a.MAC.Title()
	}
	return title
}

// cipherKeyBytes is the part of the key that is not the MAC's.
func (a Algorithm) cipherKeyBytes() int {
	if a.Mode == XTS {
		return a.KeyBits / 4
	}
	return a.KeyBits / 8
}

// KeyBytes is the size of the key New takes: the cipher's (both halves for XTS), then the MAC's.
func (a Algorithm) KeyBytes() int { return a.cipherKeyBytes() + a.MAC.KeyBytes() }

// New makes sectors of sectorBytes, numbered as Plain does. key has KeyBytes bytes and is not retained.
func (a Algorithm) New(key []byte, sectorBytes int) (Sectors, error) {
	if err := a.Check(); err != nil {
		return nil, err
	}
	if len(key) != a.KeyBytes() {
		return nil, keySizeError(a.Title(), len(key))
	}
	split := a.cipherKeyBytes()
	inner, err := a.bare(key[:split], sectorBytes)
	if err != nil {
		return nil, err
	}
	return WithMAC(inner, a.MAC, key[split:])
}

// bare makes the sectors without a MAC.
func (a Algorithm) bare(key []byte, sectorBytes int) (Sectors, error) {
	switch a.Mode {
	case NoMode:
		return null{shape{sectorBytes, 0}}, checkSectorSize(sectorBytes, 1)
	case Poly1305:
		c, err := chacha20poly1305.New(key)
		if err != nil {
			return nil, err
		}
		return newAEAD(c, sectorBytes)
	case XTS:
		return a.xts(key, sectorBytes)
	}
	block, err := NewBlock(a.Cipher, key)
	if err != nil {
		return nil, err
	}
	switch a.Mode {
	case GCM:
		c, err := cipher.NewGCM(block)
		if err != nil {
			return nil, err
		}
		return newAEAD(c, sectorBytes)
	case CBCESSIV:
		iv, err := ESSIV(a.Cipher, key)
		if err != nil {
			return nil, err
		}
		return NewCBC(block, iv, sectorBytes, Plain())
	}
	return NewCBC(block, Plain64(), sectorBytes, Plain())
}

func (a Algorithm) xts(key []byte, sectorBytes int) (Sectors, error) {
	data, err := NewBlock(a.Cipher, key[:len(key)/2])
	if err != nil {
		return nil, err
	}
	tweak, err := NewBlock(a.Cipher, key[len(key)/2:])
	if err != nil {
		return nil, err
	}
	return NewXTS(data, tweak, sectorBytes, Plain())
}
