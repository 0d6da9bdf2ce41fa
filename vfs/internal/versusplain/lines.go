package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// Full amounts. [a] and [b] are the workloads of the project: one large file, and many of very different sizes in
// nested folders.
const (
	largeBytes  = 658e6
	nestedBytes = 667e6
	nestedFiles = 2140
	streamBytes = 512 << 20 // of sequential and random access
	smallFiles  = 5000
	smallBytes  = 1000
)

// Titles of the lines, which the targets refer to.
const (
	inA, outA           = "copy in [a]", "copy out [a] cold"
	inB, outB           = "copy in [b]", "copy out [b] cold"
	seqWrite            = "sequential write 1 MiB"
	seqCold, seqHot     = "sequential read 1 MiB cold", "sequential read 1 MiB hot"
	randCold1           = "random read 4 KiB cold, 1 job"
	randCold4           = "random read 4 KiB cold, 4 jobs"
	randHot1, randHot4  = "random read 4 KiB hot, 1 job", "random read 4 KiB hot, 4 jobs"
	randWrite1          = "random write 4 KiB, 1 job"
	randWrite4          = "random write 4 KiB, 4 jobs"
	createMany          = "create 5,000 files"
	listCold, listHot   = "list 5,000 files cold", "list 5,000 files hot"
	statCold, statHot   = "stat 5,000 files cold", "stat 5,000 files hot"
	deleteMany          = "delete 5,000 files"
	cpuIn, cpuOut       = "CPU of the daemon, " + inA, "CPU of the daemon, " + outA
	megabytes, ops, fps = "MB/s", "op/s", "files/s"
)

func (b *bench) source(which string) string { return filepath.Join(b.dir, "source-"+which) }

// makeSources writes what is copied in, once.
func (b *bench) makeSources() error {
	if _, err := os.Stat(b.source("b")); err == nil {
		return nil
	}
	if err := makeFile(filepath.Join(b.source("a"), "large.bin"), b.bytes(largeBytes)); err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(2140, 667))
	weights, sum := make([]float64, nestedFiles), 0.0
	for i := range weights {
		weights[i] = r.ExpFloat64() * r.ExpFloat64() // many small, few large
		sum += weights[i]
	}
	for i, w := range weights {
		name := fmt.Sprintf("folder %02d/sub %d/inner %d/file number %05d.dat", i/107, i/21%5, i/7%3, i)
		if err := makeFile(filepath.Join(b.source("b"), name), int64(w/sum*float64(b.bytes(nestedBytes)))); err != nil {
			return err
		}
	}
	return nil
}

// makeFile writes a file of bytes that do not compress.
func makeFile(path string, sizeBytes int64) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return writeBlocks(f, sizeBytes)
}

// writeBlocks writes so many bytes, 1 MiB at a time.
func writeBlocks(w io.Writer, sizeBytes int64) error {
	block := make([]byte, 1<<20)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(block)
	for left := sizeBytes; left > 0; left -= int64(len(block)) {
		if _, err := w.Write(block[:min(left, int64(len(block)))]); err != nil {
			return err
		}
	}
	return nil
}

// readAll reads a file 1 MiB at a time and returns its length.
func readAll(path string) (n int64, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	for block := make([]byte, 1<<20); ; {
		k, err := f.Read(block)
		n += int64(k)
		if err == io.EOF {
			return n, nil
		} else if err != nil {
			return n, err
		}
	}
}

func (b *bench) lines() []line {
	all := b.copyLines("a", inA, outA, b.bytes(largeBytes))
	all = append(all, b.copyLines("b", inB, outB, b.bytes(nestedBytes))...)
	all = append(all, b.streamLines()...)
	all = append(all, b.randomLines()...)
	return append(all, b.nameLines()...)
}

func (b *bench) copyLines(which, in, out string, sizeBytes int64) []line {
	inside := func(c contender) string { return filepath.Join(c.dir(), "copy-"+which) }
	copyIn := func(ctx context.Context, c contender) error {
		if err := cp(ctx, b.source(which), inside(c)); err != nil {
			return err
		}
		return b.durable(ctx, c)
	}
	return []line{
		{title: in, unit: megabytes, cpuBytes: float64(sizeBytes),
			prepare: func(context.Context, contender) error { return warm(b.source(which)) },
			do: func(ctx context.Context, c contender) (float64, error) {
				rate, err := timed(float64(sizeBytes)/1e6, func() error { return copyIn(ctx, c) })
				if err != nil {
					return 0, err
				}
				return rate, sameTree(b.source(which), inside(c))
			}},
		{title: out, unit: megabytes, cold: true, cpuBytes: float64(sizeBytes),
			prepare: func(ctx context.Context, c contender) error {
				if _, err := os.Stat(inside(c)); err == nil {
					return nil
				}
				return copyIn(ctx, c) // only this line is wanted
			},
			do: func(ctx context.Context, c contender) (float64, error) {
				back := filepath.Join(b.dir, "back")
				defer os.RemoveAll(back)
				rate, err := timed(float64(sizeBytes)/1e6, func() error {
					if err := cp(ctx, inside(c), back); err != nil {
						return err
					}
					_, err := output(ctx, nil, "", "sync", "-f", b.dir)
					return err
				})
				if err != nil {
					return 0, err
				}
				// The copy inside has served: the disk stays small and the next line starts with a quiet drive.
				return rate, keepFirst(sameTree(b.source(which), back), os.RemoveAll(inside(c)))
			}},
	}
}

func keepFirst(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

func streamFile(c contender) string { return filepath.Join(c.dir(), "stream.bin") }

// needStream makes the file that sequential and random lines work on, durable, if it is not there.
func (b *bench) needStream(ctx context.Context, c contender) error {
	if info, err := os.Stat(streamFile(c)); err == nil && info.Size() == b.bytes(streamBytes) {
		return nil
	}
	return b.writeStream(ctx, c)
}

func (b *bench) writeStream(ctx context.Context, c contender) error {
	if err := makeFile(streamFile(c), b.bytes(streamBytes)); err != nil {
		return err
	}
	return b.durable(ctx, c)
}

func (b *bench) streamLines() []line {
	size := b.bytes(streamBytes)
	read := func(_ context.Context, c contender) (float64, error) {
		return timed(float64(size)/1e6, func() error {
			n, err := readAll(streamFile(c))
			if err == nil && n != size {
				err = fmt.Errorf("%d bytes of %d were read", n, size)
			}
			return err
		})
	}
	return []line{
		{title: seqWrite, unit: megabytes,
			prepare: func(context.Context, contender) error { return nil },
			do: func(ctx context.Context, c contender) (float64, error) {
				return timed(float64(size)/1e6, func() error { return b.writeStream(ctx, c) })
			}},
		{title: seqCold, unit: megabytes, cold: true, prepare: b.needStream, do: read},
		{title: seqHot, unit: megabytes, prepare: b.warmStream, do: read},
	}
}

func (b *bench) warmStream(ctx context.Context, c contender) error {
	if err := b.needStream(ctx, c); err != nil {
		return err
	}
	_, err := readAll(streamFile(c))
	return err
}
