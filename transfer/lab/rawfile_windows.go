package lab

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

const runtimeWindows = true

// alone is for systems on which a process of several threads pays for it at every call.
func alone(work func() (int64, error)) (int64, error) { return work() }

// putSingly writes one byte times times, each by a call of the system. It returns how many were written.
func putSingly(f *os.File, one *[1]byte, times int64) (n int64, err error) {
	for ; n < times; n++ {
		if _, err := f.Write(one[:]); err != nil {
			return n, err
		}
	}
	return n, nil
}

// getSingly reads single bytes, times of them or to the end of the file, which is no error.
func getSingly(f *os.File, one *[1]byte, times int64) (n int64, err error) {
	for ; n < times; n++ {
		if _, err := f.Read(one[:]); errors.Is(err, io.EOF) {
			return n, nil
		} else if err != nil {
			return n, err
		}
	}
	return n, nil
}

// openFolder is a folder whose files are used one by one.
type openFolder struct{ path string }

func openDir(path string) (openFolder, error) { return openFolder{path}, nil }
func (d openFolder) close() error             { return nil }

// create makes an empty file that must not exist.
func (d openFolder) create(name string) error {
	f, err := os.OpenFile(filepath.Join(d.path, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}

func (d openFolder) stat(name string) error {
	_, err := os.Lstat(filepath.Join(d.path, name))
	return err
}

func (d openFolder) remove(name string) error { return os.Remove(filepath.Join(d.path, name)) }

// device is always the same: drives of experiments are letters, not folders.
func device(os.FileInfo) uint64 { return 0 }
