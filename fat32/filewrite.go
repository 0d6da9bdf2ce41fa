package fat32

import (
	"errors"
	"fmt"
	"sync"
)

// Sizes of the operations that long writes are cut into.
const (
	pieceBytes     = 4 << 20   // plain devices
	pieceOverBytes = 256 << 10 // overwritten data in one transaction
	pieceNewBytes  = 1 << 20   // new data in one transaction
	padBytes       = 4096      // the slack behind the end of a file is zeroed up to here
)

// WriteAt follows io.WriterAt. Writing past the end fills the gap with zeros.
// A write that would make the file larger than MaxFileSize, or that there is no
// room for, fails before it changes anything. The bytes are durable after Sync.
func (f *File) WriteAt(p []byte, off int64) (int, error) { return f.write(p, off, f.v.dev.WriteAt) }

func (f *File) write(p []byte, off int64, put putter) (int, error) {
	if err := f.usable(true); err != nil {
		return 0, f.wrap("write", err)
	}
	if off < 0 {
		return 0, f.wrap("write", fmt.Errorf("offset %d: %w", off, ErrInvalid))
	}
	if off > MaxFileSize || int64(len(p)) > MaxFileSize-off {
		return 0, f.wrap("write", ErrTooBig)
	}
	if len(p) == 0 {
		return 0, nil
	}
	n, err := f.writeAt(p, off, put)
	f.v.traffic.written.Add(int64(n))
	return n, f.wrap("write", err)
}

// WriteBehind is WriteAt for callers whose writes are acknowledged by a later Sync only, as those of
// programs on a mounted drive: large writes may return before the device has them. If the device then
// fails, the volume turns read-only and Sync tells; if the host is full, Sync and later writes tell
// and may be tried again. Reads see the bytes in any case.
func (f *File) WriteBehind(p []byte, off int64) (int, error) {
	if f.v.behind == nil || len(p) < behindLeast {
		return f.WriteAt(p, off)
	}
	return f.write(p, off, f.v.behind.write)
}

// putter writes to the device.
type putter func(p []byte, off int64) (int, error)

func (f *File) writeAt(p []byte, off int64, put putter) (int, error) {
	v, n := f.v, f.n
	if err := v.loadChain(n); err != nil {
		return 0, err
	}
	end := off + int64(len(p))
	if end <= n.length() {
		done, err := v.overwrite(n, p, off, put)
		if !errors.Is(err, errShrunk) {
			return done, err
		}
		// Truncated meanwhile: the rest makes the file longer.
		more, err := f.writeAt(p[done:], off+int64(done), put)
		return done + more, err
	}
	n.write.Lock()
	defer n.write.Unlock()
	size := n.length()
	if end <= size {
		done, err := v.overwrite(n, p, off, put)
		return done, err
	}
	had, _ := n.tail()
	if err := v.allocate(n, end); err != nil {
		return 0, err
	}
	done := 0
	err := v.zeroFill(n, size, off)
	for err == nil && done < len(p) {
		var k int
		k, err = v.writePiece(n, p[done:], off+int64(done), put)
		done += k
	}
	if err != nil {
		v.shedClusters(n, had)
	}
	return done, err
}

// errShrunk tells that a file became shorter than what was to be overwritten.
var errShrunk = errors.New("file was truncated")

// length returns the size in bytes.
func (n *node) length() int64 {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.size
}

// overwrite writes inside the file.
func (v *Volume) overwrite(n *node, p []byte, off int64, put putter) (done int, err error) {
	for done < len(p) && err == nil {
		n.io.RLock()
		if off+int64(len(p)) > n.length() {
			err = errShrunk
		} else {
			var k int
			k, err = v.writePiece(n, p[done:], off+int64(done), put)
			done += k
		}
		n.io.RUnlock()
	}
	return done, err
}

