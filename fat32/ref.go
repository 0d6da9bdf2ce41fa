package fat32

import (
	"errors"
	"fmt"
)

// Ref is a file or directory held by reference: it stays the same object under
// whatever name and in whatever place, also after its removal. A file-system
// driver holds one for every object its kernel knows, and never needs a path that may
// be out of date. References are counted: every one that a function returns is
// given back with Release. Copies of a Ref are the same reference. The zero Ref refers to nothing.
// All methods are safe for concurrent use.
type Ref struct {
	v *Volume
	n *node
}

// Root returns a reference to the root directory.
func (v *Volume) Root() Ref {
	v.root.refs.Add(1)
	return Ref{v, v.root}
}

// Ref returns a reference to the file or directory at path; case is ignored.
func (v *Volume) Ref(path string) (Ref, error) {
	n, err := v.walk(path)
	if err != nil {
		return Ref{}, pathError("find", path, err)
	}
	defer n.unpin()
	n.refs.Add(1)
	return Ref{v, n}, nil
}

// Valid reports whether r refers to anything.
func (r Ref) Valid() bool { return r.n != nil }

// Hold counts another reference to the same object.
func (r Ref) Hold() Ref { r.n.refs.Add(1); return r }

// Release gives a reference back. Of a removed file that nobody refers to or has open any
// more, the identity may be used again.
func (r Ref) Release() {
	if r.n == nil || r.n.refs.Add(-1) > 0 {
		return
	}
	r.v.ns.RLock()
	gone := r.n.unlinked
	r.v.ns.RUnlock()
	if gone {
		r.v.ns.Lock()
		r.v.forgetLocked(r.n)
		r.v.ns.Unlock()
	}
}

// forgetLocked gives the identity of a removed node free once nobody knows it any more.
func (v *Volume) forgetLocked(n *node) {
	if n.unlinked && !n.forgotten && n.handles == 0 && n.refs.Load() == 0 {
		n.forgotten = true
		v.ids.forget(n.id)
	}
}

// ID is Info.ID: the identity, which no other object has while this one is referred to.
func (r Ref) ID() uint64 { return r.n.id }

// IsDir reports whether it is a directory.
func (r Ref) IsDir() bool { return r.n.isDir }

// Removed reports whether the object has no name any more.
func (r Ref) Removed() bool {
	r.v.ns.RLock()
	defer r.v.ns.RUnlock()
	return r.n.unlinked
}

// Stat describes the object. The names are left empty: see Name.
func (r Ref) Stat() (i Info, err error) {
	if r.v.closed.Load() {
		return i, fmt.Errorf("stat: volume: %w", ErrClosed)
	}
	r.n.fill(&i, r.v.loc)
	return i, nil
}

// Name returns the name as stored, "" without one, "/" for the root.
func (r Ref) Name() string {
	r.v.ns.RLock()
	defer r.v.ns.RUnlock()
	return r.n.nameLocked()
}

func (n *node) nameLocked() string {
	switch {
	case n.unlinked:
		return ""
	case n.parent == nil:
		return "/"
	}
	return n.parent.dir.name(n.slot)
}

// Path returns the path from the root, "" without one.
func (r Ref) Path() string {
	r.v.ns.RLock()
	defer r.v.ns.RUnlock()
	if r.n.unlinked {
		return ""
	}
	path := ""
	for n := r.n; n.parent != nil; n = n.parent {
		if n.unlinked {
			return ""
		}
		path = "/" + n.nameLocked() + path
	}
	if path == "" {
		return "/"
	}
	return path
}

// Parent returns a reference to the directory the object lies in; ok is false for the root
// and for what has been removed.
func (r Ref) Parent() (parent Ref, ok bool) {
	r.v.ns.RLock()
	defer r.v.ns.RUnlock()
	if r.n.unlinked || r.n.parent == nil {
		return Ref{}, false
	}
	r.n.parent.refs.Add(1)
	return Ref{r.v, r.n.parent}, true
}

