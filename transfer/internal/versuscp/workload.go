// Package versuscp compares copies by transfer with `cp` plus `sync` on the same
// file system: interleaved pairs, medians and their spread. It is a measuring
// tool for this repository, run by its test (see versuscp_test.go).
package versuscp

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Workload is a tree of files to copy.
type Workload struct {
	Name  string
	Files []File
}

// File is one file of a workload.
type File struct {
	Path      string
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
	return Workload{Name: "a", Files: []File{{"large.bin", sizeBytes}}}
}

// Nested is workload [b]: files of very different sizes in nested folders.
func Nested(files int, totalBytes int64) Workload {
	r := rand.New(rand.NewPCG(2140, 667))
	w := Workload{Name: "b"}
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

// Small is many files of the same small size in one folder.
func Small(files int, sizeBytes int64) Workload {
	w := Workload{Name: "small"}
	for i := range files {
		w.Files = append(w.Files, File{fmt.Sprintf("file%05d.txt", i), sizeBytes})
	}
	return w
}

// Make writes the workload into dir.
func (w Workload) Make(dir string) error {
	block := make([]byte, 1<<20)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range block {
		block[i] = byte(r.Uint32())
	}
	for _, f := range w.Files {
		path := filepath.Join(dir, f.Path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		out, err := os.Create(path)
		if err != nil {
			return err
		}
		for left := f.SizeBytes; left > 0; left -= int64(len(block)) {
			if _, err := out.Write(block[:min(left, int64(len(block)))]); err != nil {
				out.Close()
				return err
			}
		}
		if err := out.Close(); err != nil {
			return err
		}
	}
	return nil
}
