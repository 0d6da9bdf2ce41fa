package transfer

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"coffer/transfer/rate"
	"coffer/transfer/report"
)

// Run copies what was planned. It returns a record in every case but a plan
// that cannot be run; the error is nil when the run reached its end, also if
// some files failed (see Record.Incomplete), and otherwise says what stopped it:
// the context's error when cancelled, ErrNoSpace or syscall.ENOSPC when the
// target is full. When Run returns nothing of it is running any more, and no
// short file stands under a final name.
func Run(ctx context.Context, p *Plan) (*report.Record, error) {
	if !p.used.CompareAndSwap(false, true) {
		return nil, fmt.Errorf("copy: %w", ErrPlanUsed)
	}
	defer p.release()
	r := &runner{plan: p, rec: newRecord(p)}
	err := r.run(ctx)
	r.fill(err)
	if err != nil {
		return r.rec, fmt.Errorf("copy: %w", err)
	}
	return r.rec, nil
}

// runner takes an engine through its stages.
type runner struct {
	plan *Plan
	rec  *report.Record
	e    *engine

	watch stopwatch // since the beginning of the run
	usage report.Times
}

func newRecord(p *Plan) *report.Record {
	j := &p.job
	return &report.Record{
		Schema: report.SchemaVersion, ID: report.NewID(p.started), Label: j.Label, Start: p.started.UTC(), Path: j.Via,
		Source: endpointOf(j.Sources[0]), Destination: endpointOf(j.Destination), Machine: report.ReadMachine(), Program: j.Program, Cache: j.Cache,
		Skipped: map[string]int64{}, Failed: map[string]int64{},
		Options: report.Options{Verify: j.Verify, Resume: j.Resume, Move: j.Move, Split: j.Split, Workers: j.Workers},
	}
}

// endpointOf completes what the caller said about a place.
func endpointOf(p Place) report.Endpoint {
	e := p.Endpoint
	if p.Source != nil {
		return e
	}
	if p.Volume != nil {
		if e.Kind == "" {
			e.Kind = "container"
		}
		g := p.Volume.Geometry()
		if e.FileSystem == "" {
			e.FileSystem = g.Type.String()
		}
		if e.ClusterBytes == 0 {
			e.ClusterBytes = int64(g.ClusterSize)
		}
		return e
	}
	host := report.HostEndpoint(p.Path)
	for _, f := range []struct{ have, found *string }{{&e.Kind, &host.Kind}, {&e.FileSystem, &host.FileSystem}, {&e.Device, &host.Device}, {&e.WriteCache, &host.WriteCache}} {
		if *f.have == "" {
			*f.have = *f.found
		}
	}
	if e.ClusterBytes == 0 {
		e.ClusterBytes = host.ClusterBytes
	}
	return e
}

// stage begins a stage; the returned function ends it and books its time.
func (r *runner) stage(name string, seconds *float64, usage *report.Usage) func() {
	watch, times := startWatch(r.plan.job.Control), report.ProcessTimes()
	r.e.tell.enter(name)
	return func() {
		d := watch.read()
		*seconds += d.Seconds()
		*usage = report.UsageBetween(times, report.ProcessTimes(), d)
	}
}

func (r *runner) run(ctx context.Context) error {
	p := r.plan
	control := p.job.Control
	control.wait(ctx)
	control.enter()
	defer control.leave()
	r.watch, r.usage = startWatch(control), report.ProcessTimes()
	recorder, err := rate.New(p.job.Window, control.clock(p.job.Now))
	if err != nil {
		return err
	}
	control.watch(recorder)
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.e = &engine{plan: p, job: &p.job, ctx: inner, cancel: cancel, pool: newPool(control), rate: recorder, tell: newTeller(p, recorder)}
	r.e.batch = newBatch(r.e)
	defer r.e.tell.stop()
	if p.SpaceErr != nil {
		return p.SpaceErr
	}
	if p.job.DropCaches != nil {
		if err := p.job.DropCaches(); err != nil {
			return fmt.Errorf("drop caches: %w", err)
		}
		r.rec.Cache = "dropped"
	}
	if err := p.state.begin(); err != nil {
		return err
	}
	// In a volume nothing is on the disk until it is flushed, in any order: what
	// says that the new folder is ours must be there before the folder.
	if v, ok := p.target.(*volumeTree); ok && p.state.named && !p.state.idle {
		if err := v.sync(); err != nil {
			return fmt.Errorf("sync: %w", err)
		}
	}
	if err := r.copyAndSync(ctx); err != nil {
		return err
	}
	if p.job.Verify {
		_ = control.pass(inner) // an interruption is found there
		end := r.stage(StageVerify, &r.rec.Seconds.Verify, &r.rec.CPU.Verify)
		r.rec.Verified, err = r.e.verifyAll()
		end()
		if err != nil {
			return r.why(ctx, err)
		}
	}
	if p.job.Move {
		r.e.tell.enter(StageMove)
		r.rec.Moved, err = r.e.moveAll()
	}
	return r.why(ctx, err)
}

