package vfs

import (
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"coffer/fat32"
)

// FS is the core of a drive. Bindings translate callbacks into its methods, all
// of which may be called concurrently. Buffers belong to the caller again when a
// call returns.
type FS struct {
	volume   *fat32.Volume
	options  Options
	exact    bool // names count in their stored spelling only
	handles  handleTable
	counters *counters
	litter   *litter // nil: everything goes into the container
	// ended: the drive was taken away from programs that still use it.
	ended   atomic.Bool
	unasked atomic.Int64 // bytes written since the host was asked for room
	// oldest stands for times that the volume does not have.
	oldest time.Time
}

// newFS makes the core for a volume. exact says that the system's cache of names tells
// upper from lower case.
func newFS(v *fat32.Volume, o Options, exact bool) *FS {
	fs := &FS{volume: v, options: o, exact: exact, counters: newCounters(),
		oldest: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)}
	if o.Litter && !o.ReadOnly {
		fs.litter = newLitter()
	}
	return fs
}

// Node is a file or folder held by reference, whatever it is called now. The
// core's methods return nodes with a reference, which Release gives back; copies
// of a Node are the same reference.
type Node struct {
	fat fat32.Ref
	lit *litterNode // instead of fat, for what is kept in memory
}

// ID is the identity of the object; no other has it while this one is referred to. The root has 1.
func (n Node) ID() uint64 {
	if n.lit != nil {
		return n.lit.id
	}
	return n.fat.ID()
}

// IsDir reports whether it is a folder.
func (n Node) IsDir() bool {
	if n.lit != nil {
		return n.lit.isDir
	}
	return n.fat.IsDir()
}

// Path returns where the object is now, from the root, "" once removed.
func (n Node) Path() string {
	if n.lit != nil {
		_, path := n.lit.where()
		return path
	}
	return n.fat.Path()
}

// Name returns the stored name, "" once removed.
func (n Node) Name() string {
	if n.lit != nil {
		name, _ := n.lit.where()
		return name
	}
	return n.fat.Name()
}

// Parent returns the folder the object lies in, with a reference; false for the root and for what has been removed.
func (n Node) Parent() (Node, bool) {
	if n.lit != nil {
		return n.lit.parentNode()
	}
	ref, ok := n.fat.Parent()
	return Node{fat: ref}, ok
}

// Valid reports whether n refers to anything: the zero Node does not.
func (n Node) Valid() bool { return n.lit != nil || n.fat.Valid() }

// Removed reports whether the object has no name any more.
func (n Node) Removed() bool {
	if n.lit != nil {
		return n.lit.info().Removed
	}
	return n.fat.Removed()
}

// Hold counts another reference.
func (n Node) Hold() Node {
	if n.lit != nil {
		n.lit.hold()
	} else {
		n.fat.Hold()
	}
	return n
}

// Release gives a reference back.
func (n Node) Release() {
	if n.lit != nil {
		n.lit.release()
		return
	}
	n.fat.Release()
}

// Entry is one line of a listing.
type Entry struct {
	Info fat32.Info
	Next int  // where the listing continues behind this entry
	Node Node // if asked for
}

// begin counts an operation that is use and tells why there cannot be any, if so.
func (fs *FS) begin() error {
	fs.counters.use()
	return fs.alive()
}

// look is begin for an operation that is no use.
func (fs *FS) look() error {
	fs.counters.look()
	return fs.alive()
}

func (fs *FS) alive() error {
	if fs.ended.Load() {
		return fmt.Errorf("drive: %w", fat32.ErrClosed)
	}
	return nil
}

// fix gives an object whose times the volume does not know some.
func (fs *FS) fix(i *fat32.Info) {
	if i.ModTime.IsZero() {
		i.ModTime = fs.oldest
	}
	if i.CreateTime.IsZero() {
		i.CreateTime = i.ModTime
	}
	if i.AccessTime.IsZero() {
		i.AccessTime = i.ModTime
	}
}

// Root returns the top folder.
func (fs *FS) Root() Node { return Node{fat: fs.volume.Root()} }

