package session

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"coffer/app/protocol"
	"coffer/fat32"
	"coffer/transfer"
	"coffer/transfer/report"
)

// CopyRequest is one copy, in any direction.
type CopyRequest struct {
	Sources     []Place // all in one place: the host, or one container
	Destination Place
	Verify      bool // re-read past the caches and compare SHA-256
	Resume      bool // go on where an interrupted copy stopped
	Move        bool // remove sources once their copies are durable
	Split       bool // cut files over 4 GiB - 1; join parts on the way out
	Force       bool // replace existing files
	// Existing, if not "", says more exactly than Force what happens to existing files: one of protocol's Existing constants
	// but ExistingAsk.
	Existing string `json:"existing,omitempty"`
	Label    string
	Window   time.Duration // of the rates
	Program  string        // name and version, for the record
	Records  string        // folder of the records; "": none is kept
	Report   Reporter      `json:"-"`

	// Drives are containers that are reached through their drives, by the path of their image as in Place.
	Drives map[string]*Drive `json:"-"`

	Control *transfer.Control    `json:"-"` // stops the copy and asks it; nil: nobody does
	Watch   func(transfer.Event) `json:"-"` // is told every event as package transfer tells it; nil: nobody is
}

// CheckHostPlaces says before any container is opened, and before anybody is asked for a password, whether the host's
// side of a copy is there.
func CheckHostPlaces(r CopyRequest) error {
	for _, source := range r.Sources {
		if source.Inside() {
			continue
		}
		if _, err := os.Lstat(source.Path); err != nil {
			return wrap("copy", err)
		}
	}
	if r.Destination.Inside() {
		return nil
	}
	info, err := os.Stat(r.Destination.Path)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil && (len(r.Sources) > 1 || r.Destination.Folder):
		return &Error{What: "copy to " + r.Destination.Path, Err: errors.New("it is not a folder")}
	case err == nil:
		return notOverContainer(r.Destination.Path)
	}
	if _, err := os.Stat(filepath.Dir(filepath.Clean(r.Destination.Path))); err != nil {
		return &Error{What: "copy to " + r.Destination.Path, Err: err, Hint: "make the folder first"}
	}
	return nil
}

// notOverContainer refuses a container as the target of a file: somebody who forgot ":/" must not lose it, not even with
// --force.
func notOverContainer(path string) error {
	if _, err := Inspect(Target{Path: path, Format: FormatAuto}); err != nil {
		return nil // no container: the usual rules about existing files hold
	}
	return &Error{What: "copy to " + path, Err: errors.New("it is a container, and would be replaced"),
		Hint: "write " + path + ":/ to copy into it"}
}

// Copy runs a copy. from is the open container of the sources, to that of the destination; nil means the host; they may
// be the same. The record is returned also when the copy failed or was cancelled on the way, and is kept in r.Records; that
// it could not be kept is a warning, not an error.
func Copy(ctx context.Context, from, to *Session, r CopyRequest) (*Record, error) {
	plan, err := PlanCopy(ctx, from, to, r)
	if err != nil {
		return nil, err
	}
	return plan.Run(ctx)
}

// PlanCopy looks at a copy as Copy would make it, and writes nothing. Files that cannot be copied are in the plan; an error
// is what makes all of it impossible.
func PlanCopy(ctx context.Context, from, to *Session, r CopyRequest) (*CopyPlan, error) {
	if from != nil && r.Move {
		if err := from.changeable("move from " + from.target.Path); err != nil {
			return nil, err
		}
	}
	return planCopy(ctx, from.place, to, r)
}

// Elsewhere is a container that another process has open, as the source of a copy.
type Elsewhere struct {
	Files    transfer.Source
	Endpoint report.Endpoint // for the record
}

// CopyFrom is Copy out of a container that another process has open.
func CopyFrom(ctx context.Context, from Elsewhere, to *Session, r CopyRequest) (*Record, error) {
	plan, err := PlanCopyFrom(ctx, from, to, r)
	if err != nil {
		return nil, err
	}
	return plan.Run(ctx)
}

