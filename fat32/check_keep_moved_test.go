package fat32_test

import (
	"context"
	"testing"

	"coffer/container/block/blocktest"
	"coffer/fat32"
)

// TestKeepLostMoved cuts the power while a file and a directory that are safe on the disk move into a directory that is
// not there yet. A repair that keeps lost chains finds that directory, with entries for both, and must not take
// them away from where they were.
func TestKeepLostMoved(t *testing.T) {
	base := format(t, 1<<20, fat32.FormatOptions{})
	v := mount(t, base)
	must(t, v.Mkdir("/place"))
	must(t, v.Mkdir("/place/directory"))
	put(t, v, "/place/file", pattern(1, 3000))
	put(t, v, "/place/directory/inner", pattern(2, 700))
	must(t, v.Close())
	log := blocktest.NewCrash(base.Clone())
	v = mount(t, log)
	must(t, v.Mkdir("/new"))
	must(t, v.Rename("/place/file", "/new/file", false))
	must(t, v.Rename("/place/directory", "/new/directory", false))
	must(t, v.Close())
	kept := 0
	for cut, m := range log.States(blocktest.StateOptions{Subsets: 8}) {
		r, err := fat32.Check(context.Background(), m, fat32.CheckOptions{Repair: true, KeepLost: true})
		must(t, err)
		for _, f := range r.Findings {
			if f.Code == fat32.CodeLostChain {
				kept++
				break
			}
		}
		if r, err = fat32.Check(context.Background(), m, fat32.CheckOptions{}); err != nil || !r.Clean() {
			t.Fatalf("%v: not sound after the repair: %v, %+v", cut, err, r)
		}
		v := mount(t, m)
		for _, path := range []string{"/file", "/directory/inner"} {
			old, errOld := slurp(v, "/place"+path)
			moved, errNew := slurp(v, "/new"+path)
			if (errOld == nil) == (errNew == nil) {
				t.Errorf("%v: %s: in the old place %v, in the new one %v", cut, path, errOld, errNew)
			}
			if n := len(old) + len(moved); n != 3000 && n != 700 {
				t.Errorf("%v: %s has %d bytes", cut, path, n)
			}
		}
		must(t, v.Close())
	}
	if kept == 0 {
		t.Error("no cut left the new directory lost")
	}
}
