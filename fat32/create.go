package fat32

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// OpenFlag says how OpenFile opens; the values are those of package os.
type OpenFlag int

// Flags of OpenFile. Exactly one of the first three; the others may be added.
const (
	ReadOnly  = OpenFlag(os.O_RDONLY)
	WriteOnly = OpenFlag(os.O_WRONLY)
	ReadWrite = OpenFlag(os.O_RDWR)
	Create    = OpenFlag(os.O_CREATE) // make the file if it does not exist
	Exclusive = OpenFlag(os.O_EXCL)   // with Create: fail if it exists
	Truncate  = OpenFlag(os.O_TRUNC)  // make it empty

	accessMask = ReadOnly | WriteOnly | ReadWrite
)

func (f OpenFlag) writes() bool { return f&accessMask != ReadOnly }

// OpenFile opens the file at path. With Create it makes it if need be (a
// name that differs only in case opens the file that is there). A file with the
// read-only attribute cannot be opened for writing.
func (v *Volume) OpenFile(path string, flag OpenFlag) (*File, error) {
	f, err := v.openFile(path, flag)
	return f, pathError("open", path, err)
}

func (v *Volume) openFile(path string, flag OpenFlag) (*File, error) {
	if err := v.openable(flag); err != nil {
		return nil, err
	}
	parent, name, err := v.walkParent(path)
	if err != nil {
		if strings.Trim(path, "/.") == "" {
			return nil, ErrIsDir
		}
		return nil, err
	}
	defer parent.unpin()
	return v.openIn(parent, name, flag)
}

// openable tells why nothing can be opened with flag, if so.
func (v *Volume) openable(flag OpenFlag) error {
	if flag&(Create|Truncate) != 0 || flag.writes() {
		if err := v.writable(); err != nil {
			return err
		}
	}
	if flag&Truncate != 0 && !flag.writes() {
		return fmt.Errorf("truncate without writing: %w", ErrInvalid)
	}
	return nil
}

// openIn opens name in parent, which is pinned and loaded.
func (v *Volume) openIn(parent *node, name string, flag OpenFlag) (*File, error) {
	n, err := v.openNode(parent, name, flag)
	for errors.Is(err, ErrNotExist) && flag&Create != 0 {
		n, err = v.makeFile(parent, name)
		if errors.Is(err, ErrExist) && flag&Exclusive == 0 {
			n, err = v.openNode(parent, name, flag) // somebody was faster
		}
		if !errors.Is(err, ErrNotExist) || parentGone(v, parent) {
			break
		}
	}
	if err != nil {
		return nil, err
	}
	return v.opened(n, flag)
}

func parentGone(v *Volume, parent *node) bool {
	v.ns.RLock()
	defer v.ns.RUnlock()
	return parent.unlinked
}

// openNode opens an existing file and counts the handle.
func (v *Volume) openNode(parent *node, name string, flag OpenFlag) (*node, error) {
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
	if flag&(Create|Exclusive) == Create|Exclusive {
		return nil, ErrExist
	}
	if parent.dir.isDirAt(slot) {
		return nil, ErrIsDir
	}
	n := v.childLocked(parent, slot)
	if flag.writes() {
		if err := n.changeable(); err != nil {
			return nil, err
		}
	}
	n.handles++
	return n.pin(), nil
}

// makeFile makes an empty file and returns its node with a handle counted.
func (v *Volume) makeFile(parent *node, name string) (n *node, err error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	now := encodeStamp(v.now(), v.loc)
	err = v.mutate(costEntry+v.costGrow(), func() error {
		v.ns.Lock()
		defer v.ns.Unlock()
		slot, err := v.addEntryLocked(parent, name)
		if err != nil {
			return err
		}
		n = &node{id: v.ids.fresh(parent.place(slot)), attr: AttrArchive, create: now, access: now.day(), modify: now.coarse(), loaded: true, handles: 1}
		n.hot.Store(true)
		n.pin()
		v.addNodeLocked(n, parent, slot)
		v.touchNew(n)
		return nil
	})
	return n, err
}

