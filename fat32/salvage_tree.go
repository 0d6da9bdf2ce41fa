package fat32

import (
	"errors"
	"fmt"
	"io"
	"slices"
)

// level is a folder whose entries are being written.
type level struct {
	path  []string
	start uint32
	raw   []byte
	slot  int
	names map[string]int // folded names in use, and the number to try next
}

// tree writes the folder at a cluster (0: the fixed root) and all below it,
// depth first with a stack of its own.
func (s *salvager) tree(path []string, start uint32) error {
	stack := []*level{s.openLevel(path, start)}
	if s.top == nil {
		s.top = stack[0]
	}
	for len(stack) > 0 {
		top := stack[len(stack)-1]
		if top.slot*slotSize >= len(top.raw) {
			stack = stack[:len(stack)-1]
			continue
		}
		if err := s.ctx.Err(); err != nil {
			return err
		}
		slot := top.slot
		top.slot++
		child, err := s.entry(top, slot)
		if err != nil {
			return err
		}
		if child != nil {
			if len(stack) >= maxSalvageDepth {
				s.damaged(CodeDirTooDeep, child.path, "more than %d levels; what is below is left out", maxSalvageDepth)
				continue
			}
			stack = append(stack, child)
		}
	}
	return nil
}

// maxSalvageDepth bounds the folders held at a time (2 MiB each at most).
const maxSalvageDepth = 128

// openLevel reads a folder as far as it can be read.
func (s *salvager) openLevel(path []string, start uint32) *level {
	l := &level{path: path, start: start, names: make(map[string]int)}
	failed := s.dev.failed
	if start == 0 {
		l.raw = make([]byte, s.g.RootEntries*slotSize)
		_, _ = s.dev.ReadAt(l.raw, s.g.RootOffset) // never fails
	} else {
		var sound bool
		if l.raw, sound = s.readDirChain(start); !sound {
			s.damaged(CodeChainShort, path, "the folder's chain breaks off; entries may be missing")
		}
	}
	if n := s.dev.failed - failed; n > 0 {
		s.damaged(CodeReadError, path, "%d bytes of the folder cannot be read; entries in them are missing", n)
	}
	return l
}

// readDirChain reads the clusters of a folder; sound is false if its chain does
// not end as it should.
func (s *salvager) readDirChain(start uint32) (raw []byte, sound bool) {
	s.dirs.set(start)
	for at := start; len(raw) < maxDirBytes; {
		if s.seen.has(at) {
			return raw, false // a loop, or the clusters of another folder
		}
		s.seen.set(at)
		raw = slices.Grow(raw, s.g.ClusterSize)[:len(raw)+s.g.ClusterSize]
		_, _ = s.dev.ReadAt(raw[len(raw)-s.g.ClusterSize:], s.g.clusterOffset(at)) // never fails
		next, ok := s.next(at)
		if !ok {
			return raw, next >= entryEndMin
		}
		at = next
	}
	return raw, true
}

// entry writes the entry at a slot; a folder comes back to be descended into.
func (s *salvager) entry(l *level, slot int) (*level, error) {
	p := l.raw[slot*slotSize : (slot+1)*slotSize]
	if p[0] == slotEnd || p[0] == slotDeleted || isLongSlot(p) {
		return nil, nil
	}
	e := s.g.Type.decodeEntry(p)
	switch {
	case isStrayDot(p, slot, l.start == s.g.RootCluster):
		return nil, nil
	case e.attr&(attrVolumeID|AttrDirectory) == attrVolumeID && e.size == 0:
		return nil, nil // a label
	case e.cluster != 0 && !s.g.valid(e.cluster) && (e.attr&0xC0 != 0 || !goodShort(&e.name)):
		return nil, nil // garbage
	}
	name := l.unique(safeName(slotName(l.raw, slot)))
	path := append(slices.Clone(l.path), name)
	if e.attr&AttrDirectory == 0 {
		return nil, s.file(path, e)
	}
	if !s.g.valid(e.cluster) {
		s.damaged(CodeDirStart, path, "the folder's first cluster %d is none", e.cluster)
		return nil, nil
	}
	if s.dirs.has(e.cluster) {
		return nil, nil // reached by another way already, or a cycle
	}
	if err := s.sink.Mkdir(path); err != nil {
		return nil, s.refused(path, err)
	}
	s.report.Dirs++
	return s.openLevel(path, e.cluster), nil
}

