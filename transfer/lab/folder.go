package lab

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"coffer/container/image"
)

const (
	folderPrefix = "coffer-lab-"
	// aliveName is a file in the folder of an experiment, locked as long as its process lives.
	aliveName = "alive"
)

// tempFolder makes the folder that an experiment works in. remove takes it away, whatever has become of ctx. What experiments
// that were killed have left beside it is removed first.
func tempFolder(dir string, needBytes int64) (folder string, remove func() error, err error) {
	removeDead(dir)
	free, err := freeBytes(dir)
	if err != nil {
		return "", nil, err
	}
	if free-spareBytes < needBytes {
		return "", nil, &SpaceError{Dir: dir, NeedBytes: needBytes + spareBytes, FreeBytes: free}
	}
	if folder, err = os.MkdirTemp(dir, folderPrefix+"*"); err != nil {
		return "", nil, err
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return "", nil, err
	}
	alive, err := image.Create(filepath.Join(folder, aliveName), 1, image.Options{})
	if err != nil { // a file system without locks: nobody will take the folder for that of a dead experiment
		alive = nil
	}
	return folder, func() error {
		if alive != nil {
			_ = alive.Close() // nothing was written to it
		}
		if err := os.RemoveAll(folder); err != nil {
			return fmt.Errorf("the temporary folder could not be removed: %w", err)
		}
		return nil
	}, nil
}

// removeDead removes the folders of experiments whose process has ended without doing so. One with a drive in it that is still
// mounted is left alone: its process locks it after a while without use.
func removeDead(dir string) {
	left, err := filepath.Glob(filepath.Join(dir, folderPrefix+"*"))
	if err != nil {
		return
	}
	for _, folder := range left {
		alive, err := image.Open(filepath.Join(folder, aliveName), false)
		if err != nil {
			continue // its process lives, or it is not ours to judge
		}
		_ = alive.Close()
		if oneDevice(folder) {
			_ = os.RemoveAll(folder) // the next experiment tries again
		}
	}
}

// oneDevice says whether nothing is mounted in folder.
func oneDevice(folder string) bool {
	top, err := os.Lstat(folder)
	if err != nil {
		return false
	}
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if device(info) != device(top) {
			return fs.ErrExist
		}
		return nil
	})
	return err == nil
}
