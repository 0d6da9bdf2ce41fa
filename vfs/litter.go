package vfs

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"coffer/fat32"
)

// Operating systems strew files about on every drive: lists of icons, forks, indexes, trash. litter keeps them in
// memory, where they work like any other file for as long as the drive is mounted, and never reach the container.
//
// Litter is what is *created* under a name of litter, and everything in a folder that is litter. An object of such a name
// that is in the container already stays what it is. Nobody's data is lost to a name:
//
//   - litter that is renamed to another name is copied into the container, under that name, at once;
//   - an object of the container that would be renamed into litter is not: the answer is "other device", and the program
//     may copy it;
//   - what does not fit into the memory set aside goes into the container after all.
//
// A folder that holds nothing but litter is empty: it can be removed.
//
// All of it hangs from folders of the container, by identity, so that it moves along with them. One lock guards it
// all; it is taken before any lock of fat32. Litter that has moved into the container keeps its identity, because the
// system knows it by that, and hands everything on to the file there.
type litter struct {
	mu      sync.RWMutex
	folders map[uint64]*litterFolder // of the container, by identity
	moved   map[uint64]*litterNode   // what has moved into the container, by identity there
	nextID  uint64
	// nextOrder is the position in a listing of what comes next, into whatever folder.
	nextOrder int
	used      int64 // bytes, with what keeping them costs
	limit     int64
	// Whether there is anything in folders and moved: looked at without the lock by those who mostly find nothing.
	any, anyMoved atomic.Bool
}

const (
	// litterBytes is the memory set aside for the litter of one drive.
	litterBytes = 64 << 20
	// litterOverhead is what a file or folder counts for besides its name and content.
	litterOverhead = 512
	// litterID is where identities of litter begin: fat32 counts from below.
	litterID = 1 << 62
	// litterPosition is where positions of litter in a listing begin: a folder on FAT has at most 65,536 slots.
	litterPosition = 1 << 30
)

// litterFolder is a folder of the container with litter in it.
type litterFolder struct {
	ref   fat32.Ref // keeps the identity from being used again
	names litterNames
}

// litterNames finds litter by folded name.
type litterNames map[string]*litterNode

// litterNode is a file or folder of litter. Its fields are guarded by litter.mu, but for those that never change.
type litterNode struct {
	l     *litter
	id    uint64
	isDir bool

	refs    int
	name    string // "" once removed
	parent  *litterNode
	folder  *litterFolder // instead of parent, for litter right in a folder of the container
	order   int           // position in a listing
	names   litterNames   // folders
	data    []byte        // files
	attr    fat32.Attr
	times   fat32.Times
	file    *fat32.File // open for reading and writing, once moved into the container
	fileRef fat32.Ref
}

func newLitter() *litter {
	return &litter{folders: map[uint64]*litterFolder{}, moved: map[uint64]*litterNode{}, nextID: litterID, limit: litterBytes}
}

// isLitter says whether systems use a name, anywhere or in the root of a drive, for what nobody asked for.
// desktop.ini is not among them: it holds what a person has chosen for a folder.
func isLitter(name string, inRoot bool) bool {
	if len(name) < 3 {
		return false
	}
	switch name[0] {
	case '.', '$', 'T', 't', 'E', 'e', 'S', 's':
	default:
		return false
	}
	name = strings.ToLower(name)
	switch name {
	case "thumbs.db", "ehthumbs.db", "ehthumbs_vista.db", ".ds_store":
		return true
	case "system volume information", "$recycle.bin", ".trashes", ".fseventsd", ".spotlight-v100":
		return inRoot
	}
	return strings.HasPrefix(name, "._") || inRoot && strings.HasPrefix(name, ".trash-")
}

// belongs says whether something made under a name in dir is litter: dir is, or the name is one of litter and the
// container has nothing of that name.
func (l *litter) belongs(dir Node, name string) bool {
	if dir.lit != nil {
		return true
	}
	if !isLitter(name, dir.fat.ID() == rootIdentity) {
		return false
	}
	ref, _, err := dir.fat.Lookup(name, false)
	if err == nil {
		ref.Release()
	}
	return err != nil
}

// rootIdentity is fat32's identity of the root.
const rootIdentity = 1

// namesLocked returns the litter in dir, nil if there is none. With make a folder of the container gets some.
func (l *litter) namesLocked(dir Node, make bool) (litterNames, *litterFolder) {
	if dir.lit != nil {
		return dir.lit.names, nil
	}
	f := l.folders[dir.fat.ID()]
	if f == nil && make {
		f = &litterFolder{ref: dir.fat.Hold(), names: litterNames{}}
		l.folders[dir.fat.ID()] = f
		l.any.Store(true)
	}
	if f == nil {
		return nil, nil
	}
	return f.names, f
}

