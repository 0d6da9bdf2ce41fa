//go:build !linux && !darwin && !freebsd && !windows

package kdf

// physicalMemoryKiB is not known here: 2 GiB is assumed.
func physicalMemoryKiB() uint64 { return 1 << 21 }
