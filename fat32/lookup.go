package fat32

import (
	"fmt"
	"strings"
)

// splitPath returns the names in path. Empty names (doubled slashes) and "."
// do not count; ".." is no name: a path is not walked upwards.
func splitPath(path string) ([]string, error) {
	names := make([]string, 0, 8)
	for len(path) > 0 {
		var name string
		name, path, _ = strings.Cut(path, "/")
		switch name {
		case "", ".":
		case "..":
			return nil, fmt.Errorf("path holds \"..\": %w", ErrName)
		default:
			names = append(names, name)
		}
	}
	return names, nil
}

// PathError says on which path an operation failed.
type PathError struct {
	Op, Path string
	Err      error
}

func (e *PathError) Error() string { return e.Op + " " + quotePath(e.Path) + ": " + e.Err.Error() }
func (e *PathError) Unwrap() error { return e.Err }

// quotePath makes control characters in a path harmless.
func quotePath(path string) string {
	for i := range len(path) {
		if path[i] < 0x20 || path[i] == 0x7F {
			return fmt.Sprintf("%q", path)
		}
	}
	return path
}

func pathError(op, path string, err error) error {
	if err == nil {
		return nil
	}
	return &PathError{op, path, err}
}

// maxRestarts bounds walkDir: every restart loads a directory or makes a node.
const maxRestarts = 4096

// walkDir resolves names to a directory, loads it and pins it.
func (v *Volume) walkDir(names []string) (*node, error) {
	for range maxRestarts {
		if v.closed.Load() {
			return nil, fmt.Errorf("volume: %w", ErrClosed)
		}
		v.ns.RLock()
		n, missing, err := v.stepsLocked(names)
		if n != nil {
			n.pin()
		}
		v.ns.RUnlock()
		if err != nil {
			return nil, err
		}
		if missing == "" {
			return n, nil
		}
		if missing == needContent {
			err = v.loadDir(n)
		} else {
			err = v.makeChild(n, missing)
		}
		n.unpin()
		if err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("directories change all the time: %w", ErrBusy)
}

// needContent is no name: the directory itself has to be loaded.
const needContent = "/"

// stepsLocked walks as far as memory goes: missing is empty if it arrived, or
// says what n lacks.
func (v *Volume) stepsLocked(names []string) (n *node, missing string, err error) {
	n = v.root
	for i := 0; ; i++ {
		n.hot.Store(true)
		if n.dir == nil {
			return n, needContent, nil
		}
		if i == len(names) {
			return n, "", nil
		}
		var q query
		q.prepare(v.seed, names[i])
		slot := n.dir.find(&q)
		if slot < 0 {
			return nil, "", fmt.Errorf("%s: %w", quotePath(names[i]), ErrNotExist)
		}
		if !n.dir.isDirAt(slot) {
			return nil, "", fmt.Errorf("%s: %w", quotePath(names[i]), ErrNotDir)
		}
		child := n.dir.children[slot]
		if child == nil {
			return n, names[i], nil
		}
		n = child
	}
}

// makeChild makes the node of an entry of parent.
func (v *Volume) makeChild(parent *node, name string) error {
	v.ns.Lock()
	defer v.ns.Unlock()
	if parent.unlinked || parent.dir == nil {
		return nil // the next walk will see
	}
	var q query
	q.prepare(v.seed, name)
	if slot := parent.dir.find(&q); slot >= 0 {
		v.childLocked(parent, slot)
	}
	return nil
}

// walkParent resolves all but the last name of path. The root has no parent.
func (v *Volume) walkParent(path string) (parent *node, name string, err error) {
	names, err := splitPath(path)
	if err != nil {
		return nil, "", err
	}
	if len(names) == 0 {
		return nil, "", fmt.Errorf("root directory: %w", ErrInvalid)
	}
	last := len(names) - 1
	parent, err = v.walkDir(names[:last])
	return parent, names[last], err
}

// walk resolves path to its node, pinned.
func (v *Volume) walk(path string) (*node, error) {
	names, err := splitPath(path)
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		v.ns.RLock()
		defer v.ns.RUnlock()
		return v.root.pin(), nil
	}
	last := len(names) - 1
	parent, err := v.walkDir(names[:last])
	if err != nil {
		return nil, err
	}
	defer parent.unpin()
	return v.openChild(parent, names[last])
}

// openChild returns the node called name in parent, pinned.
func (v *Volume) openChild(parent *node, name string) (*node, error) {
	var q query
	q.prepare(v.seed, name)
	v.ns.Lock()
	defer v.ns.Unlock()
	if parent.unlinked {
		return nil, ErrNotExist
	}
	slot := parent.dir.find(&q)
	if slot < 0 {
		return nil, ErrNotExist
	}
	return v.childLocked(parent, slot).pin(), nil
}

