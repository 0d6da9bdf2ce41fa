package fat32

// ioWrite is one write of a plan.
type ioWrite struct {
	off  int64
	data []byte
	slot int // directories: first slot in data
}

// link is one FAT entry: cluster from is followed by to.
type link struct{ from, to uint32 }

// plan is everything one flush writes, copied out of memory while no operation
// ran. The stages are those of runStages.
type plan struct {
	gen       uint64
	data      bool // file data was written since the last snapshot
	growth    bool // some entry comes to show data that was written since then
	chains    [][]extent
	early     []ioWrite
	links     []link
	entries   []ioWrite
	dots      []ioWrite
	removals  []ioWrite
	ends      []uint32
	leftovers []ioWrite
	frees     []extent
	discards  []extent
	newDirs   []*node // get their entry with this plan
}

// snapshot turns everything dirty into a plan and begins the next generation.
// The gate is held exclusively.
func (v *Volume) snapshot() *plan {
	v.ns.Lock()
	defer v.ns.Unlock()
	d := &v.dirty
	d.mu.Lock()
	p := &plan{gen: v.gen.Load(), data: d.data.Swap(false), frees: d.frees, discards: d.discards}
	nodes, dirs, boot := d.nodes, d.dirs, d.boot
	d.nodes, d.dirs, d.frees, d.discards, d.boot = nil, nil, nil, nil, nil
	d.pending.Store(false)
	d.mu.Unlock()
	v.gen.Store(p.gen + 1)
	if boot != nil {
		p.entries = append(p.entries, ioWrite{data: boot})
		if at := v.boot.backupOffset; at > 0 {
			backup := append([]byte(nil), boot...)
			backup[v.boot.dirtyByte] &^= stateDirty // the mark is the first sector's alone
			p.entries = append(p.entries, ioWrite{off: at, data: backup})
		}
	}
	updates := make(map[*node][]*node)
	for _, n := range nodes {
		v.planNode(p, n)
		if n.parent == nil || n.unlinked {
			continue
		}
		if !n.parent.dir.changed {
			n.parent.dir.changed = true
			dirs = append(dirs, n.parent)
		}
		updates[n.parent] = append(updates[n.parent], n)
	}
	for _, n := range dirs {
		n.dir.changed = false
		n.busyGen = p.gen
		if n.unlinked {
			continue
		}
		v.planNode(p, n)
		v.planDir(p, n, updates[n])
	}
	for _, n := range p.newDirs {
		n.onDisk = true
	}
	p.newDirs = nil
	return p
}

// planNode plans the changes to the chain of n.
func (v *Volume) planNode(p *plan, n *node) {
	n.busyGen = p.gen
	n.mu.Lock()
	defer n.mu.Unlock()
	n.dirty = false
	if n.gone || !n.loaded {
		return
	}
	n.early = false
	need := n.chain.total
	if !n.isDir {
		need = min(need, v.clustersFor(n.size))
	}
	switch {
	case need > n.linked:
		p.chains = append(p.chains, n.chain.slice(n.linked, need))
		if n.linked > 0 {
			p.links = append(p.links, link{n.chain.at(n.linked - 1), n.chain.at(n.linked)})
		}
		n.linked = need
	case n.newEnd:
		p.ends = append(p.ends, n.chain.at(n.linked-1))
	}
	n.newEnd = false
}

// planDir plans the changes to the slots of directory n and of the entries of
// the nodes in it. It brings n.dir.raw to its final state on the way.
func (v *Volume) planDir(p *plan, n *node, updates []*node) {
	d := n.dir
	b := &dirPlan{v: v, n: n, d: d}
	for _, u := range d.garbage {
		d.dirty.set(u)
	}
	wholly := v.txn != nil || !n.onDisk
	if !wholly {
		b.dress(updates)
		b.early()
	}
	b.update(p, updates)
	switch {
	case !n.onDisk && v.txn == nil:
		// Nothing on the disk leads here before stage 2: all of it can go first.
		b.dot()
		p.early = b.emit(p.early, d.dirty, true)
	case v.txn != nil:
		b.dot()
		p.entries = b.emit(p.entries, d.dirty, true)
	default:
		p.early = append(p.early, b.earlyWrites...)
		p.entries = b.emit(p.entries, d.dirty, true)
		if b.dot() {
			p.dots = b.emit(p.dots, b.unitOf(1), true)
		}
		b.ghosts(p)
	}
	b.finish()
}
