//go:build unix && !linux

package secret

// keepOutOfDumps does nothing: core dumps are off for the whole process
// (HardenProcess), and there is no advice for a single range that all these
// systems know.
func keepOutOfDumps([]byte) {}

// HardenProcess switches core dumps off. It is for main, before the first
// secret exists.
func HardenProcess() error { return noCoreDumps() }
