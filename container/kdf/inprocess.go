package kdf

import (
	"context"
	"crypto/hmac"
	"encoding/binary"
	"fmt"

	"golang.org/x/crypto/argon2"

	"coffer/container/secret"
)

// cancelRounds is how many PBKDF2 rounds run between two looks at the context.
const cancelRounds = 4096

// InProcess derives in this process: for tests, for small costs, and where no
// child can be started.
//
// Argon2's memory is on the Go heap: it is returned to the system by the next
// garbage collections, at once only by debug.FreeOSMemory, which is left to
// the application. A canceled Argon2 derivation returns at once, but computes
// on in the background until it is done.
type InProcess struct{}

// Derive implements Deriver.
func (InProcess) Derive(ctx context.Context, p Params, password, out []byte) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	switch p.Kind {
	case PBKDF2:
		return pbkdf2(ctx, p, password, out)
	case Argon2i, Argon2id:
		return argon(ctx, p, password, out)
	}
	return fmt.Errorf("%q: %w", p.Kind, ErrUnsupported)
}

// argon runs Argon2 v1.3 beside a wait for ctx.
func argon(ctx context.Context, p Params, password, out []byte) error {
	// The background computation may outlive the call, the caller's buffer
	// must not: it gets a copy, which it wipes itself.
	own, err := secret.Copy(password)
	if err != nil {
		return err
	}
	derive := argon2.IDKey
	if p.Kind == Argon2i {
		derive = argon2.Key
	}
	n := len(out)
	done := make(chan []byte, 1)
	go func() {
		defer own.Destroy()
		done <- derive(own.Bytes(), p.Salt, uint32(p.Iterations), uint32(p.MemoryKiB), uint8(p.Threads), uint32(n))
	}()
	select {
	case key := <-done:
		copy(out, key)
		secret.Wipe(key)
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// pbkdf2 is RFC 8018 section 5.2. It exists beside the standard library's
// because that takes the password as a string, which cannot be wiped, and
// cannot be canceled.
func pbkdf2(ctx context.Context, p Params, password, out []byte) error {
	newHash, err := Hash(p.Hash)
	if err != nil {
		return err
	}
	prf := hmac.New(newHash, password)
	size := prf.Size()
	u, t := make([]byte, 0, size), make([]byte, size)
	defer func() { secret.Wipe(u[:cap(u)]); secret.Wipe(t) }()
	var index [4]byte
	for block := uint32(1); len(out) > 0; block++ {
		binary.BigEndian.PutUint32(index[:], block)
		prf.Reset()
		prf.Write(p.Salt)
		prf.Write(index[:])
		u = prf.Sum(u[:0])
		copy(t, u)
		for round := uint64(1); round < p.Iterations; round++ {
			if round%cancelRounds == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			prf.Reset()
			prf.Write(u)
			u = prf.Sum(u[:0])
			for i, b := range u {
				t[i] ^= b
			}
		}
		out = out[copy(out, t):]
	}
	return nil
}
