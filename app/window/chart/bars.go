package chart

import (
	"image/color"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// Bar is one figure.
type Bar struct {
	Label     string
	Value     float64
	Text      string // the value in words, with its unit; "": the number and the unit of the group
	Published bool   // somebody else's figure: drawn in another shade
}

// Group is figures to be compared with each other.
type Group struct {
	Title string
	Unit  string // groups of one unit share a scale
	Bars  []Bar
}

// Bars is a chart of horizontal bars in groups, as high as they need. Make it with NewBars.
type Bars struct {
	widget.BaseWidget
	groups []Group
}

// NewBars makes a chart without bars.
func NewBars() *Bars {
	b := &Bars{}
	b.ExtendBaseWidget(b)
	return b
}

// SetData shows other groups; the chart keeps the slices.
func (b *Bars) SetData(groups ...Group) {
	if slices.EqualFunc(b.groups, groups, func(x, y Group) bool {
		return x.Title == y.Title && x.Unit == y.Unit && slices.Equal(x.Bars, y.Bars)
	}) {
		return
	}
	b.groups = groups
	b.Refresh()
}

// CreateRenderer implements fyne.Widget.
func (b *Bars) CreateRenderer() fyne.WidgetRenderer {
	r := &barsRenderer{bars: b}
	r.make()
	return r
}

// Sizes of bars.
const (
	barHeight  = 14
	rowHeight  = 22
	titleGap   = 4
	groupGap   = 12
	labelShare = 0.4 // of the width, at most
	leastBars  = 120 // least width for the bars themselves
)

type barsRenderer struct {
	bars    *Bars
	rows    []barRow
	titles  []*canvas.Text // one a group; nil without a title
	legend  []fyne.CanvasObject
	objects []fyne.CanvasObject
	label   float32 // width of the widest label
	value   float32 // width of the widest value
	height  float32
}

type barRow struct {
	group    int
	words    string
	label    *canvas.Text
	bar      *canvas.Rectangle
	value    *canvas.Text
	fraction float32
}

// make makes the objects of the figures; layout puts them in place.
func (r *barsRenderer) make() {
	*r = barsRenderer{bars: r.bars}
	highest := map[string]float64{}
	published, own := false, false
	for _, g := range r.bars.groups {
		for _, one := range g.Bars {
			if finite(one.Value) {
				highest[g.Unit] = max(highest[g.Unit], one.Value)
			}
			published, own = published || one.Published, own || !one.Published
		}
	}
	if published && own {
		r.makeLegend()
		r.height = rowHeight + titleGap
	}
	for i, g := range r.bars.groups {
		r.titles = append(r.titles, nil)
		if i > 0 {
			r.height += groupGap
		}
		if g.Title != "" {
			t := canvas.NewText(g.Title, ui.Color(theme.ColorNameForeground))
			t.TextSize, t.TextStyle.Bold = theme.TextSize(), true
			r.titles[i] = t
			r.objects = append(r.objects, t)
			r.height += t.MinSize().Height + titleGap
		}
		for _, one := range g.Bars {
			r.makeRow(i, g, one, highest[g.Unit])
			r.height += rowHeight
		}
	}
}

func (r *barsRenderer) makeRow(group int, g Group, one Bar, highest float64) {
	words := one.Text
	if words == "" {
		if words = text.T("%.1f", one.Value); one.Value >= 99.95 {
			words = text.T("%.0f", one.Value)
		}
		if g.Unit != "" {
			words += " " + g.Unit
		}
	}
	row := barRow{group: group, words: one.Label, label: caption(one.Label, theme.ColorNameForeground), value: caption(words, theme.ColorNameForeground)}
	row.bar = canvas.NewRectangle(barColor(one.Published))
	row.bar.CornerRadius = 3
	if one.Published {
		row.label.Color, row.value.Color = ui.Color(ui.ColorNameMuted), ui.Color(ui.ColorNameMuted)
	}
	if finite(one.Value) && highest > 0 {
		row.fraction = float32(max(0, one.Value/highest))
	}
	r.label, r.value = max(r.label, row.label.MinSize().Width), max(r.value, row.value.MinSize().Width)
	r.rows = append(r.rows, row)
	r.objects = append(r.objects, row.label, row.bar, row.value)
}

func (r *barsRenderer) makeLegend() {
	for i, words := range []string{text.T("Measured here"), text.T("Published by others")} {
		box := canvas.NewRectangle(barColor(i == 1))
		box.CornerRadius = 3
		r.legend = append(r.legend, box, caption(words, theme.ColorNameForeground))
	}
	r.objects = append(r.objects, r.legend...)
}

// barColor is the shade of a bar: the accent for our own figures, a quiet one for others'.
func barColor(published bool) color.Color {
	if published {
		return see(ui.Color(ui.ColorNameMuted), 0x80)
	}
	return ui.Color(ui.ColorNameSeries1)
}

func (r *barsRenderer) MinSize() fyne.Size {
	return fyne.NewSize(min(r.label, leastBars)+leastBars+r.value+4*axisGap, r.height)
}

func (r *barsRenderer) Layout(size fyne.Size) {
	y := float32(0)
	if len(r.legend) > 0 {
		x := float32(0)
		for i := 0; i < len(r.legend); i += 2 {
			words := r.legend[i+1].MinSize()
			r.legend[i].Resize(fyne.NewSquareSize(swatch))
			r.legend[i].Move(fyne.NewPos(x, (words.Height-swatch)/2))
			r.legend[i+1].Move(fyne.NewPos(x+swatch+axisGap, 0))
			x += swatch + words.Width + 4*axisGap
		}
		y = rowHeight + titleGap
	}
	label := min(r.label, size.Width*labelShare)
	length := max(1, size.Width-label-r.value-2*axisGap)
	next := 0
	for i, title := range r.titles {
		if i > 0 {
			y += groupGap
		}
		if title != nil {
			title.Move(fyne.NewPos(0, y))
			y += title.MinSize().Height + titleGap
		}
		for ; next < len(r.rows) && r.rows[next].group == i; next++ {
			row := r.rows[next]
			row.label.Text = fit(row.words, label)
			line := row.label.MinSize().Height
			row.label.Move(fyne.NewPos(0, y+(rowHeight-line)/2))
			row.bar.Resize(fyne.NewSize(max(2, length*row.fraction), barHeight))
			row.bar.Move(fyne.NewPos(label+axisGap, y+(rowHeight-barHeight)/2))
			row.value.Move(fyne.NewPos(label+2*axisGap+max(2, length*row.fraction), y+(rowHeight-line)/2))
			y += rowHeight
		}
	}
}

// fit shortens words at the end until they are no wider than width.
func fit(words string, width float32) string {
	wide := func(s string) bool {
		return fyne.MeasureText(s, theme.CaptionTextSize(), fyne.TextStyle{}).Width > width+0.5
	}
	if !wide(words) {
		return words
	}
	runes := []rune(words)
	for len(runes) > 1 && wide(string(runes)+"…") {
		runes = runes[:len(runes)-1]
	}
	return string(runes) + "…"
}

func (r *barsRenderer) Refresh() {
	r.make()
	r.Layout(r.bars.Size())
	canvas.Refresh(r.bars)
}

func (r *barsRenderer) Objects() []fyne.CanvasObject { return r.objects }

func (r *barsRenderer) Destroy() {}
