package fat32

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
)

// scanChunk is how many regions are read at once: 1 MiB of FAT32.
const scanChunk = 16

// scanner fills the allocator from the FAT once, in the background.
type scanner struct {
	once sync.Once
	done chan struct{} // closed when the whole FAT has been read
	halt atomic.Bool
	mu   sync.Mutex
	err  error // of the first part that could not be read
	// free counts the free entries of the FAT on the disk; after the scan the
	// flush keeps it.
	free atomic.Int64
}

// startScan begins the scan; further calls do nothing.
func (v *Volume) startScan() {
	s := &v.scan
	s.once.Do(func() {
		v.alloc.init(v.geo.ClusterCount)
		v.alloc.next = int(v.nextHint())
		s.done = make(chan struct{})
		v.done.Go(v.scanAll)
	})
}

// wait returns when the scan is over.
func (s *scanner) wait() { <-s.done }

func (s *scanner) cancel() { s.halt.Store(true) }

// nextHint returns where FSInfo says the search for free clusters should
// begin, as an index; it is a hint and checked only for its range.
func (v *Volume) nextHint() uint32 {
	if v.boot.fsInfoOffset == 0 {
		return 0
	}
	p := make([]byte, fsInfoBytes)
	if readFull(v.dev, p, v.boot.fsInfoOffset) != nil || !fsInfoValid(p) {
		return 0
	}
	if c := binary.LittleEndian.Uint32(p[fsInfoNext:]); v.geo.valid(c) {
		return c - firstCluster
	}
	return 0
}

func (v *Volume) scanAll() {
	s := &v.scan
	regions := len(v.alloc.free)
	chunks := (regions + scanChunk - 1) / scanChunk
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(4, max(2, runtime.GOMAXPROCS(0)), chunks) {
		workers.Go(func() {
			var buf []byte
			for {
				i := int(next.Add(1)) - 1
				if i >= chunks || s.halt.Load() {
					return
				}
				from, to := i*scanChunk, min((i+1)*scanChunk, regions)
				var err error
				if buf, err = v.scanRegions(from, to, buf); err != nil {
					s.mu.Lock()
					if s.err == nil {
						s.err = fmt.Errorf("FAT scan: %w", err)
					}
					s.mu.Unlock()
				}
			}
		})
	}
	workers.Wait()
	close(s.done)
}

// scanRegions reads the FAT of regions from..to-1. What cannot be read stays
// marked as in use.
func (v *Volume) scanRegions(from, to int, buf []byte) ([]byte, error) {
	t := v.geo.Type
	first := uint32(from*regionClusters) + firstCluster
	last := min(uint32(to*regionClusters)+firstCluster, v.geo.limit()) // exclusive
	base, _ := t.entryRange(first)
	off, size := t.entryRange(last - 1)
	n := int(off-base) + size
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	p := buf[:n]
	if err := v.fat.read(p, base); err != nil {
		return buf, err
	}
	used := newBitset(regionClusters)
	for r := from; r < to; r++ {
		lo := uint32(r*regionClusters) + firstCluster
		hi := min(lo+regionClusters, last)
		clear(used)
		free := 0
		if t == FAT32 {
			q := p[int64(lo)*4-base:]
			for i := range int(hi - lo) {
				if binary.LittleEndian.Uint32(q[4*i:])&0x0FFFFFFF != 0 {
					used[i>>6] |= 1 << (uint(i) & 63)
				} else {
					free++
				}
			}
		} else {
			for c := lo; c < hi; c++ {
				if t.getEntry(p, base, c) != entryFree {
					used.set(int(c - lo))
				} else {
					free++
				}
			}
		}
		v.scan.free.Add(int64(free))
		v.alloc.learn(r, used)
	}
	return buf, nil
}
