package fat32

// findRun returns the first of k free slots in a row, or -1. It never leaves
// an unused slot before the one it returns that was not used before: such a slot
// would be the end mark.
func (d *directory) findRun(k int) int {
	n := d.slots()
	i := int(d.hint[k])
	for {
		i = d.used.nextClear(i, n)
		end := d.used.next(i, min(i+k, n))
		if end-i == k {
			d.hint[k] = int32(i)
			return i
		}
		if end >= n {
			d.hint[k] = int32(i) // what is free at the end counts when the directory grows
			return -1
		}
		i = end
	}
}

// freeSlots makes from..to-1 available.
func (d *directory) freeSlots(from, to int) {
	d.used.clearRange(from, to)
	for k := range d.hint {
		d.hint[k] = min(d.hint[k], int32(max(0, from-k+1)))
	}
}

// grow appends zeroed slots, not yet linked on the disk.
func (d *directory) grow(bytes int) {
	from := d.slots()
	d.raw = append(d.raw, make([]byte, bytes)...)
	d.resize(d.slots())
	d.touch(from, d.slots())
}

// newSet is an entry set about to be written.
type newSet struct {
	units  []uint16 // long name, nil if the short one is all
	short  [11]byte
	ntCase byte
}

// slots is the number of slots of the set.
func (s *newSet) slots() int { return longSlots(len(s.units)) + 1 }

// makeSet chooses the short name for a new entry called name; except is a slot
// whose short name may be taken over, -1 for none.
func (d *directory) makeSet(name string, except int32) (s newSet, ok bool) {
	var long bool
	s.short, s.ntCase, long, ok = shortNameFor(name, func(short *[11]byte) bool { return d.shortTaken(short, except) })
	if long {
		s.units = appendUnits(make([]uint16, 0, len(name)), name)
	}
	return s, ok
}

// put writes a set with an otherwise empty short entry at slot from and
// returns the slot of the short entry. The slots must be free.
func (d *directory) put(set *newSet, from int) int32 {
	k := set.slots()
	short := from + k - 1
	d.putRaw(set, from)
	d.used.setRange(from, from+k)
	d.longs[short] = uint8(k - 1)
	d.fresh.set(short)
	d.indexSet(int32(short))
	d.touch(from, from+k)
	d.live++
	return int32(short)
}

// putRaw writes the bytes of a set.
func (d *directory) putRaw(set *newSet, from int) {
	k := set.slots()
	p := d.raw[from*slotSize : (from+k)*slotSize]
	clear(p)
	if k > 1 {
		encodeLong(p, set.units, shortChecksum(set.short[:]))
	}
	s := p[(k-1)*slotSize:]
	copy(s, set.short[:])
	s[12] = set.ntCase
}

// erase marks the slots of the set at s deleted, takes its names out of the
// index and frees the slots.
func (d *directory) erase(s int32) {
	from, to := d.setStart(s), int(s)+1
	d.unindexSet(s)
	for i := from; i < to; i++ {
		d.slot(i)[0] = slotDeleted
	}
	d.longs[s] = 0
	d.fresh.clear(int(s))
	d.ghostly.clear(int(s))
	d.freeSlots(from, to)
	d.touch(from, to)
}

// remove takes the entry at s out of the directory. If ordered and on the disk,
// it stays as a ghost until the snapshot.
func (d *directory) remove(s int32, ordered bool, g ghost) {
	d.live--
	delete(d.children, s)
	if !ordered || !d.onDisk.has(int(s)) {
		d.erase(s)
		return
	}
	g.slot = s
	d.ghostly.set(int(s))
	d.ghosts = append(d.ghosts, g)
}

// revive brings the ghost at s back as a live entry with the same name.
func (d *directory) revive(s int32) {
	for i := range d.ghosts {
		if d.ghosts[i].slot == s {
			d.ghosts = append(d.ghosts[:i], d.ghosts[i+1:]...)
			break
		}
	}
	d.ghostly.clear(int(s))
	d.live++
	d.touch(int(s), int(s)+1)
}

// ghostAt returns the ghost at s.
func (d *directory) ghostAt(s int32) (g ghost) {
	for _, g = range d.ghosts {
		if g.slot == s {
			return g
		}
	}
	return ghost{slot: -1}
}

// renameInUnit gives the entry at s another name within its unit of the disk,
// so that one write does it. It returns the new slot of the short entry, or -1 if
// the unit has no room or the set lies in more than one. The set must be on the disk.
func (d *directory) renameInUnit(s int32, set *newSet) int32 {
	from, to, k := d.setStart(s), int(s)+1, set.slots()
	if !sameUnit(from, to-1) || k > slotsPerUnit {
		return -1
	}
	first := from / slotsPerUnit * slotsPerUnit
	last := min(first+slotsPerUnit, d.slots())
	d.used.clearRange(from, to)
	at := -1
	for i := d.used.nextClear(first, last); i < last; i = d.used.nextClear(i, last) {
		end := d.used.next(i, min(i+k, last))
		if end-i == k {
			at = i
			break
		}
		i = end
	}
	d.used.setRange(from, to)
	if at < 0 {
		return -1
	}
	d.vacate(s)
	entry := [slotSize]byte(d.slot(int(s)))
	child := d.children[s]
	d.live--
	delete(d.children, s)
	d.erase(s)
	n := d.put(set, at)
	copy(d.slot(int(n))[13:], entry[13:])
	d.slot(int(n))[11] = entry[11]
	d.slot(int(n))[12] |= entry[12] &^ (1<<moveShift - 1)
	// To the disk it is the same set: moved again or removed, it leaves a ghost.
	d.fresh.clear(int(n))
	d.onDisk.set(int(n))
	if child != nil {
		d.children[n] = child
	}
	return n
}

// vacate notes that the names of the set at s are given up but still on the disk.
func (d *directory) vacate(s int32) {
	if !d.onDisk.has(int(s)) {
		return
	}
	if d.vacated == nil {
		d.vacated = make(map[string]struct{})
	}
	var buf [maxLFNSlots * lfnUnits]uint16
	d.vacated[unitsToString(foldUnits(d.shownUnits(buf[:0], s)))] = struct{}{}
	d.vacated[unitsToString(d.shortFolded(buf[:0], s))] = struct{}{}
}