// Find returns the object at a path from the root, by the rules of names of the system. It is for
// bindings that know paths only; one that has a handle uses that.
func (fs *FS) Find(path string) (Node, error) {
	if err := fs.look(); err != nil {
		return Node{}, err
	}
	n := fs.Root()
	for rest := path; rest != ""; {
		var name string
		if name, rest = cutPath(rest); name == "" {
			continue
		}
		child, _, err := fs.lookup(n, name)
		n.Release()
		if err != nil {
			return Node{}, err
		}
		n = child
	}
	return n, nil
}

// FindParent returns the folder that holds the last name of a path, and that name.
func (fs *FS) FindParent(path string) (Node, string, error) {
	dir, name := splitLast(path)
	if name == "" {
		return Node{}, "", fmt.Errorf("root folder: %w", fat32.ErrBusy)
	}
	n, err := fs.Find(dir)
	if err == nil && !n.IsDir() {
		n.Release()
		err = fat32.ErrNotDir
	}
	return n, name, err
}

// Lookup finds name in dir. Info.Name is the stored spelling.
func (fs *FS) Lookup(dir Node, name string) (Node, fat32.Info, error) {
	if err := fs.look(); err != nil {
		return Node{}, fat32.Info{}, err
	}
	return fs.lookup(dir, name)
}

func (fs *FS) lookup(dir Node, name string) (Node, fat32.Info, error) {
	if !utf8.ValidString(name) {
		return Node{}, fat32.Info{}, fat32.ErrNotExist
	}
	if fs.litter != nil {
		if n, info, mine, err := fs.litter.lookup(dir, name, fs.exact); mine {
			return n, info, err
		}
	}
	ref, info, err := dir.fat.Lookup(name, fs.exact)
	if err != nil {
		return Node{}, info, err
	}
	fs.fix(&info)
	n := Node{fat: ref}
	if fs.litter != nil {
		n = fs.litter.adopt(ref)
		info.ID = n.ID()
	}
	return n, info, nil
}

// Stat describes an object; the name is left empty.
func (fs *FS) Stat(n Node) (fat32.Info, error) {
	if err := fs.look(); err != nil {
		return fat32.Info{}, err
	}
	return fs.stat(n)
}

// stat is Stat without counting as an operation.
func (fs *FS) stat(n Node) (fat32.Info, error) {
	if n.lit != nil {
		return n.lit.stat()
	}
	info, err := n.fat.Stat()
	fs.fix(&info)
	return info, err
}

// fatEntries holds room for what fat32 lists: folders are mostly small, and asked for many entries at once.
var fatEntries = sync.Pool{New: func() any { return new([]fat32.Entry) }}

// List appends up to most entries of dir to buf, from position from on: 0 at first, then Entry.Next
// of the last one. With hold, every entry comes with a reference. Fewer than most mean that the end was
// reached.
func (fs *FS) List(buf []Entry, dir Node, from, most int, hold bool) ([]Entry, error) {
	if err := fs.begin(); err != nil {
		return buf, err
	}
	if dir.lit != nil || from >= litterPosition {
		return fs.litter.list(buf, dir, from, most, hold), nil
	}
	room := fatEntries.Get().(*[]fat32.Entry)
	list, err := dir.fat.List((*room)[:0], from, most, hold)
	defer func() {
		clear(list)
		*room = list
		fatEntries.Put(room)
	}()
	for i := range list {
		fs.fix(&list[i].Info)
		buf = append(buf, Entry{Info: list[i].Info, Next: list[i].Next, Node: Node{fat: list[i].Ref}})
	}
	if fs.litter != nil {
		buf = fs.litter.join(buf, len(buf)-len(list), dir, most-len(list), hold)
	}
	return buf, err
}

// Open opens the file n for the process pid. Access is as for fat32.OpenFile; Create and Exclusive
// do not count here.
func (fs *FS) Open(n Node, flag fat32.OpenFlag, pid int) (*Handle, error) {
	if err := fs.begin(); err != nil {
		return nil, err
	}
	if n.lit != nil {
		if err := n.lit.open(flag); err != nil {
			return nil, err
		}
		return fs.openedNode(nil, n.Hold(), flag, pid), nil
	}
	file, err := n.fat.Open(flag &^ (fat32.Create | fat32.Exclusive))
	if err != nil {
		return nil, openError(err)
	}
	return fs.opened(file, flag, pid), nil
}

