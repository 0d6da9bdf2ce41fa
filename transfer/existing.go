package transfer

import (
	"fmt"
	"time"
)

// there takes an item whose copy seems to be at the target: named says that the
// state calls it durable. It needs no space, so that a resumed copy does not fail
// for want of room for what it has already. See docs/adr-0002-resume.md.
func (s *scanner) there(i int32, named bool) {
	it := &s.plan.items[i]
	it.flags |= flagResumed
	switch {
	case named:
	case s.plan.state.found || s.job.Move: // half a batch of a killed run, or a source that is to be deleted
		it.flags |= flagCompare
	default:
		s.plan.AlreadyThere++
		s.plan.found.skipped[ReasonThere]++
		return
	}
	s.plan.Resumed++
}

// alike tells whether a copy has size and time of its source, as far as FAT
// keeps times.
func alike(source, copied node) bool {
	d := source.modified.Sub(copied.modified)
	return source.size == copied.size && d <= 2*time.Second && d >= -2*time.Second
}

// mayReplace applies the overwrite policy to a file that exists at the target.
func (s *scanner) mayReplace(from string, n, there node, it *item) bool {
	if there.kind != kindFile {
		s.fail(from, conflict(there), fmt.Errorf("%q at the target is not a file", there.name))
		return false
	}
	switch {
	case s.job.Resume && alike(n, there): // ours, of the interrupted run
	case s.job.Overwrite == OverwriteReplace:
	case s.job.Overwrite == OverwriteNewer && n.modified.Sub(there.modified) > 2*time.Second:
	case s.job.Overwrite == OverwriteFail:
		s.fail(from, ReasonExists, fmt.Errorf("%q exists at the target: %d bytes of %s; the source has %d bytes of %s", there.name,
			there.size, there.modified.UTC().Format(time.DateTime), n.size, n.modified.UTC().Format(time.DateTime)))
		return false
	default:
		s.skip(from, ReasonKept, "exists at the target and is kept, as asked")
		return false
	}
	if err := mayReplaceNow(s.plan.target, join(s.plan.folders[it.folder].to, there.name)); err != nil { // known now, it costs no copy
		s.fail(from, writeReason(err), err)
		return false
	}
	it.flags |= flagReplace
	return true
}
