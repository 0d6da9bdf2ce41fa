package session

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"coffer/fat32"
)

// SalvageResult is what a salvage brought out.
type SalvageResult struct {
	Files      int64           `json:"files"` // delivered, whole or as far as they could be read
	Folders    int64           `json:"folders"`
	LostChains int64           `json:"lostChains"` // of Files
	Bytes      int64           `json:"bytes"`
	Problems   []fat32.Finding `json:"problems"` // files and folders that are not whole
	Omitted    int             `json:"omitted,omitempty"`
}

// Salvage copies everything that can be read into a host folder, new or empty, whatever the state of the file system. It
// writes nothing to the container. The result is returned also when it ended early.
func (d *Device) Salvage(ctx context.Context, r CheckRequest) (*SalvageResult, error) {
	what := "salvage " + d.target.Path
	folder, err := emptyFolder(r.SalvageTo)
	if err != nil {
		return nil, wrap(what, asTyped(err, r.SalvageTo, r.Typed))
	}
	defer folder.Close()
	thaw, err := d.standStill("salvage", r.Report)
	if err != nil {
		return nil, err
	}
	defer thaw()
	size := d.container.Size()
	found, err := fat32.Salvage(ctx, d.container, hostSink{folder}, fat32.SalvageOptions{
		Progress: func(done int64) {
			r.Report.send(Event{Kind: EventProgress, Stage: "salvage", Done: done, Total: size, Unit: UnitBytes})
		},
	})
	if found == nil {
		return nil, wrap(what, err)
	}
	return &SalvageResult{
		Files: found.Files, Folders: found.Dirs, LostChains: found.LostChains, Bytes: found.Bytes,
		Problems: append([]fat32.Finding{}, found.Damaged...), Omitted: found.Omitted,
	}, wrap(what, err)
}

// emptyFolder opens the folder that receives salvaged files: new or empty, so that nothing is overwritten. What is done
// through the result cannot leave the folder.
func emptyFolder(path string) (*os.Root, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	if len(entries) > 0 {
		return nil, fmt.Errorf("the folder %s is not empty", path)
	}
	return os.OpenRoot(path)
}

// asTyped is err with a path named as the person wrote it; typed may be "".
func asTyped(err error, path, typed string) error {
	if typed == "" || !strings.Contains(err.Error(), path) {
		return err
	}
	return renamed{err, strings.ReplaceAll(err.Error(), path, typed)}
}

// renamed is an error in other words.
type renamed struct {
	error
	text string
}

func (r renamed) Error() string { return r.text }
func (r renamed) Unwrap() error { return r.error }

// hostSink writes salvaged files into a folder of the host.
type hostSink struct{ folder *os.Root }

// Mkdir makes one folder.
func (h hostSink) Mkdir(path []string) error {
	return stopWhenFull(h.folder.Mkdir(filepath.Join(path...), 0o700))
}

// Create makes one file; it never follows a link or overwrites. The file has a name of its own until it is complete, so
// that no short one is taken for what it should be.
func (h hostSink) Create(path []string, info fat32.Salvaged) (io.WriteCloser, error) {
	name := filepath.Join(path...)
	if _, err := h.folder.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		return nil, stopWhenFull(errors.Join(err, fmt.Errorf("%s: %w", name, fs.ErrExist)))
	}
	temporary := filepath.Join(filepath.Dir(name), ".coffer-salvage-"+rand.Text())
	file, err := h.folder.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, stopWhenFull(err)
	}
	return &salvagedFile{file: file, folder: h.folder, temporary: temporary, name: name, modified: info.ModTime}, nil
}

// salvagedFile gets its name and the time it had in the container when it is closed.
type salvagedFile struct {
	file      *os.File
	folder    *os.Root
	temporary string
	name      string
	modified  time.Time
}

// Write writes on.
func (f *salvagedFile) Write(p []byte) (int, error) {
	n, err := f.file.Write(p)
	return n, stopWhenFull(err)
}

// Close makes the file durable, as the container may not last much longer, and gives it its name. After an error nothing
// is left of it.
func (f *salvagedFile) Close() error {
	err := errors.Join(f.file.Sync(), f.file.Close())
	if err == nil && !f.modified.IsZero() {
		err = f.folder.Chtimes(f.temporary, time.Time{}, f.modified)
	}
	if err == nil {
		err = f.folder.Rename(f.temporary, f.name)
	}
	if err != nil {
		err = errors.Join(err, f.folder.Remove(f.temporary))
	}
	return stopWhenFull(err)
}

// Abort removes the incomplete file.
func (f *salvagedFile) Abort() error {
	return errors.Join(f.file.Close(), f.folder.Remove(f.temporary))
}

// stopWhenFull ends the whole salvage when the target is full; other errors cost one file.
func stopWhenFull(err error) error {
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("%w: %w", fat32.ErrSalvageStop, err)
	}
	return err
}
