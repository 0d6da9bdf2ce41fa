package fat32

import "encoding/binary"

// fatWriter changes FAT entries and writes the changed units to every copy.
// Only a flush has one.
type fatWriter struct {
	v     *Volume
	write func([]byte, int64) (int, error)
	pages map[int64]*tablePage // changed and pinned
	wrote bool
}

func newFATWriter(v *Volume, write func([]byte, int64) (int, error)) *fatWriter {
	return &fatWriter{v: v, write: write, pages: make(map[int64]*tablePage)}
}

// page returns the page of cluster for changing.
func (w *fatWriter) page(cluster uint32) (*tablePage, error) {
	i := w.v.fat.pageOf(cluster)
	if p := w.pages[i]; p != nil {
		return p, nil
	}
	if len(w.pages) >= fatEarlySize {
		// Within a stage the order does not matter: write what there is.
		if err := w.flush(); err != nil {
			return nil, err
		}
		w.close()
	}
	p, err := w.v.fat.get(i)
	if err == nil {
		w.pages[i] = p
	}
	return p, err
}

// close unpins what was changed.
func (w *fatWriter) close() {
	for i, p := range w.pages {
		w.v.fat.put(p)
		delete(w.pages, i)
	}
}

// chains writes chains that end in an end mark.
func (w *fatWriter) chains(list [][]extent) error {
	for _, runs := range list {
		for i, e := range runs {
			next := entryEnd
			if i+1 < len(runs) {
				next = runs[i+1].start
			}
			if err := w.run(e, next, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// links writes single entries that point to the next cluster.
func (w *fatWriter) links(list []link) error {
	for _, l := range list {
		if err := w.run(extent{l.from, 1}, l.to, false); err != nil {
			return err
		}
	}
	return nil
}

func (w *fatWriter) ends(list []uint32) error {
	for _, c := range list {
		if err := w.run(extent{c, 1}, entryEnd, false); err != nil {
			return err
		}
	}
	return nil
}

func (w *fatWriter) frees(list []extent) error {
	for _, e := range list {
		if err := w.run(e, entryFree, true); err != nil {
			return err
		}
	}
	return nil
}

// run sets the entries of consecutive clusters: to free, or each to the next
// one and the last to next.
func (w *fatWriter) run(e extent, next uint32, free bool) error {
	t := w.v.geo.Type
	for c := e.start; c < e.end(); {
		p, err := w.page(c)
		if err != nil {
			return err
		}
		base := p.index * fatPageSize
		var delta int64
		p.mu.Lock()
		for ; c < e.end() && w.v.fat.pageOf(c) == p.index; c++ {
			val := c + 1
			if free {
				val = entryFree
			} else if val == e.end() {
				val = next
			}
			old := t.getEntry(p.data, base, c)
			if old == val {
				continue
			}
			if t == FAT32 {
				at := p.data[int64(c)*4-base:]
				binary.LittleEndian.PutUint32(at, binary.LittleEndian.Uint32(at)&0xF0000000|val)
			} else {
				t.putEntry(p.data, base, c, val)
			}
			if old == entryFree {
				delta--
			} else if val == entryFree {
				delta++
			}
			off, size := t.entryRange(c)
			p.dirty.set(int(off-base) / fatUnit)
			p.dirty.set(int(off-base+int64(size)-1) / fatUnit)
		}
		p.mu.Unlock()
		w.v.scan.free.Add(delta)
	}
	return nil
}

// fatGroup is the number of units written together when one of them changed:
// 4 KiB, which is what many devices write at least.
const fatGroup = 8

// flush writes the changed units of all pages.
func (w *fatWriter) flush() error {
	for _, p := range w.pages {
		units := (len(p.data) + fatUnit - 1) / fatUnit
		for u := p.dirty.next(0, units); u < units; {
			from := u / fatGroup * fatGroup
			end := min(from+fatGroup, units)
			for p.dirty.next(end, min(end+fatGroup, units)) < min(end+fatGroup, units) {
				end = min(end+fatGroup, units)
			}
			part := p.data[from*fatUnit : min(end*fatUnit, len(p.data))]
			for _, off := range w.v.fat.copies(p.index*fatPageSize + int64(from)*fatUnit) {
				if err := writeFull(w.write, part, off); err != nil {
					return err
				}
			}
			w.wrote = true
			p.dirty.clearRange(from, end)
			u = p.dirty.next(end, units)
		}
	}
	return nil
}
