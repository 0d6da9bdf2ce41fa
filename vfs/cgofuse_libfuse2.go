//go:build linux && cgofuse && !fuse3

package vfs

import "fmt"

// libfusePackage is Debian's name of the library.
const libfusePackage = "libfuse2"

// requestBytes is the size of the largest request.
const requestBytes = 128 << 10

// libfuseOptions are those of libfuse 2 only: 4 KiB a request unless told otherwise.
func libfuseOptions() []string {
	return []string{"big_writes", fmt.Sprintf("max_write=%d", requestBytes), fmt.Sprintf("max_readahead=%d", requestBytes), "use_ino"}
}
