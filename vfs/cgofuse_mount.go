//go:build windows || ((darwin || freebsd) && cgo) || (linux && cgofuse)

package vfs

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/winfsp/cgofuse/fuse"
)

// cgoBlockBytes is what programs are told to read and write at once.
const cgoBlockBytes = 1 << 20

// cgoStartTime is how long a library may take to mount.
const cgoStartTime = 30 * time.Second

// cgofuse is a mount served through cgofuse.
type cgofuse struct {
	host  *fuse.FileSystemHost
	point string
	ended chan struct{}
	ok    bool         // what the library said at the end; valid once ended is closed
	fault any          // a panic of the library; likewise
	busy  func() bool  // whether programs have files open
	tell  func(Change) // tells the system of a change; nil if nothing changes behind its back
}

// bindFS mounts a file system.
func bindFS(fs *FS, point string, o Options) (binding, error) {
	c := newCgoFS(fs, systemRules)
	host := fuse.NewFileSystemHost(c)
	host.SetCapCaseInsensitive(!caseSensitive)
	host.SetCapReaddirPlus(true)
	host.SetCapDeleteAccess(true)
	host.SetUseIno(true)
	c.start(host)
	b, err := serveCgofuse(host, &c.cgoLife, point, append(cgoArgs(o), cgoVolumeArgs(fs)...))
	if err != nil {
		return nil, err
	}
	b.busy = func() bool { return c.table.files() > 0 }
	b.tell = func(change Change) { c.foreignChange(host, change) }
	return b, nil
}

// serveCgofuse mounts what host serves at point and returns when it answers. life is that of the
// file system, after its start.
func serveCgofuse(host *fuse.FileSystemHost, life *cgoLife, point string, args []string) (*cgofuse, error) {
	b := &cgofuse{host: host, point: point, ended: make(chan struct{})}
	go func() {
		defer close(b.ended)
		defer func() { b.fault = recover() }() // cgofuse panics where its library is missing
		b.ok = host.Mount(point, args)
	}()
	if err := b.wait(life); err != nil {
		return nil, fmt.Errorf("the FUSE library could not mount: %w", err)
	}
	return b, nil
}

// wait returns when the drive answers, or cannot any more.
func (b *cgofuse) wait(life *cgoLife) error {
	late := time.NewTimer(cgoStartTime)
	defer late.Stop()
	select {
	case <-life.begun:
	case <-b.ended:
		return b.failure()
	case <-late.C:
		return fmt.Errorf("it does not begin within %v", cgoStartTime)
	}
	answers := make(chan struct{})
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for {
			if _, err := os.Stat(rootOf(b.point)); err == nil {
				close(answers)
				return
			}
			select {
			case <-stop:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()
	select {
	case <-answers:
		return nil
	case <-b.ended:
		return b.failure()
	case <-late.C:
		b.host.Unmount()
		return fmt.Errorf("the drive does not answer within %v", cgoStartTime)
	}
}

// failure says why a library ended that should have mounted.
func (b *cgofuse) failure() error {
	if b.fault != nil {
		return fmt.Errorf("%w: %v", ErrNoFUSE, b.fault)
	}
	return fmt.Errorf("%w: it says why on standard error only", ErrPoint)
}

func (b *cgofuse) changed(c Change) {
	if b.tell != nil {
		b.tell(c)
	}
}

func (b *cgofuse) done() <-chan struct{} { return b.ended }

// flush makes the system write back what it holds. It may take as long as that takes; ctx ends the wait, not the work.
func (b *cgofuse) flush(ctx context.Context) error {
	result := make(chan error, 1)
	go func() { result <- flushSystem(b.point) }()
	select {
	case err := <-result:
		return err
	case <-b.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (b *cgofuse) detach(_ context.Context, lazily bool) error {
	select {
	case <-b.ended:
		return nil
	default:
	}
	return b.unmount(lazily)
}

// cgoOptionText makes a text safe within a list of mount options.
func cgoOptionText(text, otherwise string) string {
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7F || r == ',' || r == '\\' || r == '"' || r == '=' {
			return '_'
		}
		return r
	}, strings.ToValidUTF8(text, "_"))
	if clean = strings.TrimSpace(clean); clean == "" {
		return otherwise
	}
	return clean
}

// optionArgs is -o with a list.
func optionArgs(options ...string) []string { return []string{"-o", strings.Join(options, ",")} }
