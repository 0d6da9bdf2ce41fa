// Package versuscp compares copies by transfer with `cp` plus `sync` on the same
// file system: interleaved pairs, medians and their spread. It is a measuring
// tool for this repository, run by its test (see versuscp_test.go).
package versuscp

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"coffer/transfer"
	"coffer/transfer/lab/workload"
)

// Container is an opened container of the caller.
type Container struct {
	Place transfer.Place // its root
	Close func() error
}

// Config says what to compare.
type Config struct {
	Dir       string // on the file system under test; emptied afterwards
	Rounds    int    // interleaved pairs
	Workloads []workload.Workload
	// Create makes and opens an empty container at path that can hold so many bytes.
	Create func(path string, usableBytes int64) (Container, error)
	// Open opens it again.
	Open func(path string) (Container, error)
	// DropCaches makes the next reads cold.
	DropCaches func() error
	// Workers as in transfer.Job.
	Workers int
	// Log is called with each pair; may be nil.
	Log func(format string, a ...any)
}

// Result is the comparison for one workload in one direction.
type Result struct {
	Workload, Direction string
	CP, Ours            []time.Duration
	Ratios              []float64 // cp / ours, pair by pair
}

// Median of the ratios.
func (r Result) Median() float64 { return quantile(r.Ratios, 0.5) }

// Quartiles of the ratios.
func (r Result) Quartiles() (low, high float64) {
	return quantile(r.Ratios, 0.25), quantile(r.Ratios, 0.75)
}

// String is one line.
func (r Result) String() string {
	low, high := r.Quartiles()
	return fmt.Sprintf("[%s] %-3s  ratio %.2f (quartiles %.2f to %.2f, %d pairs)  cp+sync %.3f s  coffer %.3f s", r.Workload, r.Direction,
		r.Median(), low, high, len(r.Ratios), quantile(seconds(r.CP), 0.5), quantile(seconds(r.Ours), 0.5))
}

func seconds(d []time.Duration) []float64 {
	out := make([]float64, len(d))
	for i, v := range d {
		out[i] = v.Seconds()
	}
	return out
}

func quantile(v []float64, q float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	at := q * float64(len(s)-1)
	i := int(at)
	if i+1 == len(s) {
		return s[i]
	}
	return s[i] + (s[i+1]-s[i])*(at-float64(i))
}

// Compare runs all workloads, in and out.
func Compare(ctx context.Context, c Config) ([]Result, error) {
	if c.Log == nil {
		c.Log = func(string, ...any) {}
	}
	var out []Result
	for _, w := range c.Workloads {
		r, err := c.workload(ctx, w)
		if err != nil {
			return out, fmt.Errorf("workload %s: %w", w.Name, err)
		}
		out = append(out, r...)
	}
	return out, nil
}

func (c *Config) workload(ctx context.Context, w workload.Workload) ([]Result, error) {
	src := filepath.Join(c.Dir, "src-"+w.Name)
	defer os.RemoveAll(src)
	if err := w.Make(ctx, src, nil); err != nil {
		return nil, err
	}
	if err := syncDisk(ctx, c.Dir); err != nil {
		return nil, err
	}
	in, out := Result{Workload: w.Name, Direction: "in"}, Result{Workload: w.Name, Direction: "out"}
	left := &leftovers{keep: w.Bytes() < keepBelow}
	defer left.remove()
	for k := range c.Rounds {
		if err := warm(src); err != nil {
			return nil, err
		}
		if err := c.round(ctx, w, src, k, left, &in, &out); err != nil {
			return nil, err
		}
	}
	return []Result{in, out}, nil
}

// keepBelow is the size of a workload whose copies stay until its last round.
const keepBelow = 100 << 20

// leftovers are copies that were made. Many small files are not removed between
// rounds: ext4 looks in vain at every inode that was freed in the last minutes
// before it takes one, so that whoever came after a removal of 20,000 files was
// two to three times as slow.
type leftovers struct {
	keep  bool
	paths []string
}

func (l *leftovers) done(path string) {
	if l.paths = append(l.paths, path); !l.keep {
		l.remove()
	}
}

func (l *leftovers) remove() {
	for _, p := range l.paths {
		os.RemoveAll(p)
	}
	l.paths = nil
}

