package fat32

import "slices"

const (
	// fatPage is the unit of the FAT cache in bytes: a multiple of 3, so that no
	// FAT12 entry straddles two pages.
	fatPage  = 12288
	fatSlots = 512 // pages cached: 6 MiB
)

// checkFAT is a cached view of the FAT that writes through to every copy when
// a page leaves the cache or at flush.
type checkFAT struct {
	io    *checkIO
	g     *Geometry
	slots [fatSlots]*fatCached
	// strict, if set, reads without hiding errors; then a sector that cannot be
	// read in one copy is taken from another (Salvage).
	strict func(p []byte, off int64) error
}

type fatCached struct {
	index int64
	dirty bool
	data  []byte
}

func newCheckFAT(io *checkIO, g *Geometry) *checkFAT { return &checkFAT{io: io, g: g} }

// page returns the page that holds the entry of cluster, read if necessary.
func (f *checkFAT) page(cluster uint32) (*fatCached, error) {
	off, _ := f.g.Type.entryRange(cluster)
	i := off / fatPage
	p := f.slots[i%fatSlots]
	if p != nil && p.index == i {
		return p, nil
	}
	if p == nil {
		p = &fatCached{}
		f.slots[i%fatSlots] = p
	} else if err := f.flushPage(p); err != nil {
		return nil, err
	}
	p.index = -1 // not valid if the read fails
	n := min(fatPage, f.g.FATSize-i*fatPage)
	p.data = slices.Grow(p.data[:0], fatPage)[:n]
	if err := f.read(p.data, i*fatPage); err != nil {
		return nil, err
	}
	p.index, p.dirty = i, false
	return p, nil
}

// read reads a stretch of the FAT that counts, off bytes from its start.
func (f *checkFAT) read(p []byte, off int64) error {
	active := f.g.FATOffset + int64(f.g.ActiveFAT)*f.g.FATSize
	if f.strict == nil {
		return f.io.read(p, active+off)
	}
	if f.strict(p, active+off) == nil {
		return nil
	}
	for done := 0; done < len(p); done += 512 {
		part := p[done:min(done+512, len(p))]
		if f.strict(part, active+off+int64(done)) == nil {
			continue
		}
		clear(part) // free clusters, if no copy has it
		for k := range f.g.FATCount {
			at := f.g.FATOffset + int64(k)*f.g.FATSize + off + int64(done)
			if k == f.g.ActiveFAT {
				continue
			}
			if f.strict(part, at) == nil {
				break
			}
			clear(part)
		}
	}
	return nil
}

// get returns the entry of a cluster, which must be below the limit.
func (f *checkFAT) get(cluster uint32) (uint32, error) {
	p, err := f.page(cluster)
	if err != nil {
		return 0, err
	}
	return f.g.Type.getEntry(p.data, p.index*fatPage, cluster), nil
}

// set changes the entry of a cluster in the cache.
func (f *checkFAT) set(cluster, v uint32) error {
	p, err := f.page(cluster)
	if err != nil {
		return err
	}
	f.g.Type.putEntry(p.data, p.index*fatPage, cluster, v)
	p.dirty = true
	return nil
}

func (f *checkFAT) flushPage(p *fatCached) error {
	if !p.dirty {
		return nil
	}
	for k := range f.g.FATCount {
		if !f.g.Mirrored && k != f.g.ActiveFAT {
			continue
		}
		if err := f.io.write(p.data, f.g.FATOffset+int64(k)*f.g.FATSize+p.index*fatPage); err != nil {
			return err
		}
	}
	p.dirty = false
	return nil
}

// flush writes every changed page to all copies, in the order of the FAT.
func (f *checkFAT) flush() error {
	var dirty []*fatCached
	for _, p := range f.slots {
		if p != nil && p.dirty {
			dirty = append(dirty, p)
		}
	}
	slices.SortFunc(dirty, func(a, b *fatCached) int { return int(a.index - b.index) })
	for _, p := range dirty {
		if err := f.flushPage(p); err != nil {
			return err
		}
	}
	return nil
}

// commit flushes the FAT and makes everything durable.
func (c *checker) commit() error {
	if err := c.fat.flush(); err != nil {
		return err
	}
	return c.io.barrier()
}

// alloc takes a free cluster, marks it as the end of a chain and claims it.
// ErrNoSpace if there is none.
func (c *checker) alloc() (uint32, error) {
	if c.freeLeft < 0 {
		if err := c.countFree(); err != nil {
			return 0, err
		}
	}
	if c.freeLeft == 0 {
		return 0, ErrNoSpace
	}
	for range c.g.ClusterCount {
		n := c.nextAlloc
		if c.nextAlloc++; c.nextAlloc >= c.g.limit() {
			c.nextAlloc = firstCluster
		}
		if c.used.has(n) {
			continue
		}
		v, err := c.fat.get(n)
		if err != nil {
			return 0, err
		}
		if v != entryFree {
			continue
		}
		c.used.set(n)
		c.freeLeft--
		return n, c.fat.set(n, entryEnd)
	}
	c.freeLeft = 0
	return 0, ErrNoSpace
}

// countFree counts the free clusters, once: nothing is freed before the last
// phase.
func (c *checker) countFree() error {
	c.freeLeft = 0
	for n := uint32(firstCluster); n < c.g.limit(); n++ {
		if err := c.tick("free clusters", int64(n), int64(c.g.ClusterCount)); err != nil {
			return err
		}
		v, err := c.fat.get(n)
		if err != nil {
			return err
		}
		if v == entryFree && !c.used.has(n) {
			c.freeLeft++
		}
	}
	return nil
}
