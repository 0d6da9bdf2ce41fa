package fat32

import (
	"fmt"
	"math"
)

// checkLost counts clusters and deals with those that nothing refers to.
func (c *checker) checkLost() error {
	// What refers to clusters must be durable before clusters are freed.
	if err := c.commit(); err != nil {
		return err
	}
	if c.o.Repair && c.o.KeepLost {
		if err := c.keepLost(); err != nil {
			return err
		}
	}
	lost, kept := uint32(0), false
	for n := uint32(firstCluster); n < c.g.limit(); n++ {
		if err := c.tick("clusters", int64(n), int64(c.g.ClusterCount)); err != nil {
			return err
		}
		v, err := c.fat.get(n)
		if err != nil {
			return err
		}
		switch {
		case v == entryFree:
			c.free++
		case c.used.has(n):
		case v == entryBad:
			c.bad++
		default:
			lost++
			if c.incomplete || !c.o.Repair {
				kept = true
				continue
			}
			if err := c.fat.set(n, entryFree); err != nil {
				return err
			}
			c.free++
		}
	}
	c.report.ClustersLost += lost
	if lost == 0 {
		return nil
	}
	if kept && !c.incomplete {
		c.free += lost // what repair would make of them
	}
	what := "freed"
	switch {
	case c.incomplete:
		what = "left as they are"
	case c.o.KeepLost:
		what = "kept as files FSCK0000.REC and so on, or as the folders they were"
	}
	c.found(CodeLostChain, "", fmt.Sprintf("%d clusters (%d bytes) are in use and belong to nothing; they are %s",
		lost, int64(lost)*int64(c.g.ClusterSize), what), !c.incomplete)
	return nil
}

// lostCluster reports whether cluster n is in use and belongs to nothing.
func (c *checker) lostCluster(n uint32) (v uint32, lost bool, err error) {
	if c.used.has(n) {
		return 0, false, nil
	}
	v, err = c.fat.get(n)
	return v, err == nil && v != entryFree && v != entryBad, err
}

// keepLost turns lost chains into files and folders of the root directory.
func (c *checker) keepLost() error {
	pointed := newBitmap(c.g.limit())
	for n := uint32(firstCluster); n < c.g.limit(); n++ {
		if err := c.tick("lost chains", int64(n), int64(c.g.ClusterCount)); err != nil {
			return err
		}
		v, lost, err := c.lostCluster(n)
		if err != nil {
			return err
		}
		if lost && c.g.valid(v) && v != n {
			pointed.set(v)
		}
	}
	k := &lostKeeper{c: c}
	c.lostFrom = int32(len(c.nodes))
	// First the heads of chains, then what only loops hold.
	for _, heads := range []bool{true, false} {
		for n := uint32(firstCluster); n < c.g.limit(); n++ {
			if err := c.tick("lost chains", int64(n), int64(c.g.ClusterCount)); err != nil {
				return err
			}
			if heads && pointed.has(n) {
				continue
			}
			_, lost, err := c.lostCluster(n)
			if err != nil {
				return err
			}
			if !lost {
				continue
			}
			if err := k.keep(n); err != nil {
				return err
			}
			if k.full {
				return k.finish()
			}
		}
	}
	return k.finish()
}

// lostKeeper makes entries for lost chains.
type lostKeeper struct {
	c    *checker
	root *checkDir
	next int // number of the next name
	slot int // where the search for a free slot goes on
	full bool
	used map[[11]byte]bool
}

// keep makes an entry for the lost chain or directory at cluster n.
func (k *lostKeeper) keep(n uint32) error {
	c := k.c
	if k.root == nil {
		if err := k.open(); err != nil {
			return err
		}
	}
	slot, err := k.freeSlot()
	if err != nil || k.full {
		return err
	}
	top, isDir, err := c.topDir(n)
	if err != nil {
		return err
	}
	e := dirEntry{name: k.name(), attr: AttrArchive, create: c.now(), modify: c.now(), access: c.now().day(), cluster: n}
	if isDir {
		e.cluster, e.attr = top, AttrDirectory
		return k.keepDir(slot, e)
	}
	count, err := c.claimLost(n)
	if err != nil {
		return err
	}
	e.size = c.g.sizeOf(count)
	c.report.ClustersLost += count
	c.report.Files++
	c.fix(CodeLostChain, join("/", shortName(e.name)), "a lost chain of %d clusters from %d; it becomes this file", count, n)
	e.encode(c.g.Type, k.root.slot(slot))
	k.root.touch(slot)
	return nil
}

