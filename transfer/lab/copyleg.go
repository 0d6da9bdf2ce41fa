package lab

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"coffer/container"
	"coffer/container/secret"
	"coffer/transfer"
	"coffer/transfer/lab/workload"
	"coffer/transfer/report"
)

// leg is one kind of copy. from and to are container formats; "" is a folder of the host.
type leg struct {
	title    string
	from, to string
	cp       bool // by the system's cp, for comparison
}

const (
	plainCopy = "plain → plain"
	cpCopy    = "plain → plain, by cp"
	fatName   = "FAT32" // a FAT volume without encryption, in tables
)

// nameOf is a format in tables.
func nameOf(format string) string {
	switch format {
	case "":
		return "plain"
	case string(container.Raw):
		return fatName
	}
	return format
}

func (l leg) into() bool { return l.to != "" }
func (l leg) out() bool  { return l.from != "" }

// allLegs are all kinds of copies, in the order of the tables.
func (r *copyRun) allLegs() []leg {
	var legs []leg
	if haveCP() {
		legs = append(legs, leg{title: cpCopy, cp: true})
	}
	legs = append(legs, leg{title: plainCopy})
	formats := append([]string{string(container.Raw)}, r.options.Formats...)
	for _, f := range formats {
		legs = append(legs, leg{title: "plain → " + nameOf(f), to: f})
	}
	for _, f := range formats {
		legs = append(legs, leg{title: nameOf(f) + " → plain", from: f})
	}
	return legs
}

// runKey is one line of a table.
type runKey struct{ workload, leg string }

// legRun is one measured copy.
type legRun struct {
	record     *report.Record // nil of cp
	seconds    float64
	average    float64 // bytes per second
	cpuSeconds float64 // of all processes that took part
}

// copyRun is one run of the experiment.
type copyRun struct {
	options  CopyOptions
	dir      string // temporary
	host     report.Endpoint
	cooler   *cooler
	password *secret.Buffer
	legs     []leg
	runs     map[runKey][]legRun // by round
	window   time.Duration       // of the workload being measured
	windows  map[string]time.Duration
	kinds    map[string]report.Endpoint // what the containers of a format were, for the method
	done     int64                      // bytes of what is finished
	total    int64
}

func (r *copyRun) progress(doing string, bytes int64) {
	if r.options.Progress != nil {
		r.options.Progress(Progress{Doing: doing, Done: min(r.done+bytes, r.total), Total: r.total})
	}
}

// workload makes the files, warms up, and copies them in rounds.
func (r *copyRun) workload(ctx context.Context, w workload.Workload) error {
	source := w.Folder
	if source == "" {
		source = filepath.Join(r.dir, "source-"+w.Name)
		defer os.RemoveAll(source)
		var made int64
		doing := "making " + w.Title
		r.progress(doing, 0)
		if err := w.Make(ctx, source, func(n int64) { made += n; r.progress(doing, made) }); err != nil {
			return fmt.Errorf("make the files: %w", err)
		}
	}
	r.done += w.Bytes()
	if err := r.chooseWindow(ctx, w, source); err != nil {
		return err
	}
	for round := range r.options.Rounds {
		if err := r.round(ctx, w, source, round); err != nil {
			return err
		}
	}
	return nil
}

// longRun is a copy that has enough windows of one second.
const longRun = 8 * time.Second

// chooseWindow copies once without measuring, which shows how long a copy takes and gives every later one the same start.
func (r *copyRun) chooseWindow(ctx context.Context, w workload.Workload, source string) error {
	r.window = r.options.Window
	if r.window == 0 {
		r.window = 100 * time.Millisecond
	}
	first, err := r.measure(ctx, w, source, leg{title: plainCopy}, -1)
	if err != nil {
		return err
	}
	if r.options.Window == 0 && first.seconds >= longRun.Seconds() {
		r.window = time.Second
	}
	if r.windows == nil {
		r.windows = map[string]time.Duration{}
	}
	r.windows[w.Name] = r.window
	return nil
}

