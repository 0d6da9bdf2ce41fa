// Package image is the host file a container lives in: exclusive open, sparse
// or preallocated creation that never overwrites, positional reads and writes
// that complete, sync, and hints about write-back and read-ahead.
//
// A File opened for writing holds a lock on the file itself (the inode), not on
// its name, so a second writer is refused also when it comes through a symbolic
// link, a hard link or a bind mount. Readers share. What differs by system is
// in one file per system: lock_*.go, space_*.go, hints_*.go, identity_*.go.
//
// A File notices when the image was truncated, deleted or replaced while open:
// from then on every write and sync gives ErrChanged; reads of what is still
// there go on. Writes can never reach a file that took the name over, since
// they go through the open handle.
package image

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"coffer/container/block"
)

// Errors of this package, wrapped with the path and what was being done.
var (
	// ErrExist: Create found a file, directory or link of that name.
	ErrExist = fs.ErrExist
	// ErrInUse: another process has the image open; see InUseError.
	ErrInUse = errors.New("in use by another program")
	// ErrChanged: the image was truncated, deleted or replaced while open.
	ErrChanged = errors.New("image changed while open")
	// ErrNoSpace: the host's file system, quota or thin pool is full. It also
	// satisfies errors.Is(err, syscall.ENOSPC).
	ErrNoSpace error = noSpaceError{}
	// ErrFileTooLarge: the host's file system or process limit does not allow
	// a file of this size.
	ErrFileTooLarge = errors.New("file too large for this file system or process limit")
	// ErrNotRegular: the path is a directory, device, pipe or socket.
	ErrNotRegular = errors.New("not a regular file")
	// ErrReadOnly: a write to an image opened for reading.
	ErrReadOnly = block.ErrReadOnly
)

// identityInterval is how often, at most, a write looks the path up again to
// see whether another file took the name. Size and link count are looked at on
// every write: that costs a fraction of a microsecond.
const identityInterval = time.Second

// File is an open image. It implements block.Device, block.Discarder and
// io.Closer; all methods may be called concurrently, but nothing after Close.
type File struct {
	f        *os.File
	path     string // absolute, for looking the name up again
	size     int64
	readOnly bool
	id       identity

	bytesRead    atomic.Int64
	bytesWritten atomic.Int64

	lastLookup atomic.Int64 // unix nanoseconds of the last path look-up
	failed     atomic.Pointer[error]
	closeOnce  sync.Once
	closeErr   error
}

// Options of Create.
type Options struct {
	// Preallocate reserves all blocks at once, so that the image cannot run
	// out of host space later. It fails at once if they are not there.
	Preallocate bool
	// Progress, if not nil, is told the bytes preallocated so far. It is only
	// called where the host cannot reserve blocks without writing them.
	Progress func(done, total int64)
	// Canceled, if not nil, is asked between steps; a non-nil result ends
	// the creation with that error.
	Canceled func() error
}

// Create makes a new image of size bytes, readable and writable by its owner
// only, and locks it for writing. It never touches an existing file (ErrExist)
// and leaves none behind when it fails. The file is sparse unless o.Preallocate
// is set: it takes no time and no space, and reads as zeros.
func Create(path string, size int64, o Options) (*File, error) {
	if size < 0 {
		return nil, fmt.Errorf("create image %s: negative size %d", path, size)
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("create image: %w", err)
	}
	h, err := createFile(abs)
	if err != nil {
		return nil, fmt.Errorf("create image: %w", err)
	}
	f := &File{f: h, path: abs, size: size}
	if err := f.prepare(o); err != nil {
		return nil, fmt.Errorf("create image %s: %w", path, errors.Join(err, f.Abandon()))
	}
	return f, nil
}

// prepare gives a file just created its lock, size and blocks.
func (f *File) prepare(o Options) error {
	if err := lockFile(f.f, false); err != nil {
		return err
	}
	if !o.Preallocate {
		markSparse(f.f)
	}
	if err := f.f.Truncate(f.size); err != nil {
		return Classify(err)
	}
	if o.Preallocate {
		if err := f.preallocate(o); err != nil {
			return Classify(err)
		}
	}
	id, _, err := identify(f.f)
	f.id = id
	return err
}

// Abandon closes a file that Create made and removes it: the way back when a
// later step of a creation fails. Only the file itself is removed, not another
// one that meanwhile has its name.
func (f *File) Abandon() error {
	var err error
	if here, statErr := os.Lstat(f.path); statErr == nil {
		if own, ownErr := f.f.Stat(); ownErr == nil && os.SameFile(here, own) {
			err = removeOpen(f.f, f.path)
		}
	}
	f.closeOnce.Do(func() { f.closeErr = f.f.Close() })
	return err
}

// Open opens an existing image: for writing with an exclusive lock, read-only
// with a shared one. It returns at once with ErrInUse (an *InUseError that
// names the holder where the system tells) if the lock is taken.
func Open(path string, readOnly bool) (*File, error) {
	return open(path, readOnly, true)
}

// OpenUnlocked opens an image for reading without any lock, also while another
// program writes to it: for looking at headers, whose checksums tell when a
// read met a write.
func OpenUnlocked(path string) (*File, error) { return open(path, true, false) }

func open(path string, readOnly, lock bool) (*File, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open image: %w", err)
	}
	// Before opening: opening a pipe would block.
	if fi, err := os.Stat(abs); err != nil {
		return nil, fmt.Errorf("open image: %w", err)
	} else if !fi.Mode().IsRegular() {
		return nil, fmt.Errorf("open image %s: %w", path, ErrNotRegular)
	}
	h, err := openFile(abs, readOnly, lock)
	if err != nil {
		return nil, fmt.Errorf("open image: %w", err)
	}
	f := &File{f: h, path: abs, readOnly: readOnly}
	if err := f.adopt(lock); err != nil {
		_ = h.Close()
		return nil, fmt.Errorf("open image %s: %w", path, err)
	}
	return f, nil
}

