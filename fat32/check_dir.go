package fat32

import (
	"fmt"
	"slices"
	"strings"
)

// maxDirBytes is the longest directory there can be.
const maxDirBytes = maxDirSlots * slotSize

// checkDir is a directory in memory: at most 2 MiB.
type checkDir struct {
	node     int32
	clusters []uint32 // empty for a fixed root
	raw      []byte
	dirty    []bool // per sector of raw
	sector   int
}

func (d *checkDir) slots() int        { return len(d.raw) / slotSize }
func (d *checkDir) slot(i int) []byte { return d.raw[i*slotSize : (i+1)*slotSize] }
func (d *checkDir) touch(i int)       { d.dirty[i*slotSize/d.sector] = true }
func (d *checkDir) live(i int) bool {
	b := d.raw[i*slotSize]
	return b != slotEnd && b != slotDeleted
}

// remove marks slots [from, to) deleted.
func (d *checkDir) remove(from, to int) {
	for i := from; i < to; i++ {
		d.slot(i)[0] = slotDeleted
		d.touch(i)
	}
}

// load reads the directory of a node. Its chain has been made sound by
// claimDir; a chain that changed since ends the list early.
func (c *checker) load(node int32) (*checkDir, error) {
	d := &checkDir{node: node, sector: c.g.SectorSize}
	n := c.nodes[node]
	if n.start == 0 {
		d.raw = make([]byte, c.g.RootEntries*slotSize)
		d.dirty = make([]bool, (len(d.raw)+d.sector-1)/d.sector)
		return d, c.io.read(d.raw, c.g.RootOffset)
	}
	most := max(1, maxDirBytes/c.g.ClusterSize)
	for at := n.start; c.g.valid(at) && len(d.clusters) < most; {
		d.clusters = append(d.clusters, at)
		v, err := c.fat.get(at)
		if err != nil {
			return nil, err
		}
		at = v
	}
	d.raw = make([]byte, len(d.clusters)*c.g.ClusterSize)
	d.dirty = make([]bool, len(d.raw)/d.sector)
	for i, at := range d.clusters {
		if err := c.io.read(d.raw[i*c.g.ClusterSize:(i+1)*c.g.ClusterSize], c.g.clusterOffset(at)); err != nil {
			return nil, fmt.Errorf("directory %s: %w", c.path(node), err)
		}
	}
	d.raw = d.raw[:min(len(d.raw), maxDirBytes)]
	return d, nil
}

// store writes the changed sectors of a directory.
func (c *checker) store(d *checkDir) error {
	for i := 0; i < len(d.dirty); i++ {
		if !d.dirty[i] {
			continue
		}
		d.dirty[i] = false
		from := i * d.sector
		to := min(from+d.sector, len(d.raw))
		if to <= from {
			continue
		}
		off := c.g.RootOffset + int64(from)
		if len(d.clusters) > 0 {
			cluster := d.clusters[from/c.g.ClusterSize]
			off = c.g.clusterOffset(cluster) + int64(from%c.g.ClusterSize)
		}
		if err := c.io.write(d.raw[from:to], off); err != nil {
			return fmt.Errorf("directory %s: %w", c.path(d.node), err)
		}
	}
	return nil
}

// grow adds an empty cluster to a directory in memory and on the device.
func (c *checker) grow(d *checkDir) error {
	if len(d.clusters) == 0 || len(d.raw)+c.g.ClusterSize > maxDirBytes {
		return ErrNoSpace
	}
	n, err := c.alloc()
	if err != nil {
		return err
	}
	if err := c.io.write(make([]byte, c.g.ClusterSize), c.g.clusterOffset(n)); err != nil {
		return err
	}
	if err := c.commit(); err != nil { // the zeros and the end mark before the link
		return err
	}
	if err := c.fat.set(d.clusters[len(d.clusters)-1], n); err != nil {
		return err
	}
	d.clusters = append(d.clusters, n)
	d.raw = append(d.raw, make([]byte, c.g.ClusterSize)...)
	d.dirty = append(d.dirty, make([]bool, c.g.ClusterSize/d.sector)...)
	return nil
}

// insert makes slot i free by moving entries towards the next free slot; a set
// of long-name slots and its short entry stay together because no free slot
// lies inside a set.
func (c *checker) insert(d *checkDir, i int) error {
	free := i
	for free < d.slots() && d.live(free) {
		free++
	}
	if free == d.slots() {
		if err := c.grow(d); err != nil {
			return err
		}
	}
	copy(d.raw[(i+1)*slotSize:(free+1)*slotSize], d.raw[i*slotSize:free*slotSize])
	d.slot(i)[0] = slotDeleted
	for k := i; k <= free; k++ {
		d.touch(k)
	}
	return nil
}

// path is the path of a directory node, read from the device; long chains are
// shortened, unreadable names shown as "?".
func (c *checker) path(node int32) string {
	switch {
	case len(c.report.Findings) >= maxFindings:
		return "" // only counted
	case node == c.memoNode:
		return c.memoPath
	}
	c.memoNode, c.memoPath = node, c.makePath(node)
	return c.memoPath
}

func (c *checker) makePath(node int32) string {
	var parts []string
	for node > 0 {
		if len(parts) == maxPathDepth {
			parts = append(parts, "...")
			break
		}
		n := c.nodes[node]
		parts = append(parts, c.nameAt(n.parent, int(n.slot)))
		node = n.parent
	}
	slices.Reverse(parts)
	return "/" + strings.Join(parts, "/")
}

// nameAt reads the name of the entry at a slot of a directory.
func (c *checker) nameAt(node int32, slot int) string {
	n := c.nodes[node]
	first := max(0, slot-maxLFNSlots)
	raw := make([]byte, 0, (maxLFNSlots+1)*slotSize)
	at := n.start
	for i := 0; i <= slot; {
		var off int64
		run := slot + 1 - i // slots that lie together on the device
		if n.start == 0 {
			off = c.g.RootOffset + int64(i)*slotSize
		} else {
			if !c.g.valid(at) {
				return "?"
			}
			run = min(run, c.g.ClusterSize/slotSize)
			off = c.g.clusterOffset(at)
			v, err := c.fat.get(at)
			if err != nil {
				return "?"
			}
			at = v
		}
		if skip := first - i; skip < run {
			skip = max(skip, 0)
			part := make([]byte, (run-skip)*slotSize)
			if c.io.read(part, off+int64(skip)*slotSize) != nil {
				return "?"
			}
			raw = append(raw, part...)
		}
		i += run
	}
	return slotName(raw, len(raw)/slotSize-1)
}

// slotName is the name shown for the short entry at a slot of raw.
func slotName(raw []byte, slot int) string {
	if units, n := decodeLong(raw, slot, nil); n > 0 {
		return unitsToString(units)
	}
	return shortText(raw[slot*slotSize:])
}

// join appends a name to the path of a directory.
func join(dir, name string) string {
	if dir == "/" {
		return "/" + name
	}
	return dir + "/" + name
}
