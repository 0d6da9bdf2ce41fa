// Package secret keeps key material and passwords in memory that the Go
// runtime neither moves, copies nor swaps: an own mapping per secret, locked
// (mlock, VirtualLock) where the system allows it, left out of core dumps,
// enclosed by inaccessible pages, and wiped before it is given back.
//
//	pw, err := secret.FromBytes(typed) // typed is wiped
//	if err != nil { ... }
//	defer pw.Destroy()
//	use(pw.Bytes())
//
// A Buffer never prints its content: every formatting verb, JSON and text
// encoding give "[secret]". What the package cannot do: copies that callers
// make with append, string() or bytes.Clone are outside its reach.
package secret

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
)

// MaxBytes is the largest Buffer: 64 MiB. The largest legitimate secret is a
// key file of 8 MiB; the limit keeps a wrong length from locking all memory.
const MaxBytes = 64 << 20

// ErrTooLarge: the secret is longer than the caller's or the package's limit.
var ErrTooLarge = errors.New("secret is too large")

// redacted is what every way of printing a Buffer gives.
const redacted = "[secret]"

// Buffer is one secret. The zero value and nil are empty, destroyed buffers.
//
// Bytes may be read concurrently; Destroy must not run while another
// goroutine still uses the slice that Bytes returned.
type Buffer struct {
	mu     sync.Mutex
	region region // the mapping, see memory_*.go
	data   []byte // the secret, inside region
	locked bool
}

// New returns a zeroed Buffer of n bytes, 0 <= n <= MaxBytes. The memory is
// page-aligned. Failing to lock it is not an error, see Locked.
func New(n int) (*Buffer, error) {
	if n < 0 || n > MaxBytes {
		return nil, fmt.Errorf("buffer of %d bytes: %w", n, ErrTooLarge)
	}
	if n == 0 {
		return &Buffer{}, nil
	}
	r, data, locked, err := mapRegion(n)
	if err != nil {
		return nil, fmt.Errorf("memory for a secret of %d bytes: %w", n, err)
	}
	return &Buffer{region: r, data: data, locked: locked}, nil
}

// FromBytes moves p into a new Buffer: p is wiped, also when an error is
// returned.
func FromBytes(p []byte) (*Buffer, error) {
	defer Wipe(p)
	b, err := New(len(p))
	if err != nil {
		return nil, err
	}
	copy(b.data, p)
	return b, nil
}

// Copy returns an independent Buffer with the bytes of p, which is left alone.
func Copy(p []byte) (*Buffer, error) {
	b, err := New(len(p))
	if err != nil {
		return nil, err
	}
	copy(b.data, p)
	return b, nil
}

// Bytes is the secret itself, not a copy; nil after Destroy. The slice is
// valid until Destroy.
func (b *Buffer) Bytes() []byte {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.data
}

// Len is the length in bytes, 0 after Destroy.
func (b *Buffer) Len() int { return len(b.Bytes()) }

// Locked tells whether the memory is locked, that is, cannot reach swap space.
// It is false where the system's limit (RLIMIT_MEMLOCK) did not allow it.
func (b *Buffer) Locked() bool { return b != nil && b.locked }

// Equal compares in constant time for equal lengths.
func (b *Buffer) Equal(p []byte) bool {
	return subtle.ConstantTimeCompare(b.Bytes(), p) == 1
}

// Truncate shortens the secret to n bytes and wipes the rest. It panics if n
// is negative or longer than the secret.
func (b *Buffer) Truncate(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	Wipe(b.data[n:])
	b.data = b.data[:n:n]
}

// Wipe overwrites the content with zeros and keeps the memory.
func (b *Buffer) Wipe() { Wipe(b.Bytes()) }

// Destroy wipes the content and gives the memory back. It may be called more
// than once and on nil.
func (b *Buffer) Destroy() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.data == nil {
		return
	}
	// The whole mapping: Truncate may have shortened data.
	Wipe(b.data[:cap(b.data)])
	unmapRegion(b.region)
	b.region, b.data = region{}, nil
}

// String implements fmt.Stringer and hides the content.
func (b *Buffer) String() string { return redacted }

// GoString implements fmt.GoStringer and hides the content.
func (b *Buffer) GoString() string { return redacted }

// Format implements fmt.Formatter, so that no verb prints the content.
func (b *Buffer) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, redacted) }

// MarshalJSON implements json.Marshaler and hides the content.
func (b *Buffer) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }

// MarshalText implements encoding.TextMarshaler and hides the content.
func (b *Buffer) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// Wipe overwrites p with zeros in a way the compiler does not remove.
func Wipe(p []byte) {
	clear(p)
	runtime.KeepAlive(p)
}
