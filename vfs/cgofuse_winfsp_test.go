//go:build windows || ((darwin || freebsd) && cgo) || (linux && cgofuse)

package vfs

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/winfsp/cgofuse/fuse"
)

// winDrive plays WinFsp for one file system in process: its kernel driver as far as it decides by itself (what is open,
// what is to be deleted, the read-only attribute, which names are equal), and its FUSE layer with the callbacks, in
// order, that it makes for each request. In particular every path is the one a file was opened by, however stale, only
// files have a handle in attribute requests, and names come in the spelling of the program.
type winDrive struct {
	t     *testing.T
	fs    *cgoFS
	nodes map[string]*winNode // by folded current path
	calls []string            // callbacks since the last look, without arguments
}

// winNode is what the driver keeps for a file that is open.
type winNode struct {
	path    string // current
	opens   int
	pending bool // deleted with the last close
	gone    bool // removed while open, as POSIX has it
}

// winFile is an open handle.
type winFile struct {
	d       *winDrive
	node    *winNode
	path    string // it was opened by: never follows a rename
	name    string // as the drive spells it
	isDir   bool
	fh      uint64
	onClose bool // FILE_DELETE_ON_CLOSE
	append  bool
}

// Dispositions of CreateFile.
type winHow int

const (
	openExisting winHow = iota
	createNew
	createAlways
	openAlways
	truncateExisting
)

// winOpt says how a file is opened.
type winOpt struct {
	how     winHow
	write   bool
	dir     bool // a folder is wanted
	attrs   uint32
	onClose bool
	append  bool // FILE_APPEND_DATA only
}

const noHandle = ^uint64(0)

// newWinDrive mounts fs.
func newWinDrive(t *testing.T, fs *cgoFS) *winDrive {
	d := &winDrive{t: t, fs: fs, nodes: map[string]*winNode{}}
	fs.Init()
	var vfs fuse.Statfs_t
	d.must("statfs", d.fs.Statfs("/", &vfs))
	var stat fuse.Stat_t
	d.must("getattr /", d.fs.Getattr("/", &stat, noHandle))
	if errc, _ := d.fs.Readlink("/"); errc != -fuse.ENOSYS {
		t.Fatalf("readlink of the root answers %v; WinFsp would take the drive for one with links", fuse.Error(errc))
	}
	return d
}

func (d *winDrive) must(what string, errc int) {
	d.t.Helper()
	if errc != 0 {
		d.t.Fatalf("%s: %v", what, fuse.Error(errc))
	}
}

// refused fails unless errc is one of wanted.
func (d *winDrive) refused(what string, errc int, wanted ...int) {
	d.t.Helper()
	for _, w := range wanted {
		if errc == -w {
			return
		}
	}
	d.t.Fatalf("%s: answered %v, wanted %v", what, fuse.Error(errc), wanted)
}

func (d *winDrive) log(call string) { d.calls = append(d.calls, call) }

func winFold(path string) string { return strings.ToUpper(path) }

func (d *winDrive) getattr(path string, fh uint64) (fuse.Stat_t, int) {
	d.log("getattr")
	var stat fuse.Stat_t
	return stat, d.fs.Getattr(path, &stat, fh)
}

func isDirMode(mode uint32) bool { return mode&fuse.S_IFMT == fuse.S_IFDIR }

// open is CreateFile.
func (d *winDrive) open(path string, o winOpt) (*winFile, int) {
	var stat fuse.Stat_t
	d.log("getattr")
	errc := d.fs.Getattr(path, &stat, noHandle)
	node := d.nodes[winFold(path)]
	switch {
	case errc == -fuse.ENOENT && (o.how == openExisting || o.how == truncateExisting):
		return nil, errc
	case errc == -fuse.ENOENT:
		return d.create(path, o)
	case errc != 0:
		return nil, errc
	case node != nil && node.pending:
		return nil, -fuse.EACCES // STATUS_DELETE_PENDING
	case o.how == createNew:
		return nil, -fuse.EEXIST
	case stat.Flags&fuse.UF_READONLY != 0 && !isDirMode(stat.Mode) && (o.write || o.append || o.onClose || o.how == createAlways):
		return nil, -fuse.EACCES
	case o.dir && !isDirMode(stat.Mode):
		return nil, -fuse.ENOTDIR
	}
	return d.openThere(path, o)
}

