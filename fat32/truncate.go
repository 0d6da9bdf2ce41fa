package fat32

import "fmt"

// zeros is what gaps are filled with; nobody writes to it.
var zeros [1 << 20]byte

// Truncate sets the size of the file in bytes. What is added reads as zeros
// and is written as zeros; what cannot fit fails before it changes anything.
func (f *File) Truncate(size int64) error {
	if err := f.usable(true); err != nil {
		return f.wrap("truncate", err)
	}
	return f.wrap("truncate", f.v.truncate(f.n, size))
}

func (v *Volume) truncate(n *node, size int64) error {
	if size < 0 {
		return fmt.Errorf("size %d: %w", size, ErrInvalid)
	}
	if size > MaxFileSize {
		return ErrTooBig
	}
	if err := v.loadChain(n); err != nil {
		return err
	}
	n.write.Lock()
	defer n.write.Unlock()
	old := n.length()
	if size <= old {
		return v.shrink(n, size)
	}
	if err := v.allocate(n, size); err != nil {
		return err
	}
	err := v.zeroFill(n, old, size)
	if err != nil {
		// As it was; if that fails too, the zeros stay.
		_ = v.shrink(n, old)
		v.shedClusters(n, 0)
	}
	return err
}

// zeroFill writes zeros from the end of the file, from, up to to, in
// operations of their own. n.write is held and the clusters are there.
func (v *Volume) zeroFill(n *node, from, to int64) error {
	for from < to {
		k, err := v.writePiece(n, zeros[:min(to-from, int64(len(zeros)))], from, v.dev.WriteAt)
		if err != nil {
			return err
		}
		from += int64(k)
	}
	return nil
}

// shrink makes the file shorter, or as long as it is. n.write is held.
func (v *Volume) shrink(n *node, size int64) error {
	n.io.Lock() // no transfer may run on clusters that are given up
	defer n.io.Unlock()
	for step := size; ; {
		n.mu.RLock()
		cut := n.chain.slice(min(v.clustersFor(step), n.chain.total), n.chain.total)
		n.mu.RUnlock()
		cost := costEntry + v.costFAT(cut) + v.costFAT([]extent{{firstCluster, 1}})
		err := v.mutate(cost, func() error { return v.shrinkNow(n, step) })
		old := n.length()
		if tooLarge(err) && old-step > int64(v.geo.ClusterSize) {
			step += (old - step) / 2 // too much for one transaction: a part of it first
			continue
		}
		if err != nil || step == size {
			return err
		}
		step = size
	}
}

// shrinkNow is shrink as one operation.
func (v *Volume) shrinkNow(n *node, size int64) error {
	now := encodeStamp(v.now(), v.loc)
	n.mu.Lock()
	keep := v.clustersFor(size)
	if (size != n.size || keep < n.chain.total) && v.frozenLocked(n) {
		n.mu.Unlock()
		return errFlushFirst
	}
	linked := n.linked
	off := n.chain.slice(min(keep, n.chain.total), n.chain.total)
	n.chain.cut(keep)
	n.size = size
	if keep == 0 {
		n.start = 0
	}
	if keep < linked {
		n.linked = keep
		n.newEnd = keep > 0
	}
	n.modify, n.access = now.coarse(), now.day()
	n.attr |= AttrArchive
	gone := n.gone
	v.touchLocked(n)
	n.mu.Unlock()
	onDisk, never := splitRuns(off, int64(linked)-int64(keep))
	if gone {
		v.dropFreed(onDisk, n.freedGen) // removed: the FAT is up to date or will be
		v.dropUnlinked(never, v.gen.Load())
		return nil
	}
	v.giveUp(onDisk, never)
	return nil
}

// splitRuns divides runs after n clusters.
func splitRuns(runs []extent, n int64) (first, rest []extent) {
	for i, e := range runs {
		if n <= 0 {
			return first, runs[i:]
		}
		if int64(e.count) > n {
			first = append(first, extent{e.start, uint32(n)})
			rest = append(rest, extent{e.start + uint32(n), e.count - uint32(n)})
			return first, append(rest, runs[i+1:]...)
		}
		first = append(first, e)
		n -= int64(e.count)
	}
	return first, nil
}
