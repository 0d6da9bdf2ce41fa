package picture

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestAxesAreRound(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for range 5000 {
		most := math.Pow(10, rnd.Float64()*16-6)
		count := 2 + rnd.IntN(8)
		to, ticks := linear(most, count)
		if to < most*(1-1e-9) || to > most*2.6 || len(ticks) < 2 || len(ticks) > count+1 || ticks[0] != 0 {
			t.Fatalf("linear(%v, %d) = %v, %v", most, count, to, ticks)
		}
		step := ticks[1]
		digits := step / math.Pow(10, math.Floor(math.Log10(step)+1e-9))
		if !slices.ContainsFunc([]float64{1, 2, 2.5, 5, 10}, func(d float64) bool { return math.Abs(digits-d) < 1e-6 }) {
			t.Fatalf("a step of %v", step)
		}
		least := most / math.Pow(10, rnd.Float64()*5)
		lo, hi, ticks := decades(least, most)
		if lo > least*(1+1e-9) || hi < most*(1-1e-9) || len(ticks) < 2 || len(ticks) > 7 {
			t.Fatalf("decades(%v, %v) = %v, %v, %v", least, most, lo, hi, ticks)
		}
		s := scale{from: lo, to: hi, start: 10, length: 200, log: true}
		if s.at(least) < 10 || s.at(most) > 210+1e-6 || s.at(least) > s.at(most) {
			t.Fatalf("places %v and %v", s.at(least), s.at(most))
		}
	}
	for _, bad := range []float64{0, -1, math.Inf(1), math.NaN()} {
		if to, ticks := linear(bad, 4); to < 1 || len(ticks) < 2 {
			t.Errorf("linear(%v) = %v, %v", bad, to, ticks)
		}
	}
}

func TestNumbers(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 6.924: "6.92", 14: "14.0", 99.96: "100", 327.4: "327", 9999: "9999", 12345: "12\u00a0350", 130716: "130\u00a0700",
		0.957: "0.957", 0.012345: "0.012", -6.5: "-6.50", 1234567: "1\u00a0235\u00a0000"} {
		if got := Figure(v); got != want {
			t.Errorf("Figure(%v) = %q, want %q", v, got, want)
		}
	}
	for v, want := range map[float64]string{6.92: "6.92", 14: "14", 21960: "21\u00a0960", 0.8: "0.8", 119217: "119\u00a0217"} {
		if got := Exact(v); got != want {
			t.Errorf("Exact(%v) = %q, want %q", v, got, want)
		}
	}
	if Ratio(0.957) != "0.96" || Ratio(12) != "12.0" || Ratio(0.012) != "0.012" {
		t.Error(Ratio(0.957), Ratio(12), Ratio(0.012))
	}
	if tickText(2.5, 2.5) != "2.5" || tickText(0, 2.5) != "0.0" || tickText(20000, 5000) != "20\u00a0000" {
		t.Error(tickText(2.5, 2.5), tickText(0, 2.5), tickText(20000, 5000))
	}
}

func TestLabelsKeepApart(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 1))
	for range 2000 {
		marks := make([]mark, 3)
		for i := range marks {
			marks[i].y = rnd.Float64() * 100
		}
		before := slices.Clone(marks)
		spread(marks, 14, 0, 100)
		for i := range marks {
			for k := range marks {
				if i != k && math.Abs(marks[i].y-marks[k].y) < 14-1e-9 || before[i].y < before[k].y && marks[i].y > marks[k].y {
					t.Fatalf("%v became %v", before, marks)
				}
			}
			if marks[i].y < -1e-9 || marks[i].y > 100+1e-9 {
				t.Fatalf("%v left the plot: %v", before, marks)
			}
		}
	}
}

// TestColoursDiffer: by lightness between neighbours, and by value, since a page replaces colours by their values.
func TestColoursDiffer(t *testing.T) {
	seen := map[uint32]bool{}
	for _, s := range light() {
		if seen[s.rgb] {
			t.Errorf("%06x twice", s.rgb)
		}
		seen[s.rgb] = true
	}
	names := func(shades []shade) (out []string) {
		for _, s := range shades {
			out = append(out, s.name)
		}
		slices.Sort(out)
		return out
	}
	if !slices.Equal(names(light()), names(dark())) {
		t.Errorf("by day %v, by night %v", names(light()), names(dark()))
	}
	grey := func(s shade) float64 {
		return (0.299*float64(s.rgb>>16&255) + 0.587*float64(s.rgb>>8&255) + 0.114*float64(s.rgb&255)) / 255
	}
	phases := phaseShades()[:7]
	for i := 1; i < len(phases); i++ {
		if d := math.Abs(grey(phases[i]) - grey(phases[i-1])); d < 0.09 {
			t.Errorf("%s and %s are alike in grey: %.2f", phases[i-1].name, phases[i].name, d)
		}
	}
	for i, s := range seriesShades()[1:4] {
		if d := math.Abs(grey(s) - grey(seriesShades()[i])); d < 0.09 {
			t.Errorf("%s is like its neighbour in grey: %.2f", s.name, d)
		}
	}
}