// enter pins directory r with its content loaded; unpin must follow if there is no error.
func (r Ref) enter() error {
	v, n := r.v, r.n
	if v.closed.Load() {
		return fmt.Errorf("volume: %w", ErrClosed)
	}
	if !n.isDir {
		return ErrNotDir
	}
	v.ns.RLock()
	n.pin()
	n.hot.Store(true)
	loaded := n.dir != nil
	v.ns.RUnlock()
	if loaded {
		return nil
	}
	if err := v.loadDir(n); err != nil {
		n.unpin()
		return err
	}
	return nil
}

// Lookup finds name in directory r. With exact only the stored spelling counts, else case is
// ignored and the exact spelling preferred. Info has the stored name.
func (r Ref) Lookup(name string, exact bool) (Ref, Info, error) {
	if err := r.enter(); err != nil {
		return Ref{}, Info{}, pathError("find", name, err)
	}
	defer r.n.unpin()
	v := r.v
	var q query
	q.prepare(v.seed, name)
	v.ns.RLock()
	slot, err := r.findLocked(&q, exact)
	if err != nil {
		v.ns.RUnlock()
		return Ref{}, Info{}, err
	}
	if n := r.n.dir.children[slot]; n != nil {
		n.refs.Add(1)
		n.hot.Store(true)
		i := v.longInfoLocked(r.n, slot)
		v.ns.RUnlock()
		return Ref{v, n}, i, nil
	}
	v.ns.RUnlock()
	v.ns.Lock()
	defer v.ns.Unlock()
	if slot, err = r.findLocked(&q, exact); err != nil {
		return Ref{}, Info{}, err
	}
	n := v.childLocked(r.n, slot)
	n.refs.Add(1)
	return Ref{v, n}, v.longInfoLocked(r.n, slot), nil
}

// findLocked returns the slot of an entry of r. The errors are bare: a driver is asked for what does
// not exist all the time.
func (r Ref) findLocked(q *query, exact bool) (int32, error) {
	if r.n.unlinked {
		return -1, ErrNotExist
	}
	slot, same := r.n.dir.search(q, false)
	if slot < 0 || exact && !same {
		return -1, ErrNotExist
	}
	return slot, nil
}

// longInfoLocked is infoLocked without the short name.
func (v *Volume) longInfoLocked(parent *node, slot int32) (i Info) {
	d := parent.dir
	i.Name = d.name(slot)
	if n := d.children[slot]; n != nil {
		n.fill(&i, v.loc)
		return i
	}
	e := v.geo.Type.decodeEntry(d.slot(int(slot)))
	i.Attr, i.FirstCluster, i.ID = e.attr, e.cluster, v.ids.at(parent.place(slot))
	if !i.IsDir() {
		i.Size = int64(e.size)
	}
	i.ModTime, i.CreateTime, i.AccessTime = e.modify.time(v.loc), e.create.time(v.loc), e.access.time(v.loc)
	return i
}

// Entry is one line of a listing.
type Entry struct {
	Info     // without the short name
	Next int // where a listing continues behind this entry
	Ref  Ref // if asked for
}

// List appends up to most entries of directory r to buf, from position from on (0 is the
// beginning, then Entry.Next of the last entry). A position stays good while entries come and go:
// what is there all the time is listed exactly once, unless it is renamed. With hold, every entry
// comes with a reference. Fewer than most entries mean that the end was reached; only there ErrCorrupt
// tells that entries too damaged to be shown are missing.
func (r Ref) List(buf []Entry, from, most int, hold bool) ([]Entry, error) {
	if err := r.enter(); err != nil {
		return buf, r.wrap("list", err)
	}
	defer r.n.unpin()
	v, n := r.v, r.n
	if hold {
		v.ns.Lock()
		defer v.ns.Unlock()
	} else {
		v.ns.RLock()
		defer v.ns.RUnlock()
	}
	if n.unlinked {
		return buf, nil
	}
	d := n.dir
	end := d.slots()
	if from < 0 || from > end {
		return buf, nil
	}
	for i := d.used.next(from, end); i < end; i = d.used.next(i+1, end) {
		if !d.isEntry(i, n == v.root) || d.ghostly.has(i) {
			continue
		}
		if most--; most < 0 {
			return buf, nil
		}
		e := Entry{Info: v.longInfoLocked(n, int32(i)), Next: i + 1}
		if hold {
			child := v.childLocked(n, int32(i))
			child.refs.Add(1)
			e.Ref = Ref{v, child}
		}
		buf = append(buf, e)
	}
	return buf, r.wrap("list", d.damage)
}

