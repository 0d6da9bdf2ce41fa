// Package block holds the one interface every layer of a container is built
// on, a random-access device, and the small helpers that need nothing else: a
// window onto a part of a device and a wrapper that refuses to write.
//
// Offsets and lengths are bytes. The package has no state and starts no
// goroutines. Devices for tests (memory, power cuts, faults) are in blocktest.
package block

import (
	"errors"
	"fmt"
	"io"
)

// Device is a random-access store of Size bytes.
//
// Calls may run concurrently as long as their ranges are disjoint, even when
// the ranges share a sector, a data unit or a block: a device that works in
// larger units serialises the read-modify-write itself. Two calls on
// overlapping ranges give one of the possible results, but must not damage
// anything outside these ranges.
//
// A device never keeps p after the call has returned.
type Device interface {
	// ReadAt fills p from off, like io.ReaderAt: n < len(p) always comes with
	// an error, and a range that ends beyond Size gives io.EOF.
	ReadAt(p []byte, off int64) (n int, err error)
	// WriteAt stores p at off. Later reads see the bytes; they are durable
	// only after Sync. A device does not grow: a range outside it is
	// ErrOutOfRange and nothing is written.
	WriteAt(p []byte, off int64) (n int, err error)
	// Sync returns nil only if every write that had returned before the call
	// is durable.
	Sync() error
	// Size is the length in bytes.
	Size() int64
}

// Discarder is implemented by devices that can forget a range. The content
// of a discarded range is zeros or the old bytes, as the device decides.
type Discarder interface {
	Discard(off, n int64) error
}

// Errors of this package. Devices wrap them with what they know.
var (
	// ErrOutOfRange: the offset or length lies outside the device.
	ErrOutOfRange = errors.New("range outside the device")
	// ErrReadOnly: a write reached a device opened for reading only.
	ErrReadOnly = errors.New("device is read-only")
)

// CheckRange reports ErrOutOfRange, with figures, unless [off, off+n) lies
// inside a device of size bytes. An empty range at the very end is inside.
func CheckRange(off, n, size int64) error {
	if off < 0 || n < 0 || off > size || n > size-off {
		return fmt.Errorf("offset %d, length %d, size %d: %w", off, n, size, ErrOutOfRange)
	}
	return nil
}

// ClipRead gives the part of a read of n bytes at off that lies inside a
// device of size bytes: the length to read, and io.EOF if that is less than n.
// A negative offset is ErrOutOfRange.
func ClipRead(off int64, n int, size int64) (int, error) {
	if off < 0 {
		return 0, CheckRange(off, int64(n), size)
	}
	if off >= size {
		if n == 0 {
			return 0, nil
		}
		return 0, io.EOF
	}
	if int64(n) > size-off {
		return int(size - off), io.EOF
	}
	return n, nil
}

// ReadFull reads exactly len(p) bytes at off; a device that ends earlier gives
// io.ErrUnexpectedEOF. It exists because io.ReaderAt allows io.EOF together
// with a full read that ends at the end of the device.
func ReadFull(d io.ReaderAt, p []byte, off int64) error {
	n, err := d.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return err
}