// Create makes a file called name in dir, or opens what has that name, also if it is spelt
// differently; with Exclusive that is an error. The handle's node tells what was opened, and
// Node.Name how it is spelt.
func (fs *FS) Create(dir Node, name string, flag fat32.OpenFlag, pid int) (*Handle, error) {
	if err := fs.begin(); err != nil {
		return nil, err
	}
	if err := fat32.CheckName(name); err != nil {
		return nil, err
	}
	if fs.litter != nil && fs.litter.belongs(dir, name) {
		n, spill, err := fs.litter.create(dir, name, flag)
		if err == nil {
			return fs.openedNode(nil, Node{lit: n}, flag, pid), nil
		}
		if !spill {
			return nil, err
		}
	}
	file, err := dir.fat.OpenIn(name, flag|fat32.Create)
	if err != nil {
		return nil, openError(err)
	}
	return fs.opened(file, flag, pid), nil
}

// openError tells a file that is marked read-only from what nobody may do.
func openError(err error) error {
	if errors.Is(err, fat32.ErrPermission) {
		return fmt.Errorf("%w: %w", errReadOnly, err)
	}
	return err
}

func (fs *FS) opened(file *fat32.File, flag fat32.OpenFlag, pid int) *Handle {
	n := Node{fat: file.Ref()}
	if fs.litter != nil {
		n = fs.litter.adopt(n.fat)
	}
	return fs.openedNode(file, n, flag, pid)
}

// openedNode makes the handle of n, whose reference it takes over. file is nil for litter.
func (fs *FS) openedNode(file *fat32.File, n Node, flag fat32.OpenFlag, pid int) *Handle {
	h := &Handle{file: file, node: n, pid: pid,
		write: flag&(fat32.WriteOnly|fat32.ReadWrite) != 0}
	fs.handles.add(h)
	fs.counters.opened(h.write)
	return h
}

// Handle returns the open file with a number.
func (fs *FS) Handle(id uint64) (*Handle, error) {
	if h := fs.handles.get(id); h != nil {
		return h, nil
	}
	return nil, errBadHandle
}

// Close ends the use of a handle. It writes nothing.
func (fs *FS) Close(id uint64) error {
	fs.counters.use()
	h := fs.handles.take(id)
	if h == nil {
		return errBadHandle
	}
	fs.counters.closed(h.write)
	var err error
	if h.file != nil {
		err = h.file.Close()
	}
	h.node.Release()
	return err
}

// Read fills p from off and returns how many bytes there were: fewer than len(p) only at the end.
func (fs *FS) Read(h *Handle, p []byte, off int64) (int, error) {
	if err := fs.begin(); err != nil {
		return 0, err
	}
	if h.file == nil {
		return h.node.lit.readAt(p, off)
	}
	n, err := h.file.ReadAt(p, off)
	fs.counters.read.Add(int64(n))
	if err == io.EOF {
		err = nil
	}
	return n, err
}

// Write writes p at off, filling a gap with zeros. If some of it was written, there is no error.
func (fs *FS) Write(h *Handle, p []byte, off int64) (int, error) {
	if err := fs.begin(); err != nil {
		return 0, err
	}
	if h.file == nil {
		return h.node.lit.writeAt(p, off)
	}
	if err := fs.admit(h, off, int64(len(p))); err != nil {
		return 0, err
	}
	n, err := h.file.WriteBehind(p, off)
	fs.counters.written.Add(int64(n))
	if n > 0 {
		err = nil
	}
	return n, err
}

// Truncate sets the size of the file n in bytes: through h if the program has it open, which must
// be for writing, else by its name, which the read-only attribute forbids.
func (fs *FS) Truncate(n Node, h *Handle, size int64) error {
	if err := fs.begin(); err != nil {
		return err
	}
	if h != nil {
		if !h.write {
			return fmt.Errorf("handle is open for reading only: %w", fat32.ErrInvalid)
		}
		if h.file == nil {
			return h.node.lit.truncate(size)
		}
		return h.file.Truncate(size)
	}
	if n.lit != nil {
		return n.lit.truncateClosed(size)
	}
	return openError(n.fat.Truncate(size))
}