func (d *winDrive) openThere(path string, o winOpt) (*winFile, int) {
	if o.onClose {
		d.log("access")
		if errc := d.fs.Access(path, fuse.DELETE_OK); errc != 0 && errc != -fuse.ENOSYS {
			return nil, errc
		}
	}
	stat, errc := d.getattr(path, noHandle)
	if errc != 0 {
		return nil, errc
	}
	f := &winFile{d: d, path: path, isDir: isDirMode(stat.Mode), onClose: o.onClose, append: o.append}
	if f.isDir {
		d.log("opendir")
		errc, f.fh = d.fs.Opendir(path)
	} else {
		fi := fuse.FileInfo_t{Flags: fuse.O_RDONLY}
		switch {
		case o.append:
			fi.Flags = fuse.O_WRONLY
		case o.write || o.how == createAlways || o.how == truncateExisting:
			fi.Flags = fuse.O_RDWR
		}
		d.log("open")
		errc = d.fs.OpenEx(path, &fi)
		f.fh = fi.Fh
	}
	if errc != 0 {
		return nil, errc
	}
	d.opened(f)
	if !f.isDir && (o.how == createAlways || o.how == truncateExisting) {
		if errc := f.overwrite(o.attrs); errc != 0 {
			f.close()
			return nil, errc
		}
	}
	return f, 0
}

// overwrite empties an existing file and replaces its attributes.
func (f *winFile) overwrite(attrs uint32) int {
	f.d.log("ftruncate")
	if errc := f.d.fs.Truncate(f.path, 0, f.fh); errc != 0 {
		return errc
	}
	if attrs != 0 {
		f.d.log("chflags")
		if errc := f.d.fs.Chflags(f.path, attrs|fuse.UF_ARCHIVE); errc != 0 && errc != -fuse.ENOSYS {
			return errc
		}
	}
	_, errc := f.d.getattr(f.path, f.fh)
	return errc
}

// create makes a new file or folder.
func (d *winDrive) create(path string, o winOpt) (*winFile, int) {
	f := &winFile{d: d, path: path, isDir: o.dir, onClose: o.onClose, append: o.append}
	var errc int
	if o.dir {
		d.log("mkdir")
		if errc := d.fs.Mkdir(path, 0o777); errc != 0 {
			return nil, errc
		}
		d.log("opendir")
		errc, f.fh = d.fs.Opendir(path)
	} else {
		d.log("create")
		fi := fuse.FileInfo_t{Flags: fuse.O_CREAT | fuse.O_EXCL | fuse.O_RDWR}
		errc = d.fs.CreateEx(path, 0o777, &fi)
		f.fh = fi.Fh
	}
	if errc != 0 {
		return nil, errc
	}
	attrs := o.attrs
	if attrs != 0 {
		if !o.dir {
			attrs |= fuse.UF_ARCHIVE
		}
		d.log("chflags")
		if errc := d.fs.Chflags(path, attrs); errc != 0 && errc != -fuse.ENOSYS {
			return nil, errc
		}
	}
	d.log("chown")
	if errc := d.fs.Chown(path, 1000, 1000); errc != 0 && errc != -fuse.ENOSYS {
		return nil, errc
	}
	if _, errc := d.getattr(path, f.attrHandle()); errc != 0 {
		return nil, errc
	}
	d.opened(f)
	return f, 0
}

// opened books a handle and asks how the drive spells the name.
func (d *winDrive) opened(f *winFile) {
	d.t.Helper()
	d.log("getpath")
	errc, name := d.fs.Getpath(f.path, f.attrHandle())
	d.must("getpath", errc)
	if winFold(name) != winFold(f.path) {
		d.t.Fatalf("getpath of %q answers %q", f.path, name)
	}
	f.name = name
	key := winFold(f.path)
	f.node = d.nodes[key]
	if f.node == nil {
		f.node = &winNode{path: f.path}
		d.nodes[key] = f.node
	}
	f.node.opens++
}

// attrHandle is the handle WinFsp passes with attribute requests: folders have none.
func (f *winFile) attrHandle() uint64 {
	if f.isDir {
		return noHandle
	}
	return f.fh
}

// info is GetFileInformationByHandle.
func (f *winFile) info() fuse.Stat_t {
	f.d.t.Helper()
	stat, errc := f.d.getattr(f.path, f.attrHandle())
	f.d.must("getattr "+f.path, errc)
	return stat
}

// write is WriteFile; off < 0 appends.
func (f *winFile) write(data string, off int64) int {
	stat, errc := f.d.getattr(f.path, f.fh)
	if errc != 0 {
		return errc
	}
	if off < 0 || f.append {
		off = stat.Size
	}
	f.d.log("write")
	n := f.d.fs.Write(f.path, []byte(data), off, f.fh)
	if n >= 0 && n != len(data) {
		f.d.t.Fatalf("wrote %d of %d bytes", n, len(data))
	}
	return min(n, 0)
}

// read is ReadFile from the start.
func (f *winFile) read() string {
	f.d.t.Helper()
	f.d.log("read")
	buffer := make([]byte, 1<<16)
	n := f.d.fs.Read(f.path, buffer, 0, f.fh)
	if n < 0 {
		f.d.t.Fatalf("read %s: %v", f.path, fuse.Error(n))
	}
	return string(buffer[:n])
}

