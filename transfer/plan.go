package transfer

import (
	"sync/atomic"
	"time"

	"coffer/transfer/report"
)

// Plan is a job whose selection and target were looked at. It holds the
// selection (about 100 bytes a file) and open folders: Run, or Close if it is
// not run, gives them back.
type Plan struct {
	job     Job
	used    atomic.Bool
	sources []tree
	target  tree
	rules   rules
	folders []folder
	items   []item
	renamed map[int32]string    // items whose target name differs from their source name
	joined  map[int32]*manifest // items that are joined from parts
	hints   hints
	found   *problems
	state   *resumeState

	watch     stopwatch // since the beginning of the scan
	scanTime  time.Duration
	scanUsage report.Usage
	started   time.Time

	// Files, Directories and Bytes are what will be copied. Bytes is payload.
	Files, Directories, Bytes int64
	// Resumed counts files that an interrupted run already copied; AlreadyThere
	// those of a run that reached its end, found by size and time.
	Resumed, AlreadyThere int64
	// NeedBytes is what the target must find, cluster waste and folder growth
	// included; FreeBytes what it has, -1 if unknown.
	NeedBytes, FreeBytes int64
	// Notes are things worth knowing about this selection that stop nothing, as
	// sentences; Remarks are those that are so for every copy to such a target.
	Notes, Remarks []string
	// SpaceErr is not nil when the selection does not fit: Run refuses with it.
	SpaceErr error
}

// folder is one folder of the selection.
type folder struct {
	from, to string // paths in source tree and target tree
	source   int32  // index of the source tree
	parent   int32  // -1: the target's root
	made     bool   // exists at the target
	failed   bool   // could not be made: so could nothing in it
	like     node   // times and bits of the source
}

// item is one file of the selection.
type item struct {
	name     string // in the source folder
	size     int64
	modified int64 // nanoseconds since 1970, at the scan
	place    uint64
	folder   int32
	flags    itemFlags
}

type itemFlags uint8

const (
	flagReplace itemFlags = 1 << iota // a file at the target is to be replaced
	flagCut                           // to be cut into parts
	flagJoin                          // to be joined from parts
	flagResumed                       // already there from an earlier run
	flagDone                          // copied: set while running
	flagDurable                       // named by a durable event: set while running
	flagCompare                       // with flagResumed: looks like ours, but only its content tells
)

// Problems is what is known before copying to be left out or to fail.
func (p *Plan) Problems() []report.Problem { return p.found.list }

// ProblemsDropped counts problems beyond those in Problems.
func (p *Plan) ProblemsDropped() int64 { return p.found.dropped }

// Skipped and Failed count problems by reason code.
func (p *Plan) Skipped() map[string]int64 { return p.found.skipped }

// Failed counts what is known to fail by reason code.
func (p *Plan) Failed() map[string]int64 { return p.found.failed }

// Close gives back what a plan that is not run holds open.
func (p *Plan) Close() {
	if p.used.CompareAndSwap(false, true) {
		p.release()
	}
}

func (p *Plan) release() {
	for _, t := range p.sources {
		t.close()
	}
	if p.target != nil {
		p.target.close()
	}
}

// sourcePath and targetPath are the paths of an item in its trees.
func (p *Plan) sourcePath(i int32) string {
	return join(p.folders[p.items[i].folder].from, p.items[i].name)
}

func (p *Plan) targetPath(i int32) string {
	return join(p.folders[p.items[i].folder].to, p.targetName(i))
}

func (p *Plan) targetName(i int32) string {
	if as, ok := p.renamed[i]; ok {
		return as
	}
	return p.items[i].name
}

func (p *Plan) sourceTree(i int32) tree { return p.sources[p.folders[p.items[i].folder].source] }
