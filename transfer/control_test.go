//go:build unix

package transfer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"coffer/container/block/blocktest"
	"coffer/fat32"
	"coffer/transfer/rate"
	"coffer/transfer/report"
)

// TestPausedTimeDoesNotCount: of a job whose workers are stopped for an hour, clocks and rates show nothing of the hour. The
// time until the last of them stands still does count: bytes still arrive.
func TestPausedTimeDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &Control{}
		recorder, err := rate.New(0, c.clock(time.Now))
		if err != nil {
			t.Fatal(err)
		}
		c.watch(recorder)
		recorder.Start()
		watch, begun := startWatch(c), time.Now()
		var workers sync.WaitGroup
		for w := range 2 {
			c.enter()
			workers.Go(func() {
				defer c.leave()
				for range 100 {
					if err := c.pass(t.Context()); err != nil {
						t.Error(err)
					}
					time.Sleep(time.Duration(w+1) * 100 * time.Millisecond) // 10 MB/s and 5 MB/s
					recorder.Book(1e6)
				}
			})
		}
		time.Sleep(4*time.Second + 50*time.Millisecond)
		c.Pause()
		<-c.Still()
		if took := time.Since(begun); took != 4200*time.Millisecond {
			t.Errorf("the last worker stood still after %v, not 4.2 s", took)
		}
		before := c.Rates(0)
		time.Sleep(time.Hour)
		after := c.Rates(0)
		if after.Bytes != before.Bytes || after.Elapsed != before.Elapsed || after.Elapsed != 4200*time.Millisecond || after.Whole != 4 {
			t.Errorf("before %+v\nafter  %+v", before, after)
		}
		c.Resume()
		workers.Wait()
		// The slow worker needs 20 s, of which none were spent while it waited.
		if run, wall := watch.read(), time.Since(begun); run < 20*time.Second || run > 20*time.Second+200*time.Millisecond || wall-run != watch.stoodStill() || wall-run < time.Hour {
			t.Errorf("it ran %v of %v, and stood still %v", run, wall, watch.stoodStill())
		}
		summary := recorder.Summary(0)
		if summary.Maximum > 15.5e6 || summary.Minimum < 4.5e6 || len(summary.Series) != 20 {
			t.Errorf("%+v", summary)
		}
	})
}

// slowDevice calls a hook with each write.
type slowDevice struct {
	*blocktest.Mem
	wrote func()
}

func (d *slowDevice) WriteAt(p []byte, off int64) (int, error) {
	if d.wrote != nil && len(p) >= 4096 {
		d.wrote()
	}
	return d.Mem.WriteAt(p, off)
}

// pauseTree is a folder with small and large files.
func pauseTree(t *testing.T) (src string, files, bytes int64) {
	t.Helper()
	src = filepath.Join(t.TempDir(), "src")
	add := func(name string, seed uint64, n int) {
		write(t, filepath.Join(src, name), fill(seed, n))
		files, bytes = files+1, bytes+int64(n)
	}
	for i := range 40 {
		add(fmt.Sprintf("d%d/small%d", i%4, i), uint64(i), 1000+i)
	}
	for i := range 6 {
		add(fmt.Sprintf("d%d/large%d", i%4, i), uint64(100+i), 5*mib+i)
	}
	return src, files, bytes
}

// TestClockOfAStandingJob: while a job stands still its clock says the same to everybody, to the nanosecond, and never less
// than before.
func TestClockOfAStandingJob(t *testing.T) {
	c := &Control{}
	clock := c.clock(time.Now)
	last := clock()
	for range 50 {
		c.Pause()
		stands := clock()
		for range 1000 {
			if now := clock(); !now.Equal(stands) {
				t.Fatalf("it moved by %v", now.Sub(stands))
			}
		}
		if stands.Before(last) {
			t.Fatalf("it went back by %v", last.Sub(stands))
		}
		c.Resume()
		last = clock()
		if last.Before(stands) {
			t.Fatalf("it went back by %v", stands.Sub(last))
		}
	}
}

// TestPauseMidway stops a copy on the way: nothing moves, the volume can be used by others, and the copy is whole at the end.
func TestPauseMidway(t *testing.T) {
	src, files, bytes := pauseTree(t)
	c := &Control{}
	var writes atomic.Int64
	dev := &slowDevice{Mem: blocktest.NewMem(96 * mib)}
	place := volume(t, dev, fat32.FAT32)
	dev.wrote = func() {
		if writes.Add(1) == 12 {
			c.Pause()
		}
	}
	begun := time.Now()
	type result struct {
		rec *report.Record
		err error
	}
	done := make(chan result, 1)
	job := Job{Sources: []Place{host(src)}, Destination: place, Control: c, Verify: true}
	go func() {
		rec, err := try(t, job)
		done <- result{rec, err}
	}()
	for deadline := time.Now().Add(30 * time.Second); !c.Paused(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the copy never came so far")
		}
	}
	<-c.Still()
	before := c.Rates(0)
	if before.Bytes == 0 || before.Bytes >= bytes {
		t.Fatalf("stopped at %d of %d bytes: not on the way", before.Bytes, bytes)
	}
	// What others do with the volume meanwhile.
	f, err := place.Volume.OpenFile("/beside", fat32.ReadWrite|fat32.Create)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.WriteAt(fill(7, 3*mib), 0)
	if err := errors.Join(err, f.Sync(), f.Close(), place.Volume.Sync()); err != nil {
		t.Fatal(err)
	}
	if _, err := place.Volume.ReadDir("/src"); err != nil {
		t.Fatal(err)
	}
	time.Sleep(100 * time.Millisecond) // in which nothing may happen
	if now := c.Rates(0); now.Bytes != before.Bytes || now.Elapsed != before.Elapsed {
		t.Errorf("it moves while it is stopped: %+v, then %+v", before, now)
	}
	stood := c.stoodStill()
	c.Resume()
	r := <-done
	if r.err != nil {
		t.Fatal(r.err)
	}
	whole(t, r.rec, files, bytes)
	if r.rec.Verified != files {
		t.Errorf("verified %d files", r.rec.Verified)
	}
	wall := time.Since(begun).Seconds()
	if p := r.rec.PausedSeconds; p < stood.Seconds() || r.rec.Seconds.Total+p > wall {
		t.Errorf("stood still %v s, total %v s, on the wall %v s", p, r.rec.Seconds.Total, wall)
	}
	phases := 0.0
	for _, p := range r.rec.Phases {
		phases += p.Seconds
	}
	if want := r.rec.Seconds.Copy + r.rec.Seconds.Sync; math.Abs(phases-want) > 1e-3*want+1e-6 {
		t.Errorf("phases add up to %v s of %v s", phases, want)
	}
	dev.wrote = nil
	if err := place.Volume.Remove("/beside"); err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	run(t, Job{Sources: []Place{place}, Destination: host(out)})
	if d := diff(snapshot(t, src), snapshot(t, filepath.Join(out, "src"))); d != "" {
		t.Error(d)
	}
	unmount(t, place, dev)
}

