package fat32

import "fmt"

// startOwner is the first file found with a first cluster that others claim too.
type startOwner struct {
	entryRef
	e     dirEntry
	found bool
}

// checkConflicts settles files whose first cluster had an owner. On a dirty
// volume two files of one start and size are one file under two names, left by
// a cut during a rename; everywhere else the second gets a copy.
func (c *checker) checkConflicts() error {
	if len(c.conflicts) == 0 {
		return nil
	}
	owners := make(map[uint32]*startOwner, len(c.conflicts))
	for _, r := range c.conflicts {
		owners[r.start] = &startOwner{}
	}
	if err := c.findOwners(owners); err != nil {
		return err
	}
	// Conflicts come in the order of directories: each is read once.
	var d *checkDir
	for _, r := range c.conflicts {
		if err := c.tick("files", 0, 0); err != nil {
			return err
		}
		if d == nil || d.node != r.node {
			var err error
			if d, err = c.load(r.node); err != nil {
				return err
			}
		}
		if err := c.settleConflict(d, r, owners[r.start]); err != nil {
			return err
		}
	}
	c.conflicts = nil
	return nil
}

// findOwners goes through the directories once more for the files that own the
// contested clusters.
func (c *checker) findOwners(owners map[uint32]*startOwner) error {
	waiting := make(map[entryRef]bool, len(c.conflicts))
	for _, r := range c.conflicts {
		waiting[r] = true
	}
	for i := range c.nodes {
		if err := c.tick("files", int64(i), int64(len(c.nodes))); err != nil {
			return err
		}
		if c.nodes[i].gone {
			continue
		}
		d, err := c.load(int32(i))
		if err != nil {
			return err
		}
		for k := range d.slots() {
			p := d.slot(k)
			if p[0] == slotEnd {
				break
			}
			if p[0] == slotDeleted || isLongSlot(p) || Attr(p[11])&(AttrDirectory|attrVolumeID) != 0 {
				continue
			}
			e := c.g.Type.decodeEntry(p)
			o := owners[e.cluster]
			ref := entryRef{node: int32(i), slot: uint32(k), start: e.cluster}
			if o != nil && !o.found && !waiting[ref] {
				*o = startOwner{entryRef: ref, e: e, found: true}
			}
		}
	}
	return nil
}

// settleConflict settles one file, whose directory d is.
func (c *checker) settleConflict(d *checkDir, r entryRef, owner *startOwner) error {
	i := int(r.slot)
	e := c.g.Type.decodeEntry(d.slot(i))
	if e.cluster != r.start || !d.live(i) {
		return nil // settled together with another one
	}
	if owner.found && c.report.Dirty && owner.e.size == e.size {
		return c.twoNames(d, i, e, owner)
	}
	need := c.g.clustersFor(e.size)
	end, err := c.walkFile(e.cluster, need)
	if err != nil {
		return err
	}
	if err := c.settleFile(d, i, e, need, end); err != nil {
		return err
	}
	return c.store(d)
}

// twoNames removes one of two names of a file.
func (c *checker) twoNames(d *checkDir, i int, e dirEntry, owner *startOwner) error {
	c.report.Files--
	if !newerName(e, owner.e) || c.yields(d.node, owner.node) {
		c.fix(CodeTwoNames, c.entryPath(d, i), "the same file as %q, left by an interrupted rename; this name is removed", c.pathOf(owner.entryRef))
		c.rootChanged = c.rootChanged || d.node == 0
		c.dropEntry(d, i)
		return c.store(d)
	}
	keep := entryRef{node: d.node, slot: uint32(i), start: e.cluster}
	from := d
	if owner.node != d.node {
		var err error
		if from, err = c.load(owner.node); err != nil {
			return err
		}
	}
	c.fix(CodeTwoNames, c.pathOf(owner.entryRef), "the same file as %q, left by an interrupted rename; this name is removed", c.pathOf(keep))
	c.rootChanged = c.rootChanged || owner.node == 0
	c.dropEntry(from, int(owner.slot))
	owner.entryRef, owner.e = keep, e
	if err := c.store(from); err != nil {
		return fmt.Errorf("two names: %w", err)
	}
	return nil
}

// newerName reports whether a is the name the file was to get, when a and b
// are entries of one file. The move counter tells; without it (a driver that
// has none) nothing does, and the name found first stays.
func newerName(a, b dirEntry) bool {
	if a.ntCase>>moveShift != b.ntCase>>moveShift {
		return a.ntCase>>moveShift == nextMove(b.ntCase)>>moveShift
	}
	if a.modify != b.modify {
		return a.modify.date > b.modify.date || a.modify.date == b.modify.date && a.modify.clock > b.modify.clock
	}
	return false
}

// The two top bits of a short entry's case byte count moves, modulo 4: the
// entry a rename writes holds one more than the entry it takes the file from.
// Nothing else uses these bits, and no other system looks at them. See
// docs/adr-0100-move-counter.md.
const moveShift = 6

// nextMove returns the case byte of the new entry of a file that is moved, from
// the case byte of the entry that is on the disk.
func nextMove(ntCase byte) byte { return ntCase&(1<<moveShift-1) | (ntCase>>moveShift+1)<<moveShift }

func (c *checker) pathOf(r entryRef) string {
	return join(c.path(r.node), c.nameAt(r.node, int(r.slot)))
}

// cutEnds ends the chains that were longer than their files.
func (c *checker) cutEnds() error {
	for _, last := range c.ends {
		if err := c.fat.set(last, entryEnd); err != nil {
			return err
		}
	}
	c.ends = nil
	return nil
}
