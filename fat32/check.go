package fat32

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"
)

// CheckOptions says what Check does beside looking.
type CheckOptions struct {
	// Repair mends what is found. Without it not a byte is written.
	Repair bool
	// KeepLost turns lost chains into files FSCK0000.REC, FSCK0001.REC, ... in
	// the root directory (folders among them into folders), instead of freeing
	// their clusters. Where the root directory has no room for them they stay as
	// they are. Without Repair only the finding says so.
	KeepLost bool
	// Progress, if not nil, is called now and then from the calling goroutine:
	// done and total are clusters or directories, total 0 if unknown.
	Progress func(stage string, done, total int64)
	// Now gives the time put on recovered files; nil: time.Now.
	Now func() time.Time
	// Location is the zone of the times in the volume; nil: time.Local.
	Location *time.Location
}

// Finding is one thing that was wrong.
type Finding struct {
	// Code is a stable short name of the kind of damage: see the Code constants.
	Code string `json:"code"`
	// Path is where, from the root; empty for the volume as a whole.
	// It may hold any character a damaged name may hold: escape it for display.
	Path string `json:"path,omitempty"`
	// Detail says what is wrong and what repairing does about it.
	Detail string `json:"detail"`
	// Fixed: it has been mended.
	Fixed bool `json:"fixed"`
}

// Codes of findings.
const (
	CodeBootSector    = "boot-sector"      // boot sector unusable or not plausible, backup is
	CodeBackupBoot    = "backup-boot"      // backup boot sector missing or different
	CodeBootLabel     = "boot-label"       // label in the boot sector is not the one in the root directory
	CodeFSInfo        = "fsinfo"           // FSInfo sector without its signatures or with an impossible hint
	CodeFreeCount     = "free-count"       // FSInfo's free count is wrong or unknown
	CodeDirty         = "dirty"            // volume was not closed
	CodeIOErrorMark   = "io-error-mark"    // volume is marked as having had disk errors
	CodeFATHead       = "fat-head"         // FAT entries 0 and 1
	CodeFATDiffer     = "fat-copies"       // FAT copies differ
	CodeChainLoop     = "chain-loop"       // chain runs into itself
	CodeCrossLink     = "cross-link"       // clusters used twice
	CodeTwoNames      = "two-names"        // one file under two names after a cut during rename
	CodeChainShort    = "chain-short"      // fewer clusters than the size needs
	CodeChainLong     = "chain-long"       // more clusters than the size needs
	CodeChainFree     = "chain-free"       // chain runs into a cluster marked free
	CodeChainBad      = "chain-bad"        // chain runs into a cluster marked bad
	CodeChainRange    = "chain-range"      // chain runs out of the volume
	CodeStart         = "start-cluster"    // first cluster impossible
	CodeZeroSize      = "zero-size"        // size 0 with a chain
	CodeLostChain     = "lost-chain"       // clusters in use that nothing refers to
	CodeDirSize       = "dir-size"         // directory with a size
	CodeDirStart      = "dir-start"        // directory without a usable first cluster
	CodeDirCycle      = "dir-cycle"        // directory inside itself, or reachable twice
	CodeDirTooBig     = "dir-too-big"      // more than 65,536 slots
	CodeDirTooDeep    = "dir-too-deep"     // nested too deeply to be followed
	CodeDirDots       = "dir-dots"         // . or .. missing or wrong
	CodeNotDir        = "not-a-directory"  // marked as a directory, holds something else
	CodeAfterEnd      = "after-end"        // entries after the end mark
	CodeAttr          = "attributes"       // impossible attribute bits
	CodeBadShortName  = "short-name"       // illegal 8.3 name
	CodeBadLongName   = "long-name"        // illegal long name
	CodeDuplicateName = "duplicate-name"   // two entries under one name
	CodeLongNameParts = "long-name-parts"  // parts of a long name that belong to nothing
	CodeLongNameField = "long-name-fields" // reserved fields of a long-name slot
	CodeLabel         = "label"            // volume label entry misplaced, repeated or illegal
	CodeGarbage       = "garbage"          // slot that holds no entry at all
	CodeTooDamaged    = "too-damaged"      // the look was cut short
)

