package session

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"syscall"
	"testing"

	"coffer/container"
	"coffer/container/block/blocktest"
	"coffer/fat32"
)

// faultCase is one kind of failure of the disk below an image.
type faultCase struct {
	name      string
	injection blocktest.Injection
	// mayHide: the operation may be done without what failed, as when one of two header copies cannot be read.
	mayHide bool
	// heals: once there is room again, everything works without opening the volume anew.
	heals bool
}

func faultCases() []faultCase {
	return []faultCase{
		{name: "read EIO", injection: blocktest.Injection{Op: blocktest.OpRead, Err: syscall.EIO}, mayHide: true},
		{name: "write EIO", injection: blocktest.Injection{Op: blocktest.OpWrite, Err: syscall.EIO}},
		{name: "short write EIO", injection: blocktest.Injection{Op: blocktest.OpWrite, Err: syscall.EIO, Short: 512}},
		{name: "write EIO from now on", injection: blocktest.Injection{Op: blocktest.OpWrite, Err: syscall.EIO, Sticky: true}},
		{name: "sync EIO", injection: blocktest.Injection{Op: blocktest.OpSync, Err: syscall.EIO}},
		{name: "disk full at write", injection: blocktest.Injection{Op: blocktest.OpWrite, Err: syscall.ENOSPC, Short: 512, Sticky: true}, heals: true},
		{name: "disk full at sync", injection: blocktest.Injection{Op: blocktest.OpSync, Err: syscall.ENOSPC}},
	}
}

// TestImageFaults fails the n-th read, write or sync of the image, for every n over one mixed workload: never a silent
// success, no write after a failed sync, and the image that is left is unlocked, repaired and has every acknowledged file.
func TestImageFaults(t *testing.T) {
	k := shape{name: "faults", usable: 3 << 20, unit: 512, format: fat32.FormatOptions{Type: fat32.FAT16, ClusterSize: 512}}
	path := makeImage(t, k, "first")
	base := fillBase(t, k, path, 4)
	start, err := blocktest.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	start.Freeze()
	for _, c := range faultCases() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			stride := 1
			if testing.Short() {
				stride = 7
			}
			swap := &swapped{start.Clone()}
			reopened, err := openImage(swap, "first", false)
			if err != nil {
				t.Fatal(err)
			}
			defer reopened.Close()
			faults, err := blocktest.UntilPass(2000, func(n int) (bool, error) {
				f := &faultRun{c: c, n: n * stride, start: start, swap: swap, reopened: reopened, w: &workload{
					t: t, r: rand.New(rand.NewPCG(4, 4)), h: newHistory(base), ids: 1000, tolerant: true,
				}}
				return f.run()
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d faults", faults)
			if faults*stride < 12 {
				t.Errorf("only %d faults: the workload is too small", faults)
			}
		})
	}
}

// TestImageFaultsNoticed lets the disk say that it has synced, or written, and do nothing: the judge must notice.
func TestImageFaultsNoticed(t *testing.T) {
	k := shape{name: "faults", usable: 3 << 20, unit: 512, format: fat32.FormatOptions{Type: fat32.FAT16, ClusterSize: 512}}
	path := makeImage(t, k, "first")
	base := fillBase(t, k, path, 4)
	start, err := blocktest.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	start.Freeze()
	swap := &swapped{start.Clone()}
	reopened, err := openImage(swap, "first", false)
	if err != nil {
		t.Fatal(err)
	}
	defer reopened.Close()
	for _, op := range []blocktest.Op{blocktest.OpSync, blocktest.OpWrite} {
		noticed := 0
		for n := range 12 {
			f := &faultRun{n: 2 * n, start: start, swap: swap, reopened: reopened, w: &workload{
				t: t, r: rand.New(rand.NewPCG(4, 4)), h: newHistory(base), ids: 1000, tolerant: true,
			}}
			f.c = faultCase{injection: blocktest.Injection{Op: op, Lost: true, Sticky: true, Err: errors.New("a lie")}, mayHide: true}
			if _, err := f.run(); err != nil {
				noticed++
			}
		}
		t.Logf("operation %d: %d of 12 lies noticed", op, noticed)
		if noticed < 8 {
			t.Errorf("operation %d: only %d of 12 lies were noticed", op, noticed)
		}
	}
}

// faultRun is one run of the workload with one fault.
type faultRun struct {
	c        faultCase
	n        int
	start    *blocktest.Mem
	w        *workload
	crash    *blocktest.Crash
	fault    *blocktest.Fault
	swap     *swapped
	reopened *container.Volume // unlocked, over swap
	errs     []error           // that were told outside the operations of w
}

