package lab

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/window/text"
	"coffer/app/window/ui"
	"coffer/transfer/report"
	"coffer/transfer/report/picture"
)

// field is one field of a grid: a line, and a smaller one below it.
type field struct {
	text  string
	below string
	bold  bool
	muted bool
	right bool
	span  int // how many columns it covers; 0 and 1: one
}

// grid shows fields in columns as wide as their widest field. Labels would do, but a table of ciphers has hundreds of fields.
type grid struct {
	widget.BaseWidget
	heads int // lines of heads: there is no rule between them
	rows  [][]field
	room  float32 // there is for it; a grid that is wider is set in smaller letters. 0: not known
}

func newGrid(heads int, rows [][]field) *grid {
	g := &grid{heads: heads, rows: rows}
	g.ExtendBaseWidget(g)
	return g
}

// tableFields are the heads and rows of a table of an experiment.
func tableFields(t *report.Table) (heads int, rows [][]field) {
	numeric := make([]bool, len(t.Columns))
	for _, row := range t.Rows {
		for i, c := range row.Cells {
			numeric[i] = numeric[i] || c.Figure != nil
		}
	}
	if slices.ContainsFunc(t.Columns, func(c report.Column) bool { return c.Group != "" }) {
		rows = append(rows, groupFields(t.Columns))
	}
	head := []field{{text: t.RowTitle, bold: true}}
	for i, c := range t.Columns {
		head = append(head, field{text: c.Name, below: c.Unit, bold: true, right: numeric[i]})
	}
	rows = append(rows, head)
	heads = len(rows)
	sources := sourcesOf(t)
	for _, row := range t.Rows {
		first := field{text: ui.Clean(row.Label), muted: row.Reference}
		if row.Reference {
			first.below = text.T("published")
			if n := slices.Index(sources, row.Source); n >= 0 {
				first.below = text.T("published [%d]", n+1)
			}
		}
		fields := []field{first}
		for i, c := range row.Cells {
			f := cellField(c)
			f.muted, f.right = row.Reference, numeric[i]
			fields = append(fields, f)
		}
		rows = append(rows, fields)
	}
	return heads, rows
}

// groupFields is the line above the heads that names groups of columns.
func groupFields(columns []report.Column) []field {
	line := []field{{}}
	for i, c := range columns {
		if i > 0 && c.Group == columns[i-1].Group {
			line[len(line)-1].span++
			continue
		}
		line = append(line, field{text: c.Group, muted: true, span: 1})
	}
	return line
}

// cellField is a cell in words: the median, below it the middle half of the rounds and the ratio to the baseline.
func cellField(c report.Cell) field {
	if c.Figure == nil {
		return field{text: ui.Clean(c.Text)}
	}
	f := field{text: picture.Figure(c.Figure.Median)}
	if c.Figure.Rounds == 0 {
		f.text = picture.Exact(c.Figure.Median)
	}
	if c.Figure.Disturbed {
		f.text += " †"
	}
	if c.Figure.Rounds > 1 {
		f.below = picture.Figure(c.Figure.Q1) + "–" + picture.Figure(c.Figure.Q3)
	}
	if c.Figure.Ratio != 0 {
		if f.below != "" {
			f.below += "  "
		}
		f.below += "×" + picture.Ratio(c.Figure.Ratio)
	}
	return f
}

// sourcesOf are who published the references of a table, each once.
func sourcesOf(t *report.Table) []string {
	var found []string
	for _, row := range t.Rows {
		if row.Source != "" && !slices.Contains(found, row.Source) {
			found = append(found, row.Source)
		}
	}
	return found
}

// tableNotes stand below a table.
func tableNotes(t *report.Table) []string {
	var notes []string
	if t.Note != "" {
		notes = append(notes, ui.Clean(t.Note))
	}
	for i, s := range sourcesOf(t) {
		notes = append(notes, text.T("[%d] published: %s", i+1, ui.Clean(s)))
	}
	if disturbed([]report.Table{*t}) > 0 {
		notes = append(notes, text.T("† The rounds differ widely: something else was at work."))
	}
	return notes
}

