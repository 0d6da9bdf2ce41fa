package fat32

// dirPlan is the work on one directory.
type dirPlan struct {
	v           *Volume
	n           *node
	d           *directory
	earlyWrites []ioWrite
}

// unitOf returns the set of the unit that holds slot s.
func (b *dirPlan) unitOf(s int) bitset {
	u := newBitset(len(b.d.dirty) * 64)
	u.set(s / slotsPerUnit)
	return u
}

// early makes the images for stage 0: clusters not linked yet, long-name slots
// whose short entry lies in another unit, garbage behind the end, and units that hide the
// old end mark. New short entries are left out, and short entries are as they were.
func (b *dirPlan) early() {
	d := b.d
	units := newBitset(len(d.dirty) * 64)
	slots := d.slots()
	nUnits := (slots + slotsPerUnit - 1) / slotsPerUnit
	for u := d.dirty.next(0, nUnits); u < nUnits; u = d.dirty.next(u+1, nUnits) {
		if u*slotsPerUnit >= d.linked {
			units.set(u)
		}
		end := min((u+1)*slotsPerUnit, slots)
		for s := d.fresh.next(u*slotsPerUnit, end); s < end; s = d.fresh.next(s+1, end) {
			for w := d.setStart(int32(s)) / slotsPerUnit; w < u; w++ {
				units.set(w)
			}
		}
	}
	for _, u := range d.garbage {
		units.set(u)
	}
	b.coverEnd(units)
	b.earlyWrites = b.emit(nil, units, false)
	// The copies still hold the new short entries: mask them.
	for _, w := range b.earlyWrites {
		first := w.slot
		for i := range len(w.data) / slotSize {
			if s := first + i; d.fresh.has(s) {
				w.data[i*slotSize] = slotDeleted
			}
		}
	}
}

// dress brings times and attributes up to date where nothing else changed, so
// that a file renamed in place, in a unit that goes with stage 0, has them there too.
func (b *dirPlan) dress(updates []*node) {
	t := b.v.geo.Type
	for _, n := range updates {
		slot := b.d.slot(int(n.slot))
		if old := t.decodeEntry(slot); old.cluster == n.start && (n.isDir || int64(old.size) == n.size) {
			n.store(t, slot)
		}
	}
}

// coverEnd adds the units between the old end mark and the last unit in use.
// Stage 0 fills them with deleted slots, so that no order in which stage 2 reaches the
// disk can leave an entry behind an end mark, where readers would not see it.
func (b *dirPlan) coverEnd(units bitset) {
	if end := b.newEnd(); end > b.d.end {
		units.setRange(b.d.end/slotsPerUnit, (end-1)/slotsPerUnit)
	}
}

// newEnd returns how many slots will be before the end mark.
func (b *dirPlan) newEnd() int {
	end := b.d.end
	for end < b.d.slots() && b.d.slot(end)[0] != slotEnd {
		end++
	}
	return end
}

// update brings the short entries of changed nodes up to date.
func (b *dirPlan) update(p *plan, updates []*node) {
	t := b.v.geo.Type
	for _, n := range updates {
		slot := b.d.slot(int(n.slot))
		if old := t.decodeEntry(slot); !n.isDir && (old.cluster != n.start || int64(old.size) < n.size) {
			p.growth = true
		}
		n.store(t, slot)
		b.d.touch(int(n.slot), int(n.slot)+1)
		if n.isDir && !n.onDisk {
			p.newDirs = append(p.newDirs, n)
		}
	}
}

// dot brings .. up to date after a move and reports whether it had to.
func (b *dirPlan) dot() bool {
	n := b.n
	if !n.newDot {
		return false
	}
	n.newDot = false
	t, slot := b.v.geo.Type, b.d.slot(1)
	if !isDotName(slot) {
		return false // a foreign volume without dot entries
	}
	e := t.decodeEntry(slot)
	e.cluster = b.v.parentRef(n.parent)
	e.encode(t, slot)
	b.d.dirty.set(1 / slotsPerUnit)
	return true
}