// wrap adds what failed on which object to an error.
func (r Ref) wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	return &PathError{op, r.Path(), err}
}

// Open opens the file.
func (r Ref) Open(flag OpenFlag) (*File, error) {
	f, err := r.open(flag)
	return f, r.wrap("open", err)
}

func (r Ref) open(flag OpenFlag) (*File, error) {
	v, n := r.v, r.n
	switch {
	case v.closed.Load():
		return nil, fmt.Errorf("volume: %w", ErrClosed)
	case n.isDir:
		return nil, ErrIsDir
	case flag&Truncate != 0 && !flag.writes():
		return nil, fmt.Errorf("truncate without writing: %w", ErrInvalid)
	}
	if flag.writes() {
		if err := v.writable(); err != nil {
			return nil, err
		}
		if err := n.changeable(); err != nil {
			return nil, err
		}
	}
	v.ns.Lock()
	if n.unlinked && n.handles == 0 {
		v.ns.Unlock()
		return nil, ErrNotExist // its clusters are gone
	}
	n.handles++
	n.pin()
	v.ns.Unlock()
	return v.opened(n, flag)
}

// opened makes the File of a node whose handle is counted.
func (v *Volume) opened(n *node, flag OpenFlag) (*File, error) {
	f := &File{v: v, n: n, flag: flag}
	if flag&Truncate != 0 {
		if err := f.Truncate(0); err != nil {
			_ = f.Close()
			return nil, err
		}
	}
	return f, nil
}

// changeable tells why the content cannot be changed by somebody who opens the file now.
func (n *node) changeable() error {
	n.mu.RLock()
	defer n.mu.RUnlock()
	if n.attr&AttrReadOnly != 0 {
		return fmt.Errorf("file is marked read-only: %w", ErrPermission)
	}
	return nil
}

// OpenIn is Volume.OpenFile for a name in directory r.
func (r Ref) OpenIn(name string, flag OpenFlag) (*File, error) {
	if err := r.v.openable(flag); err != nil {
		return nil, pathError("open", name, err)
	}
	if err := r.enter(); err != nil {
		return nil, pathError("open", name, err)
	}
	defer r.n.unpin()
	f, err := r.v.openIn(r.n, name, flag)
	return f, pathError("open", name, err)
}

// Ref returns a reference to the file that f has open.
func (f *File) Ref() Ref {
	f.v.ns.Lock()
	defer f.v.ns.Unlock()
	if f.n.id == 0 { // without a name: it keeps this identity when it gets one
		f.n.mu.Lock()
		f.n.id = f.v.ids.placeless()
		f.n.mu.Unlock()
	}
	f.n.refs.Add(1)
	return Ref{f.v, f.n}
}

// Mkdir makes an empty directory called name in directory r.
func (r Ref) Mkdir(name string) (Ref, error) {
	if err := r.v.writable(); err != nil {
		return Ref{}, pathError("make directory", name, err)
	}
	if err := r.enter(); err != nil {
		return Ref{}, pathError("make directory", name, err)
	}
	defer r.n.unpin()
	n, err := r.v.mkdirIn(r.n, name, true)
	if err != nil {
		return Ref{}, pathError("make directory", name, err)
	}
	return Ref{r.v, n}, nil
}

