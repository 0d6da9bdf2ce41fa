//go:build unix

package exerciser

import "golang.org/x/sys/unix"

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
