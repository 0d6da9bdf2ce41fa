package aesxts

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// job is one call shared by several goroutines. Chunks are claimed through
// next, so a worker that the scheduler starts late finds nothing left and
// touches neither buffers nor keys; nobody waits for it.
type job struct {
	engine   *engine
	dst, src []byte
	at       number // of the first unit
	decrypt  bool
	chunk    int          // units of one chunk
	chunks   int64        // number of chunks
	next     atomic.Int64 // next chunk to claim
	left     sync.WaitGroup
}

// share runs the call on several goroutines, or returns false when there is
// nothing to gain: one processor, one worker allowed, or too few units.
func (e *engine) share(dst, src []byte, at number, decrypt bool) bool {
	workers := runtime.GOMAXPROCS(0)
	if e.workers > 0 {
		workers = min(workers, e.workers)
	}
	units := len(src) / e.unitBytes
	chunk := max(1, e.chunkBytes/e.unitBytes)
	chunks := (units + chunk - 1) / chunk
	workers = min(workers, chunks)
	if workers < 2 {
		return false
	}
	j := &job{engine: e, dst: dst, src: src, at: at, decrypt: decrypt, chunk: chunk, chunks: int64(chunks)}
	j.left.Add(chunks)
	for range workers - 1 {
		go j.work()
	}
	j.work()
	j.left.Wait()
	return true
}

func (j *job) work() {
	size := j.chunk * j.engine.unitBytes
	for {
		i := j.next.Add(1) - 1
		if i >= j.chunks {
			return
		}
		from := int(i) * size
		to := min(from+size, len(j.src))
		j.engine.run(j.dst[from:to], j.src[from:to], j.at.add(times(uint64(i)*uint64(j.chunk), j.engine.step)), j.decrypt)
		j.left.Done()
	}
}
