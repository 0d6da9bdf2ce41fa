package fat32

import (
	"encoding/binary"
	"fmt"
	"math"
)

var (
	dotName    = [11]byte{'.', ' ', ' ', ' ', ' ', ' ', ' ', ' ', ' ', ' ', ' '}
	dotDotName = [11]byte{'.', '.', ' ', ' ', ' ', ' ', ' ', ' ', ' ', ' ', ' '}
)

// shortText is the name of a short entry as it is shown.
func shortText(p []byte) string {
	var name [11]byte
	copy(name[:], p)
	return unitsToString(appendShort(nil, &name, p[12]))
}

// setStart stores a first cluster in a slot.
func (g *Geometry) setStart(p []byte, cluster uint32) {
	binary.LittleEndian.PutUint16(p[26:], uint16(cluster))
	if g.Type == FAT32 {
		binary.LittleEndian.PutUint16(p[20:], uint16(cluster>>16))
	}
}

// isDirSlot: a used slot that is a subdirectory's entry. An entry with the
// volume bit counts as a directory only if it has a first cluster.
func (g *Geometry) isDirSlot(p []byte) bool {
	if p[0] == slotEnd || p[0] == slotDeleted || isLongSlot(p) || Attr(p[11])&AttrDirectory == 0 {
		return false
	}
	return Attr(p[11])&attrVolumeID == 0 || g.valid(g.Type.decodeEntry(p).cluster)
}

// checkTree walks the directories, widest first, and claims their clusters
// before any file can: a directory leads to many files, a file to none.
func (c *checker) checkTree() error {
	c.nodes = append(c.nodes, dirNode{parent: -1, start: c.g.RootCluster})
	if c.g.Type == FAT32 {
		if err := c.claimRoot(); err != nil {
			return err
		}
	}
	return c.walkTree(0)
}

// walkTree visits the nodes from index on, and those they lead to.
func (c *checker) walkTree(from int) error {
	for i := from; i < len(c.nodes); i++ {
		if err := c.tick("directories", int64(i), 0); err != nil {
			return err
		}
		if c.nodes[i].gone {
			continue
		}
		if err := c.visitDir(int32(i)); err != nil {
			return err
		}
	}
	return nil
}

// claimRoot claims the chain of a FAT32 root directory.
func (c *checker) claimRoot() error {
	start := c.g.RootCluster
	v, err := c.fat.get(start)
	if err != nil {
		return err
	}
	if v == entryFree || v == entryBad || v != entryFree && v < entryBad && !c.g.valid(v) {
		c.fix(CodeDirStart, "/", "the root directory's first cluster %d has FAT entry %#x; it becomes a chain of one cluster", start, v)
		if err := c.fat.set(start, entryEnd); err != nil {
			return err
		}
	}
	return c.claimDir(start, "/")
}

// claimDir claims the chain of a directory whose first cluster is known to be
// usable, and cuts it where it stops making sense.
func (c *checker) claimDir(start uint32, path string) error {
	most := uint32(max(1, maxDirBytes/c.g.ClusterSize))
	count := uint32(0)
	for at, last := start, uint32(0); ; {
		code, why := "", ""
		v := entryFree
		if c.g.valid(at) {
			var err error
			if v, err = c.fat.get(at); err != nil {
				return err
			}
		}
		switch {
		case !c.g.valid(at):
			code, why = CodeChainRange, "runs out of the volume"
		case v == entryFree:
			code, why = CodeChainFree, "runs into a free cluster"
		case v == entryBad:
			code, why = CodeChainBad, "runs into a bad cluster"
		case c.used.has(at):
			code, why = CodeCrossLink, "runs into clusters of another directory or into itself"
		case count == most:
			code, why = CodeDirTooBig, "is longer than 65,536 entries"
		}
		if code != "" {
			c.fix(code, path, "the directory's chain %s at cluster %d; it ends before, after %d clusters", why, at, count)
			return c.fat.set(last, entryEnd)
		}
		c.used.set(at)
		count++
		if err := c.tick("directories", int64(len(c.nodes)), 0); err != nil {
			return err
		}
		if v >= entryEndMin {
			return nil
		}
		at, last = v, at
	}
}

// visitDir looks at one directory: dots, subdirectories, end mark.
func (c *checker) visitDir(node int32) error {
	d, err := c.load(node)
	if err != nil {
		return err
	}
	c.report.Dirs++
	first := 0
	if node != 0 {
		first = 2
		if err := c.checkDots(d); err != nil {
			return err
		}
	} else {
		c.report.Dirs-- // the root is not counted
	}
	ended := false
	for i := first; i < d.slots(); i++ {
		p := d.slot(i)
		if p[0] == slotEnd {
			ended = true
			continue
		}
		if ended {
			if p[0] != slotDeleted {
				c.late = append(c.late, node)
				break
			}
			continue
		}
		if c.g.isDirSlot(p) {
			if err := c.checkSubdir(d, i); err != nil {
				return err
			}
		}
	}
	return c.store(d)
}

