package fat32

import "fmt"

// Remove deletes a file or an empty directory. A file that is open lives on
// without a name until its last handle is closed.
func (v *Volume) Remove(path string) error {
	return pathError("remove", path, v.remove(path))
}

func (v *Volume) remove(path string) error {
	if err := v.writable(); err != nil {
		return err
	}
	parent, name, err := v.walkParent(path)
	if err != nil {
		return err
	}
	defer parent.unpin()
	n, err := v.openChild(parent, name)
	if err != nil {
		return err
	}
	defer n.unpin()
	return v.removeNode(n)
}

// removeNode removes a file or empty directory, which is pinned.
func (v *Volume) removeNode(n *node) error {
	cost, err := v.prepareRemoval(n)
	if err != nil {
		return err
	}
	return v.mutate(costEntry+cost, func() error {
		v.ns.Lock()
		defer v.ns.Unlock()
		if n.unlinked || n.parent == nil {
			return ErrNotExist
		}
		if err := v.removableLocked(n); err != nil {
			return err
		}
		v.unlinkLocked(n)
		return nil
	})
}

// prepareRemoval loads what removing n needs and returns the cost of it.
func (v *Volume) prepareRemoval(n *node) (cost int64, err error) {
	if err := v.loadChain(n); err != nil {
		return 0, err
	}
	if n.isDir {
		if err := v.loadDir(n); err != nil {
			return 0, err
		}
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	return v.costFAT(n.chain.runs), nil
}

// removableLocked checks that n can go.
func (v *Volume) removableLocked(n *node) error {
	if n == v.root {
		return fmt.Errorf("root directory: %w", ErrBusy)
	}
	if n.isDir && n.dir.live > 0 {
		return ErrNotEmpty
	}
	return nil
}

// unlinkLocked removes the entry of n and gives up its clusters.
func (v *Volume) unlinkLocked(n *node) {
	parent, slot := n.parent, n.slot
	parent.dir.remove(slot, v.txn == nil, ghost{isDir: n.isDir})
	v.touchDirLocked(parent)
	v.ids.leave(n.id, parent.place(slot))
	v.orphanLocked(n)
}

// orphanLocked gives up the clusters of a node whose entry is gone: at once
// on the disk, in memory when the last handle is closed.
func (v *Volume) orphanLocked(n *node) {
	n.unlinked = true
	n.mu.Lock()
	defer n.mu.Unlock()
	n.gone = true
	n.freedGen = v.gen.Load()
	onDisk := n.chain.slice(0, n.linked)
	if n.handles > 0 {
		v.loosen(n)
		if len(onDisk) > 0 {
			v.dirty.mu.Lock()
			v.dirty.frees = append(v.dirty.frees, onDisk...)
			v.dirty.mu.Unlock()
			v.noteDirty()
		}
		return
	}
	v.giveUp(onDisk, n.chain.slice(n.linked, n.chain.total))
	v.alloc.drop(n)
	n.chain = extents{}
	n.linked = 0
	v.forgetLocked(n)
	if n.dir != nil {
		n.dir.ghosts = nil // gone with their directory
	}
}

// releaseOrphanLocked gives up the clusters of an unlinked file whose last handle
// was closed.
func (v *Volume) releaseOrphanLocked(n *node) {
	n.mu.Lock()
	defer n.mu.Unlock()
	freed, never := n.chain.slice(0, n.linked), n.chain.slice(n.linked, n.chain.total)
	n.chain, n.linked, n.size = extents{}, 0, 0
	v.tighten(n)
	v.dropFreed(freed, n.freedGen)
	v.dropUnlinked(never, v.gen.Load())
	v.alloc.drop(n)
	v.forgetLocked(n)
}

// dropFreed makes clusters available that flush gen marks free on the disk. A
// device that discards is told with the next flush.
func (v *Volume) dropFreed(runs []extent, gen uint64) {
	switch {
	case len(runs) == 0:
	case v.discard != nil:
		v.alloc.park(runs, v.gen.Load())
		v.dirty.mu.Lock()
		v.dirty.discards = append(v.dirty.discards, runs...)
		v.dirty.mu.Unlock()
		v.noteDirty()
	case gen <= v.durable.Load():
		v.alloc.release(runs)
	default:
		v.alloc.park(runs, gen)
	}
}
