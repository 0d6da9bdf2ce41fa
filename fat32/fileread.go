package fat32

import (
	"fmt"
	"io"
)

// segment is a part of a file that lies in one piece on the device.
type segment struct {
	off int64
	len int
}

// mapLocked fills segs with where the bytes off..off+length-1 lie, as many
// segments as fit, and returns them and the bytes they cover. n.mu is held.
func (v *Volume) mapLocked(n *node, segs []segment, off int64, length int) ([]segment, int, error) {
	covered := 0
	mask := int64(v.geo.ClusterSize) - 1
	index := uint32(off >> v.shift)
	if length > 0 && index >= n.chain.total {
		return segs, 0, fmt.Errorf("chain of %d clusters ends before offset %d: %w", n.chain.total, off, ErrCorrupt)
	}
	for k := -1; length > 0 && len(segs) < cap(segs); {
		if k < 0 {
			k = n.chain.find(index)
		}
		if k == len(n.chain.runs) {
			return segs, covered, fmt.Errorf("chain of %d clusters ends before offset %d: %w", n.chain.total, off, ErrCorrupt)
		}
		run := n.chain.runs[k]
		skip := index - n.chain.first[k]
		room := int64(run.count-skip)<<v.shift - off&mask
		part := int(min(room, int64(length)))
		segs = append(segs, segment{v.geo.clusterOffset(run.start+skip) + off&mask, part})
		covered += part
		length -= part
		off += int64(part)
		index = uint32(off >> v.shift)
		k++
	}
	return segs, covered, nil
}

// ReadAt follows io.ReaderAt. Any number of reads run in parallel.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	if err := f.usable(false); err != nil {
		return 0, f.wrap("read", err)
	}
	if f.flag&accessMask == WriteOnly {
		return 0, f.wrap("read", fmt.Errorf("file is open for writing only: %w", ErrPermission))
	}
	if off < 0 {
		return 0, f.wrap("read", fmt.Errorf("offset %d: %w", off, ErrInvalid))
	}
	n, err := f.readAt(p, off)
	f.v.traffic.read.Add(int64(n))
	return n, f.wrap("read", err)
}

func (f *File) readAt(p []byte, off int64) (done int, err error) {
	v, n := f.v, f.n
	if len(p) == 0 {
		return 0, nil
	}
	if err := v.loadChain(n); err != nil && !n.partlyReadable(off) {
		return 0, err
	}
	n.io.RLock()
	defer n.io.RUnlock()
	var store [16]segment
	for done < len(p) {
		n.mu.RLock()
		rest := n.size - off
		want := int(min(int64(len(p)-done), max(rest, 0)))
		segs, _, err := v.mapLocked(n, store[:0], off, want)
		n.mu.RUnlock()
		if want == 0 {
			return done, io.EOF
		}
		for _, s := range segs {
			if err := readFull(v.dev, p[done:done+s.len], s.off); err != nil {
				return done, err
			}
			done += s.len
			off += int64(s.len)
		}
		if err != nil {
			return done, err
		}
	}
	return done, nil
}

// partlyReadable reports whether a damaged chain still reaches the cluster of off:
// what is there can be read even if the end is missing.
func (n *node) partlyReadable(off int64) bool {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.loaded && n.chain.total > 0 && off < n.size
}
