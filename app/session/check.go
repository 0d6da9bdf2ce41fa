package session

import (
	"context"
	"errors"
	"io"
	"os"

	"coffer/fat32"
)

// CheckRequest says what to do with a file system.
type CheckRequest struct {
	Repair    bool
	SalvageTo string // host folder, new or empty
	Typed     string // SalvageTo as the person wrote it, when it was made absolute: for messages
	Report    Reporter
}

// CheckResult is what a check found.
type CheckResult struct {
	Findings     []fat32.Finding `json:"findings"`
	Files        int64           `json:"files"`
	Folders      int64           `json:"folders"`
	ClustersUsed uint32          `json:"clustersUsed"`
	ClustersFree uint32          `json:"clustersFree"`
	ClustersBad  uint32          `json:"clustersBad"`
	ClustersLost uint32          `json:"clustersLost"`
	Dirty        bool            `json:"dirty"`    // it had not been closed cleanly
	Repaired     bool            `json:"repaired"` // something was mended
	Clean        bool            `json:"clean"`    // nothing was found
	Sound        bool            `json:"sound"`    // nothing is wrong now
	Omitted      int             `json:"omitted,omitempty"`
	Traces       fat32.Traces    `json:"traces,omitempty"` // what the findings are signs of
}

// Signs of no damage: see fat32.Traces.
const (
	TracesNotClosed   = fat32.TracesNotClosed
	TracesInterrupted = fat32.TracesInterrupted
)

// standStill makes the payload of an unlocked container stand still until thaw is called. A Device that nobody else uses
// stands still anyway.
func (d *Device) standStill(doing string, report Reporter) (thaw func(), err error) {
	if d.hold == nil {
		return func() {}, nil
	}
	report.send(StandStillNote(d.target.Path))
	thaw, err = d.hold()
	return thaw, wrap(doing+" "+d.target.Path, err)
}

// StandStillNote is what a person is told while an unlocked container stands still.
func StandStillNote(image string) Event {
	return Event{Kind: EventNote, Detail: image + " is unlocked: what programs write to it waits until this is done"}
}

// PayloadBytes is the size of the decrypted payload.
func (d *Device) PayloadBytes() int64 { return d.container.Size() }

// NeedsLock is the refusal of something that needs the container for itself while it is unlocked.
func NeedsLock(doing, image string) error {
	return &Error{What: doing + " " + image, Err: errors.New("it is unlocked, and this needs the container for itself"), Code: InUse,
		Hint: "`coffer lock " + image + "` first"}
}

// Check looks at the file system, and mends it when asked to. An unlocked container is looked at in a moment at which
// everything is written and nothing changes; whoever has it unlocked refuses to mend it.
func (d *Device) Check(ctx context.Context, r CheckRequest) (*CheckResult, error) {
	thaw, err := d.standStill("check", r.Report)
	if err != nil {
		return nil, err
	}
	defer thaw()
	found, err := fat32.Check(ctx, d.container, fat32.CheckOptions{
		Repair:   r.Repair,
		KeepLost: true, // they may be the only copy of something; only what a cut leaves is freed, at opening
		Progress: func(stage string, done, total int64) {
			r.Report.send(Event{Kind: EventProgress, Stage: "check: " + stage, Done: done, Total: total, Unit: UnitClusters})
		},
	})
	if err != nil {
		return nil, wrap("check "+d.target.Path, d.ExplainDamage(err, r.Repair))
	}
	result := &CheckResult{
		Findings: append([]fat32.Finding{}, found.Findings...), Files: found.Files, Folders: found.Dirs,
		ClustersUsed: found.ClustersUsed, ClustersFree: found.ClustersFree, ClustersBad: found.ClustersBad, ClustersLost: found.ClustersLost,
		Dirty: found.Dirty, Repaired: found.Repaired, Clean: found.Clean(), Sound: true, Omitted: found.Omitted, Traces: found.Traces(),
	}
	for _, finding := range found.Findings {
		result.Sound = result.Sound && finding.Fixed
	}
	result.Sound = result.Sound && (found.Omitted == 0 || r.Repair)
	return result, nil
}

// Dump writes the decrypted payload to w.
func (d *Device) Dump(ctx context.Context, w io.Writer, report Reporter) error {
	thaw, err := d.standStill("dump", report)
	if err != nil {
		return err
	}
	defer thaw()
	size := d.container.Size()
	err = pump(ctx, w, d.container, size, func(done int64) {
		report.send(Event{Kind: EventProgress, Stage: "dump", Done: done, Total: size, Unit: UnitBytes})
	})
	return wrap("dump "+d.target.Path, err)
}

// DumpFile writes the decrypted payload to a new file, which is removed again when that fails. It returns the size of the
// payload in bytes; they are durable when there is no error.
func (d *Device) DumpFile(ctx context.Context, to string, report Reporter) (int64, error) {
	return d.container.Size(), WriteNew("dump to "+to, to, func(file io.Writer) error { return d.Dump(ctx, file, report) })
}

// WriteNew makes a new file with what write gives it, durable, and removes it again when that fails.
func WriteNew(doing, to string, write func(io.Writer) error) error {
	file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return wrap(doing, err)
	}
	err = write(file)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return errors.Join(err, os.Remove(to))
	}
	return nil
}
