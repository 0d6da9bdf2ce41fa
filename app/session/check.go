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
}

// Check looks at the file system, and mends it when asked to. The container must not be mounted; a Device is not.
func (d *Device) Check(ctx context.Context, r CheckRequest) (*CheckResult, error) {
	found, err := fat32.Check(ctx, d.container, fat32.CheckOptions{
		Repair:   r.Repair,
		KeepLost: true, // they may be the only copy of something; only what a cut leaves is freed, at opening
		Progress: func(stage string, done, total int64) {
			r.Report.send(Event{Kind: EventProgress, Stage: "check: " + stage, Done: done, Total: total, Unit: UnitClusters})
		},
	})
	if err != nil {
		return nil, wrap("check "+d.target.Path, err)
	}
	result := &CheckResult{
		Findings: append([]fat32.Finding{}, found.Findings...), Files: found.Files, Folders: found.Dirs,
		ClustersUsed: found.ClustersUsed, ClustersFree: found.ClustersFree, ClustersBad: found.ClustersBad, ClustersLost: found.ClustersLost,
		Dirty: found.Dirty, Repaired: found.Repaired, Clean: found.Clean(), Sound: true, Omitted: found.Omitted,
	}
	for _, finding := range found.Findings {
		result.Sound = result.Sound && finding.Fixed
	}
	result.Sound = result.Sound && (found.Omitted == 0 || r.Repair)
	return result, nil
}

// Dump writes the decrypted payload to w.
func (d *Device) Dump(ctx context.Context, w io.Writer, report Reporter) error {
	size := d.container.Size()
	err := pump(ctx, w, d.container, size, func(done int64) {
		report.send(Event{Kind: EventProgress, Stage: "dump", Done: done, Total: size, Unit: UnitBytes})
	})
	return wrap("dump "+d.target.Path, err)
}

// DumpFile writes the decrypted payload to a new file, which is removed again when that fails. It returns the bytes
// written; they are durable.
func (d *Device) DumpFile(ctx context.Context, to string, report Reporter) (int64, error) {
	file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, wrap("dump to "+to, err)
	}
	err = d.Dump(ctx, file, report)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return 0, errors.Join(err, os.Remove(to))
	}
	return d.container.Size(), nil
}