// touchNew marks a new node dirty.
func (v *Volume) touchNew(n *node) {
	n.mu.Lock()
	v.touchLocked(n)
	n.mu.Unlock()
}

// Mkdir makes an empty directory.
func (v *Volume) Mkdir(path string) error {
	return pathError("make directory", path, v.mkdir(path))
}

func (v *Volume) mkdir(path string) error {
	parent, name, err := v.walkParent(path)
	if err != nil {
		if errors.Is(err, ErrInvalid) {
			return ErrExist // the root
		}
		return err
	}
	defer parent.unpin()
	_, err = v.mkdirIn(parent, name, false)
	return err
}

// mkdirIn makes a directory in parent, which is pinned and loaded; with hold it comes with a
// reference counted.
func (v *Volume) mkdirIn(parent *node, name string, hold bool) (n *node, err error) {
	var q query
	q.prepare(v.seed, name)
	v.ns.RLock()
	exists := parent.dir.find(&q) >= 0
	v.ns.RUnlock()
	if exists {
		return nil, ErrExist
	}
	if err := CheckName(name); err != nil {
		return nil, err
	}
	now := encodeStamp(v.now(), v.loc)
	cost := costEntry + v.costGrow() + v.blocks(int64(v.geo.ClusterSize)) + v.costFAT([]extent{{2, 1}})
	err = v.mutate(cost, func() error {
		run, err := v.takeOne()
		if err != nil {
			return err
		}
		v.ns.Lock()
		defer v.ns.Unlock()
		slot, err := v.addEntryLocked(parent, name)
		if err != nil {
			v.alloc.release([]extent{run})
			return err
		}
		n = v.newDirLocked(parent, slot, run, now)
		if hold {
			n.refs.Add(1)
		}
		return nil
	})
	return n, err
}

// newDirLocked makes the node and content of a new directory in cluster run.
func (v *Volume) newDirLocked(parent *node, slot int32, run extent, now stamp) *node {
	n := &node{id: v.ids.fresh(parent.place(slot)), isDir: true, attr: AttrDirectory, start: run.start,
		create: now, access: now.day(), modify: now.coarse(), loaded: true}
	n.chain.add(run)
	raw := make([]byte, v.geo.ClusterSize)
	dot := dirEntry{name: [11]byte([]byte(".          ")), attr: AttrDirectory, create: now, access: now.day(), modify: now.coarse(), cluster: run.start}
	dot.encode(v.geo.Type, raw)
	dot.name, dot.cluster = [11]byte([]byte("..         ")), v.parentRef(parent)
	dot.encode(v.geo.Type, raw[slotSize:])
	n.dir = parseDirectory(raw, v.seed, false)
	n.dir.touch(0, n.dir.slots())
	clear(n.dir.onDisk)
	n.dir.linked = 0
	n.hot.Store(true)
	v.table.dirBytes += int64(len(raw))
	v.addNodeLocked(n, parent, slot)
	v.touchDirLocked(n)
	v.touchNew(n)
	return n
}

// parentRef is what .. of a child of parent holds: 0 stands for the root.
func (v *Volume) parentRef(parent *node) uint32 {
	if parent == v.root {
		return 0
	}
	return parent.start
}

// MkdirAll makes a directory and what is missing above it; one that exists is
// no error.
func (v *Volume) MkdirAll(path string) error {
	names, err := splitPath(path)
	if err != nil {
		return pathError("make directory", path, err)
	}
	for i := range names {
		p := "/" + strings.Join(names[:i+1], "/")
		if info, err := v.stat(p); err == nil {
			if !info.IsDir() {
				return pathError("make directory", p, ErrNotDir)
			}
			continue
		}
		if err := v.mkdir(p); err != nil && !errors.Is(err, ErrExist) {
			return pathError("make directory", p, err)
		}
	}
	return nil
}

// takeOne allocates a cluster for a new directory.
func (v *Volume) takeOne() (extent, error) {
	run, ok := v.alloc.take(nil, 1, 0, 0)
	if ok {
		return run, nil
	}
	return extent{}, v.noSpace()
}

