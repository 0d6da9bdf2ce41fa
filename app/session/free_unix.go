//go:build linux || darwin || freebsd

package session

import "golang.org/x/sys/unix"

// thinSpace tells how much the file system holding the file at path has free for this user, and how much of the file is
// already backed by space, both in bytes.
func thinSpace(path string) (freeBytes, allocatedBytes int64, err error) {
	var fs unix.Statfs_t
	if err := unix.Statfs(path, &fs); err != nil {
		return 0, 0, err
	}
	var file unix.Stat_t
	if err := unix.Stat(path, &file); err != nil {
		return 0, 0, err
	}
	return int64(fs.Bavail) * int64(fs.Bsize), file.Blocks * 512, nil
}
