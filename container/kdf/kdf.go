// Package kdf turns passwords into keys: Argon2id, Argon2i and PBKDF2, with
// limits for parameters that come from an untrusted header, calibration of the
// cost for new containers, and two ways to run a derivation: InProcess, and
// Child, which lets another process take the gigabyte and give it back by
// ending.
//
// Sources: RFC 9106 (Argon2), RFC 8018 section 5.2 (PBKDF2).
package kdf

import (
	"context"
	"errors"
	"fmt"
)

// Kinds of derivation, as LUKS2 headers spell them.
const (
	Argon2id = "argon2id"
	Argon2i  = "argon2i"
	PBKDF2   = "pbkdf2"
)

// Params is everything a derivation needs besides password and output length.
type Params struct {
	Kind string `json:"kind"`           // Argon2id, Argon2i or PBKDF2
	Hash string `json:"hash,omitempty"` // PBKDF2 only: a name Hash knows

	// Iterations is the number of passes (Argon2) or rounds (PBKDF2).
	Iterations uint64 `json:"iterations"`
	MemoryKiB  uint64 `json:"memoryKiB,omitempty"` // Argon2 only
	Threads    uint64 `json:"threads,omitempty"`   // Argon2 only: lanes

	Salt []byte `json:"-"`
}

// String is a short description for people: "argon2id, 256 MiB, 3 passes, 4 threads".
func (p Params) String() string {
	if p.Kind == PBKDF2 {
		return fmt.Sprintf("pbkdf2-%s, %d rounds", p.Hash, p.Iterations)
	}
	return fmt.Sprintf("%s, %d MiB, %d passes, %d threads", p.Kind, p.MemoryKiB/1024, p.Iterations, p.Threads)
}

// Limits bound the parameters of a header before anything is allocated.
type Limits struct {
	MemoryKiB  uint64 // Argon2: memory
	WorkKiB    uint64 // Argon2: memory x passes
	Threads    uint64 // Argon2: lanes
	Iterations uint64 // PBKDF2: rounds
	SaltBytes  int
}

// DefaultLimits admit everything that cryptsetup makes unless it is told to
// use more than its default of 1 GiB: its benchmark aims at 2 s, so memory x
// passes stays far below 64 GiB (about a minute and a half), and PBKDF2 rounds
// below 100 million.
func DefaultLimits() Limits {
	return Limits{MemoryKiB: 1 << 20, WorkKiB: 64 << 20, Threads: 16, Iterations: 100_000_000, SaltBytes: 1024}
}

// Errors of this package.
var (
	// ErrInvalid: parameters no derivation can have.
	ErrInvalid = errors.New("invalid key derivation parameters")
	// ErrUnsupported: a kind or hash this package does not know.
	ErrUnsupported = errors.New("key derivation not supported")
)

// LimitError says which parameter of a header is over its limit.
type LimitError struct {
	Field        string // "memory", "time", "cpus", "iterations", "salt"
	Value, Limit uint64
	Unit         string // "KiB", "bytes" or ""
}

func (e *LimitError) Error() string {
	unit := e.Unit
	if unit != "" {
		unit = " " + unit
	}
	return fmt.Sprintf("key derivation parameter %q is %d%s, more than the limit of %d%s", e.Field, e.Value, unit, e.Limit, unit)
}

// Check reports a *LimitError, ErrInvalid or ErrUnsupported if p must not be
// run.
func (p Params) Check(l Limits) error {
	if len(p.Salt) > l.SaltBytes {
		return &LimitError{"salt", uint64(len(p.Salt)), uint64(l.SaltBytes), "bytes"}
	}
	switch p.Kind {
	case PBKDF2:
		if p.Iterations < 1 {
			return fmt.Errorf("%d iterations: %w", p.Iterations, ErrInvalid)
		}
		if p.Iterations > l.Iterations {
			return &LimitError{"iterations", p.Iterations, l.Iterations, ""}
		}
		_, err := Hash(p.Hash)
		return err
	case Argon2id, Argon2i:
		return p.checkArgon2(l)
	}
	return fmt.Errorf("%q: %w", p.Kind, ErrUnsupported)
}

func (p Params) checkArgon2(l Limits) error {
	switch {
	case p.Iterations < 1 || p.Threads < 1 || p.MemoryKiB < 8*p.Threads:
		// RFC 9106: at least one pass, one lane, and 8 KiB a lane.
		return fmt.Errorf("argon2 with %d passes, %d threads, %d KiB: %w", p.Iterations, p.Threads, p.MemoryKiB, ErrInvalid)
	case p.Threads > l.Threads:
		return &LimitError{"cpus", p.Threads, l.Threads, ""}
	case p.MemoryKiB > l.MemoryKiB:
		return &LimitError{"memory", p.MemoryKiB, l.MemoryKiB, "KiB"}
	case p.Iterations > l.WorkKiB/p.MemoryKiB:
		return &LimitError{"time", p.Iterations, l.WorkKiB / p.MemoryKiB, ""}
	case p.Threads > 255 || p.MemoryKiB > 1<<32-1 || p.Iterations > 1<<32-1:
		return fmt.Errorf("argon2 parameter over the algorithm's range: %w", ErrInvalid)
	}
	return nil
}

// Deriver runs a derivation. It fills out from the password and the salt in
// p, and returns ctx.Err() soon after ctx is done. It keeps neither slice. The
// caller has checked p.
type Deriver interface {
	Derive(ctx context.Context, p Params, password, out []byte) error
}
