package vfs

import (
	"errors"
	"time"
)

// Options say how a drive is shown. The zero value is good.
type Options struct {
	// ReadOnly shows the drive read-only; set it for a volume that is.
	ReadOnly bool
	// AllowOther lets other users of this computer in, with all rights. Else only
	// the owner of this process gets in, not even root.
	AllowOther bool
	// Name is shown by the system as the source of the mount or the label of the
	// drive. Other users can see it. Empty: "coffer".
	Name string
	// Image is the host file below the drive, "" if there is none: the mount
	// point must not cover it.
	Image string
	// RemovePoint removes the folder of the mount point after unmounting even if
	// it was there before; one that Mount created is always removed.
	RemovePoint bool
	// Litter keeps files that systems strew about in memory instead of the
	// container.
	Litter bool
	// Room, if not nil, tells how much can be written before the disk below a thin
	// image is full, and how much of that the disk itself has free, both in bytes; bounded
	// is false if there is no such bound. It is called from several goroutines at once.
	Room func() (roomBytes, freeBytes int64, bounded bool)
	// Log, if not nil, is told about events that nobody else hears of. Neither
	// event nor err holds a name from inside. It may be called from several
	// goroutines at once.
	Log func(event string, err error)
	// OnPanic, if not nil, gets a report of a panic in a callback: kind of the
	// panic and stack, without any names or content.
	OnPanic func(report []byte)
}

func (o *Options) log(event string, err error) {
	if o.Log != nil {
		o.Log(event, err)
	}
}

// Errors of mounting. They are compared with errors.Is.
var (
	// ErrNoFUSE: this system cannot mount; the error says what to install.
	ErrNoFUSE = errors.New("drives cannot be mounted on this system")
	// ErrPoint: not a place to mount at.
	ErrPoint = errors.New("not usable as a mount point")
	// ErrBusy: programs use the drive. See BusyError.
	ErrBusy = errors.New("drive is in use")
)

// User is a program that uses a drive.
type User struct {
	PID     int
	Program string // name of the executable, "" if unknown
	Path    string // what it uses: absolute, below the mount point
	Write   bool   // it may write there
	WorksIn bool   // Path is a folder that is its working directory or its root
}

// BusyError says who keeps a drive from being unmounted, as far as that is known.
type BusyError struct{ Users []User }

// Error implements error. It names no files.
func (e *BusyError) Error() string { return ErrBusy.Error() }

// Unwrap lets errors.Is find ErrBusy.
func (e *BusyError) Unwrap() error { return ErrBusy }

// Counters is what went through a mount since it was mounted.
type Counters struct {
	BytesRead    int64
	BytesWritten int64
	Operations   int64 // requests of programs, attributes and names served from the system's caches not included
	// LastUse is when somebody last opened, read, wrote, listed or changed something; looking something up or asking for
	// attributes or free space is not use. With a monotonic reading; the time of mounting if nobody used it yet.
	LastUse     time.Time
	OpenFiles   int
	OpenWriters int // of these, open for writing
}

// ChangeKind is a kind of Change.
type ChangeKind int

// Kinds of changes. A rename is Removed for the old path and Created for the new one.
const (
	Created ChangeKind = iota // an object has come into being or has taken the place of another
	Removed                   // a name is gone
	Written                   // content, size or attributes of an object changed
)

// Change is a change to a volume that did not come through its mount.
type Change struct {
	Path string // from the root of the volume, "/" separated
	Kind ChangeKind
}
