package session

import (
	"context"
	"errors"
	"path"

	"coffer/fat32"
	"coffer/transfer"
)

// Neighbour is who else uses the file system of a session while it is open; see package transfer.
type Neighbour = transfer.Neighbour

// alone is the neighbour of a session nobody else uses.
type alone struct{}

func (alone) Changed(transfer.Change)    {}
func (alone) BeforeRead(string) error    { return nil }
func (alone) BeforeReplace(string) error { return nil }

// neighbour is s's, never nil.
func (s *Session) neighbour() Neighbour {
	if s.Neighbour == nil {
		return alone{}
	}
	return s.Neighbour
}

// tell tells the neighbour of a change.
func (s *Session) tell(p string, kind transfer.ChangeKind) {
	s.neighbour().Changed(transfer.Change{Path: p, Kind: kind})
}

// stored is p with its last name as it is spelt on the disk.
func stored(p string, info fat32.Info) string {
	if p == "/" {
		return p
	}
	return path.Join(path.Dir(p), info.Name)
}

// Sync makes everything done before durable.
func (s *Session) Sync() error {
	return wrap("write down the changes in "+s.target.Path, s.Volume.Sync())
}

// Mkdir makes the folder p; with parents also those above it, and an existing folder is no error.
func (s *Session) Mkdir(_ context.Context, p string, parents bool) error {
	if err := s.changeable("make folder " + s.inside(p)); err != nil {
		return err
	}
	made := []string{p}
	for up := path.Dir(p); parents && up != "/"; up = path.Dir(up) {
		if _, err := s.Volume.Stat(up); !notExist(err) {
			break
		}
		made = append(made, up)
	}
	var err error
	if parents {
		err = s.Volume.MkdirAll(p)
	} else {
		err = s.Volume.Mkdir(p)
	}
	for i := len(made) - 1; i >= 0 && (err == nil || parents); i-- {
		s.tell(made[i], transfer.Created)
	}
	return wrap("make folder "+s.inside(p), err)
}

// Remove removes the file or empty folder p; with recursive a folder with all that is in it, the root only emptied.
func (s *Session) Remove(ctx context.Context, p string, recursive bool) error {
	if err := s.changeable("remove " + s.inside(p)); err != nil {
		return err
	}
	info, err := s.Volume.Stat(p)
	if err != nil {
		return wrap("remove "+s.inside(p), err)
	}
	if info.IsDir() && recursive {
		remove := func(child string, info fat32.Info) error { return s.removeOne(child, info) }
		if err := s.walk(ctx, p, []uint32{info.FirstCluster}, true, nil, remove); err != nil || p == "/" {
			return err
		}
	}
	return s.removeOne(p, info)
}

// removeOne removes a file or an empty folder.
func (s *Session) removeOne(p string, info fat32.Info) error {
	err := s.notBusy(p, info)
	if err == nil {
		err = s.Volume.Remove(p)
	}
	if err == nil {
		s.tell(stored(p, info), transfer.Removed)
	}
	return wrap("remove "+s.inside(p), err)
}

// notBusy asks the neighbour whether what is at p may be renamed, removed or replaced.
func (s *Session) notBusy(p string, info fat32.Info) error {
	if info.IsDir() {
		return nil
	}
	return s.neighbour().BeforeReplace(p)
}

// Moved is one rename done.
type Moved struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// respells says whether a move only gives a folder another spelling: the folder found at to is the source itself.
func (s *Session) respells(sources []Place, to Place, target fat32.Info) bool {
	if len(sources) != 1 || to.Folder || sources[0].Path == to.Path {
		return false
	}
	source, err := s.Volume.Stat(sources[0].Path)
	return err == nil && source.ID == target.ID
}

// Move renames the sources: into to when that is a folder (or was written with a slash at its end), else the one source
// to the new name. A folder whose name changes only in case is renamed. An existing file is replaced only with force.
func (s *Session) Move(ctx context.Context, sources []Place, to Place, force bool) ([]Moved, error) {
	if err := s.changeable("move to " + s.inside(to.Path)); err != nil {
		return nil, err
	}
	target, err := s.Volume.Stat(to.Path)
	if err != nil && !notExist(err) {
		return nil, wrap("move to "+s.inside(to.Path), err)
	}
	into := err == nil && target.IsDir() && !s.respells(sources, to, target)
	if !into && (len(sources) > 1 || to.Folder) {
		return nil, wrap("move to "+s.inside(to.Path), errors.Join(err, fat32.ErrNotDir))
	}
	moved := []Moved{}
	for _, source := range sources {
		if err := ctx.Err(); err != nil {
			return moved, err
		}
		destination := to.Path
		if into && source.Path != "/" {
			destination = path.Join(to.Path, path.Base(source.Path))
		}
		if err := s.rename(source.Path, destination, force); err != nil {
			return moved, wrap("move "+s.inside(source.Path)+" to "+destination, err)
		}
		moved = append(moved, Moved{source.Path, destination})
	}
	return moved, nil
}

// rename renames one file or folder and tells the neighbour all names that came and went.
func (s *Session) rename(from, to string, replace bool) error {
	source, err := s.Volume.Stat(from)
	if err == nil {
		err = s.notBusy(from, source)
	}
	if err != nil && !notExist(err) {
		return err
	}
	target, err := s.Volume.Stat(to)
	replaced := err == nil && replace && target.ID != source.ID
	if replaced {
		if err := s.notBusy(to, target); err != nil {
			return err
		}
	}
	if err := s.Volume.Rename(from, to, replace); err != nil {
		return err
	}
	s.tell(stored(from, source), transfer.Removed)
	if old := stored(to, target); replaced && old != to {
		s.tell(old, transfer.Removed)
	}
	s.tell(to, transfer.Created)
	return nil
}
