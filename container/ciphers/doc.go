// Package ciphers holds the block ciphers, modes and message authentication
// that foreign container formats and the experiments of the transfer lab need
// beside the engine in container/aesxts.
//
// An [Algorithm] names a cipher, a key size, a mode and a MAC; New makes
// [Sectors] of it for a key and a sector size:
//
//	a := ciphers.Algorithm{Cipher: ciphers.Camellia, KeyBits: 256, Mode: ciphers.CBCPlain64, MAC: ciphers.HMACSHA256}
//	s, err := a.New(key, 4096)                  // key: a.KeyBytes() bytes
//	err = s.Encrypt(dst, tags, src, first)      // whole sectors; in place is allowed
//
// Formats that number sectors or make initialisation vectors in their own way
// put the parts together themselves: [NewBlock], [NewXTS], [NewCBC].
//
// # Side channels
//
// Safe: AES and GCM on processors with instructions for them (Go's crypto/aes
// is table driven elsewhere), ChaCha20-Poly1305, Serpent, whose S-boxes are
// circuits of logic operations here, the hashes. Camellia, Twofish, Blowfish,
// 3DES and Kuznyechik look up tables at places that depend on key and data, so
// the processor's cache tells somebody who runs code on the same machine and
// can time it something about the key. All of these exist to read containers
// made elsewhere and to be measured; nothing Coffer creates by default uses
// them.
//
// # Secrets
//
// Expanded keys live in the Go heap, as those of crypto/aes do. Wipe zeroes
// what this package expanded itself; what crypto/aes, crypto/des and x/crypto
// hold cannot be zeroed from outside and stays until the memory is used again,
// at the latest until the process ends.
package ciphers
