package transfer

import (
	"errors"
	"fmt"

	"coffer/transfer/report"
)

// moveAll deletes the sources of everything that was copied, is durable and, if
// asked, verified. A source that changed since it was read stays.
func (e *engine) moveAll() (moved int64, err error) {
	p := e.plan
	for _, i := range e.moving {
		if e.job.Control.pass(e.ctx) != nil || e.ctx.Err() != nil {
			return moved, errInterrupted
		}
		if err := e.removeSource(i); err != nil {
			e.tell.failed(report.Problem{Name: p.sourcePath(i), Reason: ReasonMove, Detail: err.Error(), Failed: true})
			continue
		}
		moved++
		e.tell.fileDone()
	}
	for k := len(p.folders) - 1; k >= 0; k-- { // children come behind their parents
		f := &p.folders[k]
		if f.from == "" || f.failed || f.like.kind != kindFolder || f.parent < 0 && f.to == "" {
			continue
		}
		// Not empty: something was left out and is listed already.
		left, err := p.sources[f.source].list(f.from)
		if err == nil && len(left) == 0 {
			err = p.sources[f.source].remove(f.from)
		}
		if err != nil {
			e.tell.failed(report.Problem{Name: f.from, Reason: ReasonMove, Detail: err.Error(), Failed: true})
		}
	}
	var errs []error
	for _, t := range p.sources {
		errs = append(errs, t.sync())
	}
	if err := errors.Join(errs...); err != nil {
		return moved, fmt.Errorf("sync of the sources: %w", err)
	}
	return moved, nil
}

// removeSource deletes the source of one item, if it is still what was copied.
func (e *engine) removeSource(i int32) error {
	p := e.plan
	t, it := p.sourceTree(i), &p.items[i]
	if m := p.joined[i]; m != nil {
		dir := p.folders[it.folder].from
		if err := t.remove(join(dir, m.Name+manifestSuffix)); err != nil {
			return err
		}
		for _, part := range m.Parts {
			if err := t.remove(join(dir, part.Name)); err != nil {
				return err
			}
		}
		return nil
	}
	path := p.sourcePath(i)
	now, err := t.stat(path)
	if err != nil {
		return err
	}
	if now.kind != kindFile || now.size != it.size || now.modified.UnixNano() != it.modified {
		return errors.New("it changed since it was copied")
	}
	return t.remove(path)
}
