package picture

import (
	"fmt"
	"image/color"
	"strings"
)

// shade is a colour with the name of the style-sheet variable that replaces it in a page, so that a page can be dark.
type shade struct {
	name string
	rgb  uint32
}

func (s shade) color() color.Color {
	return color.NRGBA{R: uint8(s.rgb >> 16), G: uint8(s.rgb >> 8), B: uint8(s.rgb), A: 255}
}

// The values differ pairwise, so that an svg can be themed by replacing them.
var (
	paper     = shade{"paper", 0xfffffe} // background
	ink       = shade{"ink", 0x1f2933}   // text
	muted     = shade{"muted", 0x5b6770} // secondary text
	axisLine  = shade{"axis", 0x8a96a3}
	gridLine  = shade{"grid", 0xe1e6eb}
	area      = shade{"area", 0xd6e6f3} // below a line
	reference = shade{"reference", 0xa3acb5}
	refPaper  = shade{"reference-paper", 0xf1f3f5}

	// Text on coloured ground, the same by day and by night.
	onDark  = shade{"", 0xfffffd}
	onLight = shade{"", 0x14191f}
)

// seriesShades are the colours of bars, after the palette of Okabe and Ito, ordered so that neighbours differ in lightness.
func seriesShades() []shade {
	return []shade{{"series-1", 0x0b62a4}, {"series-2", 0xe69f00}, {"series-3", 0x00735a}, {"series-4", 0x56b4e9},
		{"series-5", 0xa34b00}, {"series-6", 0xcc79a7}}
}

// phaseShades alternate dark and light.
func phaseShades() []shade {
	return []shade{{"phase-1", 0x0b4f8a}, {"phase-2", 0xe8a317}, {"phase-3", 0x00664f}, {"phase-4", 0x8cc8ee}, {"phase-5", 0x8f3f71},
		{"phase-6", 0xf0d9a0}, {"phase-7", 0x9aa4ae}, {"phase-8", 0x3b4650}}
}

// onto is the colour of text on s.
func onto(s shade) shade {
	r, g, b := s.rgb>>16&255, s.rgb>>8&255, s.rgb&255
	if 299*r+587*g+114*b > 140_000 {
		return onLight
	}
	return onDark
}

// dark holds the colours of a dark page, by variable.
func dark() []shade {
	return []shade{{"paper", 0x14191f}, {"ink", 0xe8ecf0}, {"muted", 0xa5b0bb}, {"axis", 0x6c7885}, {"grid", 0x2a323a},
		{"area", 0x1c3a55}, {"reference", 0x7d8893}, {"reference-paper", 0x232a31}, {"series-1", 0x5aa9e6}, {"series-2", 0xe69f00},
		{"series-3", 0x2fb796}, {"series-4", 0x9fd3f5}, {"series-5", 0xd9823b}, {"series-6", 0xd99bbd}, {"phase-1", 0x2569a6}, {"phase-2", 0xe8a317}, {"phase-3", 0x147d65}, {"phase-4", 0x8cc8ee},
		{"phase-5", 0xa4527f}, {"phase-6", 0xf0d9a0}, {"phase-7", 0x9aa4ae}, {"phase-8", 0x566472}}
}

func light() []shade {
	return append([]shade{paper, ink, muted, axisLine, gridLine, area, reference, refPaper}, append(seriesShades(), phaseShades()...)...)
}

// Variables returns declarations of the style-sheet variables that themed drawings use, for light or dark pages.
func Variables(night bool) string {
	shades := light()
	if night {
		shades = dark()
	}
	var b strings.Builder
	for _, s := range shades {
		fmt.Fprintf(&b, "--%s:#%06x;", s.name, s.rgb)
	}
	return b.String()
}

// themed replaces colours by style-sheet variables.
func themed(svg string) string {
	var pairs []string
	for _, s := range light() {
		pairs = append(pairs, fmt.Sprintf("#%06X", s.rgb), "var(--"+s.name+")")
	}
	return strings.NewReplacer(pairs...).Replace(svg)
}
