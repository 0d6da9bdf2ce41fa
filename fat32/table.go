package fat32

// Limits of what is kept in memory beyond what is open or dirty.
const (
	keepNodes    = 8192     // nodes
	keepDirBytes = 32 << 20 // raw bytes of directories
)

// nodeTable lists the nodes in memory. Guarded by Volume.ns.
type nodeTable struct {
	all      []*node
	hand     int
	dirBytes int64
}

// pin keeps n in memory. The caller holds Volume.ns, shared or exclusive.
func (n *node) pin() *node { n.pins.Add(1); return n }

// unpin is the opposite; it needs no lock.
func (n *node) unpin() { n.pins.Add(-1) }

// addNodeLocked registers a new child of parent at slot.
func (v *Volume) addNodeLocked(n *node, parent *node, slot int32) {
	n.parent, n.slot = parent, slot
	if parent != nil {
		parent.dir.children[slot] = n
	}
	// Before n is in the table: it is not yet pinned or dirty, and a sweep that comes round would take it for forgotten.
	if len(v.table.all) >= keepNodes || v.table.dirBytes > keepDirBytes {
		v.sweepLocked(8)
	}
	v.table.all = append(v.table.all, n)
}

// childLocked returns the node of the entry at slot of parent, made if need
// be. Volume.ns is held exclusively.
func (v *Volume) childLocked(parent *node, slot int32) *node {
	if n := parent.dir.children[slot]; n != nil {
		n.hot.Store(true)
		return n
	}
	e := v.geo.Type.decodeEntry(parent.dir.slot(int(slot)))
	n := &node{id: v.ids.at(parent.place(slot)), onDisk: true}
	n.take(&e)
	v.addNodeLocked(n, parent, slot)
	return n
}

// evictableLocked: nothing would be lost by forgetting n, or if it is referred to, its content.
func (v *Volume) evictableLocked(n *node) bool {
	if n == v.root || n.pins.Load() > 0 || n.handles > 0 || n.busyGen > v.durable.Load() {
		return false
	}
	if n.dir != nil && (len(n.dir.children) > 0 || n.dir.changed) {
		return false
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	return !n.dirty || n.unlinked
}

// sweepLocked looks at most at steps nodes and forgets those not used since
// the last time it came by.
func (v *Volume) sweepLocked(steps int) {
	t := &v.table
	for ; steps > 0 && len(t.all) > 0; steps-- {
		if t.hand >= len(t.all) {
			t.hand = 0
		}
		n := t.all[t.hand]
		if n.hot.Load() && !n.unlinked || !v.evictableLocked(n) {
			n.hot.Store(false)
			t.hand++
			continue
		}
		referred := n.refs.Load() > 0
		if n.dir != nil && !(referred && n.unlinked) {
			t.dirBytes -= int64(len(n.dir.raw))
			n.dir = nil
		}
		if referred {
			t.hand++
			continue
		}
		v.alloc.drop(n)
		if n.parent != nil && !n.unlinked {
			delete(n.parent.dir.children, n.slot)
		}
		last := len(t.all) - 1
		t.all[t.hand] = t.all[last]
		t.all[last] = nil
		t.all = t.all[:last]
	}
}
