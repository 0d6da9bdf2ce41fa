//go:build unix

package secret

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// noCoreDumps sets the core size limit, soft and hard, to zero.
func noCoreDumps() error {
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return fmt.Errorf("switch core dumps off: %w", err)
	}
	return nil
}
