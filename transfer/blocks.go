package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
)

const (
	// blockBytes is the unit of reading and writing.
	blockBytes = mib
	// poolBlocks bounds the blocks read ahead over all files.
	poolBlocks = 16
	// readDepth is how many blocks of one file are read ahead.
	readDepth = 6
)

// pool hands out blocks; at most poolBlocks exist.
type pool struct {
	free    chan []byte
	control *Control // of the job that copies them
}

func newPool(c *Control) *pool {
	p := &pool{free: make(chan []byte, poolBlocks), control: c}
	for range poolBlocks {
		p.free <- nil
	}
	return p
}

func (p *pool) get(ctx context.Context) ([]byte, error) {
	select {
	case b := <-p.free:
		if b == nil {
			b = make([]byte, blockBytes)
		}
		return b, nil
	case <-ctx.Done():
		return nil, errInterrupted
	}
}

func (p *pool) put(b []byte) { p.free <- b }

// chunk is a stretch of a file on its way from reader to writer.
type chunk struct {
	buf []byte
	off int64
	n   int
	err error
}

// input is what blocks are read from.
type input interface {
	io.ReaderAt
	io.Closer
	stat() (node, error)
	forget()
}

// readBlock fills b; a source that ends early is one that shrank.
func readBlock(src io.ReaderAt, b *chunk) {
	n, err := src.ReadAt(b.buf[:b.n], b.off)
	switch {
	case n == b.n:
	case err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		b.err = fileFailed(ReasonChanged, fmt.Errorf("it ended at byte %d while it was read", b.off+int64(n)))
	default:
		b.err = fileFailed(readReason(err), err)
	}
}

// stream reads [off, off+n) of src in blocks, from a goroutine of its own, and
// calls sink with each in order. scratch is used when one block is enough. One
// reader that goes straight on is what a host's read-ahead serves best: a second
// one beside it took twice as long (657 MB cold: 0.22 s and 0.47 s).
func stream(ctx context.Context, p *pool, src input, off, n int64, scratch []byte, sink func(p []byte, off int64) error) error {
	if n <= blockBytes {
		if n == 0 {
			return nil
		}
		b := chunk{buf: scratch, off: off, n: int(n)}
		if readBlock(src, &b); b.err != nil {
			return b.err
		}
		return sink(b.buf[:n], off)
	}
	ctx, cancel := context.WithCancel(ctx)
	ordered := make(chan *chunk, readDepth)
	defer func() {
		cancel()
		for b := range ordered { // give everything back
			p.put(b.buf)
		}
	}()
	go readAhead(ctx, p, src, off, n, ordered)
	return drain(ctx, p, off, n, ordered, sink)
}

// readAhead reads blocks in order until the first error.
func readAhead(ctx context.Context, p *pool, src input, off, n int64, ordered chan *chunk) {
	defer close(ordered)
	for end := off + n; off < end; {
		p.control.wait(ctx)
		buf, err := p.get(ctx)
		if err != nil {
			return
		}
		b := &chunk{buf: buf, off: off, n: int(min(blockBytes, end-off))}
		readBlock(src, b)
		select {
		case ordered <- b:
		case <-ctx.Done():
			p.put(buf)
			return
		}
		if b.err != nil {
			return
		}
		off += int64(b.n)
	}
}

// next is the next block, unless there is none any more: the run was interrupted. While the job is stopped it waits, also
// for a block that the reader will not bring meanwhile.
func (p *pool) next(ctx context.Context, ordered <-chan *chunk) (*chunk, error) {
	for {
		if err := p.control.pass(ctx); err != nil {
			return nil, err
		}
		select {
		case b := <-ordered:
			if b == nil {
				return nil, errInterrupted
			}
			return b, nil
		case <-p.control.pausing():
		case <-ctx.Done():
			return nil, errInterrupted
		}
	}
}

// drain takes blocks in order.
func drain(ctx context.Context, p *pool, off, n int64, ordered chan *chunk, sink func([]byte, int64) error) error {
	end := off + n
	for off < end {
		b, err := p.next(ctx, ordered)
		if err != nil {
			return err
		}
		err = b.err
		if err == nil {
			err = sink(b.buf[:b.n], b.off)
		}
		off += int64(b.n)
		p.put(b.buf)
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return errInterrupted
		}
	}
	return nil
}
