package lab

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"time"

	"coffer/transfer/report"
)

// DriveOptions say what Drive measures. The zero value of every field but Dir is a sensible choice.
type DriveOptions struct {
	// Dir is the folder to measure: on a drive of any kind, or on a plain disk. What is made in it is removed again.
	Dir string
	// Plain is another folder, measured in turn with Dir, the baseline of ratios; "": none.
	Plain string
	// Quick takes a smaller file, fewer files and fewer rounds.
	Quick bool
	// Scale makes sizes and numbers smaller, or larger; 0: 1.
	Scale float64
	// Rounds is how often everything is measured; 0: 3, or 2 with Quick.
	Rounds int
	// SizeBytes is the size of the large file; 0: 1 GiB, or 128 MiB with Quick, times Scale.
	SizeBytes int64
	// Files is the number of small files; 0: 16 x 1024, or 1024 with Quick, times Scale.
	Files int
	// Serving, if not nil, is the processor time in seconds that the process which serves Dir has used so far.
	Serving func() float64
	// Warm leaves the caches of the system as they are; otherwise they are dropped before each measurement, as well as
	// this user may.
	Warm bool
	// Program is name and version for the report.
	Program string
	// Progress, if not nil, is called often, one call at a time, and must not block; Done and Total are measurements.
	Progress func(Progress)
}

const (
	driveBlock     = 8 << 10 // as bonnie++
	driveSeekers   = 5       // as bonnie++
	driveSeeks     = 8192
	seekWritePart  = 10        // one in so many seeks writes back what it read
	filesPerFolder = 16 << 10  // a FAT folder has room for 65,534 slots, of which these names take up to three
	cfsBytes       = 32 << 20  // the file of the CFS figures
	cfsSmall       = 64 << 10  // and their small files
	minDriveFile   = 256 << 10 // anything smaller measures nothing
)

func (o DriveOptions) withDefaults() (DriveOptions, error) {
	if o.Scale == 0 {
		o.Scale = 1
	}
	if o.Scale < 1e-6 || o.Scale > 1000 {
		return o, fmt.Errorf("lab drive: a scale of %g: not 0.000001 to 1000", o.Scale)
	}
	size, files, rounds := int64(1<<30), 16<<10, 3
	if o.Quick {
		size, files, rounds = 128<<20, 1<<10, 2
	}
	if o.SizeBytes == 0 {
		o.SizeBytes = max(int64(float64(size)*o.Scale), minDriveFile)
	}
	if o.Files == 0 {
		o.Files = max(int(float64(files)*o.Scale), 16)
	}
	if o.Rounds == 0 {
		o.Rounds = rounds
	}
	switch {
	case o.Rounds < 1 || o.Rounds > 1000:
		return o, fmt.Errorf("lab drive: %d rounds: not 1 to 1000", o.Rounds)
	case o.SizeBytes < minDriveFile:
		return o, fmt.Errorf("lab drive: a file of %d bytes: at least %d are needed", o.SizeBytes, minDriveFile)
	case o.Files < 1:
		return o, fmt.Errorf("lab drive: %d files: at least one is needed", o.Files)
	}
	o.SizeBytes -= o.SizeBytes % driveBlock
	return o, nil
}

// driveSubject is one folder that is measured.
type driveSubject struct {
	remove  func() error // takes dir away
	name    string       // in tables
	dir     string       // temporary, in the folder
	host    report.Endpoint
	serving func() float64
	cooler  *cooler
}

// driveSample is one measurement.
type driveSample struct {
	value      float64 // in the unit of the column
	percent    float64 // of one processor core
	cpuSeconds float64
}

// driveRun is one run of the experiment.
type driveRun struct {
	options  DriveOptions
	subjects []driveSubject
	samples  map[string]map[string][]driveSample // by subject and test, by round
	done     int
	total    int
	limit    memoryLimit
}