// RemoveKind says what Remove may remove.
type RemoveKind int

// Kinds of objects to remove.
const (
	RemoveAny RemoveKind = iota
	RemoveFile
	RemoveDir
)

// Remove deletes the file or empty directory called name in directory r, if it is of that kind:
// else ErrIsDir or ErrNotDir. exact is as for Lookup.
func (r Ref) Remove(name string, kind RemoveKind, exact bool) error {
	return pathError("remove", name, r.remove(name, kind, exact))
}

func (r Ref) remove(name string, kind RemoveKind, exact bool) error {
	if err := r.v.writable(); err != nil {
		return err
	}
	n, err := r.child(name, exact)
	if err != nil {
		return err
	}
	defer n.unpin()
	switch {
	case kind == RemoveFile && n.isDir:
		return ErrIsDir
	case kind == RemoveDir && !n.isDir:
		return ErrNotDir
	}
	return r.v.removeNode(n)
}

// child returns the node called name in directory r, pinned.
func (r Ref) child(name string, exact bool) (*node, error) {
	if err := r.enter(); err != nil {
		return nil, err
	}
	defer r.n.unpin()
	var q query
	q.prepare(r.v.seed, name)
	r.v.ns.Lock()
	defer r.v.ns.Unlock()
	slot, err := r.findLocked(&q, exact)
	if err != nil {
		return nil, err
	}
	return r.v.childLocked(r.n, slot).pin(), nil
}

// RenameOptions adjust Ref.Rename.
type RenameOptions struct {
	Replace bool // an existing target is replaced as POSIX has it
	Exact   bool // only the stored spelling of the old name counts
}

// Rename gives the object called name in directory r the name newName in directory to, as
// Volume.Rename does. displaced is the stored name of what was replaced, if anything was.
func (r Ref) Rename(name string, to Ref, newName string, o RenameOptions) (displaced string, err error) {
	displaced, err = r.rename(name, to, newName, o)
	if err != nil {
		return "", &PathError{"rename", name + " -> " + newName, err}
	}
	return displaced, nil
}

func (r Ref) rename(name string, to Ref, newName string, o RenameOptions) (string, error) {
	if r.v != to.v {
		return "", fmt.Errorf("target is in another volume: %w", ErrInvalid)
	}
	if err := r.v.writable(); err != nil {
		return "", err
	}
	n, err := r.child(name, o.Exact)
	if err != nil {
		return "", err
	}
	defer n.unpin()
	if err := to.enter(); err != nil {
		return "", fmt.Errorf("target: %w", err)
	}
	defer to.n.unpin()
	return r.v.renameNode(n, to.n, newName, o.Replace)
}

// SetAttr sets the DOS attributes in mask to those of a, as Volume.SetAttr does.
func (r Ref) SetAttr(a, mask Attr) error {
	return r.wrap("set attributes", r.change(func(n *node) { n.setAttrLocked(n.attr&^mask | a&mask) }))
}

// SetTimes is Volume.SetTimes.
func (r Ref) SetTimes(t Times) error {
	return r.wrap("set times", r.change(func(n *node) { r.v.setTimesLocked(n, t) }))
}

func (r Ref) change(f func(*node)) error {
	if err := r.v.writable(); err != nil {
		return err
	}
	if r.n == r.v.root {
		return nil // the root has no entry that could hold it
	}
	return r.v.changeNode(r.n, f)
}

// Truncate sets the size of the file in bytes; the read-only attribute forbids it.
func (r Ref) Truncate(size int64) error {
	f, err := r.open(WriteOnly)
	if err != nil {
		return r.wrap("truncate", err)
	}
	return errors.Join(f.Truncate(size), f.Close())
}

// Fail turns the volume read-only for good, as a failed flush does: for a driver that found
// itself broken and can no longer vouch for what would be written.
func (v *Volume) Fail(err error) { v.fail(err) }