// refused notes an error of the sink; the salvage goes on unless it is final.
func (s *salvager) refused(path []string, err error) error {
	s.damaged(CodeSink, path, "%v", err)
	if errors.Is(err, ErrSalvageStop) {
		return err
	}
	return nil
}

// aborter is what a file of a sink may be.
type aborter interface{ Abort() error }

// deliver hands one file to the sink, filled by fill. ok: it is there, as far as
// it could be read; otherwise it is listed, unless the error is final and not the sink's.
func (s *salvager) deliver(path []string, info Salvaged, fill func(io.Writer) error) (ok bool, err error) {
	w, err := s.sink.Create(path, info)
	if err != nil {
		return false, s.refused(path, err)
	}
	before := s.report.Bytes
	if err = fill(w); err == nil {
		err = w.Close()
	} else if a, can := w.(aborter); can {
		err = errors.Join(err, a.Abort())
	} else {
		err = errors.Join(err, w.Close())
	}
	if err == nil {
		s.report.Files++
		return true, nil
	}
	s.report.Bytes = before
	if s.ctx.Err() != nil {
		return false, s.ctx.Err()
	}
	return false, s.refused(path, err)
}

// file writes the data of a file.
func (s *salvager) file(path []string, e dirEntry) error {
	info := Salvaged{
		SizeBytes: int64(e.size), Attr: e.attr & attrSettable,
		ModTime: e.modify.time(s.o.Location), CreateTime: e.create.time(s.o.Location), AccessTime: e.access.time(s.o.Location),
	}
	failed, written := s.dev.failed, int64(0)
	ok, err := s.deliver(path, info, func(w io.Writer) (err error) {
		written, err = s.copyFile(w, path, e)
		return err
	})
	if !ok {
		return err
	}
	if n := s.dev.failed - failed; n > 0 {
		s.damaged(CodeReadError, path, "%d bytes cannot be read; they are written as zeros", n)
	}
	if written < int64(e.size) {
		s.damaged(CodeChainShort, path, "only %d of %d bytes are left", written, e.size)
	}
	return nil
}

// copyFile writes what is left of a file. If its first cluster is marked free
// the FAT knows nothing of it; most files lie in one piece, so that is tried.
func (s *salvager) copyFile(w io.Writer, path []string, e dirEntry) (int64, error) {
	free := false
	if e.size > 0 && s.g.valid(e.cluster) {
		v, err := s.fat.get(e.cluster)
		free = err == nil && v == entryFree
	}
	if free {
		s.damaged(CodeChainFree, path, "the FAT has no chain for it; it is read as if it lay in one piece, which may be wrong")
		return s.copyStraight(w, e.cluster, int64(e.size))
	}
	return s.copyChain(w, e.cluster, int64(e.size))
}

