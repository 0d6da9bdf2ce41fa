package vfs

import (
	"errors"

	"coffer/fat32"
)

// errno is a kind of failure as file systems report it. Every binding has the
// numbers of its system for them.
type errno int

const (
	errnoOK errno = iota
	errnoNotExist
	errnoExist
	errnoAccess     // EACCES: the attributes of the object forbid it
	errnoPermission // EPERM: nobody may, FAT cannot do it
	errnoNotDir
	errnoIsDir
	errnoNotEmpty
	errnoNoSpace
	errnoTooBig // EFBIG
	errnoInvalid
	errnoNameTooLong
	errnoReadOnly // EROFS
	errnoBusy
	errnoBadHandle // EBADF
	errnoCross     // EXDEV
	errnoIO
)

// Errors of the core itself.
var (
	errNotOnFAT  = errors.New("FAT cannot do this")
	errReadOnly  = errors.New("file is marked read-only")
	errBadHandle = errors.New("no such handle")
	errPanic     = errors.New("internal error: the volume is read-only now")
)

// errnoTable is the one place where errors become error numbers: the first entry that an
// error is, counts. What is not in it is an I/O error.
var errnoTable = []struct {
	err error
	no  errno
}{
	{fat32.ErrReadOnly, errnoReadOnly}, // before the reason why it has become so
	{errPanic, errnoIO},
	{fat32.ErrCorrupt, errnoIO},
	{fat32.ErrClosed, errnoIO},
	{errReadOnly, errnoAccess},
	{errNotOnFAT, errnoPermission},
	{errBadHandle, errnoBadHandle},
	{errCrossDevice, errnoCross},
	{fat32.ErrNoSpace, errnoNoSpace},
	{fat32.ErrDirFull, errnoNoSpace},
	{fat32.ErrTooBig, errnoTooBig},
	{fat32.ErrNameTooLong, errnoNameTooLong},
	{fat32.ErrName, errnoInvalid},
	{fat32.ErrNotExist, errnoNotExist},
	{fat32.ErrExist, errnoExist},
	{fat32.ErrNotDir, errnoNotDir},
	{fat32.ErrIsDir, errnoIsDir},
	{fat32.ErrNotEmpty, errnoNotEmpty},
	{fat32.ErrBusy, errnoBusy},
	{fat32.ErrInvalid, errnoInvalid},
	{fat32.ErrPermission, errnoPermission},
}

// errnoOf classifies err.
func errnoOf(err error) errno {
	if err == nil {
		return errnoOK
	}
	if err == fat32.ErrNotExist { // by far the most frequent
		return errnoNotExist
	}
	for i := range errnoTable {
		if errors.Is(err, errnoTable[i].err) {
			return errnoTable[i].no
		}
	}
	return errnoIO
}
