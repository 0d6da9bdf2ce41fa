package transfer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"coffer/transfer/rate"
	"coffer/transfer/report"
)

// engine copies the files of a plan.
type engine struct {
	plan   *Plan
	job    *Job
	ctx    context.Context
	cancel context.CancelCauseFunc
	pool   *pool
	rate   *rate.Recorder
	batch  *batch
	tell   *teller
	clock  *phaseClock // nil: nothing is timed
	nextMu sync.Mutex
	next   int // item that nobody began, all before it are begun

	wasted   atomic.Int64 // bytes booked for copies that were given up
	recopied atomic.Int64 // items that were taken for copies of an earlier run and were none

	mu     sync.Mutex
	fatal  error // first error that stops everything
	copied []copiedFile
	moving []int32 // items whose sources may go once durable
}

// copiedFile is a file to be re-read.
type copiedFile struct {
	item int32
	part int32 // of a cut item; -1: the whole
	size int64 // bytes booked for it
	sum  [sha256.Size]byte
}

// stop ends the run; the first reason counts.
func (e *engine) stop(err error) {
	e.mu.Lock()
	if e.fatal == nil {
		e.fatal = err
	}
	e.mu.Unlock()
	e.cancel(err)
}

func (e *engine) fatalErr() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.fatal
}

// worker is one file, or one group of small ones, at a time.
type worker struct {
	scratch []byte
	other   []byte // a block of the target, for comparing
	small   []byte // the content of a group
}

// copyAll runs the workers over all items.
func (e *engine) copyAll() {
	e.inWorkers(func() {
		w := &worker{scratch: make([]byte, blockBytes)}
		for e.ctx.Err() == nil && e.job.Control.pass(e.ctx) == nil {
			from, to := e.grab()
			switch {
			case from == to:
				return
			case to-from > 1:
				e.together(w, from, to)
			default:
				e.plan.hints.reading(e.plan, from)
				e.one(w, int32(from))
			}
		}
	})
}

// inWorkers runs work in all workers and waits for them. From here to them and back somebody always counts as at work, so
// that a job that is stopped meanwhile does not seem to stand still before it does.
func (e *engine) inWorkers(work func()) {
	var wg sync.WaitGroup
	var left atomic.Int32
	left.Store(int32(e.job.Workers))
	for range e.job.Workers {
		e.job.Control.enter()
		wg.Go(func() {
			work()
			if left.Add(-1) > 0 {
				e.job.Control.leave()
			}
		})
	}
	e.job.Control.leave() // until the last of them ends, whose place is ours then
	wg.Wait()
}

// one copies an item and books what became of it.
func (e *engine) one(w *worker, i int32) {
	it := &e.plan.items[i]
	var err error
	switch {
	case e.plan.folders[it.folder].failed:
		err = fileFailed(ReasonFolder, errors.New("its folder could not be made"))
	case it.flags&flagCompare != 0:
		err = e.compared(w, i)
	case it.flags&flagResumed != 0:
		err = e.resumed(w, i)
	case it.flags&flagCut != 0:
		err = e.copyCut(w, i)
	default:
		err = e.copyWhole(w, i)
	}
	e.ended(i, err)
}

// ended books what became of an item.
func (e *engine) ended(i int32, err error) {
	var fe *fileError
	switch {
	case err == nil:
		e.tell.fileDone()
		if e.job.Move {
			e.mu.Lock()
			e.moving = append(e.moving, i)
			e.mu.Unlock()
		}
	case isCancel(err):
	case errors.As(err, &fe):
		e.failItem(i, fe.reason, fe.err)
	default:
		e.stop(err)
	}
}

func (e *engine) failItem(i int32, reason string, err error) {
	e.tell.failed(report.Problem{Name: e.plan.sourcePath(i), Reason: reason, Detail: err.Error(), Failed: true})
	e.batch.settled(i, false)
}

// openInput opens the source of an item, which is timed from then on.
func (e *engine) openInput(i int32) (input, node, error) {
	e.clock.enter(doingRead)
	src, n, err := e.openUntimed(i)
	e.clock.leave(doingRead)
	return timedInput{src, e.clock}, n, err
}

// openUntimed opens the source of an item: one file, or parts to join.
func (e *engine) openUntimed(i int32) (input, node, error) {
	var src input
	var n node
	t := e.plan.sourceTree(i)
	if m := e.plan.joined[i]; m != nil {
		j, err := openJoined(t, e.plan.folders[e.plan.items[i].folder].from, m)
		if err != nil {
			return nil, node{}, fileFailed(ReasonSplitDamaged, err)
		}
		src = j
		if n, err = j.stat(); err != nil {
			src.Close()
			return nil, node{}, fileFailed(readReason(err), err)
		}
	} else {
		f, opened, err := t.open(e.plan.sourcePath(i))
		if err != nil {
			return nil, node{}, fileFailed(readReason(err), err)
		}
		src, n = f, opened
	}
	limit := e.plan.rules.maxFileBytes
	if e.plan.items[i].flags&flagCut == 0 && limit > 0 && n.size > limit {
		src.Close()
		return nil, node{}, fileFailed(ReasonTooBig, fmt.Errorf("it grew to %d bytes since the scan", n.size))
	}
	return src, n, nil
}

