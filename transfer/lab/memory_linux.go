package lab

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// memoryLimit is how much memory there is to cache files in.
type memoryLimit struct {
	bytes  int64 // 0: unknown
	cgroup bool  // a limit set for this process, less than the machine has
}

// readMemoryLimit reads the memory of the machine and the limits of the control groups this process is in, both versions
// of them.
func readMemoryLimit() (limit memoryLimit) {
	if raw, err := os.ReadFile("/proc/meminfo"); err == nil {
		for line := range strings.Lines(string(raw)) {
			if fields := strings.Fields(line); len(fields) >= 2 && fields[0] == "MemTotal:" {
				kib, _ := strconv.ParseInt(fields[1], 10, 64)
				limit.bytes = kib << 10
			}
		}
	}
	raw, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return limit
	}
	for line := range strings.Lines(string(raw)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		switch {
		case parts[1] == "":
			limit.lower("/sys/fs/cgroup", parts[2], "memory.max")
		case parts[1] == "memory":
			limit.lower("/sys/fs/cgroup/memory", parts[2], "memory.limit_in_bytes")
		}
	}
	return limit
}

// lower takes the lowest limit of a group and those above it.
func (l *memoryLimit) lower(top, group, file string) {
	for group = filepath.Clean("/" + group); ; group = filepath.Dir(group) {
		if raw, err := os.ReadFile(filepath.Join(top, group, file)); err == nil {
			if n, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64); err == nil && n > 0 && (l.bytes == 0 || n < l.bytes) {
				l.bytes, l.cgroup = n, true
			}
		}
		if group == "/" {
			return
		}
	}
}
