package lab

import (
	"io/fs"
	"path/filepath"
	"testing"
)

// allocated is what the files of a folder have.
func allocated(t *testing.T, dir string) (sum int64) {
	t.Helper()
	filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		if info, err := entry.Info(); err == nil && !info.IsDir() {
			sum += info.Size()
		}
		return nil
	})
	return sum
}
