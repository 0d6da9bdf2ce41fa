package agent

import "runtime/debug"

// How much garbage an agent lets pile up. What it serves passes through buffers of all sizes, 300 MB/s of them when many small
// files are read: with the usual 100 % of what lives (some 20 MB) there were 20 collections a second, each of which throws
// pooled buffers away too, and reading 2140 files took 5 % longer. It gives all back to the system when the drive has been
// idle for a while (watchOver).
const (
	garbagePercent = 300
	garbageLimit   = 192 << 20 // bytes in all, from where on garbage is collected earlier
)

// collectSeldom is called once a drive is served.
func collectSeldom() {
	debug.SetGCPercent(garbagePercent)
	debug.SetMemoryLimit(garbageLimit)
}
