//go:build unix

package lab

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// allocated is what a folder takes on the disk.
func allocated(t *testing.T, dir string) (sum int64) {
	t.Helper()
	filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return nil // gone meanwhile
		}
		if info, err := os.Lstat(path); err == nil {
			sum += info.Sys().(*syscall.Stat_t).Blocks * 512
		}
		return nil
	})
	return sum
}
