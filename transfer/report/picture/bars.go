package picture

import (
	"math"

	"gonum.org/v1/plot/vg"
)

// Bars are horizontal bars in groups, with whiskers. On a logarithmic axis, which has no 0 a bar could start from, dots
// stand for bars.
type Bars struct {
	Title    string
	Caption  string
	Unit     string
	Line     float64 // 0: none; else a line across with LineName above
	LineName string
	Log      bool
	Groups   []string
	Series   []BarSeries
}

// BarSeries is one bar in each group. Values of 0 are not drawn.
type BarSeries struct {
	Name      string
	Reference bool   // published by others: grey and hatched
	Source    string // named below the chart
	Values    []float64
	Low, High []float64 // ends of the whiskers; empty: none
}

// Name implements Chart.
func (b *Bars) Name() string { return b.Title }

const (
	barHeight = 13.0
	barGap    = 2.5
	groupGap  = 9.0
)

func (b *Bars) draw(c *canvas, width float64) float64 {
	y := c.paragraph(head, 0, 0, width, b.Title) + 4
	shades := b.shades()
	if len(b.Series) > 1 || len(b.Series) == 1 && b.Series[0].Reference {
		items := make([]legendItem, len(b.Series))
		for i, s := range b.Series {
			items[i] = legendItem{s.Name, shades[i], s.Reference}
		}
		y = c.legend(0, y, width, items)
	}
	p := barsPlot{c: c, b: b, width: width, shades: shades}
	p.columns()
	if b.Line != 0 && b.LineName != "" {
		y += small.line()
	}
	start := y + 4
	end := p.rows(start, func(*canvas, int, int, float64) {})
	p.grid(start, end)
	p.rows(start, p.bar)
	c.stroke(axisLine, 0.9, nil, spot{p.left, start - 2}, spot{p.left, end})
	p.line(start, end)
	p.names(start)
	p.rows(start, p.figure) // last, so that no line crosses a figure
	y = end + 20
	if p.unitBelow {
		y += small.line()
	}
	if b.Caption != "" {
		y = c.paragraph(small, 0, y, width, b.Caption)
	}
	for _, s := range b.Series {
		if s.Reference && s.Source != "" {
			y = c.paragraph(small, 0, y, width, s.Name+": "+s.Source)
		}
	}
	return y
}

// shades gives each measured series its colour.
func (b *Bars) shades() []shade {
	out, next, all := make([]shade, len(b.Series)), 0, seriesShades()
	for i, s := range b.Series {
		if s.Reference {
			out[i] = reference
			continue
		}
		out[i] = all[next%len(all)]
		next++
	}
	return out
}

// barsPlot is the layout of one drawing.
type barsPlot struct {
	c      *canvas
	b      *Bars
	width  float64
	shades []shade
	left   float64 // of the axis
	above  bool    // names of groups stand above their bars, for want of room at the left
	value  scale
	ticks  []float64
	// unitBelow: the unit stands on a line of its own, for want of room behind the last tick.
	unitBelow bool
}

// number prints a value as its bar is labelled.
func (p *barsPlot) number(s BarSeries, v float64) string {
	if p.b.Line == 1 {
		return Ratio(v)
	}
	if s.Reference {
		return Exact(v)
	}
	return Figure(v)
}

// columns finds the axis and the room for names and figures.
func (p *barsPlot) columns() {
	names, figures := 0.0, 0.0
	least, most := math.Inf(1), p.b.Line
	for _, g := range p.b.Groups {
		names = max(names, p.c.width(plain, g))
	}
	for _, s := range p.b.Series {
		for i, v := range s.Values {
			if v <= 0 {
				continue
			}
			figures = max(figures, p.c.width(plain, p.number(s, v)))
			most = max(most, v)
			if i < len(s.High) {
				most = max(most, s.High[i])
			}
			least = min(least, v)
			if i < len(s.Low) && s.Low[i] > 0 {
				least = min(least, s.Low[i])
			}
		}
	}
	p.left = names + 8
	if p.left > p.width*0.34 {
		p.above, p.left = true, 0
	}
	room := p.width - p.left - figures - 10
	from, to := 0.0, 0.0
	if p.b.Log && most > 0 && !math.IsInf(least, 1) {
		from, to, p.ticks = decades(least, most)
	} else {
		_, p.ticks = linear(most, int(max(room/80, 2)))
		to = p.ticks[len(p.ticks)-1]
		if most < to*0.92 && most > 0 { // the axis may end with the longest bar
			to = most * 1.02
		}
	}
	p.value = scale{from: from, to: to, start: p.left, length: room, log: p.b.Log && from > 0}
}

