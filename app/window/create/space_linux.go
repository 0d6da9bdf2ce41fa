package create

import "golang.org/x/sys/unix"

func onFAT(fs *unix.Statfs_t) bool { return int64(fs.Type) == unix.MSDOS_SUPER_MAGIC }
