package vfs

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/winfsp/cgofuse/fuse"
	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"

	"coffer/fat32"
)

// systemRules are the habits of WinFsp.
var systemRules = cgoRules{stalePaths: true, flags: allFlags}

// installWinFsp is what to do about ErrNoFUSE.
const installWinFsp = "install WinFsp (winfsp.dev)"

// Probe tells whether drives can be mounted; if not, the error is an ErrNoFUSE and says what to install. cgofuse must not
// look for WinFsp by itself: it panics if there is none or an old one.
func Probe() error {
	// Libraries come from the system's folders and where WinFsp is installed, never from the current folder.
	if err := windows.SetDefaultDllDirectories(windows.LOAD_LIBRARY_SEARCH_DEFAULT_DIRS); err != nil {
		return fmt.Errorf("%w: restrict where libraries come from: %w", ErrNoFUSE, err)
	}
	path, err := winfspPath()
	if err != nil {
		return err
	}
	dll, err := windows.LoadDLL(path)
	if err != nil {
		return fmt.Errorf("%w: WinFsp is damaged: %s again: %w", ErrNoFUSE, installWinFsp, err)
	}
	// It stays loaded: cgofuse gets the same.
	for _, name := range []string{"fuse_main_real", "fuse_exit", "fuse_get_context", "fuse_opt_parse", "fuse_opt_free_args"} {
		if _, err := dll.FindProc(name); err != nil {
			return fmt.Errorf("%w: WinFsp is too old: %s: %w", ErrNoFUSE, installWinFsp, err)
		}
	}
	return nil
}

// winfspPath finds WinFsp's library where its installer says it is.
func winfspPath() (string, error) {
	name := map[string]string{"amd64": "winfsp-x64.dll", "arm64": "winfsp-a64.dll", "386": "winfsp-x86.dll"}[runtime.GOARCH]
	key, err := registry.OpenKey(registry.LOCAL_MACHINE, `Software\WinFsp`, registry.QUERY_VALUE|registry.WOW64_32KEY)
	if err != nil {
		return "", fmt.Errorf("%w: WinFsp is missing: %s", ErrNoFUSE, installWinFsp)
	}
	defer key.Close()
	folder, _, err := key.GetStringValue("InstallDir")
	if err != nil {
		return "", fmt.Errorf("%w: WinFsp is not installed completely: %s again", ErrNoFUSE, installWinFsp)
	}
	path := filepath.Join(folder, "bin", name)
	if _, err := os.Stat(path); err != nil || name == "" {
		return "", fmt.Errorf("%w: WinFsp has no library for this processor (%s): %s again", ErrNoFUSE, runtime.GOARCH, installWinFsp)
	}
	return path, nil
}

// cgoArgs are the options of a mount. The owner of every file is the user who mounts; the access list of every file lets in
// nobody else, or everybody.
func cgoArgs(o Options) []string {
	security := "D:P(A;;FA;;;WD)"
	if !o.AllowOther {
		security = "D:P(A;;FA;;;" + userSID() + ")"
	}
	return append(optionArgs("uid=-1", "gid=-1", "FileInfoTimeout=1000"), "--FileSecurity="+security)
}

// userSID names the user of this process in access lists; OW, the owner, where the system does not tell.
func userSID() string {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return "OW"
	}
	return user.User.Sid.String()
}

// cgoVolumeArgs describe the volume as Windows shows it.
func cgoVolumeArgs(fs *FS) []string {
	geometry := fs.volume.Geometry()
	kind := "FAT"
	if geometry.Type == fat32.FAT32 {
		kind = "FAT32"
	}
	label := fs.volume.Label()
	if label == "" {
		label = fs.options.Name
	}
	return optionArgs("ExactFileSystemName="+kind, "volname="+cgoOptionText(label, "coffer"),
		fmt.Sprintf("SectorSize=%d", geometry.SectorSize),
		fmt.Sprintf("SectorsPerAllocationUnit=%d", geometry.ClusterSize/geometry.SectorSize),
		fmt.Sprintf("VolumeSerialNumber=%x", fs.volume.SerialNumber()))
}

// rootOf is what to look at to see whether a drive answers.
func rootOf(point string) string { return strings.TrimRight(point, `\`) + `\` }

// foreignChange tells Windows of a change, which empties its caches and wakes programs that watch folders.
func (c *cgoFS) foreignChange(host *fuse.FileSystemHost, change Change) {
	c.foreign.Store(true)
	path := "/" + strings.Trim(change.Path, "/")
	switch change.Kind {
	case Removed: // of what kind it was nobody knows any more
		host.Notify(path, fuse.NOTIFY_UNLINK)
		host.Notify(path, fuse.NOTIFY_RMDIR)
		return
	case Created:
		action := uint32(fuse.NOTIFY_CREATE)
		if n, err := c.fs.Find(path); err == nil {
			if n.IsDir() {
				action = fuse.NOTIFY_MKDIR
			}
			n.Release()
		}
		host.Notify(path, action)
	}
	host.Notify(path, fuse.NOTIFY_TRUNCATE|fuse.NOTIFY_UTIME|fuse.NOTIFY_CHFLAGS)
}

// flushSystem has nothing to do: WinFsp keeps no written data, and mapped files are written when they are flushed or closed.
func flushSystem(string) error { return nil }

// unmount ends the mount. WinFsp takes a drive away whoever uses it, so that the question has to be asked here.
func (b *cgofuse) unmount(lazily bool) error {
	if !lazily && b.busy != nil && b.busy() {
		return ErrBusy
	}
	if !b.host.Unmount() {
		return fmt.Errorf("WinFsp has not begun or has ended already")
	}
	return nil
}