// keepDir makes an entry for a lost directory and looks at what is in it.
func (k *lostKeeper) keepDir(slot int, e dirEntry) error {
	c := k.c
	path := join("/", shortName(e.name))
	c.fix(CodeLostChain, path, "a lost directory at cluster %d; it becomes this folder", e.cluster)
	clear(k.root.slot(slot))
	e.encode(c.g.Type, k.root.slot(slot))
	k.root.touch(slot)
	if err := c.store(k.root); err != nil {
		return err
	}
	if err := c.claimDir(e.cluster, path); err != nil {
		return err
	}
	from, late := len(c.nodes), len(c.late)
	c.addNode(dirNode{parent: 0, start: e.cluster, slot: uint32(slot), depth: 1})
	if err := c.walkTree(from); err != nil {
		return err
	}
	if err := c.lateFrom(late); err != nil {
		return err
	}
	for i := from; i < len(c.nodes); i++ {
		d, err := c.load(int32(i))
		if err != nil {
			return err
		}
		if err := c.checkEntries(d); err != nil {
			return err
		}
		if err := c.store(d); err != nil {
			return err
		}
	}
	if !c.rootChanged {
		return nil
	}
	c.rootChanged = false
	root, err := c.load(0)
	k.root = root
	return err
}

func (k *lostKeeper) open() error {
	root, err := k.c.load(0)
	if err != nil {
		return err
	}
	k.root, k.used = root, make(map[[11]byte]bool)
	for i := range root.slots() {
		if root.live(i) {
			k.used[[11]byte(root.slot(i)[:11])] = true
		}
	}
	return nil
}

// freeSlot finds a free slot in the root directory, which grows if it can.
func (k *lostKeeper) freeSlot() (int, error) {
	for ; k.slot < k.root.slots(); k.slot++ {
		if !k.root.live(k.slot) {
			k.endAfter(k.slot)
			return k.slot, nil
		}
	}
	err := k.c.grow(k.root)
	if isNoSpace(err) {
		k.full = true
		k.c.incomplete = true
		k.c.found(CodeLostChain, "/", "the root directory has no room for more recovered files; lost clusters are left as they are", false)
		return 0, nil
	}
	return k.slot, err
}

// endAfter keeps the end mark behind a slot that is taken: slots behind it are
// zero already, as checkLate left them.
func (k *lostKeeper) endAfter(slot int) {
	if k.root.slot(slot)[0] == slotDeleted {
		clear(k.root.slot(slot)[1:])
	}
}

func (k *lostKeeper) name() [11]byte {
	for {
		name := [11]byte([]byte(fmt.Sprintf("FSCK%04dREC", k.next%10000)))
		if k.next >= 10000 {
			name = [11]byte([]byte(fmt.Sprintf("F%07dREC", k.next%10_000_000)))
		}
		k.next++
		if !k.used[name] {
			k.used[name] = true
			return name
		}
	}
}

// finish writes the entries and settles what the recovered folders share with
// other files.
func (k *lostKeeper) finish() error {
	if k.root == nil {
		return nil
	}
	// Chains were ended and claimed before; they go before the entries.
	if err := k.c.commit(); err != nil {
		return err
	}
	if err := k.c.store(k.root); err != nil {
		return err
	}
	if err := k.c.checkConflicts(); err != nil {
		return err
	}
	if err := k.c.cutEnds(); err != nil {
		return err
	}
	return k.c.commit()
}

// claimLost claims a lost chain, and cuts it where it stops making sense or
// holds as much as a file can.
func (c *checker) claimLost(n uint32) (uint32, error) {
	most := uint32(min(int64(c.g.ClusterCount), (math.MaxUint32+int64(c.g.ClusterSize)-1)/int64(c.g.ClusterSize)))
	count, last := uint32(0), uint32(0)
	for at := n; ; count++ {
		if at >= entryEndMin {
			return count, nil
		}
		sound := c.g.valid(at) && count < most
		v := entryFree
		if sound {
			var err error
			if v, sound, err = c.lostCluster(at); err != nil {
				return 0, err
			}
		}
		if !sound {
			return count, c.fat.set(last, entryEnd)
		}
		c.used.set(at)
		last, at = at, v
		if err := c.tick("lost chains", int64(at), int64(c.g.ClusterCount)); err != nil {
			return 0, err
		}
	}
}

// topDir reports whether the lost cluster n begins a directory and finds the
// topmost lost directory above it.
func (c *checker) topDir(n uint32) (top uint32, isDir bool, err error) {
	p := make([]byte, 2*slotSize)
	for range maxCheckDepth {
		if isDir && !c.afford() {
			return top, isDir, nil
		}
		if err := c.io.read(p, c.g.clusterOffset(n)); err != nil {
			return 0, false, err
		}
		dot, up := c.g.Type.decodeEntry(p), c.g.Type.decodeEntry(p[slotSize:])
		if dot.name != dotName || dot.cluster != n || up.name != dotDotName || dot.attr&AttrDirectory == 0 {
			return top, isDir, nil
		}
		top, isDir = n, true
		if !c.g.valid(up.cluster) || up.cluster == n {
			return top, isDir, nil
		}
		_, lost, err := c.lostCluster(up.cluster)
		if err != nil || !lost {
			return top, isDir, err
		}
		n = up.cluster
	}
	return top, isDir, nil
}

// yields reports whether an entry in directory node says nothing against
// another one in directory owner: a lost directory, which may be one that a
// file was about to be moved to when the power went, takes nothing away from
// where the file still is.
func (c *checker) yields(node, owner int32) bool {
	return c.lostFrom > 0 && node >= c.lostFrom && owner < c.lostFrom
}
