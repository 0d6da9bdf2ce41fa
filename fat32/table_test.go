package fat32

import (
	"context"
	"fmt"
	"testing"

	"coffer/container/block/blocktest"
)

// TestSweepSparesTheNew: a sweep that begins at the last place of the full table, where a new folder or file would be, and
// comes round does not forget what is being made.
func TestSweepSparesTheNew(t *testing.T) {
	dev := blocktest.NewMem(64 << 20)
	if _, err := Format(context.Background(), dev, FormatOptions{}); err != nil {
		t.Fatal(err)
	}
	v, err := Mount(dev, MountOptions{CommitInterval: -1})
	if err != nil {
		t.Fatal(err)
	}
	if err := v.Mkdir("/many"); err != nil {
		t.Fatal(err)
	}
	touch := func(name string, flag OpenFlag) {
		f, err := v.OpenFile(name, flag)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for i := range keepNodes + 100 {
		touch(fmt.Sprintf("/many/%d", i), ReadWrite|Create)
	}
	if err := v.Sync(); err != nil {
		t.Fatal(err)
	}
	// lookAt makes the next sweep begin where the next node will be, with nothing but it in use.
	lookAt := func() {
		for i := 0; len(v.table.all) < keepNodes; i++ { // what Sync has swept
			touch(fmt.Sprintf("/many/%d", i), ReadOnly)
		}
		v.ns.Lock()
		defer v.ns.Unlock()
		for _, n := range v.table.all {
			n.hot.Store(false)
		}
		v.table.hand = len(v.table.all)
	}
	for i := range 20 {
		name := fmt.Sprintf("/folder%d", i)
		lookAt()
		if err := v.Mkdir(name); err != nil {
			t.Fatal(err)
		}
		lookAt()
		f, err := v.OpenFile(name+"/file", ReadWrite|Create)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.WriteAt([]byte("content"), 0); err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := v.Close(); err != nil {
		t.Fatal(err)
	}
	report, err := Check(context.Background(), dev, CheckOptions{})
	if err != nil || !report.Clean() || report.Files != keepNodes+100+20 {
		t.Errorf("%v, %+v", err, report)
	}
}
