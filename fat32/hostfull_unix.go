//go:build !windows

package fat32

import (
	"errors"
	"syscall"
)

// hostFull reports whether err says that the disk below the device is full.
func hostFull(err error) bool {
	return errors.Is(err, ErrNoSpace) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
