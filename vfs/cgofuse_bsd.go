//go:build (darwin || freebsd) && cgo

package vfs

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/winfsp/cgofuse/fuse"
	"golang.org/x/sys/unix"

	"coffer/fat32"
)

// systemRules are the habits of libfuse. Of the flags of a file only "hidden" means the same: others of these numbers mean
// something else to macOS.
var systemRules = cgoRules{hides: true, flags: fat32.AttrHidden}

// Probe tells whether drives can be mounted; if not, the error is an ErrNoFUSE and says what to install.
func Probe() (err error) {
	defer func() {
		if recover() != nil { // what cgofuse does without its library
			what := "install the package fusefs-libs and load the module fusefs"
			if runtime.GOOS == "darwin" {
				what = "install macFUSE (macfuse.io) or FUSE-T (fuse-t.org)"
			}
			err = fmt.Errorf("%w: the FUSE library is missing: %s", ErrNoFUSE, what)
		}
	}()
	_, err = fuse.OptParse(nil, "")
	return err
}

// cgoArgs are the options of a mount. The library cannot be told of changes that do not come through the mount, so that
// the kernel may keep neither names nor attributes.
func cgoArgs(o Options) []string {
	name := cgoOptionText(o.Name, "coffer")
	list := []string{"default_permissions", "nosuid", "nodev", "use_ino", "fsname=" + name, "attr_timeout=0",
		"entry_timeout=0", "negative_timeout=0"}
	if runtime.GOOS == "darwin" {
		list = append(list, "volname="+name, "iosize=1048576")
	}
	if o.ReadOnly {
		list = append(list, "ro")
	}
	if o.AllowOther {
		list = append(list, "allow_other")
	}
	return optionArgs(list...)
}

// cgoVolumeArgs has nothing to add.
func cgoVolumeArgs(*FS) []string { return nil }

// rootOf is what to look at to see whether a drive answers.
func rootOf(point string) string { return point }

// foreignChange remembers that the kernel's pages may be out of date.
func (c *cgoFS) foreignChange(*fuse.FileSystemHost, Change) { c.foreign.Store(true) }

// flushSystem makes the kernel write back dirty pages, of all file systems: there is no call for one.
func flushSystem(string) error {
	if err := unix.Sync(); err != nil {
		return fmt.Errorf("sync: %w", err)
	}
	return nil
}

func (b *cgofuse) unmount(lazily bool) error {
	flags := 0
	if lazily {
		flags = unix.MNT_FORCE
	}
	err := unix.Unmount(b.point, flags)
	switch {
	case err == nil, errors.Is(err, unix.EINVAL):
		return nil // or nothing is mounted there: somebody was faster
	case errors.Is(err, unix.EBUSY):
		return fmt.Errorf("%w: %w", ErrBusy, err)
	}
	return err
}