// TestPauseInEveryStage stops a move that is verified at the beginning of each stage.
func TestPauseInEveryStage(t *testing.T) {
	src, files, bytes := pauseTree(t)
	dev := blocktest.NewMem(96 * mib)
	place := volume(t, dev, fat32.FAT32)
	c := &Control{}
	stops := map[string]time.Duration{}
	var helpers sync.WaitGroup
	last := time.Duration(0)
	rec := run(t, Job{Sources: []Place{host(src)}, Destination: place, Control: c, Verify: true, Move: true, OnEvent: func(e Event) {
		if e.Kind != EventStage || e.Stage == StageSync { // a sync is not interrupted
			return
		}
		c.Pause()
		still := c.Still()
		helpers.Go(func() {
			<-still
			time.Sleep(20 * time.Millisecond)
			stops[e.Stage] = c.stoodStill() - last
			last = c.stoodStill()
			c.Resume()
		})
	}})
	helpers.Wait()
	whole(t, rec, files, bytes)
	if rec.Moved != files {
		t.Errorf("moved %d files", rec.Moved)
	}
	for _, stage := range []string{StageScan, StageCopy, StageVerify, StageMove} {
		if stops[stage] < 20*time.Millisecond {
			t.Errorf("in stage %s it stood still for %v", stage, stops[stage])
		}
	}
	if rec.PausedSeconds < 0.08 {
		t.Errorf("the record tells of %v s", rec.PausedSeconds)
	}
	unmount(t, place, dev)
}

// TestCancelWhilePaused: what is stopped can be ended, and nothing short stands under a final name.
func TestCancelWhilePaused(t *testing.T) {
	src, _, bytes := pauseTree(t)
	c := &Control{}
	var writes atomic.Int64
	dev := &slowDevice{Mem: blocktest.NewMem(96 * mib)}
	place := volume(t, dev, fat32.FAT32)
	dev.wrote = func() {
		if writes.Add(1) == 8 {
			c.Pause()
		}
	}
	p, err := Job{Sources: []Place{host(src)}, Destination: place, Control: c}.Plan(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan struct{})
	var rec *report.Record
	go func() {
		defer close(ended)
		rec, err = Run(ctx, p)
	}()
	for deadline := time.Now().Add(30 * time.Second); !c.Paused(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the copy never came so far")
		}
	}
	<-c.Still()
	cancel()
	<-ended
	if !errors.Is(err, context.Canceled) || rec.Outcome != report.Cancelled || rec.Bytes >= bytes {
		t.Errorf("%v, %s, %d of %d bytes", err, rec.Outcome, rec.Bytes, bytes)
	}
	dev.wrote = nil
	for path, size := range listVolume(t, place.Volume, "/", map[string]int64{}) {
		if size < 0 || isLeftover(filepath.Base(path)) {
			continue
		}
		if st, err := os.Stat(filepath.Join(filepath.Dir(src), path)); err != nil || st.Size() != size {
			t.Errorf("%s has %d bytes: %v", path, size, err)
		}
	}
	unmount(t, place, dev)
}

// TestPauseAtRandom stops a copy again and again, in both directions.
func TestPauseAtRandom(t *testing.T) {
	src, files, bytes := pauseTree(t)
	dev := blocktest.NewMem(96 * mib)
	place := volume(t, dev, fat32.FAT32)
	out := t.TempDir()
	for _, job := range []Job{{Sources: []Place{host(src)}, Destination: place, Verify: true}, {Sources: []Place{place}, Destination: host(out), Verify: true}} {
		c := &Control{}
		job.Control = c
		quit, toggled := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(toggled)
			for i := 0; ; i++ {
				select {
				case <-quit:
					return
				case <-time.After(time.Duration(i%7) * 300 * time.Microsecond):
					c.Pause()
					c.Rates(0)
					c.Resume()
				}
			}
		}()
		whole(t, run(t, job), files, bytes)
		close(quit)
		<-toggled
	}
	if d := diff(snapshot(t, src), snapshot(t, filepath.Join(out, "src"))); d != "" {
		t.Error(d)
	}
	unmount(t, place, dev)
}