// Reserve keeps room for a file to grow to size bytes, until it is closed.
func (fs *FS) Reserve(h *Handle, size int64) error {
	if err := fs.begin(); err != nil {
		return err
	}
	if h.file == nil {
		return h.node.lit.reserve(size)
	}
	return h.file.Reserve(size)
}

// Sync returns nil when everything done before the call is durable, in the whole volume.
func (fs *FS) Sync() error {
	fs.counters.look()
	return fs.sync()
}

// sync is Sync without counting as use. A volume that has turned read-only has lost something:
// that is an I/O error for whoever waits for his data.
func (fs *FS) sync() error {
	err := fs.volume.Sync()
	if errors.Is(err, fat32.ErrReadOnly) {
		return fmt.Errorf("%w: %v", errLost, err)
	}
	return err
}

// errLost is what Sync answers once the volume has failed.
var errLost = errors.New("changes could not be saved")

// Mkdir makes an empty folder.
func (fs *FS) Mkdir(dir Node, name string) (Node, error) {
	if err := fs.begin(); err != nil {
		return Node{}, err
	}
	if fs.litter != nil && fs.litter.belongs(dir, name) {
		return fs.litter.mkdir(dir, name)
	}
	ref, err := dir.fat.Mkdir(name)
	return Node{fat: ref}, err
}

// Unlink removes the file called name; who has it open keeps it.
func (fs *FS) Unlink(dir Node, name string) error {
	return fs.remove(dir, name, fat32.RemoveFile)
}

// Rmdir removes the empty folder called name.
func (fs *FS) Rmdir(dir Node, name string) error {
	return fs.remove(dir, name, fat32.RemoveDir)
}

func (fs *FS) remove(dir Node, name string, kind fat32.RemoveKind) error {
	if err := fs.begin(); err != nil {
		return err
	}
	if !utf8.ValidString(name) {
		return fat32.ErrNotExist
	}
	if fs.litter != nil {
		return fs.removeBeside(dir, name, kind)
	}
	return dir.fat.Remove(name, kind, fs.exact)
}

// Rename gives the object called name in dir another name or place. An existing target is replaced
// if replace says so; its stored name is returned, because it may have been spelt differently.
func (fs *FS) Rename(dir Node, name string, to Node, newName string, replace bool) (displaced string, err error) {
	if err := fs.begin(); err != nil {
		return "", err
	}
	if !utf8.ValidString(name) {
		return "", fat32.ErrNotExist
	}
	if fs.litter != nil {
		return fs.renameBeside(dir, name, to, newName, replace)
	}
	return dir.fat.Rename(name, to.fat, newName, fat32.RenameOptions{Replace: replace, Exact: fs.exact})
}

// SetTimes sets times; zero values are left as they are. They are rounded to what FAT can hold,
// and that is what every later Stat tells.
func (fs *FS) SetTimes(n Node, t fat32.Times) error {
	if err := fs.begin(); err != nil {
		return err
	}
	if n.lit != nil {
		return n.lit.setTimes(t)
	}
	return n.fat.SetTimes(t)
}

// SetAttr sets the DOS attributes in mask to those of attr.
func (fs *FS) SetAttr(n Node, attr, mask fat32.Attr) error {
	if err := fs.begin(); err != nil {
		return err
	}
	if n.lit != nil {
		return n.lit.setAttr(attr, mask)
	}
	return n.fat.SetAttr(attr, mask)
}

// StatFS tells sizes and free space, exactly.
func (fs *FS) StatFS() (fat32.StatFS, error) {
	if err := fs.look(); err != nil {
		return fat32.StatFS{}, err
	}
	return fs.volume.StatFS(), nil
}

// end takes the drive away from programs that still use it: every operation fails from now on.
func (fs *FS) end() { fs.ended.Store(true) }