// find returns the litter called name in dir with a reference, nil if there is none.
func (l *litter) find(dir Node, name string, exact bool) *litterNode {
	if dir.lit == nil && !l.any.Load() {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	names, _ := l.namesLocked(dir, false)
	n := names[fat32.FoldName(name)]
	if n == nil || exact && n.name != name {
		return nil
	}
	n.refs++
	return n
}

// lookup is FS.lookup for a drive with litter: mine is false if fat32 has to be asked.
func (l *litter) lookup(dir Node, name string, exact bool) (n Node, i fat32.Info, mine bool, err error) {
	if found := l.find(dir, name, exact); found != nil {
		return Node{lit: found}, found.info(), true, nil
	}
	return Node{}, fat32.Info{}, dir.lit != nil, fat32.ErrNotExist
}

// adopt turns a reference to what was litter once back into the node the system knows.
func (l *litter) adopt(ref fat32.Ref) Node {
	if l.anyMoved.Load() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if n := l.moved[ref.ID()]; n != nil {
			n.refs++
			ref.Release()
			return Node{lit: n}
		}
	}
	return Node{fat: ref}
}

// identity is the identity the system knows an object of the container by.
func (l *litter) identity(id uint64) uint64 {
	if l.anyMoved.Load() {
		l.mu.RLock()
		defer l.mu.RUnlock()
		if n := l.moved[id]; n != nil {
			return n.id
		}
	}
	return id
}

// list appends the litter in dir from position from on, as FS.List does.
func (l *litter) list(buf []Entry, dir Node, from, most int, hold bool) []Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	names, _ := l.namesLocked(dir, false)
	begin := len(buf)
	for _, n := range names {
		if n.order >= from-litterPosition {
			buf = append(buf, Entry{Info: n.infoLocked(), Next: litterPosition + n.order + 1, Node: Node{lit: n}})
		}
	}
	slices.SortFunc(buf[begin:], func(a, b Entry) int { return a.Next - b.Next })
	buf = buf[:min(len(buf), begin+most)]
	for i := range buf[begin:] {
		e := &buf[begin+i]
		if hold {
			e.Node.lit.refs++
		} else {
			e.Node = Node{}
		}
	}
	return buf
}

// join completes a listing of a folder of the container: entries from begin on get the identities the system knows, and
// up to most of litter follow.
func (l *litter) join(buf []Entry, begin int, dir Node, most int, hold bool) []Entry {
	if l.anyMoved.Load() {
		for i := begin; i < len(buf); i++ {
			if e := &buf[i]; hold {
				e.Node = l.adopt(e.Node.fat)
				e.Info.ID = e.Node.ID()
			} else {
				e.Info.ID = l.identity(e.Info.ID)
			}
		}
	}
	if most > 0 && l.any.Load() {
		buf = l.list(buf, dir, litterPosition, most, hold)
	}
	return buf
}

// makeLocked makes a file or folder called name in dir. ErrNoSpace: it does not fit.
func (l *litter) makeLocked(dir Node, name string, isDir bool) (*litterNode, error) {
	if err := fat32.CheckName(name); err != nil {
		return nil, err
	}
	if dir.lit != nil && dir.lit.name == "" {
		return nil, fat32.ErrNotExist
	}
	if dir.lit == nil && dir.fat.Removed() {
		return nil, fat32.ErrNotExist
	}
	cost := int64(litterOverhead + len(name))
	if l.used+cost > l.limit {
		return nil, fmt.Errorf("memory for litter is used up: %w", fat32.ErrNoSpace)
	}
	names, folder := l.namesLocked(dir, true)
	now := time.Now().Truncate(2 * time.Second)
	n := &litterNode{l: l, id: l.nextID, isDir: isDir, refs: 1, attr: fat32.AttrArchive,
		times: fat32.Times{Modify: now, Create: now, Access: now}}
	if isDir {
		n.attr, n.names = fat32.AttrDirectory, litterNames{}
	}
	l.nextID++
	l.used += cost
	l.placeLocked(n, dir.lit, folder, names, name)
	return n, nil
}

// placeLocked puts n into a folder, behind what is there.
func (l *litter) placeLocked(n, parent *litterNode, folder *litterFolder, names litterNames, name string) {
	n.parent, n.folder, n.name, n.order = parent, folder, name, l.nextOrder
	l.nextOrder++
	names[fat32.FoldName(name)] = n
}