// disturbed counts the figures whose rounds differ too much.
func disturbed(tables []report.Table) (n int64) {
	for _, t := range tables {
		for _, row := range t.Rows {
			for _, c := range row.Cells {
				if c.Figure != nil && c.Figure.Disturbed {
					n++
				}
			}
		}
	}
	return n
}

// sideways lets something wide be moved sideways. The wheel moves page all the same, in which it is: the toolkit's would keep it.
type sideways struct {
	container.Scroll
	page *container.Scroll
}

func newSideways(content fyne.CanvasObject, page *container.Scroll) *sideways {
	s := &sideways{page: page}
	s.Content, s.Direction = content, container.ScrollHorizontalOnly
	s.ExtendBaseWidget(s)
	return s
}

// Scrolled implements fyne.Scrollable.
func (s *sideways) Scrolled(e *fyne.ScrollEvent) {
	if e.Scrolled.DX == 0 {
		s.page.Scrolled(e)
		return
	}
	s.Scroll.Scrolled(e)
}

// Resize implements fyne.CanvasObject: the grid is told of the room there is.
func (s *sideways) Resize(size fyne.Size) {
	if g, ok := s.Content.(*grid); ok && g.room != size.Width {
		g.room = size.Width
		g.Refresh()
	}
	s.Scroll.Resize(size)
}

// manyColumns is how many columns have room in a small window, more or less.
const manyColumns = 6

// newTable shows a table of an experiment on a page; one that is too wide can be moved sideways.
func newTable(t *report.Table, page *container.Scroll) fyne.CanvasObject {
	heads, rows := tableFields(t)
	lines := []fyne.CanvasObject{ui.Subheading(ui.Clean(t.Title)), newSideways(newGrid(heads, rows), page)}
	notes := tableNotes(t)
	if len(t.Columns) > manyColumns {
		notes = append(notes, text.T("Columns that have no room are at the right: hold Shift and turn the wheel."))
	}
	for _, note := range notes {
		c := ui.Caption(note)
		c.Wrapping = fyne.TextWrapWord
		lines = append(lines, c)
	}
	return container.NewVBox(lines...)
}

// CreateRenderer implements fyne.Widget.
func (g *grid) CreateRenderer() fyne.WidgetRenderer {
	r := &gridRenderer{grid: g}
	for i, row := range g.rows {
		if i >= g.heads {
			r.rules = append(r.rules, canvas.NewRectangle(nil))
		}
		for _, f := range row {
			r.texts = append(r.texts, canvas.NewText(f.text, nil), canvas.NewText(f.below, nil))
		}
	}
	for _, rule := range r.rules {
		r.objects = append(r.objects, rule)
	}
	for _, t := range r.texts {
		if t.Text != "" {
			r.objects = append(r.objects, t)
		}
	}
	r.fit()
	return r
}

// gridRenderer draws a grid. Sizes are taken once for a theme: nothing in a grid changes.
type gridRenderer struct {
	grid    *grid
	texts   []*canvas.Text // two for each field
	rules   []*canvas.Rectangle
	objects []fyne.CanvasObject
	widths  []float32
	heights []float32
	size    float32 // of the text for which widths and heights are
	small   bool    // there is too little room for letters of the usual size
}

func (r *gridRenderer) gap() float32 {
	if r.small {
		return 2.5 * theme.Padding()
	}
	return 4 * theme.Padding()
}

// fit chooses the size of the letters.
func (r *gridRenderer) fit() {
	for _, r.small = range []bool{false, true} {
		r.paint()
		r.size = 0
		if r.grid.room == 0 || r.MinSize().Width <= r.grid.room {
			return
		}
	}
}

