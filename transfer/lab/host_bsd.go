//go:build darwin || freebsd

package lab

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// syncHost makes everything durable, as far as sync(2) promises it here.
func syncHost(string) error {
	unix.Sync()
	return nil
}

func dropAll() error          { return errors.ErrUnsupported }
func dropFile(*os.File) error { return errors.ErrUnsupported }
func dropTree(string) error   { return errors.ErrUnsupported }

// freeBytes is what an ordinary user can still write to the file system of dir.
func freeBytes(dir string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(dir, &st); err != nil {
		return 0, fmt.Errorf("free space of %s: %w", dir, err)
	}
	return int64(st.Bavail) * int64(st.Bsize), nil
}

func cpFlags() []string { return []string{"-R"} }
