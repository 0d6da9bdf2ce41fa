package transfer

import (
	"errors"
	"io/fs"
	"path"

	"coffer/fat32"
)

// volumeTree is a folder inside a FAT volume. Safe for concurrent use.
type volumeTree struct {
	volume *fat32.Volume
	base   string // "/" or "/a/b"
	with   Neighbour
	device *deviceHints
}

func newVolumeTree(p Place, base string) *volumeTree {
	g := p.Volume.Geometry()
	size := p.SizeBytes
	if size <= 0 {
		size = g.TotalBytes
	}
	return &volumeTree{volume: p.Volume, base: base, with: p.neighbour(), device: &deviceHints{backing: p.Backing, sizeBytes: size, geometry: g}}
}

// at is the path in the volume of a path in the tree.
func (t *volumeTree) at(p string) string { return path.Join(t.base, p) }

func nodeOfInfo(i fat32.Info) node {
	n := node{name: i.Name, kind: kindFile, size: i.Size, modified: i.ModTime, created: i.CreateTime, readOnly: i.Attr&fat32.AttrReadOnly != 0, place: uint64(i.FirstCluster)}
	if i.IsDir() {
		n.kind, n.size = kindFolder, 0
	}
	return n
}

func (t *volumeTree) list(dir string) ([]node, error) {
	infos, err := t.volume.ReadDir(t.at(dir))
	out := make([]node, len(infos))
	for i, info := range infos {
		out[i] = nodeOfInfo(info)
	}
	return out, err
}

func (t *volumeTree) stat(p string) (node, error) {
	info, err := t.volume.Stat(t.at(p))
	if err != nil {
		return node{}, err
	}
	return nodeOfInfo(info), nil
}

func (t *volumeTree) open(p string) (sourceFile, node, error) {
	if err := t.with.BeforeRead(t.at(p)); err != nil {
		return nil, node{}, err
	}
	f, err := t.volume.OpenFile(t.at(p), fat32.ReadOnly)
	if err != nil {
		return nil, node{}, err
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = errNotRegular
	}
	if err != nil {
		f.Close()
		return nil, node{}, err
	}
	return &volumeSource{f}, nodeOfInfo(info), nil
}

// remove takes a read-only file away too, as the host does: what is removed is
// the source of a move, or was made by this package.
func (t *volumeTree) remove(p string) error {
	at := t.at(p)
	if err := t.with.BeforeReplace(at); err != nil {
		return err
	}
	at = t.stored(at)
	err := t.volume.Remove(at)
	if err == nil {
		t.with.Changed(Change{at, Removed})
	}
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	info, serr := t.volume.Stat(at)
	if serr != nil || info.Attr&fat32.AttrReadOnly == 0 || info.IsDir() {
		return err
	}
	if serr := t.volume.SetAttr(at, info.Attr&^fat32.AttrReadOnly); serr != nil {
		return errors.Join(err, serr)
	}
	return t.drop(at)
}

func (t *volumeTree) sync() error { return t.volume.Sync() }

func (t *volumeTree) close() error {
	t.device.wait()
	return nil
}

func (t *volumeTree) mkdir(p string) error {
	err := t.volume.Mkdir(t.at(p))
	if err == nil {
		t.with.Changed(Change{t.at(p), Created})
	}
	return err
}

func (t *volumeTree) dress(p string, n node) error {
	err := t.volume.SetTimes(t.at(p), fat32.Times{Modify: n.modified, Create: n.created})
	if err == nil {
		t.with.Changed(Change{t.at(p), Written})
	}
	return err
}

// unnamedBytes: files up to this size have no name until they are complete.
// Larger ones might be in more pieces than one transaction can link.
const unnamedBytes = 64 << 10

