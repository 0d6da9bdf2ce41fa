package transfer

import (
	"crypto/sha256"
	"errors"
	"hash"

	"coffer/fat32"
)

// Small files go into a volume in groups: one write of the device for all.
const (
	togetherFile  = 16 << 10 // the largest file in a group
	togetherBytes = 256 << 10
	togetherFiles = 64
)

// small is a file of a group: read, and not yet written.
type small struct {
	item int32
	node node
	data []byte
	sum  hash.Hash // nil unless copies are verified
}

// errNotSmall: a file grew since the scan, or there is no room for it in the group.
var errNotSmall = errors.New("not for a group")

// grab takes the next items: one, or several small ones that are copied together.
func (e *engine) grab() (from, to int) {
	e.nextMu.Lock()
	defer e.nextMu.Unlock()
	from, end := e.next, len(e.plan.items)
	if from >= end {
		return end, end
	}
	to = from + 1
	if e.groups() != nil && e.isSmall(from) {
		bytes := e.plan.items[from].size
		for to < end && to-from < togetherFiles && e.isSmall(to) && bytes+e.plan.items[to].size <= togetherBytes {
			bytes += e.plan.items[to].size
			to++
		}
	}
	e.next = to
	return from, to
}

// groups is the target, if it takes files in groups.
func (e *engine) groups() *volumeTree {
	v, _ := e.plan.target.(*volumeTree)
	return v
}

// isSmall tells whether an item that nobody began may go into a group.
func (e *engine) isSmall(i int) bool {
	it := &e.plan.items[i]
	return it.size <= togetherFile && it.size < e.job.tune.resumableBytes && it.flags&^flagReplace == 0 && !e.plan.folders[it.folder].failed
}

// together copies the small items from..to-1. If the target has no room for the
// group, they are copied one by one; if it fails otherwise, that is told of all of them.
func (e *engine) together(w *worker, from, to int) {
	group := e.readGroup(w, from, to)
	if e.ctx.Err() != nil || len(group) == 0 {
		return
	}
	contents := make([][]byte, len(group))
	var payload, padded int64
	for k, s := range group {
		contents[k] = s.data
		payload += s.node.size
		padded += wholePages(s.node.size)
	}
	v := e.groups()
	e.clock.enter(doingWrite)
	files, err := v.volume.WriteUnnamed(contents)
	e.clock.leave(doingWrite)
	if err != nil {
		for _, s := range group {
			if isNoSpace(err) || errors.Is(err, fat32.ErrTooLarge) {
				e.one(w, s.item) // some of them may fit
			} else {
				e.ended(s.item, e.writeErr(err))
			}
		}
		return
	}
	e.rate.Book(payload)
	e.batch.accepted(payload)
	v.device.wrote(padded)
	e.clock.enter(doingMeta) // once for all: a change of the clock for each file would cost a percent of it
	defer e.clock.leave(doingMeta)
	for k, s := range group {
		f := &volumeTarget{tree: v, file: files[k], final: v.at(e.plan.targetPath(s.item))}
		e.ended(s.item, e.publishSmall(f, s))
	}
}

// readGroup reads items; those that cannot be read, or not together, are dealt with.
func (e *engine) readGroup(w *worker, from, to int) (group []small) {
	if w.small == nil {
		w.small = make([]byte, togetherBytes)
	}
	used := 0
	for i := from; i < to && e.ctx.Err() == nil; i++ {
		e.plan.hints.reading(e.plan, i)
		s, err := e.readSmall(w.small[used:], int32(i))
		switch {
		case errors.Is(err, errNotSmall):
			e.one(w, int32(i))
		case err != nil:
			e.ended(int32(i), err)
		default:
			used += len(s.data)
			group = append(group, s)
		}
	}
	return group
}

// readSmall reads a whole item into the beginning of buf.
func (e *engine) readSmall(buf []byte, i int32) (small, error) {
	e.clock.enter(doingRead)
	defer e.clock.leave(doingRead)
	src, n, err := e.openUntimed(i)
	if err != nil {
		return small{}, err
	}
	defer src.Close()
	if n.size > togetherFile || n.size > int64(len(buf)) {
		return small{}, errNotSmall
	}
	s := small{item: i, node: n, data: buf[:n.size:n.size]}
	if n.size > 0 {
		b := chunk{buf: s.data, n: int(n.size)}
		if readBlock(src, &b); b.err != nil {
			return small{}, b.err
		}
	}
	if err := checkSource(src, n); err != nil {
		return small{}, err
	}
	if e.job.Verify {
		s.sum = sha256.New()
		s.sum.Write(s.data)
	}
	return s, nil
}

// publishSmall gives a written file its name, unless the run was interrupted.
func (e *engine) publishSmall(f *volumeTarget, s small) error {
	var err error
	if e.ctx.Err() != nil {
		err = errors.Join(errInterrupted, f.discard())
	} else {
		err = e.writeErr(f.publish(s.node, e.plan.items[s.item].flags&flagReplace != 0))
	}
	if err != nil {
		e.wasted.Add(s.node.size)
		return err
	}
	e.batch.completed(s.item, e.plan.targetPath(s.item), s.node)
	e.remember(s.item, -1, s.sum, s.node.size)
	return nil
}