// ghosts plans the removal of entry sets: the unit of the short entry first,
// what lies before it in other units later.
func (b *dirPlan) ghosts(p *plan) {
	d := b.d
	if len(d.ghosts) == 0 {
		return
	}
	size := len(d.dirty) * 64
	first, later := newBitset(size), newBitset(size)
	for _, g := range d.ghosts {
		d.unindexSet(g.slot)
	}
	for _, g := range d.ghosts {
		unit := int(g.slot) / slotsPerUnit
		first.set(unit)
		for i := d.setStart(g.slot); i <= int(g.slot); i++ {
			if i/slotsPerUnit == unit {
				d.slot(i)[0] = slotDeleted
			} else {
				later.set(i / slotsPerUnit)
			}
		}
	}
	p.removals = b.emit(p.removals, first, true)
	for _, g := range d.ghosts {
		from, to := d.setStart(g.slot), int(g.slot)+1
		for i := from; i < to; i++ {
			d.slot(i)[0] = slotDeleted
		}
		d.longs[g.slot] = 0
		d.ghostly.clear(int(g.slot))
		d.freeSlots(from, to)
	}
	p.leftovers = b.emit(p.leftovers, later, true)
	d.ghosts = nil
	for i := range d.dirty {
		d.dirty[i] |= first[i] | later[i]
	}
}

// finish records that what was planned is as good as on the disk: plans are
// carried out one after the other.
func (b *dirPlan) finish() {
	d := b.d
	units := (d.slots() + slotsPerUnit - 1) / slotsPerUnit
	for u := d.dirty.next(0, units); u < units; u = d.dirty.next(u+1, units) {
		for s := u * slotsPerUnit; s < min((u+1)*slotsPerUnit, d.slots()); s++ {
			if c := d.slot(s)[0]; c == slotEnd || c == slotDeleted {
				d.onDisk.clear(s)
			} else {
				d.onDisk.set(s)
			}
		}
	}
	clear(d.dirty)
	clear(d.fresh)
	d.linked = d.slots()
	d.end = b.newEnd()
	d.garbage, d.vacated = nil, nil
}

// dirGroup is the number of units written together when one of them changed,
// where that is harmless: 4 KiB.
const dirGroup = 8

// emit appends writes of copies of units. With group, neighbours are
// written too: they are as on the disk.
func (b *dirPlan) emit(list []ioWrite, units bitset, group bool) []ioWrite {
	d := b.d
	n := (d.slots() + slotsPerUnit - 1) / slotsPerUnit
	for u := units.next(0, n); u < n; {
		end := units.nextClear(u, n)
		from := u
		if group {
			from = u / dirGroup * dirGroup
			end = min((end+dirGroup-1)/dirGroup*dirGroup, n)
			for units.next(end, min(end+dirGroup, n)) < min(end+dirGroup, n) {
				end = min(end+dirGroup, n)
			}
		}
		list = b.emitBytes(list, from*dirUnit, min(end*dirUnit, len(d.raw)))
		u = units.next(end, n)
	}
	return list
}

// emitBytes appends writes of the bytes from..to-1 of the directory.
func (b *dirPlan) emitBytes(list []ioWrite, from, to int) []ioWrite {
	v, d := b.v, b.d
	for from < to {
		var at int64
		end := to
		if d.fixed {
			at = v.geo.RootOffset + int64(from)
		} else {
			index := uint32(from >> v.shift)
			k := b.n.chain.find(index)
			run := b.n.chain.runs[k]
			skip := index - b.n.chain.first[k]
			at = v.geo.clusterOffset(run.start+skip) + int64(from&(v.geo.ClusterSize-1))
			runEnd := (int64(b.n.chain.first[k]) + int64(run.count)) << v.shift
			end = int(min(int64(to), runEnd))
		}
		list = append(list, ioWrite{off: at, data: append([]byte(nil), d.raw[from:end]...), slot: from / slotSize})
		from = end
	}
	return list
}
