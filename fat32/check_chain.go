package fat32

import (
	"encoding/binary"
	"fmt"
	"io"
)

// maxConflicts bounds what is remembered of files that share their first
// cluster with another one, and of chains to be cut later.
const maxConflicts = 1 << 20

// walkEnd says why the walk along a file's chain ended.
type walkEnd struct {
	count uint32 // clusters claimed
	last  uint32 // the last of them, 0 if none
	at    uint32 // the cluster that was not taken
	code  string // why; empty: the chain has as many clusters as wanted
	value uint32 // FAT entry of last, if code is empty
}

// checkFile claims the chain of the file at slot i and mends what is wrong.
func (c *checker) checkFile(d *checkDir, i int, e dirEntry) error {
	need := c.g.clustersFor(e.size)
	switch {
	case e.cluster == 0 && need == 0:
		return nil
	case e.cluster == 0:
		c.fix(CodeChainShort, c.entryPath(d, i), "size %d without a cluster; the size becomes 0", e.size)
		c.setFile(d, i, 0, 0)
		return nil
	case !c.g.valid(e.cluster):
		c.fix(CodeStart, c.entryPath(d, i), "first cluster %d is outside the volume; the file becomes empty", e.cluster)
		c.setFile(d, i, 0, 0)
		return nil
	case need == 0:
		c.fix(CodeZeroSize, c.entryPath(d, i), "size 0 but a chain from cluster %d; the chain is given up", e.cluster)
		c.setFile(d, i, 0, 0)
		return nil
	}
	if c.used.has(e.cluster) && len(c.conflicts) < maxConflicts {
		c.conflicts = append(c.conflicts, entryRef{node: d.node, slot: uint32(i), start: e.cluster})
		return nil
	}
	end, err := c.walkFile(e.cluster, need)
	if err != nil {
		return err
	}
	return c.settleFile(d, i, e, need, end)
}

// walkFile claims up to need clusters of a chain.
func (c *checker) walkFile(start, need uint32) (walkEnd, error) {
	w := walkEnd{at: start}
	for w.count < need {
		if err := c.tick("files", int64(w.count), int64(need)); err != nil {
			return w, err
		}
		if !c.g.valid(w.at) {
			w.code = CodeChainRange
			if w.at >= entryEndMin {
				w.code = CodeChainShort
			}
			return w, nil
		}
		v, err := c.fat.get(w.at)
		if err != nil {
			return w, err
		}
		switch {
		case v == entryFree:
			w.code = CodeChainFree
		case v == entryBad:
			w.code = CodeChainBad
		case c.used.has(w.at):
			w.code = CodeCrossLink
		}
		if w.code != "" {
			return w, nil
		}
		c.used.set(w.at)
		w.count++
		w.last, w.at, w.value = w.at, v, v
	}
	return w, nil
}

// settleFile mends the file at slot i after its chain has been walked.
func (c *checker) settleFile(d *checkDir, i int, e dirEntry, need uint32, end walkEnd) error {
	if end.code == "" {
		if end.value >= entryEndMin {
			return nil
		}
		c.fix(CodeChainLong, c.entryPath(d, i), "the chain goes on after the %d clusters of size %d; it is cut there", need, e.size)
		// Another file may need what follows: cut when that is settled.
		if len(c.ends) < maxConflicts {
			c.ends = append(c.ends, end.last)
			return nil
		}
		return c.fat.set(end.last, entryEnd)
	}
	code, what := end.code, ""
	switch end.code {
	case CodeChainRange:
		what = fmt.Sprintf("runs out of the volume (%d)", end.at)
	case CodeChainFree:
		what = fmt.Sprintf("runs into the free cluster %d", end.at)
	case CodeChainBad:
		what = fmt.Sprintf("runs into the bad cluster %d", end.at)
	case CodeChainShort:
		what = "ends early"
	case CodeCrossLink:
		loop, err := c.inChain(e.cluster, end.count, end.at)
		if err != nil {
			return err
		}
		if !loop {
			return c.copyTail(d, i, e, need, end)
		}
		code, what = CodeChainLoop, fmt.Sprintf("runs back into its own cluster %d", end.at)
	}
	return c.shorten(d, i, end, code, what, e.size)
}

