package exerciser

import (
	"errors"
	"os"
)

// open keeps one more handle on a file.
func (x *tree) open() error {
	n := x.file()
	if n == nil {
		return nil
	}
	x.note("open %s and keep it", x.short(n))
	h, err := x.System.Open(x.path(n), os.O_RDWR)
	if err != nil {
		return x.fail(err, "open")
	}
	return x.keep(h, n)
}

// useHandle reads, writes or truncates through a kept handle, whose file may have been renamed, removed or replaced.
func (x *tree) useHandle() error {
	if len(x.handles) == 0 {
		return x.open()
	}
	h := x.handles[x.rng.IntN(len(x.handles))]
	n := h.file
	switch x.rng.IntN(5) {
	case 0:
		off := x.rng.Int64N(min(int64(len(n.content))+5000, x.MaxSizeBytes))
		p := x.data(off)
		p = p[:min(int64(len(p)), x.MaxSizeBytes-off)]
		x.note("write %d bytes at %d of %d through a handle of %s", len(p), off, len(n.content), x.short(n))
		if err := x.writeAt(h, n, p, off); err != nil {
			return err
		}
	case 1:
		to := x.rng.Int64N(min(2*int64(len(n.content))+1000, x.MaxSizeBytes) + 1)
		x.note("truncate from %d to %d through a handle of %s", len(n.content), to, x.short(n))
		if err := h.Truncate(to); err != nil {
			return x.fail(err, "truncate")
		}
		n.resize(to)
	case 2:
		x.note("sync and drop cached pages through a handle of %s", x.short(n))
		if err := h.Forget(); err != nil {
			return x.fail(err, "drop cached pages")
		}
	default:
		x.note("read %d bytes through a handle of %s", len(n.content), x.short(n))
	}
	return x.readHandle(h, n)
}

func (x *tree) closeHandle() error {
	if len(x.handles) == 0 {
		return nil
	}
	i := x.rng.IntN(len(x.handles))
	h := x.handles[i]
	x.handles = append(x.handles[:i], x.handles[i+1:]...)
	x.note("close a handle of %s", x.short(h.file))
	if err := h.Close(); err != nil {
		return x.fail(err, "close")
	}
	return nil
}

func (x *tree) closeAll() error {
	var err error
	for len(x.handles) > 0 {
		err = errors.Join(err, x.closeHandle())
	}
	return err
}

// compareAll looks at everything there is.
func (x *tree) compareAll() error {
	for _, folder := range x.folders {
		if err := x.listFolder(folder); err != nil {
			return err
		}
	}
	for _, n := range x.files {
		if err := x.readNode(n, false); err != nil {
			return err
		}
	}
	return nil
}

func (x *tree) remount() error {
	if x.rng.IntN(20) != 0 { // it takes long
		return nil
	}
	x.note("remount")
	if err := x.closeAll(); err != nil {
		return err
	}
	if err := x.Remount(); err != nil {
		return x.fail(err, "remount")
	}
	return x.compareAll()
}

// removeAll removes what is below a folder of the model.
func (x *tree) removeAll(folder *node) error {
	for _, child := range folder.children {
		path := x.path(child)
		if child.isFolder() {
			if err := x.removeAll(child); err != nil {
				return err
			}
		}
		if err := x.System.Remove(path); err != nil {
			return x.fail(err, "remove %s at the end", child.name)
		}
	}
	return nil
}
