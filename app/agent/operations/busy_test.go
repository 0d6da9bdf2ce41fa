//go:build linux

package operations_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"coffer/app/agent"
	"coffer/app/session"
	"coffer/fat32/fattest"
)

// TestCheckWhileUsed checks and dumps a container while programs write to its drive and copies run in its agent: every look
// finds a sound volume, nobody gets an error, and everybody goes on afterwards.
func TestCheckWhileUsed(t *testing.T) {
	fattest.Tool(t, "fsck.vfat", "dosfstools")
	w := newWorld(t, 2)
	source := filepath.Join(w.scratch, "tree")
	for i := range 40 {
		path := filepath.Join(source, fmt.Sprint("folder ", i%5), fmt.Sprint("file ", i))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, w.someContent(), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	var stop atomic.Bool
	var steps [4]atomic.Int64
	var all sync.WaitGroup
	use := func(who int, step func(i int) error) {
		all.Go(func() {
			for i := 0; !stop.Load(); i++ {
				if err := step(i); err != nil {
					t.Errorf("user %d: %v", who, err)
					return
				}
				steps[who].Add(1)
			}
		})
	}
	for who := range 2 {
		use(who, func(i int) error {
			path := w.at(fmt.Sprintf("by program %d number %d", who, i%20))
			return errors.Join(os.WriteFile(path+".new", []byte(strings.Repeat("x", i%9000)), 0o600), os.Rename(path+".new", path))
		})
	}
	use(2, func(i int) error {
		f, err := os.OpenFile(w.at("log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(f, "line", i)
		if i%10 == 0 {
			err = errors.Join(err, f.Sync())
		}
		return errors.Join(err, f.Close())
	})
	use(3, func(i int) error {
		to := w.place(fmt.Sprint("/copy ", i%3))
		_, err := agent.Copy(context.Background(), nil, w.client, session.CopyRequest{Sources: []session.Place{{Path: source}}, Destination: to, Force: true})
		if err == nil && i%3 == 2 {
			err = w.client.Remove(context.Background(), "/copy 0", true)
		}
		return err
	})
	rounds := 12
	if testing.Short() {
		rounds = 4
	}
	for round := range rounds {
		result, err := w.client.Check(context.Background(), session.CheckRequest{})
		if err != nil || !result.Clean {
			t.Errorf("check %d: %v, %+v", round, err, result)
		}
		before := [4]int64{}
		for i := range steps {
			before[i] = steps[i].Load()
		}
		for i := range steps {
			for begin := time.Now(); steps[i].Load() == before[i] && !t.Failed(); time.Sleep(time.Millisecond) {
				if time.Since(begin) > time.Minute {
					t.Errorf("user %d does not go on after a check", i)
				}
			}
		}
	}
	whole := filepath.Join(w.scratch, "whole.fat")
	if _, err := w.client.DumpFile(context.Background(), whole, nil); err != nil {
		t.Error(err)
	}
	stop.Store(true)
	all.Wait()
	if out := fattest.Fsck(t, whole); out != "" {
		t.Errorf("fsck.vfat of the dump:\n%s", out)
	}
	w.coffer("lock", w.image)
	if out := w.coffer("check", w.image, "--password-file", "pw"); !strings.Contains(out, "is clean") {
		t.Errorf("check: %s", out)
	}
}
