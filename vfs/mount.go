package vfs

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"coffer/fat32"
)

// served is what a mount serves: a file system or a raw device.
type served interface {
	// counted returns the counters of the mount.
	counted() *counters
	// openHandles lists what programs have open.
	openHandles() []openHandle
	// sync returns nil when everything that reached the core is durable.
	sync() error
	// end makes every later request fail.
	end()
}

// binding is one FUSE library at work for one mount.
type binding interface {
	// flush hands what the system still holds of programs' writes to the core.
	flush(ctx context.Context) error
	// changed tells the system about a change; it is called from outside of callbacks only.
	changed(c Change)
	// detach unmounts. ErrBusy if programs use the drive; not with lazily, then it
	// vanishes for all others and those that use it meet errors.
	detach(ctx context.Context, lazily bool) error
	// done is closed when the drive is gone, from whatever side.
	done() <-chan struct{}
}

// Mount is a mounted drive. All methods are safe for concurrent use.
type Mount struct {
	point   string
	remove  bool // the folder of the mount point goes with the mount
	serves  served
	fs      *FS // nil for raw mounts
	binding binding
	options Options
	gone    chan struct{}
	once    sync.Once
	leaving sync.Mutex // one Unmount at a time
	users   userFinder
}

// MountVolume shows the volume v as a drive at point, a folder (made if it does not exist) or on Windows a
// letter. It returns when the drive answers. The volume stays the caller's: unmount first, then close it.
// ErrNoFUSE and ErrPoint tell what is wrong with the system or the place.
func MountVolume(ctx context.Context, v *fat32.Volume, point string, o Options) (*Mount, error) {
	fs := newFS(v, o, caseSensitive)
	m := &Mount{serves: fs, fs: fs, options: o}
	err := m.mount(ctx, point, func(at string) (binding, error) { return bindFS(fs, at, o) })
	if err != nil {
		return nil, err
	}
	return m, nil
}

// mount prepares the mount point and binds there.
func (m *Mount) mount(ctx context.Context, point string, bind func(point string) (binding, error)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := Probe(); err != nil {
		return err
	}
	at, made, err := preparePoint(point, m.options.Image)
	if err != nil {
		return fmt.Errorf("mount at %s: %w", point, err)
	}
	m.point, m.remove, m.gone = at, made || m.options.RemovePoint, make(chan struct{})
	seal := func() {}
	if m.remove {
		seal = holdPoint(at)
	}
	if m.binding, err = bind(at); err != nil {
		if made {
			_ = os.Remove(at)
		}
		return fmt.Errorf("mount at %s: %w", at, err)
	}
	seal()
	go m.watch()
	if err := ctx.Err(); err != nil { // given up meanwhile
		return errors.Join(err, m.Unmount(context.WithoutCancel(ctx), true))
	}
	return nil
}

// watch waits for the end of the mount, from whatever side, and tidies up.
func (m *Mount) watch() {
	<-m.binding.done()
	if err := m.serves.sync(); err != nil {
		m.options.log("sync after unmounting", err)
	}
	m.finish()
}

// finish tells everybody that the drive is gone.
func (m *Mount) finish() {
	m.once.Do(func() {
		if m.remove {
			removePoint(m.point)
		}
		close(m.gone)
	})
}

// Point returns where the drive is: an absolute path, or a letter such as "X:".
func (m *Mount) Point() string { return m.point }

// Done is closed when the drive is unmounted, from whatever side.
func (m *Mount) Done() <-chan struct{} { return m.gone }

// Counters tells what went through the mount. It takes no locks.
func (m *Mount) Counters() Counters { return m.serves.counted().snapshot() }

// Users tells who uses the drive, as far as the system lets this process know.
func (m *Mount) Users() []User { return m.users.find(m.point, m.serves.openHandles()) }

// Changed tells the system about a change to the volume that did not come through the mount. It must follow every
// such change, and must not be called while a lock is held that a callback of this mount may wait for.
func (m *Mount) Changed(c Change) {
	select {
	case <-m.gone:
	default:
		m.binding.changed(c)
	}
}

// Flush brings what programs have written, also into mapped files, down to the volume and returns nil when it is durable.
func (m *Mount) Flush(ctx context.Context) error {
	select {
	case <-m.gone:
		return nil
	default:
	}
	if err := m.binding.flush(ctx); err != nil {
		return fmt.Errorf("flush %s: %w", m.point, err)
	}
	return m.serves.sync()
}

// Writing reports whether a program has the file at path, from the root of the volume, open for writing.
func (m *Mount) Writing(path string) bool {
	want := fat32.FoldName(filepath.ToSlash(filepath.Clean("/" + path)))
	for _, h := range m.serves.openHandles() {
		if h.write && fat32.FoldName(h.path) == want {
			return true
		}
	}
	return false
}

// Unmount makes everything durable and takes the drive away. If programs use it that is a *BusyError, unless force
// says to take it away nevertheless: then what they have written is durable, and what they do from then on fails. An error
// of the flush is returned; without force the drive is still there then.
func (m *Mount) Unmount(ctx context.Context, force bool) error {
	m.leaving.Lock()
	defer m.leaving.Unlock()
	select {
	case <-m.gone:
		return nil
	default:
	}
	lost := m.Flush(ctx)
	if lost != nil && !force {
		return lost
	}
	err := m.binding.detach(ctx, false)
	if err == nil {
		select {
		case <-m.gone:
			return lost
		case <-ctx.Done():
			return errors.Join(lost, fmt.Errorf("unmount %s: %w", m.point, ctx.Err()))
		}
	}
	if !force {
		if errors.Is(err, ErrBusy) {
			return &BusyError{Users: m.Users()}
		}
		return fmt.Errorf("unmount %s: %w", m.point, err)
	}
	if err = m.binding.detach(ctx, true); err != nil {
		err = fmt.Errorf("unmount %s: %w", m.point, err)
	}
	m.serves.end()
	lost = errors.Join(lost, m.serves.sync())
	if err == nil {
		m.finish()
	}
	return errors.Join(lost, err)
}

func (fs *FS) counted() *counters { return fs.counters }

// openHandles lists what programs have open.
func (fs *FS) openHandles() []openHandle {
	var out []openHandle
	for _, h := range fs.handles.list() {
		out = append(out, openHandle{pid: h.pid, path: h.node.Path(), write: h.write})
	}
	return out
}
