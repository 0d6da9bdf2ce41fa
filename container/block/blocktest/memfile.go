package blocktest

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"

	"coffer/container/block"
)

// Save writes the device into the file at path (created or replaced) with
// holes where it is zeros, and the same length as the device.
func (m *Mem) Save(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("save memory device: %w", err)
	}
	err = f.Truncate(m.Size())
	if err == nil {
		err = m.copyPagesTo(f)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return fmt.Errorf("save memory device: %w", err)
	}
	return nil
}

func (m *Mem) copyPagesTo(w io.WriterAt) error {
	var err error
	m.eachPage(func(i int64, p *page) bool {
		off := i * pageBytes
		n := min(int64(pageBytes), m.Size()-off)
		if n <= 0 || isZero(p.data[:n]) {
			return true
		}
		_, err = w.WriteAt(p.data[:n], off)
		return err == nil
	})
	return err
}

// Load returns a device with the content of the file at path; a name ending in
// .gz is unpacked. Holes of a plain file cost neither time (Linux) nor memory.
func Load(path string) (*Mem, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("load memory device: %w", err)
	}
	defer f.Close()
	var m *Mem
	if strings.HasSuffix(path, ".gz") {
		var z *gzip.Reader
		if z, err = gzip.NewReader(f); err == nil {
			m, err = ReadMem(z)
		}
	} else {
		m, err = loadSparse(f)
	}
	if err != nil {
		return nil, fmt.Errorf("load memory device: %s: %w", path, err)
	}
	return m, nil
}

// ReadMem returns a device with everything r gives.
func ReadMem(r io.Reader) (*Mem, error) {
	m := NewMem(0)
	buf := make([]byte, 256<<10)
	for off := int64(0); ; {
		n, err := io.ReadFull(r, buf)
		if n > 0 {
			if terr := m.Truncate(off + int64(n)); terr != nil {
				return nil, terr
			}
			if _, werr := m.WriteAt(buf[:n], off); werr != nil {
				return nil, werr
			}
			off += int64(n)
		}
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return m, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// FromBytes returns a device with a copy of p.
func FromBytes(p []byte) *Mem {
	m := NewMem(int64(len(p)))
	_, _ = m.WriteAt(p, 0) // in range by construction
	return m
}

func loadSparse(f *os.File) (*Mem, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if st.Size() > MaxMemBytes {
		return nil, block.ErrOutOfRange
	}
	m := NewMem(st.Size())
	for off := int64(0); off < m.Size(); {
		from, to := nextData(f, off, m.Size())
		if _, err := io.Copy(io.NewOffsetWriter(m, from), io.NewSectionReader(f, from, to-from)); err != nil {
			return nil, err
		}
		off = to
	}
	return m, nil
}

// nextData finds the next range at or after off that may hold something else
// than a hole. Where the system cannot tell, that is all of the rest.
func nextData(f *os.File, off, size int64) (from, to int64) {
	if runtime.GOOS != "linux" {
		return off, size
	}
	const seekData, seekHole = 3, 4
	from, err := f.Seek(off, seekData)
	if err != nil { // ENXIO: only a hole follows; EINVAL: not supported
		if strings.Contains(err.Error(), "no such device") {
			return size, size
		}
		return off, size
	}
	to, err = f.Seek(from, seekHole)
	if err != nil || to <= from {
		to = size
	}
	return from, min(to, size)
}

// ErrDiffer is what Diff wraps.
var ErrDiffer = errors.New("devices differ")

// Diff compares two devices and says, in a wrapped ErrDiffer, where they first
// differ; nil if they are the same in size and content.
func Diff(a, b *Mem) error {
	if a.Size() != b.Size() {
		return fmt.Errorf("%w: sizes %d and %d", ErrDiffer, a.Size(), b.Size())
	}
	var pages []int64
	note := func(i int64, _ *page) bool { pages = append(pages, i); return true }
	a.eachPage(note)
	b.eachPage(note)
	slices.Sort(pages)
	pa, pb := make([]byte, pageBytes), make([]byte, pageBytes)
	for _, i := range slices.Compact(pages) {
		off := i * pageBytes
		n := min(int64(pageBytes), a.Size()-off)
		if n <= 0 {
			continue
		}
		if err := errors.Join(block.ReadFull(a, pa[:n], off), block.ReadFull(b, pb[:n], off)); err != nil {
			return err
		}
		if bytes.Equal(pa[:n], pb[:n]) {
			continue
		}
		for k := range pa[:n] {
			if pa[k] != pb[k] {
				return fmt.Errorf("%w: first at byte %d: %#02x and %#02x", ErrDiffer, off+int64(k), pa[k], pb[k])
			}
		}
	}
	return nil
}
