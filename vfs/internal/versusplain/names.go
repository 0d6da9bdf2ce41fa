package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
)

func smallFolder(c contender) string { return filepath.Join(c.dir(), "small") }

func smallName(c contender, i int) string {
	return filepath.Join(smallFolder(c), fmt.Sprintf("a small file %04d.txt", i))
}

func (b *bench) smallCount() int { return int(b.bytes(smallFiles)) }

// createSmall makes the files, one after the other, and makes them durable.
func (b *bench) createSmall(ctx context.Context, c contender) error {
	if err := os.Mkdir(smallFolder(c), 0o700); err != nil {
		return err
	}
	content := make([]byte, smallBytes)
	for i := range b.smallCount() {
		if err := os.WriteFile(smallName(c, i), content, 0o600); err != nil {
			return err
		}
	}
	return b.durable(ctx, c)
}

func (b *bench) needSmall(ctx context.Context, c contender) error {
	if _, err := os.Stat(smallFolder(c)); err == nil {
		return nil
	}
	return b.createSmall(ctx, c)
}

// list reads the names and the attributes of each, as ls -l does.
func (b *bench) list(_ context.Context, c contender) (float64, error) {
	return timed(float64(b.smallCount()), func() error {
		d, err := os.Open(smallFolder(c))
		if err != nil {
			return err
		}
		defer d.Close()
		infos, err := d.Readdir(-1)
		if err == nil && len(infos) != b.smallCount() {
			err = fmt.Errorf("%d files of %d were listed", len(infos), b.smallCount())
		}
		return err
	})
}

// stat looks at the files one by one in a random order.
func (b *bench) stat(_ context.Context, c contender) (float64, error) {
	order := rand.New(rand.NewPCG(5, 5)).Perm(b.smallCount())
	return timed(float64(b.smallCount()), func() error {
		for _, i := range order {
			if info, err := os.Lstat(smallName(c, i)); err != nil {
				return err
			} else if info.Size() != smallBytes {
				return fmt.Errorf("%s has %d bytes", info.Name(), info.Size())
			}
		}
		return nil
	})
}

// warmNames looks at every file once.
func (b *bench) warmNames(ctx context.Context, c contender) error {
	if err := b.needSmall(ctx, c); err != nil {
		return err
	}
	_, err := b.list(ctx, c)
	return err
}

func (b *bench) nameLines() []line {
	count := float64(b.smallCount())
	return []line{
		{title: createMany, unit: fps,
			prepare: func(_ context.Context, c contender) error { return os.RemoveAll(smallFolder(c)) },
			do: func(ctx context.Context, c contender) (float64, error) {
				return timed(count, func() error { return b.createSmall(ctx, c) })
			}},
		{title: listCold, unit: fps, cold: true, prepare: b.needSmall, do: b.list},
		{title: listHot, unit: fps, prepare: b.warmNames, do: b.list},
		{title: statCold, unit: fps, cold: true, prepare: b.needSmall, do: b.stat},
		{title: statHot, unit: fps, prepare: b.warmNames, do: b.stat},
		{title: deleteMany, unit: fps, prepare: b.needSmall,
			do: func(ctx context.Context, c contender) (float64, error) {
				return timed(count, func() error {
					for i := range b.smallCount() {
						if err := os.Remove(smallName(c, i)); err != nil {
							return err
						}
					}
					if err := os.Remove(smallFolder(c)); err != nil {
						return err
					}
					return b.durable(ctx, c)
				})
			}},
	}
}
