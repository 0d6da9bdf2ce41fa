//go:build linux && !cgofuse

package vfs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// requestBytes is the size of the largest request: what the kernel allows without being configured.
const requestBytes = 1 << 20

// gofuse is a mount served through go-fuse.
type gofuse struct {
	server *fuse.Server
	raw    fuse.RawFileSystem
	point  string
	ended  chan struct{}
	notify func(*fuse.Server, Change) // nil if nothing changes behind the kernel's back
}

// Probe tells whether drives can be mounted; if not, the error is an ErrNoFUSE and says what to install.
func Probe() error { return probeFUSE() }

// bindFS mounts a file system.
func bindFS(fs *FS, point string, o Options) (binding, error) {
	raw := newFuseFS(fs)
	b, err := serveFUSE(raw, point, o, fs.Panicked)
	if err != nil {
		return nil, err
	}
	b.notify = raw.notify
	return b, nil
}

// serveFUSE mounts raw at point and returns when it answers. panicked turns a panic in a callback into its error.
func serveFUSE(raw fuse.RawFileSystem, point string, o Options, panicked func(any) error) (*gofuse, error) {
	server, byHelper, err := newServer(raw, point, fuseOptions(o, panicked), o.ReadOnly)
	if err != nil {
		return nil, err
	}
	b := &gofuse{server: server, raw: raw, point: point, ended: make(chan struct{})}
	go func() {
		server.Serve()
		close(b.ended)
	}()
	err = server.WaitMount()
	if err == nil && byHelper {
		err = awaitAnswer(point)
	}
	if err != nil {
		_ = unmountPoint(point, true)
		return nil, fmt.Errorf("the kernel does not answer: %w", err)
	}
	widenReadAhead(point)
	return b, nil
}

// readAheadKiB is how far the kernel reads ahead of a sequential reader where it lets itself be told. Measured (400 MiB
// cold, image in memory): 1850 MB/s with the 128 KiB that it grants a FUSE mount by itself, 3000 with 1024.
const readAheadKiB = "512"

// widenReadAhead asks for more read-ahead than a FUSE mount gets. Only root may; for others it stays as it is.
func widenReadAhead(point string) {
	var st unix.Stat_t
	if os.Geteuid() != 0 || unix.Stat(point, &st) != nil {
		return
	}
	path := fmt.Sprintf("/sys/class/bdi/%d:%d/read_ahead_kb", unix.Major(st.Dev), unix.Minor(st.Dev))
	if f, err := os.OpenFile(path, os.O_WRONLY, 0); err == nil {
		_, _ = f.WriteString(readAheadKiB)
		_ = f.Close()
	}
}

func fuseOptions(o Options, panicked func(any) error) fuse.MountOptions {
	name := o.Name
	if name == "" {
		name = "coffer"
	}
	return fuse.MountOptions{
		AllowOther: o.AllowOther,
		FsName:     strings.ToValidUTF8(name, "_"),
		Name:       "coffer",
		MaxWrite:   requestBytes,
		// The kernel has no more than this many requests for read-ahead and write-back under way at once.
		MaxBackground: 12,
		DisableXAttrs: true,
		// Splicing copies nothing less where data has to be decrypted, and costs a pipe per request.
		DisableSplice: true,
		// We are the only writer and tell the kernel what changes otherwise.
		ExplicitDataCacheControl: true,
		ExtraCapabilities:        fuse.CAP_ATOMIC_O_TRUNC,
		Logger:                   log.New(io.Discard, "", 0),
		PanicHandler:             func(value any) fuse.Status { return status(panicked(value)) },
	}
}

// newServer mounts by the system call where that is allowed, else through fusermount3 (byHelper).
func newServer(raw fuse.RawFileSystem, point string, o fuse.MountOptions, readOnly bool) (server *fuse.Server, byHelper bool, err error) {
	if os.Geteuid() == 0 {
		direct := o
		direct.DirectMountStrict = true
		direct.DirectMountFlags = syscall.MS_NOSUID | syscall.MS_NODEV
		if readOnly {
			direct.DirectMountFlags |= syscall.MS_RDONLY
		}
		if server, err := fuse.NewServer(raw, point, &direct); err == nil {
			return server, false, nil
		}
	}
	helper, err := fusermount()
	if err != nil {
		return nil, true, err
	}
	o.Options = append(o.Options, "nosuid", "nodev")
	if readOnly {
		o.Options = append(o.Options, "ro")
	}
	device, err := mountByHelper(helper, point, &o)
	if err != nil {
		return nil, true, err
	}
	if server, err = fuse.NewServer(raw, fmt.Sprintf("/dev/fd/%d", device), &o); err != nil {
		_ = unix.Close(device)
		_ = unmountPoint(point, true)
		return nil, true, fmt.Errorf("speak with the kernel: %w", err)
	}
	return server, true, nil
}

// flush makes the kernel write back dirty pages of mapped files. It may take as long as that takes; ctx ends the wait,
// not the work.
func (b *gofuse) flush(ctx context.Context) error {
	result := make(chan error, 1)
	go func() { result <- syncMount(b.point) }()
	select {
	case err := <-result:
		return err
	case <-b.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// syncMount calls syncfs on the mount at point.
func syncMount(point string) error {
	fd, err := unix.Open(point, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open the mount: %w", err)
	}
	defer unix.Close(fd)
	if err := unix.Syncfs(fd); err != nil {
		return fmt.Errorf("syncfs: %w", err)
	}
	return nil
}

func (b *gofuse) changed(c Change) {
	if b.notify != nil {
		b.notify(b.server, c)
	}
}

func (b *gofuse) detach(ctx context.Context, lazily bool) error {
	select {
	case <-b.ended:
		return nil
	default:
	}
	err := unmountPoint(b.point, lazily)
	if errors.Is(err, syscall.EINVAL) {
		return nil // nothing is mounted there: somebody was faster
	}
	return err
}

func (b *gofuse) done() <-chan struct{} { return b.ended }

// status is the error number of err.
func status(err error) fuse.Status {
	return fuseStatus[errnoOf(err)]
}

// fuseStatus has the error numbers of Linux.
var fuseStatus = [...]fuse.Status{
	errnoOK:          fuse.OK,
	errnoNotExist:    fuse.ENOENT,
	errnoExist:       fuse.Status(syscall.EEXIST),
	errnoAccess:      fuse.EACCES,
	errnoPermission:  fuse.EPERM,
	errnoNotDir:      fuse.ENOTDIR,
	errnoIsDir:       fuse.EISDIR,
	errnoNotEmpty:    fuse.Status(syscall.ENOTEMPTY),
	errnoNoSpace:     fuse.Status(syscall.ENOSPC),
	errnoTooBig:      fuse.Status(syscall.EFBIG),
	errnoInvalid:     fuse.EINVAL,
	errnoNameTooLong: fuse.Status(syscall.ENAMETOOLONG),
	errnoReadOnly:    fuse.EROFS,
	errnoBusy:        fuse.EBUSY,
	errnoBadHandle:   fuse.EBADF,
	errnoCross:       fuse.Status(syscall.EXDEV),
	errnoIO:          fuse.EIO,
}
