package picture

import (
	"math"
	"sort"

	"gonum.org/v1/plot/vg"
)

// Rates is the rate of one transfer over time: a step for each window, with average, maximum and minimum marked and
// named at the right. All rates are in the unit of Unit.
type Rates struct {
	Title         string
	Caption       string // below: what the windows are
	Unit          string // "MB/s"
	WindowSeconds float64
	Series        []float64 // rate of each window; empty: the run was too short, only the average is drawn
	Average       float64
	Maximum       float64
	Minimum       float64
	CopySeconds   float64 // where the final sync begins
	TotalSeconds  float64 // copy and sync
	// Top, when not 0, is the highest rate of the axis, so that several pictures can be compared; Span likewise in seconds.
	Top, Span float64
	Small     bool // one of many: less high
}

// Name implements Chart.
func (r *Rates) Name() string { return r.Title }

// Heights of the plot: alone, and of many.
const (
	ratesHeight = 168.0
	smallHeight = 104.0
)

// MaxSteps is the number of windows drawn as steps; more are drawn as one range for each column of the picture.
const MaxSteps = 600

func (r *Rates) draw(c *canvas, width float64) float64 {
	y := c.paragraph(head, 0, 0, width, r.Title) + 4
	c.text(small, 0, y+6, left, r.Unit)
	y += 16
	top, ticks := linear(max(r.Maximum, r.Average, r.Top)*1.02, 4)
	labels := make([]string, len(ticks))
	leftRoom := 0.0
	for i, v := range ticks {
		labels[i] = tickText(v, ticks[1])
		leftRoom = max(leftRoom, c.width(small, labels[i]))
	}
	leftRoom += 7
	marks := r.marks()
	rightRoom := 0.0
	for _, m := range marks {
		rightRoom = max(rightRoom, c.width(strong, m.text))
	}
	plot := ratesPlot{c: c, r: r, x: leftRoom, y: y, w: width - leftRoom - rightRoom - 16, h: ratesHeight}
	if r.Small {
		plot.h = smallHeight
	}
	plot.rate = scale{from: 0, to: top, start: y + plot.h, length: -plot.h}
	span, seconds := r.span(plot.w)
	plot.time = scale{from: 0, to: span, start: plot.x, length: plot.w}
	for i, v := range ticks {
		at := plot.rate.at(v)
		c.stroke(gridLine, 0.7, nil, spot{plot.x, at}, spot{plot.x + plot.w, at})
		c.text(small, plot.x-6, at, right, labels[i])
	}
	plot.syncShade()
	plot.curve()
	c.stroke(axisLine, 0.9, nil, spot{plot.x, y + plot.h}, spot{plot.x + plot.w, y + plot.h})
	bottom := y + plot.h
	for i, v := range seconds {
		text := tickText(v, seconds[1])
		if i == len(seconds)-1 {
			text += " s"
		}
		c.stroke(axisLine, 0.9, nil, spot{plot.time.at(v), bottom}, spot{plot.time.at(v), bottom + 3})
		c.text(small, plot.time.at(v), bottom+11, middle, text)
	}
	plot.labels(marks)
	bottom += 20
	if r.Caption != "" {
		bottom = c.paragraph(small, 0, bottom, width, r.Caption)
	}
	return bottom
}

// span is the length of the time axis and its ticks; the axis ends with the run, not at a round number.
func (r *Rates) span(width float64) (float64, []float64) {
	span := max(r.TotalSeconds, r.Span, float64(len(r.Series))*r.WindowSeconds, 1e-6)
	_, ticks := linear(span, int(max(width/60, 2)))
	for len(ticks) > 2 && ticks[len(ticks)-1] > span*(1+1e-9) {
		ticks = ticks[:len(ticks)-1]
	}
	if ticks[len(ticks)-1] > span { // fewer than two round numbers fit
		ticks = []float64{0, span}
	}
	return span, ticks
}

// mark is a figure named at the right; it points at the place in the curve where it was reached.
type mark struct {
	text    string
	rate    float64
	seconds float64 // negative: it holds for the whole run
	strong  bool
	y       float64 // of the label
}

func (r *Rates) marks() []mark {
	average := mark{text: "average " + Figure(r.Average), rate: r.Average, seconds: -1, strong: true}
	if len(r.Series) == 0 {
		return []mark{average}
	}
	lo, hi := 0, 0
	for i, v := range r.Series {
		if v < r.Series[lo] {
			lo = i
		}
		if v > r.Series[hi] {
			hi = i
		}
	}
	when := func(i int) float64 { return (float64(i) + 0.5) * r.WindowSeconds }
	return []mark{{text: "max " + Figure(r.Maximum), rate: r.Maximum, seconds: when(hi)}, average,
		{text: "min " + Figure(r.Minimum), rate: r.Minimum, seconds: when(lo)}}
}

