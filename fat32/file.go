package fat32

import (
	"fmt"
	"io"
	"sync/atomic"
)

// MaxFileSize is the largest file FAT can hold, in bytes.
const MaxFileSize = 1<<32 - 1

// File is an open file. All methods are safe for concurrent use; reads and
// writes of what exists run in parallel, writes that make the file longer one by one.
type File struct {
	v      *Volume
	n      *node
	flag   OpenFlag
	closed atomic.Bool
}

// usable tells why f cannot be used, if so.
func (f *File) usable(write bool) error {
	if f.closed.Load() {
		return fmt.Errorf("file: %w", ErrClosed)
	}
	if f.v.closed.Load() {
		return fmt.Errorf("volume: %w", ErrClosed)
	}
	if write {
		if !f.flag.writes() {
			return fmt.Errorf("file is open for reading only: %w", ErrPermission)
		}
		return f.v.writable()
	}
	return nil
}

// Name returns the name of the file as stored now; "" once it is removed.
func (f *File) Name() string {
	f.v.ns.RLock()
	defer f.v.ns.RUnlock()
	if f.n.unlinked {
		return ""
	}
	return f.n.parent.dir.name(f.n.slot)
}

// wrap adds what failed on which file to an error.
func (f *File) wrap(op string, err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	return &PathError{op, f.Name(), err}
}

// Stat describes the file.
func (f *File) Stat() (Info, error) {
	if err := f.usable(false); err != nil {
		return Info{}, f.wrap("stat", err)
	}
	v := f.v
	v.ns.RLock()
	defer v.ns.RUnlock()
	if !f.n.unlinked {
		return v.infoLocked(f.n.parent, f.n.slot), nil
	}
	var i Info
	f.n.fill(&i, v.loc)
	return i, nil
}

// SetTimes is Volume.SetTimes for an open file.
func (f *File) SetTimes(t Times) error {
	if err := f.usable(false); err != nil {
		return f.wrap("set times", err)
	}
	return f.wrap("set times", f.v.changeNode(f.n, func(n *node) { f.v.setTimesLocked(n, t) }))
}

// SetAttr is Volume.SetAttr for an open file.
func (f *File) SetAttr(a Attr) error {
	if err := f.usable(false); err != nil {
		return f.wrap("set attributes", err)
	}
	return f.wrap("set attributes", f.v.changeNode(f.n, func(n *node) { n.setAttrLocked(a) }))
}

// Sync returns nil when everything done to the file (and, as it happens, to
// the volume) before the call is durable.
func (f *File) Sync() error {
	if err := f.usable(false); err != nil {
		return f.wrap("sync", err)
	}
	if f.v.readOnly {
		return nil
	}
	return f.wrap("sync", f.v.flush())
}

// Reserve keeps clusters free for a file about to be written up to size bytes,
// in a row if possible. It is a wish, in memory only, and given up
// before anybody gets ErrNoSpace; ErrNoSpace here means that size cannot fit.
func (f *File) Reserve(size int64) error {
	if err := f.usable(true); err != nil {
		return f.wrap("reserve", err)
	}
	return f.wrap("reserve", f.reserve(size))
}

func (f *File) reserve(size int64) error {
	v, n := f.v, f.n
	if size < 0 {
		return fmt.Errorf("size %d: %w", size, ErrInvalid)
	}
	if size > MaxFileSize {
		return ErrTooBig
	}
	if err := v.loadChain(n); err != nil {
		return err
	}
	n.write.Lock()
	defer n.write.Unlock()
	have, goal := n.tail()
	need := v.clustersFor(size)
	if need <= have {
		return nil
	}
	select {
	case <-v.scan.done:
		if v.alloc.available() < int64(need-have) {
			return ErrNoSpace
		}
	default:
	}
	v.alloc.reserve(n, need-have, goal)
	return nil
}

// tail returns the number of clusters n has and the cluster that would best
// come next, 0 if any will do.
func (n *node) tail() (have, goal uint32) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	if n.chain.total == 0 {
		return 0, 0
	}
	return n.chain.total, n.chain.runs[len(n.chain.runs)-1].end()
}

// Close ends the use of f. It writes nothing: use Sync for that.
func (f *File) Close() error {
	if f.closed.Swap(true) {
		return fmt.Errorf("close: file: %w", ErrClosed)
	}
	v, n := f.v, f.n
	// Giving up the clusters of a removed file is a change like any other.
	o, beginErr := op{}, error(nil)
	v.ns.RLock()
	orphan := n.unlinked
	v.ns.RUnlock()
	if orphan {
		o, beginErr = v.begin(costEntry)
	}
	v.ns.Lock()
	n.handles--
	if n.handles == 0 {
		if !v.readOnly {
			v.alloc.drop(n)
		}
		if n.unlinked && orphan && beginErr == nil {
			v.releaseOrphanLocked(n)
		} else if n.unlinked && !orphan {
			defer f.closeOrphan()
		}
	}
	v.ns.Unlock()
	if orphan && beginErr == nil {
		v.end(o)
	}
	n.unpin()
	return nil
}

// closeOrphan is the rest of Close for a file that was removed meanwhile.
func (f *File) closeOrphan() {
	v := f.v
	o, err := v.begin(costEntry)
	if err != nil {
		return // read-only or closed: the clusters are free on the disk
	}
	v.ns.Lock()
	v.releaseOrphanLocked(f.n)
	v.ns.Unlock()
	v.end(o)
}
