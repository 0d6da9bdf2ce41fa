//go:build unix

package operations

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// ownUmask is the file mode creation mask of this process; -1 when it is not known.
func ownUmask() int {
	if status, err := os.ReadFile("/proc/self/status"); err == nil { // Linux tells without a change
		for text := range strings.Lines(string(status)) {
			if value, ok := strings.CutPrefix(text, "Umask:"); ok {
				if mask, err := strconv.ParseUint(strings.TrimSpace(value), 8, 12); err == nil {
					return int(mask)
				}
			}
		}
	}
	mask := syscall.Umask(0o077)
	syscall.Umask(mask)
	return mask
}

// setUmask sets the mask of this process and returns the one before.
func setUmask(mask int) int { return syscall.Umask(mask) }