// unchanged tells whether a file still has the size and time it had.
func unchanged(before, after node) bool {
	return before.size == after.size && before.modified.Equal(after.modified)
}

// checkSource looks at a source again after it was read.
func checkSource(src input, before node) error {
	after, err := src.stat()
	if err != nil {
		return fileFailed(readReason(err), err)
	}
	if !unchanged(before, after) {
		return fileFailed(ReasonChanged, fmt.Errorf("%d bytes of %s before, %d bytes of %s after it was read", before.size,
			before.modified.UTC().Format(time.RFC3339Nano), after.size, after.modified.UTC().Format(time.RFC3339Nano)))
	}
	return nil
}

// copyWhole copies an item into one target file.
func (e *engine) copyWhole(w *worker, i int32) error {
	src, n, err := e.openInput(i)
	if err != nil {
		return err
	}
	defer src.Close()
	var sum hash.Hash
	var check *joinCheck
	if m := e.plan.joined[i]; m != nil {
		check = newJoinCheck(m)
		sum = check.whole
	} else if e.job.Verify {
		sum = sha256.New()
	}
	path := e.plan.targetPath(i)
	out := &output{e: e, item: i, path: path, node: n, replace: e.plan.items[i].flags&flagReplace != 0}
	finish := func() error {
		if err := checkSource(src, n); err != nil {
			return err
		}
		if check != nil {
			if err := check.finish(); err != nil {
				return fileFailed(ReasonSplitDamaged, err)
			}
		}
		return nil
	}
	feed := func(p []byte) {
		switch {
		case check != nil:
			check.Write(p)
		case sum != nil:
			sum.Write(p)
		}
	}
	if err := out.copy(w, src, 0, feed, sum != nil, finish); err != nil {
		return err
	}
	e.batch.completed(i, path, n)
	e.remember(i, -1, sum, out.booked)
	return nil
}

// remember keeps the digest of a copy for the verification.
func (e *engine) remember(i, part int32, sum hash.Hash, booked int64) {
	if !e.job.Verify || sum == nil {
		return
	}
	c := copiedFile{item: i, part: part, size: booked}
	sum.Sum(c.sum[:0])
	e.mu.Lock()
	e.copied = append(e.copied, c)
	e.mu.Unlock()
}

// resumed looks at a file that an earlier run made durable: nothing to do, but
// to know its digest if all are to be verified.
func (e *engine) resumed(w *worker, i int32) error {
	if e.job.Verify {
		src, n, err := e.openInput(i)
		if err != nil {
			return err
		}
		defer src.Close()
		sum := sha256.New()
		err = stream(e.ctx, e.pool, src, 0, n.size, w.scratch, func(p []byte, _ int64) error { sum.Write(p); return nil })
		if err == nil {
			err = checkSource(src, n)
		}
		if err != nil {
			return err
		}
		e.remember(i, -1, sum, 0)
	}
	e.batch.settled(i, true)
	return nil
}

// copyCut copies an item into parts and writes the manifest last.
func (e *engine) copyCut(w *worker, i int32) (err error) {
	src, n, err := e.openInput(i)
	if err != nil {
		return err
	}
	defer src.Close()
	m := &manifest{Format: manifestFormat, Version: 1, Name: e.plan.targetName(i), SizeBytes: n.size, Modified: n.modified.UTC()}
	whole := sha256.New()
	var off int64
	var made []string
	var booked int64
	defer func() {
		if err != nil && !isCancel(err) { // parts of a file that was not copied are of no use
			e.wasted.Add(booked)
			for _, p := range made {
				e.plan.target.remove(p)
			}
		}
	}()
	dir := e.plan.folders[e.plan.items[i].folder].to
	replace := e.plan.items[i].flags&flagReplace != 0
	for k, size := range cutSizes(n.size, e.job.PartBytes) {
		sum := sha256.New()
		part := n
		part.size = size
		out := &output{e: e, item: i, path: join(dir, partName(m.Name, k)), node: part, replace: replace}
		feed := func(p []byte) { sum.Write(p); whole.Write(p) }
		if err := out.copy(w, src, off, feed, true, nil); err != nil {
			return err
		}
		made = append(made, out.path)
		booked += out.booked
		off += size
		m.Parts = append(m.Parts, manifestPart{Name: partName(m.Name, k), SizeBytes: size, SHA256: hex.EncodeToString(sum.Sum(nil))})
		e.batch.completedPart(out.path, part)
		e.remember(i, int32(k), sum, out.booked)
	}
	if err := checkSource(src, n); err != nil {
		return err
	}
	m.SHA256 = hex.EncodeToString(whole.Sum(nil))
	path := join(dir, m.Name+manifestSuffix)
	if err := e.writeSmall(path, m, n, replace); err != nil {
		return err
	}
	e.batch.completed(i, path, n)
	return nil
}

