package fat32

import "hash/maphash"

// dirUnit is what a device may tear: a power cut leaves each unit of a write
// as it was or as it should be. Entry sets within one unit change atomically.
const (
	dirUnit      = 512
	slotsPerUnit = dirUnit / slotSize
)

// directory is the content of a directory in memory. It is guarded by
// Volume.ns. raw is what the disk will hold after the next flush, except that ghosts
// are still there and that short entries of dirty nodes are brought up to date only then.
type directory struct {
	raw      []byte  // whole slots
	used     bitset  // slots taken, by live entries or ghosts
	onDisk   bitset  // slots in use on the disk
	fresh    bitset  // short slots of sets made since the last snapshot
	ghostly  bitset  // short slots of ghosts
	dirty    bitset  // units to be written
	longs    []uint8 // long-name slots before the short entry in this slot
	index    nameIndex
	seed     maphash.Seed
	children map[int32]*node
	ghosts   []ghost
	vacated  map[string]struct{} // folded names given up by in-place renames since the last snapshot
	hint     [maxLFNSlots + 2]int32
	live     int   // entries that count for "empty"
	label    int32 // slot of the volume label, -1
	fixed    bool  // root directory of FAT12 and FAT16
	linked   int   // slots in clusters that are linked into the chain on the disk
	end      int   // slots before the end mark on the disk
	garbage  []int // units behind the end mark that are not zero on the disk
	changed  bool  // is in dirtySet.dirs
	damage   error // why a listing was incomplete when the directory was read
}

// ghost is an entry set that was removed but is still on the disk.
type ghost struct {
	slot  int32
	moved bool // the file lives on under another name
	isDir bool
}

func (d *directory) slots() int           { return len(d.raw) / slotSize }
func (d *directory) slot(i int) []byte    { return d.raw[i*slotSize : (i+1)*slotSize] }
func (d *directory) touch(from, to int)   { d.dirty.setRange(from/slotsPerUnit, (to-1)/slotsPerUnit+1) }
func (d *directory) setStart(s int32) int { return int(s) - int(d.longs[s]) }
func sameUnit(a, b int) bool              { return a/slotsPerUnit == b/slotsPerUnit }

// parseDirectory builds the in-memory form of raw, which it keeps. An end mark
// ends the directory whatever follows it.
func parseDirectory(raw []byte, seed maphash.Seed, isRoot bool) *directory {
	d := &directory{raw: raw, seed: seed, label: -1, children: make(map[int32]*node)}
	n := d.slots()
	d.resize(n)
	d.linked = n
	end := n
	var shorts []int32
	for i := range n {
		s := d.slot(i)
		if s[0] == slotEnd {
			end = i
			break
		}
		if s[0] == slotDeleted {
			continue
		}
		d.used.set(i)
		d.onDisk.set(i)
		switch {
		case isLongSlot(s):
		case Attr(s[11])&attrVolumeID != 0:
			if isRoot && d.label < 0 && Attr(s[11])&AttrDirectory == 0 {
				d.label = int32(i)
			}
		case isStrayDot(s, i, isRoot):
		default:
			shorts = append(shorts, int32(i))
		}
	}
	d.end = end
	d.findGarbage(end)
	d.index.reset(2 * len(shorts))
	// Backwards: the first of several entries with one name is to be found first.
	for k := len(shorts) - 1; k >= 0; k-- {
		s := shorts[k]
		var buf [maxLFNSlots * lfnUnits]uint16
		if units, n := decodeLong(d.raw, int(s), buf[:]); n > 0 && longNameSafe(units) {
			d.longs[s] = uint8(n)
		}
		d.indexSet(s)
		d.live++
	}
	return d
}

// isDotName reports whether a slot is called "." or "..".
func isDotName(s []byte) bool {
	name := string(s[:11])
	return name == ".          " || name == "..         "
}

// resize makes the per-slot tables fit n slots.
func (d *directory) resize(n int) {
	d.used = d.used.grow(n)
	d.onDisk = d.onDisk.grow(n)
	d.fresh = d.fresh.grow(n)
	d.ghostly = d.ghostly.grow(n)
	d.dirty = d.dirty.grow((n + slotsPerUnit - 1) / slotsPerUnit)
	for len(d.longs) < n {
		d.longs = append(d.longs, make([]uint8, n-len(d.longs))...)
	}
}

