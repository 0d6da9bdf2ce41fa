package fat32

import (
	"errors"
	"io/fs"
)

// fsError is a sentinel that also answers errors.Is for its io/fs counterpart,
// so callers can test either.
type fsError struct {
	text string
	kind error // io/fs counterpart, nil if there is none
}

func (e *fsError) Error() string        { return e.text }
func (e *fsError) Is(target error) bool { return e.kind != nil && target == e.kind }

// Errors of the package. They are compared with errors.Is; what is returned
// says in addition on which path or cluster and why.
var (
	ErrNotExist    error = &fsError{"does not exist", fs.ErrNotExist}
	ErrExist       error = &fsError{"exists already", fs.ErrExist}
	ErrPermission  error = &fsError{"not permitted", fs.ErrPermission}
	ErrClosed      error = &fsError{"closed already", fs.ErrClosed}
	ErrInvalid     error = &fsError{"invalid argument", fs.ErrInvalid}
	ErrNotDir            = errors.New("not a directory")
	ErrIsDir             = errors.New("is a directory")
	ErrNotEmpty          = errors.New("directory is not empty")
	ErrNoSpace           = errors.New("no space left in the volume")
	ErrTooBig            = errors.New("larger than 4 GiB - 1, the most a FAT file can hold")
	ErrName              = errors.New("name is not allowed on FAT")
	ErrNameTooLong       = errors.New("name is longer than 255 UTF-16 units")
	ErrDirFull           = errors.New("directory is full (65,536 slots of 32 bytes)")
	ErrReadOnly          = errors.New("volume is read-only")
	ErrCorrupt           = errors.New("file system is damaged")
	ErrNotFAT            = errors.New("no FAT volume found")
	ErrBusy              = errors.New("in use")
	// ErrTooLarge is what Transactional.Reserve answers when an operation does
	// not fit one transaction and has to be split.
	ErrTooLarge = errors.New("operation does not fit one transaction")
)

// tooLarge recognises ErrTooLarge and, for devices that cannot import this
// package, any error with a method TooLarge() bool that returns true.
func tooLarge(err error) bool {
	if errors.Is(err, ErrTooLarge) {
		return true
	}
	var t interface{ TooLarge() bool }
	return errors.As(err, &t) && t.TooLarge()
}
