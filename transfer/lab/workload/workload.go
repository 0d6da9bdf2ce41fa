// Package workload holds the files that copies are measured with: the same bytes every time, which neither compression
// nor deduplication makes smaller, or a folder of the user's own.
package workload

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Workload is a tree of files to copy.
type Workload struct {
	Name  string // "a", "b": as the Private Disk test calls them
	Title string // for headings: "[a] one file of 658 MB"
	Files []File
	// Folder, when not "", is a folder of the user's own, copied as it is; Files then only tell what is in it.
	Folder string
}

// File is one file of a workload.
type File struct {
	Path      string // relative, with slashes
	SizeBytes int64
}

// Bytes is the payload of a workload.
func (w Workload) Bytes() (n int64) {
	for _, f := range w.Files {
		n += f.SizeBytes
	}
	return n
}

// Large is workload [a]: one file.
func Large(sizeBytes int64) Workload {
	return Workload{Name: "a", Title: "[a] one file of " + Megabytes(sizeBytes), Files: []File{{"large file.iso", sizeBytes}}}
}

// Photos is workload [b]: files of very different sizes in nested folders, together totalBytes, but for rounding.
func Photos(files int, totalBytes int64) Workload {
	r := rand.New(rand.NewPCG(2140, 667))
	w := Workload{Name: "b", Title: fmt.Sprintf("[b] %d files in subfolders, %s", files, Megabytes(totalBytes))}
	weights, sum := make([]float64, files), 0.0
	for i := range weights {
		weights[i] = r.ExpFloat64() * r.ExpFloat64() // many small, few large
		sum += weights[i]
	}
	for i, v := range weights {
		path := fmt.Sprintf("folder %02d/sub %d/inner %d/file number %05d.dat", i/107, i/21%5, i/7%3, i)
		w.Files = append(w.Files, File{path, int64(v / sum * float64(totalBytes))})
	}
	return w
}

// Small is many files of one size in one folder.
func Small(files int, sizeBytes int64) Workload {
	w := Workload{Name: "small", Title: fmt.Sprintf("%d files of %d bytes", files, sizeBytes)}
	for i := range files {
		w.Files = append(w.Files, File{fmt.Sprintf("file%05d.txt", i), sizeBytes})
	}
	return w
}

// Own is a folder of the user's as a workload. Only what a copy takes is counted: regular files.
func Own(ctx context.Context, folder string) (Workload, error) {
	w := Workload{Name: "own", Folder: folder}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(folder, path)
		if err == nil {
			w.Files = append(w.Files, File{filepath.ToSlash(relative), info.Size()})
		}
		return err
	})
	if err != nil {
		return w, fmt.Errorf("look at the folder to copy: %w", err)
	}
	if w.Bytes() == 0 {
		return w, fmt.Errorf("look at the folder to copy: %s holds no bytes to copy", folder)
	}
	w.Title = fmt.Sprintf("your own folder, %d files, %s", len(w.Files), Megabytes(w.Bytes()))
	return w, nil
}

// Make writes the workload into the folder dir, which need not exist: the same bytes every time, and such that neither
// compression nor deduplication finds anything in them. wrote, if not nil, is told bytes as they are written.
func (w Workload) Make(ctx context.Context, dir string, wrote func(n int64)) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	for i, f := range w.Files {
		if err := ctx.Err(); err != nil {
			return err
		}
		path := filepath.Join(dir, filepath.FromSlash(f.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := writeNoise(ctx, path, f.SizeBytes, uint64(i), wrote); err != nil {
			return err
		}
	}
	return nil
}

// Noise is an endless stream of bytes that look random and are the same for the same seed.
func Noise(seed uint64) io.Reader {
	key := [32]byte{'c', 'o', 'f', 'f', 'e', 'r', ' ', 'l', 'a', 'b'}
	for i := range 8 {
		key[24+i] = byte(seed >> (8 * i))
	}
	return rand.NewChaCha8(key)
}

// writeNoise makes a file of sizeBytes of noise.
func writeNoise(ctx context.Context, path string, sizeBytes int64, seed uint64, wrote func(n int64)) error {
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	from := io.LimitReader(bufio.NewReaderSize(Noise(seed), blockBytes), sizeBytes)
	for err == nil {
		var n int64
		n, err = io.CopyN(out, from, blockBytes)
		if wrote != nil && n > 0 {
			wrote(n)
		}
		if err == nil {
			err = ctx.Err()
		}
	}
	if err == io.EOF {
		err = nil
	}
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	return err
}

// blockBytes is how much of a file is made at a time.
const blockBytes = 1 << 20

// Megabytes writes a size for people; MB is 10^6 bytes.
func Megabytes(n int64) string {
	switch {
	case n >= 10e6:
		return fmt.Sprintf("%.0f MB", float64(n)/1e6)
	case n >= 1e5:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%d bytes", n)
}
