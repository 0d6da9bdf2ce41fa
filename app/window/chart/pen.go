package chart

import (
	"image"
	"image/color"
	"image/draw"
	"math"

	"golang.org/x/image/vector"
)

// Looks of lines, in device-independent pixels.
const (
	lineWidth = 1.75
	fillAlpha = 0x38
)

// pen draws the picture of a plot. Its memory is used again for the next one.
type pen struct {
	raster  *vector.Rasterizer
	picture *image.RGBA
	mask    *image.Alpha
	scale   float32 // pixels per device-independent pixel
	path    []spot
}

type spot struct{ x, y float32 }

// begin starts a picture; the one before may still be with the painter and is left alone.
func (p *pen) begin(w, h int, scale float32) {
	p.picture, p.scale = image.NewRGBA(image.Rect(0, 0, w, h)), scale
	if p.raster == nil {
		p.raster = vector.NewRasterizer(w, h)
	}
}

// across draws a line over the whole width at a height from 0 (top) to 1 (bottom); dash is the length of its dashes, 0 for none.
func (p *pen) across(height float64, thick, dash float32, c color.Color) {
	b := p.picture.Bounds()
	t := max(1, int(math.Round(float64(thick*p.scale))))
	y := min(b.Dy()-t, max(0, int(math.Round(height*float64(b.Dy())))-t/2))
	step := b.Dx()
	if dash > 0 {
		step = max(2, int(dash*p.scale))
	}
	for x := 0; x < b.Dx(); x += step + step*4/5 {
		draw.Draw(p.picture, image.Rect(x, y, min(x+step, b.Dx()), y+t), image.NewUniform(c), image.Point{}, draw.Over)
		if dash == 0 {
			return
		}
	}
}

// plot draws a series: its line, and lighter what is below it.
func (p *pen) plot(a axes, points []Point, c color.Color) {
	b := p.picture.Bounds()
	w, h := float32(b.Dx()), float32(b.Dy())
	half := lineWidth * p.scale / 2
	p.path = p.path[:0]
	for _, one := range points {
		if !finite(one.At) || !finite(one.Value) {
			continue
		}
		x := float32((one.At-a.from)/(a.to-a.from)) * w
		y := (h - 2*half) * float32(1-min(1, max(0, one.Value/a.end)))
		p.path = append(p.path, spot{x, y + half})
	}
	switch len(p.path) {
	case 0:
		return
	case 1: // one value: seen as a short line
		one := p.path[0]
		p.path = append(p.path[:0], spot{one.x - 6*p.scale, one.y}, spot{one.x + 6*p.scale, one.y})
	}
	p.path = thin(p.path)
	p.raster.Reset(b.Dx(), b.Dy())
	first, last := p.path[0], p.path[len(p.path)-1]
	p.raster.MoveTo(first.x, h)
	for _, s := range p.path {
		p.raster.LineTo(s.x, s.y)
	}
	p.raster.LineTo(last.x, h)
	p.raster.ClosePath()
	p.fill(c, fillAlpha)
	p.raster.Reset(b.Dx(), b.Dy())
	for i := 1; i < len(p.path); i++ {
		p.stroke(p.path[i-1], p.path[i], half)
		if i > 1 {
			p.joint(p.path[i-1], half)
		}
	}
	p.fill(c, 0xff)
}

// fill gives what the rasterizer holds a colour, of which alpha is the part that covers. Most of a plot is not covered at all: so
// it goes through a mask, for the rasterizer itself would calculate every pixel.
func (p *pen) fill(c color.Color, alpha uint8) {
	b := p.picture.Bounds()
	if p.mask == nil || p.mask.Bounds() != b {
		p.mask = image.NewAlpha(b)
	}
	p.raster.DrawOp = draw.Src
	p.raster.Draw(p.mask, b, image.Opaque, image.Point{})
	red, green, blue, opaque := see(c, alpha).RGBA() // premultiplied, as the picture
	for i, m := range p.mask.Pix {
		if m == 0 {
			continue
		}
		part := uint32(m) * 0x101
		left := 0xffff - opaque*part/0xffff
		pixel := p.picture.Pix[4*i : 4*i+4 : 4*i+4]
		pixel[0] = over(pixel[0], left, red*part/0xffff)
		pixel[1] = over(pixel[1], left, green*part/0xffff)
		pixel[2] = over(pixel[2], left, blue*part/0xffff)
		pixel[3] = over(pixel[3], left, opaque*part/0xffff)
	}
}

// over is what is left of a colour below another one.
func over(below uint8, left, above uint32) uint8 {
	return uint8((uint32(below)*0x101*left/0xffff + above) >> 8)
}

// see is a colour that only alpha of 0xff covers.
func see(c color.Color, alpha uint8) color.Color {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	n.A = uint8(int(n.A) * int(alpha) / 0xff)
	return n
}

// stroke adds a thick line. All pieces turn the same way, so that what overlaps does not cancel out.
func (p *pen) stroke(from, to spot, half float32) {
	dx, dy := to.x-from.x, to.y-from.y
	length := float32(math.Hypot(float64(dx), float64(dy)))
	if length == 0 {
		return
	}
	nx, ny := -dy/length*half, dx/length*half
	p.raster.MoveTo(from.x+nx, from.y+ny)
	p.raster.LineTo(from.x-nx, from.y-ny)
	p.raster.LineTo(to.x-nx, to.y-ny)
	p.raster.LineTo(to.x+nx, to.y+ny)
	p.raster.ClosePath()
}

// joint rounds the corner between two lines, turning as stroke does.
func (p *pen) joint(at spot, half float32) {
	const corners = 8
	for i := range corners {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / corners)
		x, y := at.x+half*float32(cos), at.y+half*float32(sin)
		if i == 0 {
			p.raster.MoveTo(x, y)
		} else {
			p.raster.LineTo(x, y)
		}
	}
	p.raster.ClosePath()
}

// thin leaves at most four points for a column of pixels: the first, the highest, the lowest, the last.
func thin(path []spot) []spot {
	kept := path[:0]
	for i := 0; i < len(path); {
		column := math.Floor(float64(path[i].x))
		first, low, high, last := i, i, i, i
		for ; i < len(path) && math.Floor(float64(path[i].x)) == column; i++ {
			if path[i].y < path[low].y {
				low = i
			}
			if path[i].y > path[high].y {
				high = i
			}
			last = i
		}
		four := [...]int{first, min(low, high), max(low, high), last}
		before := -1
		var keep [4]spot
		n := 0
		for _, k := range four {
			if k != before {
				keep[n] = path[k]
				n++
			}
			before = k
		}
		kept = append(kept, keep[:n]...)
	}
	return kept
}
