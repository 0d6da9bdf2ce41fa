//go:build !linux

package cli

import "time"

// processCPU would be the processor time of another process; it is not known here.
func processCPU(int) time.Duration { return 0 }
