package kdf

import "golang.org/x/sys/unix"

// physicalMemoryKiB is the machine's memory.
func physicalMemoryKiB() uint64 {
	n, err := unix.SysctlUint64("hw.memsize")
	if err != nil {
		return 1 << 21 // unknown: 2 GiB
	}
	return n / 1024
}