// dotStart is what the .. entry of a node must hold.
func (c *checker) dotDotStart(node int32) uint32 {
	parent := c.nodes[node].parent
	if parent <= 0 {
		return 0
	}
	return c.nodes[parent].start
}

// checkDots makes the first two slots . and .. as they must be.
func (c *checker) checkDots(d *checkDir) error {
	want := [2]struct {
		name  [11]byte
		start uint32
	}{{dotName, c.nodes[d.node].start}, {dotDotName, c.dotDotStart(d.node)}}
	for i, w := range want {
		p := d.slot(i)
		e := c.g.Type.decodeEntry(p)
		if e.name == w.name && e.cluster == w.start && e.size == 0 &&
			e.attr&(AttrDirectory|attrVolumeID) == AttrDirectory && e.attr&0xC0 == 0 && e.ntCase&noShort == 0 {
			continue
		}
		name := shortName(w.name)
		if e.name == w.name {
			c.fix(CodeDirDots, c.path(d.node), "%q points to cluster %d, should be %d, or has wrong attributes", name, e.cluster, w.start)
			e.cluster, e.size, e.attr, e.ntCase = w.start, 0, AttrDirectory, 0
		} else {
			c.fix(CodeDirDots, c.path(d.node), "%q is missing; it is put in", name)
			if d.live(i) {
				err := c.insert(d, i)
				if isNoSpace(err) {
					// No slot and no cluster: the entry in the way is lost.
					c.found(CodeDirDots, c.path(d.node), "no room to keep the entry in its place", true)
				} else if err != nil {
					return err
				}
			}
			p = d.slot(i)
			clear(p)
			e = dirEntry{name: w.name, attr: AttrDirectory, cluster: w.start, modify: c.now(), create: c.now()}
		}
		e.encode(c.g.Type, p)
		d.touch(i)
	}
	return nil
}

// now is the time for entries the checker makes.
func (c *checker) now() stamp { return encodeStamp(c.o.Now(), c.o.Location).coarse() }

// shortName is a short name as text, also "." and "..".
func shortName(name [11]byte) string {
	switch name {
	case dotName:
		return "."
	case dotDotName:
		return ".."
	}
	return unitsToString(appendShort(nil, &name, 0))
}

// checkSubdir decides whether the directory entry at slot i leads to a new
// directory, and claims it.
func (c *checker) checkSubdir(d *checkDir, i int) error {
	p := d.slot(i)
	e := c.g.Type.decodeEntry(p)
	path := func() string { return join(c.path(d.node), slotName(d.raw, i)) }
	if (e.name == dotName || e.name == dotDotName) &&
		(e.cluster == 0 || e.cluster == c.nodes[d.node].start || e.cluster == c.dotDotStart(d.node)) {
		c.fix(CodeDirDots, path(), "%q out of its place; it is removed", shortName(e.name))
		c.dropEntry(d, i)
		return nil
	}
	if !c.g.valid(e.cluster) {
		return c.dirWithoutStart(d, i, e, path())
	}
	if c.used.has(e.cluster) {
		return c.dirTwice(d, i, e, path())
	}
	ok, err := c.looksLikeDir(e, path)
	if err != nil {
		return err
	}
	if !ok {
		return c.dirToFile(d, i, e, path())
	}
	v, err := c.fat.get(e.cluster)
	if err != nil {
		return err
	}
	if v == entryFree || v == entryBad || v < entryBad && !c.g.valid(v) {
		c.fix(CodeDirStart, path(), "the directory's first cluster %d has FAT entry %#x but holds a directory; it becomes a chain of one cluster", e.cluster, v)
		if err := c.fat.set(e.cluster, entryEnd); err != nil {
			return err
		}
	}
	depth := c.nodes[d.node].depth + 1
	if depth > maxCheckDepth {
		c.incomplete = true
		c.found(CodeDirTooDeep, path(), fmt.Sprintf("more than %d levels; what is below is not looked at and kept as it is", maxCheckDepth), false)
		return nil
	}
	if err := c.claimDir(e.cluster, path()); err != nil {
		return err
	}
	c.addNode(dirNode{parent: d.node, start: e.cluster, slot: uint32(i), depth: depth})
	return nil
}

func (c *checker) addNode(n dirNode) {
	c.nodes = append(c.nodes, n)
	if c.byStart != nil {
		c.byStart[n.start] = int32(len(c.nodes) - 1)
	}
}