// ratesPlot is the inner rectangle of a drawing.
type ratesPlot struct {
	c          *canvas
	r          *Rates
	x, y, w, h float64
	rate, time scale
}

// syncShade marks the final sync, when there is enough of it to be seen.
func (p *ratesPlot) syncShade() {
	from, to := p.time.at(p.r.CopySeconds), p.time.at(p.r.TotalSeconds)
	if p.r.CopySeconds <= 0 || to-from < 1.5 {
		return
	}
	p.c.rect(refPaper, from, p.y, to-from, p.h)
	p.c.stroke(axisLine, 0.8, []vg.Length{2, 2}, spot{from, p.y}, spot{from, p.y + p.h})
	// Above the plot, where no curve is; not beyond its right edge.
	p.c.text(small, min((from+to)/2, p.x+p.w-p.c.width(small, "sync")/2), p.y-7, middle, "sync")
}

// curve draws the windows as steps, or the range of each column when there are more windows than can be told apart.
func (p *ratesPlot) curve() {
	series, line := p.r.Series, seriesShades()[0]
	if len(series) == 0 {
		y := p.rate.at(p.r.Average)
		p.c.fill(area, spot{p.x, p.y + p.h}, spot{p.x, y}, spot{p.time.at(p.r.TotalSeconds), y}, spot{p.time.at(p.r.TotalSeconds), p.y + p.h})
		return
	}
	if len(series) > MaxSteps {
		p.columns()
		return
	}
	outline := make([]spot, 0, 2*len(series))
	for i, v := range series {
		y := p.rate.at(v)
		outline = append(outline, spot{p.time.at(float64(i) * p.r.WindowSeconds), y}, spot{p.time.at(float64(i+1) * p.r.WindowSeconds), y})
	}
	end := outline[len(outline)-1].x
	p.c.fill(area, append([]spot{{p.x, p.y + p.h}}, append(outline, spot{end, p.y + p.h})...)...)
	p.c.stroke(line, 1.3, nil, outline...)
}

// columns draws lowest to highest window of every column, and the median as a line.
func (p *ratesPlot) columns() {
	low, mid, high := p.ranges()
	band := append([]spot{}, high...)
	for i := len(low) - 1; i >= 0; i-- {
		band = append(band, low[i])
	}
	p.c.fill(area, band...)
	p.c.stroke(seriesShades()[0], 1.2, nil, mid...)
}

// ranges are lowest, median and highest window of every column of two points.
func (p *ratesPlot) ranges() (low, mid, high []spot) {
	series := p.r.Series
	count := int(p.w / 2)
	for i := range count {
		from, to := i*len(series)/count, max((i+1)*len(series)/count, i*len(series)/count+1)
		part := append([]float64{}, series[from:to]...)
		sort.Float64s(part)
		x := p.time.at((float64(from) + float64(to)) / 2 * p.r.WindowSeconds)
		low = append(low, spot{x, p.rate.at(part[0])})
		high = append(high, spot{x, p.rate.at(part[len(part)-1])})
		mid = append(mid, spot{x, p.rate.at(part[len(part)/2])})
	}
	return low, mid, high
}

// labels names average, maximum and minimum at the right, apart from one another, each with a line from its place.
func (p *ratesPlot) labels(marks []mark) {
	edge := p.x + p.w
	for i := range marks {
		marks[i].y = p.rate.at(marks[i].rate)
	}
	spread(marks, strong.line(), p.y+4, p.y+p.h-2)
	for _, m := range marks {
		y := p.rate.at(m.rate)
		from, s, line := p.x, strong, ink
		if m.seconds >= 0 {
			from, s, line = p.time.at(m.seconds), plain, muted
			p.c.stroke(line, 0.7, []vg.Length{1.5, 2.5}, spot{from, y}, spot{edge, y})
			p.c.dot(seriesShades()[0], from, y, 3)
			p.c.dot(paper, from, y, 1.4)
		} else {
			end := p.time.at(p.r.TotalSeconds)
			p.c.stroke(line, 1, nil, spot{from, y}, spot{end, y})
			p.c.stroke(line, 0.7, []vg.Length{1.5, 2.5}, spot{end, y}, spot{edge, y})
		}
		p.c.stroke(line, 0.7, nil, spot{edge, y}, spot{edge + 9, m.y})
		p.c.text(s, edge+12, m.y, left, m.text)
	}
}

// spread moves labels apart, from the highest down, keeping them between from and to where there is room.
func spread(marks []mark, gap, from, to float64) {
	order := make([]int, len(marks))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return marks[order[a]].y < marks[order[b]].y })
	last := math.Inf(-1)
	for _, i := range order {
		marks[i].y = max(marks[i].y, from, last+gap)
		last = marks[i].y
	}
	last = to + gap
	for k := len(order) - 1; k >= 0; k-- {
		i := order[k]
		marks[i].y = min(marks[i].y, last-gap)
		last = marks[i].y
	}
}