// PlanCopyFrom is PlanCopy out of a container that another process has open.
func PlanCopyFrom(ctx context.Context, from Elsewhere, to *Session, r CopyRequest) (*CopyPlan, error) {
	place := func(p Place) transfer.Place {
		return transfer.Place{Source: from.Files, Path: p.Path, Typed: p.Path, Endpoint: from.Endpoint}
	}
	return planCopy(ctx, place, to, r)
}

// Serve is s for a copy in another process; with changing sources are to be removed.
func (s *Session) Serve(changing bool) (Elsewhere, error) {
	if changing {
		if err := s.changeable("move from " + s.target.Path); err != nil {
			return Elsewhere{}, err
		}
	}
	place := s.place(Place{Image: s.target.Path, Path: "/"})
	return Elsewhere{transfer.VolumeSource(place), place.Endpoint}, nil
}

// viaMount is what a record says of a copy through a drive.
const viaMount = "mount"

// CopyPlan is a copy that was looked at. It is run, or closed.
type CopyPlan struct {
	*transfer.Plan
	to      *Session
	request CopyRequest
}

// planCopy looks at a copy of sources that place finds.
func planCopy(ctx context.Context, place func(Place) transfer.Place, to *Session, r CopyRequest) (*CopyPlan, error) {
	if to != nil {
		if err := to.changeable("copy to " + r.Destination.String()); err != nil {
			return nil, err
		}
	}
	job := transfer.Job{
		Destination: to.place(r.Destination),
		Verify:      r.Verify, Resume: r.Resume, Move: r.Move, Split: r.Split,
		Label: r.Label, Window: r.Window, Program: r.Program,
		Overwrite: r.overwrite(), Control: r.Control,
		OnEvent: func(e transfer.Event) {
			forward(r.Report, e)
			if r.Watch != nil {
				r.Watch(e)
			}
		},
	}
	for _, source := range r.Sources {
		if d := r.Drives[source.Image]; source.Inside() && d != nil {
			job.Sources, job.Via = append(job.Sources, d.place(source)), viaMount
			continue
		}
		job.Sources = append(job.Sources, place(source))
	}
	if d := r.Drives[r.Destination.Image]; r.Destination.Inside() && d != nil {
		job.Destination, job.AlsoSync, job.Via = d.place(r.Destination), d.sync, viaMount
	}
	plan, err := job.Plan(ctx)
	if err != nil {
		return nil, r.explainSpace(to, wrap("copy to "+r.Destination.String(), err))
	}
	for _, note := range plan.Notes {
		r.Report.send(Event{Kind: EventNote, Detail: note})
	}
	return &CopyPlan{plan, to, r}, nil
}

// overwrite is what happens to existing files.
func (r CopyRequest) overwrite() transfer.Overwrite {
	switch {
	case r.Existing == protocol.ExistingReplace, r.Existing == "" && r.Force:
		return transfer.OverwriteReplace
	case r.Existing == protocol.ExistingNewer:
		return transfer.OverwriteNewer
	case r.Existing == protocol.ExistingSkip:
		return transfer.OverwriteSkip
	}
	return transfer.OverwriteFail
}

// Run makes the copy; see Copy.
func (p *CopyPlan) Run(ctx context.Context) (*Record, error) {
	r, to := p.request, p.to
	record, err := transfer.Run(ctx, p.Plan)
	err = r.explainSpace(to, wrap("copy to "+r.Destination.String(), err))
	if record != nil && r.Records != "" {
		if saveErr := report.NewStore(r.Records).Save(record); saveErr != nil { // the files are where they belong all the same
			r.Report.send(Event{Kind: EventWarning, Detail: "the record of this copy could not be kept: " + saveErr.Error()})
		}
	}
	return record, err
}

// explainSpace says which disk is full when err is that a copy found no room: the container, or the one on the host that
// holds the destination or the container. to is the open container of the destination, nil for the host and for a drive.
func (r CopyRequest) explainSpace(to *Session, err error) error {
	var space *transfer.SpaceError
	drive, free := r.Drives[r.Destination.Image], int64(0)
	switch {
	case err == nil || !errors.Is(err, syscall.ENOSPC):
		return err
	case !r.Destination.Inside() || to == nil && drive == nil:
		return &Error{What: "copy", Err: err, Hint: "free space on the disk that holds " + r.Destination.String()}
	case to != nil:
		free = to.Volume.StatFS().FreeBytes
	case drive.FileSystem != nil:
		free = drive.FileSystem.FreeBytes
	}
	switch {
	case errors.As(err, &space) && space.NeedBytes <= free:
		return &Error{What: "copy", Err: err, Hint: "there is room inside; free space on the disk that holds " + r.Destination.Image}
	case drive != nil: // all that a drive says is that there is no room
		return &Error{What: "copy", Err: err, Hint: fullInsideHint}
	}
	return err
}

