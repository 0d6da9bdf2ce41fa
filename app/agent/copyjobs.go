package agent

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"coffer/app/agent/jobs"
	"coffer/app/protocol"
	"coffer/app/session"
	"coffer/transfer/report"
)

// copyRoutes are the requests about copy jobs; see protocol.JobsPrefix. They are no operations themselves: somebody who only
// looks does not use the container, and a job counts by itself.
func (c *core) copyRoutes() []route {
	if c.copies == nil {
		c.copies = jobs.New(copying{c})
	}
	q := c.copies
	number := func(do func(id uint64) (*protocol.Job, error)) func(protocol.JobID) (any, error) {
		return func(one protocol.JobID) (any, error) { return do(one.ID) }
	}
	return []route{
		jobRoute("start", func(job protocol.CopyJob) (any, error) { return q.Start(job) }),
		jobRoute("list", func(struct{}) (any, error) { return q.List(), nil }),
		jobRoute("show", func(s protocol.JobShow) (any, error) { return q.Show(s) }),
		jobRoute("answer", func(a protocol.JobAnswer) (any, error) { return q.Answer(a) }),
		jobRoute("pause", number(q.Pause)),
		jobRoute("resume", number(q.Resume)),
		jobRoute("cancel", number(q.Cancel)),
		jobRoute("forget", func(one protocol.JobID) (any, error) { return struct{}{}, q.Forget(one.ID) }),
	}
}

// jobRoute is a request that takes a document of its own kind.
func jobRoute[Asked any](name string, do func(Asked) (any, error)) route {
	return route{path: protocol.JobsPrefix + name, serve: func(w http.ResponseWriter, r *http.Request) error {
		var asked Asked
		if err := request(r, &asked); err != nil {
			return err
		}
		answer, err := do(asked)
		if err != nil {
			return err
		}
		return reply(w, answer)
	}}
}

// copiesPatience is how long the end of the agent waits for a copy to notice that it is cancelled: its record is to be kept.
const copiesPatience = 1 * time.Second

// waitForCopies runs beside the requests: at the end it lets the last copy end.
func (c *core) waitForCopies(ctx context.Context) {
	<-ctx.Done()
	waiting, cancel := context.WithTimeout(context.Background(), copiesPatience)
	defer cancel()
	c.copies.Wait(waiting)
}

// copying is the agent as its copy jobs see it.
type copying struct{ c *core }

// Begin implements jobs.Host.
func (k copying) Begin() (ctx context.Context, end func(), err error) {
	ctx, ended, err := k.c.begin(context.Background(), "a copy job", 0)
	if err != nil {
		return nil, nil, err
	}
	k.c.countCopies(1)
	return ctx, func() {
		k.c.countCopies(-1)
		ended()
	}, nil
}

// countCopies counts the copy jobs that wait or are under way. The registry knows whether there are any, and no more of them:
// should this process die, the next command says that a copy was interrupted.
func (c *core) countCopies(more int) {
	c.copyingMu.Lock()
	defer c.copyingMu.Unlock()
	before := c.copying > 0
	c.copying += more
	if now := c.copying > 0; now != before {
		if err := c.claim.Update(func(e *Entry) { e.Copying = now }); err != nil {
			c.log("note the copies", err)
		}
	}
}

// Plan implements jobs.Host.
func (k copying) Plan(ctx context.Context, c protocol.CopyJob, h jobs.Hands) (jobs.Planned, error) {
	named, peer := k.c.named(), c.Peer
	if peer == k.c.claim.Entry().ID {
		peer = ""
	}
	from := named
	if peer != "" {
		other, err := unlockedImage(peer)
		if err != nil {
			return nil, err
		}
		from = other
	}
	q := session.CopyRequest{
		Destination: jobPlace(c.Destination, c.ToInside, named), Verify: c.Verify, Resume: c.Resume, Move: c.Move, Split: c.Split,
		Existing: c.Existing, Label: c.Label, Window: time.Duration(c.WindowMillis) * time.Millisecond, Program: cmp.Or(c.Program, "coffer "+k.c.settings.Program), Records: c.Records,
		Control: h.Control, Watch: h.Event,
		Report: func(e session.Event) {
			if e.Kind == session.EventNote || e.Kind == session.EventWarning {
				h.Remark(e.Detail)
			}
		},
	}
	for _, source := range c.Sources {
		q.Sources = append(q.Sources, jobPlace(source, c.FromInside, from))
	}
	if err := session.CheckHostPlaces(q); err != nil {
		return nil, err
	}
	plan, err := k.c.operations.PlanCopy(ctx, q, peer)
	if err != nil {
		return nil, err
	}
	return plannedCopy{plan, k.c}, nil
}

// jobPlace is a path of a job. image is the container it is in, if it is inside.
func jobPlace(path string, inside bool, image string) session.Place {
	if !inside {
		return session.Place{Path: path, Folder: os.IsPathSeparator(path[len(path)-1])}
	}
	return session.Place{Image: image, Path: path, Folder: strings.HasSuffix(path, "/")}
}

// unlockedImage is the image of another container of this user that is unlocked, by its ID.
func unlockedImage(id string) (string, error) {
	r, err := openRegistry(false)
	if err != nil {
		return "", err
	}
	live, err := r.Live()
	if err != nil {
		return "", &session.Error{What: "look for unlocked containers", Err: err}
	}
	for _, e := range live {
		if e.ID == id && e.Ready {
			return e.Image, nil
		}
	}
	return "", &session.Error{What: "copy", Err: fmt.Errorf("the container with the sources: %w", ErrNotUnlocked), Code: session.NoCredential,
		Hint: "unlock it first"}
}

// plannedCopy is a copy of a job that was looked at.
type plannedCopy struct {
	*session.CopyPlan
	core *core
}

// Found implements jobs.Planned.
func (p plannedCopy) Found() jobs.Found {
	problems, dropped := p.Problems(), p.ProblemsDropped()
	return jobs.Found{Files: p.Files + p.Resumed + p.AlreadyThere, Bytes: p.Bytes, Problems: problems, Dropped: dropped, Failed: p.Failed(), NoRoom: p.SpaceErr != nil}
}

// Run implements jobs.Planned.
func (p plannedCopy) Run(ctx context.Context) (*report.Record, error) {
	defer p.core.operations.Private()()
	p.core.rank.set(niceCopying)
	defer p.core.rank.set(niceServing)
	return p.CopyPlan.Run(ctx)
}