// round measures every leg once: first all that read the source, then all that read the containers these have filled.
// Every other round runs the legs of either half backwards.
func (r *copyRun) round(ctx context.Context, w workload.Workload, source string, round int) error {
	defer func() {
		for _, l := range r.legs {
			if l.into() {
				os.Remove(r.image(l.to))
			}
		}
	}()
	var first, second []leg
	for _, l := range r.legs {
		if l.out() {
			second = append(second, l)
		} else {
			first = append(first, l)
		}
	}
	if round%2 == 1 {
		slices.Reverse(first)
		slices.Reverse(second)
	}
	for _, l := range append(first, second...) {
		got, err := r.measure(ctx, w, source, l, round)
		if err != nil {
			return fmt.Errorf("%s: %w", l.title, err)
		}
		key := runKey{w.Name, l.title}
		r.runs[key] = append(r.runs[key], got)
	}
	return nil
}

func (r *copyRun) image(format string) string {
	return filepath.Join(r.dir, "container-"+format+".img")
}

// measure does one leg and cleans up after it.
func (r *copyRun) measure(ctx context.Context, w workload.Workload, source string, l leg, round int) (got legRun, err error) {
	doing := fmt.Sprintf("%s: %s, round %d of %d", w.Name, l.title, round+1, r.options.Rounds)
	if round < 0 {
		doing = w.Name + ": warming up"
	}
	r.progress(doing, 0)
	target := filepath.Join(r.dir, "target")
	defer func() {
		err = errors.Join(err, os.RemoveAll(target))
		r.done += w.Bytes()
	}()
	if l.cp {
		return r.byCP(ctx, w, source, target)
	}
	s := &sides{run: r, leg: l, workload: w, source: source, target: target, doing: doing}
	if err := s.open(ctx); err != nil {
		return got, errors.Join(err, s.close(ctx))
	}
	got, err = s.copy(ctx)
	return got, errors.Join(err, s.close(ctx))
}

// sides are both ends of one copy.
type sides struct {
	run            *copyRun
	leg            leg
	workload       workload.Workload
	source, target string
	doing          string

	box   *box // one of the two, of a leg into or out of a container
	drive MountedDrive
}

// open makes the containers ready. Nothing of this is measured.
func (s *sides) open(ctx context.Context) (err error) {
	r, l := s.run, s.leg
	switch {
	case l.into():
		if s.box, err = createBox(ctx, r.image(l.to), l.to, usableFor(s.workload), r.password); err != nil {
			return err
		}
		r.describe(l.to, s.box)
		if r.options.Mounter == nil {
			return nil
		}
		box := s.box
		s.box = nil
		if err := box.close(); err != nil {
			return err
		}
		return s.mount(ctx, l.to)
	case l.out() && r.options.Mounter != nil:
		return s.mount(ctx, l.from)
	case l.out():
		s.box, err = openBox(ctx, r.image(l.from), l.from, r.password)
	}
	return err
}

func (s *sides) mount(ctx context.Context, format string) (err error) {
	s.drive, err = s.run.options.Mounter.Mount(ctx, s.run.image(format), format, s.run.dir, s.run.password)
	return err
}

// close ends the use of the containers, also when ctx has ended.
func (s *sides) close(ctx context.Context) error {
	err := s.box.close()
	if s.drive != nil {
		err = errors.Join(err, s.drive.Unmount(context.WithoutCancel(ctx)))
	}
	return err
}

// usableFor is the payload of a container for a workload: clusters, folders and FATs included, and never so small that
// the volume would not be FAT32.
func usableFor(w workload.Workload) int64 {
	return max(w.Bytes()*5/4+int64(len(w.Files))*36<<10+64<<20, 320<<20)
}

func (r *copyRun) describe(format string, b *box) {
	if r.kinds == nil {
		r.kinds = map[string]report.Endpoint{}
	}
	r.kinds[format] = b.endpoint(r.host)
}

// places are both ends as a copy takes them.
func (s *sides) places() (from, to transfer.Place) {
	from, to = transfer.Place{Path: s.source, Contents: true}, transfer.Place{Path: s.target}
	switch {
	case s.box != nil && s.leg.into():
		to = s.box.place(s.run.host)
	case s.box != nil:
		from = s.box.place(s.run.host)
	case s.drive != nil && s.leg.into():
		to = transfer.Place{Path: s.drive.Folder(), Drive: s.drive, Endpoint: s.run.kinds[s.leg.to]}
	case s.drive != nil:
		from = transfer.Place{Path: s.drive.Folder(), Contents: true, Drive: s.drive, Endpoint: s.run.kinds[s.leg.from]}
	}
	return from, to
}

