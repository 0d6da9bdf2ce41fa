package image

import (
	"errors"
	"fmt"

	"coffer/container/block"
)

// errCannotReserve: the host has no way to reserve blocks for this file.
var errCannotReserve = errors.New("the file system cannot reserve blocks")

// zeroChunk is how much preallocation writes at a time where blocks cannot be
// reserved in another way.
const zeroChunk = 4 << 20

// preallocate reserves all blocks of the file, by the host's call for it or by
// writing zeros.
func (f *File) preallocate(o Options) error {
	err := reserve(f.f, f.size)
	if !errors.Is(err, errCannotReserve) {
		return err
	}
	zeros := make([]byte, zeroChunk)
	for off := int64(0); off < f.size; off += zeroChunk {
		if o.Canceled != nil {
			if err := o.Canceled(); err != nil {
				return err
			}
		}
		n := min(zeroChunk, f.size-off)
		if _, err := f.f.WriteAt(zeros[:n], off); err != nil {
			return err
		}
		if o.Progress != nil {
			o.Progress(off+n, f.size)
		}
	}
	return nil
}

// Discard gives the blocks of n bytes at off back to the host; the range reads
// as zeros from then on. Where the host cannot do it, nothing happens.
func (f *File) Discard(off, n int64) error {
	if f.readOnly {
		return fmt.Errorf("discard in image %s: %w", f.path, ErrReadOnly)
	}
	if err := block.CheckRange(off, n, f.size); err != nil {
		return fmt.Errorf("discard in image %s: %w", f.path, err)
	}
	if n == 0 {
		return nil
	}
	if err := f.check(false); err != nil {
		return err
	}
	if err := punch(f.f, off, n); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return fmt.Errorf("discard in image %s: %w", f.path, Classify(err))
	}
	return nil
}

// StartWriteback asks the host to begin writing n bytes at off to the disk and
// does not wait. It is a hint: it promises nothing about durability.
func (f *File) StartWriteback(off, n int64) error { return startWriteback(f.f, off, n) }

// Prefetch asks the host to read n bytes at off into its cache. A hint.
func (f *File) Prefetch(off, n int64) error { return prefetch(f.f, off, n) }

// DropCache asks the host to forget its cached copy of n bytes at off, so that
// the next read comes from the disk. Only what has been synced can be dropped.
// A hint.
func (f *File) DropCache(off, n int64) error { return dropCache(f.f, off, n) }

// AllocatedBytes is the space the image takes on the host, less than Size for
// a sparse file.
func (f *File) AllocatedBytes() (int64, error) {
	n, err := allocated(f.f)
	if err != nil {
		return 0, fmt.Errorf("image %s: %w", f.path, err)
	}
	return n, nil
}

// FreeBytes is what the host can still give to files of this user: a sparse
// image can grow by no more, whatever its size.
func (f *File) FreeBytes() (int64, error) {
	n, err := freeBytes(f.f)
	if err != nil {
		return 0, fmt.Errorf("image %s: %w", f.path, err)
	}
	return n, nil
}
