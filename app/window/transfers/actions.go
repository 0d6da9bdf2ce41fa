package transfers

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"coffer/app/protocol"
	"coffer/transfer/report"
)

// Actions are what can be done with a job.
type Actions struct {
	Answer, Pause, Resume, Cancel, Retry, Remove bool
}

// ActionsOf says what can be done with a job as it is.
func ActionsOf(j Job) Actions {
	switch j.State {
	case protocol.JobWaiting:
		return Actions{Cancel: true}
	case protocol.JobAsking:
		return Actions{Answer: true, Cancel: true}
	case protocol.JobPlanning, protocol.JobRunning:
		return Actions{Pause: true, Cancel: true}
	case protocol.JobPaused:
		return Actions{Resume: true, Cancel: true}
	}
	return Actions{Remove: j.State.Ended(), Retry: retries(j)}
}

// retries says whether there is something to try again.
func retries(j Job) bool {
	switch j.State {
	case protocol.JobFailed, protocol.JobCancelled:
		return len(j.Copy.Sources) > 0
	case protocol.JobPartly:
		return len(Failed(j)) > 0 || j.Dropped > 0
	}
	return false
}

// Failed are the problems that a new try may help against: what was left out will be again.
func Failed(j Job) []report.Problem {
	return slices.DeleteFunc(slices.Clone(j.Problems), func(p report.Problem) bool { return !p.Failed })
}

// Retry is the job that copies what of j did not arrive: of its sources, those in which something failed. Files of them that
// are at the target already are recognised by size and time, and left alone.
func Retry(j Job) protocol.CopyJob {
	again := j.Copy
	again.Resume = true
	failed := Failed(j)
	if j.State != protocol.JobPartly || len(failed) == 0 || j.Dropped > 0 {
		again.Sources = slices.Clone(j.Copy.Sources)
		return again // what failed is not known by name
	}
	again.Sources = nil
	for _, source := range j.Copy.Sources {
		if slices.ContainsFunc(failed, func(p report.Problem) bool { return holds(source, j.Copy.FromInside, p.Name) }) {
			again.Sources = append(again.Sources, source)
		}
	}
	if len(again.Sources) == 0 { // names that are not as expected: rather too much
		again.Sources = slices.Clone(j.Copy.Sources)
	}
	return again
}

// holds says whether the file that a problem names is source or in it. Problems name files from the folder on that holds the
// source; the root of a container stands for what is in it.
func holds(source string, inside bool, name string) bool {
	own := filepath.Base(source)
	if inside {
		if source == "/" {
			return true
		}
		own = path.Base(source)
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(filepath.ToSlash(name), "/"), "/")
	return first == own || name == source || strings.HasPrefix(name, strings.TrimSuffix(source, "/")+"/")
}
