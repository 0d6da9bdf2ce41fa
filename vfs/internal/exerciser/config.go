package exerciser

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// Config says what an exerciser does. Only Dir is needed.
type Config struct {
	Dir  string // an existing folder of the file system under test; the exerciser makes and removes its own things in it
	Seed uint64 // the same seed, the same operations
	// Operations is how many; 0: until the context ends.
	Operations   int
	MaxSizeBytes int64 // of a file; 0: 256 KiB
	MaxIOBytes   int64 // of one read or write; 0: a quarter of MaxSizeBytes
	// FAT: the rules of a FAT volume hold: names that differ only in case are one, holes cannot be punched.
	FAT bool
	// NoMaps leaves out memory maps.
	NoMaps bool
	// AppendOverMap also makes a file longer while bytes changed through a map are not written back yet. Linux 6.18 loses bytes
	// then, on every FUSE file system: see vfs/docs/adr-0005-append-over-a-map.md.
	AppendOverMap bool
	// Prefix starts every name in Dir, so that several exercisers can share a folder; they ignore names of others.
	Prefix string
	// Remount, if not nil, is called now and then with everything closed; the file system may be taken away and brought
	// back meanwhile. Everything must be as it was.
	Remount func() error
	// Leave keeps everything as it is at the end, for a check of a file system with something in it.
	Leave  bool
	System System // nil: OS()
}

func (c *Config) fill() {
	if c.MaxSizeBytes == 0 {
		c.MaxSizeBytes = 256 << 10
	}
	if c.MaxIOBytes == 0 {
		c.MaxIOBytes = c.MaxSizeBytes / 4
	}
	if c.System == nil {
		c.System = OS()
	}
	if c.Prefix == "" {
		c.Prefix = "x"
	}
}

// Failure is a difference between the file system and the model, or an operation that failed.
type Failure struct {
	Seed      uint64
	Operation int    // its number, from 1
	What      string // what was wrong
	Err       error  // what the system said, if anything
	Last      []string
}

// Error is several lines: the fault, how to repeat it, and the operations that led to it.
func (f *Failure) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "operation %d with seed %d: %s", f.Operation, f.Seed, f.What)
	if f.Err != nil {
		fmt.Fprintf(&b, ": %v", f.Err)
	}
	fmt.Fprintf(&b, "\nlast operations:")
	for _, line := range f.Last {
		b.WriteString("\n  " + line)
	}
	return b.String()
}

func (f *Failure) Unwrap() error { return f.Err }

// keptOperations is how many operations a failure tells.
const keptOperations = 60

// trail is what an exerciser has done, and its random numbers.
type trail struct {
	seed uint64
	rng  *rand.Rand
	step int
	last []string
}

func newTrail(seed uint64, stream uint64) trail {
	return trail{seed: seed, rng: rand.New(rand.NewPCG(seed, stream))}
}

// note tells what the present operation does.
func (t *trail) note(format string, values ...any) {
	if len(t.last) == keptOperations {
		copy(t.last, t.last[1:])
		t.last = t.last[:keptOperations-1]
	}
	t.last = append(t.last, fmt.Sprintf("%7d ", t.step)+fmt.Sprintf(format, values...))
}

func (t *trail) fail(err error, format string, values ...any) error {
	return &Failure{Seed: t.seed, Operation: t.step, What: fmt.Sprintf(format, values...), Err: err, Last: slices.Clone(t.last)}
}

// choice is an operation and how often it comes, relative to the others.
type choice struct {
	weight int
	do     func() error
}

func (t *trail) pick(choices []choice) func() error {
	sum := 0
	for _, c := range choices {
		sum += c.weight
	}
	n := t.rng.IntN(sum)
	for _, c := range choices {
		if n < c.weight {
			return c.do
		}
		n -= c.weight
	}
	panic("unreachable")
}

// run does operations until there were enough or ctx ends, which is no error.
func (t *trail) run(ctx context.Context, operations int, choices []choice) error {
	for t.step = 1; operations == 0 || t.step <= operations; t.step++ {
		if ctx.Err() != nil {
			return nil
		}
		if err := t.pick(choices)(); err != nil {
			var known *Failure
			if errors.As(err, &known) {
				return err
			}
			return t.fail(err, "failed")
		}
	}
	return nil
}
