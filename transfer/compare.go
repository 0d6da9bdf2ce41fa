package transfer

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
)

var errDiffers = errors.New("content differs")

// compared looks at a file that has size and time of its source, but of which
// only the content tells whether an interrupted run finished it. Reading both
// needs no room at the target, where copying again would. If they differ the
// item is copied.
func (e *engine) compared(w *worker, i int32) error {
	src, n, err := e.openInput(i)
	if err != nil {
		return err
	}
	defer src.Close()
	sum := sha256.New()
	switch err := e.compare(w, src, 0, n, e.plan.targetPath(i), sum.Write); {
	case errors.Is(err, errDiffers):
		e.recopied.Add(1)
		e.batch.mu.Lock()
		e.plan.items[i].flags &^= flagResumed | flagCompare
		e.batch.mu.Unlock()
		return e.copyWhole(w, i)
	case err != nil:
		return err
	}
	if err := checkSource(src, n); err != nil {
		return err
	}
	e.batch.completed(i, e.plan.targetPath(i), n)
	e.remember(i, -1, sum, 0)
	return nil
}

// compare reads n.size bytes of src from off and a target file of that size side
// by side; tee sees what was read, if copies are to be verified.
func (e *engine) compare(w *worker, src input, off int64, n node, path string, tee func([]byte) (int, error)) error {
	dst, there, err := e.plan.target.open(path)
	if err != nil {
		return errDiffers // gone or unreadable: copied again
	}
	defer dst.Close()
	if there.size != n.size {
		return errDiffers
	}
	if w.other == nil {
		w.other = make([]byte, blockBytes)
	}
	return stream(e.ctx, e.pool, src, off, n.size, w.scratch, func(p []byte, at int64) error {
		if e.job.Verify {
			tee(p)
		}
		got, err := dst.ReadAt(w.other[:len(p)], at-off)
		if err != nil && !errors.Is(err, io.EOF) || !bytes.Equal(p, w.other[:got]) {
			return errDiffers
		}
		return nil
	})
}

// hasPart tells whether a part of a cut file is at the target: by the state, or
// by its content.
func (o *output) hasPart(w *worker, src input, off int64) (bool, error) {
	there, err := o.e.plan.target.stat(o.path)
	if err != nil || there.kind != kindFile || !alike(o.node, there) {
		return false, nil
	}
	if o.e.plan.state.has(o.path, o.node.size, o.node.modified) {
		return true, nil
	}
	err = o.e.compare(w, src, off, o.node, o.path, func(p []byte) (int, error) { return len(p), nil })
	if errors.Is(err, errDiffers) {
		return false, nil
	}
	return err == nil, err
}
