package transfer

import (
	"sync"

	"coffer/fat32"
)

const (
	// deviceFlushEvery is how much is written through a volume before the device
	// is asked to begin writing it to the disk.
	deviceFlushEvery = 8 * mib
	// prefetchWindow is how far small files are prefetched ahead of the readers.
	prefetchWindow = 8 * mib
	// prefetchFile and below are prefetched; the host reads ahead in larger ones.
	prefetchFile = 1 * mib
)

// deviceHints speaks to the device below a volume, if it listens.
type deviceHints struct {
	backing   Backing
	sizeBytes int64
	geometry  fat32.Geometry

	mu      sync.Mutex
	idle    *sync.Cond
	pending int64
	running bool
}

// wholePages is what n bytes of a file take on their way to the disk.
func wholePages(n int64) int64 { return (n + 4095) &^ 4095 }

// wrote counts bytes; every few MiB a goroutine starts write-back. It waits
// while more than maxPending has not been handed over.
func (d *deviceHints) wrote(n int64) {
	if d.backing == nil || n <= 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.idle == nil {
		d.idle = sync.NewCond(&d.mu)
	}
	d.pending += n
	if d.pending >= deviceFlushEvery && !d.running {
		d.running = true
		go d.start()
	}
	for d.pending >= maxPending && d.running {
		d.idle.Wait()
	}
}

// start hands everything written so far to write-back. The whole device is
// named: where the file system put the bytes is its business, and the host
// knows which pages are dirty.
func (d *deviceHints) start() {
	d.mu.Lock()
	n := d.pending
	d.mu.Unlock()
	d.backing.StartWriteback(0, d.sizeBytes) // a hint: errors show at sync
	d.mu.Lock()
	d.pending -= n
	d.running = false
	d.idle.Broadcast()
	d.mu.Unlock()
}

// wait returns when no goroutine is left.
func (d *deviceHints) wait() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.running {
		d.idle.Wait()
	}
}

func (d *deviceHints) clusterOffset(cluster uint64) int64 {
	return d.geometry.DataOffset + int64(cluster-2)*int64(d.geometry.ClusterSize)
}

func (d *deviceHints) prefetch(off, n int64) {
	if d.backing == nil || off < 0 || n <= 0 || off >= d.sizeBytes {
		return
	}
	d.backing.Prefetch(off, min(n, d.sizeBytes-off)) // a hint
}

// hints prefetches the next files of a volume, whose places are known.
type hints struct {
	mu    sync.Mutex
	ahead int   // first item not yet hinted
	bytes int64 // hinted, from the items not yet begun
}

// reading is called when item i is begun.
func (h *hints) reading(p *Plan, i int) {
	v, ok := p.sourceTree(int32(i)).(*volumeTree)
	if !ok || v.device.backing == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if i < h.ahead {
		h.bytes -= min(p.items[i].size, prefetchWindow)
	}
	h.ahead = max(h.ahead, i+1)
	from, to := int64(-1), int64(-1)
	for h.ahead < len(p.items) && h.bytes < prefetchWindow {
		it := &p.items[h.ahead]
		n := min(it.size, prefetchWindow)
		h.ahead++
		h.bytes += n
		if it.place < 2 || it.size > prefetchFile {
			continue
		}
		at := v.device.clusterOffset(it.place)
		if at != to { // neighbours become one hint
			if from >= 0 {
				v.device.prefetch(from, to-from)
			}
			from = at
		}
		to = at + (n+int64(v.device.geometry.ClusterSize)-1)/int64(v.device.geometry.ClusterSize)*int64(v.device.geometry.ClusterSize)
	}
	if from >= 0 {
		v.device.prefetch(from, to-from)
	}
}
