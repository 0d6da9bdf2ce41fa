// Package container makes and opens encrypted containers: files that hold a
// block device. What is inside (a FAT volume) is not its business.
//
//	v, err := container.Create(ctx, "photos.img", container.CreateOptions{SizeBytes: 2 << 30}, credential)
//	v, err := container.Open(ctx, "photos.img", container.OpenOptions{}, credential)
//	defer v.Close()
//	v.WriteAt(p, off) // any offset, any length; durable after v.Sync()
//
// Formats are told apart by their headers, except raw, which has none and must
// be named. Inspect tells what can be known without a password; AddKey,
// RemoveKey, ChangeKey, BackupHeader, RestoreHeader and Destroy work on the
// headers.
//
// Guarantees: Create never overwrites and leaves nothing behind when it fails;
// a read-only Open never writes a byte; one writer at a time on a machine;
// parameters of a hostile header are checked before they cost memory or time;
// after a failed sync a Volume does not write any more. XTS formats do not
// notice tampering.
package container

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"coffer/container/block"
	"coffer/container/image"
	"coffer/container/kdf"
	"coffer/container/luks"
)

// Format names a container format as the command line does.
type Format string

// Formats. Those not listed in the table below are known by name only.
const (
	Auto       Format = "auto"
	Native     Format = "native"
	LUKS1      Format = "luks1"
	LUKS2      Format = "luks2"
	VeraCrypt  Format = "veracrypt"
	TrueCrypt  Format = "truecrypt"
	GELI       Format = "geli"
	Plain      Format = "plain"
	Raw        Format = "raw"
	defaultNew        = LUKS2 // what Create makes for "" and Auto
)

// Errors. Every error of this package that a user can do something about
// matches one of them with errors.Is.
var (
	// ErrWrongKey: no keyslot opens with the password or key files.
	ErrWrongKey = luks.ErrWrongKey
	// ErrDamagedHeader: a header is there, but unusable; or the image is cut.
	ErrDamagedHeader = luks.ErrDamaged
	// ErrInUse: another program has the image open (see image.InUseError).
	ErrInUse = image.ErrInUse
	// ErrNoSpace: the host is full; also matches syscall.ENOSPC.
	ErrNoSpace = image.ErrNoSpace
	// ErrUnsupported: a format, cipher or feature that this version does not support.
	ErrUnsupported = luks.ErrUnsupported
	// ErrNotContainer: no format recognises the file.
	ErrNotContainer = errors.New("not a container of a known format")
	// ErrExist: the file to be created exists.
	ErrExist = fs.ErrExist
	// ErrNoCredential: neither password nor key file was given.
	ErrNoCredential = errors.New("no password or key file given")
	// ErrBadCredential: a credential that cannot be used, such as an empty
	// password or an empty or oversized key file.
	ErrBadCredential = errors.New("unusable password or key file")
	// ErrTooSmall: the size asked for cannot hold a container.
	ErrTooSmall = luks.ErrTooSmall
	// ErrInvalid: options that contradict each other or the format.
	ErrInvalid = errors.New("invalid option")
	// ErrChanged: the image was truncated, deleted or replaced while open.
	ErrChanged = image.ErrChanged
	// ErrReadOnly: a write to a volume opened read-only.
	ErrReadOnly = block.ErrReadOnly
	// ErrClosed: use of a Volume after Close.
	ErrClosed = fs.ErrClosed
	// ErrLastSlot: removing the last keyslot needs force.
	ErrLastSlot = luks.ErrLastSlot
	// ErrNoSlot and ErrNoFreeSlot: see the luks package.
	ErrNoSlot     = luks.ErrNoSlot
	ErrNoFreeSlot = luks.ErrNoFreeSlot
	// ErrMismatch: a header backup of another container.
	ErrMismatch = luks.ErrMismatch
	// ErrFileTooLarge: the host does not allow files of that size.
	ErrFileTooLarge = image.ErrFileTooLarge
	// ErrTampered: reserved for formats that authenticate; XTS formats never
	// report it.
	ErrTampered = errors.New("integrity check failed")
)