// setEnd is SetEndOfFile.
func (f *winFile) setEnd(size int64) int {
	if _, errc := f.d.getattr(f.path, f.fh); errc != 0 {
		return errc
	}
	f.d.log("ftruncate")
	return f.d.fs.Truncate(f.path, size, f.fh)
}

// setAllocation is SetFileInformationByHandle(FileAllocationInfo): FUSE knows no reservations, so that only what is
// smaller than the file has an effect.
func (f *winFile) setAllocation(size int64) int {
	stat, errc := f.d.getattr(f.path, f.fh)
	if errc != 0 || stat.Size <= size {
		return errc
	}
	f.d.log("ftruncate")
	return f.d.fs.Truncate(f.path, size, f.fh)
}

// winBasic is FILE_BASIC_INFO; zero times and attrs < 0 are left alone.
type winBasic struct {
	attrs                          int64
	access, write, created, change time.Time
}

// setBasic is SetFileInformationByHandle(FileBasicInfo).
func (f *winFile) setBasic(b winBasic) int {
	fs := f.d.fs
	if b.attrs >= 0 {
		f.d.log("chflags")
		if errc := fs.Chflags(f.path, uint32(b.attrs)); errc != 0 {
			return errc
		}
	}
	if !b.access.IsZero() || !b.write.IsZero() {
		if b.access.IsZero() || b.write.IsZero() {
			stat, errc := f.d.getattr(f.path, f.attrHandle())
			if errc != 0 {
				return errc
			}
			if b.access.IsZero() {
				b.access = stat.Atim.Time()
			}
			if b.write.IsZero() {
				b.write = stat.Mtim.Time()
			}
		}
		f.d.log("utimens")
		if errc := fs.Utimens3(f.path, []fuse.Timespec{fuse.NewTimespec(b.access), fuse.NewTimespec(b.write)}, noHandle); errc != 0 {
			return errc
		}
	}
	if !b.created.IsZero() {
		f.d.log("setcrtime")
		if errc := fs.Setcrtime(f.path, fuse.NewTimespec(b.created)); errc != 0 {
			return errc
		}
	}
	if !b.change.IsZero() {
		f.d.log("setchgtime")
		if errc := fs.Setchgtime(f.path, fuse.NewTimespec(b.change)); errc != 0 {
			return errc
		}
	}
	_, errc := f.d.getattr(f.path, f.attrHandle())
	return errc
}

// canDelete is what WinFsp asks before it takes note of a deletion.
func (f *winFile) canDelete() int {
	f.d.log("access")
	if errc := f.d.fs.Access(f.path, fuse.DELETE_OK); errc != 0 && errc != -fuse.ENOSYS {
		return errc
	}
	if !f.isDir {
		return 0
	}
	f.d.log("readdir")
	child := false
	errc := f.d.fs.Readdir(f.path, func(name string, _ *fuse.Stat_t, _ int64) bool {
		child = child || name != "." && name != ".."
		return !child
	}, 0, f.fh)
	if child {
		return -fuse.ENOTEMPTY
	}
	return errc
}

// setDelete is SetFileInformationByHandle(FileDispositionInfo).
func (f *winFile) setDelete() int {
	stat, errc := f.d.getattr(f.path, f.attrHandle())
	if errc == 0 && stat.Flags&fuse.UF_READONLY != 0 && !f.isDir {
		return -fuse.EPERM // STATUS_CANNOT_DELETE, by WinFsp itself
	}
	if errc := f.canDelete(); errc != 0 {
		return errc
	}
	f.node.pending = true
	return 0
}

// deletePosix is the deletion of Windows 10 and later (DeleteFile, unlink): the name goes with this handle, whoever
// else has the file open.
func (f *winFile) deletePosix() int {
	if errc := f.setDelete(); errc != 0 {
		return errc
	}
	f.node.pending = false
	f.remove()
	return 0
}

func (f *winFile) remove() {
	if f.isDir {
		f.d.log("rmdir")
		f.d.fs.Rmdir(f.path)
	} else {
		f.d.log("unlink")
		f.d.fs.Unlink(f.path)
	}
	f.node.gone = true
	delete(f.d.nodes, winFold(f.node.path))
}

// rename is SetFileInformationByHandle(FileRenameInfo), with POSIX semantics if posix.
func (f *winFile) rename(path string, replace, posix bool) int {
	d := f.d
	stat, errc := d.getattr(path, noHandle)
	if errc != 0 && errc != -fuse.ENOENT {
		return errc
	}
	target := d.nodes[winFold(path)]
	if errc == 0 && winFold(path) != winFold(f.node.path) {
		switch {
		case !replace:
			return -fuse.EEXIST
		case isDirMode(stat.Mode):
			return -fuse.EACCES
		case stat.Flags&fuse.UF_READONLY != 0, target != nil && !posix:
			return -fuse.EACCES // by the driver
		}
	}
	d.log("rename")
	if errc := d.fs.Rename3(f.path, path, 0); errc != 0 {
		return errc
	}
	d.renamed(f.node.path, path, target)
	return 0
}

