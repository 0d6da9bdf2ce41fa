package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"

	"coffer/fat32"
)

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

// MustBeFile says whether there is a file (not a folder) at p that can be read now.
func (s *Session) MustBeFile(_ context.Context, p string) error {
	info, err := s.Volume.Stat(p)
	if err == nil && info.IsDir() {
		err = fat32.ErrIsDir
	}
	if err == nil {
		err = s.neighbour().BeforeRead(p)
	}
	return wrap("read "+s.inside(p), err)
}

// Cat writes the bytes of the file at p to w.
func (s *Session) Cat(ctx context.Context, p string, w io.Writer) error {
	if err := s.MustBeFile(ctx, p); err != nil {
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

// Pump writes the bytes of from between two offsets to w.
func Pump(ctx context.Context, w io.Writer, from io.ReaderAt, begin, end int64) error {
	return pump(ctx, w, io.NewSectionReader(from, begin, max(end-begin, 0)), end-begin, nil)
}

// pump writes size bytes of from to w; progress, if any, is told the bytes done.
func pump(ctx context.Context, w io.Writer, from io.ReaderAt, size int64, progress func(int64)) error {
	buffer := make([]byte, max(min(pumpBytes, size), 1))
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