// Drive measures a folder: one large file written, rewritten, read, and read at random places; many files made, looked
// at and deleted; files of 32 MB and of 64 KB. It returns the context's error when cancelled, and leaves no file behind.
func Drive(ctx context.Context, o DriveOptions) (e *report.Experiment, err error) {
	if o, err = o.withDefaults(); err != nil {
		return nil, err
	}
	run := &driveRun{options: o, samples: map[string]map[string][]driveSample{}, limit: readMemoryLimit()}
	defer func() {
		if err = errors.Join(err, run.remove()); err != nil {
			e = nil
		}
	}()
	if err := run.prepare(); err != nil {
		return nil, fmt.Errorf("lab drive: %w", err)
	}
	e = newExperiment(report.KindDrive, "What the folder can do", o.Program)
	for round := range o.Rounds {
		if err := run.round(ctx, round); err != nil {
			return nil, fmt.Errorf("lab drive: %w", err)
		}
	}
	e.Machine.Finish()
	e.Finished = time.Now().UTC()
	run.report(e)
	return e, nil
}

// prepare makes a temporary folder in each of the folders.
func (r *driveRun) prepare() error {
	add := func(folder, name string, serving func() float64) error {
		need := r.options.SizeBytes + max(cfsBytes*2, int64(r.options.Files)*512) + r.options.SizeBytes/64
		dir, remove, err := tempFolder(folder, need)
		if err != nil {
			return err
		}
		r.subjects = append(r.subjects, driveSubject{name: name, dir: dir, remove: remove, host: report.HostEndpoint(dir), serving: serving, cooler: newCooler(dir, r.options.Warm)})
		return nil
	}
	if r.options.Plain != "" {
		if err := add(r.options.Plain, plainSubject, nil); err != nil {
			return err
		}
	}
	if err := add(r.options.Dir, folderSubject, r.options.Serving); err != nil {
		return err
	}
	r.total = r.options.Rounds * len(r.subjects) * len(driveTests())
	return nil
}

// Names of subjects.
const (
	plainSubject  = "plain"
	folderSubject = "the folder"
)

func (r *driveRun) remove() error {
	var all []error
	for _, s := range r.subjects {
		all = append(all, s.remove())
	}
	return errors.Join(all...)
}

// round measures everything once, test by test, so that both folders meet the same conditions; who goes first alternates.
func (r *driveRun) round(ctx context.Context, round int) error {
	for _, test := range driveTests() {
		for i := range r.subjects {
			s := &r.subjects[(i+round)%len(r.subjects)]
			if r.options.Progress != nil {
				r.options.Progress(Progress{Doing: fmt.Sprintf("%s: %s, round %d of %d", s.name, test.name, round+1, r.options.Rounds), Done: int64(r.done), Total: int64(r.total)})
			}
			got, err := r.measure(ctx, test, s, round)
			if err != nil {
				return fmt.Errorf("%s: %s: %w", s.name, test.name, err)
			}
			if r.samples[s.name] == nil {
				r.samples[s.name] = map[string][]driveSample{}
			}
			r.samples[s.name][test.name] = append(r.samples[s.name][test.name], got)
			r.done++
		}
	}
	return nil
}

// measure does one test in one folder.
func (r *driveRun) measure(ctx context.Context, test driveTest, s *driveSubject, round int) (driveSample, error) {
	w := &driveWork{ctx: ctx, subject: s, options: r.options, seed: uint64(round)}
	if test.prepare != nil {
		if err := test.prepare(w); err != nil {
			return driveSample{}, err
		}
	}
	if err := syncHost(s.dir); err != nil {
		return driveSample{}, err
	}
	if test.cold {
		if err := s.cooler.cool(nil, s.dir); err != nil {
			return driveSample{}, err
		}
	}
	runtime.GC() // the rubbish of the test before is not this one's
	cpu, served, start := report.ProcessTimes(), s.served(), time.Now()
	amount, err := test.run(w)
	took := time.Since(start).Seconds()
	used := report.UsageBetween(cpu, report.ProcessTimes(), time.Second)
	if err == nil {
		err = ctx.Err()
	}
	if test.tidy != nil {
		err = errors.Join(err, test.tidy(w))
	}
	if err != nil {
		return driveSample{}, err
	}
	out := driveSample{value: amount / took, cpuSeconds: used.UserSeconds + used.SystemSeconds + s.served() - served}
	if test.seconds {
		out.value = took
	}
	out.percent = 100 * out.cpuSeconds / took
	return out, nil
}

func (s *driveSubject) served() float64 {
	if s.serving == nil {
		return 0
	}
	return s.serving()
}

// path is a file or folder of the work.
func (w *driveWork) path(name string) string { return filepath.Join(w.subject.dir, name) }