// place is one side of a copy as package transfer takes it. A nil session is the host.
func (s *Session) place(p Place) transfer.Place {
	if s == nil || !p.Inside() {
		// As with cp, "folder/." is what is in the folder.
		base := filepath.Base(p.Path)
		return transfer.Place{Path: p.Path, Typed: p.Typed, Contents: base == "." || base == ".."}
	}
	info, host := s.container.Info(), report.HostEndpoint(s.file())
	return transfer.Place{
		Volume: s.Volume, Path: p.Path, Neighbour: s.Neighbour, Backing: s.container, SizeBytes: s.container.Size(), FreeBytes: s.hostBound(),
		Endpoint: report.Endpoint{
			Kind: "container", Device: host.Device, WriteCache: host.WriteCache, FileSystem: s.Volume.Geometry().Type.String(), Format: string(info.Format), Cipher: info.Cipher,
			Engine: info.Engine, SectorBytes: int64(info.SectorSizeBytes), ClusterBytes: int64(s.Volume.Geometry().ClusterSize),
		},
	}
}

// hostBound is the most that can be written into a thin image before the disk below it is full, in bytes; 0 when there
// is no such bound or it is not known. What the image has already taken on the disk, but the files inside do not use,
// can be written whatever the disk has free.
func (s *Session) hostBound() int64 {
	room, _, bounded := s.HostRoom()
	if !bounded {
		return 0
	}
	return max(room, 1)
}

// HostRoom is how much can be written into a thin image before the disk below it is full, in bytes, and how much of that the
// disk itself has free: the rest are places the image had taken before, which new files need not get. bounded is false if the
// disk can take the whole image, or if nothing is known. It is an estimate: folders and the FAT take from it too.
func (s *Session) HostRoom() (roomBytes, freeBytes int64, bounded bool) {
	free, allocated, err := thinSpace(s.file())
	if err != nil || s.container.Info().ImageBytes-allocated <= free {
		return 0, 0, false
	}
	inside := s.Volume.StatFS()
	return free + max(allocated-(inside.TotalBytes-inside.FreeBytes), 0), free, true
}

// forward turns an event of package transfer into one of this package.
func forward(to Reporter, e transfer.Event) {
	switch e.Kind {
	case transfer.EventProgress, transfer.EventStage:
		kind := EventProgress
		if e.Kind == transfer.EventStage {
			kind = EventStage
		}
		to.send(Event{Kind: kind, Stage: e.Stage, Done: e.Bytes, Total: e.TotalBytes, Unit: UnitBytes, Files: e.Files})
	case transfer.EventDurable:
		to.send(Event{Kind: EventDurable, Files: e.Files, Bytes: e.Bytes, Through: e.Through})
	case transfer.EventFailed:
		if e.Problem != nil {
			to.send(Event{Kind: EventFailed, Name: e.Problem.Name, Reason: e.Problem.Reason, Detail: e.Problem.Detail})
		}
	}
}

// leftByCut says whether a finding is of a kind that a cut of the power leaves behind by the table of ordered writes:
// repairing it loses nothing that was acknowledged. A moved folder has two names for a moment, which check calls a cycle,
// and the sectors of a folder are written in any order, which can leave slots behind its end mark; the repair takes away one
// of two ways to a folder and keeps every sound entry behind an end mark, so that neither costs anything.
func leftByCut(code string) bool {
	switch code {
	case fat32.CodeDirty, fat32.CodeFreeCount, fat32.CodeFATDiffer, fat32.CodeLostChain, fat32.CodeChainLong, fat32.CodeZeroSize,
		fat32.CodeTwoNames, fat32.CodeLongNameParts, fat32.CodeDirDots, fat32.CodeDirCycle, fat32.CodeAfterEnd:
		return true
	}
	return false
}
