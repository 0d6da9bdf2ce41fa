package transfer

import (
	"fmt"
	"path"
)

// ChangeKind is what happened to a path.
type ChangeKind uint8

// Kinds of changes. A rename is Removed for the old path and Created for the new one.
const (
	Created ChangeKind = iota + 1
	Removed
	Written // content, size, times or attributes
)

// String is the kind in a word.
func (k ChangeKind) String() string {
	switch k {
	case Created:
		return "created"
	case Removed:
		return "removed"
	case Written:
		return "written"
	}
	return fmt.Sprintf("change %d", uint8(k))
}

// Change is one change to a volume: the path from the root, its last name spelt as stored.
type Change struct {
	Path string
	Kind ChangeKind
}

// Neighbour is somebody else who uses a volume while jobs run on it, such as a drive mounted from it. Its methods are
// called from several goroutines and never under a lock of the volume; a job waits for them, so they must be quick.
type Neighbour interface {
	// Changed is told every change as soon as it is made.
	Changed(c Change)
	// BeforeRead is asked before the file at path is read. It brings down what the neighbour still holds of it, or says
	// why it must not be read now: an error that is fat32.ErrBusy.
	BeforeRead(path string) error
	// BeforeReplace is asked before the file at path is replaced, renamed or removed, in the same way.
	BeforeReplace(path string) error
}

// alone is the neighbour of a volume nobody else uses.
type alone struct{}

func (alone) Changed(Change)             {}
func (alone) BeforeRead(string) error    { return nil }
func (alone) BeforeReplace(string) error { return nil }

// neighbour is p's, never nil.
func (p Place) neighbour() Neighbour {
	if p.Neighbour == nil {
		return alone{}
	}
	return p.Neighbour
}

// stored is a path in the volume with its last name as it is spelt on the disk; p itself when nothing is there.
func (t *volumeTree) stored(p string) string {
	if info, err := t.volume.Stat(p); err == nil && p != "/" {
		return path.Join(path.Dir(p), info.Name)
	}
	return p
}

// rename gives the file at from, a path in the volume that is ours alone, its final name.
func (t *volumeTree) rename(from, to string, replace bool) error {
	return t.place(to, replace, func() error {
		err := t.volume.Rename(from, to, replace)
		if err == nil {
			t.with.Changed(Change{from, Removed})
		}
		return err
	})
}

// place has give put a file at its final name, and tells.
func (t *volumeTree) place(to string, replace bool, give func() error) error {
	old := to
	if replace {
		if err := t.with.BeforeReplace(to); err != nil {
			return err
		}
		old = t.stored(to)
	}
	if err := give(); err != nil {
		return err
	}
	if old != to {
		t.with.Changed(Change{old, Removed})
	}
	t.with.Changed(Change{to, Created})
	return nil
}

// drop removes a file that is ours alone: a part, or a state file.
func (t *volumeTree) drop(p string) error {
	err := t.volume.Remove(p)
	if err == nil {
		t.with.Changed(Change{p, Removed})
	}
	return err
}

// mayReplaceNow asks the neighbour of a volume whether the file at p, a path of the tree, can be replaced.
func mayReplaceNow(t targetTree, p string) error {
	if v, ok := t.(*volumeTree); ok {
		return v.with.BeforeReplace(v.at(p))
	}
	return nil
}
