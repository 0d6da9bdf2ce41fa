//go:build unix

package secret

import (
	"os"

	"golang.org/x/sys/unix"
)

// region is a whole mapping with its guard pages.
type region struct{ mapping []byte }

// mapRegion maps n bytes, zeroed and page-aligned, between two pages that
// cannot be accessed. locked tells whether the memory could be locked.
func mapRegion(n int) (r region, data []byte, locked bool, err error) {
	page := os.Getpagesize()
	inner := (n + page - 1) / page * page
	m, err := unix.Mmap(-1, 0, inner+2*page, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return region{}, nil, false, err
	}
	use := m[page : page+inner]
	if err := unix.Mprotect(use, unix.PROT_READ|unix.PROT_WRITE); err != nil {
		_ = unix.Munmap(m)
		return region{}, nil, false, err
	}
	locked = unix.Mlock(use) == nil
	keepOutOfDumps(use)
	return region{m}, use[:n:n], locked, nil
}

// unmapRegion gives the mapping back; unmapping unlocks it.
func unmapRegion(r region) { _ = unix.Munmap(r.mapping) }
