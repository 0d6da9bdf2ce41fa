package picture

import "fmt"

// Phases is one stacked bar for each transfer: where its time went.
type Phases struct {
	Title   string
	Caption string
	Names   []string // of the phases, in order
	Rows    []PhasesRow
}

// PhasesRow is the bar of one transfer; Seconds has one value for each name.
type PhasesRow struct {
	Label   string
	Seconds []float64
}

// Name implements Chart.
func (p *Phases) Name() string { return p.Title }

const phaseHeight = 24.0

func (p *Phases) draw(c *canvas, width float64) float64 {
	y := c.paragraph(head, 0, 0, width, p.Title) + 4
	shades := phaseShades()
	most, totals, used := 0.0, make([]float64, len(p.Rows)), make([]bool, len(p.Names))
	room := 0.0
	for i, row := range p.Rows {
		for k, s := range row.Seconds {
			totals[i] += s
			used[k] = used[k] || s > 0
		}
		most = max(most, totals[i])
		room = max(room, c.width(strong, Figure(totals[i])+" s"))
	}
	var items []legendItem
	for k, name := range p.Names {
		if used[k] {
			items = append(items, legendItem{name: name, shade: shades[k%len(shades)]})
		}
	}
	y = c.legend(0, y, width, items)
	length := scale{from: 0, to: most, start: 0, length: width - room - 8}
	for i, row := range p.Rows {
		if row.Label != "" {
			c.text(plain, 0, y+plain.line()/2, left, c.fit(plain, row.Label, width))
			y += plain.line() + 2
		}
		x := 0.0
		for k, s := range row.Seconds {
			w := length.at(s)
			if w <= 0 {
				continue
			}
			shade := shades[k%len(shades)]
			c.rect(shade, x, y, w, phaseHeight)
			if k > 0 && x > 0 {
				c.rect(paper, x, y, min(0.9, w/2), phaseHeight)
			}
			p.inside(c, shade, x, y, w, s, totals[i])
			x += w
		}
		c.text(strong, x+7, y+phaseHeight/2, left, Figure(totals[i])+" s")
		y += phaseHeight + 9
	}
	if p.Caption != "" {
		y = c.paragraph(small, 0, y, width, p.Caption)
	}
	return y
}

// inside writes the share into a part of the bar when it fits.
func (p *Phases) inside(c *canvas, ground shade, x, y, w, seconds, total float64) {
	if total <= 0 {
		return
	}
	text := fmt.Sprintf("%.0f %%", 100*seconds/total)
	if s := (style{size: textSize, shade: onto(ground)}); c.width(s, text)+6 <= w {
		c.text(s, x+w/2, y+phaseHeight/2, middle, text)
	}
}
