package exerciser

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Limits of Tree.
const (
	maxTreeHandles = 6
	maxTreeDepth   = 5
	maxTreeFiles   = 150
)

// node is a file or a folder of the model.
type node struct {
	name     string // as spelled in its folder
	parent   *node  // nil at the top, and once removed
	children map[string]*node
	content  []byte // of a file
}

func (n *node) isFolder() bool { return n.children != nil }

// below says whether n is top or inside it.
func (n *node) below(top *node) bool {
	for ; n != nil; n = n.parent {
		if n == top {
			return true
		}
	}
	return false
}

// held is an open file of the model, which may have been removed or replaced meanwhile.
type held struct {
	Handle
	file *node
}

// tree is a run of Tree.
type tree struct {
	Config
	trail
	top     *node
	folders []*node // all, the top first
	files   []*node
	handles []*held
}

// Tree exercises folders and files below c.Dir and removes them when all went well. The error is a *Failure.
func Tree(ctx context.Context, c Config) error {
	c.fill()
	x := &tree{Config: c, trail: newTrail(c.Seed, 2), top: &node{children: map[string]*node{}}}
	x.folders = []*node{x.top}
	defer x.closeAll()
	err := x.run(ctx, c.Operations, x.choices())
	if err == nil {
		err = x.compareAll()
	}
	if err != nil {
		return err
	}
	if err := x.closeAll(); err != nil || c.Leave {
		return err
	}
	return x.removeAll(x.top)
}

func (x *tree) choices() []choice {
	all := []choice{
		{14, x.create}, {8, x.createNew}, {8, x.overwrite}, {6, x.append}, {4, x.truncate}, {12, x.readWhole}, {6, x.save},
		{8, x.rename}, {3, x.renameFolder}, {4, x.mkdir}, {9, x.remove}, {2, x.rmdir}, {5, x.list}, {8, x.stat}, {6, x.open},
		{12, x.useHandle}, {5, x.closeHandle}, {3, x.copy}, {2, x.missing}, {3, x.impossible},
	}
	if x.Remount != nil {
		all = append(all, choice{1, x.remount})
	}
	return all
}

// key is what makes two names the same.
func (x *tree) key(name string) string {
	if x.FAT {
		return strings.ToUpper(name)
	}
	return name
}

func (x *tree) path(n *node) string {
	if n == x.top {
		return x.Dir
	}
	return filepath.Join(x.path(n.parent), n.name)
}

// short is the path for messages.
func (x *tree) short(n *node) string {
	if n.parent == nil && n != x.top {
		return "(removed) " + n.name
	}
	name, _ := filepath.Rel(x.Dir, x.path(n))
	return name
}

func depth(n *node) (d int) {
	for ; n.parent != nil; n = n.parent {
		d++
	}
	return d
}

// randomName is one of a few names of each kind, so that they often meet.
func (x *tree) randomName() string {
	kinds := [...]string{"%.txt", "PLAIN%.DAT", "a longer name, number %.document", "Größe % ñ é.txt", "日本語 %", "e\u0301 apart %",
		"two  spaces % .x", "emoji 😀 %.png", "no extension %", "many.dots.%.tar.gz", "name of twenty char%", "[brackets] {%} ~1"}
	name := x.Prefix + strings.ReplaceAll(kinds[x.rng.IntN(len(kinds))], "%", string(rune('a'+x.rng.IntN(4))))
	if x.FAT {
		switch x.rng.IntN(12) {
		case 0:
			name = strings.ToUpper(name)
		case 1:
			name = strings.ToLower(name)
		}
	}
	return name
}

func (x *tree) folder() *node { return x.folders[x.rng.IntN(len(x.folders))] }

// place is a random name in a random folder and what is there.
func (x *tree) place() (folder *node, name string, there *node) {
	folder, name = x.folder(), x.randomName()
	return folder, name, folder.children[x.key(name)]
}

// file is a random existing file, or nil.
func (x *tree) file() *node {
	if len(x.files) == 0 {
		return nil
	}
	return x.files[x.rng.IntN(len(x.files))]
}

func (x *tree) attach(n, folder *node, name string) {
	n.parent, n.name = folder, name
	folder.children[x.key(name)] = n
}

func (x *tree) detach(n *node) {
	delete(n.parent.children, x.key(n.name))
	n.parent = nil
}

func drop(list []*node, n *node) []*node {
	i := slices.Index(list, n)
	return slices.Delete(list, i, i+1)
}