// why prefers the caller's reason to the interruption it caused.
func (r *runner) why(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case isCancel(err) && r.e.fatalErr() != nil:
		return r.e.fatalErr()
	case isCancel(err) && ctx.Err() != nil:
		return context.Cause(ctx)
	default:
		return err
	}
}

// copyAndSync is the measured part.
func (r *runner) copyAndSync(ctx context.Context) error {
	e := r.e
	meter := newPhaseMeter(e.job)
	e.clock = &meter.clock
	end := r.stage(StageCopy, &r.rec.Seconds.Copy, &r.rec.CPU.Copy)
	e.rate.Start()
	go e.batch.run()
	e.during(doingMeta, e.makeFolders)
	e.copyAll()
	e.batch.stop()
	err := e.fatalErr()
	if err == nil && e.ctx.Err() != nil {
		err = errInterrupted
	}
	if err == nil {
		e.during(doingMeta, e.dressFolders)
	}
	if err == nil {
		err = e.job.Control.pass(e.ctx)
	}
	e.rate.CopyDone()
	end()
	if err == nil {
		end = r.stage(StageSync, &r.rec.Seconds.Sync, &r.rec.CPU.Sync)
		// The state goes last: without it, what stands at the target counts as durable.
		if err = e.batch.settle(); err == nil && e.job.AlsoSync != nil {
			e.during(doingSync, func() { err = e.job.AlsoSync() })
		}
		if err == nil {
			err = r.endState()
		}
		end()
	}
	e.rate.End()
	r.rec.Phases = meter.phases(r.rec.Seconds.Copy + r.rec.Seconds.Sync)
	if err != nil {
		if left := e.batch.leave(); left != nil && !isNoSpace(left) && e.plan.brokenTarget() == nil {
			err = errors.Join(r.why(ctx, err), left)
		}
		return r.why(ctx, err)
	}
	return nil
}

// endState removes the state of a run that reached its end. A run that is resumed
// until all is well keeps it while files fail: it also tells where copies land.
func (r *runner) endState() error {
	r.e.tell.mu.Lock()
	failed := report.Sum(r.plan.found.failed)
	r.e.tell.mu.Unlock()
	if r.plan.job.Resume && failed > 0 {
		if err := r.e.batch.leave(); !isNoSpace(err) {
			return err
		}
		return r.plan.state.keep()
	}
	if err := r.plan.state.remove(); err != nil {
		return err
	}
	// The volume may stay open for days: a kill before it commits would bring the state back, which then nobody removes. What was
	// copied is durable already, so a failure here is none of the copy.
	if v, ok := r.plan.target.(*volumeTree); ok && !r.plan.state.idle {
		_ = v.sync()
	}
	return nil
}

// fill completes the record.
func (r *runner) fill(err error) {
	p, rec := r.plan, r.rec
	rec.Seconds.Scan, rec.CPU.Scan = p.scanTime.Seconds(), p.scanUsage
	if r.e != nil {
		for i := range p.items {
			if p.items[i].flags&(flagDone|flagResumed) == flagDone {
				rec.Files++
			}
		}
		for i := range p.folders {
			if f := &p.folders[i]; f.to != "" && f.made && !f.failed {
				rec.Directories++
			}
		}
		rec.FailedBytes = r.e.wasted.Load()
		rec.Bytes = r.e.rate.Bytes() - rec.FailedBytes
		rec.Rates = r.e.rate.Summary(rec.Files)
	}
	rec.Resumed = p.Resumed
	if r.e != nil {
		rec.Resumed -= r.e.recopied.Load()
	}
	maps.Copy(rec.Skipped, p.found.skipped)
	maps.Copy(rec.Failed, p.found.failed)
	rec.Problems, rec.ProblemsDropped = p.found.list, p.found.dropped
	d := r.watch.read()
	rec.PausedSeconds = p.watch.stoodStill().Seconds()
	rec.Seconds.Total = d.Seconds() + p.scanTime.Seconds()
	rec.CPU.Total = report.UsageBetween(r.usage, report.ProcessTimes(), d)
	rec.CPU.Total.UserSeconds += p.scanUsage.UserSeconds
	rec.CPU.Total.SystemSeconds += p.scanUsage.SystemSeconds
	if rec.Seconds.Total > 0 {
		rec.CPU.Total.Percent = 100 * (rec.CPU.Total.UserSeconds + rec.CPU.Total.SystemSeconds) / rec.Seconds.Total
	}
	rec.Machine.Finish()
	rec.End = p.job.Now().UTC()
	switch {
	case err != nil && isCancel(err):
		rec.Outcome = report.Cancelled
	case err != nil:
		rec.Outcome = report.Failed
	case rec.Incomplete():
		rec.Outcome = report.Partial
	default:
		rec.Outcome = report.Done
	}
}
