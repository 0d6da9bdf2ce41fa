// Package blocktest holds block devices for tests of any package: memory that
// can be cloned cheaply (Mem), power cuts (Crash), recording and replay of
// writes (Trace, Log), failing operations (Fault), and a transactional device
// that checks its caller (Txn). It needs only the standard library.
//
// The devices satisfy block.Device and, structurally, the interfaces of the
// same methods in other packages.
package blocktest

import (
	"fmt"
	"sync"
	"sync/atomic"

	"coffer/container/block"
)

const (
	pageBytes = 4096
	shards    = 64
	// MaxMemBytes is the largest Mem: 16 TiB, the largest FAT32 volume.
	MaxMemBytes = 16 << 40
)

// page is one unit of storage. Once shared is set its data never change
// again: a writer copies it first. It is never cleared.
type page struct {
	shared atomic.Bool
	data   [pageBytes]byte
}

// zeroPage stands for zeros where a base layer has something else.
var zeroPage = func() *page { p := new(page); p.shared.Store(true); return p }()

type shard struct {
	mu    sync.RWMutex
	pages map[int64]*page
}

// Mem is a sparse device in memory. Only pages of 4096 bytes that were written
// with something else than zeros take memory. Safe for concurrent use, also on
// ranges that share a page. Sync does nothing: see Crash for what a power cut
// leaves.
type Mem struct {
	size   atomic.Int64
	base   map[int64]*page // frozen layer below; nil or never changed
	shards [shards]shard
}

// NewMem returns a device of size bytes of zeros. It panics if size is
// negative or over MaxMemBytes: that is a mistake in the test.
func NewMem(size int64) *Mem {
	if size < 0 || size > MaxMemBytes {
		panic(fmt.Sprintf("blocktest: size %d outside 0..%d", size, int64(MaxMemBytes)))
	}
	m := new(Mem)
	m.size.Store(size)
	for i := range m.shards {
		m.shards[i].pages = make(map[int64]*page)
	}
	return m
}

// Size is the length in bytes.
func (m *Mem) Size() int64 { return m.size.Load() }

// Sync does nothing and never fails.
func (m *Mem) Sync() error { return nil }

// find returns the page of index i or nil for zeros.
func (m *Mem) findLocked(s *shard, i int64) *page {
	if p, ok := s.pages[i]; ok {
		return p
	}
	return m.base[i]
}

// ReadAt reads like io.ReaderAt.
func (m *Mem) ReadAt(p []byte, off int64) (int, error) {
	n, eof := block.ClipRead(off, len(p), m.Size())
	for done := 0; done < n; {
		i, in := (off+int64(done))/pageBytes, int((off+int64(done))%pageBytes)
		part := p[done:min(n, done+pageBytes-in)]
		s := &m.shards[i%shards]
		s.mu.RLock()
		if pg := m.findLocked(s, i); pg != nil {
			copy(part, pg.data[in:])
		} else {
			clear(part)
		}
		s.mu.RUnlock()
		done += len(part)
	}
	return n, eof
}

// WriteAt writes p; a range outside the device is block.ErrOutOfRange and
// changes nothing.
func (m *Mem) WriteAt(p []byte, off int64) (int, error) {
	if err := block.CheckRange(off, int64(len(p)), m.Size()); err != nil {
		return 0, fmt.Errorf("memory device: write: %w", err)
	}
	for done := 0; done < len(p); {
		i, in := (off+int64(done))/pageBytes, int((off+int64(done))%pageBytes)
		part := p[done:min(len(p), done+pageBytes-in)]
		m.writePage(i, in, part)
		done += len(part)
	}
	return len(p), nil
}