// data is new content for a file: mostly small, now and then as large as allowed.
func (x *tree) data(off int64) []byte {
	limit := x.MaxSizeBytes
	if x.rng.IntN(8) != 0 {
		limit = min(limit, 20000)
	}
	p := make([]byte, x.rng.Int64N(limit+1))
	if x.rng.IntN(12) == 0 {
		p = p[:0]
	}
	fill(p, off, x.step)
	return p
}

// create writes a file whole, truncating what was there.
func (x *tree) create() error {
	folder, name, there := x.place()
	if there == nil && len(x.files) >= maxTreeFiles {
		return x.remove()
	}
	path, p := filepath.Join(x.path(folder), name), x.data(0)
	x.note("create or truncate %s in %s with %d bytes", name, x.short(folder), len(p))
	h, err := x.System.Open(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC)
	if there != nil && there.isFolder() {
		return x.mustFail(h, err, "a folder could be opened for writing")
	}
	if err != nil {
		return x.fail(err, "create or truncate")
	}
	if there == nil {
		there = &node{}
		x.attach(there, folder, name)
		x.files = append(x.files, there)
	}
	there.content = nil
	if err := x.writeAt(h, there, p, 0); err != nil {
		return errors.Join(err, h.Close())
	}
	if x.rng.IntN(10) == 0 {
		if err := h.Sync(); err != nil {
			return x.fail(errors.Join(err, h.Close()), "sync")
		}
	}
	if err := h.Close(); err != nil {
		return x.fail(err, "close")
	}
	return x.statNode(there)
}

func (x *tree) writeAt(h Handle, n *node, p []byte, off int64) error {
	if len(p) == 0 {
		return nil
	}
	if wrote, err := h.WriteAt(p, off); err != nil || wrote != len(p) {
		return x.fail(err, "wrote %d of %d bytes at %d", wrote, len(p), off)
	}
	if missing := off + int64(len(p)) - int64(len(n.content)); missing > 0 {
		n.content = append(n.content[:len(n.content):len(n.content)], make([]byte, missing)...)
	}
	copy(n.content[off:], p)
	return nil
}

// mustFail closes what should not have been opened.
func (x *tree) mustFail(h Handle, err error, format string, values ...any) error {
	if err != nil {
		return nil
	}
	if h != nil {
		err = h.Close()
	}
	return x.fail(err, format, values...)
}

// createNew insists on a new file.
func (x *tree) createNew() error {
	folder, name, there := x.place()
	if there == nil && len(x.files) >= maxTreeFiles {
		return x.remove()
	}
	x.note("create the new file %s in %s", name, x.short(folder))
	h, err := x.System.Open(filepath.Join(x.path(folder), name), os.O_RDWR|os.O_CREATE|os.O_EXCL)
	if there != nil {
		if err == nil || !errors.Is(err, os.ErrExist) {
			return errors.Join(x.fail(err, "%s exists and this is not the answer", there.name), closeIf(h, err))
		}
		return nil
	}
	if err != nil {
		return x.fail(err, "create a new file")
	}
	n := &node{}
	x.attach(n, folder, name)
	x.files = append(x.files, n)
	if err := x.writeAt(h, n, x.data(0), 0); err != nil {
		return errors.Join(err, h.Close())
	}
	return x.keep(h, n)
}

func closeIf(h Handle, err error) error {
	if err != nil || h == nil {
		return nil
	}
	return h.Close()
}

// keep holds a handle for later; of too many, one is closed.
func (x *tree) keep(h Handle, n *node) error {
	x.handles = append(x.handles, &held{h, n})
	if len(x.handles) > maxTreeHandles {
		return x.closeHandle()
	}
	return nil
}

// with opens an existing file for one thing.
func (x *tree) with(n *node, flag int, do func(Handle) error) error {
	h, err := x.System.Open(x.path(n), flag)
	if err != nil {
		return x.fail(err, "open %s", x.short(n))
	}
	err = do(h)
	if cerr := h.Close(); cerr != nil {
		err = errors.Join(err, x.fail(cerr, "close"))
	}
	return err
}

func (x *tree) overwrite() error {
	n := x.file()
	if n == nil {
		return x.create()
	}
	off := x.rng.Int64N(min(int64(len(n.content))+5000, x.MaxSizeBytes))
	p := x.data(off)
	p = p[:min(int64(len(p)), x.MaxSizeBytes-off)]
	x.note("write %d bytes at %d of %d in %s", len(p), off, len(n.content), x.short(n))
	return x.with(n, os.O_WRONLY, func(h Handle) error { return x.writeAt(h, n, p, off) })
}

