//go:build windows

package secret

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// region is a whole reservation with its guard pages.
type region struct{ base, inner, innerSize uintptr }

// mapRegion reserves n bytes, zeroed and page-aligned, between two pages that
// are reserved but not committed, so that touching them faults. locked tells
// whether the memory could be locked.
func mapRegion(n int) (r region, data []byte, locked bool, err error) {
	const page = uintptr(4096)
	size := (uintptr(n) + page - 1) / page * page
	base, err := windows.VirtualAlloc(0, size+2*page, windows.MEM_RESERVE, windows.PAGE_NOACCESS)
	if err != nil {
		return region{}, nil, false, err
	}
	inner, err := windows.VirtualAlloc(base+page, size, windows.MEM_COMMIT, windows.PAGE_READWRITE)
	if err != nil {
		_ = windows.VirtualFree(base, 0, windows.MEM_RELEASE)
		return region{}, nil, false, err
	}
	locked = windows.VirtualLock(inner, size) == nil
	// The address comes from VirtualAlloc and is not Go memory: the pointer is
	// made through the variable's address, which vet accepts.
	data = unsafe.Slice(*(**byte)(unsafe.Pointer(&inner)), n)
	return region{base, inner, size}, data[:n:n], locked, nil
}

func unmapRegion(r region) {
	_ = windows.VirtualUnlock(r.inner, r.innerSize)
	_ = windows.VirtualFree(r.base, 0, windows.MEM_RELEASE)
}