// CheckReport is what Check found.
type CheckReport struct {
	Findings []Finding // in order of discovery
	// Omitted counts findings beyond the first 10,000, which are not kept.
	Omitted int
	// Files and Dirs are counted as they are after repair; the root is no Dir.
	Files, Dirs int64
	// Clusters by use, after repair. Lost ones are counted as they were found.
	ClustersUsed, ClustersFree, ClustersBad, ClustersLost uint32
	// Dirty: the volume had not been closed.
	Dirty bool
	// Repaired: at least one finding has been mended.
	Repaired bool
}

// Clean reports whether nothing was found.
func (r *CheckReport) Clean() bool { return len(r.Findings) == 0 && r.Omitted == 0 }

// Traces is what findings are signs of.
type Traces string

const (
	TracesDamage      Traces = ""            // damage, or nothing
	TracesNotClosed   Traces = "not-closed"  // who had the volume open ended before it was closed, and left everything in order
	TracesInterrupted Traces = "interrupted" // it ended amid its work; opening for writing clears up what that leaves
)

// Traces says it. What an interruption leaves is what Open mends without a question; anything else beside it is damage.
func (r *CheckReport) Traces() Traces {
	traces := TracesNotClosed
	for _, f := range r.Findings {
		switch f.Code {
		case CodeDirty, CodeFreeCount:
		case CodeFATDiffer, CodeLostChain, CodeChainLong, CodeZeroSize, CodeTwoNames, CodeLongNameParts, CodeDirDots, CodeDirCycle, CodeAfterEnd:
			traces = TracesInterrupted
		default:
			return TracesDamage
		}
	}
	if r.Omitted > 0 || !slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Code == CodeDirty }) {
		return TracesDamage
	}
	return traces
}

const (
	maxFindings = 10_000
	// maxCheckDepth bounds how deep directories are followed. No path of any
	// system reaches it; a crafted chain of directories would.
	maxCheckDepth = 4096
	// maxPathDepth bounds the paths in findings.
	maxPathDepth = 128
)

// checker is one run of Check.
type checker struct {
	ctx    context.Context
	o      CheckOptions
	io     *checkIO
	g      Geometry
	boot   *bootSector
	fat    *checkFAT
	report *CheckReport

	used  bitmap // clusters claimed by a directory or file
	bad   uint32
	free  uint32
	nodes []dirNode // every directory reached; [0] is the root
	// late are directories that have entries after their end mark.
	late []int32
	// conflicts are files whose first cluster had an owner already.
	conflicts []entryRef
	// ends are clusters whose chains will be cut behind them once no conflict
	// needs the rest any more.
	ends []uint32
	// incomplete: something was not looked at, so lost clusters may not be freed.
	incomplete bool
	label      labelState
	nextAlloc  uint32
	ioMark     bool             // the boot sector's mark of disk errors was set
	byStart    map[uint32]int32 // node by first cluster, built when needed
	notDir     bitmap           // first clusters judged to hold no directory
	// budget bounds work that damage could otherwise make quadratic: steps along
	// chains that are looked at but not claimed.
	budget      int64
	freeLeft    int64 // free clusters left for copies, -1: not counted yet
	rootChanged bool  // the root directory on the device is newer than a copy
	lostFrom    int32 // nodes from here on are lost directories that became folders; 0: none yet
	memoNode    int32 // last path made
	memoPath    string
	steps       int
}

// dirNode is one directory of the tree.
type dirNode struct {
	parent int32  // index of the parent's node, -1 for the root
	start  uint32 // first cluster, 0 for a fixed root
	slot   uint32 // of its entry in the parent
	depth  int32
	gone   bool // deleted again
}