// TestManyWindows draws a run of twelve days: the picture stays small, and shows the one window in which nothing moved.
func TestManyWindows(t *testing.T) {
	series := make([]float64, 1<<20)
	for i := range series {
		series[i] = 50
	}
	series[700_000] = 0
	r := &Rates{Title: "long", Unit: "MB/s", WindowSeconds: 1, Series: series, Average: 50, Maximum: 50, CopySeconds: 1 << 20, TotalSeconds: 1 << 20}
	svg, err := Inline(r, Wide)
	if err != nil || len(svg) > 200_000 {
		t.Fatal(len(svg), err)
	}
	c, err := newCanvas()
	if err != nil {
		t.Fatal(err)
	}
	p := ratesPlot{c: c, r: r, x: 0, y: 0, w: 600, h: 100, rate: scale{to: 51, start: 100, length: -100}, time: scale{to: 1 << 20, length: 600}}
	low, _, _ := p.ranges()
	if !slices.ContainsFunc(low, func(s spot) bool { return s.y == 100 }) {
		t.Error("the stalled window is not in the picture")
	}
}

// TestSizesOfEverything draws charts of every size that could be asked for: no panic, valid XML, a bounded height.
func TestSizesOfEverything(t *testing.T) {
	rnd := rand.New(rand.NewPCG(8, 8))
	long := strings.Repeat("a long name ", 30)
	rounds := 12
	if testing.Short() {
		rounds = 3
	}
	for range rounds {
		groups, series := rnd.IntN(30), rnd.IntN(5)
		bars := &Bars{Title: long, Unit: long, Caption: long, Log: rnd.IntN(2) == 0, Line: float64(rnd.IntN(2)), LineName: long}
		for g := range groups {
			bars.Groups = append(bars.Groups, fmt.Sprint(long[:rnd.IntN(len(long))], g))
		}
		for s := range series {
			b := BarSeries{Name: fmt.Sprint(long[:rnd.IntN(len(long))], s), Reference: rnd.IntN(3) == 0, Source: long}
			for range groups {
				b.Values = append(b.Values, max(0, rnd.NormFloat64()*math.Pow(10, float64(rnd.IntN(9)-3))))
			}
			if rnd.IntN(2) == 0 {
				b.Low, b.High = make([]float64, groups), slices.Clone(b.Values)
			}
			bars.Series = append(bars.Series, b)
		}
		phases := &Phases{Title: long, Caption: long}
		for k := range rnd.IntN(12) {
			phases.Names = append(phases.Names, fmt.Sprint(long[:rnd.IntN(80)], k))
		}
		for range rnd.IntN(5) {
			row := PhasesRow{Label: long, Seconds: make([]float64, len(phases.Names))}
			for k := range row.Seconds {
				row.Seconds[k] = rnd.Float64() * float64(rnd.IntN(3))
			}
			phases.Rows = append(phases.Rows, row)
		}
		rates := &Rates{Title: long, Caption: long, Unit: long, WindowSeconds: 0.05, Series: make([]float64, rnd.IntN(1500)), Average: rnd.Float64() * 1e4, Maximum: rnd.Float64() * 1e5}
		page := &Page{Title: long, Subtitle: long, Lead: []string{long, ""}, Charts: []Chart{bars, phases, &Grid{Title: long, Charts: []Chart{rates, bars, rates}}}, Notes: []string{long, ""}}
		var b bytes.Buffer
		if err := page.WriteSVG(&b); err != nil {
			t.Fatal(err)
		}
		wellFormed(t, b.Bytes())
		for _, chart := range page.Charts {
			svg, err := Inline(chart, Narrow)
			if err != nil {
				t.Fatal(err)
			}
			wellFormed(t, []byte(svg))
		}
	}
	endless := &Page{}
	for range 300 {
		endless.Charts = append(endless.Charts, &Rates{Title: "x"})
	}
	if err := endless.WritePNG(io.Discard); !errors.Is(err, ErrTooHigh) {
		t.Error(err)
	}
}

func wellFormed(t *testing.T, data []byte) {
	t.Helper()
	for d := xml.NewDecoder(bytes.NewReader(data)); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatalf("%v in %.300s", err, data)
		}
	}
}
