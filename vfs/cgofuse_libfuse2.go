//go:build linux && cgofuse && !fuse3

package vfs

// libfusePackage is Debian's name of the library.
const libfusePackage = "libfuse2"

// libfuseOptions are those of libfuse 2 only: its requests have at most 128 KiB, and 4 KiB unless told otherwise.
func libfuseOptions() []string {
	return []string{"big_writes", "max_write=131072", "max_readahead=131072", "use_ino"}
}
