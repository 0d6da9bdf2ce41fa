package lab

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"coffer/transfer/report"
)

// Source names what the data to encrypt are.
type Source string

// Sources of data.
const (
	Random Source = "random" // incompressible
	Zeros  Source = "zeros"  // all bytes zero, as from /dev/zero
)

// CipherOptions say what Ciphers measures. The zero value of every field is a sensible choice.
type CipherOptions struct {
	// Quick measures the algorithms others published, and few more, in about a minute.
	Quick bool
	// Only are the titles of the rows to measure; nil: all. Ratios need the null cipher or the plain file among them.
	Only []string
	// Rounds is how often everything is measured; 0: 5, or 3 with Quick.
	Rounds int
	// SectorBytes are the sector sizes; nil: 512 and 4096, or 4096 with Quick.
	SectorBytes []int
	// Sources are the data; nil: random and zeros.
	Sources []Source
	// Workers are the numbers of goroutines that encrypt side by side; nil: 1 and one for each core.
	Workers []int
	// MemoryTime is how long one measurement in memory lasts at least; 0: 50 ms.
	MemoryTime time.Duration
	// Dir is a folder for the image file, which is deleted again; "": nothing is measured through a file.
	Dir string
	// ImageBytes is the payload written to the file, rounded up to MiB; 0: 64 MiB, or 32 MiB with Quick.
	ImageBytes int64
	// ImageWorkers are Workers for the file; nil: the same, or all cores only with Quick.
	ImageWorkers []int
	// Program is name and version for the report.
	Program string
	// Progress, if not nil, is told how many of all measurements are done and which one comes next. It must not block.
	Progress func(done, total int, next string)
}

// withDefaults fills in what was left out, or says what makes no sense.
func (o CipherOptions) withDefaults() (CipherOptions, error) {
	choose := func(full, quick int) int {
		if o.Quick {
			return quick
		}
		return full
	}
	if o.Rounds == 0 {
		o.Rounds = choose(5, 3)
	}
	if o.SectorBytes == nil {
		o.SectorBytes = []int{512, 4096}[choose(0, 1):]
	}
	if o.Sources == nil {
		o.Sources = []Source{Random, Zeros}
	}
	cores := runtime.GOMAXPROCS(0)
	if o.Workers == nil {
		o.Workers = slices.Compact([]int{1, cores})
	}
	if o.ImageWorkers == nil {
		o.ImageWorkers = o.Workers
		if o.Quick {
			o.ImageWorkers = []int{slices.Max(o.Workers)}
		}
	}
	if o.MemoryTime == 0 {
		o.MemoryTime = 50 * time.Millisecond
	}
	if o.ImageBytes == 0 {
		o.ImageBytes = int64(choose(64, 32)) * chunkBytes
	}
	o.ImageBytes = (o.ImageBytes + chunkBytes - 1) / chunkBytes * chunkBytes
	return o, o.check()
}

func (o CipherOptions) check() error {
	positive := func(list []int) bool {
		return len(list) > 0 && !slices.ContainsFunc(list, func(n int) bool { return n < 1 || n > 1024 })
	}
	switch {
	case o.Rounds < 1 || o.Rounds > 1000:
		return fmt.Errorf("lab ciphers: %d rounds: not 1 to 1000", o.Rounds)
	case !positive(o.Workers) || !positive(o.ImageWorkers):
		return fmt.Errorf("lab ciphers: %v and %v workers: not 1 to 1024", o.Workers, o.ImageWorkers)
	case o.MemoryTime < time.Millisecond || o.MemoryTime > time.Minute:
		return fmt.Errorf("lab ciphers: %v for a measurement in memory: not 1 ms to 1 min", o.MemoryTime)
	case o.ImageBytes < chunkBytes || o.ImageBytes > 1<<50:
		return fmt.Errorf("lab ciphers: %d bytes of payload: not 1 MiB to 1 PiB", o.ImageBytes)
	case len(o.SectorBytes) == 0 || len(o.Sources) == 0:
		return fmt.Errorf("lab ciphers: no sector size or no source of data")
	}
	for _, size := range o.SectorBytes {
		if size < 16 || size > memoryBytes || memoryBytes%size != 0 {
			return fmt.Errorf("lab ciphers: sector size %d: not a power of two from 16 to %d", size, memoryBytes)
		}
	}
	for _, s := range o.Sources {
		if s != Random && s != Zeros {
			return fmt.Errorf("lab ciphers: no source of data is called %q", s)
		}
	}
	return nil
}

// setting is everything that is the same for all rows of a column, but for the direction.
type setting struct {
	image       bool
	workers     int
	sectorBytes int
	source      Source
}

