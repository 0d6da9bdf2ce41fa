package chart

import (
	"image"
	"image/color"
	"math"
	"slices"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"

	"coffer/app/window/ui"
)

func TestValueScale(t *testing.T) {
	for _, c := range []struct {
		highest   float64
		most      int
		end, step float64
	}{
		{0, 5, 1.25, 0.25},
		{math.NaN(), 5, 1.25, 0.25},
		{math.Inf(1), 5, 1.25, 0.25},
		{-3, 5, 1.25, 0.25},
		{9, 5, 10, 2},
		{10, 5, 12.5, 2.5},
		{97, 4, 100, 25},
		{98, 4, 150, 50},
		{4.2e9, 5, 5e9, 1e9},
		{0.03, 1, 0.05, 0.05},
	} {
		end, step := valueScale(c.highest, 1, c.most)
		if math.Abs(end-c.end) > 1e-9*c.end || math.Abs(step-c.step) > 1e-9*c.step {
			t.Errorf("highest %v in %d steps: to %v by %v, not %v by %v", c.highest, c.most, end, step, c.end, c.step)
		}
	}
	for most := 1; most < 12; most++ {
		for highest := 1e-3; highest < 1e12; highest *= 1.37 {
			end, step := valueScale(highest, 1, most)
			if end < highest*1.02 || step*float64(most) < end*(1-1e-9) && step*float64(most+1) < end {
				t.Errorf("highest %v in %d steps: to %v by %v", highest, most, end, step)
			}
			if n := math.Round(end / step); math.Abs(end/step-n) > 1e-6 || n < 1 || n > float64(most)+1 {
				t.Errorf("highest %v: %v is not a few whole steps of %v", highest, end, step)
			}
		}
	}
}

func TestNumber(t *testing.T) {
	for _, c := range []struct {
		value, step float64
		want        string
	}{{0, 10, "0"}, {20, 10, "20"}, {2.5, 2.5, "2.5"}, {0.25, 0.25, "0.25"}, {0, 0.2, "0.0"}, {0.001, 0.001, "0.001"}} {
		if got := number(c.value, c.step); got != c.want {
			t.Errorf("%v by %v reads %q, not %q", c.value, c.step, got, c.want)
		}
	}
}

func TestTimeMarks(t *testing.T) {
	for _, c := range []struct {
		from, to float64
		most     int
		want     []float64
	}{
		{-60, 0, 4, []float64{-60, -45, -30, -15, 0}},
		{0, 95, 4, []float64{0, 30, 60, 90}},
		{0, 0, 4, nil},
		{math.NaN(), 1, 4, nil},
		{0.5, 1.6, 3, []float64{0.5, 1, 1.5}},
		{0, 1e6, 2, []float64{0, 518400}},
	} {
		if got := timeMarks(c.from, c.to, c.most); !slices.EqualFunc(got, c.want, func(a, b float64) bool { return math.Abs(a-b) < 1e-6 }) {
			t.Errorf("%v to %v in %d: %v, not %v", c.from, c.to, c.most, got, c.want)
		}
	}
	for _, c := range []struct {
		at, to, span float64
		want         string
	}{
		{0, 0, 60, "now"}, {0, 60, 60, "0 s"}, {-45, 0, 60, "-45 s"}, {60, 95, 95, "60 s"}, {60, 600, 600, "1 min"}, {3600, 7200, 7200, "1 h"},
		{0.5, 2, 2, "0.5 s"}, {5400, 9000, 9000, "1 h 30 min"},
	} {
		if got := timeName(c.at, c.to, c.span); got != c.want {
			t.Errorf("%v of %v reads %q, not %q", c.at, c.span, got, c.want)
		}
	}
}

func TestWindows(t *testing.T) {
	s := Windows("Copy", []float64{3, 5}, 2)
	if want := []Point{{0, 3}, {1, 3}, {3, 5}, {4, 5}}; !slices.Equal(s.Points, want) {
		t.Errorf("points %v, not %v", s.Points, want)
	}
	if s := Windows("Copy", nil, 1); len(s.Points) != 0 {
		t.Errorf("no windows make points: %v", s.Points)
	}
}

// show draws a chart of a size and gives its picture.
func show(t *testing.T, o fyne.CanvasObject, size fyne.Size) image.Image {
	t.Helper()
	app := test.NewTempApp(t)
	ui.UseTheme(app, ui.ThemeLight)
	w := test.NewWindow(o)
	t.Cleanup(w.Close)
	w.SetPadded(false)
	w.Resize(size)
	return w.Canvas().Capture()
}

// texts are the words of a chart and where they begin.
func texts(o fyne.Widget) map[string]fyne.Position {
	all := map[string]fyne.Position{}
	for _, one := range test.WidgetRenderer(o).Objects() {
		if t, ok := one.(*canvas.Text); ok {
			all[t.Text] = t.Position()
		}
	}
	return all
}

