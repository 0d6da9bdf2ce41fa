//go:build windows || ((darwin || freebsd) && cgo) || (linux && cgofuse)

package vfs

import "github.com/winfsp/cgofuse/fuse"

// cgoErrno is what a callback of cgofuse returns for err: 0 or a negative error number.
func cgoErrno(err error) int { return -cgoErrnos[errnoOf(err)] }

// cgoErrnos has the error numbers of cgofuse, which are those of the system, on Windows those of WinFsp.
var cgoErrnos = [...]int{
	errnoOK:          0,
	errnoNotExist:    fuse.ENOENT,
	errnoExist:       fuse.EEXIST,
	errnoAccess:      fuse.EACCES,
	errnoPermission:  fuse.EPERM,
	errnoNotDir:      fuse.ENOTDIR,
	errnoIsDir:       fuse.EISDIR,
	errnoNotEmpty:    fuse.ENOTEMPTY,
	errnoNoSpace:     fuse.ENOSPC,
	errnoTooBig:      fuse.EFBIG,
	errnoInvalid:     fuse.EINVAL,
	errnoNameTooLong: fuse.ENAMETOOLONG,
	errnoReadOnly:    fuse.EROFS,
	errnoBusy:        fuse.EBUSY,
	errnoBadHandle:   fuse.EBADF,
	errnoCross:       fuse.EXDEV,
	errnoIO:          fuse.EIO,
}