// round makes one pair in and one pair out; who goes first alternates.
func (c *Config) round(ctx context.Context, w workload.Workload, src string, k int, left *leftovers, in, out *Result) error {
	at := func(name string) string { return filepath.Join(c.Dir, fmt.Sprintf("%s-%s-%d", name, w.Name, k)) }
	plain, image := at("plain"), at("image")
	defer left.done(plain)
	defer left.done(image)
	usable := w.Bytes()*5/4 + int64(len(w.Files))*36<<10 + 64<<20
	cpIn := func() (time.Duration, error) { return c.cp(ctx, src, plain) }
	oursIn := func() (time.Duration, error) {
		box, err := c.Create(image, usable)
		if err != nil {
			return 0, err
		}
		if err := syncDisk(ctx, c.Dir); err != nil {
			return 0, err
		}
		d, err := c.ours(ctx, transfer.Place{Path: src, Contents: true}, box.Place, w)
		if cerr := box.Close(); err == nil {
			err = cerr
		}
		return d, err
	}
	if err := c.pair(in, k, cpIn, oursIn); err != nil {
		return err
	}
	cpOut := func() (time.Duration, error) {
		back := at("back-cp")
		defer left.done(back)
		if err := c.DropCaches(); err != nil {
			return 0, err
		}
		return c.cp(ctx, plain, back)
	}
	oursOut := func() (time.Duration, error) {
		back := at("back")
		defer left.done(back)
		box, err := c.Open(image)
		if err != nil {
			return 0, err
		}
		defer box.Close()
		if err := c.DropCaches(); err != nil {
			return 0, err
		}
		return c.ours(ctx, box.Place, transfer.Place{Path: back}, w)
	}
	return c.pair(out, k, cpOut, oursOut)
}

func (c *Config) pair(r *Result, k int, cp, ours func() (time.Duration, error)) error {
	order := []func() (time.Duration, error){cp, ours}
	var took [2]time.Duration
	for i := range order {
		which := (i + k) % 2
		if err := syncDisk(context.Background(), c.Dir); err != nil {
			return err
		}
		d, err := order[which]()
		if err != nil {
			return err
		}
		took[which] = d
	}
	r.CP, r.Ours = append(r.CP, took[0]), append(r.Ours, took[1])
	r.Ratios = append(r.Ratios, took[0].Seconds()/took[1].Seconds())
	c.Log("[%s] %s pair %d: cp+sync %.3f s, coffer %.3f s, ratio %.2f", r.Workload, r.Direction, k+1, took[0].Seconds(), took[1].Seconds(), r.Ratios[len(r.Ratios)-1])
	return nil
}

// cp is the opponent: cp, then sync of the file system.
func (c *Config) cp(ctx context.Context, from, to string) (time.Duration, error) {
	start := time.Now()
	cmd := exec.CommandContext(ctx, "cp", "--reflink=never", "--sparse=never", "-r", from, to)
	if out, err := cmd.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("cp: %w: %s", err, out)
	}
	copied := time.Since(start)
	if err := syncDisk(ctx, c.Dir); err != nil {
		return 0, err
	}
	took := time.Since(start)
	c.Log("    cp: copy %.3f sync %.3f s, CPU %.3f s", copied.Seconds(), (took - copied).Seconds(), (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds())
	return took, nil
}

// ours is plan, copy and sync.
func (c *Config) ours(ctx context.Context, from, to transfer.Place, w workload.Workload) (time.Duration, error) {
	start := time.Now()
	plan, err := transfer.Job{Sources: []transfer.Place{from}, Destination: to, Workers: c.Workers}.Plan(ctx)
	if err != nil {
		return 0, err
	}
	rec, err := transfer.Run(ctx, plan)
	if err != nil {
		return 0, err
	}
	took := time.Since(start)
	if rec.Files != int64(len(w.Files)) || rec.Bytes != w.Bytes() || rec.Incomplete() {
		return 0, fmt.Errorf("copied %d files, %d bytes of %d and %d: %v", rec.Files, rec.Bytes, len(w.Files), w.Bytes(), rec.Failed)
	}
	c.Log("    coffer: scan %.3f copy %.3f sync %.3f s, CPU %.3f s user, %.3f s system", rec.Seconds.Scan, rec.Seconds.Copy, rec.Seconds.Sync,
		rec.CPU.Total.UserSeconds, rec.CPU.Total.SystemSeconds)
	return took, nil
}

func syncDisk(ctx context.Context, dir string) error {
	if out, err := exec.CommandContext(ctx, "sync", "-f", dir).CombinedOutput(); err != nil {
		return fmt.Errorf("sync: %w: %s", err, out)
	}
	return nil
}

// warm reads a tree once, so that it is in the page cache.
func warm(dir string) error {
	return filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		_, err = os.ReadFile(p)
		return err
	})
}