// create begins a file without a name or under a part name; see docs/adr-0001-publish.md.
func (t *volumeTree) create(o createOptions) (targetFile, error) {
	f := &volumeTarget{tree: t, final: t.at(o.path)}
	if o.part == "" && o.size <= unnamedBytes {
		file, err := t.volume.CreateUnnamed()
		f.file = file
		return f, err
	}
	flags := fat32.ReadWrite
	if o.part != "" {
		f.part = t.at(o.part)
	} else {
		dir, name := split(o.path)
		f.part = t.at(join(dir, padPart(randomPart(), name)))
	}
	if !o.resume {
		flags |= fat32.Create | fat32.Exclusive
	}
	file, err := t.volume.OpenFile(f.part, flags)
	if errors.Is(err, fs.ErrExist) && o.part != "" { // left by an earlier run of the same job
		if err = t.drop(f.part); err == nil {
			file, err = t.volume.OpenFile(f.part, flags)
		}
	}
	if err != nil {
		return nil, err
	}
	f.file = file
	if o.part != "" && !o.resume { // others may come across it; a nameless part gets its name at once
		t.with.Changed(Change{f.part, Created})
	}
	if o.size > 0 {
		if err := file.Reserve(o.size); err != nil {
			return nil, errors.Join(err, f.discard())
		}
	}
	return f, nil
}

// volumeTarget is a file being written inside a volume.
type volumeTarget struct {
	tree        *volumeTree
	file        *fat32.File
	part, final string // part is "" while it has no name
}

// WriteAt writes all of p or fails.
func (f *volumeTarget) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.file.WriteAt(p, off)
	f.tree.device.wrote(wholePages(int64(n)))
	return n, err
}

func (f *volumeTarget) publish(n node, replace bool) error {
	err := f.file.SetTimes(fat32.Times{Modify: n.modified, Create: n.created})
	if f.part == "" {
		if err == nil {
			err = f.link(n, replace)
		}
		return errors.Join(err, f.file.Close())
	}
	if cerr := f.file.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = f.tree.rename(f.part, f.final, replace)
	}
	if err != nil {
		return errors.Join(err, f.tree.drop(f.part))
	}
	if n.readOnly {
		if err := f.tree.volume.SetAttr(f.final, fat32.AttrReadOnly|fat32.AttrArchive); err != nil {
			return err
		}
		f.tree.with.Changed(Change{f.final, Written})
	}
	return nil
}

// link gives a file without a name its attributes and final name.
func (f *volumeTarget) link(n node, replace bool) error {
	if n.readOnly {
		if err := f.file.SetAttr(fat32.AttrReadOnly | fat32.AttrArchive); err != nil {
			return err
		}
	}
	return f.tree.place(f.final, replace, func() error { return f.file.Link(f.final, replace) })
}

func (f *volumeTarget) discard() error {
	err := f.file.Close()
	if f.part == "" {
		return err
	}
	return errors.Join(err, f.tree.drop(f.part))
}

func (f *volumeTarget) keep() error {
	f.tree.with.Changed(Change{f.part, Written})
	return f.file.Close()
}

// volumeSource is an open file of a volume.
type volumeSource struct{ *fat32.File }

func (s *volumeSource) stat() (node, error) {
	info, err := s.File.Stat()
	if err != nil {
		return node{}, err
	}
	return nodeOfInfo(info), nil
}

// forget does nothing: the cache below the whole volume is dropped at once.
func (s *volumeSource) forget() {}

// rulesOf are the rules of a target.
func rulesOf(p Place, t tree) rules {
	switch t := t.(type) {
	case *volumeTree:
		st := t.volume.StatFS()
		g := t.volume.Geometry()
		r := rules{fat: true, maxFileBytes: fat32.MaxFileSize, clusterBytes: int64(st.ClusterSize), freeBytes: st.FreeBytes}
		if g.Type != fat32.FAT32 {
			r.rootSlots = g.RootEntries
		}
		if p.FreeBytes > 0 {
			r.freeBytes = min(r.freeBytes, p.FreeBytes)
		}
		return r
	case *hostTree:
		r := rules{clusterBytes: 4096, freeBytes: -1}
		if free, block, ok := hostSpace(t.folders.top); ok {
			r.freeBytes, r.clusterBytes = free, block
		}
		if p.FAT {
			r.fat, r.maxFileBytes = true, fat32.MaxFileSize
		}
		return r
	}
	return rules{freeBytes: -1}
}