func (f *faultRun) run() (fired bool, err error) {
	f.crash = blocktest.NewCrash(f.start.Clone())
	f.fault = blocktest.NewFault(f.crash)
	f.w.log = f.crash.Log
	injection := f.c.injection
	injection.Nth = f.n
	f.fault.Inject(injection)
	if err := f.use(); err != nil {
		return true, err
	}
	fired = f.fault.Fired() > 0
	told := len(f.errs) + len(f.w.failures)
	switch {
	case fired && told == 0 && !f.c.mayHide:
		return true, errors.New("nobody was told of the fault")
	case !fired && told > 0:
		return false, fmt.Errorf("errors without a fault: %w", errors.Join(append(f.errs, f.w.failures...)...))
	}
	for _, e := range slices.Concat(f.errs, f.w.failures) {
		if !errors.Is(e, f.c.injection.Err) && !errors.Is(e, fat32.ErrReadOnly) {
			return true, fmt.Errorf("the error does not say why: %w", e)
		}
	}
	return fired, f.aftermath()
}

// use opens the container, works in it and closes it.
func (f *faultRun) use() error {
	v, err := openImage(f.fault, "first", false)
	if err != nil {
		f.errs = append(f.errs, err)
		return nil
	}
	defer v.Close()
	fs, err := fat32.Mount(v, fat32.MountOptions{CommitInterval: -1})
	if err != nil {
		f.errs = append(f.errs, err)
		return nil
	}
	w := f.w
	w.v = fs
	for range 36 {
		w.operation()
		if w.r.IntN(4) == 0 {
			_ = w.sync() // remembers its error
		}
	}
	_ = w.sync()
	if err := f.afterwards(v, fs); err != nil {
		return errors.Join(err, fs.Close())
	}
	known := fs.Err()
	switch err := fs.Close(); {
	case err != nil:
		f.errs = append(f.errs, err)
	case known != nil:
		return fmt.Errorf("close says that all is well after %w", known)
	case len(w.h.spoiledFiles) == 0 || f.c.heals:
		w.acknowledge(len(w.h.states) - 1)
	}
	return nil
}

// afterwards looks at the volume while it is still mounted, with the disk in order again.
func (f *faultRun) afterwards(v *container.Volume, fs *fat32.Volume) error {
	if f.fault.Fired() == 0 || f.c.injection.Lost {
		return nil
	}
	f.fault.Heal()
	write := func() error {
		return f.w.open("/written after the fault", fat32.Create, func(f *fat32.File) error { return writeAll(f, "x", 0) })
	}
	failed := f.w.failures
	switch {
	case f.c.injection.Op == blocktest.OpSync && f.c.injection.Err == syscall.EIO:
		for name, err := range map[string]error{"a write": write(), "a sync": fs.Sync(), "a write to the container": second(v.WriteAt([]byte{1}, 0)), "a sync of the container": v.Sync()} {
			if err == nil {
				return fmt.Errorf("%s worked after a failed sync", name)
			}
		}
	case f.c.heals:
		if err := f.w.sync(); err != nil {
			return fmt.Errorf("there is room again, but: %w", err)
		}
	case fs.Err() != nil:
		if write() == nil || fs.Sync() == nil {
			return fmt.Errorf("the volume was written to after %w", fs.Err())
		}
	}
	f.w.failures = failed
	// What the program sees must be what the operations that succeeded have made.
	now, err := readTree(fs)
	if err != nil {
		return fmt.Errorf("read after the fault: %w", err)
	}
	last := len(f.w.h.states) - 1
	if err := f.w.h.judge(knowledge{synced: last, begun: last}, now); err != nil {
		return fmt.Errorf("the volume while mounted: %w; errors before: %w; operations: %q", err, errors.Join(f.w.failures...), f.w.done)
	}
	return nil
}

func second(_ int, err error) error { return err }

// aftermath pulls the plug and looks at what is left, whatever the disk made of the writes that were not synced.
func (f *faultRun) aftermath() error {
	log := f.crash.Log
	for i, mode := range []blocktest.Mode{blocktest.KeepAll, blocktest.KeepNone, blocktest.KeepSome} {
		m, err := log.Image(blocktest.Cut{At: log.Len(), Mode: mode, Seed: uint64(f.n)})
		if err != nil {
			return err
		}
		f.swap.Mem = m
		s := &Session{Device: Device{target: Target{Path: "image"}, container: f.reopened}}
		findings, err := mend(s, i%2 == 0)
		if err != nil {
			return fmt.Errorf("%v: %w", mode, err)
		}
		if err := s.mount(context.Background(), OpenOptions{}); err != nil {
			return fmt.Errorf("%v: %w", mode, err)
		}
		found, err := readTree(s.Volume)
		if err == nil {
			k := knowledge{files: map[string]int{}}
			k.readMarks(log.Events())
			err = f.w.h.judge(k, found)
		}
		if err = errors.Join(err, s.Volume.Close()); err != nil {
			return fmt.Errorf("%v: %w; repaired: %+v; errors before: %v", mode, err, findings, errors.Join(f.w.failures...))
		}
	}
	return nil
}
