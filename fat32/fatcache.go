package fat32

import (
	"fmt"
	"sync"
)

// The FAT is cached in pages. A page holds whole entries of every type: FAT12
// volumes have one page, so that no entry straddles two.
const (
	fatPageSize  = 64 << 10
	fatUnit      = 512              // what is written at least
	fatCacheSize = 256              // pages kept: 16 MiB
	fatEarlySize = fatCacheSize / 2 // dirty pages after which a stage writes before its end
)

// tablePage is one page. data is guarded by mu.
type tablePage struct {
	index int64
	mu    sync.RWMutex
	data  []byte
	ready chan struct{} // closed when loaded or failed
	err   error
	dirty bitset // units; only the flush touches it
	used  uint64 // fatCache.clock at last use
	pins  int
}

// fatCache reads and writes the FATs. Only the flush changes entries.
type fatCache struct {
	dev  Device
	geo  *Geometry
	mu   sync.Mutex
	page map[int64]*tablePage
	tick uint64
}

func (c *fatCache) init(dev Device, geo *Geometry) {
	c.dev, c.geo, c.page = dev, geo, make(map[int64]*tablePage)
}

// pageOf returns the page that holds the entry of cluster.
func (c *fatCache) pageOf(cluster uint32) int64 {
	off, _ := c.geo.Type.entryRange(cluster)
	return off / fatPageSize
}

// get returns a loaded page, pinned; put gives it back.
func (c *fatCache) get(index int64) (*tablePage, error) {
	p, _, err := c.fetch(index)
	return p, err
}

// fetch is get that also tells whether the page had to be read.
func (c *fatCache) fetch(index int64) (p *tablePage, fresh bool, err error) {
	c.mu.Lock()
	p, ok := c.page[index]
	if !ok {
		c.evictLocked()
		p = &tablePage{index: index, ready: make(chan struct{})}
		c.page[index] = p
	}
	p.pins++
	c.tick++
	p.used = c.tick
	c.mu.Unlock()
	if !ok {
		off := index * fatPageSize
		data := make([]byte, min(fatPageSize, c.geo.FATSize-off))
		p.err = c.read(data, off)
		p.data = data
		p.dirty = newBitset(fatPageSize / fatUnit)
		close(p.ready)
	}
	<-p.ready
	if p.err != nil {
		c.mu.Lock()
		p.pins--
		if c.page[index] == p {
			delete(c.page, index) // the next one tries again
		}
		c.mu.Unlock()
		return nil, true, p.err
	}
	return p, !ok, nil
}

func (c *fatCache) put(p *tablePage) {
	c.mu.Lock()
	p.pins--
	c.mu.Unlock()
}

// evictLocked makes room for one page.
func (c *fatCache) evictLocked() {
	for len(c.page) >= fatCacheSize {
		var oldest *tablePage
		for _, p := range c.page {
			if p.pins == 0 && (oldest == nil || p.used < oldest.used) {
				oldest = p
			}
		}
		if oldest == nil {
			return
		}
		delete(c.page, oldest.index)
	}
}

// read reads a part of the FAT: of the active copy, and if that cannot be
// read and the copies mirror each other, of another one.
func (c *fatCache) read(p []byte, off int64) error {
	at := func(copy int) int64 { return c.geo.FATOffset + int64(copy)*c.geo.FATSize + off }
	err := readFull(c.dev, p, at(c.geo.ActiveFAT))
	if err == nil || !c.geo.Mirrored {
		return wrapf(err, "FAT")
	}
	for i := 1; i < c.geo.FATCount; i++ {
		if readFull(c.dev, p, at(i)) == nil {
			return nil
		}
	}
	return wrapf(err, "FAT")
}

// copies lists the offsets at which a part of the FAT is to be written.
func (c *fatCache) copies(off int64) []int64 {
	if !c.geo.Mirrored {
		return []int64{c.geo.FATOffset + int64(c.geo.ActiveFAT)*c.geo.FATSize + off}
	}
	out := make([]int64, c.geo.FATCount)
	for i := range out {
		out[i] = c.geo.FATOffset + int64(i)*c.geo.FATSize + off
	}
	return out
}

// wrapf wraps err unless it is nil.
func wrapf(err error, what string) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// A chain may make the cache read this many pages, and one more for every so
// many clusters. No file that was ever written comes near; a crafted chain through a
// FAT larger than the cache could otherwise keep an operation busy for minutes.
const (
	maxScatter   = 1 << 16
	scatterShare = 64
)

// chain walks the chain that begins at start and returns it. At most most
// clusters are accepted; a loop, a free, bad or invalid entry is ErrCorrupt.
func (c *fatCache) chain(start uint32, most uint32) (x extents, err error) {
	var page *tablePage
	defer func() {
		if page != nil {
			page.mu.RUnlock()
			c.put(page)
		}
	}()
	// Brent's algorithm finds a loop without remembering where it has been.
	saved, power := start, uint32(1)
	run, reads := extent{start: start}, uint32(0)
	for cluster := start; ; {
		if !c.geo.valid(cluster) {
			return x, fmt.Errorf("chain from cluster %d leads to %d: %w", start, cluster, ErrCorrupt)
		}
		if cluster == run.end() {
			run.count++
		} else {
			x.add(run)
			run = extent{cluster, 1}
		}
		if x.total+run.count > most {
			return x, fmt.Errorf("chain from cluster %d is longer than %d clusters: %w", start, most, ErrCorrupt)
		}
		if i := c.pageOf(cluster); page == nil || page.index != i {
			if page != nil {
				page.mu.RUnlock()
				c.put(page)
			}
			var fresh bool
			if page, fresh, err = c.fetch(i); err != nil {
				return x, err
			}
			if fresh {
				reads++
			}
			if n := x.total + run.count; reads > maxScatter+n/scatterShare {
				return x, fmt.Errorf("chain from cluster %d jumps about in the FAT, %d pages read for %d clusters: %w", start, reads, n, ErrCorrupt)
			}
			page.mu.RLock()
		}
		next := c.geo.Type.getEntry(page.data, page.index*fatPageSize, cluster)
		switch {
		case next >= entryEndMin:
			x.add(run)
			return x, nil
		case next == entryFree:
			return x, fmt.Errorf("chain from cluster %d runs into free cluster %d: %w", start, cluster, ErrCorrupt)
		case next == saved:
			return x, fmt.Errorf("chain from cluster %d loops at %d: %w", start, next, ErrCorrupt)
		}
		if n := x.total + run.count; n == power {
			saved, power = next, power*2
		}
		cluster = next
	}
}
