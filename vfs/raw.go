package vfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"coffer/fat32"
)

// MountRaw shows a block device as one file in a folder: the file has the given name and the size of the device, which do
// not change. Programs read, write, map and sync it as they would a disk; an fsync returns when the device has
// synced. What is on the device is theirs: nothing here looks at it. Options.Litter means nothing. The device stays the
// caller's: unmount first, then close it. Errors are those of Mount, and fat32.ErrName for a name no system takes.
func MountRaw(ctx context.Context, device fat32.Device, point, name string, o Options) (*Mount, error) {
	raw, err := newRawDevice(device, name, o)
	if err != nil {
		return nil, err
	}
	m := &Mount{serves: raw, options: o}
	if err := m.mount(ctx, point, func(at string) (binding, error) { return bindRaw(raw, at, o) }); err != nil {
		return nil, err
	}
	return m, nil
}

// errRawFixed is the answer to everything that would change the shape of a raw mount.
var errRawFixed = fmt.Errorf("a raw mount holds one file of fixed size: %w", fat32.ErrPermission)

// errRawEnd is the answer to a write that begins at or beyond the end of the device, as a block device gives it.
var errRawEnd = fmt.Errorf("end of the device: %w", fat32.ErrNoSpace)

// rawDevice is the core of a raw mount: one block device as one file of fixed size. It has no cache, and no locks around
// its device, which serves concurrent requests of any offset and length. Bindings translate their callbacks to its methods.
// All methods may be called concurrently; buffers belong to the caller again when a call returns.
type rawDevice struct {
	device    fat32.Device
	name      string // of the file in the mount
	sizeBytes int64
	options   Options
	mounted   time.Time
	counters  *counters

	modified atomic.Int64  // last write, nanoseconds since 1970
	written  atomic.Uint64 // writes that have returned
	synced   atomic.Uint64 // of these, durable for certain
	panicked atomic.Bool   // a callback panicked: no more writes
	ended    atomic.Bool   // the mount is gone by force: no more requests

	mu         sync.Mutex
	handles    map[uint64]openHandle
	lastHandle uint64
}

// newRawDevice checks the name and wraps the device.
func newRawDevice(device fat32.Device, name string, o Options) (*rawDevice, error) {
	if err := checkRawName(name); err != nil {
		return nil, err
	}
	r := &rawDevice{device: device, name: name, sizeBytes: device.Size(), options: o, mounted: time.Now(),
		counters: newCounters(), handles: map[uint64]openHandle{}}
	r.modified.Store(r.mounted.UnixNano())
	return r, nil
}

// checkRawName refuses what no system takes as the name of a file.
func checkRawName(name string) error {
	switch {
	case name == "" || name == "." || name == "..":
	case len(name) > 255:
	default:
		for _, c := range []byte(name) {
			if c < ' ' || c == '/' || c == '\\' || c == ':' {
				return fmt.Errorf("%q as the name of a raw device: %w", name, fat32.ErrName)
			}
		}
		return nil
	}
	return fmt.Errorf("%q as the name of a raw device: %w", name, fat32.ErrName)
}

// modTime is when the device was last written through the mount, or when it was mounted.
func (r *rawDevice) modTime() time.Time { return time.Unix(0, r.modified.Load()) }

// writable is nil if writes may be tried.
func (r *rawDevice) writable() error {
	switch {
	case r.ended.Load():
		return fat32.ErrClosed
	case r.options.ReadOnly || r.panicked.Load():
		return fat32.ErrReadOnly
	}
	return nil
}

// readAt fills p from off and says how many bytes there were: fewer than len(p) only at the end of the device.
func (r *rawDevice) readAt(p []byte, off int64) (n int, err error) {
	defer r.recovered(&err)
	r.counters.use()
	switch {
	case r.ended.Load():
		return 0, fat32.ErrClosed
	case off < 0:
		return 0, fat32.ErrInvalid
	case off >= r.sizeBytes:
		return 0, nil
	}
	p = p[:min(int64(len(p)), r.sizeBytes-off)]
	n, err = r.device.ReadAt(p, off)
	r.counters.read.Add(int64(n))
	if n == len(p) {
		err = nil // io.ReaderAt allows io.EOF with a read that ends at the end
	} else if err == nil || errors.Is(err, io.EOF) {
		err = fmt.Errorf("read %d of %d bytes at %d: %w", n, len(p), off, io.ErrUnexpectedEOF)
	}
	return n, err
}