// findGarbage zeroes everything from slot end on in memory and remembers the
// units that are not zero on the disk: entries put at the end would bring them to life.
func (d *directory) findGarbage(end int) {
	for u := end / slotsPerUnit; u*dirUnit < len(d.raw); u++ {
		from := max(u*dirUnit, end*slotSize)
		part := d.raw[from:min((u+1)*dirUnit, len(d.raw))]
		for i := range part {
			if part[i] != 0 {
				d.garbage = append(d.garbage, u)
				clear(part)
				break
			}
		}
	}
}

// shownUnits appends the name of the entry at slot s as it is shown.
func (d *directory) shownUnits(dst []uint16, s int32) []uint16 {
	if d.longs[s] > 0 {
		dst, _ = decodeLong(d.raw, int(s), dst)
		return replaceLoneSurrogates(dst)
	}
	p := d.slot(int(s))
	return appendShort(dst, (*[11]byte)(p[:11]), p[12])
}

func (d *directory) name(s int32) string {
	var buf [maxLFNSlots * lfnUnits]uint16
	return unitsToString(d.shownUnits(buf[:0], s))
}

// shortFolded appends the folded short name of slot s.
func (d *directory) shortFolded(dst []uint16, s int32) []uint16 {
	return foldUnits(appendShort(dst, (*[11]byte)(d.slot(int(s))[:11]), 0))
}

// indexSet and unindexSet add and remove both names of the set at s.
func (d *directory) indexSet(s int32)   { d.eachHash(s, d.index.insert) }
func (d *directory) unindexSet(s int32) { d.eachHash(s, d.index.remove) }

func (d *directory) eachHash(s int32, f func(uint32, int32)) {
	var buf [maxLFNSlots * lfnUnits]uint16
	short := hashUnits(d.seed, d.shortFolded(buf[:0], s))
	f(short, s)
	if d.longs[s] > 0 {
		if long := hashUnits(d.seed, foldUnits(d.shownUnits(buf[:0], s))); long != short {
			f(long, s)
		}
	}
}

// query is a name prepared for lookups.
type query struct {
	exact  [maxName]uint16
	folded [maxName]uint16
	n      int
	bad    bool // longer than any name
	hash   uint32
}

func (q *query) prepare(seed maphash.Seed, name string) {
	if len(name) > 3*maxName {
		q.bad = true
		return
	}
	units := appendUnits(q.exact[:0], name)
	if len(units) > maxName {
		q.bad = true
		return
	}
	q.n = copy(q.folded[:], units)
	foldUnits(q.folded[:q.n])
	q.hash = hashUnits(seed, q.folded[:q.n])
}

// find returns the live entry called q, preferring the exact spelling; -1 if
// there is none.
func (d *directory) find(q *query) int32 {
	s, _ := d.search(q, false)
	return s
}

// search looks among live entries or ghosts.
func (d *directory) search(q *query, ghosts bool) (best int32, exact bool) {
	best = -1
	if q.bad {
		return best, false
	}
	var buf [maxLFNSlots * lfnUnits]uint16
	for l := d.index.first(q.hash); l >= 0; l = d.index.after(l) {
		s := d.index.links[l].slot
		if d.ghostly.has(int(s)) != ghosts {
			continue
		}
		shown := d.shownUnits(buf[:0], s)
		if equalUnits(shown, q.exact[:q.n]) {
			return s, true
		}
		if best >= 0 {
			continue
		}
		if equalUnits(foldUnits(shown), q.folded[:q.n]) || equalUnits(d.shortFolded(buf[:0], s), q.folded[:q.n]) {
			best = s
		}
	}
	return best, false
}

func equalUnits(a, b []uint16) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// shortTaken reports whether a short name is in use, also by a ghost or by a
// name given up since the last snapshot. except, if not negative, does not count.
func (d *directory) shortTaken(short *[11]byte, except int32) bool {
	var want, buf [maxLFNSlots * lfnUnits]uint16
	folded := foldUnits(appendShort(want[:0], short, 0))
	hash := hashUnits(d.seed, folded)
	for l := d.index.first(hash); l >= 0; l = d.index.after(l) {
		s := d.index.links[l].slot
		if s != except && (equalUnits(d.shortFolded(buf[:0], s), folded) || equalUnits(foldUnits(d.shownUnits(buf[:0], s)), folded)) {
			return true
		}
	}
	return d.isVacated(folded)
}

func (d *directory) isVacated(folded []uint16) bool {
	if len(d.vacated) == 0 {
		return false
	}
	_, ok := d.vacated[unitsToString(folded)]
	return ok
}
