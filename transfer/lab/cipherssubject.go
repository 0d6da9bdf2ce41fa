package lab

import (
	"coffer/container/aesxts"
	"coffer/container/ciphers"
)

// Titles of what is not an Algorithm.
const (
	plainTitle = "plain file"
	engine256  = "AES-256-XTS, Coffer's engine"
	engine128  = "AES-128-XTS, Coffer's engine"
	nullTitle  = "null cipher"
)

// subject is one row: something that can be done to sectors.
type subject struct {
	title string
	// open makes it ready; nil: nothing is done, not even copying. Only the image file has that.
	open func(sectorBytes int) (ciphers.Sectors, error)
	// bare says that there is no authentication: such rows become bars.
	bare bool
}

// engineSectors is the engine every XTS container of Coffer uses, one call in one goroutine.
type engineSectors struct{ aesxts.Engine }

func (e engineSectors) SectorBytes() int { return e.UnitSize() }
func (engineSectors) TagBytes() int      { return 0 }

func (e engineSectors) Encrypt(dst, _, src []byte, first uint64) error {
	e.EncryptUnits(dst, src, first)
	return nil
}

func (e engineSectors) Decrypt(dst, _, src []byte, first uint64) error {
	e.DecryptUnits(dst, src, first)
	return nil
}

// labKey is a key for measuring: no secret, but with all bytes and both halves different, as a real one.
func labKey(n int) []byte {
	key := make([]byte, n)
	for i := range key {
		key[i] = byte(7*i + 1)
	}
	return key
}

func engineSubject(title string, keyBytes int, m ciphers.MAC) subject {
	if m != ciphers.NoMAC {
		title += " with " + m.Title()
	}
	return subject{title, func(sectorBytes int) (ciphers.Sectors, error) {
		e, err := aesxts.New(labKey(keyBytes), sectorBytes, aesxts.WithMaxWorkers(1))
		if err != nil {
			return nil, err
		}
		return ciphers.WithMAC(engineSectors{e}, m, labKey(m.KeyBytes()))
	}, m == ciphers.NoMAC}
}

func algorithmSubject(a ciphers.Algorithm) subject {
	return subject{a.Title(), func(sectorBytes int) (ciphers.Sectors, error) {
		return a.New(labKey(a.KeyBytes()), sectorBytes)
	}, a.MAC == ciphers.NoMAC}
}

// cbc is an algorithm as GELI and dm-crypt had them in their first years.
func cbc(c ciphers.Cipher, bits int, m ciphers.MAC) subject {
	return algorithmSubject(ciphers.Algorithm{Cipher: c, KeyBits: bits, Mode: ciphers.CBCPlain64, MAC: m})
}

// imageSubjects are what GELI2008 compared, the null cipher and CRC32C its readers asked for, and Coffer's own engine.
func imageSubjects() []subject {
	list := []subject{{title: plainTitle, bare: true}}
	return append(list, publishedSubjects()...)
}

// publishedSubjects are imageSubjects but the plain file.
func publishedSubjects() []subject {
	list := []subject{
		algorithmSubject(ciphers.Algorithm{Cipher: ciphers.Null}),
		algorithmSubject(ciphers.Algorithm{Cipher: ciphers.Null, MAC: ciphers.CRC32C}),
		engineSubject(engine256, 64, ciphers.NoMAC),
		cbc(ciphers.AES, 256, ciphers.NoMAC),
		cbc(ciphers.AES, 128, ciphers.NoMAC),
		cbc(ciphers.Blowfish, 128, ciphers.NoMAC),
		cbc(ciphers.Camellia, 128, ciphers.NoMAC),
		cbc(ciphers.TripleDES, 192, ciphers.NoMAC),
	}
	for _, m := range []ciphers.MAC{ciphers.HMACSHA512, ciphers.HMACSHA256, ciphers.HMACSHA1, ciphers.HMACRIPEMD160, ciphers.HMACMD5, ciphers.CRC32C} {
		list = append(list, cbc(ciphers.AES, 256, m))
	}
	return list
}

// authenticatedModes are those that need no MAC.
func authenticatedModes() []subject {
	return []subject{
		algorithmSubject(ciphers.Algorithm{Cipher: ciphers.AES, KeyBits: 256, Mode: ciphers.GCM}),
		algorithmSubject(ciphers.Algorithm{Cipher: ciphers.AES, KeyBits: 128, Mode: ciphers.GCM}),
		algorithmSubject(ciphers.Algorithm{Cipher: ciphers.ChaCha20, KeyBits: 256, Mode: ciphers.Poly1305}),
	}
}

// memorySubjects are every cipher with every authentication; quick: what was published, and each cipher once.
func memorySubjects(quick bool) []subject {
	xts := func(c ciphers.Cipher, m ciphers.MAC) subject {
		return algorithmSubject(ciphers.Algorithm{Cipher: c, KeyBits: 256, Mode: ciphers.XTS, MAC: m})
	}
	if quick {
		list := append(publishedSubjects(), authenticatedModes()...)
		for _, c := range []ciphers.Cipher{ciphers.Twofish, ciphers.Serpent, ciphers.Camellia, ciphers.Kuznyechik} {
			list = append(list, xts(c, ciphers.NoMAC))
		}
		return list
	}
	var list []subject
	for _, m := range ciphers.MACs() {
		list = append(list,
			algorithmSubject(ciphers.Algorithm{Cipher: ciphers.Null, MAC: m}),
			engineSubject(engine256, 64, m), engineSubject(engine128, 32, m),
			cbc(ciphers.AES, 256, m), cbc(ciphers.AES, 128, m))
		if m == ciphers.NoMAC {
			list = append(list, authenticatedModes()...)
		}
		for _, c := range []ciphers.Cipher{ciphers.Twofish, ciphers.Serpent, ciphers.Camellia} {
			list = append(list, xts(c, m), cbc(c, 256, m))
		}
		list = append(list, xts(ciphers.Kuznyechik, m), cbc(ciphers.Camellia, 128, m),
			cbc(ciphers.Blowfish, 128, m), cbc(ciphers.TripleDES, 192, m))
	}
	return list
}