// writeSmall writes a manifest. It is not payload, so nothing is booked.
func (e *engine) writeSmall(path string, m *manifest, like node, replace bool) error {
	data, err := m.encode()
	if err != nil {
		return err
	}
	like.size = int64(len(data))
	f, err := e.plan.target.create(createOptions{path: path, size: like.size, like: like})
	if err != nil {
		return e.writeErr(err)
	}
	if _, err := f.WriteAt(data, 0); err != nil {
		return errors.Join(e.writeErr(err), f.discard())
	}
	return e.writeErr(f.publish(like, replace))
}

// writeErr sorts errors of the target: those that end the run stay as they are.
func (e *engine) writeErr(err error) error {
	if err == nil || isNoSpace(err) {
		return err
	}
	if v, ok := e.plan.target.(*volumeTree); ok && v.volume.Err() != nil {
		return err
	}
	return fileFailed(writeReason(err), err)
}

// output is one target file being written.
type output struct {
	e       *engine
	item    int32
	path    string
	node    node
	replace bool
	booked  int64 // bytes the target took in this run
}

// copy streams node.size bytes of src from off into the file. feed sees all of
// them if wanted; finish may still refuse before the file is published.
func (o *output) copy(w *worker, src input, off int64, feed func([]byte), wanted bool, finish func() error) error {
	e := o.e
	opt := createOptions{path: o.path, size: o.node.size, like: o.node}
	var start int64
	if o.e.job.Resume && o.path != e.plan.targetPath(o.item) {
		if has, err := o.hasPart(w, src, off); err != nil {
			return err
		} else if has {
			return stream(e.ctx, e.pool, src, off, o.node.size, w.scratch, func(p []byte, _ int64) error { feed(p); return nil })
		}
	}
	if o.node.size >= e.job.tune.resumableBytes {
		opt.part = partPath(o.path)
		start = e.plan.state.part(o.path, o.node)
		opt.resume = start > 0
		if err := e.batch.opened(o, opt.part, start); err != nil {
			return err
		}
	}
	e.clock.enter(doingMeta)
	dst, err := e.plan.target.create(opt)
	e.clock.leave(doingMeta)
	if err != nil && opt.resume && errors.Is(err, fs.ErrNotExist) {
		start, opt.resume = 0, false
		dst, err = e.plan.target.create(opt)
	}
	if err != nil {
		return e.writeErr(err)
	}
	from := off
	if !wanted {
		from += start
	}
	err = stream(e.ctx, e.pool, src, from, o.node.size-(from-off), w.scratch, func(p []byte, at int64) error {
		if wanted {
			feed(p)
		}
		if at -= off; at < start {
			return nil
		}
		return o.write(dst, p, at, opt.part != "")
	})
	if err == nil && finish != nil {
		err = finish()
	}
	if err == nil && e.ctx.Err() != nil {
		err = errInterrupted
	}
	if err != nil {
		return o.abandon(dst, opt.part, err)
	}
	e.clock.enter(doingMeta)
	err = dst.publish(o.node, o.replace)
	e.clock.leave(doingMeta)
	if err := e.writeErr(err); err != nil {
		e.batch.closed(o, true)
		e.wasted.Add(o.booked)
		return err
	}
	e.batch.closed(o, false)
	return nil
}

func (o *output) write(dst targetFile, p []byte, at int64, named bool) error {
	o.e.clock.enter(doingWrite)
	n, err := dst.WriteAt(p, at)
	o.e.clock.leave(doingWrite)
	o.e.rate.Book(int64(n))
	o.booked += int64(max(n, 0))
	o.e.batch.accepted(int64(n))
	if err != nil {
		return o.e.writeErr(err)
	}
	if named {
		o.e.batch.reached(o, at+int64(n))
	}
	return nil
}

// abandon gives up a file: an interrupted part is kept for a resume, anything
// else is removed.
func (o *output) abandon(dst targetFile, part string, cause error) error {
	if part != "" && isCancel(cause) {
		o.e.batch.closed(o, false)
		return errors.Join(cause, dst.keep())
	}
	o.e.batch.closed(o, true)
	o.e.wasted.Add(o.booked)
	if err := dst.discard(); err != nil && !isNoSpace(err) && o.e.plan.brokenTarget() == nil && !errors.Is(err, fs.ErrClosed) {
		return errors.Join(cause, err)
	}
	return cause
}

// brokenTarget is the error that made a target volume read-only, if any.
func (p *Plan) brokenTarget() error {
	if v, ok := p.target.(*volumeTree); ok {
		return v.volume.Err()
	}
	return nil
}

// etaOf estimates the rest at the rate so far; 0: unknown.
func etaOf(left, done int64, elapsed time.Duration) time.Duration {
	if done <= 0 || left <= 0 || elapsed <= 0 {
		return 0
	}
	s := elapsed.Seconds() * float64(left) / float64(done)
	if s > math.MaxInt64/float64(2*time.Second) {
		return 0
	}
	return time.Duration(s * float64(time.Second))
}