func (s setting) String() string {
	where := "in memory"
	if s.image {
		where = "image file"
	}
	return fmt.Sprintf("%s, sectors of %d bytes, %s, %d workers", where, s.sectorBytes, s.source, s.workers)
}

// sample is one measurement in both directions, in bytes per second and processor seconds per byte.
type sample struct {
	encrypt, decrypt       float64
	encryptCPU, decryptCPU float64
}

// cell is all rounds of one subject in one setting.
type cell struct {
	subject string
	setting setting
}

// cipherRun is one run of the experiment.
type cipherRun struct {
	options CipherOptions
	memory  []subject         // rows of the tables in memory
	images  []subject         // and of those of the image file
	folder  string            // for the image file
	data    map[Source][]byte // dataBytes of each
	samples map[cell][]sample // by round
	remarks []string
	dropErr error // why caches could not be dropped
}

// Ciphers measures what every cipher and authentication costs on this machine, in memory and through an image file.
// Rounds run over everything, the second one backwards, and so on. It returns the context's error when cancelled, and
// leaves no file behind.
func Ciphers(ctx context.Context, o CipherOptions) (_ *report.Experiment, err error) {
	if o, err = o.withDefaults(); err != nil {
		return nil, err
	}
	e := &report.Experiment{
		Schema: report.ExperimentVersion, Kind: report.KindCiphers, Title: "What ciphers and authentication cost",
		Started: time.Now().UTC(), Version: o.Program, Machine: report.ReadMachine(),
		Method: []report.Method{}, Tables: []report.Table{}, Bars: []report.Chart{}, Transfers: []*report.Record{}, Remarks: []string{},
	}
	e.ID = report.NewID(e.Started)
	run, err := newCipherRun(o)
	if err != nil {
		return nil, err
	}
	if len(run.images) > 0 {
		// A tag is at most an eighth of its sector, but for the smallest ones.
		needBytes := o.ImageBytes * int64(1+64/slices.Min(o.SectorBytes))
		folder, remove, err2 := tempFolder(o.Dir, needBytes+o.ImageBytes/8)
		if err2 != nil {
			return nil, fmt.Errorf("lab ciphers: %w", err2)
		}
		run.folder = folder
		defer func() { err = errors.Join(err, remove()) }()
	}
	if err := run.rounds(ctx); err != nil {
		return nil, err
	}
	e.Machine.Finish()
	e.Finished = time.Now().UTC()
	run.report(e)
	return e, e.Check()
}

// newCipherRun chooses what to measure and makes the data.
func newCipherRun(o CipherOptions) (*cipherRun, error) {
	run := &cipherRun{options: o, data: map[Source][]byte{}, samples: map[cell][]sample{}, memory: memorySubjects(o.Quick)}
	if o.Dir != "" {
		run.images = imageSubjects()
	}
	for _, title := range o.Only {
		if !slices.ContainsFunc(slices.Concat(run.memory, run.images), func(s subject) bool { return s.title == title }) {
			return nil, fmt.Errorf("lab ciphers: nothing to measure is called %q", title)
		}
	}
	if o.Only != nil {
		unwanted := func(s subject) bool { return !slices.Contains(o.Only, s.title) }
		run.memory, run.images = slices.DeleteFunc(run.memory, unwanted), slices.DeleteFunc(run.images, unwanted)
	}
	return run, run.prepare()
}

// measurement is one thing to measure in every round.
type measurement struct {
	subject subject
	setting setting
}

func (r *cipherRun) measurements() []measurement {
	var list []measurement
	add := func(subjects []subject, image bool, workers []int) {
		for _, s := range subjects {
			for _, n := range workers {
				for _, size := range r.options.SectorBytes {
					for _, source := range r.options.Sources {
						list = append(list, measurement{s, setting{image, n, size, source}})
					}
				}
			}
		}
	}
	add(r.memory, false, r.options.Workers)
	add(r.images, true, r.options.ImageWorkers)
	return list
}

func (r *cipherRun) rounds(ctx context.Context) error {
	list := r.measurements()
	for round := range r.options.Rounds {
		for i, m := range list {
			if r.options.Progress != nil {
				r.options.Progress(round*len(list)+i, r.options.Rounds*len(list), m.subject.title+", "+m.setting.String())
			}
			measure := r.measureMemory
			if m.setting.image {
				measure = r.measureImage
			}
			got, err := measure(ctx, m.subject, m.setting)
			if err != nil {
				return fmt.Errorf("lab ciphers: %s: %s: %w", m.subject.title, m.setting, err)
			}
			key := cell{m.subject.title, m.setting}
			r.samples[key] = append(r.samples[key], got)
		}
		slices.Reverse(list) // so that no subject always runs after the same one
	}
	if r.options.Progress != nil {
		r.options.Progress(r.options.Rounds*len(list), r.options.Rounds*len(list), "")
	}
	return nil
}
