package fat32

// checkLate looks at directories with entries after their end mark. Windows
// does not see such entries, Linux does. They are kept where everything about
// them fits (a damaged first byte must not cost the rest of a directory), and
// cleared otherwise (clusters that were never cleared hold stale ones).
func (c *checker) checkLate() error { return c.lateFrom(0) }

// lateFrom does so for the directories from an index of c.late on; those that
// turn up on the way are appended and get their turn.
func (c *checker) lateFrom(i int) error {
	for ; i < len(c.late); i++ {
		from := len(c.nodes)
		if err := c.lateEntries(c.late[i]); err != nil {
			return err
		}
		if err := c.walkTree(from); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) lateEntries(node int32) error {
	if c.nodes[node].gone {
		return nil
	}
	d, err := c.load(node)
	if err != nil {
		return err
	}
	end := 0
	for end < d.slots() && d.slot(end)[0] != slotEnd {
		end++
	}
	keep := make([]bool, d.slots())
	last, kept, gone := end-1, 0, 0
	for i := end; i < d.slots(); i++ {
		p := d.slot(i)
		if !d.live(i) || isLongSlot(p) {
			continue
		}
		ok, err := c.keepLate(d, i)
		if err != nil {
			return err
		}
		if !ok {
			gone++
			continue
		}
		kept++
		_, n := decodeLong(d.raw[end*slotSize:], i-end, nil)
		for k := i - n; k <= i; k++ {
			keep[k] = true
		}
		last = i
	}
	if kept+gone > 0 {
		c.fix(CodeAfterEnd, c.path(node), "entries after the end mark: %d are sound and kept, %d are cleared", kept, gone)
	} else {
		c.fix(CodeLongNameParts, c.path(node), "long-name slots after the end mark belong to no entry; they are removed")
	}
	for i := end; i < d.slots(); i++ {
		switch {
		case keep[i]:
		case i < last:
			d.remove(i, i+1)
		case d.raw[i*slotSize] != slotEnd:
			clear(d.slot(i))
			d.touch(i)
		}
	}
	return c.store(d)
}

// keepLate judges a short entry behind the end mark; a directory that is kept
// becomes a node.
func (c *checker) keepLate(d *checkDir, i int) (bool, error) {
	p := d.slot(i)
	e := c.g.Type.decodeEntry(p)
	if e.attr&(0xC0|attrVolumeID) != 0 || !goodShort(&e.name) || e.modify.date == 0 {
		return false, nil
	}
	if e.attr&AttrDirectory == 0 {
		return c.exactChain(e)
	}
	if !c.g.valid(e.cluster) || c.used.has(e.cluster) || e.size != 0 || c.nodes[d.node].depth >= maxCheckDepth {
		return false, nil
	}
	v, err := c.fat.get(e.cluster)
	if err != nil || v == entryFree || v == entryBad {
		return false, err
	}
	dots := make([]byte, slotSize)
	if err := c.io.read(dots, c.g.clusterOffset(e.cluster)); err != nil {
		return false, err
	}
	if [11]byte(dots[:11]) != dotName || c.g.Type.decodeEntry(dots).cluster != e.cluster {
		return false, nil
	}
	if err := c.claimDir(e.cluster, join(c.path(d.node), slotName(d.raw, i))); err != nil {
		return false, err
	}
	c.addNode(dirNode{parent: d.node, start: e.cluster, slot: uint32(i), depth: c.nodes[d.node].depth + 1})
	return true, nil
}

// exactChain reports whether a file has exactly the chain its size asks for,
// free of directories' clusters.
func (c *checker) exactChain(e dirEntry) (bool, error) {
	need := c.g.clustersFor(e.size)
	if need == 0 {
		return e.cluster == 0, nil
	}
	at := e.cluster
	for ; need > 0; need-- {
		if !c.g.valid(at) || c.used.has(at) || !c.afford() {
			return false, nil
		}
		v, err := c.fat.get(at)
		if err != nil {
			return false, err
		}
		if v == entryFree || v == entryBad {
			return false, nil
		}
		at = v
		if err := c.tick("directories", int64(len(c.nodes)), 0); err != nil {
			return false, err
		}
	}
	return at >= entryEndMin, nil
}
