package exerciser

import (
	"bytes"
	"os"
)

// mapIn makes the shared map cover the present file; false if the file is empty, which cannot be mapped.
func (x *file) mapIn() (bool, error) {
	size := int64(len(x.model))
	if x.mapping != nil && (x.mapped == size || x.rng.IntN(2) == 0) {
		return true, nil
	}
	if err := x.unmap(); err != nil || size == 0 {
		return false, err
	}
	h, err := x.handle(func(h *openFile) bool { return h.reads() && h.writes() }, os.O_RDWR)
	if err != nil {
		return false, err
	}
	m, err := h.Map(size, true)
	if err != nil {
		return false, x.fail(err, "map %d bytes", size)
	}
	x.mapping, x.mapped = m, size
	return true, nil
}

func (x *file) unmap() error {
	if x.mapping == nil {
		return nil
	}
	m := x.mapping
	x.mapping, x.mapped = nil, 0
	if err := m.Close(); err != nil {
		return x.fail(err, "unmap")
	}
	return nil
}

func (x *file) mapRead() error {
	if x.rng.IntN(4) == 0 {
		return x.mapReadOnly()
	}
	if ok, err := x.mapIn(); !ok {
		return err
	}
	off, length := x.span(x.mapped)
	end := min(off+length, x.mapped)
	x.note("read %d bytes at %d through a map of %d bytes", end-off, off, x.mapped)
	if d := difference(bytes.Clone(x.mapping.Bytes()[off:end]), x.model[off:end], off, x.step); d != "" {
		return x.fail(nil, "read through the map: %s", d)
	}
	return nil
}

// mapReadOnly uses a map of its own, of a handle that may only read.
func (x *file) mapReadOnly() error {
	size := int64(len(x.model))
	if size == 0 {
		return nil
	}
	h, err := x.reader()
	if err != nil {
		return err
	}
	x.note("read all %d bytes through a read-only map", size)
	m, err := h.Map(size, false)
	if err != nil {
		return x.fail(err, "map %d bytes for reading", size)
	}
	d := difference(bytes.Clone(m.Bytes()), x.model, 0, x.step)
	if err := m.Close(); err != nil {
		return x.fail(err, "unmap")
	}
	if d != "" {
		return x.fail(nil, "read through a read-only map: %s", d)
	}
	return nil
}

// mapWrite changes bytes in memory; half of the time they are written back at once, else whenever the system likes.
func (x *file) mapWrite() error {
	if ok, err := x.mapIn(); !ok {
		return err
	}
	off, length := x.span(x.mapped)
	end := min(off+length, x.mapped)
	x.note("write %d bytes at %d through a map of %d bytes", end-off, off, x.mapped)
	fill(x.mapping.Bytes()[off:end], off, x.step)
	x.mapDirty = true
	fill(x.model[off:end], off, x.step)
	switch x.rng.IntN(4) {
	case 0:
		return x.mapSync()
	case 1:
		return x.unmap()
	}
	return nil
}

func (x *file) mapSync() error {
	if x.mapping == nil {
		return nil
	}
	x.note("write the map back")
	if err := x.mapping.Sync(); err != nil {
		return x.fail(err, "write the map back")
	}
	x.mapDirty = false
	return nil
}

// beforeGrowth writes back what was changed through a map before a write through h makes the file longer, unless the system
// can do both at once.
func (x *file) beforeGrowth(h *openFile) error {
	if !x.mapDirty || x.AppendOverMap {
		return nil
	}
	if x.mapping != nil {
		return x.mapSync()
	}
	x.note("write back what was changed through a map")
	if err := h.Sync(); err != nil {
		return x.fail(err, "sync before the file becomes longer")
	}
	x.mapDirty = false
	return nil
}