// grid draws the axis below and its lines.
func (p *barsPlot) grid(start, end float64) {
	step := p.ticks[len(p.ticks)-1]
	if len(p.ticks) > 1 {
		step = p.ticks[1] - p.ticks[0]
	}
	lastEnd := math.Inf(-1)
	unit := p.b.Unit
	for i, v := range p.ticks {
		if v > p.value.to*(1+1e-9) {
			continue
		}
		x := p.value.at(v)
		c := p.c
		if i > 0 || p.value.log {
			c.stroke(gridLine, 0.7, nil, spot{x, start - 2}, spot{x, end})
		}
		text := tickText(v, step)
		if p.value.log {
			text = Exact(v)
		}
		anchor := middle
		if x-c.width(small, text)/2 < 0 {
			anchor = left
		}
		if x-c.width(small, text)/2 > lastEnd+4 {
			c.text(small, x, end+9, anchor, text)
			lastEnd = x + c.width(small, text)/2
		}
	}
	if unit == "" {
		return
	}
	if w := p.c.width(small, unit); lastEnd+8+w <= p.width {
		p.c.text(small, lastEnd+8, end+9, left, unit)
	} else {
		p.unitBelow = true
		p.c.text(small, min(p.value.start+p.value.length, p.width), end+9+small.line(), right, p.c.fit(small, unit, p.width))
	}
}

// line draws the line across all bars.
func (p *barsPlot) line(start, end float64) {
	if p.b.Line == 0 {
		return
	}
	x := p.value.at(p.b.Line)
	p.c.stroke(ink, 1, []vg.Length{4, 2.5}, spot{x, start - 3}, spot{x, end})
	w := p.c.width(small, p.b.LineName)
	p.c.text(small, min(max(x-w/2, 0), p.width-w), start-11, left, p.b.LineName)
}

// present counts the bars of a group.
func (p *barsPlot) present(group int) int {
	n := 0
	for _, s := range p.b.Series {
		if group < len(s.Values) && s.Values[group] > 0 {
			n++
		}
	}
	return n
}

func (p *barsPlot) groupHeight(group int) float64 {
	return float64(max(p.present(group), 1))*(barHeight+barGap) - barGap
}

// rows calls bar for every bar with the number of its series and group and its place, and returns where they end.
func (p *barsPlot) rows(y float64, bar func(c *canvas, series, group int, y float64)) float64 {
	for i := range p.b.Groups {
		if p.above {
			y += plain.line() + 1
		}
		at := y
		for k, s := range p.b.Series {
			if i < len(s.Values) && s.Values[i] > 0 {
				bar(p.c, k, i, at)
				at += barHeight + barGap
			}
		}
		y += p.groupHeight(i) + groupGap
	}
	return y - groupGap + 5
}

// names writes the names of the groups.
func (p *barsPlot) names(y float64) {
	for i, group := range p.b.Groups {
		if p.above {
			p.c.text(plain, 0, y+plain.line()/2, left, p.c.fit(plain, group, p.width))
			y += plain.line() + 1
		} else {
			p.c.text(plain, p.left-8, y+p.groupHeight(i)/2, right, group)
		}
		if p.present(i) == 0 {
			p.c.text(small, p.left+5, y+barHeight/2, left, "not measured")
		}
		y += p.groupHeight(i) + groupGap
	}
}

// bar draws one bar.
func (p *barsPlot) bar(c *canvas, k, i int, y float64) {
	s, x, mid := p.b.Series[k], p.value.at(p.b.Series[k].Values[i]), y+barHeight/2
	switch {
	case p.value.log:
		line := p.shades[k]
		c.stroke(line, 0.8, []vg.Length{1, 2.5}, spot{p.left, mid}, spot{x, mid})
	case s.Reference:
		c.hatch(p.left, y, x-p.left, barHeight)
	default:
		c.rect(p.shades[k], p.left, y, x-p.left, barHeight)
	}
}

// figure draws whisker, dot and figure of one bar.
func (p *barsPlot) figure(c *canvas, k, i int, y float64) {
	s, v := p.b.Series[k], p.b.Series[k].Values[i]
	end, mid := p.value.at(v), y+barHeight/2
	x := end
	if p.value.log {
		end += 4
	}
	if i < len(s.Low) && i < len(s.High) && s.High[i] > s.Low[i] {
		lo, hi := p.value.at(s.Low[i]), p.value.at(s.High[i])
		// Light on the bar, dark beside it: visible on both.
		on := func(at float64) shade {
			if at < x && !p.value.log && !s.Reference {
				return paper
			}
			return ink
		}
		c.stroke(on(lo), 1.2, nil, spot{lo, mid}, spot{min(hi, max(x, lo)), mid})
		c.stroke(ink, 1.2, nil, spot{max(lo, min(x, hi)), mid}, spot{hi, mid})
		for _, cap := range []float64{lo, hi} {
			c.stroke(on(cap), 1.2, nil, spot{cap, mid - 3}, spot{cap, mid + 3})
		}
		end = max(end, hi)
	}
	style := plain
	if s.Reference {
		style = quiet
	}
	if p.value.log && s.Reference {
		c.rect(reference, x-4, mid-4, 8, 8)
		c.rect(refPaper, x-2.7, mid-2.7, 5.4, 5.4)
	} else if p.value.log {
		c.dot(p.shades[k], x, mid, 4.2)
	}
	text := p.number(s, v)
	c.rect(paper, end+4, mid-style.size*0.5, c.width(style, text)+4, style.size)
	c.text(style, end+6, mid, left, text)
}
