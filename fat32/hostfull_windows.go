package fat32

import (
	"errors"
	"syscall"
)

// hostFull reports whether err says that the disk below the device is full.
func hostFull(err error) bool {
	const diskFull, handleDiskFull = syscall.Errno(112), syscall.Errno(39)
	return errors.Is(err, ErrNoSpace) || errors.Is(err, diskFull) || errors.Is(err, handleDiskFull)
}
