package transfer

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"coffer/transfer/report"
)

// verifyAll re-reads every copy past the caches and compares SHA-256 with what
// was computed while copying. A copy that differs is removed: a file known to be
// wrong must not stand under a final name, and its source is still there.
func (e *engine) verifyAll() (verified int64, err error) {
	if v, ok := e.plan.target.(*volumeTree); ok && v.device.backing != nil {
		if err := v.device.backing.DropCache(0, v.device.sizeBytes); err != nil {
			return 0, fmt.Errorf("verify: drop the cache: %w", err)
		}
	}
	bad := map[int32]bool{}
	var badMu sync.Mutex
	var good, next atomic.Int64
	e.inWorkers(func() {
		scratch := make([]byte, blockBytes)
		for e.ctx.Err() == nil && e.job.Control.pass(e.ctx) == nil {
			k := next.Add(1) - 1
			if k >= int64(len(e.copied)) {
				return
			}
			c := &e.copied[k]
			switch err := e.verifyOne(c, scratch); {
			case err == nil:
				good.Add(1)
				e.tell.fileDone()
			case isCancel(err):
			default:
				badMu.Lock()
				bad[c.item] = true
				badMu.Unlock()
			}
		}
	})
	if err := e.fatalErr(); err != nil {
		return good.Load(), err
	}
	if e.ctx.Err() != nil {
		return good.Load(), errInterrupted
	}
	e.dropBad(bad)
	if len(bad) > 0 {
		if err := e.plan.target.sync(); err != nil {
			return good.Load(), fmt.Errorf("verify: sync: %w", err)
		}
	}
	return good.Load(), nil
}

// dropBad takes items that did not verify out of what may be moved and counted.
func (e *engine) dropBad(bad map[int32]bool) {
	kept := e.moving[:0]
	for _, i := range e.moving {
		if !bad[i] {
			kept = append(kept, i)
		}
	}
	e.moving = kept
	for k := range e.copied {
		if bad[e.copied[k].item] {
			e.wasted.Add(e.copied[k].size)
		}
	}
	for i := range bad {
		e.plan.items[i].flags &^= flagDone
	}
}

func (e *engine) copiedPath(c *copiedFile) string {
	path := e.plan.targetPath(c.item)
	if c.part >= 0 {
		dir, name := split(path)
		path = join(dir, partName(name, int(c.part)))
	}
	return path
}

func (e *engine) verifyOne(c *copiedFile, scratch []byte) error {
	path := e.copiedPath(c)
	complain := func(reason string, err error) error {
		e.tell.failed(report.Problem{Name: path, Reason: reason, Detail: err.Error(), Failed: true})
		return fileFailed(reason, err)
	}
	f, n, err := e.plan.target.open(path)
	if err != nil {
		return complain(ReasonVerifyRead, err)
	}
	defer f.Close()
	f.forget()
	sum := sha256.New()
	err = stream(e.ctx, e.pool, f, 0, n.size, scratch, func(p []byte, _ int64) error {
		sum.Write(p)
		e.tell.seen.Add(int64(len(p)))
		return nil
	})
	if isCancel(err) {
		return err
	}
	if err != nil {
		return complain(ReasonVerifyRead, err)
	}
	if [sha256.Size]byte(sum.Sum(nil)) != c.sum {
		err := errors.New("the copy, re-read past the caches, differs from what was read from the source")
		f.Close()
		if rm := e.plan.target.remove(path); rm != nil {
			err = errors.Join(err, fmt.Errorf("and could not be removed: %w", rm))
		}
		return complain(ReasonMismatch, err)
	}
	return nil
}
