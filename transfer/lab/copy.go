package lab

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"syscall"
	"time"

	"coffer/container"
	"coffer/container/secret"
	"coffer/transfer"
	"coffer/transfer/lab/workload"
	"coffer/transfer/rate"
	"coffer/transfer/report"
)

// Workloads of the Private Disk test, whole.
const (
	largeFileBytes    = 658e6
	photoArchiveFiles = 2140
	photoArchiveBytes = 667e6
	quickScale        = 0.25
)

// CopyOptions say what Copy measures. The zero value of every field but Dir is a sensible choice.
type CopyOptions struct {
	// Dir is a folder on the file system to measure. Everything happens in a new folder inside it, which is removed
	// again, also when cancelled.
	Dir string
	// Quick takes smaller workloads and fewer rounds: about a minute.
	Quick bool
	// Scale makes the workloads smaller, or larger; 0: 1, or a quarter with Quick.
	Scale float64
	// Workloads; nil: [a] one large file and [b] a photo archive, of the sizes of the Private Disk test.
	Workloads []workload.Workload
	// Only, when not nil, are the names of those workloads that are measured.
	Only []string
	// Rounds is how often everything is copied; 0: 5, or 2 with Quick.
	Rounds int
	// Formats are the container formats to compare; nil: luks2. Raw, a FAT volume without encryption, is always measured.
	Formats []string
	// Mounter, when not nil, makes drives of the containers, and the copies go through these drives.
	Mounter Mounter
	// Window is the length of the windows of rates; 0: 1 s, or 0.1 s when a copy takes less than eight.
	Window time.Duration
	// Workers is how many files are copied at a time; 0: as a copy chooses.
	Workers int
	// Warm leaves the caches of the system as they are; otherwise they are dropped before each measurement, as well as
	// this user may.
	Warm bool
	// Program is name and version for the report.
	Program string
	// Progress, if not nil, is called often, one call at a time, and must not block.
	Progress func(Progress)
}

// Progress is how far an experiment is.
type Progress struct {
	Doing       string // what is measured now
	Done, Total int64  // payload bytes of all there is to do
}

// Mounter makes drives of containers.
type Mounter interface {
	// Mount unlocks the container at path in another process; the drive appears at or below the folder dir where the
	// system allows that. The password stays the caller's.
	Mount(ctx context.Context, path, format, dir string, password *secret.Buffer) (MountedDrive, error)
}

// MountedDrive is an unlocked container that is mounted.
type MountedDrive interface {
	// Folder is where the drive is.
	Folder() string
	// CPU is the processor time that the process serving the drive has used so far; 0: unknown.
	CPU() time.Duration
	// BusyTimes is what the container has been doing so far; zeros: unknown.
	transfer.Timed
	// Unmount locks the container and returns when its process has ended.
	Unmount(ctx context.Context) error
}

func (o CopyOptions) withDefaults() (CopyOptions, error) {
	if o.Scale == 0 {
		o.Scale = 1
		if o.Quick {
			o.Scale = quickScale
		}
	}
	if o.Rounds == 0 {
		o.Rounds = 5
		if o.Quick {
			o.Rounds = 2
		}
	}
	if o.Scale < 1e-6 || o.Scale > 1000 {
		return o, fmt.Errorf("lab copy: a scale of %g: not 0.000001 to 1000", o.Scale)
	}
	if o.Rounds < 1 || o.Rounds > 1000 {
		return o, fmt.Errorf("lab copy: %d rounds: not 1 to 1000", o.Rounds)
	}
	if err := rate.CheckWindow(o.Window); err != nil {
		return o, fmt.Errorf("lab copy: %w", err)
	}
	if o.Workloads == nil {
		o.Workloads = []workload.Workload{
			workload.Large(max(int64(largeFileBytes*o.Scale), 1)),
			workload.Photos(max(int(photoArchiveFiles*o.Scale), 1), max(int64(photoArchiveBytes*o.Scale), 1)),
		}
	}
	if o.Only != nil {
		o.Workloads = slices.DeleteFunc(slices.Clone(o.Workloads), func(w workload.Workload) bool { return !slices.Contains(o.Only, w.Name) })
	}
	if len(o.Workloads) == 0 {
		return o, fmt.Errorf("lab copy: no workload is called %q", o.Only)
	}
	if o.Formats == nil {
		o.Formats = []string{string(container.LUKS2)}
	}
	o.Formats = slices.DeleteFunc(slices.Clone(o.Formats), func(f string) bool { return f == string(container.Raw) })
	return o, nil
}

