package home

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/window/model"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// list is the list of containers. Only the rows to be seen exist. What is chosen is a path, so that it stays chosen when the
// order changes.
type list struct {
	widget.List
	shown   []model.Container
	chosen  string
	focused bool
	// What a person does with a row; choose is called for a path that was not chosen.
	choose func(path string)
	act    func()                 // Enter, double click
	remove func()                 // Delete
	rename func()                 // F2
	menu   func(at fyne.Position) // of the chosen one
}

func newList() *list {
	l := &list{}
	l.HideSeparators = true
	l.Length = func() int { return len(l.shown) }
	l.CreateItem = func() fyne.CanvasObject { return newRow(l) }
	l.UpdateItem = func(i widget.ListItemID, o fyne.CanvasObject) {
		if i < len(l.shown) {
			o.(*row).set(l.shown[i], l.shown[i].Path == l.chosen, l.focused)
		}
	}
	l.ExtendBaseWidget(l)
	return l
}

// set shows containers; one of them is chosen.
func (l *list) set(shown []model.Container, chosen string) {
	moved := l.chosen != chosen || len(l.shown) != len(shown)
	l.shown, l.chosen = shown, chosen
	if i := l.index(); moved && i >= 0 {
		l.ScrollTo(i) // draws too
		return
	}
	l.Refresh()
}

// index is where the chosen one is, -1 if it is not shown.
func (l *list) index() int {
	return slices.IndexFunc(l.shown, func(c model.Container) bool { return c.Path == l.chosen })
}

// pick chooses the container at an index.
func (l *list) pick(i int) {
	if i >= 0 && i < len(l.shown) && l.shown[i].Path != l.chosen {
		l.choose(l.shown[i].Path)
	}
}

// FocusGained implements fyne.Focusable.
func (l *list) FocusGained() { l.setFocus(true) }

// FocusLost implements fyne.Focusable.
func (l *list) FocusLost() { l.setFocus(false) }

func (l *list) setFocus(to bool) {
	l.focused = to
	l.Refresh()
}

// TypedKey implements fyne.Focusable.
func (l *list) TypedKey(e *fyne.KeyEvent) {
	i, last := l.index(), len(l.shown)-1
	page := max(1, int(l.Size().Height/l.step())-1)
	switch e.Name {
	case fyne.KeyDown:
		l.pick(min(last, i+1))
	case fyne.KeyUp:
		l.pick(max(0, i-1))
	case fyne.KeyHome:
		l.pick(0)
	case fyne.KeyEnd:
		l.pick(last)
	case fyne.KeyPageDown:
		l.pick(min(last, i+page))
	case fyne.KeyPageUp:
		l.pick(max(0, i-page))
	case fyne.KeyReturn, fyne.KeyEnter, fyne.KeySpace:
		l.act()
	case fyne.KeyDelete:
		l.remove()
	case fyne.KeyF2:
		l.rename()
	case desktop.KeyMenu:
		l.menu(fyne.CurrentApp().Driver().AbsolutePositionForObject(l).AddXY(60, float32(max(0, i)+1)*l.step()-l.GetScrollOffset()))
	}
}

// step is the distance from one row to the next.
func (l *list) step() float32 { return rowHeight + theme.Padding() }

// at is the container under a place in the window, nil if there is none.
func (l *list) at(place fyne.Position) *model.Container {
	corner := fyne.CurrentApp().Driver().AbsolutePositionForObject(l)
	in := place.Subtract(corner)
	if in.X < 0 || in.Y < 0 || in.X >= l.Size().Width || in.Y >= l.Size().Height {
		return nil
	}
	y := in.Y + l.GetScrollOffset()
	i := int(y / l.step())
	if i >= len(l.shown) || y-float32(i)*l.step() > rowHeight {
		return nil
	}
	return &l.shown[i]
}

// rowHeight is the height of a row.
const rowHeight = 66

// row is a container in the list.
type row struct {
	widget.BaseWidget
	list            *list
	container       model.Container
	look            look
	chosen, focused bool
}

func newRow(l *list) *row {
	r := &row{list: l}
	r.ExtendBaseWidget(r)
	return r
}

func (r *row) set(c model.Container, chosen, focused bool) {
	r.container, r.look, r.chosen, r.focused = c, lookOf(c), chosen, focused && chosen
	r.Refresh()
}

// MouseDown implements desktop.Mouseable: at once, for a tap waits whether it becomes a double one.
func (r *row) MouseDown(*desktop.MouseEvent) {
	if c := fyne.CurrentApp().Driver().CanvasForObject(r); c != nil {
		c.Focus(r.list)
	}
	if r.container.Path != r.list.chosen {
		r.list.choose(r.container.Path)
	}
}

