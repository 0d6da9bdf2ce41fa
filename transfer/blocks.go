package transfer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
)

const (
	// blockBytes is the unit of reading and writing.
	blockBytes = mib
	// poolBlocks bounds the blocks read ahead over all files.
	poolBlocks = 16
	// readDepth is how many blocks of one file are read ahead; readers read at a time.
	readDepth = 6
	readers   = 2
)

// pool hands out blocks; at most poolBlocks exist.
type pool struct{ free chan []byte }

func newPool() *pool {
	p := &pool{free: make(chan []byte, poolBlocks)}
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
	buf   []byte
	off   int64
	n     int
	err   error
	ready chan struct{}
}

// input is what blocks are read from.
type input interface {
	io.ReaderAt
	io.Closer
	stat() (node, error)
	ahead(off, n int64)
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

// stream reads [off, off+n) of src in blocks, several at a time, and calls sink
// with each in order. scratch is used when one block is enough.
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
	var wg sync.WaitGroup
	ordered := make(chan *chunk, readDepth)
	work := make(chan *chunk)
	defer func() {
		cancel()
		for b := range ordered { // give everything back
			<-b.ready
			p.put(b.buf)
		}
		wg.Wait()
	}()
	wg.Add(1 + readers)
	go func() {
		defer wg.Done()
		cut(ctx, p, src, off, n, ordered, work)
	}()
	for range readers {
		go func() {
			defer wg.Done()
			for b := range work {
				readBlock(src, b)
				close(b.ready)
			}
		}()
	}
	return drain(ctx, p, off, n, ordered, sink)
}

// cut makes blocks in order and hands them to the readers.
func cut(ctx context.Context, p *pool, src input, off, n int64, ordered, work chan *chunk) {
	defer close(ordered)
	defer close(work)
	for end := off + n; off < end; {
		buf, err := p.get(ctx)
		if err != nil {
			return
		}
		b := &chunk{buf: buf, off: off, n: int(min(blockBytes, end-off)), ready: make(chan struct{})}
		if next := off + readDepth*blockBytes; next < end {
			src.ahead(next, min(blockBytes, end-next))
		}
		select {
		case ordered <- b:
		case <-ctx.Done():
			p.put(buf)
			return
		}
		work <- b // readers always drain it
		off += int64(b.n)
	}
}

// drain takes blocks in order.
func drain(ctx context.Context, p *pool, off, n int64, ordered chan *chunk, sink func([]byte, int64) error) error {
	end := off + n
	for off < end {
		var b *chunk
		select {
		case b = <-ordered:
		case <-ctx.Done():
			return errInterrupted
		}
		if b == nil {
			return errInterrupted
		}
		<-b.ready
		err := b.err
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
