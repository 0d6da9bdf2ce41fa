package container

import (
	"fmt"
	"io"
	"sync"

	"coffer/container/aesxts"
	"coffer/container/block"
)

// chunkBytes is how much is encrypted and written, or read and decrypted, at a
// time: it stays in the second-level cache between the two steps. The engine
// shares a chunk among the processors by itself; a second goroutine that took
// every other chunk was measured at 0.81 to 1.05 of the speed without it (files
// in memory and on disk, requests of 512 KiB to 4 MiB, two processors).
const chunkBytes = 256 << 10

// readBytes is how much is read at a time if the request is of whole units: on
// disks with little read-ahead, larger requests are faster (657 MB cold in
// 0.22 s, in requests of 256 KiB 0.29 s).
const readBytes = 1 << 20

// unitDevice encrypts whole data units on their way to a device and offers
// byte granularity above it. Offsets count from the start of the payload.
type unitDevice struct {
	dev    block.Device
	base   int64 // where the payload begins on dev
	unit   int64 // bytes of a data unit
	engine aesxts.Engine
	locks  rangeLock
	pool   sync.Pool // of *[]byte with chunkBytes
	busy   *busy
}

func newUnitDevice(dev block.Device, base int64, engine aesxts.Engine, b *busy) *unitDevice {
	u := &unitDevice{dev: dev, base: base, unit: int64(engine.UnitSize()), engine: engine, busy: b}
	u.pool.New = func() any { b := make([]byte, chunkBytes); return &b }
	return u
}

// chunk is a part of a request: p at off, inside the whole units [start, end).
type chunk struct {
	p          []byte
	off        int64
	start, end int64 // bytes, multiples of the unit
}

// split cuts a request into chunks whose units have at most so many bytes.
func (u *unitDevice) split(p []byte, off int64, most int) []chunk {
	chunks := make([]chunk, 0, len(p)/most+2)
	for len(p) > 0 {
		n := min(most-int(off%u.unit), len(p))
		chunks = append(chunks, u.chunk(p[:n], off))
		p, off = p[n:], off+int64(n)
	}
	return chunks
}

func (u *unitDevice) chunk(p []byte, off int64) chunk {
	end := off + int64(len(p)) + u.unit - 1
	return chunk{p: p, off: off, start: off - off%u.unit, end: end - end%u.unit}
}

// run works on a request in chunks of at most so many bytes and returns the
// bytes that were done before the first failure.
func (u *unitDevice) run(p []byte, off int64, exclusive bool, most int, work func(chunk) error) (int, error) {
	whole := u.chunk(p, off)
	hold := u.locks.acquire(uint64(whole.start/u.unit), uint64(whole.end/u.unit), exclusive)
	defer u.locks.release(hold)
	if whole.end-whole.start <= int64(most) {
		if err := work(whole); err != nil {
			return 0, err
		}
		return len(p), nil
	}
	for _, c := range u.split(p, off, most) {
		if err := work(c); err != nil {
			return int(c.off - off), err
		}
	}
	return len(p), nil
}

// writeAt stores p at off: the units p covers are encrypted from it, the edges
// are merged with what is there.
func (u *unitDevice) writeAt(p []byte, off int64) (int, error) {
	return u.run(p, off, true, chunkBytes, u.writeChunk)
}

func (u *unitDevice) writeChunk(c chunk) error {
	pooled := u.pool.Get().(*[]byte)
	defer u.pool.Put(pooled)
	out := (*pooled)[:c.end-c.start]
	first := uint64(c.start / u.unit)
	// The edges: old content, decrypted, with the new bytes laid over it.
	head, tail := c.off > c.start, c.off+int64(len(c.p)) < c.end
	if head || tail && len(out) == int(u.unit) {
		if err := u.merge(out[:u.unit], c.start, c); err != nil {
			return err
		}
	}
	if last := c.end - u.unit; tail && last > c.start {
		if err := u.merge(out[len(out)-int(u.unit):], last, c); err != nil {
			return err
		}
	}
	// What lies between: straight from the caller's buffer.
	from, to := int64(0), int64(len(out))
	if head || tail && len(out) == int(u.unit) {
		from = u.unit
	}
	if tail && to > u.unit {
		to -= u.unit
	}
	weight := u.busy.weight(len(out))
	at := u.busy.now(weight)
	if from < to {
		src := c.p[c.start+from-c.off:][:to-from]
		u.engine.EncryptUnits(out[from:to], src, first+uint64(from/u.unit))
		at = u.busy.add(&u.busy.crypto, at, weight)
	}
	_, err := u.dev.WriteAt(out, u.base+c.start)
	u.busy.add(&u.busy.write, at, weight)
	return err
}

// merge makes the new ciphertext of one edge unit at start in buf.
func (u *unitDevice) merge(buf []byte, start int64, c chunk) error {
	if err := block.ReadFull(u.dev, buf, u.base+start); err != nil {
		return fmt.Errorf("read the rest of a data unit: %w", err)
	}
	n := uint64(start / u.unit)
	u.engine.DecryptUnits(buf, buf, n)
	if c.off > start {
		copy(buf[c.off-start:], c.p)
	} else {
		copy(buf, c.p[start-c.off:])
	}
	u.engine.EncryptUnits(buf, buf, n)
	return nil
}

// readAt fills p from off.
func (u *unitDevice) readAt(p []byte, off int64) (int, error) {
	most := chunkBytes
	if (off|int64(len(p)))%u.unit == 0 {
		most = readBytes // straight into p
	}
	return u.run(p, off, false, most, u.readChunk)
}

func (u *unitDevice) readChunk(c chunk) error {
	if c.start == c.off && int64(len(c.p)) == c.end-c.start {
		return u.readPlain(c.p, c.start)
	}
	pooled := u.pool.Get().(*[]byte)
	defer u.pool.Put(pooled)
	buf := (*pooled)[:c.end-c.start]
	if err := u.readPlain(buf, c.start); err != nil {
		return err
	}
	copy(c.p, buf[c.off-c.start:])
	return nil
}

// readPlain fills buf with whole units from start, decrypted.
func (u *unitDevice) readPlain(buf []byte, start int64) error {
	weight := u.busy.weight(len(buf))
	at := u.busy.now(weight)
	if err := u.readUnits(buf, start); err != nil {
		return err
	}
	at = u.busy.add(&u.busy.read, at, weight)
	u.engine.DecryptUnits(buf, buf, uint64(start/u.unit))
	u.busy.add(&u.busy.crypto, at, weight)
	return nil
}

func (u *unitDevice) readUnits(buf []byte, start int64) error {
	err := block.ReadFull(u.dev, buf, u.base+start)
	if err == io.ErrUnexpectedEOF {
		err = fmt.Errorf("the image ends inside the payload: %w", ErrChanged)
	}
	return err
}
