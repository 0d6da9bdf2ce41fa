package picture

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"io"
	"regexp"
	"strings"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Widths of drawings in points (an svg's unit). The narrow one suits a phone.
const (
	Wide   = 720.0
	Narrow = 332.0
)

// ErrTooHigh is returned for a page of too many charts.
var ErrTooHigh = errors.New("too much for one picture: export fewer at once, or as html")

// maxHeight bounds a drawing in points, and with it the memory of a png (four bytes for each of 2 x 2 pixels a point).
const maxHeight = 20_000.0

// Chart is one drawing: *Rates, *Bars, *Phases or *Grid.
type Chart interface {
	// Name is what the drawing shows, in words.
	Name() string
	// draw draws from the top of the canvas down at the given width and returns the height used. It draws the same
	// with and without a target.
	draw(c *canvas, width float64) float64
}

// Page is a sheet of several charts below one another.
type Page struct {
	Title    string
	Subtitle string
	Lead     []string // paragraphs below the title: what the pictures say, what disturbed them
	Charts   []Chart
	Notes    []string // paragraphs at the foot: how it was measured
}

const margin = 22.0

// draw implements the layout of a page.
func (p *Page) draw(c *canvas, width float64) float64 {
	inner := width - 2*margin
	y := margin - 4
	if p.Title != "" {
		y = c.paragraph(title, margin, y, inner, p.Title) + 2
	}
	if p.Subtitle != "" {
		y = c.paragraph(quiet, margin, y, inner, p.Subtitle)
	}
	if len(p.Lead) > 0 {
		y += 8
	}
	for _, text := range p.Lead {
		c.rect(seriesShades()[1], margin, y+1.5, 3, plain.line()*float64(len(c.wrap(plain, text, inner-12)))-1)
		y = c.paragraph(plain, margin+11, y, inner-12, text) + 3
	}
	for _, chart := range p.Charts {
		y += 16
		y += c.inset(margin, y, func(c *canvas) float64 { return chart.draw(c, inner) })
	}
	if len(p.Notes) > 0 {
		y += 14
		c.stroke(gridLine, 0.8, nil, spot{margin, y}, spot{width - margin, y})
		y += 8
		for _, note := range p.Notes {
			y = c.paragraph(small, margin, y, inner, note) + 2
		}
	}
	return y + margin - 8
}

// measured finds the height of something at a width.
func measured(width float64, draw func(*canvas, float64) float64) (*canvas, float64, error) {
	c, err := newCanvas()
	if err != nil {
		return nil, 0, err
	}
	height := draw(c, width)
	if height > maxHeight {
		return nil, 0, fmt.Errorf("picture: %.0f points high, at most %.0f: %w", height, maxHeight, ErrTooHigh)
	}
	return c, height, nil
}

// WriteSVG writes the page as an svg document with a white background.
func (p *Page) WriteSVG(w io.Writer) error {
	svg, err := renderSVG(Wide, func(c *canvas, width float64) float64 {
		c.rect(paper, 0, 0, width, c.height)
		return p.draw(c, width)
	}, p.Title)
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"+svg)
	return err
}

// WritePNG writes the page as a png of two pixels a point.
func (p *Page) WritePNG(w io.Writer) error {
	c, height, err := measured(Wide, p.draw)
	if err != nil {
		return err
	}
	image := vgimg.NewWith(vgimg.UseWH(Wide, vg.Length(height)), vgimg.UseDPI(144), vgimg.UseBackgroundColor(paper.color()))
	c.target, c.height = image, height
	p.draw(c, Wide)
	_, err = vgimg.PngCanvas{Canvas: image}.WriteTo(w)
	return err
}

// Inline returns a chart as an svg element for a page, as wide as the page allows, in colours of style-sheet variables;
// see Variables.
func Inline(chart Chart, width float64) (string, error) {
	svg, err := renderSVG(width, chart.draw, chart.Name())
	return themed(svg), err
}

var svgHead = regexp.MustCompile(`(?s)^.*?<svg[^>]*>`)

func renderSVG(width float64, draw func(*canvas, float64) float64, name string) (string, error) {
	c, height, err := measured(width, draw)
	if err != nil {
		return "", err
	}
	target := vgsvg.New(vg.Length(width), vg.Length(height))
	c.target, c.height = target, height
	draw(c, width)
	var b bytes.Buffer
	if _, err := target.WriteTo(&b); err != nil {
		return "", fmt.Errorf("picture: svg: %w", err)
	}
	// The head is written anew: gonum's gives a size in points only, which pages cannot shrink, and no name for those
	// who cannot see the picture.
	svg := svgHead.ReplaceAllLiteralString(b.String(), fmt.Sprintf(
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.1f" width="%.0f" height="%.1f" role="img" aria-label="%s">`,
		width, height, width, height, html.EscapeString(clean(name))))
	svg = strings.ReplaceAll(svg, "font-family:Liberation Sans;", "font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")
	return fitted(svg, *c.widths), nil
}

// fitted tells each line of text how wide it was when it was laid out: where none of the fonts is installed, a browser
// then squeezes the one it has instead of running over what stands beside it.
func fitted(svg string, widths []float64) string {
	parts := strings.Split(svg, "<text ")
	var b strings.Builder
	b.WriteString(parts[0])
	for i, part := range parts[1:] {
		fmt.Fprintf(&b, `<text textLength="%.1f" lengthAdjust="spacingAndGlyphs" %s`, widths[i], part)
	}
	return b.String()
}