// copy is the measured part.
func (s *sides) copy(ctx context.Context) (legRun, error) {
	r := s.run
	from, to := s.places()
	if !s.leg.into() {
		if err := os.Mkdir(s.target, 0o700); err != nil {
			return legRun{}, err
		}
	}
	if err := syncHost(r.dir); err != nil {
		return legRun{}, err
	}
	job := transfer.Job{
		Sources: []transfer.Place{from}, Destination: to, Window: r.window, Workers: r.options.Workers, Program: r.options.Program,
		Label: s.workload.Name + ", " + s.leg.title, Cache: "warm",
		Split: s.workload.Folder != "", // FAT holds no file of 4 GiB
		OnEvent: func(e transfer.Event) {
			if e.Kind == transfer.EventProgress {
				r.progress(s.doing, e.Bytes)
			}
		},
	}
	if r.cooler.drops() {
		job.DropCaches = func() error { return s.cool(from) }
	}
	if s.drive != nil {
		job.Via = "mount"
		if s.leg.into() {
			job.AlsoSync = func() error { return syncDrive(s.drive.Folder(), r.dir) }
		}
	}
	plan, err := job.Plan(ctx)
	if err != nil {
		return legRun{}, err
	}
	before := s.driveCPU()
	record, err := transfer.Run(ctx, plan)
	if err == nil {
		err = s.complete(record)
	}
	if err != nil {
		return legRun{}, err
	}
	return legRun{record: record, seconds: record.Seconds.Copy + record.Seconds.Sync, average: record.Rates.Average,
		cpuSeconds: record.CPU.Copy.UserSeconds + record.CPU.Copy.SystemSeconds + record.CPU.Sync.UserSeconds + record.CPU.Sync.SystemSeconds +
			(s.driveCPU() - before).Seconds()}, nil
}

func (s *sides) driveCPU() time.Duration {
	if s.drive == nil {
		return 0
	}
	return s.drive.CPU()
}

// cool makes the source cold: that of a drive is the image.
func (s *sides) cool(from transfer.Place) error {
	paths := []string{s.run.dir}
	if from.Volume == nil && s.drive == nil {
		paths = []string{s.source}
	}
	var volume *container.Volume
	if s.box != nil {
		volume = s.box.volume
	}
	return s.run.cooler.cool(volume, paths...)
}

// syncDrive makes what was written to a drive durable: fsync of its folder, which is passed on to its process, then a sync
// of the file system that holds the image. The kernel does not pass sync(2) itself on.
func syncDrive(folder, below string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return syncHost(below)
}

// complete says whether a copy took everything there is: a figure of anything less means nothing. What is no file, such
// as a link in a folder of the user's, is left out by every copy but that of cp.
func (s *sides) complete(record *report.Record) error {
	w := s.workload
	if report.Sum(record.Failed) == 0 && record.Bytes == w.Bytes() && record.Files == int64(len(w.Files)) {
		return nil
	}
	for _, p := range record.Problems {
		if p.Failed {
			return fmt.Errorf("%w: %s: %s (%s)", errIncomplete, report.Escape(p.Name), p.Detail, p.Reason)
		}
	}
	return fmt.Errorf("%w: %d files of %d, %d bytes of %d arrived", errIncomplete, record.Files, len(w.Files), record.Bytes, w.Bytes())
}

// errIncomplete: not everything could be copied, so that there is nothing to compare.
var errIncomplete = errors.New("not every file could be copied, so there is no figure")

// findCP is the path of cp, "" where there is none.
func findCP() string {
	path, err := exec.LookPath("cp")
	if err != nil {
		return ""
	}
	return path
}

// byCP copies with the system's cp, then syncs the file system.
func (r *copyRun) byCP(ctx context.Context, w workload.Workload, source, target string) (legRun, error) {
	if err := syncHost(r.dir); err != nil {
		return legRun{}, err
	}
	if err := r.cooler.cool(nil, source); err != nil {
		return legRun{}, err
	}
	command := exec.CommandContext(ctx, findCP(), append(cpFlags(), source, target)...)
	start := time.Now()
	out, err := command.CombinedOutput()
	if ctx.Err() != nil {
		return legRun{}, ctx.Err()
	}
	if err != nil {
		return legRun{}, fmt.Errorf("cp: %w: %s", err, out)
	}
	if err := syncHost(r.dir); err != nil {
		return legRun{}, err
	}
	took := time.Since(start).Seconds()
	state := command.ProcessState
	return legRun{seconds: took, average: float64(w.Bytes()) / took, cpuSeconds: (state.UserTime() + state.SystemTime()).Seconds()}, nil
}
