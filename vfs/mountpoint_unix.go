//go:build unix

package vfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// systemTrees belong to the system with everything below them; systemDirs only themselves.
var (
	systemTrees = []string{"/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/proc", "/sbin", "/sys", "/usr",
		"/System", "/Library", "/Applications", "/private/etc", "/private/var/db"}
	systemDirs = []string{"/", "/home", "/media", "/mnt", "/opt", "/root", "/run", "/run/user", "/srv", "/tmp", "/var", "/var/tmp",
		"/Users", "/Volumes", "/private", "/private/tmp", "/private/var"}
)

// preparePoint checks that a drive can be mounted at point and makes the folder, for its owner
// only, if there is none. It returns the absolute path without symbolic links.
func preparePoint(point, image string) (at string, made bool, err error) {
	if at, err = resolvePoint(point); err != nil {
		return "", false, err
	}
	if err = checkPlace(at, image); err != nil {
		return "", false, err
	}
	switch err = os.Mkdir(at, 0o700); {
	case err == nil:
		return at, true, nil
	case errors.Is(err, fs.ErrExist):
		return at, false, checkFolder(at)
	default:
		return "", false, fmt.Errorf("%w: %w", ErrPoint, err)
	}
}

// CheckPoint says whether a drive can be mounted at point, as far as that can be known beforehand; image is as in Options. It
// changes nothing. The error is an ErrPoint.
func CheckPoint(point, image string) error {
	at, err := resolvePoint(point)
	if err == nil {
		err = checkPlace(at, image)
	}
	if err != nil {
		return err
	}
	if _, err := os.Lstat(at); !errors.Is(err, fs.ErrNotExist) {
		return checkFolder(at)
	}
	if err := unix.Access(filepath.Dir(at), unix.W_OK|unix.X_OK); err != nil {
		return fmt.Errorf("%w: a folder cannot be made in %s: %w", ErrPoint, filepath.Dir(at), err)
	}
	return nil
}

// resolvePoint makes point absolute and follows symbolic links; the last name need not exist.
func resolvePoint(point string) (string, error) {
	if point == "" || strings.ContainsRune(point, 0) {
		return "", fmt.Errorf("%w: not a path", ErrPoint)
	}
	abs, err := filepath.Abs(point)
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrPoint, err)
	}
	at, err := filepath.EvalSymlinks(abs)
	if errors.Is(err, fs.ErrNotExist) {
		var dir string
		if dir, err = filepath.EvalSymlinks(filepath.Dir(abs)); err == nil {
			at = filepath.Join(dir, filepath.Base(abs))
		}
	}
	if errors.Is(err, syscall.ENOTCONN) {
		return "", fmt.Errorf("%w: a drive whose program has died is still mounted there: %w", ErrPoint, err)
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrPoint, err)
	}
	return at, nil
}

// checkPlace refuses places that must not disappear below a drive.
func checkPlace(at, image string) error {
	for _, tree := range systemTrees {
		if within(tree, at) {
			return fmt.Errorf("%w: %s belongs to the system", ErrPoint, tree)
		}
	}
	home, _ := os.UserHomeDir()
	if slices.Contains(systemDirs, at) || home != "" && within(at, resolved(home)) {
		return fmt.Errorf("%w: it belongs to the system", ErrPoint)
	}
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if filepath.IsAbs(dir) && within(at, resolved(dir)) {
			return fmt.Errorf("%w: programs are searched there (PATH)", ErrPoint)
		}
	}
	if image != "" {
		abs, err := filepath.Abs(image)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrPoint, err)
		}
		if within(at, resolved(abs)) {
			return fmt.Errorf("%w: the image lies in it", ErrPoint)
		}
	}
	return nil
}

// resolved follows symbolic links where it can.
func resolved(path string) string {
	if r, err := filepath.EvalSymlinks(path); err == nil {
		return r
	}
	return filepath.Clean(path)
}

// within reports whether path is dir or lies below it.
func within(dir, path string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

// checkFolder refuses an existing mount point that is no empty folder, or has something mounted on it.
func checkFolder(at string) error {
	var here, above syscall.Stat_t
	if err := syscall.Lstat(at, &here); err != nil {
		if errors.Is(err, syscall.ENOTCONN) {
			return fmt.Errorf("%w: a drive whose program has died is still mounted there: %w", ErrPoint, err)
		}
		return fmt.Errorf("%w: %w", ErrPoint, err)
	}
	if here.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		return fmt.Errorf("%w: not a folder", ErrPoint)
	}
	if err := syscall.Lstat(filepath.Dir(at), &above); err == nil && above.Dev != here.Dev {
		return fmt.Errorf("%w: something is mounted there already", ErrPoint)
	}
	d, err := os.Open(at)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrPoint, err)
	}
	defer d.Close()
	switch _, err := d.Readdirnames(1); {
	case err == nil:
		return fmt.Errorf("%w: the folder is not empty", ErrPoint)
	case !errors.Is(err, io.EOF):
		return fmt.Errorf("%w: %w", ErrPoint, err)
	}
	return nil
}

// holdPoint opens the folder of a mount point. The returned function, called once something is mounted on it, takes the
// right to write from it: a program that goes on writing by path when the drive is gone shall meet an error, not leave
// its files unencrypted in the folder below.
func holdPoint(at string) (seal func()) {
	folder, err := os.Open(at)
	if err != nil {
		return func() {}
	}
	return func() {
		_ = folder.Chmod(0o500)
		_ = folder.Close()
	}
}

// removePoint removes the folder of a mount that is gone. It never removes anything that is not an empty folder.
func removePoint(at string) { _ = syscall.Rmdir(at) }

// maxPoints bounds the search for a free folder.
const maxPoints = 1000

// DefaultPoint returns the next free folder for a drive of that name in the folder runtimeDir: name, or name-2, name-3, ...
// It is made, for its owner only, so that nobody else gets the same: mount there with RemovePoint.
func DefaultPoint(runtimeDir, name string) (string, error) {
	name = pointName(name)
	for i := 1; i <= maxPoints; i++ {
		at := filepath.Join(runtimeDir, name)
		if i > 1 {
			at = fmt.Sprintf("%s-%d", at, i)
		}
		switch err := os.Mkdir(at, 0o700); {
		case err == nil:
			return at, nil
		case !errors.Is(err, fs.ErrExist):
			return "", fmt.Errorf("folder for the drive: %w", err)
		}
	}
	return "", fmt.Errorf("folder for the drive in %s: %d are in use: %w", runtimeDir, maxPoints, ErrPoint)
}
