package image

import (
	"errors"
	"fmt"
	"syscall"
)

// noSpaceError is the type of ErrNoSpace. It equals ENOSPC for errors.Is on
// every system, also where the system's own error is a quota or a Windows code.
type noSpaceError struct{}

func (noSpaceError) Error() string { return "no space left on the host" }

func (noSpaceError) Is(target error) bool { return target == error(syscall.ENOSPC) }

// InUseError is an ErrInUse that names the holder.
type InUseError struct {
	PID     int    // 0 if unknown
	Program string // name of the program or device, "" if unknown
}

func (e *InUseError) Error() string {
	switch {
	case e.PID != 0 && e.Program != "":
		return fmt.Sprintf("in use by %s (process %d)", e.Program, e.PID)
	case e.PID != 0:
		return fmt.Sprintf("in use by process %d", e.PID)
	case e.Program != "":
		return "in use by " + e.Program
	}
	return ErrInUse.Error()
}

// Is makes errors.Is(err, ErrInUse) true.
func (e *InUseError) Is(target error) bool { return target == ErrInUse }

// Classify adds ErrNoSpace or ErrFileTooLarge to errors of the host that mean
// it, so that callers recognise them on every system.
func Classify(err error) error {
	switch {
	case err == nil, errors.Is(err, ErrNoSpace), errors.Is(err, ErrFileTooLarge):
		return err
	case isNoSpace(err):
		return fmt.Errorf("%w: %w", ErrNoSpace, err)
	case isTooLarge(err):
		return fmt.Errorf("%w: %w", ErrFileTooLarge, err)
	}
	return err
}