// entryRef names a directory entry.
type entryRef struct {
	node  int32
	slot  uint32
	start uint32
}

// Check examines the volume on dev and, if asked, mends it. It must have the
// device for itself: no mounted Volume, no other writer. Nothing on the device
// is trusted; memory is bounded by two bits per cluster plus about 24 bytes
// per directory plus a fixed amount, time by the size of the volume.
//
// The findings of a look without Repair are those repairing would mend. Repair
// writes in an order that a power cut can interrupt: running it again finishes
// it, and no file is worse off than before. After a complete repair a second
// Check finds nothing, except for what Findings with Fixed == false say.
//
// The error is ErrNotFAT if there is no volume, ErrCorrupt if it is beyond
// understanding, ctx's error, or that of the device; the report then holds what
// was found until then.
func Check(ctx context.Context, dev Device, o CheckOptions) (*CheckReport, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Location == nil {
		o.Location = time.Local
	}
	if o.Progress == nil {
		o.Progress = func(string, int64, int64) {}
	}
	c := &checker{ctx: ctx, o: o, io: newCheckIO(dev, o.Repair), report: &CheckReport{}}
	err := c.run()
	if err != nil {
		return c.report, fmt.Errorf("check: %w", err)
	}
	return c.report, nil
}

func (c *checker) run() error {
	if err := c.openBoot(); err != nil {
		return err
	}
	c.used = newBitmap(c.g.limit())
	c.nextAlloc = firstCluster
	c.budget = 16*int64(c.g.ClusterCount) + 1<<20
	c.freeLeft, c.memoNode = -1, -1
	for _, phase := range []func() error{
		c.checkFATCopies, c.checkFATHead, c.checkTree, c.checkLate, c.checkFiles,
		c.checkConflicts, c.cutEnds, c.checkLost, c.checkLabels, c.finish,
	} {
		if err := phase(); err != nil {
			if err == errOverlayFull {
				c.found(CodeTooDamaged, "", "so much is damaged that the look ended here; repair goes on to the end", false)
				return nil
			}
			return err
		}
	}
	return nil
}

// found records a finding that this run mends if it repairs.
func (c *checker) found(code, path, detail string, fixable bool) {
	fixed := fixable && c.o.Repair
	c.report.Repaired = c.report.Repaired || fixed
	if len(c.report.Findings) >= maxFindings {
		c.report.Omitted++
		return
	}
	c.report.Findings = append(c.report.Findings, Finding{Code: code, Path: path, Detail: detail, Fixed: fixed})
}

// fix records a finding that is mended if asked.
func (c *checker) fix(code, path, format string, a ...any) {
	c.found(code, path, fmt.Sprintf(format, a...), true)
}

// tick is called in every long loop: cancellation and progress.
func (c *checker) tick(stage string, done, total int64) error {
	c.steps++
	if c.steps&1023 != 0 {
		return nil
	}
	c.o.Progress(stage, done, total)
	return c.ctx.Err()
}

// afford takes one step from the budget.
func (c *checker) afford() bool {
	c.budget--
	return c.budget >= 0
}

// bitmap is a set of cluster numbers.
type bitmap []uint64

func newBitmap(limit uint32) bitmap { return make(bitmap, (int64(limit)+63)/64) }

func (b bitmap) has(i uint32) bool { return b[i/64]&(1<<(i%64)) != 0 }
func (b bitmap) set(i uint32)      { b[i/64] |= 1 << (i % 64) }

// clustersFor returns how many clusters a file of size bytes takes.
func (g *Geometry) clustersFor(size uint32) uint32 {
	return uint32((int64(size) + int64(g.ClusterSize) - 1) / int64(g.ClusterSize))
}

// sizeOf returns the length of n clusters, at most what a file can have.
func (g *Geometry) sizeOf(n uint32) uint32 {
	return uint32(min(int64(n)*int64(g.ClusterSize), math.MaxUint32))
}
