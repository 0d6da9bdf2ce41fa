package chart

import (
	"image"
	"math"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// Rates is a chart of rates over time: filled lines, round scales in MB/s and seconds, a legend if series have names, lines
// for marks. Make it with NewRates.
type Rates struct {
	widget.BaseWidget
	series   []Series
	marks    []Mark
	from, to float64 // of the time axis; equal: as the data
	top      float64 // what the scale holds at least
	empty    string
}

// NewRates makes a chart without data.
func NewRates() *Rates {
	r := &Rates{empty: text.T("Nothing yet")}
	r.ExtendBaseWidget(r)
	return r
}

// SetData shows other data; the chart keeps the slices.
func (r *Rates) SetData(series ...Series) {
	if slices.EqualFunc(r.series, series, sameSeries) {
		return
	}
	r.series = series
	r.Refresh()
}

func sameSeries(a, b Series) bool {
	return a.Name == b.Name && a.Note == b.Note && slices.Equal(a.Points, b.Points)
}

// SetMarks shows other marks.
func (r *Rates) SetMarks(marks ...Mark) {
	if !slices.Equal(r.marks, marks) {
		r.marks = marks
		r.Refresh()
	}
}

// SetSpan fixes the time axis, in seconds; equal ends leave it to the data, which is so at first.
func (r *Rates) SetSpan(from, to float64) {
	if r.from != from || r.to != to {
		r.from, r.to = from, to
		r.Refresh()
	}
}

// SetTop makes the scale reach at least so far, in bytes per second, so that charts beside each other can have the same one.
func (r *Rates) SetTop(rate float64) {
	if r.top != rate {
		r.top = rate
		r.Refresh()
	}
}

// SetEmpty says what stands in a chart without a point.
func (r *Rates) SetEmpty(words string) {
	if r.empty != words {
		r.empty = words
		r.Refresh()
	}
}

// leastRate is the end of the scale of a chart in which nothing moves.
const leastRate = 1e6

// axes are the scales of a chart.
type axes struct {
	from, to float64 // seconds
	end      float64 // bytes per second
	step     float64
	points   int // that can be drawn
}

// axesFor chooses the scales for a plot with at most so many steps upwards.
func (r *Rates) axesFor(most int) axes {
	a := axes{from: math.Inf(1), to: math.Inf(-1)}
	highest := r.top
	for _, s := range r.series {
		for _, p := range s.Points {
			if !finite(p.Value) || !finite(p.At) {
				continue
			}
			a.points++
			a.from, a.to = min(a.from, p.At), max(a.to, p.At)
			highest = max(highest, p.Value)
		}
	}
	for _, m := range r.marks {
		if finite(m.Value) {
			highest = max(highest, m.Value)
		}
	}
	a.end, a.step = valueScale(highest, leastRate/headroom, most)
	switch {
	case r.to > r.from:
		a.from, a.to = r.from, r.to
	case a.points == 0:
		a.from, a.to = 0, 60
	case a.to <= a.from:
		a.from, a.to = a.from-0.5, a.from+0.5
	}
	return a
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// CreateRenderer implements fyne.Widget.
func (r *Rates) CreateRenderer() fyne.WidgetRenderer {
	d := &ratesRenderer{rates: r}
	d.plot = canvas.NewRaster(func(w, h int) image.Image { return d.draw(w, h) })
	d.build(r.Size())
	return d
}

type ratesRenderer struct {
	rates   *Rates
	plot    *canvas.Raster
	axes    axes
	built   fyne.Size // what objects are laid out for
	objects []fyne.CanvasObject
	pen     pen
}

// Sizes of a chart.
const (
	axisGap   = 6 // between a number of an axis and the plot
	minWidth  = 220
	minHeight = 120
	upStep    = 34 // least height of a step upwards
	timeStep  = 76 // least width of a step of time
	swatch    = 10
)

func (d *ratesRenderer) MinSize() fyne.Size { return fyne.NewSize(minWidth, minHeight) }

// Layout builds only for another size: the canvas lays out whatever has new objects, and building makes new ones, so that it
// would draw without end.
func (d *ratesRenderer) Layout(size fyne.Size) {
	if size != d.built {
		d.build(size)
	}
}

func (d *ratesRenderer) Refresh() {
	d.build(d.rates.Size())
	canvas.Refresh(d.rates)
}

func (d *ratesRenderer) Objects() []fyne.CanvasObject { return d.objects }

func (d *ratesRenderer) Destroy() {}

// caption is a small text of a chart.
func caption(words string, color fyne.ThemeColorName) *canvas.Text {
	t := canvas.NewText(words, ui.Color(color))
	t.TextSize = theme.CaptionTextSize()
	return t
}

// build lays the chart out: numbers around the plot, and the plot, which is a picture.
func (d *ratesRenderer) build(size fyne.Size) {
	d.built = size
	d.objects = d.objects[:0:0]
	if size.Width < 1 || size.Height < 1 {
		d.objects = append(d.objects, d.plot)
		return
	}
	line := caption("0", ui.ColorNameMuted).MinSize().Height
	top, bottom := line+axisGap, line+axisGap
	d.axes = d.rates.axesFor(max(1, int((size.Height-top-bottom)/upStep)))

	var values []*canvas.Text
	left := float32(0)
	for at := 0.0; at <= d.axes.end*(1+1e-9); at += d.axes.step {
		t := caption(number(at/1e6, d.axes.step/1e6), ui.ColorNameMuted)
		values = append(values, t)
		left = max(left, t.MinSize().Width)
	}
	left += axisGap
	marks, right := d.markTexts()
	area := fyne.NewSize(max(1, size.Width-left-right), max(1, size.Height-top-bottom))
	d.plot.Move(fyne.NewPos(left, top))
	if d.plot.Size() != area {
		d.plot.Resize(area)
	} else {
		d.plot.Refresh()
	}
	d.objects = append(d.objects, d.plot)

	for i, t := range values {
		s := t.MinSize()
		t.Move(fyne.NewPos(left-axisGap-s.Width, top+area.Height*(1-float32(float64(i)*d.axes.step/d.axes.end))-s.Height/2))
		d.objects = append(d.objects, t)
	}
	d.timeTexts(fyne.NewPos(left, top+area.Height+axisGap/2), area.Width)
	d.placeMarks(marks, fyne.NewPos(left+area.Width+axisGap, top), area.Height)
	d.legend(size.Width, right)
	if d.axes.points == 0 && d.rates.empty != "" {
		t := caption(d.rates.empty, ui.ColorNameMuted)
		s := t.MinSize()
		y := float32(0.5)
		if steps := int(math.Round(d.axes.end / d.axes.step)); steps%2 == 0 { // not on a line
			y -= 0.5 / float32(steps)
		}
		t.Move(fyne.NewPos(left+(area.Width-s.Width)/2, top+area.Height*y-s.Height/2))
		d.objects = append(d.objects, t)
	}
}

// timeTexts writes the times under the plot.
func (d *ratesRenderer) timeTexts(at fyne.Position, width float32) {
	free := float32(math.Inf(-1))
	for _, mark := range timeMarks(d.axes.from, d.axes.to, max(1, int(width/timeStep))) {
		t := caption(timeName(mark, d.axes.to, d.axes.to-d.axes.from), ui.ColorNameMuted)
		s := t.MinSize()
		x := width*float32((mark-d.axes.from)/(d.axes.to-d.axes.from)) - s.Width/2
		x = min(x, width-s.Width)
		if x < free {
			continue
		}
		free = x + s.Width + axisGap
		t.Move(at.AddXY(x, 0))
		d.objects = append(d.objects, t)
	}
}

// markTexts are the names of the marks, from the highest to the lowest, and the width they take.
func (d *ratesRenderer) markTexts() (texts []markText, width float32) {
	for _, m := range d.rates.marks {
		if !finite(m.Value) {
			continue
		}
		words := number(m.Value/1e6, 0.1)
		if m.Value >= 99.95e6 {
			words = number(m.Value/1e6, 1)
		}
		t := caption(m.Name+" "+words, theme.ColorNameForeground)
		texts = append(texts, markText{t, m.Value})
		width = max(width, t.MinSize().Width)
	}
	slices.SortStableFunc(texts, func(a, b markText) int { return -cmpFloat(a.value, b.value) })
	if width > 0 {
		width += axisGap
	}
	return texts, width
}

type markText struct {
	text  *canvas.Text
	value float64
}

func cmpFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// placeMarks puts the names of the marks beside their lines, one below the other where lines are close.
func (d *ratesRenderer) placeMarks(texts []markText, at fyne.Position, height float32) {
	if len(texts) == 0 {
		return
	}
	line := texts[0].text.MinSize().Height
	ys := make([]float32, len(texts))
	free := -line / 2
	for i, t := range texts {
		ys[i] = max(free, height*(1-float32(min(1, max(0, t.value/d.axes.end))))-line/2)
		free = ys[i] + line
	}
	lowest := height - line/2
	for i := len(ys) - 1; i >= 0; i-- {
		ys[i] = min(ys[i], lowest)
		lowest = ys[i] - line
	}
	for i, t := range texts {
		t.text.Move(at.AddXY(0, ys[i]))
		d.objects = append(d.objects, t.text)
	}
}

// legend writes the unit at the left and the names of the series at the right of the first line.
func (d *ratesRenderer) legend(width, right float32) {
	unit := caption("MB/s", ui.ColorNameMuted)
	d.objects = append(d.objects, unit)
	x := width - right
	for i, s := range slices.Backward(d.rates.series) {
		if s.Name == "" {
			continue
		}
		words := s.Name
		if s.Note != "" {
			words += "  " + s.Note
		}
		t := caption(words, theme.ColorNameForeground)
		size := t.MinSize()
		x -= size.Width
		t.Move(fyne.NewPos(x, 0))
		box := canvas.NewRectangle(ui.Color(seriesColor(i)))
		box.CornerRadius = 3
		x -= swatch + axisGap
		box.Resize(fyne.NewSquareSize(swatch))
		box.Move(fyne.NewPos(x, (size.Height-swatch)/2))
		x -= 3 * axisGap
		d.objects = append(d.objects, t, box)
	}
}

// draw makes the picture of the plot.
func (d *ratesRenderer) draw(w, h int) image.Image {
	width := d.plot.Size().Width
	if w <= 0 || h <= 0 || width <= 0 {
		return image.NewRGBA(image.Rect(0, 0, 1, 1))
	}
	p := &d.pen
	p.begin(w, h, float32(w)/width)
	a := d.axes
	for at := 0.0; at <= a.end*(1+1e-9); at += a.step {
		p.across(1-at/a.end, 1, 0, ui.Color(ui.ColorNameGrid))
	}
	for i, s := range d.rates.series {
		p.plot(a, s.Points, ui.Color(seriesColor(i)))
	}
	for _, m := range d.rates.marks {
		if finite(m.Value) {
			p.across(1-min(1, max(0, m.Value/a.end)), 1, 5, ui.Color(ui.ColorNameMuted))
		}
	}
	return p.picture
}
