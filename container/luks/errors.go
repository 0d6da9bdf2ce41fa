package luks

import "errors"

// Errors of this package, wrapped with what was found where.
var (
	// ErrNotLUKS2: neither copy of a header was found.
	ErrNotLUKS2 = errors.New("not a LUKS2 container")
	// ErrDamaged: a header is there, but contradicts itself or its checksum.
	ErrDamaged = errors.New("damaged LUKS2 header")
	// ErrUnsupported: valid, but needs a feature that this version does not support.
	ErrUnsupported = errors.New("not supported")
	// ErrWrongKey: no keyslot opens with this password or key.
	ErrWrongKey = errors.New("no keyslot opens with this password or key")
	// ErrNoSlot: there is no such keyslot.
	ErrNoSlot = errors.New("no such keyslot")
	// ErrLastSlot: removing the last keyslot makes the data unreachable.
	ErrLastSlot = errors.New("this is the last keyslot")
	// ErrNoFreeSlot: no free keyslot number or area.
	ErrNoFreeSlot = errors.New("no free keyslot")
	// ErrHeaderFull: the JSON area is too small for the change.
	ErrHeaderFull = errors.New("header area is full")
	// ErrMismatch: a header backup belongs to another container.
	ErrMismatch = errors.New("header backup does not belong to this container")
	// ErrTooSmall: the device is smaller than the container needs.
	ErrTooSmall = errors.New("too small for a LUKS2 container")
	// ErrForeignStart: the first header copy was overwritten by what looks
	// like something else's first sector, which repair must not destroy.
	ErrForeignStart = errors.New("the first header copy was overwritten by other data")

	// errNoMagic: nothing that claims to be a header.
	errNoMagic = errors.New("no LUKS2 header")
)
