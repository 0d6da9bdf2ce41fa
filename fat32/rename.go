package fat32

import (
	"errors"
	"fmt"
)

// errAgain asks to prepare a rename anew: the target is not what it was.
var errAgain = errors.New("target changed")

// Rename gives a file or directory another name or place. With replace an
// existing target is replaced as POSIX has it: a file by a file, an empty
// directory by a directory. The new spelling is kept, also if only the case differs.
func (v *Volume) Rename(oldPath, newPath string, replace bool) error {
	err := v.rename(oldPath, newPath, replace)
	if err != nil {
		return &PathError{"rename", oldPath + " -> " + newPath, err}
	}
	return nil
}

// move is a rename being carried out.
type move struct {
	v       *Volume
	n       *node // what is renamed
	to      *node // directory it goes to
	name    string
	q       query
	target  *node // what is there already, prepared for removal; may be n
	replace bool
	unnamed bool // n gets its first name: see File.Link
	// respell: the entry was taken over under its old spelling and still has to
	// get the new one.
	respell bool
	// displaced is the stored name of the target that was replaced.
	displaced string
}

func (v *Volume) rename(oldPath, newPath string, replace bool) error {
	if err := v.writable(); err != nil {
		return err
	}
	from, oldName, err := v.walkParent(oldPath)
	if err != nil {
		return err
	}
	defer from.unpin()
	n, err := v.openChild(from, oldName)
	if err != nil {
		return err
	}
	defer n.unpin()
	to, name, err := v.walkParent(newPath)
	if err != nil {
		return fmt.Errorf("target: %w", err)
	}
	defer to.unpin()
	_, err = v.renameNode(n, to, name, replace)
	return err
}

// renameNode moves n into directory to under another name; both are pinned, to is loaded. It
// returns the stored name of what it replaced, if anything.
func (v *Volume) renameNode(n, to *node, name string, replace bool) (displaced string, err error) {
	if err := CheckName(name); err != nil {
		return "", err
	}
	if n.isDir {
		if err := v.loadDir(n); err != nil {
			return "", err
		}
	}
	m := &move{v: v, n: n, to: to, name: name, replace: replace}
	err = m.run()
	return m.displaced, err
}

// run carries the rename out.
func (m *move) run() (err error) {
	m.q.prepare(m.v.seed, m.name)
	for range 16 {
		if err = m.attempt(); !errors.Is(err, errAgain) {
			return err
		}
	}
	return fmt.Errorf("target changes all the time: %w", ErrBusy)
}

// attempt looks the target up, loads what replacing it needs, and runs the rename.
func (m *move) attempt() error {
	v := m.v
	var cost int64
	m.target = nil
	target, err := v.openChild(m.to, m.name)
	switch {
	case err == nil:
		m.target = target
		defer target.unpin()
		if target != m.n && m.replace {
			if cost, err = v.prepareRemoval(target); err != nil {
				return err
			}
		}
	case !errors.Is(err, ErrNotExist):
		return err
	}
	run := func() error {
		v.ns.Lock()
		defer v.ns.Unlock()
		return m.runLocked()
	}
	total := 3*costEntry + v.costGrow() + cost
	if m.unnamed {
		total += v.linkCost(m.n)
	}
	if err := v.mutate(total, run); err != nil || !m.respell {
		return err
	}
	m.respell, m.target = false, m.n
	return v.mutate(total, run)
}

// runLocked checks and carries out the rename.
func (m *move) runLocked() error {
	v, n, to := m.v, m.n, m.to
	switch {
	case m.unnamed && !n.unnamedLocked():
		return fmt.Errorf("file has or had a name: %w", ErrInvalid)
	case m.unnamed && n.handles == 0:
		return fmt.Errorf("file: %w", ErrClosed)
	case to.unlinked, !m.unnamed && (n.unlinked || n.parent == nil):
		return ErrNotExist
	}
	slot := to.dir.find(&m.q)
	if slot < 0 && m.target != nil || slot >= 0 && (m.target == nil || to.dir.children[slot] != m.target) {
		return errAgain
	}
	if n.isDir {
		for p := to; p != nil; p = p.parent {
			if p == n {
				return fmt.Errorf("directory cannot go into itself: %w", ErrInvalid)
			}
		}
	}
	switch {
	case slot < 0:
		return m.toNewNameLocked(-1)
	case m.target == n:
		if n.parent.dir.name(n.slot) == m.name {
			return nil
		}
		return m.toNewNameLocked(n.slot)
	}
	t := m.target
	switch {
	case !m.replace:
		return ErrExist
	case n.isDir && !t.isDir:
		return ErrNotDir
	case !n.isDir && t.isDir:
		return ErrIsDir
	}
	if err := v.removableLocked(t); err != nil {
		return err
	}
	return m.replaceLocked()
}