// CreateOptions describe a new container; zero fields are chosen.
type CreateOptions struct {
	Format Format // "" and Auto: LUKS2

	// Exactly one of these two: the size of the image file, or of the payload
	// inside it, in bytes. The image is rounded to 4096 bytes: down from
	// SizeBytes, up from UsableBytes.
	SizeBytes   int64
	UsableBytes int64

	Cipher            string // "aes-256-xts" (default) or "aes-128-xts"
	SectorSizeBytes   int    // data unit: 512, 1024, 2048, 4096; default see DefaultSectorBytes
	Label             string // readable without a password; at most 47 bytes
	KDF               kdf.Cost
	MetadataSizeBytes int64 // of one LUKS2 header copy: a power of two, 16 KiB..4 MiB
	KeyslotsSizeBytes int64 // of the keyslots region, a multiple of 4096
	Preallocate       bool  // take the space on the host at once

	Deriver  kdf.Deriver                           // nil: kdf.InProcess
	Progress func(stage string, done, total int64) // nil: none
}

// OpenOptions say how to open a container.
type OpenOptions struct {
	Format   Format // "" and Auto: by the header; never Raw
	ReadOnly bool   // nothing is ever written, not even a header repaired
	Deriver  kdf.Deriver
	// Limits bound what an untrusted header may ask of the key derivation;
	// nil is kdf.DefaultLimits.
	Limits *kdf.Limits
	// HeaderPath is a detached header: not supported yet.
	HeaderPath string
	// AllowDiscard lets Discard give space back to the host. It shows an
	// observer of the image which parts are unused.
	AllowDiscard bool
}

func (o *OpenOptions) limits() kdf.Limits {
	if o.Limits != nil {
		return *o.Limits
	}
	return kdf.DefaultLimits()
}

// deriver gives d or the default.
func deriver(d kdf.Deriver) kdf.Deriver {
	if d == nil {
		return kdf.InProcess{}
	}
	return d
}

// handler is what a format must offer; the table of formats is made of them.
type handler struct {
	format Format
	// detect tells whether dev holds this format; nil: it must be named.
	detect func(dev block.Device) bool
	// plan computes the size of the image and what create needs.
	plan func(o CreateOptions) (plan, error)
	// create writes headers for a fresh device and opens it.
	create func(ctx context.Context, dev block.Device, p plan, o CreateOptions, c Credential) (*Volume, error)
	open   func(ctx context.Context, dev block.Device, o OpenOptions, c Credential) (*Volume, error)
	info   func(dev block.Device) (Info, error)
}

// plan is the outcome of the sizing of a new container.
type plan struct {
	imageBytes int64
	luks       luks.FormatOptions
}

// handlers is the table of formats.
func handlers() []handler {
	return []handler{luks2Handler(), rawHandler()}
}

// handlerFor finds a format by name.
func handlerFor(f Format) (handler, error) {
	for _, h := range handlers() {
		if h.format == f {
			return h, nil
		}
	}
	switch f {
	case Native, LUKS1, VeraCrypt, TrueCrypt, GELI, Plain:
		return handler{}, fmt.Errorf("format %q: not yet: %w", f, ErrUnsupported)
	}
	return handler{}, fmt.Errorf("format %q is not known: %w", f, ErrUnsupported)
}

// detect finds the format of dev, or checks nothing if it is named.
func detect(dev block.Device, f Format) (handler, error) {
	if f != "" && f != Auto {
		return handlerFor(f)
	}
	for _, h := range handlers() {
		if h.detect != nil && h.detect(dev) {
			return h, nil
		}
	}
	return handler{}, ErrNotContainer
}

