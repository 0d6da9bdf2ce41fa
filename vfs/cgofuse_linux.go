//go:build cgofuse

package vfs

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/winfsp/cgofuse/fuse"
	"golang.org/x/sys/unix"
)

// systemRules are the habits of libfuse.
var systemRules = cgoRules{hides: true}

// Probe tells whether drives can be mounted; if not, the error is an ErrNoFUSE and says what to install.
func Probe() (err error) {
	if err := probeFUSE(); err != nil {
		return err
	}
	defer func() {
		if recover() != nil { // what cgofuse does without its library
			err = fmt.Errorf("%w: the FUSE library is missing: install the package %s", ErrNoFUSE, libfusePackage)
		}
	}()
	_, err = fuse.OptParse(nil, "")
	return err
}

// cgoArgs are the options of a mount. The library cannot be told of changes that do not come through the mount, so that
// the kernel may keep neither names nor attributes.
func cgoArgs(o Options) []string {
	list := append(libfuseOptions(), "default_permissions", "nosuid", "nodev", "subtype=coffer",
		"fsname="+cgoOptionText(o.Name, "coffer"), "attr_timeout=0", "entry_timeout=0", "negative_timeout=0")
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

// flushSystem makes the kernel write back dirty pages.
func flushSystem(point string) error {
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

func (b *cgofuse) unmount(lazily bool) error {
	err := unmountPoint(b.point, lazily)
	if errors.Is(err, syscall.EINVAL) {
		return nil // nothing is mounted there: somebody was faster
	}
	return err
}