// loadDir reads the content of directory n, which is pinned.
func (v *Volume) loadDir(n *node) error {
	if err := v.loadChain(n); err != nil {
		return fmt.Errorf("directory: %w", err)
	}
	n.load.Lock()
	defer n.load.Unlock()
	v.ns.RLock()
	loaded := n.dir != nil
	v.ns.RUnlock()
	if loaded {
		return nil
	}
	fixed := n == v.root && v.geo.Type != FAT32
	var raw []byte
	if fixed {
		raw = make([]byte, v.geo.RootEntries*slotSize)
		if err := readFull(v.dev, raw, v.geo.RootOffset); err != nil {
			return fmt.Errorf("root directory: %w", err)
		}
	} else {
		if n.chain.total == 0 {
			return fmt.Errorf("directory without clusters: %w", ErrCorrupt)
		}
		raw = make([]byte, min(int64(n.chain.total)<<v.shift, maxDirSlots*slotSize))
		at := raw
		for _, e := range n.chain.runs {
			part := at[:min(int64(e.count)<<v.shift, int64(len(at)))]
			if err := readFull(v.dev, part, v.geo.clusterOffset(e.start)); err != nil {
				return fmt.Errorf("directory: %w", err)
			}
			at = at[len(part):]
		}
	}
	judge := v.geo.judgeSlots(raw, n == v.root)
	if err := judge.destroyed(); err != nil {
		return fmt.Errorf("directory: %w", err)
	}
	d := parseDirectory(raw, v.seed, n == v.root)
	d.fixed, d.damage = fixed, judge.incomplete()
	v.ns.Lock()
	n.dir = d
	v.table.dirBytes += int64(len(raw))
	v.ns.Unlock()
	return nil
}

// infoLocked describes the entry at slot of parent. Volume.ns is held.
func (v *Volume) infoLocked(parent *node, slot int32) (i Info) {
	d := parent.dir
	p := d.slot(int(slot))
	i.Name = d.name(slot)
	if d.longs[slot] == 0 && p[12]&(caseLowerBase|caseLowerExt) == 0 {
		i.ShortName = i.Name
	} else {
		var buf [12]uint16
		i.ShortName = unitsToString(appendShort(buf[:0], (*[11]byte)(p[:11]), 0))
	}
	if n := d.children[slot]; n != nil {
		n.fill(&i, v.loc)
		return i
	}
	e := v.geo.Type.decodeEntry(p)
	i.Attr, i.FirstCluster, i.ID = e.attr, e.cluster, v.ids.at(parent.place(slot))
	if !i.IsDir() {
		i.Size = int64(e.size)
	}
	i.ModTime, i.CreateTime, i.AccessTime = e.modify.time(v.loc), e.create.time(v.loc), e.access.time(v.loc)
	return i
}

// Stat describes the file or directory at path ("/a/b"; "/" is the root).
// Lookup ignores case; an entry in the exact spelling wins.
func (v *Volume) Stat(path string) (Info, error) {
	i, err := v.stat(path)
	return i, pathError("stat", path, err)
}

func (v *Volume) stat(path string) (Info, error) {
	names, err := splitPath(path)
	if err != nil {
		return Info{}, err
	}
	if len(names) == 0 {
		return Info{Name: "/", ShortName: "/", Attr: AttrDirectory, FirstCluster: v.geo.RootCluster, ID: rootID}, nil
	}
	last := len(names) - 1
	parent, err := v.walkDir(names[:last])
	if err != nil {
		return Info{}, err
	}
	defer parent.unpin()
	var q query
	q.prepare(v.seed, names[last])
	v.ns.RLock()
	defer v.ns.RUnlock()
	if parent.unlinked {
		return Info{}, ErrNotExist
	}
	slot := parent.dir.find(&q)
	if slot < 0 {
		return Info{}, ErrNotExist
	}
	return v.infoLocked(parent, slot), nil
}

// ReadDir lists a directory in the order of its slots, without . and .. If some
// entries are too damaged to be shown, it returns the others and an ErrCorrupt.
func (v *Volume) ReadDir(path string) ([]Info, error) {
	names, err := splitPath(path)
	if err != nil {
		return nil, pathError("list", path, err)
	}
	n, err := v.walkDir(names)
	if err != nil {
		return nil, pathError("list", path, err)
	}
	defer n.unpin()
	v.ns.RLock()
	defer v.ns.RUnlock()
	d := n.dir
	out := make([]Info, 0, d.live)
	for i, end := d.used.next(0, d.slots()), d.slots(); i < end; i = d.used.next(i+1, end) {
		if d.isEntry(i, n == v.root) && !d.ghostly.has(i) {
			out = append(out, v.infoLocked(n, int32(i)))
		}
	}
	return out, pathError("list", path, d.damage)
}

// isDirAt reports whether the entry at slot is a directory. The slot itself is up
// to date only after a flush.
func (d *directory) isDirAt(slot int32) bool {
	if n := d.children[slot]; n != nil {
		return n.isDir
	}
	return Attr(d.slot(int(slot))[11])&AttrDirectory != 0
}

// isEntry reports whether a used slot is the short entry of a file or
// directory, not a part of a long name, a label, or a dot entry.
func (d *directory) isEntry(i int, isRoot bool) bool {
	s := d.slot(i)
	return s[0] != slotDeleted && s[0] != slotEnd && Attr(s[11])&attrVolumeID == 0 && !isStrayDot(s, i, isRoot)
}
