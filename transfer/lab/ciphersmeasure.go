package lab

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"coffer/container/ciphers"
	"coffer/container/image"
	"coffer/transfer/report"
)

const (
	// memoryBytes is the buffer of one worker in memory: it stays in the processor's caches, so that what is measured is
	// the cipher and not the memory.
	memoryBytes = 64 << 10
	// chunkBytes is what one worker writes to the image file at a time.
	chunkBytes = 1 << 20
	// dataBytes is the source of the image file, over and over.
	dataBytes = 8 << 20
)

// errRoundTrip means that an implementation is wrong; it must never be measured.
var errRoundTrip = errors.New("what was decrypted is not what was encrypted")

func (r *cipherRun) prepare() error {
	for _, s := range r.options.Sources {
		r.data[s] = make([]byte, dataBytes)
		if s == Random {
			if _, err := rand.Read(r.data[s]); err != nil {
				return fmt.Errorf("lab ciphers: random data: %w", err)
			}
		}
	}
	return nil
}

// memoryWorker is what one goroutine works on in memory.
type memoryWorker struct {
	plain, secret, tags, out []byte
	first                    uint64
}

// measureMemory measures encryption, then decryption, of data in the processor's caches. Setting up keys, one encryption and
// one decryption to check the implementation come before, outside the time.
func (r *cipherRun) measureMemory(ctx context.Context, s subject, at setting) (sample, error) {
	sectors, err := s.open(at.sectorBytes)
	if err != nil {
		return sample{}, err
	}
	defer sectors.Wipe()
	units := memoryBytes / at.sectorBytes
	workers := make([]*memoryWorker, at.workers)
	for i := range workers {
		w := &memoryWorker{
			plain: make([]byte, memoryBytes), secret: make([]byte, memoryBytes), out: make([]byte, memoryBytes),
			tags: make([]byte, units*sectors.TagBytes()), first: uint64(i * units),
		}
		copy(w.plain, r.data[at.source][i*memoryBytes%dataBytes:])
		workers[i] = w
		if err := errors.Join(sectors.Encrypt(w.secret, w.tags, w.plain, w.first), sectors.Decrypt(w.out, w.tags, w.secret, w.first)); err != nil {
			return sample{}, err
		}
		if !bytes.Equal(w.out, w.plain) {
			return sample{}, errRoundTrip
		}
	}
	var got sample
	got.encrypt, got.encryptCPU, err = r.span(ctx, workers, func(w *memoryWorker) error {
		return sectors.Encrypt(w.secret, w.tags, w.plain, w.first)
	})
	if err != nil {
		return sample{}, err
	}
	got.decrypt, got.decryptCPU, err = r.span(ctx, workers, func(w *memoryWorker) error {
		return sectors.Decrypt(w.out, w.tags, w.secret, w.first)
	})
	return got, err
}

// span repeats work on every worker's buffer for the time asked for, and returns bytes per second and processor seconds
// per byte: all bytes of all workers over the time until the last one stopped. The time starts when all are running, not
// when they were asked to: it is no measure of how fast the system wakes them.
func (r *cipherRun) span(ctx context.Context, workers []*memoryWorker, work func(*memoryWorker) error) (perSecond, cpuPerByte float64, err error) {
	var (
		group     sync.WaitGroup
		arrived   atomic.Int64
		running   atomic.Bool
		bytesDone atomic.Int64
		failures  = make([]error, len(workers))
		before    report.Times // this and start are set before running
		start     time.Time
	)
	for i, w := range workers {
		group.Go(func() {
			if int(arrived.Add(1)) == len(workers) {
				before, start = report.ProcessTimes(), time.Now()
				running.Store(true)
			}
			for !running.Load() {
				runtime.Gosched()
			}
			var done int64
			for time.Since(start) < r.options.MemoryTime && failures[i] == nil {
				if failures[i] = ctx.Err(); failures[i] == nil {
					failures[i] = work(w)
				}
				done += int64(len(w.plain))
			}
			bytesDone.Add(done)
		})
	}
	group.Wait()
	return rates(bytesDone.Load(), time.Since(start), before, errors.Join(failures...))
}

// rates turns bytes, a time and the processor time before it into what a sample holds.
func rates(bytesDone int64, took time.Duration, before report.Times, err error) (perSecond, cpuPerByte float64, _ error) {
	if err != nil {
		return 0, 0, err
	}
	used := report.UsageBetween(before, report.ProcessTimes(), took)
	return float64(bytesDone) / took.Seconds(), (used.UserSeconds + used.SystemSeconds) / float64(bytesDone), nil
}

// imageJob is one image file with chunks of ciphertext, each followed by its tags.
type imageJob struct {
	sectors     ciphers.Sectors // nil: plain
	file        *image.File
	data        []byte
	chunks      int
	recordBytes int // chunk and tags
	sectorBytes int
}