// takeLocked takes n out of its folder; its content stays for those who have it open.
func (l *litter) takeLocked(n *litterNode) {
	names := litterNames(nil)
	switch {
	case n.parent != nil:
		names = n.parent.names
	case n.folder != nil:
		names = n.folder.names
	}
	if key := fat32.FoldName(n.name); names[key] == n {
		delete(names, key)
	}
	if f := n.folder; f != nil && len(f.names) == 0 && l.folders[f.ref.ID()] == f {
		delete(l.folders, f.ref.ID())
		f.ref.Release()
		l.any.Store(len(l.folders) > 0)
	}
	n.parent, n.folder = nil, nil
}

// removeLocked takes n away for good.
func (l *litter) removeLocked(n *litterNode) {
	l.takeLocked(n)
	l.used -= int64(litterOverhead + len(n.name))
	n.name = ""
	l.dropLocked(n)
}

// dropLocked gives up the content of something removed that nobody refers to.
func (l *litter) dropLocked(n *litterNode) {
	if n.refs > 0 || n.name != "" {
		return
	}
	l.used -= int64(len(n.data))
	n.data = nil
}

// mkdir makes a folder of litter.
func (l *litter) mkdir(dir Node, name string) (Node, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	names, _ := l.namesLocked(dir, false)
	if names[fat32.FoldName(name)] != nil {
		return Node{}, fat32.ErrExist
	}
	n, err := l.makeLocked(dir, name, true)
	return Node{lit: n}, err
}

// remove removes the litter called name in dir; mine is false if there is none.
func (l *litter) remove(dir Node, name string, kind fat32.RemoveKind, exact bool) (mine bool, err error) {
	if dir.lit == nil && !l.any.Load() {
		return false, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	names, _ := l.namesLocked(dir, false)
	n := names[fat32.FoldName(name)]
	switch {
	case n == nil || exact && n.name != name:
		return dir.lit != nil, fat32.ErrNotExist
	case kind == fat32.RemoveFile && n.isDir:
		return true, fat32.ErrIsDir
	case kind == fat32.RemoveDir && !n.isDir:
		return true, fat32.ErrNotDir
	case len(n.names) > 0:
		return true, fat32.ErrNotEmpty
	}
	l.removeLocked(n)
	return true, nil
}

// forgetFolder drops the litter in a folder of the container that was removed.
func (l *litter) forgetFolder(id uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f := l.folders[id]; f != nil {
		l.emptyLocked(f.names)
	}
}

// emptyLocked removes everything in names.
func (l *litter) emptyLocked(names litterNames) {
	for _, n := range names {
		l.emptyLocked(n.names)
		l.removeLocked(n)
	}
}

// hold counts another reference.
func (n *litterNode) hold() {
	n.l.mu.Lock()
	defer n.l.mu.Unlock()
	n.refs++
}

// release gives a reference back.
func (n *litterNode) release() {
	l := n.l
	l.mu.Lock()
	defer l.mu.Unlock()
	n.refs--
	if n.refs == 0 && n.file != nil {
		delete(l.moved, n.fileRef.ID())
		l.anyMoved.Store(len(l.moved) > 0)
		_ = n.file.Close() // it writes nothing
		n.fileRef.Release()
		n.file = nil
	}
	l.dropLocked(n)
}

// where returns the name and the path from the root; both are "" once removed.
func (n *litterNode) where() (name, path string) {
	n.l.mu.RLock()
	defer n.l.mu.RUnlock()
	if n.file != nil {
		return n.fileRef.Name(), n.fileRef.Path()
	}
	name = n.name
	for ; ; n = n.parent {
		if n.name == "" {
			return name, ""
		}
		path = "/" + n.name + path
		if n.parent != nil {
			continue
		}
		if n.folder == nil {
			return name, ""
		}
		top := n.folder.ref.Path()
		if top == "" {
			return name, ""
		}
		return name, strings.TrimSuffix(top, "/") + path
	}
}

// parentNode returns the folder n lies in, with a reference.
func (n *litterNode) parentNode() (Node, bool) {
	n.l.mu.Lock()
	defer n.l.mu.Unlock()
	switch {
	case n.file != nil:
		ref, ok := n.fileRef.Parent()
		return Node{fat: ref}, ok
	case n.parent != nil:
		n.parent.refs++
		return Node{lit: n.parent}, true
	case n.folder != nil:
		return Node{fat: n.folder.ref.Hold()}, true
	}
	return Node{}, false
}
