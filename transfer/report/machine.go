package report

import (
	"os"
	"path/filepath"
	"runtime"
	"time"
)

// ReadMachine fills in what the system tells, with governor and clock as start values.
func ReadMachine() Machine {
	m := Machine{Cores: runtime.NumCPU(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	m.CPUModel, m.OSName, m.Kernel = systemNames()
	m.GovernorStart, m.ClockMHzStart = governorAndClock()
	return m
}

// Finish fills in governor and clock at the end of a run.
func (m *Machine) Finish() { m.GovernorEnd, m.ClockMHzEnd = governorAndClock() }

// HostEndpoint describes the host file system that holds path (or would, if it
// does not exist yet). Everything is best effort: empty where unknown.
func HostEndpoint(path string) Endpoint {
	e := Endpoint{Kind: "host"}
	for {
		if _, err := os.Stat(path); err == nil {
			break
		}
		parent := filepath.Dir(path)
		if parent == path {
			return e
		}
		path = parent
	}
	e.FileSystem, e.Device, e.WriteCache, e.ClusterBytes = hostFileSystem(path)
	return e
}

// Times is processor time used by this process so far.
type Times struct{ User, System time.Duration }

// ProcessTimes reads the processor time used by this process; zero where the
// system does not tell.
func ProcessTimes() Times { return processTimes() }

// UsageBetween is the processor time between two readings over wall time d.
func UsageBetween(from, to Times, d time.Duration) Usage {
	u := Usage{UserSeconds: (to.User - from.User).Seconds(), SystemSeconds: (to.System - from.System).Seconds()}
	if d > 0 {
		u.Percent = 100 * (u.UserSeconds + u.SystemSeconds) / d.Seconds()
	}
	return u
}
