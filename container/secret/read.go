package secret

import (
	"bytes"
	"fmt"
	"io"
)

// firstRead is the size of the first attempt of Read; most secrets fit.
const firstRead = 4096

// Read reads r to its end into a new Buffer without a copy on the Go heap.
// More than maxBytes is ErrTooLarge.
func Read(r io.Reader, maxBytes int) (*Buffer, error) {
	size := min(firstRead, maxBytes+1)
	b, err := New(size)
	if err != nil {
		return nil, err
	}
	n := 0
	for {
		if n == b.Len() {
			if n > maxBytes {
				b.Destroy()
				return nil, fmt.Errorf("more than %d bytes: %w", maxBytes, ErrTooLarge)
			}
			if b, err = b.grow(min(2*n, maxBytes+1)); err != nil {
				return nil, err
			}
		}
		got, err := r.Read(b.Bytes()[n:])
		n += got
		if err == io.EOF {
			break
		}
		if err != nil {
			b.Destroy()
			return nil, err
		}
	}
	if n > maxBytes {
		b.Destroy()
		return nil, fmt.Errorf("more than %d bytes: %w", maxBytes, ErrTooLarge)
	}
	return b.shrink(n)
}

// ReadLine reads the first line of r without its line end ("\n" or "\r\n")
// into a new Buffer. It reads byte by byte, so that nothing behind the line
// is taken from r. The end of input ends the line; an input that is empty
// from the start is io.EOF. More than maxBytes is ErrTooLarge.
func ReadLine(r io.Reader, maxBytes int) (*Buffer, error) {
	b, err := New(maxBytes + 2) // room for "\r\n"
	if err != nil {
		return nil, err
	}
	data, n := b.Bytes(), 0
	for {
		if n == len(data) {
			b.Destroy()
			return nil, fmt.Errorf("more than %d bytes: %w", maxBytes, ErrTooLarge)
		}
		got, err := r.Read(data[n : n+1])
		if got == 1 {
			if data[n] == '\n' {
				break
			}
			n++
		}
		if err == io.EOF && n > 0 {
			break
		}
		if err != nil {
			b.Destroy()
			return nil, err
		}
	}
	n = len(bytes.TrimSuffix(data[:n], []byte("\r")))
	if n > maxBytes {
		b.Destroy()
		return nil, fmt.Errorf("more than %d bytes: %w", maxBytes, ErrTooLarge)
	}
	return b.shrink(n)
}

// grow moves b into a new Buffer of n bytes; b is destroyed in any case.
func (b *Buffer) grow(n int) (*Buffer, error) {
	defer b.Destroy()
	g, err := New(n)
	if err != nil {
		return nil, err
	}
	copy(g.Bytes(), b.Bytes())
	return g, nil
}

// shrink moves the first n bytes of b into a Buffer of their own, so that
// little memory stays locked; b is destroyed in any case.
func (b *Buffer) shrink(n int) (*Buffer, error) {
	defer b.Destroy()
	return Copy(b.Bytes()[:n])
}
