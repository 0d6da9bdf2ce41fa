package block

import (
	"fmt"
)

// section is a window onto a part of another device.
type section struct {
	dev        Device
	start, len int64
}

// discardSection is a section of a device that can discard, so that the type
// assertion on the section says the truth.
type discardSection struct {
	section
	discarder Discarder
}

// Section returns a device that is the n bytes of d from off. The window can
// neither read nor write outside itself, whatever offsets it is given; Sync
// syncs the whole of d. It implements Discarder if d does. ErrOutOfRange if
// the window is not inside d.
func Section(d Device, off, n int64) (Device, error) {
	if err := CheckRange(off, n, d.Size()); err != nil {
		return nil, fmt.Errorf("section: %w", err)
	}
	s := section{dev: d, start: off, len: n}
	if dd, ok := d.(Discarder); ok {
		return &discardSection{section: s, discarder: dd}, nil
	}
	return &s, nil
}

func (s *section) ReadAt(p []byte, off int64) (int, error) {
	n, eof := ClipRead(off, len(p), s.len)
	if n == 0 {
		return 0, eof
	}
	got, err := s.dev.ReadAt(p[:n], s.start+off)
	if got == n {
		// The parent may report io.EOF with a full read at its very end;
		// here only the end of the window counts.
		return got, eof
	}
	return got, err
}

func (s *section) WriteAt(p []byte, off int64) (int, error) {
	if err := CheckRange(off, int64(len(p)), s.len); err != nil {
		return 0, fmt.Errorf("write: %w", err)
	}
	return s.dev.WriteAt(p, s.start+off)
}

func (s *section) Sync() error { return s.dev.Sync() }

func (s *section) Size() int64 { return s.len }

func (s *discardSection) Discard(off, n int64) error {
	if err := CheckRange(off, n, s.len); err != nil {
		return fmt.Errorf("discard: %w", err)
	}
	return s.discarder.Discard(s.start+off, n)
}

// readOnly refuses every write.
type readOnly struct{ dev Device }

// ReadOnly returns d without its write side: WriteAt gives ErrReadOnly, Sync
// does nothing (nothing can be outstanding), and the result implements neither
// Discarder nor any other optional interface of d.
func ReadOnly(d Device) Device { return readOnly{d} }

func (r readOnly) ReadAt(p []byte, off int64) (int, error) { return r.dev.ReadAt(p, off) }

func (r readOnly) WriteAt(p []byte, off int64) (int, error) {
	return 0, fmt.Errorf("write of %d bytes at %d: %w", len(p), off, ErrReadOnly)
}

func (r readOnly) Sync() error { return nil }

func (r readOnly) Size() int64 { return r.dev.Size() }
