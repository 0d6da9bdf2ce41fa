package exerciser

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxHandles is how many handles File keeps open at once on its file.
const maxHandles = 4

// openFile is one handle and what it is good for.
type openFile struct {
	Handle
	mode int // os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_RDWR|os.O_APPEND, os.O_WRONLY|os.O_APPEND
}

func (h *openFile) reads() bool   { return h.mode&os.O_WRONLY == 0 }
func (h *openFile) writes() bool  { return h.mode&(os.O_WRONLY|os.O_RDWR) != 0 }
func (h *openFile) appends() bool { return h.mode&os.O_APPEND != 0 }

// file is a run of File.
type file struct {
	Config
	trail
	path     string
	model    []byte
	handles  []*openFile
	mapping  Mapping // shared and writable, of the first mapped bytes, or nil
	mapped   int64
	mapDirty bool // bytes changed through a map may not be written back yet
}

// File exercises one file and removes it when all went well. The error is a *Failure.
func File(ctx context.Context, c Config) error {
	c.fill()
	x := &file{Config: c, trail: newTrail(c.Seed, 1)}
	x.path = x.name(0)
	x.note("create")
	if err := x.open(os.O_RDWR | os.O_CREATE | os.O_EXCL); err != nil {
		return x.fail(err, "create %s", x.path)
	}
	defer x.closeAll()
	err := x.run(ctx, c.Operations, x.choices())
	if err == nil {
		err = x.whole()
	}
	if err != nil {
		return err
	}
	if err := x.closeAll(); err != nil {
		return x.fail(err, "close everything")
	}
	if c.Leave {
		return nil
	}
	if err := x.System.Remove(x.path); err != nil {
		return x.fail(err, "remove %s", x.path)
	}
	return nil
}

func (x *file) name(n int) string {
	return filepath.Join(x.Dir, fmt.Sprintf("%s file of seed %d, name %d.bin", x.Prefix, x.seed, n))
}

func (x *file) choices() []choice {
	all := []choice{
		{22, x.read}, {20, x.write}, {8, x.append}, {4, x.shrink}, {4, x.grow}, {2, x.sync}, {4, x.reopen}, {3, x.another},
		{3, x.forget}, {2, x.rename}, {1, x.replace}, {4, x.size}, {1, x.whole},
	}
	if !x.NoMaps {
		all = append(all, choice{8, x.mapRead}, choice{8, x.mapWrite}, choice{1, x.mapSync})
	}
	if x.FAT {
		all = append(all, choice{1, x.punch})
	}
	if x.Remount != nil {
		all = append(all, choice{1, x.remount})
	}
	return all
}

// span is a random range for reading or writing, often near a boundary of pages, clusters or requests.
func (x *file) span(limit int64) (off, length int64) {
	if limit <= 0 {
		return 0, 0
	}
	off = x.rng.Int64N(limit)
	if x.rng.IntN(3) == 0 {
		unit := int64(512) << x.rng.IntN(9)
		off = off / unit * unit
		off = max(0, off+int64(x.rng.IntN(3))-1)
	}
	length = 1 + x.rng.Int64N(x.MaxIOBytes)
	if x.rng.IntN(2) == 0 {
		length = 1 + x.rng.Int64N(min(length, 9000))
	}
	return off, length
}

// handle returns an open handle that will do, opening one if there is none.
func (x *file) handle(good func(*openFile) bool, mode int) (*openFile, error) {
	start := x.rng.IntN(len(x.handles) + 1)
	for i := range x.handles {
		if h := x.handles[(start+i)%len(x.handles)]; good(h) {
			return h, nil
		}
	}
	if err := x.open(mode); err != nil {
		return nil, err
	}
	return x.handles[len(x.handles)-1], nil
}

func (x *file) reader() (*openFile, error) { return x.handle((*openFile).reads, os.O_RDONLY) }
func (x *file) writer() (*openFile, error) {
	mode := os.O_RDWR
	if x.rng.IntN(3) == 0 {
		mode = os.O_WRONLY
	}
	return x.handle(func(h *openFile) bool { return h.writes() && !h.appends() }, mode)
}

func (x *file) open(mode int) error {
	if len(x.handles) >= maxHandles {
		if err := x.closeOne(x.rng.IntN(len(x.handles))); err != nil {
			return err
		}
	}
	h, err := x.System.Open(x.path, mode)
	if err != nil {
		return x.fail(err, "open %s with flags %#x", filepath.Base(x.path), mode)
	}
	x.handles = append(x.handles, &openFile{Handle: h, mode: mode &^ (os.O_CREATE | os.O_EXCL)})
	return nil
}