// measureImage measures writing an image file, the sync included, and reading it back after its caches were dropped.
func (r *cipherRun) measureImage(ctx context.Context, s subject, at setting) (got sample, err error) {
	job := imageJob{data: r.data[at.source], chunks: int(r.options.ImageBytes / chunkBytes), recordBytes: chunkBytes, sectorBytes: at.sectorBytes}
	if s.open != nil {
		if job.sectors, err = s.open(at.sectorBytes); err != nil {
			return sample{}, err
		}
		defer job.sectors.Wipe()
		job.recordBytes += chunkBytes / at.sectorBytes * job.sectors.TagBytes()
	}
	size := int64(job.chunks) * int64(job.recordBytes)
	name := filepath.Join(r.folder, "image")
	if job.file, err = image.Create(name, size, image.Options{}); err != nil {
		return sample{}, err
	}
	defer func() { err = errors.Join(err, job.file.Close(), os.Remove(name)) }()
	workers := make([]*imageWorker, at.workers)
	for i := range workers {
		workers[i] = &imageWorker{make([]byte, job.recordBytes), make([]byte, chunkBytes), -1}
		_, _ = rand.Read(workers[i].record) // now, not inside the time, the system finds memory for it
		_, _ = rand.Read(workers[i].out)
	}
	before, start := report.ProcessTimes(), time.Now()
	if err = job.run(ctx, workers, job.write); err == nil {
		err = job.file.Sync()
	}
	if got.encrypt, got.encryptCPU, err = rates(r.options.ImageBytes, time.Since(start), before, err); err != nil {
		return sample{}, err
	}
	if err := job.file.DropCache(0, size); err != nil {
		r.dropErr = err
	}
	before, start = report.ProcessTimes(), time.Now()
	err = job.run(ctx, workers, job.read)
	if got.decrypt, got.decryptCPU, err = rates(r.options.ImageBytes, time.Since(start), before, err); err != nil {
		return sample{}, err
	}
	return got, job.compare(workers)
}

// plain is the payload of a chunk.
func (j *imageJob) plain(chunk int) []byte {
	at := chunk % (dataBytes / chunkBytes) * chunkBytes
	return j.data[at : at+chunkBytes : at+chunkBytes]
}

// imageWorker is what one goroutine needs for chunks.
type imageWorker struct {
	record, out []byte
	last        int // chunk in out; -1: none
}

func (j *imageJob) write(w *imageWorker, chunk int) error {
	record := j.plain(chunk)
	if j.sectors != nil {
		record = w.record
		if err := j.sectors.Encrypt(record[:chunkBytes], record[chunkBytes:], j.plain(chunk), j.first(chunk)); err != nil {
			return err
		}
	}
	_, err := j.file.WriteAt(record, int64(chunk)*int64(j.recordBytes))
	return err
}

func (j *imageJob) first(chunk int) uint64 { return uint64(chunk) * uint64(chunkBytes/j.sectorBytes) }

// read leaves the plaintext of the chunk in w.out.
func (j *imageJob) read(w *imageWorker, chunk int) error {
	w.last = chunk
	if j.sectors == nil {
		_, err := j.file.ReadAt(w.out, int64(chunk)*chunkBytes)
		return err
	}
	if _, err := j.file.ReadAt(w.record, int64(chunk)*int64(j.recordBytes)); err != nil {
		return err
	}
	return j.sectors.Decrypt(w.out, w.record[chunkBytes:], w.record[:chunkBytes], j.first(chunk))
}

// compare looks at the last chunk each worker read, after the time has stopped. Comparing every chunk would be a part of
// what is measured; that the implementation is right was shown in memory.
func (j *imageJob) compare(workers []*imageWorker) error {
	for _, w := range workers {
		if w.last >= 0 && !bytes.Equal(w.out, j.plain(w.last)) {
			return errRoundTrip
		}
	}
	return nil
}

// run hands the chunks in order to the workers and returns when all are done or one failed.
func (j *imageJob) run(ctx context.Context, workers []*imageWorker, do func(*imageWorker, int) error) error {
	var group sync.WaitGroup
	var next atomic.Int64
	failures := make([]error, len(workers))
	for i, w := range workers {
		group.Go(func() {
			for failures[i] == nil {
				chunk := int(next.Add(1) - 1)
				if chunk >= j.chunks {
					return
				}
				if failures[i] = ctx.Err(); failures[i] == nil {
					failures[i] = do(w, chunk)
				}
			}
			next.Store(int64(j.chunks)) // the others need not go on
		})
	}
	group.Wait()
	return errors.Join(failures...)
}
