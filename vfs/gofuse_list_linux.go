//go:build linux && !cgofuse

package vfs

import (
	"sync"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// Positions in a listing: . and .. first, then those of the core plus one.
const (
	posDot    = 1 // behind .
	posDotDot = 2 // behind ..
)

// Sizes in the kernel's buffer: of an entry without its name, and of what READDIRPLUS adds.
const (
	direntBytes = 24
	entryBytes  = 128
)

// listBuffers holds buffers for entries on their way from the core to the kernel.
var listBuffers = sync.Pool{New: func() any { return new([]Entry) }}

// OpenDir has nothing to open: listings have no state. It must be there all the same: if it were not, or allowed it, the kernel
// would keep listings, and what it keeps is wrong when a folder changes while two programs list it. (The first asks, the
// folder changes, the second begins and notes the new state; then the old answer to the first is kept under that note.)
func (f *fuseFS) OpenDir(_ unused, _ *fuse.OpenIn, _ *fuse.OpenOut) fuse.Status {
	return fuse.OK
}

// ReadDir lists names.
func (f *fuseFS) ReadDir(_ unused, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	return f.list(in, false, func(e *Entry, d fuse.DirEntry) bool { return out.AddDirEntry(d) })
}

// ReadDirPlus lists names with attributes, which spares the kernel to ask for each.
func (f *fuseFS) ReadDirPlus(_ unused, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	return f.list(in, true, func(e *Entry, d fuse.DirEntry) bool {
		slot := out.AddDirLookupEntry(d)
		if slot != nil && e != nil {
			f.entry(e.Node, &e.Info, true, slot)
			e.Node = Node{}
		}
		return slot != nil
	})
}

// list hands entries to add until it has no more room. Those of . and .. come without an Entry.
func (f *fuseFS) list(in *fuse.ReadIn, plus bool, add func(*Entry, fuse.DirEntry) bool) fuse.Status {
	dir, code := f.node(in.NodeId)
	if code != fuse.OK {
		return code
	}
	if in.Offset < posDot && !add(nil, fuse.DirEntry{Name: ".", Ino: in.NodeId, Mode: syscall.S_IFDIR, Off: posDot}) {
		return fuse.OK
	}
	if in.Offset < posDotDot && !add(nil, fuse.DirEntry{Name: "..", Ino: f.parentID(dir), Mode: syscall.S_IFDIR, Off: posDotDot}) {
		return fuse.OK
	}
	from := 0
	if in.Offset > posDotDot {
		from = int(in.Offset - posDotDot)
	}
	// Enough for names of 8 bytes; if they are longer, the last ones wait for the next request.
	size := direntBytes + 8
	if plus {
		size += entryBytes
	}
	buf := listBuffers.Get().(*[]Entry)
	defer listBuffers.Put(buf)
	list, err := f.fs.List((*buf)[:0], dir, from, int(in.Size)/size+1, plus)
	*buf = list
	added := true
	for i := range list {
		e := &list[i]
		if added {
			mode := uint32(syscall.S_IFREG)
			if e.Info.IsDir() {
				mode = syscall.S_IFDIR
			}
			added = add(e, fuse.DirEntry{Name: e.Info.Name, Ino: e.Info.ID, Mode: mode, Off: uint64(e.Next) + posDotDot})
		}
		if plus && !added {
			e.Node.Release()
		}
	}
	clear(list)
	if err != nil && len(list) == 0 {
		return status(err)
	}
	return fuse.OK
}

// parentID returns the identity of the folder above.
func (f *fuseFS) parentID(dir Node) uint64 {
	parent, ok := dir.Parent()
	if !ok {
		return dir.ID()
	}
	defer parent.Release()
	return parent.ID()
}