// SpaceError: there is not enough room for an experiment. It matches syscall.ENOSPC.
type SpaceError struct {
	Dir                  string
	NeedBytes, FreeBytes int64
}

func (e *SpaceError) Error() string {
	return fmt.Sprintf("%s needed for a while at %s, %s free", workload.Megabytes(e.NeedBytes), e.Dir, workload.Megabytes(e.FreeBytes))
}

// Is makes errors.Is(err, syscall.ENOSPC) true.
func (e *SpaceError) Is(target error) bool { return target == error(syscall.ENOSPC) }

// spareBytes is what is left alone on the disk.
const spareBytes = 64 << 20

// needBytes is the most that is on the disk at any time: the source, an image for each format and for none, one copy.
func (o CopyOptions) needBytes() (need int64) {
	for _, w := range o.Workloads {
		one := w.Bytes() + int64(len(w.Files))*8192
		all := one * int64(1+1+len(o.Formats))
		if w.Folder == "" {
			all += one
		}
		need = max(need, all+all/50)
	}
	return need + int64(1+len(o.Formats))*(32<<20)
}

// Copy measures what encryption and the file system cost a copy: files are copied from plain to plain, into a plain FAT
// volume, into containers, and out of both. It returns the context's error when cancelled, and leaves no file behind.
func Copy(ctx context.Context, o CopyOptions) (e *report.Experiment, err error) {
	if o, err = o.withDefaults(); err != nil {
		return nil, err
	}
	folder, remove, err := tempFolder(o.Dir, o.needBytes())
	if err != nil {
		return nil, fmt.Errorf("lab copy: %w", err)
	}
	defer func() {
		if err = errors.Join(err, remove()); err != nil {
			e = nil
		}
	}()
	e = newExperiment(report.KindCopy, "What encryption and the file system cost a copy", o.Program)
	run := &copyRun{options: o, dir: folder, host: report.HostEndpoint(folder), cooler: newCooler(folder, o.Warm), runs: map[runKey][]legRun{}}
	if run.password, err = newPassword(); err != nil {
		return nil, fmt.Errorf("lab copy: %w", err)
	}
	defer run.password.Destroy()
	run.legs = run.allLegs()
	for _, w := range o.Workloads {
		run.total += w.Bytes() * int64(len(run.legs)*o.Rounds+2) // one to make it, one to warm up
	}
	for _, w := range o.Workloads {
		if err := run.workload(ctx, w); err != nil {
			return nil, fmt.Errorf("lab copy: %s: %w", w.Title, err)
		}
	}
	e.Machine.Finish()
	e.Finished = time.Now().UTC()
	run.report(e)
	return e, nil
}

// newExperiment begins an experiment.
func newExperiment(kind, title, program string) *report.Experiment {
	now := time.Now().UTC()
	return &report.Experiment{
		Schema: report.ExperimentVersion, ID: report.NewID(now), Kind: kind, Title: title, Started: now, Version: program,
		Machine: report.ReadMachine(), Method: []report.Method{}, Tables: []report.Table{}, Bars: []report.Chart{},
		Transfers: []*report.Record{}, Remarks: []string{},
	}
}

// haveCP says whether a copy by cp can be measured beside ours.
func haveCP() bool { return runtime.GOOS != "windows" && findCP() != "" }
