package transfer

import (
	"fmt"
	"runtime"
	"time"

	"coffer/fat32"
	"coffer/transfer/rate"
	"coffer/transfer/report"
)

// Backing is what a device below a volume may offer beside reads and writes;
// container.Volume does. Offsets are bytes of the device the volume lies on.
// All three are hints, except that after DropCache following a Sync reads come
// from the disk where the system can do that.
type Backing interface {
	StartWriteback(off, n int64) error
	Prefetch(off, n int64) error
	DropCache(off, n int64) error
}

// Place is one side of a copy: a path of the host, or a path inside a volume.
type Place struct {
	// Volume is nil for the host. It stays the caller's and is not closed.
	Volume *fat32.Volume
	// Source, of a source only, is a volume in another process; Volume is nil then.
	Source Source
	// Path is a host path, or "/..." inside Volume or Source.
	Path string
	// Typed is Path as the person wrote it, for messages; "": the same.
	Typed string
	// Contents, for a source folder, selects what is in it rather than the folder
	// itself. The root of a volume, "/", always means its contents.
	Contents bool
	// Neighbour is who else uses Volume meanwhile; nil: nobody.
	Neighbour Neighbour
	// Backing is the device below Volume, if it offers hints; nil is fine.
	Backing Backing
	// SizeBytes is the size of the device below Volume (for Backing); 0: that of the volume.
	SizeBytes int64
	// Drive, of a folder of the host on a mounted drive, tells what the process behind it does; nil: unknown.
	Drive Timed
	// FAT, of a folder of the host: it is on the drive of a FAT volume, whose rules for names and sizes hold.
	FAT bool
	// FreeBytes, if not 0, is an upper bound of what can be written that the
	// volume cannot know: the free space below a thin image.
	FreeBytes int64
	// Endpoint describes the place in the record: container format, cipher,
	// engine, sizes. What is empty is filled in as far as it can be known.
	Endpoint report.Endpoint
}

// shown is the path as the person wrote it.
func (p Place) shown() string {
	if p.Typed != "" {
		return p.Typed
	}
	return p.Path
}

// Overwrite says what happens to files that exist at the target.
type Overwrite int

// Policies. Folders are always merged; a folder is never replaced by a file or
// the other way round.
const (
	OverwriteFail    Overwrite = iota // list it as failed, keep the target
	OverwriteSkip                     // leave it alone, as asked: not a failure
	OverwriteNewer                    // replace if the source is newer by more than 2 s, else leave alone
	OverwriteReplace                  // replace
)

// Job is a copy to be planned. The zero values of all options are sensible.
type Job struct {
	// Sources are files and folders, all of the host or all of one volume.
	Sources []Place
	// Destination is an existing folder, or a name that does not exist yet for a
	// single source (then the copy gets that name, as with cp).
	Destination Place

	Verify    bool      // re-read every copy past the caches and compare SHA-256
	Resume    bool      // continue an interrupted copy of the same selection to the same target
	Move      bool      // delete sources once their copies are durable (and verified, if asked)
	Split     bool      // cut what FAT cannot hold into parts; join parts on the way out
	Overwrite Overwrite // for files that exist at the target

	Label   string        // the user's own text for the record
	Window  time.Duration // of rates; 0: 1 s
	Workers int           // files copied at a time; 0: chosen by the number of CPUs
	// PartBytes is the size of the parts Split makes; 0: 4 GiB - 1 MiB.
	PartBytes int64

	// DropCaches, if given, is called before copying starts, so that sources are
	// read cold. Cache is what the record says otherwise: "warm" or "unknown".
	DropCaches func() error
	Cache      string
	// AlsoSync, if given, is called after the target was synced at the end, inside the measured time: for a target on a
	// drive whose file system does not pass a sync on.
	AlsoSync func() error
	// Via is "direct" (default) or "mount": what the record says about the path taken.
	Via string
	// Program is name and version for the record.
	Program string
	// OnEvent is called with progress, one call at a time. It must not block long.
	OnEvent func(Event)
	// Control stops the job and asks it; nil: nobody does. It is for one job.
	Control *Control

	// Now is the clock (nil: time.Now); tests replace it.
	Now func() time.Time

	tune tuning
}

// tuning are figures that tests make small.
type tuning struct {
	resumableBytes int64         // files from this size on survive an interruption as parts
	batchBytes     int64         // bytes between syncs
	batchInterval  time.Duration // time between syncs
	maxFileBytes   int64         // cut files above; 0: what FAT holds
}

const (
	mib = 1 << 20
	// defaultPartBytes keeps parts a multiple of 1 MiB under FAT's limit.
	defaultPartBytes = 4<<30 - mib
	minPartBytes     = 4096
)

// withDefaults fills in zero values and refuses impossible ones.
func (j Job) withDefaults() (Job, error) {
	if len(j.Sources) == 0 {
		return j, ErrNoSource
	}
	for _, s := range j.Sources[1:] {
		if s.Volume != j.Sources[0].Volume || s.Source != j.Sources[0].Source {
			return j, fmt.Errorf("%w: sources lie on different volumes", ErrNoSource)
		}
	}
	if j.Destination.Source != nil {
		return j, errOnlySource
	}
	if err := rate.CheckWindow(j.Window); err != nil {
		return j, err
	}
	if j.Workers <= 0 {
		j.Workers = min(max(runtime.NumCPU(), 2), 4)
	}
	j.Workers = min(j.Workers, 16)
	if j.PartBytes == 0 {
		j.PartBytes = defaultPartBytes
	}
	if j.PartBytes < minPartBytes || j.PartBytes > fat32.MaxFileSize {
		return j, fmt.Errorf("part size %d: must be between %d and %d bytes", j.PartBytes, minPartBytes, int64(fat32.MaxFileSize))
	}
	if j.Overwrite < OverwriteFail || j.Overwrite > OverwriteReplace {
		return j, fmt.Errorf("overwrite policy %d is unknown", j.Overwrite)
	}
	if j.Now == nil {
		j.Now = time.Now
	}
	if j.Via == "" {
		j.Via = "direct"
	}
	if j.Cache == "" {
		j.Cache = "unknown"
	}
	if j.tune.resumableBytes == 0 {
		j.tune.resumableBytes = 64 * mib
	}
	if j.tune.batchBytes == 0 {
		j.tune.batchBytes = 1024 * mib
	}
	if j.tune.batchInterval == 0 {
		j.tune.batchInterval = 5 * time.Second
	}
	return j, nil
}
