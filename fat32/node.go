package fat32

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// node is a file or directory in memory: one per object that is open, dirty, or
// recently used.
type node struct {
	id    uint64
	isDir bool

	pins atomic.Int32 // handles and running operations; taken under Volume.ns
	// refs counts Refs. It grows from 0 only under Volume.ns, shared or exclusive, or while pinned.
	refs atomic.Int32

	// Guarded by Volume.ns.
	parent    *node
	slot      int32 // of the short entry in the parent
	dir       *directory
	handles   int
	unlinked  bool        // has no name any more, or (parent == nil) not yet
	forgotten bool        // unlinked, and its identity is free for others
	freedGen  uint64      // flush that frees the chain of an unlinked node
	busyGen   uint64      // last flush generation whose plan holds this node
	hot       atomic.Bool // used since the last sweep
	newDot    bool        // .. must be rewritten: moved to another parent
	moves     byte        // move counter of the entry, see docs/adr-0100-move-counter.md
	onDisk    bool        // directories: the disk has an entry for it

	write sync.Mutex
	io    sync.RWMutex
	load  sync.Mutex // loading of the chain or the directory

	mu      sync.RWMutex
	size    int64
	start   uint32
	attr    Attr
	create  stamp
	access  stamp
	modify  stamp
	loaded  bool    // chain is valid
	chain   extents // clusters in memory
	linked  uint32  // clusters of the chain that the disk has, or will have after the running flush
	moveGen uint64  // flush generation in which the entry moves: start and size stay as they are
	newEnd  bool    // the chain was cut: cluster linked-1 needs an end mark
	dirty   bool    // is in dirtySet.nodes
	early   bool    // data may be in a transaction before the one that links the clusters
	gone    bool    // as unlinked, as seen by holders of mu only
	// chainErr is why the chain cannot be used.
	chainErr error
}

// Info describes a file or directory.
type Info struct {
	Name       string // long name as stored; short name if there is none
	ShortName  string // 8.3 alias
	Size       int64  // bytes; 0 for directories
	Attr       Attr
	ModTime    time.Time // steps of 2 s; zero if the volume has no valid date
	CreateTime time.Time // steps of 10 ms
	AccessTime time.Time // whole days
	// FirstCluster is 0 for empty files and fixed root directories.
	FirstCluster uint32
	ID           uint64 // identity, stable while the volume is mounted; 0 without a name and Ref
	Removed      bool   // has no name any more, or not yet, but is open or referred to
}

// IsDir reports whether it is a directory.
func (i Info) IsDir() bool { return i.Attr&AttrDirectory != 0 }

// Times are the times of a file. Zero values mean "leave as it is" when set.
type Times struct {
	Modify, Create, Access time.Time
}

// take copies the fields of an entry into a node that nobody else knows yet.
func (n *node) take(e *dirEntry) {
	n.isDir = e.attr&AttrDirectory != 0
	n.attr, n.start, n.moves = e.attr, e.cluster, e.ntCase>>moveShift
	n.create, n.access, n.modify = e.create, e.access, e.modify
	if !n.isDir {
		n.size = int64(e.size)
	}
}

// store writes the node's state into its short entry.
func (n *node) store(t Type, p []byte) {
	n.mu.RLock()
	e := dirEntry{attr: n.attr, ntCase: p[12]&(1<<moveShift-1) | n.moves<<moveShift, create: n.create, access: n.access, modify: n.modify, cluster: n.start}
	if !n.isDir {
		e.size = uint32(n.size)
	}
	n.mu.RUnlock()
	copy(e.name[:], p)
	e.encode(t, p)
}

// fill sets the fields of i that live in the node.
func (n *node) fill(i *Info, loc *time.Location) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	i.Size, i.Attr, i.FirstCluster, i.ID, i.Removed = n.size, n.attr, n.start, n.id, n.gone
	i.ModTime, i.CreateTime, i.AccessTime = n.modify.time(loc), n.create.time(loc), n.access.time(loc)
}

// startOf is the first cluster under which entries of directory n are known.
func (n *node) place(slot int32) place { return place{n.start, slot} }

// clustersFor returns how many clusters size bytes take.
func (v *Volume) clustersFor(size int64) uint32 {
	return uint32((size + int64(v.geo.ClusterSize) - 1) >> v.shift)
}

// loadChain makes sure that n.chain is valid. It may read the FAT; the caller
// holds neither Volume.ns nor n.mu.
func (v *Volume) loadChain(n *node) error {
	n.mu.RLock()
	loaded, err := n.loaded, n.chainErr
	n.mu.RUnlock()
	if loaded {
		return err
	}
	n.load.Lock()
	defer n.load.Unlock()
	n.mu.RLock()
	loaded, err = n.loaded, n.chainErr
	start, size := n.start, n.size
	n.mu.RUnlock()
	if loaded {
		return err
	}
	var chain extents
	if start != 0 {
		most := uint64(1) << 32 >> v.shift
		if n.isDir {
			most = maxDirSlots * slotSize >> v.shift
		}
		chain, err = v.fat.chain(start, uint32(min(max(most, 1), uint64(v.geo.ClusterCount))))
	}
	if err == nil && !n.isDir && int64(chain.total)<<v.shift < size {
		err = fmt.Errorf("file of %d bytes has only %d clusters of %d bytes: %w", size, chain.total, v.geo.ClusterSize, ErrCorrupt)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.chain, n.linked, n.chainErr = chain, chain.total, err
	n.loaded = err == nil || isCorrupt(err) // an I/O error may pass
	return err
}
