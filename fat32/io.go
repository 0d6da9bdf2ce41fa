package fat32

import (
	"errors"
	"fmt"
	"io"
)

// readFull reads len(p) bytes at off or fails.
func readFull(dev Device, p []byte, off int64) error {
	n, err := dev.ReadAt(p, off)
	if n == len(p) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return fmt.Errorf("read of %d bytes at %d: %w", len(p), off, err)
}

// writeFull writes p at off or fails; a short write without an error is one.
func writeFull(write func([]byte, int64) (int, error), p []byte, off int64) error {
	n, err := write(p, off)
	if err == nil && n != len(p) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return fmt.Errorf("write of %d bytes at %d: %w", len(p), off, err)
	}
	return nil
}
