package container

import (
	"crypto/sha512"
	"encoding/hex"
	"fmt"
	"os"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"coffer/container/luks"
	"coffer/container/secret"
)

// AnySlot in Credential.Slot tries every keyslot.
const AnySlot = luks.AnySlot

const (
	// MaxKeyfileBytes is the largest key file, cryptsetup's limit.
	MaxKeyfileBytes = 8 << 20
	// MaxPasswordBytes is the longest password, cryptsetup's limit for
	// interactive passphrases.
	MaxPasswordBytes = 512

	// combinedLabel separates combined keys from every other use of the same
	// files and passwords. See docs/adr-0001-keyfile-and-password.md.
	combinedLabel = "coffer key files and password, version 1\x00"
)

// Credential is what opens a container. The package does not keep it; the
// caller destroys the buffers.
//
// LUKS2: a password alone is the passphrase, in Unicode normal form C; when
// opening, its bytes as given are tried too. One key file alone is the
// passphrase, byte by byte, as for cryptsetup. Several key files, or key files
// with a password, are combined into a passphrase of 128 hexadecimal digits:
//
//	hex(HMAC-SHA-512(key = SHA-512(file 1) || SHA-512(file 2) ..., label || password))
//
// with the label "coffer key files and password, version 1" and a zero byte;
// the order of the files matters.
type Credential struct {
	Password    *secret.Buffer   // nil or empty: none
	Keyfiles    []string         // read whole, at most MaxKeyfileBytes each
	KeyfileData []*secret.Buffer // key files already read by the caller, after those of Keyfiles; not empty
	RecoveryKey *secret.Buffer   // instead of the others: used as a passphrase, byte by byte
	Slot        int              // keyslot number, or AnySlot
}

// passphrases gives the passphrases to try, best first; the first one is what
// a new keyslot gets. The caller destroys them with destroyAll.
func (c Credential) passphrases() ([]*secret.Buffer, error) {
	if c.RecoveryKey.Len() > 0 {
		if c.Password.Len() > 0 || c.keyfileCount() > 0 {
			return nil, fmt.Errorf("a recovery key stands for itself: %w", ErrBadCredential)
		}
		b, err := secret.Copy(c.RecoveryKey.Bytes())
		return []*secret.Buffer{b}, err
	}
	if c.Password.Len() == 0 && c.keyfileCount() == 0 {
		return nil, ErrNoCredential
	}
	passwords, err := spellings(c.Password)
	if err != nil || c.keyfileCount() == 0 {
		return passwords, err
	}
	defer destroyAll(passwords)
	files, err := c.keyfiles()
	if err != nil {
		return nil, err
	}
	if len(files) == 1 && len(passwords) == 0 {
		return files, nil
	}
	defer destroyAll(files)
	if len(passwords) == 0 {
		passwords = []*secret.Buffer{nil}
	}
	var out []*secret.Buffer
	for _, p := range passwords {
		combined, err := combine(files, p)
		if err != nil {
			destroyAll(out)
			return nil, err
		}
		out = append(out, combined)
	}
	return out, nil
}

// spellings gives the normal form of a password and, if they differ, the bytes
// as they are: other tools do not normalise. Nothing for no password.
func spellings(password *secret.Buffer) ([]*secret.Buffer, error) {
	raw := password.Bytes()
	if len(raw) == 0 {
		return nil, nil
	}
	if len(raw) > MaxPasswordBytes {
		return nil, fmt.Errorf("password of %d bytes, at most %d are allowed: %w", len(raw), MaxPasswordBytes, ErrBadCredential)
	}
	asGiven, err := secret.Copy(raw)
	if err != nil {
		return nil, err
	}
	if !utf8.Valid(raw) || norm.NFC.IsNormal(raw) {
		return []*secret.Buffer{asGiven}, nil
	}
	// Composing never takes more than three times the space (UAX #15).
	normal, err := secret.New(3*len(raw) + utf8.UTFMax)
	if err != nil {
		asGiven.Destroy()
		return nil, err
	}
	normal.Truncate(len(norm.NFC.Append(normal.Bytes()[:0], raw...)))
	return []*secret.Buffer{normal, asGiven}, nil
}

// keyfileCount is the number of key files, read or not.
func (c Credential) keyfileCount() int { return len(c.Keyfiles) + len(c.KeyfileData) }

// keyfiles gives the content of every key file, in buffers of their own.
func (c Credential) keyfiles() ([]*secret.Buffer, error) {
	var out []*secret.Buffer
	for _, path := range c.Keyfiles {
		b, err := readKeyfile(path)
		if err != nil {
			destroyAll(out)
			return nil, err
		}
		out = append(out, b)
	}
	for _, data := range c.KeyfileData {
		b, err := secret.Copy(data.Bytes())
		if err != nil {
			destroyAll(out)
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}

func readKeyfile(path string) (*secret.Buffer, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("key file: %w", err)
	}
	defer func() { _ = f.Close() }()
	b, err := secret.Read(f, MaxKeyfileBytes)
	if err != nil {
		return nil, fmt.Errorf("key file %s: %w: %w", path, err, ErrBadCredential)
	}
	if b.Len() == 0 {
		return nil, fmt.Errorf("key file %s is empty: %w", path, ErrBadCredential)
	}
	return b, nil
}

// combine makes one passphrase of key files and a password (nil: none).
func combine(files []*secret.Buffer, password *secret.Buffer) (*secret.Buffer, error) {
	key, err := secret.New(len(files) * sha512.Size)
	if err != nil {
		return nil, err
	}
	defer key.Destroy()
	for i, f := range files {
		if err := secret.SHA512(key.Bytes()[i*sha512.Size:][:sha512.Size], f.Bytes()); err != nil {
			return nil, err
		}
	}
	digest, err := secret.New(sha512.Size)
	if err != nil {
		return nil, err
	}
	defer digest.Destroy()
	if err := secret.HMACSHA512(digest.Bytes(), key.Bytes(), []byte(combinedLabel), password.Bytes()); err != nil {
		return nil, err
	}
	out, err := secret.New(hex.EncodedLen(sha512.Size))
	if err != nil {
		return nil, err
	}
	hex.Encode(out.Bytes(), digest.Bytes())
	return out, nil
}

func destroyAll(buffers []*secret.Buffer) {
	for _, b := range buffers {
		b.Destroy()
	}
}