// noSpace decides what a failed allocation means: errFlushFirst if trying again
// after a flush may help, else ErrNoSpace.
func (v *Volume) noSpace() error {
	select {
	case <-v.scan.done:
	default:
		return errFlushFirst // which waits for the scan
	}
	if v.alloc.available() > 0 {
		return errFlushFirst // parked, or known only now
	}
	return ErrNoSpace
}

// costGrow is what growing a directory for one entry set dirties.
func (v *Volume) costGrow() int64 {
	if v.txn == nil {
		return 0
	}
	clusters := 1 + int64(maxLFNSlots+1)*slotSize/int64(v.geo.ClusterSize)
	return clusters * (v.blocks(int64(v.geo.ClusterSize)) + 2*v.costFAT([]extent{{2, 1}}))
}

// blocks returns the bytes of the metaBlocks that n bytes somewhere may touch.
func (v *Volume) blocks(n int64) int64 {
	return (n+metaBlock-1)/metaBlock*metaBlock + metaBlock
}

// addEntryLocked makes room in parent and writes an entry set for name. All
// checks come before the first change. Volume.ns is held exclusively.
func (v *Volume) addEntryLocked(parent *node, name string) (slot int32, err error) {
	if parent.unlinked {
		return 0, ErrNotExist
	}
	d := parent.dir
	var q query
	q.prepare(v.seed, name)
	if d.find(&q) >= 0 {
		return 0, ErrExist
	}
	return v.placeSetLocked(parent, name, &q, -1)
}

// placeSetLocked is addEntryLocked after the check for a live entry of that
// name; except is the slot of an entry that is about to lose its names.
func (v *Volume) placeSetLocked(parent *node, name string, q *query, except int32) (int32, error) {
	d := parent.dir
	if v.txn == nil {
		if d.isVacated(q.folded[:q.n]) {
			return 0, errFlushFirst
		}
		if g, exact := d.search(q, true); g >= 0 {
			if gh := d.ghostAt(g); gh.moved || gh.isDir || !exact {
				return 0, errFlushFirst
			}
			// The name of a file that was deleted: the new one takes over its entry
			// in one write, so that a cut leaves the one or the other.
			d.revive(g)
			v.touchDirLocked(parent)
			return g, nil
		}
	}
	set, ok := d.makeSet(name, except)
	if !ok {
		return 0, fmt.Errorf("no short name left: %w", ErrDirFull)
	}
	from, err := v.roomLocked(parent, set.slots())
	if err != nil {
		return 0, err
	}
	slot := d.put(&set, from)
	v.touchDirLocked(parent)
	return slot, nil
}

// maxGhostSlots is how much a directory grows rather than wait for removed
// entries to leave the disk.
const maxGhostSlots = 4096

// roomLocked finds k free slots, growing the directory if need be.
func (v *Volume) roomLocked(parent *node, k int) (int, error) {
	d := parent.dir
	for {
		if at := d.findRun(k); at >= 0 {
			return at, nil
		}
		n := d.slots()
		if len(d.ghosts) > 0 && (d.fixed || len(d.ghosts)*2 >= maxGhostSlots || n >= maxDirSlots) {
			return 0, errFlushFirst
		}
		if d.fixed || n >= maxDirSlots {
			return 0, ErrDirFull
		}
		if err := v.growDirLocked(parent); err != nil {
			return 0, err
		}
	}
}

// dirAhead is how many bytes are kept free behind a growing directory.
const dirAhead = 64 << 10

// growDirLocked adds a cluster to a directory.
func (v *Volume) growDirLocked(n *node) error {
	d := n.dir
	goal, ahead := n.chain.at(n.chain.total-1)+1, uint32(0)
	if n.chain.total > 1 {
		ahead = uint32(dirAhead >> v.shift)
	}
	run, ok := v.alloc.take(n, 1, goal, ahead)
	if !ok {
		return v.noSpace()
	}
	n.mu.Lock()
	n.chain.add(run)
	n.mu.Unlock()
	before := len(d.raw)
	d.grow(min(v.geo.ClusterSize, maxDirSlots*slotSize-before))
	v.table.dirBytes += int64(len(d.raw) - before)
	v.touchDirLocked(n)
	return nil
}
