//go:build !windows

// Not for Windows, whose tests run under Wine without Python: the figures are the same everywhere.

package rate

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os/exec"
	"testing"
	"time"
)

// pythonRun is a traced run as testdata/recompute.py reads it, times in nanoseconds.
type pythonRun struct {
	Window time.Duration `json:"window"`
	Copied time.Duration `json:"copied"`
	Total  time.Duration `json:"total"`
	Files  int64         `json:"files"`
	Writes [][2]int64    `json:"writes"`
}

// runs are traces of many kinds: short and long, with stalls as a stopped process has them, bursts, one byte.
func runs() []pythonRun {
	ms := time.Millisecond
	out := []pythonRun{
		{Window: time.Second, Copied: 3 * ms, Total: 4 * ms, Files: 1, Writes: [][2]int64{{int64(ms), 1}}},       // one file of one byte
		{Window: time.Second, Copied: 1, Total: 1, Files: 1, Writes: [][2]int64{{0, 1}}},                         // in a nanosecond
		{Window: time.Second, Copied: 30 * ms, Total: 20 * time.Second, Files: 1, Writes: [][2]int64{{20e6, 1}}}, // a byte and an endless sync
		{Window: time.Second, Copied: time.Second, Total: 2 * time.Second, Files: 0},                             // nothing
	}
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 77))
		r := pythonRun{Window: []time.Duration{50 * ms, 70 * ms, 250 * ms, time.Second, 3 * time.Second}[rnd.IntN(5)], Files: rnd.Int64N(5000)}
		var at time.Duration
		quick := time.Duration(1 + 400*(seed%2)) // every other run is over before a window or two
		for range rnd.IntN(400) {
			at += time.Duration(rnd.Int64N(int64(60*ms))) / quick
			if rnd.IntN(60) == 0 { // SIGSTOP, SIGCONT
				at += time.Duration(rnd.Int64N(int64(9*time.Second))) / quick
			}
			r.Writes = append(r.Writes, [2]int64{int64(at), 1 + rnd.Int64N(4<<20)})
		}
		r.Copied = at + time.Duration(1+rnd.Int64N(int64(time.Second/quick)))
		r.Total = r.Copied + time.Duration(rnd.Int64N(int64(4*time.Second/quick)))
		out = append(out, r)
	}
	return out
}

// TestSummaryAgreesWithPython compares every figure with one computed from the trace alone, in another language.
func TestSummaryAgreesWithPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Fatal("python3 is not installed: apt-get install python3")
	}
	var in, out, complaints bytes.Buffer
	all := runs()
	for _, r := range all {
		if err := json.NewEncoder(&in).Encode(r); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.Command(python, "testdata/recompute.py")
	command.Stdin, command.Stdout, command.Stderr = &in, &out, &complaints
	if err := command.Run(); err != nil {
		t.Fatalf("python: %v\n%s", err, complaints.String())
	}
	single := 0
	decoder := json.NewDecoder(&out)
	for i, r := range all {
		var want Summary
		if err := decoder.Decode(&want); err != nil {
			t.Fatalf("run %d: %v", i, err)
		}
		trace := make([]write, len(r.Writes))
		for k, w := range r.Writes {
			trace[k] = write{time.Duration(w[0]), w[1]}
		}
		got := replay(t, trace, r.Window, r.Copied, r.Total, r.Files)
		compare(t, got, want)
		if got.SingleWindow {
			single++
		}
	}
	if single < 50 || single > len(all)-100 {
		t.Errorf("%d of %d runs are single windows: the runs test too little", single, len(all))
	}
}
