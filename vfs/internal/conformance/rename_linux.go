package conformance

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

func renameNoReplace(t *testing.T, dir string) {
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	write(t, a, "A")
	write(t, b, "B")
	at := func(from, to string, flags uint) error {
		return unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, flags)
	}
	// A library that cannot pass the flags on answers EINVAL; never may a file be lost.
	wantErr(t, "RENAME_NOREPLACE onto a file", at(a, b, unix.RENAME_NOREPLACE), syscall.EEXIST, syscall.EINVAL)
	wantErr(t, "RENAME_EXCHANGE", at(a, b, unix.RENAME_EXCHANGE), syscall.EINVAL)
	wantErr(t, "RENAME_WHITEOUT", at(a, b, unix.RENAME_WHITEOUT), syscall.EINVAL, syscall.EPERM)
	wantFile(t, a, "A")
	wantFile(t, b, "B")
	if err := at(a, filepath.Join(dir, "c"), unix.RENAME_NOREPLACE); err != nil {
		wantErr(t, "RENAME_NOREPLACE to a free name", err, syscall.EINVAL)
		must(t, os.Rename(a, filepath.Join(dir, "c")))
	}
	wantNames(t, dir, "b", "c")
}