func (x *file) closeOne(i int) error {
	h := x.handles[i]
	x.handles = append(x.handles[:i], x.handles[i+1:]...)
	if err := h.Close(); err != nil {
		return x.fail(err, "close")
	}
	return nil
}

func (x *file) closeAll() error {
	err := x.unmap()
	for len(x.handles) > 0 {
		err = errors.Join(err, x.closeOne(0))
	}
	return err
}

func (x *file) read() error {
	h, err := x.reader()
	if err != nil {
		return err
	}
	off, length := x.span(int64(len(x.model)) + 100)
	x.note("read %d bytes at %d of %d", length, off, len(x.model))
	return x.expect(h, off, length)
}

// expect reads and compares; a read over the end must be short and say so.
func (x *file) expect(h io.ReaderAt, off, length int64) error {
	got := make([]byte, length)
	n, err := h.ReadAt(got, off)
	want := x.model[min(off, int64(len(x.model))):min(off+length, int64(len(x.model)))]
	if err != nil && !(errors.Is(err, io.EOF) && int64(len(want)) < length) {
		return x.fail(err, "read of %d bytes at %d stopped after %d", length, off, n)
	}
	if d := difference(got[:n], want, off, x.step); d != "" {
		return x.fail(nil, "read: %s", d)
	}
	return nil
}

// put changes the model as a write of p at off does.
func (x *file) put(p []byte, off int64) {
	if missing := off + int64(len(p)) - int64(len(x.model)); missing > 0 {
		x.model = append(x.model, make([]byte, missing)...)
	}
	copy(x.model[off:], p)
}

func (x *file) write() error {
	h, err := x.writer()
	if err != nil {
		return err
	}
	off, length := x.span(min(int64(len(x.model))+x.MaxIOBytes, x.MaxSizeBytes))
	length = min(length, x.MaxSizeBytes-off)
	if off+length > int64(len(x.model)) {
		if err := x.beforeGrowth(h); err != nil {
			return err
		}
	}
	x.note("write %d bytes at %d of %d, handle %#x", length, off, len(x.model), h.mode)
	p := make([]byte, length)
	fill(p, off, x.step)
	if n, err := h.WriteAt(p, off); err != nil || n != len(p) {
		return x.fail(err, "wrote %d of %d bytes at %d", n, len(p), off)
	}
	x.put(p, off)
	return x.sizeBy(h)
}

func (x *file) append() error {
	mode := os.O_RDWR | os.O_APPEND
	if x.rng.IntN(2) == 0 {
		mode = os.O_WRONLY | os.O_APPEND
	}
	h, err := x.handle((*openFile).appends, mode)
	if err != nil {
		return err
	}
	off := int64(len(x.model))
	_, length := x.span(x.MaxSizeBytes)
	if length = min(length, x.MaxSizeBytes-off); length == 0 {
		return x.shrink()
	}
	if err := x.beforeGrowth(h); err != nil {
		return err
	}
	x.note("append %d bytes at %d", length, off)
	p := make([]byte, length)
	fill(p, off, x.step)
	if n, err := h.Write(p); err != nil || n != len(p) {
		return x.fail(err, "appended %d of %d bytes", n, len(p))
	}
	x.put(p, off)
	return x.sizeBy(h)
}

func (x *file) truncate(to int64) error {
	h, err := x.handle((*openFile).writes, os.O_RDWR)
	if err != nil {
		return err
	}
	x.note("truncate from %d to %d", len(x.model), to)
	if to < x.mapped {
		if err := x.unmap(); err != nil {
			return err
		}
	}
	if err := h.Truncate(to); err != nil {
		return x.fail(err, "truncate from %d to %d", len(x.model), to)
	}
	if to <= int64(len(x.model)) {
		x.model = x.model[:to:to] // a later append must not bring the old bytes back
	} else {
		x.put(nil, to)
	}
	return x.sizeBy(h)
}

func (x *file) shrink() error {
	to, _ := x.span(int64(len(x.model)))
	if x.rng.IntN(6) == 0 {
		to = 0
	}
	return x.truncate(to)
}

func (x *file) grow() error {
	return x.truncate(int64(len(x.model)) + x.rng.Int64N(x.MaxSizeBytes-int64(len(x.model))+1))
}

func (x *file) sync() error {
	h, err := x.handle(func(*openFile) bool { return true }, os.O_RDWR)
	if err != nil {
		return err
	}
	x.note("sync")
	if err := h.Sync(); err != nil {
		return x.fail(err, "sync")
	}
	return nil
}

