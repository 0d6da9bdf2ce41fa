package vfs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// isLetter reports whether point is a drive letter such as "X:" or "X:\".
func isLetter(point string) bool {
	point = strings.TrimRight(point, `\/`)
	return len(point) == 2 && point[1] == ':' && (point[0]|0x20) >= 'a' && (point[0]|0x20) <= 'z'
}

// lettersInUse returns the drives there are, one bit each from A on.
func lettersInUse() (uint32, error) { return windows.GetLogicalDrives() }

// CheckPoint says whether a drive can be mounted at point, as far as that can be known beforehand; image is as in Options. It
// changes nothing. The error is an ErrPoint.
func CheckPoint(point, image string) error {
	_, _, err := preparePoint(point, image)
	return err
}

// preparePoint checks that a drive can be mounted at point: a letter nobody has, or a folder
// that does not exist yet in one that does, as WinFsp wants it.
func preparePoint(point, image string) (at string, made bool, err error) {
	if isLetter(point) {
		letter := strings.ToUpper(point[:1])
		used, err := lettersInUse()
		if err != nil {
			return "", false, fmt.Errorf("%w: %w", ErrPoint, err)
		}
		if used>>(letter[0]-'A')&1 == 1 {
			return "", false, fmt.Errorf("%w: the drive letter is in use", ErrPoint)
		}
		return letter + ":", false, nil
	}
	if point == "" || strings.ContainsRune(point, 0) {
		return "", false, fmt.Errorf("%w: not a path", ErrPoint)
	}
	if at, err = filepath.Abs(point); err != nil {
		return "", false, fmt.Errorf("%w: %w", ErrPoint, err)
	}
	switch _, err := os.Lstat(at); {
	case err == nil:
		return "", false, fmt.Errorf("%w: the folder must not exist yet", ErrPoint)
	case !errors.Is(err, fs.ErrNotExist):
		return "", false, fmt.Errorf("%w: %w", ErrPoint, err)
	}
	if info, err := os.Stat(filepath.Dir(at)); err != nil || !info.IsDir() {
		return "", false, fmt.Errorf("%w: the folder above does not exist", ErrPoint)
	}
	for _, root := range []string{os.Getenv("SystemRoot"), os.Getenv("ProgramFiles"), os.Getenv("ProgramFiles(x86)")} {
		if root != "" && (strings.EqualFold(at, root) || strings.HasPrefix(strings.ToLower(at), strings.ToLower(root)+`\`)) {
			return "", false, fmt.Errorf("%w: it belongs to the system", ErrPoint)
		}
	}
	return at, false, nil
}

// holdPoint does nothing: there is no folder below a drive.
func holdPoint(string) (seal func()) { return func() {} }

// removePoint does nothing: WinFsp removes the folders it makes.
func removePoint(string) {}

// DefaultPoint returns the first free drive letter from the end of the alphabet on.
func DefaultPoint(_, _ string) (string, error) {
	used, err := lettersInUse()
	if err != nil {
		return "", fmt.Errorf("drive letter: %w", err)
	}
	for letter := byte('Z'); letter >= 'D'; letter-- {
		if used>>(letter-'A')&1 == 0 {
			return string(letter) + ":", nil
		}
	}
	return "", fmt.Errorf("drive letter: all are in use: %w", ErrPoint)
}

// CleanStale does nothing: a drive vanishes with the process that serves it.
func CleanStale(string) error { return nil }