// shorten cuts a file behind the clusters it could claim.
func (c *checker) shorten(d *checkDir, i int, end walkEnd, code, what string, size uint32) error {
	cut := min(c.g.sizeOf(end.count), size)
	c.fix(code, c.entryPath(d, i), "the chain %s after %d clusters; the size goes from %d to %d bytes", what, end.count, size, cut)
	start := uint32(0)
	if end.count > 0 {
		start = c.g.Type.decodeEntry(d.slot(i)).cluster
		if end.value < entryEndMin {
			if err := c.fat.set(end.last, entryEnd); err != nil {
				return err
			}
		}
	}
	c.setFile(d, i, start, cut)
	return nil
}

// setFile stores first cluster and size of the file at slot i.
func (c *checker) setFile(d *checkDir, i int, start, size uint32) {
	p := d.slot(i)
	c.g.setStart(p, start)
	binary.LittleEndian.PutUint32(p[28:], size)
	d.touch(i)
}

// inChain reports whether cluster is among the first n of a chain.
func (c *checker) inChain(at, n, cluster uint32) (bool, error) {
	for ; n > 0; n-- {
		if at == cluster {
			return true, nil
		}
		v, err := c.fat.get(at)
		if err != nil {
			return false, err
		}
		at = v
	}
	return false, nil
}

// copyTail gives a file its own copy of the clusters it shares with another
// file, from where the sharing begins. If there is no room the file is cut
// there: the other file keeps the data.
func (c *checker) copyTail(d *checkDir, i int, e dirEntry, need uint32, end walkEnd) error {
	n, err := c.chainLength(end.at, need-end.count)
	if err != nil {
		return err
	}
	path := c.entryPath(d, i)
	if c.io.readOnly() {
		c.fix(CodeCrossLink, path, "shares %d clusters from %d on with another file; repair gives it a copy of them if there is room", n, end.at)
		return nil
	}
	chain, err := c.allocChain(n)
	if isNoSpace(err) {
		return c.shorten(d, i, end, CodeCrossLink, fmt.Sprintf("shares cluster %d with another file, and there is no room for a copy,", end.at), e.size)
	}
	if err != nil {
		return err
	}
	c.fix(CodeCrossLink, path, "shares %d clusters from %d on with another file; it gets a copy of them", n, end.at)
	if err := c.copyClusters(end.at, chain); err != nil {
		return fmt.Errorf("copy of shared clusters of %s: %w", path, err)
	}
	if err := c.commit(); err != nil { // data and chain before the link
		return err
	}
	size := min(e.size, c.g.sizeOf(end.count+n))
	start := e.cluster
	if end.count == 0 {
		start = chain.first()
	} else if err := c.fat.set(end.last, chain.first()); err != nil {
		return err
	}
	c.setFile(d, i, start, size)
	return c.store(d)
}

// allocated is a new chain, kept as runs of neighbouring clusters.
type allocated []clusterRun

type clusterRun struct{ from, n uint32 }

func (a allocated) first() uint32 { return a[0].from }

// allocChain makes a chain of n free clusters. ErrNoSpace, before anything is
// taken, if there are fewer.
func (c *checker) allocChain(n uint32) (allocated, error) {
	if c.freeLeft < 0 {
		if err := c.countFree(); err != nil {
			return nil, err
		}
	}
	if int64(n) > c.freeLeft {
		return nil, ErrNoSpace
	}
	var chain allocated
	last := uint32(0)
	for range n {
		if err := c.tick("files", 0, 0); err != nil {
			return nil, err
		}
		next, err := c.alloc()
		if err != nil {
			return nil, err
		}
		if last != 0 {
			if err := c.fat.set(last, next); err != nil {
				return nil, err
			}
		}
		if k := len(chain) - 1; k >= 0 && chain[k].from+chain[k].n == next {
			chain[k].n++
		} else {
			chain = append(chain, clusterRun{next, 1})
		}
		last = next
	}
	return chain, nil
}

// copyClusters copies the data of the chain at from into the clusters of to.
func (c *checker) copyClusters(from uint32, to allocated) error {
	buf := make([]byte, c.g.ClusterSize)
	for _, r := range to {
		for k := r.from; k < r.from+r.n; k++ {
			if err := c.tick("copy", 0, 0); err != nil {
				return err
			}
			if !c.g.valid(from) {
				return io.ErrUnexpectedEOF
			}
			if err := c.io.read(buf, c.g.clusterOffset(from)); err != nil {
				return err
			}
			if err := c.io.write(buf, c.g.clusterOffset(k)); err != nil {
				return err
			}
			v, err := c.fat.get(from)
			if err != nil {
				return err
			}
			from = v
		}
	}
	return nil
}