// MouseUp implements desktop.Mouseable.
func (r *row) MouseUp(*desktop.MouseEvent) {}

// Tapped implements fyne.Tappable.
func (r *row) Tapped(*fyne.PointEvent) { r.MouseDown(nil) }

// DoubleTapped implements fyne.DoubleTappable.
func (r *row) DoubleTapped(*fyne.PointEvent) {
	r.MouseDown(nil)
	r.list.act()
}

// TappedSecondary implements fyne.SecondaryTappable.
func (r *row) TappedSecondary(e *fyne.PointEvent) {
	r.MouseDown(nil)
	r.list.menu(e.AbsolutePosition)
}

// CreateRenderer implements fyne.Widget.
func (r *row) CreateRenderer() fyne.WidgetRenderer {
	d := &rowRenderer{row: r, area: canvas.NewRectangle(nil), icon: widget.NewIcon(nil), star: widget.NewIcon(nil)}
	for i := range d.texts {
		d.texts[i] = canvas.NewText("", nil)
	}
	d.Refresh()
	return d
}

type rowRenderer struct {
	row        *row
	area       *canvas.Rectangle
	icon, star *widget.Icon
	texts      [4]*canvas.Text // title, size, state, path
}

func (d *rowRenderer) MinSize() fyne.Size { return fyne.NewSize(200, rowHeight) }

func (d *rowRenderer) Layout(size fyne.Size) {
	const icon, star = 24, 14
	p := theme.InnerPadding()
	d.area.Resize(size)
	d.icon.Resize(fyne.NewSquareSize(icon))
	d.icon.Move(fyne.NewPos(p, (size.Height-icon)/2))
	left, right := 2*p+icon, size.Width-p
	title, amount, state, path := d.texts[0], d.texts[1], d.texts[2], d.texts[3]
	heights := title.MinSize().Height + state.MinSize().Height + path.MinSize().Height
	y := (size.Height - heights) / 2
	amount.Move(fyne.NewPos(right-amount.MinSize().Width, y+(title.MinSize().Height-amount.MinSize().Height)/2))
	room := right - left - amount.MinSize().Width - p
	if d.row.container.Favourite {
		room -= star + p/2
	}
	c := d.row.container
	title.Text = ui.Middle(ui.Clean(c.Title()), room, title.TextSize, title.TextStyle)
	title.Move(fyne.NewPos(left, y))
	d.star.Resize(fyne.NewSquareSize(star))
	d.star.Move(fyne.NewPos(left+title.MinSize().Width+p/2, y+(title.MinSize().Height-star)/2))
	y += title.MinSize().Height
	state.Text = ui.Middle(d.row.look.words, right-left, state.TextSize, state.TextStyle)
	state.Move(fyne.NewPos(left, y))
	y += state.MinSize().Height
	path.Text = ui.Middle(ui.Clean(c.Path), right-left, path.TextSize, path.TextStyle)
	path.Move(fyne.NewPos(left, y))
}

func (d *rowRenderer) Refresh() {
	r := d.row
	for _, t := range d.texts[1:] {
		t.TextSize, t.Color = theme.CaptionTextSize(), ui.Color(ui.ColorNameMuted)
	}
	d.texts[0].TextSize, d.texts[0].Color, d.texts[0].TextStyle.Bold = theme.TextSize(), ui.Color(theme.ColorNameForeground), true
	d.texts[1].Text = ""
	if r.container.SizeBytes > 0 {
		d.texts[1].Text = text.Size(r.container.SizeBytes)
	}
	d.texts[2].Text, d.texts[2].Color = r.look.words, ui.Color(r.look.color)
	if r.look.icon != nil {
		d.icon.SetResource(ui.Tinted(r.look.icon, r.look.color))
	}
	d.star.Hidden = !r.container.Favourite
	if !d.star.Hidden {
		d.star.SetResource(ui.Tinted(ui.IconStar, theme.ColorNameWarning))
	}
	d.area.Hidden = !r.chosen
	d.area.FillColor, d.area.CornerRadius, d.area.StrokeWidth = ui.Color(theme.ColorNameSelection), theme.SelectionRadiusSize(), 0
	if r.focused {
		d.area.StrokeColor, d.area.StrokeWidth = ui.Color(theme.ColorNamePrimary), 1.5
	}
	d.Layout(r.Size())
	canvas.Refresh(r)
}

func (d *rowRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{d.area, d.icon, d.star, d.texts[0], d.texts[1], d.texts[2], d.texts[3]}
}

func (d *rowRenderer) Destroy() {}
