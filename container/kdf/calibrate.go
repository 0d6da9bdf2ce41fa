package kdf

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"coffer/container/secret"
)

// Bounds of calibrated Argon2id parameters. The floor is what the threat model
// asks for (64 MiB, 3 passes); RFC 9106 section 4 recommends the same.
const (
	FloorMemoryKiB   = 64 << 10
	StartMemoryKiB   = 256 << 10
	CeilingMemoryKiB = 1 << 20
	FloorPasses      = 3
	MaxThreads       = 4 // more than cryptsetup accepts is of no use

	memoryStepKiB = 16 << 10
)

// DefaultTarget is how long unlocking a new container takes on the machine
// that made it.
const DefaultTarget = time.Second

// Cost is what a new keyslot shall cost; zero fields are chosen.
type Cost struct {
	Kind       string        // "" is Argon2id
	Hash       string        // PBKDF2 only; "" is sha256
	MemoryKiB  uint64        // 0: calibrated
	Iterations uint64        // passes or rounds; 0: calibrated
	Threads    uint64        // 0: CPUs of this machine, at most MaxThreads
	Target     time.Duration // for what is calibrated; 0 is DefaultTarget
}

// Choose gives the parameters for c, without a salt: what is set in c as it
// is, the rest measured with d so that a derivation takes about c.Target.
// The memory of Argon2 starts at 256 MiB and moves between 64 MiB and the
// lesser of 1 GiB and half of the machine's memory; passes go up from 3 when
// the memory is at its ceiling.
func Choose(ctx context.Context, d Deriver, c Cost) (Params, error) {
	if c.Target <= 0 {
		c.Target = DefaultTarget
	}
	p := Params{Kind: c.Kind, Hash: c.Hash, Iterations: c.Iterations, MemoryKiB: c.MemoryKiB, Threads: c.Threads}
	if p.Kind == "" {
		p.Kind = Argon2id
	}
	var err error
	switch p.Kind {
	case PBKDF2:
		p.MemoryKiB, p.Threads = 0, 0
		p, err = chooseRounds(ctx, d, p, c.Target)
	case Argon2id, Argon2i:
		p.Hash = ""
		if p.Threads == 0 {
			p.Threads = uint64(min(runtime.NumCPU(), MaxThreads))
		}
		p, err = chooseArgon2(ctx, d, p, c.Target)
	}
	if err != nil {
		return Params{}, fmt.Errorf("choose the cost of the key derivation: %w", err)
	}
	if err := p.Check(DefaultLimits()); err != nil {
		return Params{}, err
	}
	return p, nil
}

// chooseArgon2 fills in the parameters that are zero.
func chooseArgon2(ctx context.Context, d Deriver, p Params, target time.Duration) (Params, error) {
	if p.MemoryKiB != 0 && p.Iterations != 0 {
		return p, nil
	}
	// One probe at the floor; its time grows in proportion to memory x passes.
	probe := p
	probe.MemoryKiB, probe.Iterations = FloorMemoryKiB, FloorPasses
	took, err := fastest(ctx, d, probe)
	if err != nil {
		return p, err
	}
	perPassKiB := float64(took) / float64(FloorMemoryKiB*FloorPasses)
	ceiling := max(min(uint64(CeilingMemoryKiB), physicalMemoryKiB()/2), FloorMemoryKiB)
	if p.MemoryKiB == 0 {
		passes := p.Iterations
		if passes == 0 {
			passes = FloorPasses
		}
		want := uint64(float64(target) / perPassKiB / float64(passes))
		p.MemoryKiB = min(max(want/memoryStepKiB*memoryStepKiB, FloorMemoryKiB), ceiling)
	}
	if p.Iterations == 0 {
		want := uint64(float64(target) / perPassKiB / float64(p.MemoryKiB))
		p.Iterations = min(max(want, FloorPasses), 64)
	}
	return p, nil
}

// chooseRounds measures PBKDF2 and scales the rounds.
func chooseRounds(ctx context.Context, d Deriver, p Params, target time.Duration) (Params, error) {
	if p.Hash == "" {
		p.Hash = "sha256"
	}
	if p.Iterations != 0 {
		return p, nil
	}
	probe := p
	probe.Iterations = 200_000
	took, err := fastest(ctx, d, probe)
	if err != nil {
		return p, err
	}
	rounds := float64(probe.Iterations) * float64(target) / float64(max(took, time.Millisecond))
	p.Iterations = min(max(uint64(rounds), 600_000), DefaultLimits().Iterations)
	return p, nil
}

// fastest is the shorter of two runs: a busy moment must not make a weak key.
func fastest(ctx context.Context, d Deriver, p Params) (time.Duration, error) {
	p.Salt = make([]byte, 32)
	var out [64]byte
	defer secret.Wipe(out[:])
	best := time.Duration(1<<63 - 1)
	for range 2 {
		start := time.Now()
		if err := d.Derive(ctx, p, []byte("calibration"), out[:]); err != nil {
			return 0, err
		}
		best = min(best, time.Since(start))
	}
	return best, nil
}
