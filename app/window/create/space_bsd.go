//go:build darwin || freebsd

package create

import (
	"strings"

	"golang.org/x/sys/unix"
)

func onFAT(fs *unix.Statfs_t) bool {
	return strings.HasPrefix(unix.ByteSliceToString(fs.Fstypename[:]), "msdos")
}
