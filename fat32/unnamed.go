package fat32

import "fmt"

// CreateUnnamed makes an empty file that has no name: nothing leads to it on the
// disk, whatever happens, until Link gives it one. Until then its clusters are
// its own in memory only, like those of a removed file that is still open,
// and closing it gives them back. Nothing is written for it but its data.
func (v *Volume) CreateUnnamed() (*File, error) {
	if err := v.writable(); err != nil {
		return nil, fmt.Errorf("create file without a name: %w", err)
	}
	if v.closed.Load() {
		return nil, fmt.Errorf("create file without a name: volume: %w", ErrClosed)
	}
	return v.newUnnamed(encodeStamp(v.now(), v.loc)), nil
}

func (v *Volume) newUnnamed(now stamp) *File {
	n := &node{attr: AttrArchive, create: now, access: now.day(), modify: now.coarse(), loaded: true, handles: 1, unlinked: true, gone: true, early: true}
	n.pins.Store(1)
	v.loosen(n)
	return &File{v: v, n: n, flag: ReadWrite}
}

// unnamedLocked: the file never had a name. Volume.ns is held, shared at least.
func (n *node) unnamedLocked() bool { return n.unlinked && n.parent == nil }

// Link gives a file made by CreateUnnamed its name. With replace, a file that
// stands there is replaced in one write of its entry, as Rename does; else that
// is ErrExist. A power cut leaves the name with all of the content written
// before, or without replace no such name, else what stood there.
//
// On a device with transactions the whole chain of the file has to fit into
// one: an error for which errors.Is(err, ErrTooLarge) holds says that it is in too many pieces.
func (f *File) Link(path string, replace bool) error {
	if err := f.usable(true); err != nil {
		return pathError("link", path, err)
	}
	return pathError("link", path, f.link(path, replace))
}

func (f *File) link(path string, replace bool) error {
	v := f.v
	to, name, err := v.walkParent(path)
	if err != nil {
		return err
	}
	defer to.unpin()
	f.n.write.Lock() // so that no cluster comes or goes meanwhile
	defer f.n.write.Unlock()
	if err := CheckName(name); err != nil {
		return err
	}
	return (&move{v: v, n: f.n, to: to, name: name, replace: replace, unnamed: true}).run()
}

// linkCost is what marking the chain of a file without a name dirties: its
// clusters were allocated in other transactions.
func (v *Volume) linkCost(n *node) int64 {
	if v.txn == nil {
		return 0
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	return v.costFAT(n.chain.slice(n.linked, n.chain.total))
}

// adoptLocked puts a file without a name at slot of directory to, where an
// entry set waits for it. Volume.ns is held exclusively.
func (v *Volume) adoptLocked(n, to *node, slot int32) {
	n.mu.Lock()
	if n.id == 0 {
		n.id = v.ids.fresh(to.place(slot))
	} else {
		v.ids.put(n.id, to.place(slot))
	}
	n.gone = false
	n.mu.Unlock()
	n.unlinked = false
	v.tighten(n)
	n.hot.Store(true)
	v.addNodeLocked(n, to, slot)
	v.touchNew(n)
}