// near says whether the picture has a colour like c at a place.
func near(p image.Image, x, y int, c color.Color) bool {
	r1, g1, b1, _ := p.At(x, y).RGBA()
	r2, g2, b2, _ := c.RGBA()
	far := func(a, b uint32) bool { return a > b+0x1400 || b > a+0x1400 }
	return !far(r1, r2) && !far(g1, g2) && !far(b1, b2)
}

func TestRatesPicture(t *testing.T) {
	r := NewRates()
	r.SetSpan(0, 10)
	r.SetData(Series{Points: []Point{{0, 5e6}, {5, 5e6}, {5, 0}, {10, 0}}}) // left half at 5 MB/s, right half at rest
	p := show(t, r, fyne.NewSize(400, 300))
	plot := test.WidgetRenderer(r).(*ratesRenderer).plot
	at := func(x, y float32) (int, int) {
		return int(plot.Position().X + x*plot.Size().Width), int(plot.Position().Y + y*plot.Size().Height)
	}
	end := float32(test.WidgetRenderer(r).(*ratesRenderer).axes.end)
	line := color.Color(ui.Color(ui.ColorNameSeries1))
	ground := ui.Color("background")

	x, y := at(0.25, 1-5e6/end)
	found := false
	for dy := -3; dy <= 3; dy++ {
		found = found || near(p, x, y+dy, line)
	}
	if !found {
		t.Errorf("no line at 5 MB/s in the left half")
	}
	x, y = at(0.27, 1-4.6e6/end)
	if near(p, x, y, line) || near(p, x, y, ground) {
		t.Errorf("below the line is %v: neither the line nor the ground, but the filling is expected", p.At(x, y))
	}
	x, y = at(0.73, 1-2.3e6/end)
	if !near(p, x, y, ground) {
		t.Errorf("above the rest in the right half is %v, not the ground", p.At(x, y))
	}
	x, y = at(0.27, 1-5.7e6/end)
	if !near(p, x, y, ground) {
		t.Errorf("above the line is %v, not the ground", p.At(x, y))
	}
}

// TestRatesOdd draws what must not be drawn wrong: nothing, one point, values that are no numbers, all at rest, a huge number.
func TestRatesOdd(t *testing.T) {
	nan := math.NaN()
	for name, points := range map[string][]Point{
		"nothing": nil,
		"one":     {{3, 4e6}},
		"rest":    {{0, 0}, {1, 0}, {2, 0}},
		"nan":     {{0, nan}, {1, 1e6}, {nan, 3}, {2, math.Inf(1)}, {3, 2e6}},
		"onlynan": {{0, nan}},
		"huge":    {{0, 1e30}, {1, 1}},
		"same":    {{5, 1}, {5, 2}},
		"below":   {{0, -5}, {1, 5}},
	} {
		r := NewRates()
		r.SetMarks(Mark{"average", nan}, Mark{"maximum", 2e6})
		r.SetData(Series{Name: "Copy", Points: points})
		show(t, r, fyne.NewSize(300, 200))
		a := test.WidgetRenderer(r).(*ratesRenderer).axes
		for _, v := range []float64{a.from, a.to, a.end, a.step} {
			if !finite(v) {
				t.Errorf("%s: axes %+v", name, a)
			}
		}
		if a.to <= a.from || a.end <= 0 {
			t.Errorf("%s: axes without an extent: %+v", name, a)
		}
		if _, said := texts(r)["Nothing yet"]; said != (name == "nothing" || name == "onlynan") {
			t.Errorf("%s: says that there is nothing: %v", name, said)
		}
		show(t, r, fyne.NewSize(1, 1))
	}
}

func TestRatesWords(t *testing.T) {
	r := NewRates()
	r.SetSpan(-60, 0)
	r.SetData(Series{Name: "Read", Note: "3 MB/s", Points: []Point{{-60, 0}, {0, 3e6}}}, Series{Name: "Write", Points: []Point{{-60, 9e6}}})
	r.SetMarks(Mark{"average", 6e6}, Mark{"maximum", 9e6}, Mark{"minimum", 5.99e6})
	show(t, r, fyne.NewSize(500, 240))
	all := texts(r)
	for _, words := range []string{"MB/s", "Read  3 MB/s", "Write", "now", "-30 s", "average 6.0", "maximum 9.0", "minimum 6.0", "0", "10"} {
		if _, there := all[words]; !there {
			t.Errorf("%q is not in the chart: %v", words, all)
		}
	}
	if gap := all["minimum 6.0"].Y - all["average 6.0"].Y; gap < 10 {
		t.Errorf("names of close marks overlap: %v apart", gap)
	}
	for words, at := range all {
		if at.X < 0 || at.Y < -8 || at.X > 500 || at.Y > 240 {
			t.Errorf("%q is outside at %v", words, at)
		}
	}
}