// renamed moves what the driver knows of from and everything below it.
func (d *winDrive) renamed(from, to string, target *winNode) {
	if target != nil && winFold(from) != winFold(to) {
		target.gone = true
		delete(d.nodes, winFold(to))
	}
	moved := map[string]*winNode{}
	for key, n := range d.nodes {
		if key == winFold(from) || strings.HasPrefix(key, winFold(from)+"/") {
			delete(d.nodes, key)
			n.path = to + n.path[len(from):]
			moved[winFold(n.path)] = n
		}
	}
	for key, n := range moved {
		d.nodes[key] = n
	}
}

// list is FindFirstFile and so on.
func (f *winFile) list() map[string]fuse.Stat_t {
	f.d.t.Helper()
	f.d.log("readdir")
	entries := map[string]fuse.Stat_t{}
	errc := f.d.fs.Readdir(f.path, func(name string, stat *fuse.Stat_t, off int64) bool {
		if off != 0 {
			f.d.t.Fatalf("readdir fills %q with offset %d: WinFsp wants all in one go", name, off)
		}
		if name == "." || name == ".." {
			return true
		}
		if stat == nil {
			f.d.t.Fatalf("readdir fills %q without attributes", name)
		}
		if _, twice := entries[name]; twice {
			f.d.t.Fatalf("readdir fills %q twice", name)
		}
		entries[name] = *stat
		return true
	}, 0, f.fh)
	f.d.must("readdir "+f.path, errc)
	return entries
}

// flush is FlushFileBuffers.
func (f *winFile) flush() int {
	f.d.log("fsync")
	if f.isDir {
		return f.d.fs.Fsyncdir(f.path, false, f.fh)
	}
	return f.d.fs.Fsync(f.path, false, f.fh)
}

// close is CloseHandle: cleanup, then close.
func (f *winFile) close() {
	f.node.opens--
	if f.onClose && !f.node.gone {
		f.node.pending = true
	}
	if f.node.pending && f.node.opens == 0 && !f.node.gone {
		f.remove()
	}
	if f.node.opens == 0 && !f.node.gone {
		delete(f.d.nodes, winFold(f.node.path))
	}
	if f.isDir {
		f.d.log("releasedir")
		f.d.must("releasedir", f.d.fs.Releasedir(f.path, f.fh))
		return
	}
	f.d.log("flush")
	if errc := f.d.fs.Flush(f.path, f.fh); errc != 0 && errc != -fuse.ENOSYS {
		f.d.t.Fatalf("flush %s: %v", f.path, fuse.Error(errc))
	}
	f.d.log("release")
	f.d.must("release", f.d.fs.Release(f.path, f.fh))
}

// The rest are shorthands for scripts.

func (d *winDrive) mustOpen(path string, o winOpt) *winFile {
	d.t.Helper()
	f, errc := d.open(path, o)
	d.must(fmt.Sprintf("open %s", path), errc)
	return f
}

// put writes a whole file as a program does.
func (d *winDrive) put(path, content string) {
	d.t.Helper()
	f := d.mustOpen(path, winOpt{how: createAlways, write: true})
	d.must("write", f.write(content, 0))
	f.close()
}

// get reads a whole file.
func (d *winDrive) get(path string) string {
	d.t.Helper()
	f := d.mustOpen(path, winOpt{})
	defer f.close()
	return f.read()
}

func (d *winDrive) mkdir(path string) {
	d.t.Helper()
	d.mustOpen(path, winOpt{how: createNew, dir: true}).close()
}

// delete is DeleteFile or RemoveDirectory of old.
func (d *winDrive) delete(path string) int {
	d.t.Helper()
	f, errc := d.open(path, winOpt{})
	if errc != 0 {
		return errc
	}
	defer f.close()
	return f.setDelete()
}

// move is MoveFileEx.
func (d *winDrive) move(from, to string, replace bool) int {
	d.t.Helper()
	f := d.mustOpen(from, winOpt{})
	defer f.close()
	return f.rename(to, replace, true)
}

func (d *winDrive) exists(path string) bool {
	_, errc := d.getattr(path, noHandle)
	if errc != 0 && errc != -fuse.ENOENT {
		d.t.Fatalf("getattr %s: %v", path, fuse.Error(errc))
	}
	return errc == 0
}

// names lists a folder.
func (d *winDrive) names(path string) map[string]bool {
	d.t.Helper()
	f := d.mustOpen(path, winOpt{dir: true})
	defer f.close()
	set := map[string]bool{}
	for name := range f.list() {
		set[name] = true
	}
	return set
}