// checkMovableLocked makes sure that the old and the new entry set can be on
// the disk together: same start, same size, and no second directory under way. It
// keeps start and size as they are until the next snapshot.
func (m *move) checkMovableLocked() error {
	v, n := m.v, m.n
	if v.txn != nil || m.unnamed || !n.parent.dir.onDisk.has(int(n.slot)) {
		return nil
	}
	gen := v.gen.Load()
	if n.isDir && n.parent != m.to && v.dirMoveGen == gen {
		return errFlushFirst
	}
	e := v.geo.Type.decodeEntry(n.parent.dir.slot(int(n.slot)))
	n.mu.Lock()
	defer n.mu.Unlock()
	if e.cluster != n.start || !n.isDir && int64(e.size) != n.size {
		return errFlushFirst
	}
	n.moveGen = gen
	return nil
}

// toNewNameLocked moves n to a name nobody has; own is n's slot if only the
// case changes, else -1.
func (m *move) toNewNameLocked(own int32) error {
	v, n, to := m.v, m.n, m.to
	ordered := v.txn == nil
	if err := m.checkMovableLocked(); err != nil {
		return err
	}
	if ordered && n.parent == to && to.dir.onDisk.has(int(n.slot)) {
		if to.dir.isVacated(m.q.folded[:m.q.n]) {
			return errFlushFirst
		}
		if g, _ := to.dir.search(&m.q, true); g >= 0 {
			return errFlushFirst
		}
		if set, ok := to.dir.makeSet(m.name, n.slot); ok {
			if slot := to.dir.renameInUnit(n.slot, &set); slot >= 0 {
				v.ids.leave(n.id, to.place(n.slot))
				v.ids.put(n.id, to.place(slot))
				n.slot = slot
				v.touchDirLocked(to)
				v.touchNew(n)
				return nil
			}
		}
	}
	except := int32(-1)
	if n.parent == to && (!ordered || !to.dir.onDisk.has(int(n.slot))) {
		except = n.slot // the old entry is gone before the new one is seen
	}
	slot, err := v.placeSetLocked(to, m.name, &m.q, except)
	if err != nil {
		return err
	}
	m.relinkLocked(slot)
	return nil
}

// replaceLocked moves n to a name that another file or directory has.
func (m *move) replaceLocked() error {
	v, to, t := m.v, m.to, m.target
	if v.txn == nil {
		if t.isDir && (len(t.dir.ghosts) > 0 || len(t.dir.vacated) > 0) {
			return errFlushFirst // something moved out of it may not have arrived yet
		}
	}
	if err := m.checkMovableLocked(); err != nil {
		return err
	}
	slot := t.slot
	m.displaced = to.dir.name(slot)
	if v.txn != nil && to.dir.name(slot) != m.name {
		var err error
		if slot, err = v.placeSetLocked(to, m.name, &m.q, slot); err != nil {
			return err
		}
		v.unlinkLocked(t)
		m.relinkLocked(slot)
		return nil
	}
	// One write of t's short entry turns it into n's: a cut leaves the one or the other.
	m.respell = to.dir.name(slot) != m.name
	delete(to.dir.children, slot)
	v.ids.leave(t.id, to.place(slot))
	v.orphanLocked(t)
	to.dir.touch(int(slot), int(slot)+1)
	v.touchDirLocked(to)
	m.relinkLocked(slot)
	return nil
}

// relinkLocked takes n out of its old slot and puts it at slot of the target
// directory, where an entry set waits for it.
func (m *move) relinkLocked(slot int32) {
	v, n, to := m.v, m.n, m.to
	if m.unnamed {
		m.unnamed = false // it has a name now, if the wrong spelling
		v.adoptLocked(n, to, slot)
		return
	}
	from, old := n.parent, n.slot
	if v.txn == nil && from.dir.onDisk.has(int(old)) {
		// For a while both entries are on the disk; the counter tells them apart.
		n.moves = nextMove(from.dir.slot(int(old))[12]) >> moveShift
		if n.isDir && from != to {
			v.dirMoveGen = v.gen.Load()
		}
	}
	from.dir.remove(old, v.txn == nil, ghost{moved: true, isDir: n.isDir})
	v.touchDirLocked(from)
	v.ids.leave(n.id, from.place(old))
	v.ids.put(n.id, to.place(slot))
	to.dir.children[slot] = n
	n.parent, n.slot = to, slot
	if n.isDir && from != to {
		n.newDot = true
		v.touchDirLocked(n)
	}
	v.touchNew(n)
}