// copyStraight writes size bytes from a cluster on, up to the end of the volume.
func (s *salvager) copyStraight(w io.Writer, start uint32, size int64) (int64, error) {
	off := s.g.clusterOffset(start)
	size = min(size, s.g.clusterOffset(s.g.limit()-1)+int64(s.g.ClusterSize)-off)
	written := int64(0)
	for written < size {
		if err := s.ctx.Err(); err != nil {
			return written, err
		}
		part := s.buf[:min(int64(len(s.buf)), size-written)]
		_, _ = s.dev.ReadAt(part, off+written) // never fails
		k, err := w.Write(part)
		written += int64(k)
		s.report.Bytes += int64(k)
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// copyChain writes up to size bytes of a chain and marks its clusters seen.
func (s *salvager) copyChain(w io.Writer, start uint32, size int64) (int64, error) {
	written := int64(0)
	at, ok := start, s.g.valid(start)
	// Brent's method: mark is a cluster seen 2^k steps ago; meeting it again is a
	// loop.
	mark, steps, limit := uint32(0), 0, 1
	for ok && written < size {
		if err := s.ctx.Err(); err != nil {
			return written, err
		}
		// A run of neighbouring clusters is one read.
		first, n := at, int64(0)
		for ok && at == first+uint32(n) && (n+1)*int64(s.g.ClusterSize) <= int64(len(s.buf)) && written+n*int64(s.g.ClusterSize) < size {
			if v, err := s.fat.get(at); err == nil && (v == entryFree || v == entryBad) {
				ok = false
				break
			}
			if s.seen.has(at) {
				s.shared += int64(s.g.ClusterSize)
			}
			s.seen.set(at)
			n++
			if at, ok = s.next(at); at == mark || s.shared > s.g.TotalBytes {
				ok = false
			}
			if steps++; steps == limit {
				mark, steps, limit = at, 0, limit*2
			}
		}
		if n == 0 {
			break
		}
		part := s.buf[:min(n*int64(s.g.ClusterSize), size-written)]
		_, _ = s.dev.ReadAt(part, s.g.clusterOffset(first)) // never fails
		k, err := w.Write(part)
		written += int64(k)
		s.report.Bytes += int64(k)
		if err != nil {
			return written, err
		}
		if s.o.Progress != nil {
			s.o.Progress(s.report.Bytes)
		}
	}
	return written, nil
}

// lost writes chains that nothing refers to: folders among them with what is
// in them, the rest as files.
func (s *salvager) lost() error {
	pointed := newBitmap(s.g.limit())
	for n := uint32(firstCluster); n < s.g.limit(); n++ {
		if n&0xFFFF == 0 && s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		if v, lost := s.lostAt(n); lost && s.g.valid(v) && v != n {
			pointed.set(v)
		}
	}
	folder := ""
	number := 0
	for _, heads := range []bool{true, false} {
		for n := uint32(firstCluster); n < s.g.limit(); n++ {
			if n&0xFFFF == 0 && s.ctx.Err() != nil {
				return s.ctx.Err()
			}
			if heads && pointed.has(n) {
				continue
			}
			if _, lost := s.lostAt(n); !lost {
				continue
			}
			if folder == "" {
				folder = s.top.unique(lostFolder)
				if err := s.sink.Mkdir([]string{folder}); err != nil {
					return s.refused([]string{folder}, err)
				}
			}
			if err := s.lostChain(folder, n, number); err != nil {
				return err
			}
			number++
		}
	}
	return nil
}

// lostFolder takes what has no name.
const lostFolder = "LOST"

func (s *salvager) lostAt(n uint32) (uint32, bool) {
	if s.seen.has(n) {
		return 0, false
	}
	v, err := s.fat.get(n)
	return v, err == nil && v != entryFree && v != entryBad
}

// lostChain writes one lost chain or folder.
func (s *salvager) lostChain(folder string, n uint32, number int) error {
	p := make([]byte, 2*slotSize)
	_, _ = s.dev.ReadAt(p, s.g.clusterOffset(n)) // never fails
	if dot := s.g.Type.decodeEntry(p); dot.name == dotName && dot.cluster == n && [11]byte(p[slotSize:slotSize+11]) == dotDotName {
		path := []string{folder, fmt.Sprintf("FOLDER%04d", number)}
		if err := s.sink.Mkdir(path); err != nil {
			s.seen.set(n)
			return s.refused(path, err)
		}
		s.report.Dirs++
		return s.tree(path, n)
	}
	size := s.lostLength(n)
	path := []string{folder, fmt.Sprintf("FSCK%04d.REC", number)}
	ok, err := s.deliver(path, Salvaged{SizeBytes: size, Lost: true}, func(w io.Writer) error {
		_, err := s.copyChain(w, n, size)
		return err
	})
	s.seen.set(n)
	if ok {
		s.report.LostChains++
	}
	return err
}

// lostLength is the length in bytes of a lost chain up to where it ends, loops
// or meets something that belongs to a file.
func (s *salvager) lostLength(n uint32) int64 {
	count := int64(0)
	mine := make(map[uint32]bool)
	for at, ok := n, true; ok && !s.seen.has(at) && !mine[at] && len(mine) < maxLoopMemory; at, ok = s.next(at) {
		mine[at] = true
		count++
	}
	return count * int64(s.g.ClusterSize)
}

// maxLoopMemory bounds the clusters of one lost chain that is written as one
// file; the rest of a longer one follows as the next.
const maxLoopMemory = 1 << 20
