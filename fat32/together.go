package fat32

import (
	"errors"
	"fmt"
	"sync"
)

// togetherBytes bounds one device write of WriteUnnamed.
const togetherBytes = 256 << 10

// togetherPool holds its buffers.
var togetherPool = sync.Pool{New: func() any { return new([togetherBytes]byte) }}

// WriteUnnamed makes files without a name, as CreateUnnamed does, with contents
// from the caller, who keeps them. Small files lie next to each other as far as there
// is room in a row, and are written to the device together. All are made or none:
// ErrNoSpace if there is no room for all. An empty list makes nothing.
func (v *Volume) WriteUnnamed(contents [][]byte) ([]*File, error) {
	files, err := v.writeUnnamed(contents)
	if err != nil {
		return nil, fmt.Errorf("write %d files without a name: %w", len(contents), err)
	}
	return files, nil
}

func (v *Volume) writeUnnamed(contents [][]byte) ([]*File, error) {
	if v.closed.Load() {
		return nil, fmt.Errorf("volume: %w", ErrClosed)
	}
	if err := v.writable(); err != nil {
		return nil, err
	}
	var clusters, total int64
	for _, p := range contents {
		if int64(len(p)) > MaxFileSize {
			return nil, ErrTooBig
		}
		clusters += int64(v.clustersFor(int64(len(p))))
		total += int64(len(p))
	}
	runs, err := v.takeRuns(clusters)
	if err != nil {
		return nil, err
	}
	now := encodeStamp(v.now(), v.loc)
	files := make([]*File, len(contents))
	rest := runs
	for i, p := range contents {
		files[i] = v.newUnnamed(now)
		n := files[i].n
		n.size = int64(len(p))
		rest = n.chain.carve(rest, v.clustersFor(n.size))
		if n.chain.total > 0 {
			n.start = n.chain.runs[0].start
		}
	}
	if err := v.writeTogether(files, contents); err != nil {
		for _, f := range files {
			v.tighten(f.n)
		}
		v.dropUnlinked(runs, v.gen.Load())
		return nil, err
	}
	v.traffic.written.Add(total)
	return files, nil
}

// takeRuns allocates count clusters, in a row if possible, or none.
func (v *Volume) takeRuns(count int64) (runs []extent, err error) {
	for attempt := 0; count > 0; {
		if count > int64(v.geo.ClusterCount) {
			return nil, ErrNoSpace
		}
		if run, ok := v.alloc.take(nil, uint32(count), 0, 0); ok {
			runs = append(runs, run)
			count -= int64(run.count)
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
		v.dropUnlinked(runs, v.gen.Load())
		return nil, err
	}
	return runs, nil
}

// carve moves count clusters from the beginning of runs to the end of x and
// returns what is left.
func (x *extents) carve(runs []extent, count uint32) []extent {
	for count > 0 {
		k := min(count, runs[0].count)
		x.add(extent{runs[0].start, k})
		count -= k
		if k == runs[0].count {
			runs = runs[1:]
		} else { // the caller's runs stay as they are
			runs = append([]extent{{runs[0].start + k, runs[0].count - k}}, runs[1:]...)
		}
	}
	return runs
}

// writeTogether writes the contents of files that nobody else knows yet.
func (v *Volume) writeTogether(files []*File, contents [][]byte) error {
	cost := int64(costEntry)
	if v.txn != nil && !v.freshIsFree() {
		for _, f := range files {
			for _, run := range f.n.chain.runs {
				cost += v.blocks(int64(run.count) << v.shift)
			}
		}
	}
	return v.mutate(cost, func() error {
		if err := v.markDirty(); err != nil {
			return v.deviceError(err)
		}
		g := &gatherer{v: v, buf: togetherPool.Get().(*[togetherBytes]byte)}
		defer togetherPool.Put(g.buf)
		for i, f := range files {
			if err := g.file(&f.n.chain, contents[i]); err != nil {
				return err
			}
		}
		if err := g.flush(); err != nil {
			return err
		}
		v.noteData()
		return nil
	})
}

// gatherer joins writes that touch.
type gatherer struct {
	v   *Volume
	buf *[togetherBytes]byte
	at  int64 // on the device
	n   int   // bytes in buf
}

// file writes p into the clusters of chain. The rest of the last block is
// zeroed, as in writeSegment.
func (g *gatherer) file(chain *extents, p []byte) error {
	for _, run := range chain.runs {
		room := int64(run.count) << g.v.shift
		part := p[:min(int64(len(p)), room)]
		p = p[len(part):]
		at := g.v.geo.clusterOffset(run.start)
		if err := g.bytes(part, at); err != nil {
			return err
		}
		end := at + int64(len(part))
		if pad := min(-end&(padBytes-1), room-int64(len(part))); pad > 0 {
			if err := g.bytes(zeros[:pad], end); err != nil {
				return err
			}
		}
	}
	return nil
}

// bytes appends to what is gathered, or begins anew.
func (g *gatherer) bytes(p []byte, at int64) error {
	for len(p) > 0 {
		if g.n == len(g.buf) || g.n > 0 && g.at+int64(g.n) != at {
			if err := g.flush(); err != nil {
				return err
			}
		}
		if g.n == 0 {
			g.at = at
		}
		k := copy(g.buf[g.n:], p)
		g.n += k
		p, at = p[k:], at+int64(k)
	}
	return nil
}

func (g *gatherer) flush() error {
	if g.n == 0 {
		return nil
	}
	err := writeFull(g.v.dev.WriteAt, g.buf[:g.n], g.at)
	g.n = 0
	return g.v.deviceError(err)
}
