package picture

import "gonum.org/v1/plot/vg"

// Grid sets charts of one kind side by side where the width allows, so that many are seen at once.
type Grid struct {
	Title  string // for those who cannot see the picture
	Charts []Chart
}

// Name implements Chart.
func (g *Grid) Name() string { return g.Title }

const (
	gridCell   = 300.0 // least width of a chart
	gridColumn = 28.0  // between columns
	gridRow    = 18.0  // between rows
)

func (g *Grid) draw(c *canvas, width float64) float64 {
	columns := max(1, int((width+gridColumn)/(gridCell+gridColumn)))
	cell := (width - gridColumn*float64(columns-1)) / float64(columns)
	y := 0.0
	for row := 0; row < len(g.Charts); row += columns {
		if row > 0 {
			y += gridRow
		}
		height := 0.0
		for i, chart := range g.Charts[row:min(row+columns, len(g.Charts))] {
			height = max(height, c.inset(float64(i)*(cell+gridColumn), y, func(inner *canvas) float64 { return chart.draw(inner, cell) }))
		}
		y += height
	}
	return y
}

// inset draws with the origin moved to x, y.
func (c *canvas) inset(x, y float64, draw func(*canvas) float64) float64 {
	inner := *c
	inner.top = c.top + y
	if c.target != nil {
		c.target.Push()
		c.target.Translate(vg.Point{X: vg.Length(x)})
		defer c.target.Pop()
	}
	return draw(&inner)
}
