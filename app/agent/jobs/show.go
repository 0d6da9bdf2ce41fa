package jobs

import (
	"slices"

	"coffer/app/protocol"
	"coffer/transfer"
	"coffer/transfer/report"
)

// shown is a job as a client sees it, with its windows from number from on.
func (j *job) shown(from int) *protocol.Job {
	s := &protocol.Job{
		ID: j.id, State: j.state, Copy: j.copy, Queued: j.queued, Started: j.started, Ended: j.ended,
		Questions: slices.Clone(j.questions), Notes: slices.Clone(j.notes), Problems: slices.Clone(j.problems), Dropped: j.dropped,
		Problem: j.problem, Record: j.record,
	}
	paused := j.control.Paused() && (s.State == protocol.JobPlanning || s.State == protocol.JobRunning)
	if paused {
		s.State = protocol.JobPaused
	}
	j.showHowFar(s)
	j.showRates(s, from)
	if paused {
		s.Current = 0
	}
	return s
}

// showHowFar fills in what is done of what is planned.
func (j *job) showHowFar(s *protocol.Job) {
	e := j.event
	s.Stage = e.Stage
	s.Files, s.Bytes, s.TotalFiles, s.TotalBytes = e.Files, e.Bytes, e.TotalFiles, e.TotalBytes
	switch {
	case e.Stage == transfer.StageScan && j.state == protocol.JobPlanning: // what was found so far
		s.Files, s.Bytes, s.TotalFiles, s.TotalBytes = 0, 0, e.Files, e.Bytes
	case e.Stage == transfer.StageScan:
		s.Files, s.Bytes, s.TotalFiles, s.TotalBytes = 0, 0, j.files, j.bytes
	}
	if j.state.Ended() {
		s.Stage = ""
		if r := j.record; r != nil {
			s.Files, s.Bytes = r.Files+r.Resumed+r.Skipped[report.ReasonThere], r.Bytes
		}
	}
}

// showRates fills in how fast it is: of a job that has ended, what its record says.
func (j *job) showRates(s *protocol.Job, from int) {
	if r := j.record; r != nil {
		s.Average, s.Maximum, s.Minimum, s.WindowSeconds = r.Rates.Average, r.Rates.Maximum, r.Rates.Minimum, r.Rates.WindowSeconds
		s.Windows = slices.Clone(r.Rates.Series[min(from, len(r.Rates.Series)):])
		return
	}
	p := j.control.Rates(from)
	s.Current, s.Average, s.Maximum, s.Minimum = p.Current, p.Average, p.Maximum, p.Minimum
	s.Windows, s.WindowSeconds = p.Series, p.Window.Seconds()
	if j.state.Ended() {
		return
	}
	s.RemainingSeconds = j.event.Remaining.Seconds()
	switch {
	case s.Stage == transfer.StageVerify:
		s.Current = j.event.Rate
	case s.RemainingSeconds > 0 && j.copy.Verify && p.Average > 0: // everything is read once more, about as fast
		s.RemainingSeconds += float64(s.TotalBytes) / p.Average
	}
}