func (x *tree) append() error {
	n := x.file()
	if n == nil {
		return x.create()
	}
	off := int64(len(n.content))
	p := x.data(off)
	if p = p[:min(int64(len(p)), x.MaxSizeBytes-off)]; len(p) == 0 {
		return nil
	}
	x.note("append %d bytes at %d in %s", len(p), off, x.short(n))
	return x.with(n, os.O_WRONLY|os.O_APPEND, func(h Handle) error {
		if wrote, err := h.Write(p); err != nil || wrote != len(p) {
			return x.fail(err, "appended %d of %d bytes", wrote, len(p))
		}
		n.content = append(n.content[:off:off], p...)
		return nil
	})
}

func (x *tree) truncate() error {
	n := x.file()
	if n == nil {
		return x.create()
	}
	to := x.rng.Int64N(min(2*int64(len(n.content))+1000, x.MaxSizeBytes) + 1)
	x.note("truncate %s from %d to %d", x.short(n), len(n.content), to)
	return x.with(n, os.O_WRONLY, func(h Handle) error {
		if err := h.Truncate(to); err != nil {
			return x.fail(err, "truncate")
		}
		n.resize(to)
		return nil
	})
}

func (n *node) resize(to int64) {
	if to <= int64(len(n.content)) {
		n.content = n.content[:to:to]
	} else {
		n.content = append(n.content[:len(n.content):len(n.content)], make([]byte, to-int64(len(n.content)))...)
	}
}

func (x *tree) readWhole() error {
	n := x.file()
	if n == nil {
		return nil
	}
	cold := x.rng.IntN(3) == 0
	x.note("read %s, %d bytes, cold=%v", x.short(n), len(n.content), cold)
	return x.readNode(n, cold)
}

func (x *tree) readNode(n *node, cold bool) error {
	return x.with(n, os.O_RDONLY, func(h Handle) error {
		if cold {
			if err := h.Forget(); err != nil {
				return x.fail(err, "drop cached pages")
			}
		}
		return x.readHandle(h, n)
	})
}

func (x *tree) readHandle(h Handle, n *node) error {
	size, err := h.Size()
	if err != nil || size != int64(len(n.content)) {
		return x.fail(err, "stat by handle of %s says %d bytes, there are %d", x.short(n), size, len(n.content))
	}
	got := make([]byte, size+1)
	read, err := h.ReadAt(got, 0)
	if err != nil && int64(read) != size {
		return x.fail(err, "read of %s stopped after %d of %d bytes", x.short(n), read, size)
	}
	if d := difference(got[:read], n.content, 0, x.step); d != "" {
		return x.fail(nil, "%s: %s", x.short(n), d)
	}
	return nil
}

// save is what careful editors do.
func (x *tree) save() error {
	n := x.file()
	if n == nil {
		return x.create()
	}
	p := x.data(0)
	folder, temporary := n.parent, filepath.Join(x.path(n.parent), x.Prefix+".saving~")
	x.note("save %s with %d bytes: temporary file, sync, rename over", x.short(n), len(p))
	h, err := x.System.Open(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return x.fail(err, "create the temporary file")
	}
	fresh := &node{}
	err = x.writeAt(h, fresh, p, 0)
	if err == nil && x.rng.IntN(2) == 0 {
		err = h.Sync()
	}
	if err = errors.Join(err, h.Close()); err != nil {
		return x.fail(err, "write the temporary file")
	}
	if err := x.System.Rename(temporary, x.path(n)); err != nil {
		return x.fail(err, "rename over the file")
	}
	name := n.name
	x.files = append(drop(x.files, n), fresh)
	x.detach(n)
	x.attach(fresh, folder, name)
	return x.readNode(fresh, false)
}

func (x *tree) copy() error {
	n := x.file()
	folder, name, there := x.place()
	if n == nil || there != nil || len(x.files) >= maxTreeFiles {
		return nil
	}
	x.note("copy %s to %s in %s", x.short(n), name, x.short(folder))
	fresh := &node{}
	h, err := x.System.Open(filepath.Join(x.path(folder), name), os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return x.fail(err, "create the copy")
	}
	x.attach(fresh, folder, name)
	x.files = append(x.files, fresh)
	for off := 0; off < len(n.content) && err == nil; off += 32 << 10 {
		err = x.writeAt(h, fresh, n.content[off:min(off+32<<10, len(n.content))], int64(off))
	}
	if err = errors.Join(err, h.Close()); err != nil {
		return x.fail(err, "write the copy")
	}
	return x.readNode(fresh, x.rng.IntN(2) == 0)
}
