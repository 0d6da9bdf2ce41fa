//go:build !windows

package fat32

import (
	"errors"
	"syscall"
)

// hostFull reports whether err says that the device cannot grow any more: its disk is full, or its file may not
// become larger (a limit of the process, or of that file system). Nothing is broken then.
func hostFull(err error) bool {
	return errors.Is(err, ErrNoSpace) || errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}