// dropEntry removes the short entry at slot i with its long name.
func (c *checker) dropEntry(d *checkDir, i int) {
	_, n := decodeLong(d.raw, i, nil)
	d.remove(i-n, i+1)
}

// dirWithoutStart handles a directory entry with an impossible first cluster.
func (c *checker) dirWithoutStart(d *checkDir, i int, e dirEntry, path string) error {
	c.fix(CodeDirStart, path, "the directory has first cluster %d, which is none; the entry is removed", e.cluster)
	c.dropEntry(d, i)
	return nil
}

// dirToFile makes a file of an entry that is no directory but for its bit.
func (c *checker) dirToFile(d *checkDir, i int, e dirEntry, path string) error {
	p := d.slot(i)
	size := e.size
	if size == 0 {
		n, err := c.chainLength(e.cluster, math.MaxUint32)
		if err != nil {
			return err
		}
		size = c.g.sizeOf(n)
	}
	c.fix(CodeNotDir, path, "marked as a directory but cluster %d holds none; it becomes a file of %d bytes", e.cluster, size)
	p[11] = byte((e.attr | AttrArchive) &^ (AttrDirectory | attrVolumeID))
	binary.LittleEndian.PutUint32(p[28:], size)
	d.touch(i)
	return nil
}

// chainLength counts the clusters of a chain up to the first that is not
// sound, bounded by most, by what a file can have, and by the budget.
func (c *checker) chainLength(at, most uint32) (uint32, error) {
	most = uint32(min(int64(most), int64(c.g.ClusterCount), math.MaxUint32/int64(c.g.ClusterSize)+1))
	for n := uint32(0); ; n++ {
		if !c.g.valid(at) || n == most || n > 0 && !c.afford() {
			return n, nil
		}
		v, err := c.fat.get(at)
		if err != nil {
			return 0, err
		}
		if v == entryFree || v == entryBad {
			return n, nil
		}
		at = v
	}
}

// looksLikeDir judges the clusters a directory entry leads to.
func (c *checker) looksLikeDir(e dirEntry, path func() string) (bool, error) {
	// A few sectors are enough, and bound the work per entry.
	const most = 16
	if c.notDir == nil {
		c.notDir = newBitmap(c.g.limit())
	}
	if c.notDir.has(e.cluster) {
		return false, nil
	}
	p := make([]byte, min(c.g.ClusterSize, 2048))
	good, bad := 0, 0
	first, at := entryEnd, e.cluster
	for n := 0; n < most && c.g.valid(at); n++ {
		if err := c.io.read(p, c.g.clusterOffset(at)); err != nil {
			return false, fmt.Errorf("directory %s: %w", path(), err)
		}
		if n == 0 && ([11]byte(p[:11]) == dotName || [11]byte(p[slotSize:slotSize+11]) == dotDotName) {
			return true, nil
		}
		v, err := c.fat.get(at)
		if err != nil {
			return false, err
		}
		if n == 0 {
			first = v
		}
		g, b := scoreSlots(c.g.Type, p, &c.g)
		good, bad = good+g, bad+b
		if v == at {
			break
		}
		at = v
	}
	// An empty cluster is a directory whose dots were lost.
	ok := good >= bad
	if first == entryFree || e.size != 0 {
		ok = good > bad
	}
	if !ok {
		c.notDir.set(e.cluster)
	}
	return ok, nil
}

// scoreSlots counts slots that look like directory entries and such that do
// not; free ones count as neither.
func scoreSlots(t Type, p []byte, g *Geometry) (good, bad int) {
	for ; len(p) >= slotSize; p = p[slotSize:] {
		s := p[:slotSize]
		switch {
		case s[0] == slotEnd:
			for _, b := range s[1:] {
				if b != 0 {
					bad++
					break
				}
			}
		case s[0] == slotDeleted:
		case isLongSlot(s):
			if order := s[0] &^ lfnLast; order >= 1 && order <= maxLFNSlots && s[12] == 0 && s[26] == 0 && s[27] == 0 {
				good++
			} else {
				bad++
			}
		default:
			e := t.decodeEntry(s)
			if e.attr&0xC0 == 0 && (e.cluster == 0 || g.valid(e.cluster)) && goodShort(&e.name) {
				good++
			} else {
				bad++
			}
		}
	}
	return good, bad
}

// goodShort reports whether an 8.3 name holds nothing that is impossible.
func goodShort(name *[11]byte) bool {
	if name[0] == ' ' {
		return false
	}
	for i, b := range name {
		if b < ' ' && !(i == 0 && b == slotKanji) || b == 0x7F || b == '.' || badLong.has(b) {
			return false
		}
	}
	return true
}
