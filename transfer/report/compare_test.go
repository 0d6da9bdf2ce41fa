package report

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

// steady is a record of so many windows that repeat a pattern around a rate.
func steady(t *testing.T, label string, seed uint64, average float64, pattern ...float64) *Record {
	r := transferOf(t, label, seed, 1e6, 1e6, 0)
	r.Rates.Series = nil
	for i := range 80 {
		r.Rates.Series = append(r.Rates.Series, average*pattern[i%len(pattern)])
	}
	r.Rates.Average, r.Rates.SingleWindow = average, false
	return r
}

func TestVerdictsRespectTheSpread(t *testing.T) {
	rising := make([]float64, 80)
	for i := range rising {
		rising[i] = 0.8 + 0.4*float64(i)/79
	}
	single := steady(t, "single", 3, 200e6, 1)
	single.Rates.Series, single.Rates.SingleWindow = []float64{}, true
	for _, c := range []struct {
		name     string
		base     []*Record
		other    []*Record
		verdict  Verdict
		sentence string
	}{
		{"clearly faster", []*Record{steady(t, "a", 1, 100e6, 1)}, []*Record{steady(t, "b", 2, 112e6, 1)}, Faster, "faster by 12 %, more than the spread of 0 %"},
		{"clearly slower", []*Record{steady(t, "a", 1, 100e6, 1)}, []*Record{steady(t, "b", 2, 88e6, 1)}, Slower, "slower by 12 %, more than the spread of 0 %"},
		{"pauses of a write cache do not hide it", []*Record{steady(t, "a", 1, 100e6, 0.2, 1.8)}, []*Record{steady(t, "b", 2, 112e6, 1)}, Faster, "faster by 12 %"},
		{"a run that drifts by more", []*Record{steady(t, "a", 1, 100e6, rising...)}, []*Record{steady(t, "b", 2, 112e6, 1)}, NoDifference,
			"no difference beyond the spread (faster by 12 %, spread 18 %)"},
		{"nothing known", []*Record{steady(t, "a", 1, 100e6, 1)}, []*Record{single}, Unclear, "2.00 times as fast; the spread is unknown"},
		{"rounds, apart", []*Record{steady(t, "a", 1, 100e6, 1), steady(t, "a", 2, 102e6, 1), steady(t, "a", 3, 98e6, 1)},
			[]*Record{steady(t, "b", 4, 110e6, 1), steady(t, "b", 5, 111e6, 1), steady(t, "b", 6, 109e6, 1)}, Faster, "faster by 10 %, more than the spread of 2.0 %"},
		{"rounds, mixed", []*Record{steady(t, "a", 1, 100e6, 1), steady(t, "a", 2, 140e6, 1), steady(t, "a", 3, 60e6, 1)},
			[]*Record{steady(t, "b", 4, 110e6, 1), steady(t, "b", 5, 111e6, 1), steady(t, "b", 6, 109e6, 1)}, NoDifference, "spread 40 %"},
	} {
		comparison, err := Compare(slices.Concat(c.base, c.other))
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if len(comparison.Compared) != 2 {
			t.Fatalf("%s: %d things compared", c.name, len(comparison.Compared))
		}
		got := comparison.Compared[1]
		if got.Verdict != c.verdict || !strings.Contains(got.Sentence, c.sentence) {
			t.Errorf("%s: %s: %q, want %s: %q", c.name, got.Verdict, got.Sentence, c.verdict, c.sentence)
		}
		if comparison.Compared[0].Verdict != Baseline || comparison.Compared[0].Ratio != 1 {
			t.Errorf("%s: baseline %+v", c.name, comparison.Compared[0])
		}
	}
}

