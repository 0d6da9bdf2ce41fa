package transfer

import (
	"errors"
	"fmt"
	"io/fs"

	"coffer/transfer/report"
)

// makeFolders makes the folders of the selection, parents first.
func (e *engine) makeFolders() {
	for k := range e.plan.folders {
		if e.job.Control.pass(e.ctx) != nil || e.ctx.Err() != nil {
			return
		}
		f := &e.plan.folders[k]
		if f.made {
			continue
		}
		if f.parent >= 0 && e.plan.folders[f.parent].failed {
			f.failed = true
			continue
		}
		err := e.plan.target.mkdir(f.to)
		if errors.Is(err, fs.ErrExist) { // made meanwhile, or by an interrupted run
			var n node
			if n, err = e.plan.target.stat(f.to); err == nil && n.kind != kindFolder {
				err = fmt.Errorf("%w: something that is no folder stands there", errTargetLink)
			}
		}
		if err == nil {
			f.made = true
			continue
		}
		var fe *fileError
		if err = e.writeErr(err); !errors.As(err, &fe) {
			e.stop(err)
			return
		}
		f.failed = true
		e.tell.failed(report.Problem{Name: f.from, Reason: fe.reason, Detail: fe.err.Error(), Failed: true})
	}
}

// dressFolders gives folders the times of their sources, children first, since
// making something in a folder changes its time.
func (e *engine) dressFolders() {
	for k := len(e.plan.folders) - 1; k >= 0; k-- {
		f := &e.plan.folders[k]
		if f.to == "" || f.failed || !f.made || f.like.modified.IsZero() {
			continue
		}
		if err := e.plan.target.dress(f.to, f.like); err != nil {
			if e.plan.brokenTarget() != nil {
				e.stop(err)
				return
			}
			e.tell.failed(report.Problem{Name: f.from, Reason: writeReason(err), Detail: "its times could not be set: " + err.Error(), Failed: true})
		}
	}
}
