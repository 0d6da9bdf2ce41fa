package transfer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"coffer/fat32"
	"coffer/transfer/report"
)

// Reason codes, as counted in records. They are stable.
const (
	ReasonLink          = "link"              // symbolic link: listed, not followed
	ReasonDevice        = "device"            // device node
	ReasonFIFO          = "fifo"              // named pipe
	ReasonSocket        = "socket"            // socket
	ReasonSpecial       = "special"           // anything else that is neither file nor folder
	ReasonLeftover      = "leftover"          // part or state file of an interrupted copy
	ReasonUnreadable    = "unreadable"        // permission denied, or an error while reading
	ReasonVanished      = "vanished"          // gone between the scan and the copy
	ReasonChanged       = "changed"           // size or time changed while it was read
	ReasonTooBig        = "too-big"           // over 4 GiB - 1 and no split asked for
	ReasonName          = "illegal-name"      // cannot be named so at the target
	ReasonNameLong      = "name-too-long"     // too long for the target
	ReasonCollision     = "name-collision"    // equals another selected name but for case or Unicode form
	ReasonExists        = "exists"            // the target exists and must not be replaced
	ReasonKept          = report.ReasonPolicy // the target exists and is kept, as asked
	ReasonThere         = report.ReasonThere  // with resume: an earlier run copied it already
	ReasonType          = "type-conflict"     // a folder stands where a file should go, or the other way round
	ReasonTargetLink    = "target-link"       // a link stands in the target's way: not followed
	ReasonDirectoryFull = "directory-full"    // 65,534 slots per folder
	ReasonFolder        = "folder-failed"     // its folder could not be made
	ReasonWrite         = "write-failed"      // the target refused
	ReasonBusy          = "busy"              // open for writing elsewhere
	ReasonMismatch      = "verify-mismatch"   // re-read bytes differ
	ReasonVerifyRead    = "verify-unreadable"
	ReasonSplitDamaged  = "split-damaged" // parts do not fit their manifest
	ReasonMove          = "move-kept"     // copied, but the source could not be deleted
)

// Errors of planning and running. Errors of the host and of fat32 pass through wrapped.
var (
	ErrNoSpace     = errors.New("not enough space at the target") // also errors.Is(err, syscall.ENOSPC)
	ErrInside      = errors.New("the target lies inside the source")
	ErrSame        = errors.New("source and target are the same")
	ErrTarget      = errors.New("the target cannot take this selection")
	ErrNoSource    = errors.New("nothing to copy")
	ErrPlanUsed    = errors.New("a plan runs once")
	errInterrupted = errors.New("interrupted")
)

// SpaceError says how much does not fit. It is ErrNoSpace and syscall.ENOSPC.
type SpaceError struct{ NeedBytes, FreeBytes int64 }

func (e *SpaceError) Error() string {
	return fmt.Sprintf("not enough space at the target: %d bytes needed with cluster and folder overhead, %d free", e.NeedBytes, e.FreeBytes)
}

// Is makes the error recognisable by any of the usual values.
func (e *SpaceError) Is(target error) bool {
	return target == ErrNoSpace || target == syscall.ENOSPC || target == fat32.ErrNoSpace
}

// fileError is a failure that concerns one file; the rest goes on.
type fileError struct {
	reason string
	err    error
}

func (e *fileError) Error() string { return e.reason + ": " + e.err.Error() }
func (e *fileError) Unwrap() error { return e.err }

func fileFailed(reason string, err error) error { return &fileError{reason, err} }

// isNoSpace tells whether the target is full.
func isNoSpace(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, fat32.ErrNoSpace)
}

// isCancel tells whether err comes from the caller's context.
func isCancel(err error) bool {
	return errors.Is(err, errInterrupted) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// readReason classifies a failure to open or read a source.
func readReason(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ReasonVanished
	case errors.Is(err, fat32.ErrBusy):
		return ReasonBusy
	case errors.Is(err, syscall.ELOOP):
		return ReasonLink
	default:
		return ReasonUnreadable
	}
}

// writeReason classifies a failure to create or write a target.
func writeReason(err error) string {
	switch {
	case errors.Is(err, errTargetLink):
		return ReasonTargetLink
	case errors.Is(err, fat32.ErrDirFull):
		return ReasonDirectoryFull
	case errors.Is(err, fat32.ErrBusy):
		return ReasonBusy
	case errors.Is(err, fat32.ErrTooBig), errors.Is(err, syscall.EFBIG):
		return ReasonTooBig
	case errors.Is(err, fs.ErrExist):
		return ReasonExists
	case errors.Is(err, fat32.ErrNameTooLong), errors.Is(err, syscall.ENAMETOOLONG):
		return ReasonNameLong
	case errors.Is(err, fat32.ErrName), errors.Is(err, syscall.EILSEQ):
		return ReasonName
	default:
		return ReasonWrite
	}
}

// maxProblems bounds how many problems are kept by name; all are counted.
const maxProblems = 20_000

// problems collects what failed or was left out. Not safe for concurrent use.
type problems struct {
	list    []report.Problem
	dropped int64
	skipped map[string]int64
	failed  map[string]int64
}

func newProblems() *problems {
	return &problems{skipped: map[string]int64{}, failed: map[string]int64{}}
}

func (p *problems) add(x report.Problem) {
	if x.Failed {
		p.failed[x.Reason]++
	} else {
		p.skipped[x.Reason]++
	}
	if len(p.list) < maxProblems {
		p.list = append(p.list, x)
	} else {
		p.dropped++
	}
}