func TestComparisonRemarks(t *testing.T) {
	a, b := steady(t, "a", 1, 100e6, 1), steady(t, "b", 2, 110e6, 1)
	b.Bytes, b.Cache, b.Outcome = 2*a.Bytes, "dropped", Partial
	comparison, err := Compare([]*Record{a, b})
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(comparison.Remarks, "\n")
	for _, want := range []string{"other work than the baseline", "another cache than the baseline's: dropped against warm", "b ended as partial", "how much one run differs from the next"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is missing in %q", want, all)
		}
	}
	// Disturbed rounds are told, and pictures are of the median round.
	comparison, err = Compare([]*Record{steady(t, "a", 1, 100e6, 1), steady(t, "a", 2, 140e6, 1), steady(t, "a", 3, 60e6, 1), b})
	if err != nil || !strings.Contains(strings.Join(comparison.Remarks, "\n"), "a: rounds differ by more than 15 %") {
		t.Error(comparison.Remarks, err)
	}
	if m := comparison.medians(); len(m) != 2 || m[0].ID != a.ID && m[0].Rates.Average != 100e6 || m[1] != b {
		t.Errorf("%d median rounds", len(m))
	}
	if text := comparison.roundsText(); !strings.HasPrefix(text, "a: 3; b: 1. Medians are shown") {
		t.Error(text)
	}
}

func TestWhatCannotBeCompared(t *testing.T) {
	a, empty := steady(t, "a", 1, 100e6, 1), steady(t, "b", 2, 100e6, 1)
	empty.Rates.Average = 0
	for name, records := range map[string][]*Record{"none": nil, "one": {a}, "twice the same": {a, a}, "nothing copied": {a, empty}, "nothing copied first": {empty, a}} {
		if _, err := Compare(records); !errors.Is(err, ErrCompare) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Without labels nobody said that two records are the same work: they are compared, not taken for rounds.
	b := steady(t, "", 4, 50e6, 1)
	a.Label = ""
	if c, err := Compare([]*Record{a, b}); err != nil || len(c.Compared) != 2 {
		t.Error(err)
	}
}

func TestFigureOfRounds(t *testing.T) {
	f := MakeFigure([]float64{9, 1, 5, 3, 7})
	if f.Median != 5 || f.Q1 != 3 || f.Q3 != 7 || f.Min != 1 || f.Max != 9 || f.Rounds != 5 || !slices.Equal(f.Values, []float64{9, 1, 5, 3, 7}) {
		t.Errorf("%+v", f)
	}
	if f = MakeFigure([]float64{1, 2, 3, 4}); f.Median != 2.5 || f.Q1 != 1.75 || f.Q3 != 3.25 {
		t.Errorf("%+v", f)
	}
	if f = MakeFigure([]float64{7}); f.Median != 7 || f.Spread() != 0 || f.Disturbed {
		t.Errorf("%+v", f)
	}
	if f = MakeFigure(nil); f.Rounds != 0 || f.Median != 0 || f.Values == nil {
		t.Errorf("%+v", f)
	}
	// The bound: 15 % of the median between the quartiles.
	if f = MakeFigure([]float64{92, 92.6, 100, 107.5, 120}); f.Disturbed {
		t.Errorf("spread %v is disturbed", f.Spread())
	}
	if f = MakeFigure([]float64{92, 92.4, 100, 107.5, 120}); !f.Disturbed {
		t.Errorf("spread %v is not disturbed", f.Spread())
	}
}

func TestSharesAddUpToTheClock(t *testing.T) {
	for _, c := range []struct {
		busy []Phase
		wall float64
	}{
		{[]Phase{{PhaseSourceRead, 3}, {PhaseCrypto, 1}}, 10},                  // idle otherwise
		{[]Phase{{PhaseSourceRead, 30}, {PhaseCrypto, 10}}, 10},                // four workers
		{[]Phase{{PhaseSourceRead, 3}, {PhaseOther, 20}, {PhaseCrypto, 1}}, 6}, // with a measured rest
		{[]Phase{{PhaseSourceRead, -1}, {PhaseCrypto, 0}}, 2},
		{nil, 1},
	} {
		sum := 0.0
		for _, p := range SharePhases(c.busy, c.wall) {
			if p.Seconds < 0 {
				t.Errorf("%v: %v", c.busy, p)
			}
			sum += p.Seconds
		}
		if math.Abs(sum-c.wall) > 1e-9 {
			t.Errorf("%v add up to %v, want %v", c.busy, sum, c.wall)
		}
	}
	if got := SharePhases([]Phase{{PhaseCrypto, 1}}, 0); got != nil {
		t.Error(got)
	}
	scaled := SharePhases([]Phase{{PhaseSourceRead, 30}, {PhaseCrypto, 10}}, 10)
	if scaled[0].Seconds != 7.5 || scaled[1].Seconds != 2.5 {
		t.Error(scaled)
	}
}
