package kdf

import (
	"bytes"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// physicalMemoryKiB is the machine's memory or this process's cgroup limit,
// whichever is less.
func physicalMemoryKiB() uint64 {
	var info unix.Sysinfo_t
	total := uint64(1) << 21 // unknown: 2 GiB
	if err := unix.Sysinfo(&info); err == nil {
		total = uint64(info.Totalram) * uint64(info.Unit) / 1024
	}
	if limit, ok := cgroupLimitKiB(); ok {
		total = min(total, limit)
	}
	return total
}

// cgroupLimitKiB is the memory.max of the process's own cgroup (version 2).
func cgroupLimitKiB() (uint64, bool) {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(groups)) {
		path, ok := strings.CutPrefix(strings.TrimSpace(line), "0::")
		if !ok {
			continue
		}
		value, err := os.ReadFile("/sys/fs/cgroup" + path + "/memory.max")
		if err != nil {
			return 0, false
		}
		n, err := strconv.ParseUint(string(bytes.TrimSpace(value)), 10, 64)
		return n / 1024, err == nil // "max" is no number: no limit
	}
	return 0, false
}
