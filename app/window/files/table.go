package files

import (
	"math"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// table is a list that makes only the rows that can be seen, so that it stays smooth with any number of them. The list of the
// toolkit would do so too, but it chooses one row at a time.
type table struct {
	widget.BaseWidget
	tableEvents
	scroll  *container.Scroll
	body    *fyne.Container
	slots   []*row // row i is shown by slot i modulo their number
	count   int
	focused bool
	folders bool // there is a column for the folder
}

// tableEvents is what the owner of a table hears. Rows are numbered; -1 is the room below them.
type tableEvents struct {
	bind  func(i int, r *row) // show row i
	press func(i int, m fyne.KeyModifier, secondary bool)
	open  func(i int)
	menu  func(i int, at fyne.Position)
	key   func(*fyne.KeyEvent)
	typed func(rune)
	cut   func(fyne.Shortcut) // nil: shortcuts are for the window
}

func newTable(e tableEvents) *table {
	t := &table{tableEvents: e}
	t.body = container.New(rowsLayout{t})
	t.scroll = container.NewVScroll(t.body)
	t.scroll.OnScrolled = func(fyne.Position) { t.place(false) }
	t.ExtendBaseWidget(t)
	return t
}

// CreateRenderer implements fyne.Widget.
func (t *table) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(t.scroll) }

// Resize implements fyne.CanvasObject.
func (t *table) Resize(size fyne.Size) {
	t.BaseWidget.Resize(size)
	t.place(false)
}

// Refresh implements fyne.CanvasObject: every row that can be seen is shown anew.
func (t *table) Refresh() {
	t.fit()
	t.place(true)
	t.scroll.Refresh()
}

// rowHeight is the height of every row.
func rowHeight() float32 {
	return max(theme.Size(theme.SizeNameInlineIcon), fyne.MeasureText("Ag", theme.TextSize(), fyne.TextStyle{}).Height) + 3*theme.Padding()
}

// setCount says how many rows there are, and shows them anew.
func (t *table) setCount(n int) {
	t.count = n
	t.Refresh()
}

// fit makes the body as large as the rows need, and keeps the view inside.
func (t *table) fit() {
	whole := float32(t.count) * rowHeight()
	t.body.Resize(fyne.NewSize(t.scroll.Size().Width, max(whole, t.scroll.Size().Height)))
	t.scroll.Offset.Y = min(t.scroll.Offset.Y, max(0, whole-t.scroll.Size().Height))
}

// place puts the rows that can be seen where they belong; anew shows them all again, else those that came into sight.
func (t *table) place(anew bool) {
	height, step := t.scroll.Size().Height, rowHeight()
	if height <= 0 {
		return
	}
	if slots := int(math.Ceil(float64(height/step))) + 1; slots != len(t.slots) {
		for len(t.slots) < slots {
			t.slots = append(t.slots, newRow(t))
		}
		t.slots = t.slots[:slots]
		t.body.Objects = t.body.Objects[:0]
		for _, r := range t.slots {
			t.body.Objects = append(t.body.Objects, r)
		}
		anew = true
	}
	first, width := int(t.scroll.Offset.Y/step), t.body.Size().Width
	for i := first; i < first+len(t.slots); i++ {
		r := t.slots[i%len(t.slots)]
		if i >= t.count {
			if r.Visible() {
				r.Hide()
			}
			r.index = -1
			continue
		}
		r.Move(fyne.NewPos(0, float32(i)*step))
		r.Resize(fyne.NewSize(width, step))
		if anew || r.index != i {
			r.hovered = r.hovered && r.index == i
			r.index = i
			r.Show()
			t.show(r)
		}
	}
}

func (t *table) show(r *row) {
	t.bind(r.index, r)
	r.arrange()
	r.Refresh()
}

// reveal scrolls as little as is needed to see row i.
func (t *table) reveal(i int) {
	step, height := rowHeight(), t.scroll.Size().Height
	top := float32(i) * step
	t.scrollTo(min(max(t.scroll.Offset.Y, top+step-height), top))
}

// scrollTo scrolls to an offset.
func (t *table) scrollTo(y float32) {
	y = max(0, min(y, float32(t.count)*rowHeight()-t.scroll.Size().Height))
	if y != t.scroll.Offset.Y {
		t.scroll.ScrollToOffset(fyne.NewPos(0, y))
		t.place(false)
	}
}

// page is how many whole rows can be seen.
func (t *table) page() int { return max(1, int(t.scroll.Size().Height/rowHeight())) }

// top is the first row that can be seen, and how much of it is above the view.
func (t *table) top() (i int, above float32) {
	i = int(t.scroll.Offset.Y / rowHeight())
	return i, t.scroll.Offset.Y - float32(i)*rowHeight()
}

// rowAt is the row at a position of the canvas; -1 is the room below them, and inside is false beside the table.
func (t *table) rowAt(at fyne.Position) (i int, inside bool) {
	at = at.Subtract(fyne.CurrentApp().Driver().AbsolutePositionForObject(t))
	if size := t.Size(); at.X < 0 || at.Y < 0 || at.X >= size.Width || at.Y >= size.Height {
		return -1, false
	}
	if i = int((at.Y + t.scroll.Offset.Y) / rowHeight()); i >= t.count {
		i = -1
	}
	return i, true
}

// place of row i on the canvas, below its name: where a menu asked for by a key opens.
func (t *table) placeOf(i int) fyne.Position {
	at := fyne.CurrentApp().Driver().AbsolutePositionForObject(t)
	return at.AddXY(6*theme.Padding(), max(0, float32(i+1)*rowHeight()-t.scroll.Offset.Y))
}

// FocusGained implements fyne.Focusable.
func (t *table) FocusGained() {
	t.focused = true
	t.place(true)
}

// FocusLost implements fyne.Focusable.
func (t *table) FocusLost() {
	t.focused = false
	t.place(true)
}

// TypedKey implements fyne.Focusable.
func (t *table) TypedKey(e *fyne.KeyEvent) { t.key(e) }

// TypedRune implements fyne.Focusable.
func (t *table) TypedRune(r rune) { t.typed(r) }

// TypedShortcut implements fyne.Shortcutable.
func (t *table) TypedShortcut(cut fyne.Shortcut) {
	if t.cut != nil {
		t.cut(cut)
	} else if c, ok := fyne.CurrentApp().Driver().CanvasForObject(t).(fyne.Shortcutable); ok {
		c.TypedShortcut(cut)
	}
}

// MouseDown implements desktop.Mouseable: below the rows.
func (t *table) MouseDown(e *desktop.MouseEvent) {
	t.press(-1, e.Modifier, e.Button == desktop.MouseButtonSecondary)
}

// MouseUp implements desktop.Mouseable.
func (t *table) MouseUp(*desktop.MouseEvent) {}

// TappedSecondary implements fyne.SecondaryTappable.
func (t *table) TappedSecondary(e *fyne.PointEvent) { t.menu(-1, e.AbsolutePosition) }

// rowsLayout makes room for all rows.
type rowsLayout struct{ t *table }

// MinSize implements fyne.Layout.
func (l rowsLayout) MinSize([]fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(320, float32(l.t.count)*rowHeight())
}

// Layout implements fyne.Layout.
func (l rowsLayout) Layout([]fyne.CanvasObject, fyne.Size) { l.t.place(false) }
