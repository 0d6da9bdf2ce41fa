package window

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// railWidth is the least width of the navigation.
const railWidth = 168

// rail is the navigation: a line for each page, the last one, settings, at the bottom.
type rail struct {
	object fyne.CanvasObject
	items  []*railItem
}

// newRail makes the navigation; turn is called with the page a person wants.
func newRail(turn func(ui.Page)) *rail {
	r := &rail{}
	for page, item := range []struct {
		name string
		icon fyne.Resource
	}{
		{text.T("Containers"), ui.IconDrive},
		{text.T("Files"), ui.IconFiles},
		{text.T("Transfers"), ui.IconTransfers},
		{text.T("Lab"), ui.IconLab},
		{text.T("Health and keys"), ui.IconHealth},
		{text.T("Settings"), theme.SettingsIcon()},
	} {
		r.items = append(r.items, newRailItem(r, page, item.name, item.icon, func() { turn(ui.Page(page)) }))
	}
	width := canvas.NewRectangle(color.Transparent)
	width.SetMinSize(fyne.NewSize(railWidth, 0))
	lines := container.NewVBox(width)
	for i, item := range r.items {
		if i == len(r.items)-1 {
			lines.Add(layout.NewSpacer())
		}
		lines.Add(item)
	}
	r.object = ui.NewSurface(ui.ColorNameRail, 0, container.NewPadded(lines))
	return r
}

// frame puts the navigation at the left, the line at the bottom, and the page, with some air, into the rest.
type frame struct{}

func (frame) MinSize(objects []fyne.CanvasObject) fyne.Size {
	rail, bottom, page := objects[0].MinSize(), objects[1].MinSize(), objects[2].MinSize()
	air := 4 * theme.Padding()
	return fyne.NewSize(max(rail.Width+page.Width+air, bottom.Width), max(rail.Height, page.Height+air)+bottom.Height)
}

func (frame) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	rail, bottom, page := objects[0], objects[1], objects[2]
	width, height, air := rail.MinSize().Width, bottom.MinSize().Height, 2*theme.Padding()
	rail.Resize(fyne.NewSize(width, size.Height-height))
	bottom.Move(fyne.NewPos(0, size.Height-height))
	bottom.Resize(fyne.NewSize(size.Width, height))
	page.Move(fyne.NewPos(width+air, air))
	page.Resize(fyne.NewSize(size.Width-width-2*air, size.Height-height-2*air))
}

// choose marks the page that is shown.
func (r *rail) choose(page ui.Page) {
	for i, item := range r.items {
		if chosen := i == int(page); item.chosen != chosen {
			item.chosen = chosen
			item.Refresh()
		}
	}
}

// railItem is one line of the navigation. It is a button that can be reached by the keyboard.
type railItem struct {
	widget.BaseWidget
	rail                     *rail
	index                    int
	name                     string
	icon                     fyne.Resource
	tapped                   func()
	chosen, focused, hovered bool
}

func newRailItem(r *rail, index int, name string, icon fyne.Resource, tapped func()) *railItem {
	i := &railItem{rail: r, index: index, name: name, icon: icon, tapped: tapped}
	i.ExtendBaseWidget(i)
	return i
}

// Tapped implements fyne.Tappable.
func (i *railItem) Tapped(*fyne.PointEvent) { i.tapped() }

// FocusGained implements fyne.Focusable.
func (i *railItem) FocusGained() { i.set(&i.focused, true) }

// FocusLost implements fyne.Focusable.
func (i *railItem) FocusLost() { i.set(&i.focused, false) }

// MouseIn implements desktop.Hoverable.
func (i *railItem) MouseIn(*desktop.MouseEvent) { i.set(&i.hovered, true) }

// MouseMoved implements desktop.Hoverable.
func (i *railItem) MouseMoved(*desktop.MouseEvent) {}

// MouseOut implements desktop.Hoverable.
func (i *railItem) MouseOut() { i.set(&i.hovered, false) }

func (i *railItem) set(what *bool, to bool) {
	*what = to
	i.Refresh()
}

// TypedRune implements fyne.Focusable.
func (i *railItem) TypedRune(rune) {}

// TypedKey implements fyne.Focusable: Enter and Space turn to the page, the arrows go to the lines beside.
func (i *railItem) TypedKey(e *fyne.KeyEvent) {
	next := i.index
	switch e.Name {
	case fyne.KeySpace, fyne.KeyReturn, fyne.KeyEnter:
		i.tapped()
	case fyne.KeyUp:
		next--
	case fyne.KeyDown:
		next++
	}
	if next != i.index && next >= 0 && next < len(i.rail.items) {
		if c := fyne.CurrentApp().Driver().CanvasForObject(i); c != nil {
			c.Focus(i.rail.items[next])
		}
	}
}

// CreateRenderer implements fyne.Widget.
func (i *railItem) CreateRenderer() fyne.WidgetRenderer {
	r := &railRenderer{item: i, area: canvas.NewRectangle(nil), bar: canvas.NewRectangle(nil), icon: widget.NewIcon(i.icon), label: canvas.NewText(i.name, nil)}
	r.Refresh()
	return r
}

type railRenderer struct {
	item      *railItem
	area, bar *canvas.Rectangle
	icon      *widget.Icon
	label     *canvas.Text
}

func (r *railRenderer) MinSize() fyne.Size {
	icon, words := theme.IconInlineSize(), r.label.MinSize()
	p := theme.InnerPadding()
	return fyne.NewSize(icon+words.Width+4*p, max(icon, words.Height)+2.5*p)
}

func (r *railRenderer) Layout(size fyne.Size) {
	icon, words := theme.IconInlineSize(), r.label.MinSize()
	p := theme.InnerPadding()
	r.area.Resize(size)
	r.bar.Resize(fyne.NewSize(3, size.Height-2*p))
	r.bar.Move(fyne.NewPos(0, p))
	r.icon.Resize(fyne.NewSquareSize(icon))
	r.icon.Move(fyne.NewPos(1.5*p, (size.Height-icon)/2))
	r.label.Move(fyne.NewPos(2.5*p+icon, (size.Height-words.Height)/2))
}

func (r *railRenderer) Refresh() {
	i := r.item
	name := theme.ColorNameForeground
	if i.chosen {
		name = theme.ColorNamePrimary
	}
	r.icon.SetResource(ui.Tinted(i.icon, name))
	r.label.Color, r.label.TextSize = ui.Color(name), theme.TextSize()
	r.label.TextStyle.Bold = i.chosen
	r.bar.FillColor, r.bar.CornerRadius = ui.Color(theme.ColorNamePrimary), 1.5
	r.bar.Hidden = !i.chosen
	r.area.CornerRadius, r.area.StrokeWidth = theme.SelectionRadiusSize(), 0
	r.area.Hidden = false
	switch {
	case i.chosen:
		r.area.FillColor = ui.Color(theme.ColorNameSelection)
	case i.hovered || i.focused:
		r.area.FillColor = ui.Color(theme.ColorNameHover)
	default:
		r.area.Hidden = !i.focused
	}
	if i.focused {
		r.area.StrokeColor, r.area.StrokeWidth = ui.Color(theme.ColorNamePrimary), 1.5
	}
	r.Layout(i.Size())
	canvas.Refresh(i)
}

func (r *railRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.area, r.bar, r.icon, r.label}
}

func (r *railRenderer) Destroy() {}