// adopt locks and measures a file just opened.
func (f *File) adopt(lock bool) error {
	if fi, err := f.f.Stat(); err != nil {
		return err
	} else if !fi.Mode().IsRegular() {
		return ErrNotRegular
	}
	if lock {
		if err := lockFile(f.f, f.readOnly); err != nil {
			return err
		}
		if !f.readOnly {
			if err := checkAttached(f.f); err != nil {
				return err
			}
		}
	}
	id, st, err := identify(f.f)
	if err != nil {
		return err
	}
	f.id, f.size = id, st.size
	return nil
}

// Path is the absolute path the image was opened by.
func (f *File) Path() string { return f.path }

// Size is the length in bytes when the image was opened or created.
func (f *File) Size() int64 { return f.size }

// ReadOnly tells whether the image was opened for reading only.
func (f *File) ReadOnly() bool { return f.readOnly }

// Traffic is how many bytes have been read from and written to the image since
// it was opened.
func (f *File) Traffic() (read, written int64) {
	return f.bytesRead.Load(), f.bytesWritten.Load()
}

// ReadAt implements io.ReaderAt. An image that was truncated while open gives
// ErrChanged for the part that is gone.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	n, eof := block.ClipRead(off, len(p), f.size)
	if n == 0 {
		return 0, eof
	}
	got, err := f.f.ReadAt(p[:n], off)
	f.bytesRead.Add(int64(got))
	if got == n {
		return got, eof
	}
	if err == io.EOF {
		err = fmt.Errorf("shorter than %d bytes: %w", off+int64(n), ErrChanged)
		f.fail(err)
	}
	return got, fmt.Errorf("read image %s at %d: %w", f.path, off, err)
}

// WriteAt implements io.WriterAt; short writes are completed or reported. The
// bytes are durable after the next Sync.
func (f *File) WriteAt(p []byte, off int64) (int, error) {
	if f.readOnly {
		return 0, fmt.Errorf("write image %s: %w", f.path, ErrReadOnly)
	}
	if err := block.CheckRange(off, int64(len(p)), f.size); err != nil {
		return 0, fmt.Errorf("write image %s: %w", f.path, err)
	}
	if err := f.check(false); err != nil {
		return 0, err
	}
	n, err := f.f.WriteAt(p, off) // os.File completes short writes
	f.bytesWritten.Add(int64(n))
	if err != nil {
		return n, fmt.Errorf("write image %s at %d: %w", f.path, off, Classify(err))
	}
	return n, nil
}

// Sync makes all earlier writes durable and looks whether the image is still
// the file it was. Whether a failed sync may be repeated is the caller's
// business (container.Volume does not).
func (f *File) Sync() error {
	if f.readOnly {
		return nil
	}
	if err := f.check(true); err != nil {
		return err
	}
	if err := syncFile(f.f); err != nil {
		return fmt.Errorf("sync image %s: %w", f.path, Classify(err))
	}
	return f.check(true)
}

// SyncName makes the file's directory entry durable, once after Create.
func (f *File) SyncName() error {
	return SyncFolder(filepath.Dir(f.path))
}

// SyncFolder makes the names in a folder durable, where the system can.
func SyncFolder(path string) error {
	if err := syncDir(path); err != nil {
		return fmt.Errorf("sync folder: %w", err)
	}
	return nil
}

// Truncate changes the size of the image. It must not run beside reads or
// writes.
func (f *File) Truncate(size int64) error {
	if f.readOnly {
		return fmt.Errorf("resize image %s: %w", f.path, ErrReadOnly)
	}
	if err := f.check(true); err != nil {
		return err
	}
	if err := f.f.Truncate(size); err != nil {
		return fmt.Errorf("resize image %s to %d: %w", f.path, size, Classify(err))
	}
	f.size = size
	return nil
}

// Close releases the lock and closes the file. It does not sync. Closing twice
// returns the first result.
func (f *File) Close() error {
	f.closeOnce.Do(func() { f.closeErr = f.f.Close() })
	return f.closeErr
}

// check finds out whether the image is still what it was, at the cost of one
// system call; with now set, or once in identityInterval, also whether the
// name still leads to it.
func (f *File) check(now bool) error {
	if e := f.failed.Load(); e != nil {
		return *e
	}
	id, st, err := identify(f.f)
	switch {
	case err != nil:
		return fmt.Errorf("image %s: %w", f.path, err)
	case st.links == 0:
		return f.fail(fmt.Errorf("image %s was deleted or replaced: %w", f.path, ErrChanged))
	case st.size < f.size:
		return f.fail(fmt.Errorf("image %s was truncated from %d to %d bytes: %w", f.path, f.size, st.size, ErrChanged))
	}
	if t := time.Now().UnixNano(); now || t-f.lastLookup.Load() >= int64(identityInterval) {
		f.lastLookup.Store(t)
		// A name that leads nowhere while the file still has links was moved:
		// harmless. A name that leads to another file is not.
		if other, known := identifyPath(f.path); known && other != id {
			return f.fail(fmt.Errorf("another file took the place of image %s: %w", f.path, ErrChanged))
		}
	}
	return nil
}

// fail makes err the answer to every later write and sync; the first one wins.
func (f *File) fail(err error) error {
	f.failed.CompareAndSwap(nil, &err)
	return *f.failed.Load()
}
