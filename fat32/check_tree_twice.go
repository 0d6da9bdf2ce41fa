package fat32

// dirTwice handles a directory entry whose first cluster belongs to a
// directory already: a cycle, or a second way to the same directory. Which of
// two ways is right is told by the directory's .. entry, which a move writes
// after the new entry and before the old one goes.
func (c *checker) dirTwice(d *checkDir, i int, e dirEntry, path string) error {
	owner, ok := c.nodeAt(e.cluster)
	ok = ok && !c.yields(d.node, owner)
	if ok && owner != 0 && !c.inside(d.node, owner) {
		if newer, known, err := c.newerDir(d, owner, e); err != nil {
			return err
		} else if newer {
			return c.moveNode(owner, d, i, path)
		} else if known {
			ok = false
		}
	}
	if ok && owner != 0 && c.nodes[owner].parent != d.node && !c.inside(d.node, owner) {
		up, err := c.dotDotOf(e.cluster)
		if err != nil {
			return err
		}
		here := c.nodes[d.node].start
		if d.node == 0 {
			here = 0
		}
		if up == here {
			return c.moveNode(owner, d, i, path)
		}
	}
	c.fix(CodeDirCycle, path, "cluster %d is a directory that is reached by another way already; this entry is removed", e.cluster)
	c.dropEntry(d, i)
	return nil
}

// newerDir compares the move counters of entry e in d and of the entry by
// which its directory was reached first. known is false if they do not tell.
func (c *checker) newerDir(d *checkDir, owner int32, e dirEntry) (newer, known bool, err error) {
	n := c.nodes[owner]
	from := d
	if n.parent != d.node {
		if from, err = c.load(n.parent); err != nil {
			return false, false, err
		}
	}
	old := c.g.Type.decodeEntry(from.slot(int(n.slot)))
	if old.cluster != e.cluster || !c.report.Dirty {
		return false, false, nil
	}
	newer = nextMove(old.ntCase)>>moveShift == e.ntCase>>moveShift
	return newer, newer || nextMove(e.ntCase)>>moveShift == old.ntCase>>moveShift, nil
}

// moveNode keeps the entry at slot i of d and removes the one by which the
// directory was reached first.
func (c *checker) moveNode(owner int32, d *checkDir, i int, path string) error {
	old := c.nodes[owner]
	oldPath := c.path(owner)
	from := d
	if old.parent != d.node {
		var err error
		if from, err = c.load(old.parent); err != nil {
			return err
		}
	}
	c.fix(CodeDirCycle, oldPath, "the same directory is reached as %q, where it was moved to; this entry is removed", path)
	c.rootChanged = c.rootChanged || old.parent == 0
	c.dropEntry(from, int(old.slot))
	if from != d {
		if err := c.store(from); err != nil {
			return err
		}
	}
	c.nodes[owner].parent, c.nodes[owner].slot = d.node, uint32(i)
	c.nodes[owner].depth = c.nodes[d.node].depth + 1
	// A directory visited under its old parent was given that parent's "..".
	return c.setDotDot(owner)
}

// setDotDot writes the .. entry of a node as its parent demands.
func (c *checker) setDotDot(node int32) error {
	d, err := c.load(node)
	if err != nil {
		return err
	}
	p := d.slot(1)
	if [11]byte(p[:11]) != dotDotName {
		return nil // visiting it will put that right
	}
	c.g.setStart(p, c.dotDotStart(node))
	d.touch(1)
	return c.store(d)
}

// nodeAt finds the node that begins at a cluster.
func (c *checker) nodeAt(cluster uint32) (int32, bool) {
	if c.byStart == nil {
		c.byStart = make(map[uint32]int32, len(c.nodes))
		for i, n := range c.nodes {
			if !n.gone {
				c.byStart[n.start] = int32(i)
			}
		}
	}
	node, ok := c.byStart[cluster]
	return node, ok
}

// inside reports whether node lies in the tree below top, or is top.
func (c *checker) inside(node, top int32) bool {
	for range maxCheckDepth + 2 {
		if node == top {
			return true
		}
		if node < 0 {
			return false
		}
		node = c.nodes[node].parent
	}
	return true // deeper than possible: take no risk
}

// dotDotOf reads where the .. entry of the directory at a cluster points.
func (c *checker) dotDotOf(cluster uint32) (uint32, error) {
	p := make([]byte, 2*slotSize)
	if err := c.io.read(p, c.g.clusterOffset(cluster)); err != nil {
		return 0, err
	}
	if [11]byte(p[slotSize:slotSize+11]) != dotDotName {
		return entryBad, nil
	}
	start := c.g.Type.decodeEntry(p[slotSize:]).cluster
	if c.g.Type == FAT32 && start == c.g.RootCluster {
		start = 0
	}
	return start, nil
}
