//go:build linux && cgofuse && fuse3

package vfs

// libfusePackage is Debian's name of the library.
const libfusePackage = "libfuse3-3"

// libfuseOptions are those of libfuse 3 only: the size of requests is 1 MiB by itself.
func libfuseOptions() []string { return nil }