// writeAt stores p at off. A write across the end of the device is short, one at the end is errRawEnd: what a block
// device does. The bytes are durable after the next sync that returns nil.
func (r *rawDevice) writeAt(p []byte, off int64) (n int, err error) {
	defer r.recovered(&err)
	r.counters.use()
	if err := r.writable(); err != nil {
		return 0, err
	}
	switch {
	case off < 0:
		return 0, fat32.ErrInvalid
	case len(p) == 0:
		return 0, nil
	case off >= r.sizeBytes:
		return 0, errRawEnd
	}
	p = p[:min(int64(len(p)), r.sizeBytes-off)]
	n, err = r.device.WriteAt(p, off)
	// Counted after the write: a sync that runs beside it must not claim it.
	r.modified.Store(time.Now().UnixNano())
	r.written.Add(1)
	r.counters.written.Add(int64(n))
	if n < len(p) && err == nil {
		err = io.ErrShortWrite
	}
	return n, rawFull(err)
}

// rawFull makes fat32.ErrNoSpace of errors that say so in the words of the host: a thin container outgrew its disk.
func rawFull(err error) error {
	const diskFull, handleDiskFull = syscall.Errno(112), syscall.Errno(39) // of Windows
	windows := runtime.GOOS == "windows" && (errors.Is(err, diskFull) || errors.Is(err, handleDiskFull))
	if windows || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w: %w", fat32.ErrNoSpace, err)
	}
	return err
}

// sync returns nil when every write that had returned before is durable. A device that was only read is not touched.
func (r *rawDevice) sync() (err error) {
	defer r.recovered(&err)
	written := r.written.Load()
	if r.options.ReadOnly || r.synced.Load() >= written {
		return nil
	}
	if err := r.device.Sync(); err != nil {
		return rawFull(err)
	}
	for synced := r.synced.Load(); synced < written; synced = r.synced.Load() {
		if r.synced.CompareAndSwap(synced, written) {
			break
		}
	}
	return nil
}

// resize is nil only for the size the device has.
func (r *rawDevice) resize(sizeBytes int64) error {
	if err := r.writable(); err != nil {
		return err
	}
	if sizeBytes != r.sizeBytes {
		return errRawFixed
	}
	return nil
}

// recovered turns a panic on the way to the device into an error.
func (r *rawDevice) recovered(err *error) {
	if value := recover(); value != nil {
		*err = r.panickedIn(value)
	}
}

// panickedIn turns a panic that was recovered from a callback into the error of that callback. Nobody knows what was half
// done, so nothing is written any more; reads go on.
func (r *rawDevice) panickedIn(value any) error {
	r.panicked.Store(true)
	if r.options.OnPanic != nil {
		r.options.OnPanic(panicReport(value, debug.Stack()))
	}
	return errPanic
}

// open books an opening of the file by process (or thread) pid, 0 if the system did not tell, and gives its handle, which
// is never 0.
func (r *rawDevice) open(pid int, write bool) uint64 {
	r.counters.use()
	r.counters.opened(write)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastHandle++
	r.handles[r.lastHandle] = openHandle{pid: pid, path: r.name, write: write}
	return r.lastHandle
}

// close ends an opening. An unknown handle is no matter.
func (r *rawDevice) close(handle uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if h, ok := r.handles[handle]; ok {
		delete(r.handles, handle)
		r.counters.closed(h.write)
	}
}

func (r *rawDevice) counted() *counters { return r.counters }

func (r *rawDevice) end() { r.ended.Store(true) }

func (r *rawDevice) openHandles() []openHandle {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Values(r.handles))
}