// reopen closes everything and starts again.
func (x *file) reopen() error {
	x.note("close everything, open")
	if err := x.closeAll(); err != nil {
		return err
	}
	return x.another()
}

func (x *file) another() error {
	modes := []int{os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_RDWR | os.O_APPEND, os.O_WRONLY | os.O_APPEND}
	mode := modes[x.rng.IntN(len(modes))]
	x.note("open with flags %#x", mode)
	return x.open(mode)
}

func (x *file) forget() error {
	h, err := x.handle(func(*openFile) bool { return true }, os.O_RDWR)
	if err != nil {
		return err
	}
	x.note("write back and drop cached pages")
	if err := h.Forget(); err != nil {
		return x.fail(err, "drop cached pages")
	}
	return nil
}

// rename moves the file; open handles and maps go on working.
func (x *file) rename() error {
	to := x.name(x.rng.IntN(8))
	x.note("rename to %s", filepath.Base(to))
	if err := x.System.Rename(x.path, to); err != nil {
		return x.fail(err, "rename to %s", filepath.Base(to))
	}
	if to != x.path {
		if _, err := x.System.Stat(x.path); !errors.Is(err, fs.ErrNotExist) {
			return x.fail(err, "the old name is still there after a rename")
		}
	}
	x.path = to
	return x.size()
}

// replace saves as editors do: new content under a temporary name, then rename over the file, whose handles stay open
// until then and must go on reading the old content.
func (x *file) replace() error {
	h, err := x.reader()
	if err != nil {
		return err
	}
	_, length := x.span(x.MaxSizeBytes)
	length = min(length, x.MaxSizeBytes)
	x.note("replace by a new file of %d bytes", length)
	fresh, err := x.System.Open(x.path+".tmp", os.O_RDWR|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return x.fail(err, "create the new file")
	}
	p := make([]byte, length)
	fill(p, 0, x.step)
	if _, err := fresh.WriteAt(p, 0); err != nil {
		return x.fail(errors.Join(err, fresh.Close()), "write the new file")
	}
	if err := x.System.Rename(x.path+".tmp", x.path); err != nil {
		return x.fail(errors.Join(err, fresh.Close()), "rename over the file")
	}
	if err := x.expect(h, 0, int64(len(x.model))+1); err != nil {
		return errors.Join(err, fresh.Close())
	}
	if err := x.closeAll(); err != nil {
		return errors.Join(err, fresh.Close())
	}
	x.model = p
	x.handles = append(x.handles, &openFile{Handle: fresh, mode: os.O_RDWR})
	return x.size()
}

// size compares the size by name and by every handle.
func (x *file) size() error {
	info, err := x.System.Stat(x.path)
	if err != nil {
		return x.fail(err, "stat %s", filepath.Base(x.path))
	}
	if info.Size() != int64(len(x.model)) {
		return x.fail(nil, "stat by name says %d bytes, there are %d", info.Size(), len(x.model))
	}
	for _, h := range x.handles {
		if err := x.sizeBy(h); err != nil {
			return err
		}
	}
	return nil
}

func (x *file) sizeBy(h Handle) error {
	n, err := h.Size()
	if err != nil {
		return x.fail(err, "stat by handle")
	}
	if n != int64(len(x.model)) {
		return x.fail(nil, "stat by handle says %d bytes, there are %d", n, len(x.model))
	}
	return nil
}

// whole compares everything, through a handle of its own, half of the time with cold caches.
func (x *file) whole() error {
	cold := x.rng.IntN(2) == 0
	x.note("compare all %d bytes, cold=%v", len(x.model), cold)
	h, err := x.System.Open(x.path, os.O_RDONLY)
	if err != nil {
		return x.fail(err, "open to compare")
	}
	if cold {
		if err := h.Forget(); err != nil {
			return x.fail(errors.Join(err, h.Close()), "drop cached pages")
		}
	}
	err = errors.Join(x.size(), x.expect(h, 0, int64(len(x.model))+1))
	return errors.Join(err, h.Close())
}

// punch must be refused and change nothing.
func (x *file) punch() error {
	h, err := x.writer()
	if err != nil {
		return err
	}
	off, length := x.span(int64(len(x.model)))
	x.note("punch %d bytes at %d", length, off)
	if err := h.Punch(off, length+1); err == nil {
		return x.fail(nil, "a hole could be punched")
	}
	return x.whole()
}

func (x *file) remount() error {
	if x.rng.IntN(20) != 0 { // it takes long
		return x.reopen()
	}
	x.note("remount")
	if err := x.closeAll(); err != nil {
		return err
	}
	if err := x.Remount(); err != nil {
		return x.fail(err, "remount")
	}
	return x.whole()
}
