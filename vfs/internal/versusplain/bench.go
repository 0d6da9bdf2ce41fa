package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// bench does rounds.
type bench struct {
	dir        string
	scale      float64
	contenders []contender
	wanted     *regexp.Regexp
	perf       string
	run        string // of Sample
	say        func(format string, values ...any)
	seeds      uint64
}

// line is one line of work. prepare and do get the same contender; only do counts. The result is a rate, more is better.
type line struct {
	title   string
	unit    string
	cold    bool // new daemon and no caches before do
	prepare func(ctx context.Context, c contender) error
	do      func(ctx context.Context, c contender) (float64, error)
	// cpuBytes, if not 0, also measures the daemon's CPU for so many bytes.
	cpuBytes float64
}

func (b *bench) bytes(full float64) int64 { return int64(full * b.scale) }

// round makes everything anew, does each line with each contender, and removes everything.
func (b *bench) round(ctx context.Context, round int) (samples []Sample, err error) {
	if err := b.makeSources(); err != nil {
		return nil, err
	}
	for _, c := range b.contenders {
		defer func() {
			if serr := c.stop(context.WithoutCancel(ctx)); serr != nil && err == nil {
				err = fmt.Errorf("%s: %w", c.name(), serr)
			}
		}()
		if err := c.start(ctx); err != nil {
			return nil, fmt.Errorf("%s: %w", c.name(), err)
		}
	}
	for _, l := range b.lines() {
		if !b.wanted.MatchString(l.title) {
			continue
		}
		for i := range b.contenders {
			c := b.contenders[(i+round)%len(b.contenders)]
			s, err := b.measure(ctx, l, c, round)
			if err != nil {
				return nil, fmt.Errorf("%s: %s: %w", c.name(), l.title, err)
			}
			samples = append(samples, s...)
		}
	}
	return samples, nil
}

func (b *bench) measure(ctx context.Context, l line, c contender, round int) ([]Sample, error) {
	drops, err := cacheDrops()
	if err != nil {
		return nil, err
	}
	if l.prepare != nil {
		if err := l.prepare(ctx, c); err != nil {
			return nil, fmt.Errorf("prepare: %w", err)
		}
	}
	if l.cold {
		if err := c.remount(ctx); err != nil {
			return nil, err
		}
	}
	if err := b.settle(ctx, l.cold); err != nil {
		return nil, err
	}
	stop, err := b.profile(l, c, round)
	if err != nil {
		return nil, err
	}
	defer stop()
	before, err := cpuSeconds(c.daemon())
	if err != nil {
		return nil, err
	}
	rate, err := l.do(ctx, c)
	if err != nil {
		return nil, err
	}
	after, err := cpuSeconds(c.daemon())
	if err != nil {
		return nil, err
	}
	dropsNow, err := cacheDrops()
	if err != nil {
		return nil, err
	}
	if l.cold {
		drops++
	}
	disturbed, remark := dropsNow != drops, ""
	if disturbed {
		remark = "; not counted: somebody else dropped the caches"
	}
	out := []Sample{{Run: b.run, Round: round, Line: l.title, Unit: l.unit, Contender: c.name(), Rate: rate, Disturbed: disturbed}}
	b.say("round %d  %-28s %-10s %12.1f %s  (daemon %.2f s CPU)%s", round+1, l.title, c.name(), rate, l.unit, after-before, remark)
	if l.cpuBytes > 0 && c.daemon() != 0 {
		out = append(out, Sample{Run: b.run, Round: round, Line: "CPU of the daemon, " + l.title, Unit: "s/GiB", Contender: c.name(), Disturbed: disturbed,
			Rate: (after - before) / (l.cpuBytes / (1 << 30))})
	}
	return out, nil
}

// profile records the daemon under test with perf until stop is called.
func (b *bench) profile(l line, c contender, round int) (stop func(), err error) {
	if b.perf == "" || c.name() != cofferName {
		return func() {}, nil
	}
	file := fmt.Sprintf("%s.%s.%d", b.perf, regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(l.title), "-"), round+1)
	command := exec.Command("perf", "record", "-q", "-g", "-o", file, "-p", fmt.Sprint(c.daemon()))
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("perf (Debian package linux-perf): %w", err)
	}
	time.Sleep(200 * time.Millisecond) // it has to attach
	return func() {
		_ = command.Process.Signal(os.Interrupt)
		_ = command.Wait() // it says that it was interrupted
		b.say("profile: perf report -i %s", file)
	}, nil
}

// settle writes back what earlier work left, so that it does not count; cold drops all caches too.
func (b *bench) settle(ctx context.Context, cold bool) error {
	if _, err := output(ctx, nil, "", "sync", "-f", b.dir); err != nil {
		return err
	}
	if !cold {
		return nil
	}
	if err := os.WriteFile("/proc/sys/vm/drop_caches", []byte("3"), 0); err != nil {
		return fmt.Errorf("drop caches, which only root may: %w", err)
	}
	return nil
}

// cacheDrops counts how often anybody has dropped the page cache since the machine started.
func cacheDrops() (int64, error) {
	text, err := os.ReadFile("/proc/vmstat")
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "drop_pagecache "); ok {
			return strconv.ParseInt(strings.TrimSpace(value), 10, 64)
		}
	}
	return 0, errors.New("/proc/vmstat does not count dropped caches")
}

// durable makes everything written to a contender durable. The kernel does not pass sync on to FUSE, but fsync of a
// folder it does; then the disk below is synced. All contenders do the same.
func (b *bench) durable(ctx context.Context, c contender) error {
	for _, step := range []func() error{
		func() error { _, err := output(ctx, nil, "", "sync", "-f", c.dir()); return err },
		func() error { return syncFolder(c.dir()) },
		func() error { _, err := output(ctx, nil, "", "sync", "-f", b.dir); return err },
	} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// warm reads a tree once, so that it is in the page cache.
func warm(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		_, err = readAll(path)
		return err
	})
}

// timed returns done per second.
func timed(done float64, work func() error) (float64, error) {
	start := time.Now()
	if err := work(); err != nil {
		return 0, err
	}
	return done / time.Since(start).Seconds(), nil
}

// cp copies as the user does.
func cp(ctx context.Context, from, to string) error {
	_, err := output(ctx, nil, "", "cp", "--reflink=never", "--sparse=never", "-r", from, to)
	return err
}

// sameTree compares the sizes of all files, lest a copy that left something out looks fast.
func sameTree(a, b string) error {
	list := func(top string) (all []string, err error) {
		err = filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			info, err := entry.Info()
			name, _ := filepath.Rel(top, path)
			all = append(all, fmt.Sprintf("%s %d", name, info.Size()))
			return err
		})
		slices.Sort(all)
		return all, err
	}
	left, err := list(a)
	if err != nil {
		return err
	}
	right, err := list(b)
	if err != nil {
		return err
	}
	if !slices.Equal(left, right) {
		return fmt.Errorf("the copy has %d files that are not those of the %d", len(right), len(left))
	}
	return nil
}
