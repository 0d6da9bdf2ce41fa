package kdf

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// memoryStatus is MEMORYSTATUSEX.
type memoryStatus struct {
	length, load                                uint32
	totalPhysical, availablePhysical            uint64
	totalPage, availablePage                    uint64
	totalVirtual, availableVirtual, availableEx uint64
}

// physicalMemoryKiB is the machine's memory.
func physicalMemoryKiB() uint64 {
	call := windows.NewLazySystemDLL("kernel32.dll").NewProc("GlobalMemoryStatusEx")
	var m memoryStatus
	m.length = uint32(unsafe.Sizeof(m))
	if ok, _, _ := call.Call(uintptr(unsafe.Pointer(&m))); ok == 0 {
		return 1 << 21 // unknown: 2 GiB
	}
	return m.totalPhysical / 1024
}
