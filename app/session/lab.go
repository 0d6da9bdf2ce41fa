package session

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"coffer/transfer/lab"
	labfiles "coffer/transfer/lab/workload"
	"coffer/transfer/report"
)

// LabMounter makes drives for experiments that go through one.
type LabMounter = lab.Mounter

// LabDrive is a drive of an experiment.
type LabDrive = lab.MountedDrive

// LabRequest says what experiments to make. Zero values are chosen sensibly.
type LabRequest struct {
	At      string  // folder in which a temporary folder is made; it is removed again
	Quick   bool    // smaller and fewer
	Rounds  int     // 0: as the experiment chooses
	Scale   float64 // of the sizes; 0: 1, less with Quick
	Warm    bool    // caches are left as they are
	Program string  // name and version, for the report
	Report  Reporter
}

// LabCopyRequest is the copy experiment.
type LabCopyRequest struct {
	LabRequest
	Folder  string     // host folder to copy; "": files made for it
	Only    []string   // workloads "a", "b"; nil: both
	Formats []string   // of containers, beside raw; nil: luks2
	Mounter LabMounter // nil: copies go directly, without a drive
}

// LabDriveRequest is the drive experiment.
type LabDriveRequest struct {
	LabRequest
	Folder    string // to measure
	Plain     string // another folder to measure beside it, the baseline; "": none
	SizeBytes int64  // of the large file; 0: chosen
	Files     int    // how many small files; 0: chosen
	// Serving, if not nil, is the processor time used so far by the process that serves Folder.
	Serving func() float64
}

// labProgress turns progress of an experiment into events.
func (r LabRequest) labProgress(unit string) func(lab.Progress) {
	return func(p lab.Progress) {
		r.Report.send(Event{Kind: EventProgress, Stage: p.Doing, Done: p.Done, Total: p.Total, Unit: unit})
	}
}

// folderThere says whether there is such a folder.
func folderThere(what, folder string) error {
	info, err := os.Stat(folder)
	if err == nil && !info.IsDir() {
		err = errors.New("it is not a folder")
	}
	if err != nil {
		return &Error{What: what + " " + folder, Err: err}
	}
	return nil
}

// LabCopy measures what encryption and the file system cost a copy.
func LabCopy(ctx context.Context, r LabCopyRequest) (*Experiment, error) {
	o := lab.CopyOptions{Dir: r.At, Quick: r.Quick, Rounds: r.Rounds, Scale: r.Scale, Warm: r.Warm, Only: r.Only, Formats: r.Formats,
		Mounter: r.Mounter, Program: r.Program, Progress: r.labProgress(UnitBytes)}
	if err := folderThere("work in", r.At); err != nil {
		return nil, err
	}
	if r.Folder != "" {
		if err := folderThere("copy", r.Folder); err != nil {
			return nil, err
		}
		own, err := labfiles.Own(ctx, r.Folder)
		if err != nil {
			return nil, wrap("lab copy", err)
		}
		o.Workloads = []labfiles.Workload{own}
	}
	e, err := lab.Copy(ctx, o)
	return e, explainLab("lab copy", err)
}

// LabCiphers measures what ciphers and authentication cost.
func LabCiphers(ctx context.Context, r LabRequest) (*Experiment, error) {
	o := lab.CipherOptions{Quick: r.Quick, Rounds: r.Rounds, Dir: r.At, Program: r.Program}
	o.Progress = func(done, total int, next string) {
		r.Report.send(Event{Kind: EventProgress, Stage: next, Done: int64(done), Total: int64(total), Unit: UnitMeasurements})
	}
	if r.Scale != 0 {
		o.ImageBytes = max(int64(r.Scale*(64<<20)), 1<<20)
		o.MemoryTime = max(time.Duration(r.Scale*float64(50*time.Millisecond)), time.Millisecond)
	}
	if err := folderThere("work in", r.At); err != nil {
		return nil, err
	}
	e, err := lab.Ciphers(ctx, o)
	return e, explainLab("lab ciphers", err)
}

// explainLab adds what to do about a full disk.
func explainLab(what string, err error) error {
	var space *lab.SpaceError
	if errors.As(err, &space) {
		return &Error{What: what, Err: space, Hint: "--at DIR works elsewhere, --quick needs less"}
	}
	return wrap(what, err)
}

// BusyTimes is how long the container has been at work since it was opened: ciphers, reads from and writes to its file,
// and syncs of it, summed over all goroutines.
func (d *Device) BusyTimes() (crypto, read, write, sync time.Duration) {
	return d.container.BusyTimes()
}

// KeepExperiment keeps an experiment among the records in folder.
func KeepExperiment(folder string, e *Experiment) error {
	if err := report.NewStore(folder).SaveExperiment(e); err != nil {
		return fmt.Errorf("the experiment could not be kept: %w", err)
	}
	return nil
}

// LabDriveFolder measures what a folder can do.
func LabDriveFolder(ctx context.Context, r LabDriveRequest) (*Experiment, error) {
	for _, folder := range []string{r.Folder, r.Plain} {
		if folder == "" {
			continue
		}
		if err := folderThere("measure", folder); err != nil {
			return nil, err
		}
	}
	e, err := lab.Drive(ctx, lab.DriveOptions{Dir: r.Folder, Plain: r.Plain, Quick: r.Quick, Scale: r.Scale, Warm: r.Warm, Rounds: r.Rounds, SizeBytes: r.SizeBytes,
		Files: r.Files, Serving: r.Serving, Program: r.Program, Progress: r.labProgress(UnitMeasurements)})
	return e, explainLab("lab drive", err)
}
