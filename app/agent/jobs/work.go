package jobs

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"coffer/app/logging"
	"coffer/app/protocol"
	"coffer/app/session"
	"coffer/transfer"
	"coffer/transfer/report"
)

// work takes a job from its turn to its end, or to its questions, and then begins the next.
func (q *Queue) work(j *job, ctx context.Context, request protocol.CopyJob) {
	record, asking, err := q.copy(ctx, j, request)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.current = nil
	defer q.advanceLocked()
	if asking && ctx.Err() == nil {
		j.state = protocol.JobAsking
		j.end()
		j.end = nil
		return
	}
	if record != nil {
		j.problems, j.dropped = shorten(record.Problems, record.ProblemsDropped)
		kept := *record
		kept.Problems = nil // they are long, and never part of what is stored or sent
		j.record = &kept
	}
	switch {
	case asking, err != nil && ctx.Err() != nil && session.Explain(err).Code == session.Interrupted:
		q.finishLocked(j, protocol.JobCancelled)
	case err != nil:
		problem := session.Explain(err)
		j.problem = &problem
		q.finishLocked(j, protocol.JobFailed)
	case record.Incomplete():
		q.finishLocked(j, protocol.JobPartly)
	default:
		q.finishLocked(j, protocol.JobDone)
	}
}

// copy looks at what there is to copy and copies it, unless there are questions.
func (q *Queue) copy(ctx context.Context, j *job, request protocol.CopyJob) (record *report.Record, asking bool, err error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			err = &session.Error{What: named(j.id), Err: fmt.Errorf("internal error: %s", logging.Scrub(fmt.Sprint(thrown)))}
		}
	}()
	plan, err := q.host.Plan(ctx, request, q.hands(j))
	if err != nil {
		return nil, false, err
	}
	defer plan.Close()
	found := plan.Found()
	q.mu.Lock()
	j.files, j.bytes = found.Files, found.Bytes
	j.problems, j.dropped = shorten(found.Problems, found.Dropped)
	j.questions = j.ask(&found)
	asking = len(j.questions) > 0
	if !asking {
		j.state = protocol.JobRunning
	}
	q.mu.Unlock()
	if asking {
		return nil, true, nil
	}
	record, err = plan.Run(ctx)
	if err == nil && record == nil {
		err = errors.New("the copy left no record")
	}
	return record, false, err
}

// hands are those by which the queue holds a job.
func (q *Queue) hands(j *job) Hands {
	return Hands{
		Control: j.control,
		Event: func(e transfer.Event) {
			q.mu.Lock()
			defer q.mu.Unlock()
			switch e.Kind {
			case transfer.EventStage, transfer.EventProgress:
				j.event = e
			case transfer.EventFailed:
				if e.Problem == nil {
				} else if len(j.problems) < maxProblems {
					j.problems = append(j.problems, *e.Problem)
				} else {
					j.dropped++
				}
			}
		},
		Remark: func(text string) {
			q.mu.Lock()
			defer q.mu.Unlock()
			if len(j.notes) < maxNotes && !slices.Contains(j.notes, text) { // a job that asked is looked at twice
				j.notes = append(j.notes, text)
			}
		},
	}
}

// shorten keeps the first of many problems.
func shorten(all []report.Problem, dropped int64) ([]report.Problem, int64) {
	keep := min(len(all), maxProblems)
	return slices.Clone(all[:keep]), dropped + int64(len(all)-keep)
}

// request is the job with the answers so far.
func (j *job) request() protocol.CopyJob {
	c := j.copy
	c.Existing, c.Split = j.existing, j.split
	return c
}

// ask are the questions to which nobody has said the answer yet.
func (j *job) ask(found *Found) (questions []protocol.Question) {
	if found.NoRoom { // no answer makes room
		return nil
	}
	add := func(kind, reason string, answers ...string) {
		n := found.Failed[reason]
		if n == 0 {
			return
		}
		question := protocol.Question{Kind: kind, Files: n, Answers: answers}
		for _, p := range found.Problems {
			if p.Reason == reason && len(question.Examples) < maxExamples {
				question.Examples = append(question.Examples, p.Name)
			}
		}
		questions = append(questions, question)
	}
	if j.existing == protocol.ExistingAsk {
		add(protocol.QuestionExists, transfer.ReasonExists, protocol.ExistingReplace, protocol.ExistingNewer, protocol.ExistingSkip)
	}
	if !j.split && !j.skipTooBig {
		add(protocol.QuestionTooBig, transfer.ReasonTooBig, answerSplit, answerSkip)
	}
	return questions
}

// Answers to protocol.QuestionTooBig.
const (
	answerSplit = "split"
	answerSkip  = "skip"
)

// Answer answers the questions of a job. One that is left out cancels it.
func (q *Queue) Answer(a protocol.JobAnswer) (*protocol.Job, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	j, err := q.findLocked(a.ID)
	if err != nil {
		return nil, err
	}
	what := "answer " + named(a.ID)
	if j.state != protocol.JobAsking {
		return nil, &session.Error{What: what, Err: fmt.Errorf("it asks nothing: %s", stateWords[j.state])}
	}
	for kind, answer := range a.Answers {
		at := slices.IndexFunc(j.questions, func(question protocol.Question) bool { return question.Kind == kind })
		if at < 0 {
			return nil, &session.Error{What: what, Err: fmt.Errorf("it does not ask %q", kind), Code: session.Usage}
		}
		if known := j.questions[at].Answers; !slices.Contains(known, answer) {
			return nil, &session.Error{What: what, Err: fmt.Errorf("%q is no answer to %q; those are %q", answer, kind, known), Code: session.Usage}
		}
	}
	for _, question := range j.questions {
		if _, answered := a.Answers[question.Kind]; !answered {
			q.finishLocked(j, protocol.JobCancelled)
			return j.shown(0), nil
		}
	}
	if err := q.beginLocked(j); err != nil {
		return nil, err
	}
	j.questions = nil
	if answer, ok := a.Answers[protocol.QuestionExists]; ok {
		j.existing = answer
	}
	switch a.Answers[protocol.QuestionTooBig] {
	case answerSplit:
		j.split = true
	case answerSkip:
		j.skipTooBig = true
	}
	q.advanceLocked()
	return j.shown(0), nil
}
