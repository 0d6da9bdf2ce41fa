package report

// Names of the phases of a transfer, in the order in which they are drawn.
const (
	PhaseSourceRead = "source read"           // waiting for the host to deliver
	PhaseCrypto     = "crypto"                // ciphers and authentication, both ways
	PhaseFileSystem = "file system + journal" // directories, allocation, FAT, journal
	PhaseImageWrite = "image write"           // handing data to the host
	PhaseSync       = "sync"                  // waiting until the host says it is durable
	PhaseKernel     = "kernel/FUSE"           // through the mount: kernel and FUSE, the way there and back
	PhaseOther      = "other"                 // what no clock was watching
)

// PhaseNames returns the names of all phases in the order in which they are drawn.
func PhaseNames() []string {
	return []string{PhaseSourceRead, PhaseCrypto, PhaseFileSystem, PhaseImageWrite, PhaseSync, PhaseKernel, PhaseOther}
}

// Phase is the share of one kind of work in the wall-clock seconds of copy and sync.
type Phase struct {
	Name    string  `json:"name"`
	Seconds float64 `json:"seconds"`
}

// SharePhases turns the seconds that several workers were busy with each phase into shares of wallSeconds, in the order
// of busy. Work of workers side by side adds up to more than the clock on the wall: all phases are then scaled to it.
// When it adds up to less, the rest is PhaseOther. Negative values count as 0. The result adds up to wallSeconds.
func SharePhases(busy []Phase, wallSeconds float64) []Phase {
	var sum, other float64
	out := make([]Phase, 0, len(busy)+1)
	for _, p := range busy {
		p.Seconds = max(p.Seconds, 0)
		sum += p.Seconds
		if p.Name == PhaseOther {
			other += p.Seconds
			continue
		}
		out = append(out, p)
	}
	if wallSeconds <= 0 {
		return nil
	}
	if sum <= wallSeconds {
		return append(out, Phase{PhaseOther, other + wallSeconds - sum})
	}
	for i := range out {
		out[i].Seconds *= wallSeconds / sum
	}
	if other > 0 {
		out = append(out, Phase{PhaseOther, other * wallSeconds / sum})
	}
	return out
}
