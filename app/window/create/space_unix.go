//go:build !windows

package create

import (
	"golang.org/x/sys/unix"
)

// writable says whether this user may make files in a folder.
func writable(folder string) bool { return unix.Access(folder, unix.W_OK|unix.X_OK) == nil }

// space is how many bytes this user can still write to the disk of a folder, negative when not known, and how large a file may
// be there, 0 without a limit of interest.
func space(folder string) (free, largest int64) {
	var fs unix.Statfs_t
	if err := unix.Statfs(folder, &fs); err != nil {
		return -1, 0
	}
	if onFAT(&fs) {
		largest = 1<<32 - 1
	}
	return int64(fs.Bavail) * int64(fs.Bsize), largest
}