func (m *Mem) writePage(i int64, in int, part []byte) {
	s := &m.shards[i%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	old := m.findLocked(s, i)
	if isZero(part) && (old == nil || len(part) == pageBytes) {
		m.dropLocked(s, i)
		return
	}
	if old != nil && !old.shared.Load() {
		if _, own := s.pages[i]; own {
			copy(old.data[in:], part)
			return
		}
	}
	pg := new(page)
	if old != nil && len(part) < pageBytes {
		pg.data = old.data
	}
	copy(pg.data[in:], part)
	s.pages[i] = pg
}

// dropLocked makes page i zeros.
func (m *Mem) dropLocked(s *shard, i int64) {
	if _, ok := m.base[i]; ok {
		s.pages[i] = zeroPage
		return
	}
	delete(s.pages, i)
}

// Discard makes the range zeros and gives its memory back.
func (m *Mem) Discard(off, n int64) error {
	if err := block.CheckRange(off, n, m.Size()); err != nil {
		return fmt.Errorf("memory device: discard: %w", err)
	}
	m.zero(off, n)
	return nil
}

// zero clears a range of any length in time bounded by the pages in use.
func (m *Mem) zero(off, n int64) {
	first, last := (off+pageBytes-1)/pageBytes, (off+n)/pageBytes // whole pages
	if first >= last {
		for end := off + n; off < end; {
			in := int(off % pageBytes)
			k := min(end-off, int64(pageBytes-in))
			m.writePage(off/pageBytes, in, zeroPage.data[:k])
			off += k
		}
		return
	}
	if head := first*pageBytes - off; head > 0 {
		m.writePage(off/pageBytes, int(off%pageBytes), zeroPage.data[:head])
	}
	if tail := off + n - last*pageBytes; tail > 0 {
		m.writePage(last, 0, zeroPage.data[:tail])
	}
	m.dropPages(first, last)
}

// dropPages makes the pages [first, last) zeros.
func (m *Mem) dropPages(first, last int64) {
	if last-first <= 4096 {
		for i := first; i < last; i++ {
			s := &m.shards[i%shards]
			s.mu.Lock()
			m.dropLocked(s, i)
			s.mu.Unlock()
		}
		return
	}
	for i := range m.base {
		if i >= first && i < last {
			s := &m.shards[i%shards]
			s.mu.Lock()
			s.pages[i] = zeroPage
			s.mu.Unlock()
		}
	}
	for k := range m.shards {
		s := &m.shards[k]
		s.mu.Lock()
		for i := range s.pages {
			if i >= first && i < last {
				m.dropLocked(s, i)
			}
		}
		s.mu.Unlock()
	}
}

// Truncate changes the size, as of an image file: a shorter device loses its
// tail, a longer one gets zeros. Not concurrently with writes beyond the new
// size.
func (m *Mem) Truncate(size int64) error {
	if size < 0 || size > MaxMemBytes {
		return fmt.Errorf("memory device: truncate to %d: %w", size, block.ErrOutOfRange)
	}
	if old := m.Size(); size < old {
		m.zero(size, old-size)
	}
	m.size.Store(size)
	return nil
}

// Clone returns an independent copy. It copies page references, not pages:
// both sides copy a page when they next write it. Writes of other goroutines
// during the call may or may not be in the copy.
func (m *Mem) Clone() *Mem {
	c := NewMem(m.Size())
	c.base = m.base
	for k := range m.shards {
		s := &m.shards[k]
		s.mu.Lock()
		pages := make(map[int64]*page, len(s.pages))
		for i, p := range s.pages {
			p.shared.Store(true)
			pages[i] = p
		}
		s.mu.Unlock()
		c.shards[k].pages = pages
	}
	return c
}

// Freeze makes the present content the base layer, so that clones made from
// now on cost only the pages written after this call. Not concurrently with
// any other use.
func (m *Mem) Freeze() {
	base := make(map[int64]*page, len(m.base))
	for i, p := range m.base {
		base[i] = p
	}
	for k := range m.shards {
		s := &m.shards[k]
		for i, p := range s.pages {
			if p == zeroPage {
				delete(base, i)
				continue
			}
			p.shared.Store(true)
			base[i] = p
		}
		s.pages = make(map[int64]*page)
	}
	m.base = base
}

// UsedBytes is the memory taken by pages, shared ones included.
func (m *Mem) UsedBytes() int64 {
	n := int64(0)
	m.eachPage(func(int64, *page) bool { n += pageBytes; return true })
	return n
}

// eachPage calls f for every page that is not known to be zeros, in no
// particular order, until f returns false.
func (m *Mem) eachPage(f func(i int64, p *page) bool) {
	seen := func(i int64) bool {
		s := &m.shards[i%shards]
		s.mu.RLock()
		defer s.mu.RUnlock()
		_, ok := s.pages[i]
		return ok
	}
	for i, p := range m.base {
		if !seen(i) && !f(i, p) {
			return
		}
	}
	for k := range m.shards {
		s := &m.shards[k]
		s.mu.RLock()
		pages := make(map[int64]*page, len(s.pages))
		for i, p := range s.pages {
			if p != zeroPage {
				pages[i] = p
			}
		}
		s.mu.RUnlock()
		for i, p := range pages {
			if !f(i, p) {
				return
			}
		}
	}
}

// sharePage returns page i (nil: zeros) after making it immutable, so that the
// caller may keep it.
func (m *Mem) sharePage(i int64) *page {
	s := &m.shards[i%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	p := m.findLocked(s, i)
	if p != nil {
		p.shared.Store(true)
	}
	return p
}

// setPage puts an immutable page (nil: zeros) at index i.
func (m *Mem) setPage(i int64, p *page) {
	s := &m.shards[i%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	if p == nil || p == zeroPage {
		m.dropLocked(s, i)
		return
	}
	s.pages[i] = p
}

func isZero(p []byte) bool {
	for len(p) > 0 {
		n := min(len(p), pageBytes)
		if string(p[:n]) != string(zeroPage.data[:n]) {
			return false
		}
		p = p[n:]
	}
	return true
}