// writePiece writes the first part of p as one operation. Clusters for it are
// allocated already. It holds n.write or shares n.io.
func (v *Volume) writePiece(n *node, p []byte, off int64, put putter) (int, error) {
	for limit := v.pieceLimit(n, off); ; {
		part := p[:min(len(p), limit)]
		cost := v.pieceCost(n, off, len(part))
		err := v.mutate(cost, func() error { return v.writeNow(n, part, off, put) })
		if !tooLarge(err) || limit <= metaBlock {
			if err != nil {
				return 0, err
			}
			return len(part), nil
		}
		limit = min(limit, len(part)) / 2
	}
}

// pieceLimit is the length of the next operation of a long write, such that the next one
// begins at a cluster.
func (v *Volume) pieceLimit(n *node, off int64) int {
	limit := int64(pieceBytes)
	if v.txn != nil {
		limit = pieceNewBytes
		n.mu.RLock()
		if off < v.sealedLocked(n, off+1) {
			limit = pieceOverBytes
		}
		n.mu.RUnlock()
	}
	return int(limit - off%min(limit, int64(v.geo.ClusterSize)))
}

// freshIsFree reports whether new clusters cost a transaction nothing: whole
// blocks which the device knows to be empty.
func (v *Volume) freshIsFree() bool {
	return v.discard != nil && v.geo.ClusterSize%metaBlock == 0 && v.geo.DataOffset%metaBlock == 0
}

// sealedLocked returns before which byte of n, up to end, writing may dirty blocks
// that an earlier transaction holds. n.mu is held, shared at least.
func (v *Volume) sealedLocked(n *node, end int64) int64 {
	over := int64(n.linked) << v.shift // in clusters the disk knows
	switch {
	case !v.freshIsFree():
		return end
	case n.gone || n.early:
		over = max(over, int64(v.clustersFor(n.size))<<v.shift)
	}
	return over
}