// Create makes a new container at path, opens it and returns it. It refuses to
// touch an existing file (ErrExist), removes the file when anything fails, and
// returns when headers and name are durable. Besides the key derivation it
// takes no noticeable time whatever the size, unless the space is preallocated.
func Create(ctx context.Context, path string, o CreateOptions, c Credential) (*Volume, error) {
	if o.Format == "" || o.Format == Auto {
		o.Format = defaultNew
	}
	h, err := handlerFor(o.Format)
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", path, err)
	}
	p, err := h.plan(o)
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", path, err)
	}
	if _, err := os.Lstat(path); err == nil {
		return nil, fmt.Errorf("create %s: %w", path, ErrExist)
	}
	f, err := image.Create(path, p.imageBytes, image.Options{Preallocate: o.Preallocate, Canceled: ctx.Err, Progress: o.preallocated()})
	if err != nil {
		return nil, err
	}
	v, err := createOn(ctx, f, h, p, o, c)
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", path, errors.Join(err, f.Abandon()))
	}
	return v, nil
}

// preallocated adapts Progress for the image.
func (o *CreateOptions) preallocated() func(done, total int64) {
	if o.Progress == nil {
		return nil
	}
	return func(done, total int64) { o.Progress("preallocate", done, total) }
}

func createOn(ctx context.Context, f *image.File, h handler, p plan, o CreateOptions, c Credential) (*Volume, error) {
	v, err := h.create(ctx, f, p, o, c)
	if err != nil {
		return nil, err
	}
	v.file = f
	err = f.Sync()
	if err == nil {
		err = f.SyncName()
	}
	if err != nil {
		v.release()
		return nil, err
	}
	return v, nil
}

// Open opens the container at path. It returns ErrInUse at once if another
// program has it open for writing (or at all, for a writable open).
//
// A writable open rewrites a damaged header copy from the good one, after the
// credential has proved right.
func Open(ctx context.Context, path string, o OpenOptions, c Credential) (*Volume, error) {
	if o.HeaderPath != "" {
		return nil, fmt.Errorf("open %s: detached header: %w", path, ErrUnsupported)
	}
	f, err := image.Open(path, o.ReadOnly)
	if err != nil {
		return nil, err
	}
	v, err := OpenDevice(ctx, f, o, c)
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	v.file = f
	return v, nil
}

// OpenDevice opens a container on any device. The caller keeps dev and closes
// it after the Volume.
func OpenDevice(ctx context.Context, dev block.Device, o OpenOptions, c Credential) (*Volume, error) {
	h, err := detect(dev, o.Format)
	if err != nil {
		return nil, err
	}
	if o.ReadOnly {
		dev = readOnlyDevice(dev)
	}
	return h.open(ctx, dev, o, c)
}

// CreateDevice makes a container on any device, whose size rules: o.SizeBytes
// and o.UsableBytes must be zero. The caller keeps dev and closes it after the
// Volume.
func CreateDevice(ctx context.Context, dev block.Device, o CreateOptions, c Credential) (*Volume, error) {
	if o.SizeBytes != 0 || o.UsableBytes != 0 {
		return nil, fmt.Errorf("the device has its size: %w", ErrInvalid)
	}
	if o.Format == "" || o.Format == Auto {
		o.Format = defaultNew
	}
	h, err := handlerFor(o.Format)
	if err != nil {
		return nil, err
	}
	o.SizeBytes = dev.Size()
	p, err := h.plan(o)
	if err != nil {
		return nil, err
	}
	v, err := h.create(ctx, dev, p, o, c)
	if err != nil {
		return nil, err
	}
	if err := dev.Sync(); err != nil {
		v.release()
		return nil, err
	}
	return v, nil
}

// readOnlyDevice hides the write side of dev, so that no code path below a
// read-only Volume can write, but keeps the hints of an image.
func readOnlyDevice(dev block.Device) block.Device {
	if f, ok := dev.(*image.File); ok && f.ReadOnly() {
		return dev // refuses writes itself
	}
	return block.ReadOnly(dev)
}
