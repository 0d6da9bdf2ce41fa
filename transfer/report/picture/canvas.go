package picture

import (
	"fmt"
	"math"
	"strings"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	xfont "golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// Sizes of text in points.
const (
	smallSize = 9.5
	textSize  = 10.5
	headSize  = 12.5
	titleSize = 17.0
)

// canvas draws with the origin at the top left, in points. Without a target it only measures.
type canvas struct {
	target vg.Canvas
	height float64 // of the whole canvas
	top    float64 // added to every y
	faces  map[bool]*opentype.Font
	widths *[]float64 // of all lines of text drawn, in order
}

// newCanvas reads the fonts, which are part of the program: Liberation Sans, as wide as Arial and Helvetica letter by
// letter, so that an svg keeps its layout where only these are installed.
func newCanvas() (*canvas, error) {
	c := &canvas{faces: map[bool]*opentype.Font{}, widths: new([]float64)}
	for bold, data := range map[bool][]byte{false: liberationsansregular.TTF, true: liberationsansbold.TTF} {
		face, err := opentype.Parse(data)
		if err != nil {
			return nil, fmt.Errorf("picture: font: %w", err)
		}
		c.faces[bold] = face
	}
	return c, nil
}

// style is how text looks.
type style struct {
	size  float64
	bold  bool
	shade shade
}

var (
	plain  = style{size: textSize, shade: ink}
	strong = style{size: textSize, bold: true, shade: ink}
	quiet  = style{size: textSize, shade: muted}
	small  = style{size: smallSize, shade: muted}
	head   = style{size: headSize, bold: true, shade: ink}
	title  = style{size: titleSize, bold: true, shade: ink}
)

func (s style) line() float64 { return s.size * 1.35 }

func (c *canvas) face(s style) font.Face {
	f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: font.Length(s.size)}
	if s.bold {
		f.Weight = xfont.WeightBold
	}
	return font.Face{Font: f, Face: c.faces[s.bold]}
}

// width of a line of text.
func (c *canvas) width(s style, text string) float64 {
	f := c.face(s)
	return float64(f.Width(text))
}

// Horizontal anchors of text.
const (
	left   = 0.0
	middle = 0.5
	right  = 1.0
)

// text writes one line whose vertical middle is at y.
func (c *canvas) text(s style, x, y, anchor float64, text string) {
	text = clean(text)
	if c.target == nil || text == "" {
		return
	}
	if anchor != left {
		x -= anchor * c.width(s, text)
	}
	*c.widths = append(*c.widths, c.width(s, text))
	c.target.SetColor(s.shade.color())
	// Digits and capitals are 0.72 of the size high: their middle is what the eye takes for the middle of the line.
	c.target.FillString(c.face(s), c.point(x, y+0.36*s.size), text)
}

// clean replaces what no XML document may hold.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0xfffe || r == 0xffff || r >= 0xd800 && r < 0xe000 {
			return 0xfffd
		}
		return r
	}, strings.ToValidUTF8(text, "\ufffd"))
}

// paragraph writes wrapped lines from y on downwards and returns where the next may begin.
func (c *canvas) paragraph(s style, x, y, width float64, text string) float64 {
	for _, line := range c.wrap(s, text, width) {
		c.text(s, x, y+s.line()/2, left, line)
		y += s.line()
	}
	return y
}

// wrap breaks text at spaces; a word longer than a line is cut.
func (c *canvas) wrap(s style, text string, width float64) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		joined := strings.TrimPrefix(line+" "+word, " ")
		if line != "" && c.width(s, joined) > width {
			lines = append(lines, line)
			joined = word
		}
		line = c.fit(s, joined, width)
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// fit cuts text that is wider than width and ends it with dots.
func (c *canvas) fit(s style, text string, width float64) string {
	if c.width(s, text) <= width {
		return text
	}
	runes := []rune(text)
	for len(runes) > 1 && c.width(s, string(runes)+"…") > width {
		runes = runes[:len(runes)-1]
	}
	return string(runes) + "…"
}

func (c *canvas) point(x, y float64) vg.Point {
	return vg.Point{X: vg.Length(x), Y: vg.Length(c.height - c.top - y)}
}

// spot is a place in the chart's own coordinates.
type spot struct{ x, y float64 }

func (c *canvas) path(spots []spot, closed bool) vg.Path {
	var p vg.Path
	for i, s := range spots {
		if i == 0 {
			p.Move(c.point(s.x, s.y))
		} else {
			p.Line(c.point(s.x, s.y))
		}
	}
	if closed {
		p.Close()
	}
	return p
}

func (c *canvas) fill(s shade, spots ...spot) {
	if c.target == nil || len(spots) < 3 {
		return
	}
	c.target.SetColor(s.color())
	c.target.Fill(c.path(spots, true))
}

func (c *canvas) rect(s shade, x, y, w, h float64) {
	c.fill(s, spot{x, y}, spot{x + w, y}, spot{x + w, y + h}, spot{x, y + h})
}

func (c *canvas) frame(s shade, x, y, w, h, thick float64) {
	c.stroke(s, thick, nil, spot{x, y}, spot{x + w, y}, spot{x + w, y + h}, spot{x, y + h}, spot{x, y})
}

// stroke draws a line through spots; dash is lengths of strokes and gaps, nil for a solid line.
func (c *canvas) stroke(s shade, thick float64, dash []vg.Length, spots ...spot) {
	if c.target == nil || len(spots) < 2 {
		return
	}
	c.target.SetColor(s.color())
	c.target.SetLineWidth(vg.Length(thick))
	c.target.SetLineDash(dash, 0)
	c.target.Stroke(c.path(spots, false))
	c.target.SetLineDash(nil, 0)
}

// dot fills a circle.
func (c *canvas) dot(s shade, x, y, radius float64) {
	if c.target == nil {
		return
	}
	var p vg.Path
	p.Move(c.point(x+radius, y))
	p.Arc(c.point(x, y), vg.Length(radius), 0, 2*math.Pi)
	p.Close()
	c.target.SetColor(s.color())
	c.target.Fill(p)
}

// hatch fills a rectangle with slanting lines and frames it.
func (c *canvas) hatch(x, y, w, h float64) {
	if w <= 0 {
		return
	}
	c.rect(refPaper, x, y, w, h)
	const step = 4.5
	for at := step / 2; at < w+h; at += step { // a line at 45 degrees from (x+at, y) to (x+at-h, y+h), cut at both sides
		x1, y1, x2, y2 := x+at, y, x+at-h, y+h
		if x1 > x+w {
			x1, y1 = x+w, y+at-w
		}
		if x2 < x {
			x2, y2 = x, y+at
		}
		c.stroke(reference, 0.8, nil, spot{x1, y1}, spot{x2, y2})
	}
	c.frame(reference, x, y, w, h, 0.8)
}

// legend writes coloured squares with names, wrapped, and returns where it ends.
func (c *canvas) legend(x, y, width float64, items []legendItem) float64 {
	at := x
	for i, item := range items {
		name := c.fit(plain, item.name, width-16)
		w := 16 + c.width(plain, name) + 14
		if i > 0 && at+w-14 > x+width {
			at, y = x, y+plain.line()+1
		}
		if item.reference {
			c.hatch(at, y+2, 10.5, 10)
		} else {
			c.rect(item.shade, at, y+2, 10.5, 10)
		}
		c.text(plain, at+16, y+7.2, left, name)
		at += w
	}
	return y + plain.line() + 5
}

type legendItem struct {
	name      string
	shade     shade
	reference bool
}