func TestThin(t *testing.T) {
	var path []spot
	for i := range 10000 {
		y := float32(50)
		if i == 5003 {
			y = 1
		}
		path = append(path, spot{float32(i) / 100, y})
	}
	kept := thin(slices.Clone(path))
	if len(kept) > 400 {
		t.Errorf("%d points are left for 100 columns", len(kept))
	}
	if !slices.ContainsFunc(kept, func(s spot) bool { return s.y == 1 }) {
		t.Error("the peak is lost")
	}
	few := []spot{{0, 1}, {10, 2}, {20, 3}}
	if got := thin(slices.Clone(few)); !slices.Equal(got, few) {
		t.Errorf("few points are changed: %v", got)
	}
}

func TestBars(t *testing.T) {
	b := NewBars()
	b.SetData(
		Group{Title: "Read", Unit: "MB/s", Bars: []Bar{{Label: "Here", Value: 200}, {Label: "A test of somebody else, years ago, on another computer", Value: 50, Published: true}}},
		Group{Title: "Write", Unit: "MB/s", Bars: []Bar{{Label: "Here", Value: 100, Text: "a hundred"}}},
		Group{Title: "Files", Unit: "files/s", Bars: []Bar{{Label: "Create", Value: 3}, {Label: "None", Value: math.NaN(), Text: "–"}}},
	)
	show(t, b, fyne.NewSize(500, 400))
	r := test.WidgetRenderer(b).(*barsRenderer)
	width := func(i int) float32 { return r.rows[i].bar.Size().Width }
	if math.Abs(float64(width(0)/width(1)-4)) > 0.01 || math.Abs(float64(width(0)/width(2)-2)) > 0.01 {
		t.Errorf("200, 50 and 100 MB/s are %v, %v and %v long", width(0), width(1), width(2))
	}
	if width(3) != width(0) {
		t.Errorf("another unit has another scale: %v, %v", width(3), width(0))
	}
	if width(4) > 2 {
		t.Errorf("no number is %v long", width(4))
	}
	if r.rows[0].bar.FillColor == r.rows[1].bar.FillColor {
		t.Error("published figures have no shade of their own")
	}
	all := texts(b)
	for _, words := range []string{"200 MB/s", "50.0 MB/s", "a hundred", "3.0 files/s", "Published by others", "Measured here"} {
		if _, there := all[words]; !there {
			t.Errorf("%q is not in the chart: %v", words, all)
		}
	}
	for _, row := range r.rows {
		if end := row.value.Position().X + row.value.MinSize().Width; end > 500 {
			t.Errorf("%q ends at %v of 500", row.value.Text, end)
		}
		if row.label.Position().X+row.label.MinSize().Width > row.bar.Position().X {
			t.Errorf("%q runs into its bar", row.label.Text)
		}
	}
	if b.MinSize().Height < 120 {
		t.Errorf("five rows want a height of %v only", b.MinSize().Height)
	}
	b.SetData()
	if b.MinSize().Height != 0 {
		t.Errorf("nothing takes %v", b.MinSize().Height)
	}
}

// TestFollowsTheme: colours are looked up again when the theme changes.
func TestFollowsTheme(t *testing.T) {
	app := test.NewTempApp(t)
	ui.UseTheme(app, ui.ThemeLight)
	r, b := NewRates(), NewBars()
	b.SetData(Group{Bars: []Bar{{Label: "x", Value: 1}}})
	w := test.NewWindow(r)
	defer w.Close()
	w.Resize(fyne.NewSize(300, 200))
	color := func() color.Color {
		for _, o := range test.WidgetRenderer(r).Objects() {
			if t, ok := o.(*canvas.Text); ok {
				return t.Color
			}
		}
		return nil
	}
	before := color()
	ui.UseTheme(app, ui.ThemeDark)
	r.Refresh()
	if color() == before {
		t.Error("a chart keeps the colours of the theme before")
	}
}

func BenchmarkRates600(b *testing.B) {
	app := test.NewApp()
	ui.UseTheme(app, ui.ThemeLight)
	r := NewRates()
	w := test.NewWindow(r)
	defer w.Close()
	w.Resize(fyne.NewSize(900, 260))
	d := test.WidgetRenderer(r).(*ratesRenderer)
	n := 0
	for b.Loop() {
		points := make([]Point, 600)
		for i := range points {
			points[i] = Point{float64(i), 50e6 + 40e6*math.Sin(float64(i+n)/20)}
		}
		n++
		r.SetData(Series{Name: "Read", Points: points}, Series{Name: "Write", Points: points})
		d.draw(900, 230)
	}
}