// pieceCost is what writing length bytes at off dirties at most, data that
// goes into fresh blocks aside.
func (v *Volume) pieceCost(n *node, off int64, length int) int64 {
	if v.txn == nil {
		return 0
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	end := off + int64(length)
	last := uint32((end - 1) >> v.shift)
	cost := int64(costEntry)
	if over := v.sealedLocked(n, end); off < over {
		var store [8]segment
		for at, todo := off, int(min(end, over)-off); todo > 0; {
			segs, covered, err := v.mapLocked(n, store[:0], at, todo)
			if err != nil || covered == 0 {
				break // writeNow will tell
			}
			for _, s := range segs {
				cost += v.blocks(int64(s.len) + padBytes)
			}
			at += int64(covered)
			todo -= covered
		}
	}
	if from := max(uint32(off>>v.shift), n.linked); n.linked <= last {
		cost += v.costFAT(n.chain.slice(min(from, n.linked), min(last+1, n.chain.total)))
		cost += v.costFAT([]extent{{firstCluster, 1}}) // the old tail
	}
	return cost
}

// writeNow writes part and makes it a piece of the file. It runs inside an
// operation.
func (v *Volume) writeNow(n *node, part []byte, off int64, put putter) error {
	end := off + int64(len(part))
	n.mu.RLock()
	grows := end > n.size
	blocked := grows && v.frozenLocked(n)
	n.mu.RUnlock()
	if blocked {
		return errFlushFirst
	}
	if err := v.writeData(n, part, off, grows, put); err != nil {
		return err
	}
	now := encodeStamp(v.now(), v.loc)
	n.mu.Lock()
	defer n.mu.Unlock()
	if grows && v.frozenLocked(n) {
		return errFlushFirst // renamed meanwhile; the data is written again
	}
	if end > n.size {
		n.size = end
	}
	if n.start == 0 {
		n.start = n.chain.at(0)
	}
	n.modify, n.access = now.coarse(), now.day()
	n.attr |= AttrArchive
	v.touchLocked(n)
	return nil
}

// frozenLocked: n was renamed since the last snapshot and is on the disk under both names,
// which must agree on start and size. n.mu is held.
func (v *Volume) frozenLocked(n *node) bool {
	return v.txn == nil && n.moveGen == v.gen.Load() && !n.gone
}

// writeData writes part to the device. With pad, nothing of the file lies
// behind it, and the rest of the last block of its cluster is zeroed with it: a device
// with larger units then need not read what was there.
func (v *Volume) writeData(n *node, part []byte, off int64, pad bool, put putter) error {
	if err := v.markDirty(); err != nil {
		return v.deviceError(err)
	}
	var store [16]segment
	for len(part) > 0 {
		n.mu.RLock()
		segs, covered, err := v.mapLocked(n, store[:0], off, len(part))
		n.mu.RUnlock()
		if err != nil {
			return err
		}
		for i, s := range segs {
			last := covered == len(part) && i == len(segs)-1
			if err := v.writeSegment(part[:s.len], s.off, pad && last, off, put); err != nil {
				return err
			}
			part = part[s.len:]
			off += int64(s.len)
			covered -= s.len
		}
	}
	v.noteData()
	return nil
}

// padPool holds buffers for padded ends.
var padPool = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// writeSegment writes one segment of a file; off is its offset in the file.
func (v *Volume) writeSegment(p []byte, at int64, pad bool, off int64, put putter) error {
	end := at + int64(len(p))
	slack := int64(v.geo.ClusterSize) - (off+int64(len(p)))&(int64(v.geo.ClusterSize)-1)
	more := min(-end&(padBytes-1), slack)
	if !pad || more == 0 || slack == int64(v.geo.ClusterSize) {
		return v.deviceError(writeFull(put, p, at))
	}
	buf := padPool.Get().(*[64 << 10]byte)
	defer padPool.Put(buf)
	if len(p)+int(more) > len(buf) {
		// Only the last block is copied.
		head := int(end&^(padBytes-1) - at)
		if head > 0 {
			if err := writeFull(put, p[:head], at); err != nil {
				return v.deviceError(err)
			}
			p, at = p[head:], at+int64(head)
		}
	}
	k := copy(buf[:], p)
	clear(buf[k : k+int(more)])
	return v.deviceError(writeFull(put, buf[:k+int(more)], at))
}

// deviceError gives a full host disk the error callers know.
func (v *Volume) deviceError(err error) error {
	if err != nil && hostFull(err) && !errors.Is(err, ErrNoSpace) {
		return fmt.Errorf("%w below the volume: %w", ErrNoSpace, err)
	}
	return err
}

// allocate gives n, whose write lock is held, the clusters that size bytes
// need, or none.
func (v *Volume) allocate(n *node, size int64) error {
	need := v.clustersFor(size)
	had, _ := n.tail()
	for attempt := 0; ; {
		have, goal := n.tail()
		if have >= need {
			return nil
		}
		n.mu.RLock()
		wait := v.txn == nil && n.newEnd && !n.gone
		n.mu.RUnlock()
		if wait {
			// The cut has to be on the disk before the chain goes on elsewhere.
			if err := v.flush(); err != nil {
				return err
			}
			continue
		}
		if run, ok := v.alloc.take(n, need-have, goal, v.ahead(have, need)); ok {
			n.mu.Lock()
			n.chain.add(run)
			n.mu.Unlock()
			continue
		}
		err := v.noSpace()
		if errors.Is(err, errFlushFirst) && attempt < 8 {
			attempt++
			if err = v.settle(); err == nil {
				continue
			}
		} else if errors.Is(err, errFlushFirst) {
			err = ErrNoSpace
		}
		v.shedClusters(n, had)
		return err
	}
}

// ahead is how many clusters to keep behind a file that grows: as many as it
// has, up to 8 MiB, and none for its first ones.
func (v *Volume) ahead(have, need uint32) uint32 {
	if have == 0 {
		return 0
	}
	return min(need, uint32(8<<20>>v.shift))
}

// shedClusters gives back clusters beyond the first keep that the file does
// not use.
func (v *Volume) shedClusters(n *node, keep uint32) {
	n.mu.Lock()
	keep = max(keep, v.clustersFor(n.size), n.linked)
	off := n.chain.cut(keep)
	n.mu.Unlock()
	v.dropUnlinked(off, v.gen.Load())
}
