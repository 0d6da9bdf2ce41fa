//go:build linux && cgofuse && fuse3

package vfs

// libfusePackage is Debian's name of the library.
const libfusePackage = "libfuse3-3"

// requestBytes is the size of the largest request.
const requestBytes = 1 << 20

// libfuseOptions are those of libfuse 3 only: none, because it takes the largest requests by itself.
func libfuseOptions() []string { return nil }
