package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"time"

	"coffer/fat32"
)

// Entry is one file or folder inside, as `ls` shows it.
type Entry struct {
	Path      string    `json:"path"`
	Folder    bool      `json:"folder"`
	SizeBytes int64     `json:"size"`
	Modified  time.Time `json:"modified"`
	ReadOnly  bool      `json:"readOnly,omitempty"`
	Hidden    bool      `json:"hidden,omitempty"`
	System    bool      `json:"system,omitempty"`
}

// maxDepth bounds walks. Windows cannot reach deeper than 130 folders; a crafted volume could be deeper.
const maxDepth = 1000

func entryOf(path string, info fat32.Info) Entry {
	return Entry{
		Path: path, Folder: info.IsDir(), SizeBytes: info.Size, Modified: info.ModTime,
		ReadOnly: info.Attr&fat32.AttrReadOnly != 0, Hidden: info.Attr&fat32.AttrHidden != 0, System: info.Attr&fat32.AttrSystem != 0,
	}
}

// inside names a path for messages.
func (s *Session) inside(p string) string { return s.target.Path + ":" + p }

// List calls visit for the file at p, or for everything in the folder at p in the order on disk, with recursive also
// below it, folders before their content.
func (s *Session) List(ctx context.Context, p string, recursive bool, visit func(Entry) error) error {
	info, err := s.Volume.Stat(p)
	if err != nil {
		return wrap("list "+s.inside(p), err)
	}
	if !info.IsDir() {
		return visit(entryOf(p, info))
	}
	return s.walk(ctx, p, nil, recursive, func(child string, info fat32.Info) error { return visit(entryOf(child, info)) }, nil)
}

// walk visits what is in folder: before for every entry, after for every folder once its content was visited. above are
// the first clusters of the folders on the way, by which a folder that contains itself is noticed.
func (s *Session) walk(ctx context.Context, folder string, above []uint32, recursive bool, before, after func(string, fat32.Info) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(above) > maxDepth {
		return wrap("walk "+s.inside(folder), fmt.Errorf("more than %d folders deep: %w", maxDepth, fat32.ErrCorrupt))
	}
	infos, err := s.Volume.ReadDir(folder)
	damage := wrap("list "+s.inside(folder), err) // what can be shown comes first
	for _, info := range infos {
		child := path.Join(folder, info.Name)
		if before != nil {
			if err := before(child, info); err != nil {
				return err
			}
		}
		if info.IsDir() && recursive {
			for _, cluster := range above {
				if cluster == info.FirstCluster {
					return wrap("list "+s.inside(child), fmt.Errorf("the folder contains itself: %w", fat32.ErrCorrupt))
				}
			}
			if err := s.walk(ctx, child, append(above, info.FirstCluster), true, before, after); err != nil {
				return err
			}
		}
		if after != nil {
			if err := after(child, info); err != nil {
				return err
			}
		}
	}
	return damage
}

// MustBeFile says whether there is a file (not a folder) at p.
func (s *Session) MustBeFile(p string) error {
	info, err := s.Volume.Stat(p)
	if err == nil && info.IsDir() {
		err = fat32.ErrIsDir
	}
	return wrap("read "+s.inside(p), err)
}

// Cat writes the bytes of the file at p to w.
func (s *Session) Cat(ctx context.Context, p string, w io.Writer) error {
	if err := s.MustBeFile(p); err != nil {
		return err
	}
	file, err := s.Volume.OpenFile(p, fat32.ReadOnly)
	if err != nil {
		return wrap("read "+s.inside(p), err)
	}
	info, err := file.Stat()
	if err == nil {
		err = pump(ctx, w, file, info.Size, nil)
	}
	return wrap("read "+s.inside(p), errors.Join(err, file.Close()))
}

// pumpBytes is how much pump moves at a time.
const pumpBytes = 1 << 20

// pump writes size bytes of from to w; progress, if any, is told the bytes done.
func pump(ctx context.Context, w io.Writer, from io.ReaderAt, size int64, progress func(int64)) error {
	buffer := make([]byte, min(pumpBytes, max(size, 1)))
	for done := int64(0); done < size; {
		if err := ctx.Err(); err != nil {
			return err
		}
		part := buffer[:min(int64(len(buffer)), size-done)]
		n, err := from.ReadAt(part, done)
		if n < len(part) {
			if err == nil || errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return err
		}
		if _, err := w.Write(part); err != nil {
			return err
		}
		done += int64(n)
		if progress != nil {
			progress(done)
		}
	}
	return nil
}

// Mkdir makes the folder p; with parents also those above it, and an existing folder is no error.
func (s *Session) Mkdir(p string, parents bool) error {
	if parents {
		return wrap("make folder "+s.inside(p), s.Volume.MkdirAll(p))
	}
	return wrap("make folder "+s.inside(p), s.Volume.Mkdir(p))
}

// Remove removes the file or empty folder p; with recursive a folder with all that is in it, the root only emptied.
func (s *Session) Remove(ctx context.Context, p string, recursive bool) error {
	info, err := s.Volume.Stat(p)
	if err != nil {
		return wrap("remove "+s.inside(p), err)
	}
	if info.IsDir() && recursive {
		remove := func(child string, _ fat32.Info) error { return wrap("remove "+s.inside(child), s.Volume.Remove(child)) }
		if err := s.walk(ctx, p, []uint32{info.FirstCluster}, true, nil, remove); err != nil || p == "/" {
			return err
		}
	}
	return wrap("remove "+s.inside(p), s.Volume.Remove(p))
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
		if err := s.Volume.Rename(source.Path, destination, force); err != nil {
			return moved, wrap("move "+s.inside(source.Path)+" to "+destination, err)
		}
		moved = append(moved, Moved{source.Path, destination})
	}
	return moved, nil
}
