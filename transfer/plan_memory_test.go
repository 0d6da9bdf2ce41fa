//go:build unix

package transfer

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"
)

// wideTree is a synthetic folder of many small files.
type wideTree struct {
	tree
	files int
}

func (w *wideTree) list(string) ([]node, error) {
	out := make([]node, w.files)
	for i := range out {
		out[i] = node{name: fmt.Sprintf("image-%08d.jpeg", i), size: 1000, modified: time.Unix(1_600_000_000, 0)}
	}
	return out, nil
}

// A plan stays small however many files one folder holds.
func TestPlanMemory(t *testing.T) {
	files := 200_000
	if testing.Short() {
		files = 50_000
	}
	base := t.TempDir()
	target, err := newHostTree(base)
	if err != nil {
		t.Fatal(err)
	}
	defer target.close()
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	j, err := Job{Sources: []Place{host(base)}, Destination: host(base)}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	p := &Plan{job: j, found: newProblems(), renamed: map[int32]string{}, joined: map[int32]*manifest{}, target: target, sources: []tree{&wideTree{files: files}}}
	p.rules = rulesOf(j.Destination, target)
	p.state = &resumeState{tree: target, name: "state"}
	s := &scanner{ctx: context.Background(), plan: p, job: &p.job, top: map[string]string{}}
	s.addFolder(folder{parent: -1, made: true})
	if err := s.drain(); err != nil {
		t.Fatal(err)
	}
	peak := heap()
	s.finish()
	s.top, s.todo, s.seen = nil, nil, nil
	after := heap()
	each := float64(after-before) / float64(files)
	t.Logf("%.0f bytes a file kept, %.0f while scanning", each, float64(peak-before)/float64(files))
	if p.Files != int64(files) || each > 200 {
		t.Fatalf("%d files, %.0f bytes each, names included", p.Files, each)
	}
	runtime.KeepAlive(p)
	runtime.KeepAlive(s)
}
