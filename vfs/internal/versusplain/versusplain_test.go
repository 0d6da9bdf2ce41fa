package main

import (
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestQuantile(t *testing.T) {
	v := []float64{4, 1, 3, 2}
	if quantile(v, 0.5) != 2.5 || quantile(v, 0) != 1 || quantile(v, 1) != 4 || quantile(nil, 0.5) != 0 {
		t.Fatal("quantile")
	}
}

// fake are samples of one line: rates of plain, coffer, gocryptfs, round by round.
func fake(line string, rounds ...[3]float64) (out []Sample) {
	for i, r := range rounds {
		for k, name := range []string{plainName, cofferName, gocryptfsName} {
			out = append(out, Sample{Run: "r", Round: i, Line: line, Unit: "MB/s", Contender: name, Rate: r[k]})
		}
	}
	return out
}

// TestVerdicts: ratios are of the same round, and every kind of target can be missed.
func TestVerdicts(t *testing.T) {
	for name, c := range map[string]struct {
		samples      []Sample
		plain, peer  bool
		ratio, share float64
	}{
		// Medians of rates would say 300/200; the rounds say 0.95.
		"ratios in rounds":  {fake(inA, [3]float64{100, 95, 50}, [3]float64{200, 300, 100}, [3]float64{400, 300, 200}), true, true, 0.95, 0.5},
		"short of plain":    {fake(inA, [3]float64{100, 89, 50}), false, true, 0.89, 0.5},
		"short of the peer": {fake(inA, [3]float64{100, 90, 44}, [3]float64{100, 90, 44}), true, true, 0.9, 0.44},
		"peer slow":         {fake(randWrite4, [3]float64{100, 50, 40}), true, false, 0.5, 0.4},
		"creates":           {fake(createMany, [3]float64{100, 50, 28}), true, false, 0.5, 0.28},
		"creates met":       {fake(createMany, [3]float64{100, 50, 27}), true, true, 0.5, 0.27},
		"cpu":               {fake(cpuIn, [3]float64{0, 1.7, 3}), false, true, 0, 0},
		"cpu met":           {fake(cpuIn, [3]float64{0, 1.6, 3}), true, true, 0, 0},
	} {
		var of target
		for _, candidate := range targets() {
			if candidate.line == c.samples[0].Line {
				of = candidate
			}
		}
		r := evaluate(c.samples, of)
		if r.metPlain != c.plain || r.metPeer != c.peer || quantile(r.ratios, 0.5) != c.ratio || r.peerShare != c.share {
			t.Errorf("%s: %+v", name, r)
		}
		if shown := strings.Contains(table(c.samples), "SHORT"); shown == (c.plain && c.peer) {
			t.Errorf("%s: the table says\n%s", name, table(c.samples))
		}
	}
}

// TestDisturbedSamplesDoNotCount: the round loses its ratio, the others stay.
func TestDisturbedSamplesDoNotCount(t *testing.T) {
	samples := fake(inA, [3]float64{100, 10, 50}, [3]float64{100, 95, 50})
	samples[1].Disturbed = true
	if r := evaluate(samples, targets()[0]); quantile(r.ratios, 0.5) != 0.95 || len(r.ratios) != 1 || r.coffer != 95 {
		t.Errorf("%+v", r)
	}
	if text := table(samples); !strings.Contains(text, "1 samples of 6 are not counted") {
		t.Error(text)
	}
}

// TestEveryLineHasATarget: a line without a row would be measured and never shown.
func TestEveryLineHasATarget(t *testing.T) {
	b := &bench{scale: 1}
	have := map[string]bool{}
	for _, l := range b.lines() {
		have[l.title] = true
		if l.cpuBytes > 0 {
			have["CPU of the daemon, "+l.title] = true
		}
	}
	for _, r := range targets() {
		if !have[r.line] {
			t.Errorf("nothing measures %q", r.line)
		}
	}
	if len(b.lines()) != 19 {
		t.Errorf("%d lines", len(b.lines()))
	}
}

func TestSamplesAreKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "samples")
	all := fake(inA, [3]float64{1, 2, 3}, [3]float64{4, 5, 6})
	for _, part := range [][]Sample{all[:2], all[2:]} {
		if err := appendSamples(path, part); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := readSamples(path); err != nil || !reflect.DeepEqual(got, all) {
		t.Fatal(got, err)
	}
	if got, err := readSamples(path + "-missing"); err != nil || got != nil {
		t.Fatal(got, err)
	}
}

func TestParsers(t *testing.T) {
	if s, err := parseStat("12 (a ) b) S 1 2 3 4 5 6 7 8 9 10 250 50 0 0 20 0 1"); err != nil || s != 3 {
		t.Error(s, err)
	}
	if _, err := parseStat("nonsense"); err == nil {
		t.Error("nonsense was taken for a stat line")
	}
	if pid, err := findPID([]byte(`{"unlocked":[{"image":"x","pid":77}]}`)); err != nil || pid != 77 {
		t.Error(pid, err)
	}
	for _, bad := range []string{`{}`, `[{"pid":1},{"pid":2}]`, `no`} {
		if _, err := findPID([]byte(bad)); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
	report := `{"jobs":[{"error":0,"read":{"total_ios":0,"runtime":0},"write":{"total_ios":3000,"runtime":1000}}]}`
	if rate, err := fioRate([]byte(report), 2*time.Second); err != nil || rate != 1000 {
		t.Error(rate, err)
	}
	if _, err := fioRate([]byte(strings.Replace(report, `"error":0`, `"error":5`, 1)), 0); err == nil {
		t.Error("an error of fio was ignored")
	}
}