// paint gives everything the colours and sizes of the theme.
func (r *gridRenderer) paint() {
	i := 0
	for _, row := range r.grid.rows {
		for _, f := range row {
			main, below := r.texts[i], r.texts[i+1]
			i += 2
			main.TextSize, below.TextSize = theme.TextSize(), theme.CaptionTextSize()
			if r.small {
				main.TextSize, below.TextSize = theme.CaptionTextSize(), theme.CaptionTextSize()-1
			}
			main.TextStyle.Bold = f.bold
			main.Color, below.Color = theme.Color(theme.ColorNameForeground), ui.Color(ui.ColorNameMuted)
			if f.muted {
				main.Color = below.Color
			}
		}
	}
	for _, rule := range r.rules {
		rule.FillColor = theme.Color(theme.ColorNameSeparator)
	}
}

// measure finds the width of each column and the height of each row.
func (r *gridRenderer) measure() {
	if r.size == theme.TextSize() {
		return
	}
	r.size = theme.TextSize()
	r.widths, r.heights = nil, make([]float32, len(r.grid.rows))
	type spanning struct {
		first, columns int
		width          float32
	}
	var wide []spanning
	i := 0
	for n, row := range r.grid.rows {
		column := 0
		for _, f := range row {
			width, height := float32(0), r.texts[i].MinSize().Height
			for _, t := range r.texts[i : i+2] {
				if t.Text != "" {
					width = max(width, t.MinSize().Width)
				}
			}
			if f.below != "" {
				height += r.texts[i+1].MinSize().Height
			}
			i += 2
			r.heights[n] = max(r.heights[n], height)
			for len(r.widths) < column+max(1, f.span) {
				r.widths = append(r.widths, 0)
			}
			if f.span > 1 {
				wide = append(wide, spanning{column, f.span, width})
			} else {
				r.widths[column] = max(r.widths[column], width)
			}
			column += max(1, f.span)
		}
	}
	for _, s := range wide {
		if more := s.width - r.across(s.first, s.columns); more > 0 {
			r.widths[s.first+s.columns-1] += more
		}
	}
}

// across is the width of some columns with the gaps between them.
func (r *gridRenderer) across(first, columns int) float32 {
	width := float32(columns-1) * r.gap()
	for _, w := range r.widths[first : first+columns] {
		width += w
	}
	return width
}

// MinSize implements fyne.WidgetRenderer.
func (r *gridRenderer) MinSize() fyne.Size {
	r.measure()
	if len(r.widths) == 0 {
		return fyne.Size{}
	}
	height := float32(0)
	for _, h := range r.heights {
		height += h + 2*theme.Padding()
	}
	return fyne.NewSize(r.across(0, len(r.widths))+2*r.side(), height+theme.Padding())
}

// side is the room left and right of all columns, as a label has it.
func (r *gridRenderer) side() float32 { return theme.InnerPadding() }

// Layout implements fyne.WidgetRenderer.
func (r *gridRenderer) Layout(size fyne.Size) {
	r.measure()
	i, y := 0, float32(0)
	for n, row := range r.grid.rows {
		if n >= r.grid.heads {
			rule := r.rules[n-r.grid.heads]
			rule.Move(fyne.NewPos(0, y))
			rule.Resize(fyne.NewSize(size.Width, 1))
		}
		y += theme.Padding()
		x, column := r.side(), 0
		for _, f := range row {
			width, at := r.across(column, max(1, f.span)), y
			for _, t := range r.texts[i : i+2] {
				if t.Text == "" {
					continue
				}
				least := t.MinSize()
				left := x
				if f.right {
					left += width - least.Width
				}
				t.Move(fyne.NewPos(left, at))
				t.Resize(least)
				at += least.Height
			}
			i += 2
			x += width + r.gap()
			column += max(1, f.span)
		}
		y += r.heights[n] + theme.Padding()
	}
}

// Refresh implements fyne.WidgetRenderer: the theme has changed.
func (r *gridRenderer) Refresh() {
	r.fit()
	r.Layout(r.grid.Size())
	for _, o := range r.objects {
		canvas.Refresh(o)
	}
}

// Objects implements fyne.WidgetRenderer.
func (r *gridRenderer) Objects() []fyne.CanvasObject { return r.objects }

// Destroy implements fyne.WidgetRenderer.
func (r *gridRenderer) Destroy() {}
