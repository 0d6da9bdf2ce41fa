//go:build unix

package exerciser

import (
	"os"

	"golang.org/x/sys/unix"
)

// Rename is the bare call: os.Rename refuses to replace an empty folder, which systems allow.
func (hostSystem) Rename(from, to string) error {
	if err := unix.Rename(from, to); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}

// memory is a map of the kernel.
type memory []byte

func (m memory) Bytes() []byte { return m }
func (m memory) Sync() error   { return unix.Msync(m, unix.MS_SYNC) }
func (m memory) Close() error  { return unix.Munmap(m) }

func (f *hostFile) Map(sizeBytes int64, writable bool) (Mapping, error) {
	protection := unix.PROT_READ
	if writable {
		protection |= unix.PROT_WRITE
	}
	m, err := unix.Mmap(int(f.Fd()), 0, int(sizeBytes), protection, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return memory(m), nil
}
