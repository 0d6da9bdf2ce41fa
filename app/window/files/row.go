package files

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/window/ui"
)

// row is one line of the table.
type row struct {
	widget.BaseWidget
	table *table
	index int // which row it shows now; -1: none

	item    *item
	chosen  bool
	cursor  bool // the keyboard is here
	dim     bool // cut, or hidden
	hovered bool

	back                     *canvas.Rectangle
	icon                     *canvas.Image
	tint                     color.Color // of the theme the icon was drawn for
	name, folder, size, when *canvas.Text
}

func newRow(t *table) *row {
	r := &row{table: t, index: -1, back: canvas.NewRectangle(color.Transparent), icon: canvas.NewImageFromResource(theme.FileIcon())}
	r.icon.FillMode = canvas.ImageFillContain
	for _, one := range []**canvas.Text{&r.name, &r.folder, &r.size, &r.when} {
		*one = canvas.NewText("", color.Transparent)
	}
	r.size.Alignment = fyne.TextAlignTrailing
	r.Hide()
	r.ExtendBaseWidget(r)
	return r
}

// CreateRenderer implements fyne.Widget.
func (r *row) CreateRenderer() fyne.WidgetRenderer { return &rowRenderer{r} }

// MouseDown implements desktop.Mouseable.
func (r *row) MouseDown(e *desktop.MouseEvent) {
	r.table.press(r.index, e.Modifier, e.Button == desktop.MouseButtonSecondary)
}

// MouseUp implements desktop.Mouseable.
func (r *row) MouseUp(*desktop.MouseEvent) {}

// DoubleTapped implements fyne.DoubleTappable.
func (r *row) DoubleTapped(*fyne.PointEvent) { r.table.open(r.index) }

// TappedSecondary implements fyne.SecondaryTappable.
func (r *row) TappedSecondary(e *fyne.PointEvent) { r.table.menu(r.index, e.AbsolutePosition) }

// MouseIn implements desktop.Hoverable.
func (r *row) MouseIn(*desktop.MouseEvent) { r.hover(true) }

// MouseMoved implements desktop.Hoverable.
func (r *row) MouseMoved(*desktop.MouseEvent) {}

// MouseOut implements desktop.Hoverable.
func (r *row) MouseOut() { r.hover(false) }

func (r *row) hover(on bool) {
	r.hovered = on
	r.paint()
	r.back.Refresh()
}

// columns are where the columns of a row begin and how wide they are.
type columns struct{ icon, name, folder, size, when span }

type span struct{ x, width float32 }

// columnsOf divides a row; folders is whether there is a column for them.
func columnsOf(width float32, folders bool) columns {
	edge, gap, icon := theme.InnerPadding(), 2*theme.InnerPadding(), theme.Size(theme.SizeNameInlineIcon)
	right := width - edge - theme.Size(theme.SizeNameScrollBar)
	measure := func(longest string) float32 {
		return fyne.MeasureText(longest, theme.TextSize(), fyne.TextStyle{}).Width
	}
	var c columns
	c.icon = span{edge, icon}
	c.when.width = measure("2000-00-00 00:00") + edge
	c.when.x = right - c.when.width
	c.size.width = measure("000.0 MB") + 2*edge
	c.size.x = c.when.x - gap - c.size.width
	c.name.x = edge + icon + edge
	c.name.width = max(0, c.size.x-gap-c.name.x)
	if folders {
		c.folder.width = c.name.width * 0.4
		c.name.width -= c.folder.width + gap
		c.folder.x = c.name.x + c.name.width + gap
	}
	return c
}

// arrange puts the parts of the row where they belong, and shortens what does not fit.
func (r *row) arrange() {
	if r.item == nil {
		return
	}
	c, height := columnsOf(r.Size().Width, r.table.folders), r.Size().Height
	r.back.Resize(r.Size().SubtractWidthHeight(theme.Size(theme.SizeNameScrollBar), 1))
	r.icon.Move(fyne.NewPos(c.icon.x, (height-c.icon.width)/2))
	r.icon.Resize(fyne.NewSize(c.icon.width, c.icon.width))
	put := func(t *canvas.Text, at span, words string) {
		t.TextSize = theme.TextSize()
		t.Text = ui.Middle(words, at.width, t.TextSize, t.TextStyle)
		size := t.MinSize()
		t.Move(fyne.NewPos(at.x, (height-size.Height)/2))
		t.Resize(fyne.NewSize(at.width, size.Height))
	}
	put(r.name, c.name, r.item.shown)
	put(r.size, c.size, sizeOf(r.item))
	put(r.when, c.when, r.item.modified())
	if r.table.folders {
		put(r.folder, c.folder, folderOf(r.item))
	} else {
		r.folder.Text = ""
	}
}

// paint gives the row its colours.
func (r *row) paint() {
	variant := fyne.CurrentApp().Settings().ThemeVariant()
	th := r.Theme()
	ink, faint := th.Color(theme.ColorNameForeground, variant), th.Color(theme.ColorNamePlaceHolder, variant)
	r.name.Color = ink
	if r.dim {
		r.name.Color = faint
	}
	r.folder.Color, r.size.Color, r.when.Color = faint, faint, faint
	r.back.CornerRadius = th.Size(theme.SizeNameSelectionRadius)
	r.back.StrokeWidth = 0
	switch {
	case r.chosen:
		r.back.FillColor = th.Color(theme.ColorNameSelection, variant)
	case r.hovered:
		r.back.FillColor = th.Color(theme.ColorNameHover, variant)
	default:
		r.back.FillColor = color.Transparent
	}
	if r.cursor && r.table.focused {
		r.back.StrokeColor, r.back.StrokeWidth = th.Color(theme.ColorNamePrimary, variant), 1
	}
	if r.item != nil {
		picture, faded := pictureOf(r.item.icon()), 0.0
		if r.dim {
			faded = 0.5
		}
		if tint := th.Color(theme.ColorNamePrimary, variant); r.icon.Resource != picture || r.icon.Translucency != faded || r.tint != tint {
			r.icon.Resource, r.icon.Translucency, r.tint = picture, faded, tint // another tint: another theme
			r.icon.Refresh()
		}
	}
}

// pictures are the icons of the kinds, made once.
var pictures = map[fyne.ThemeIconName]fyne.Resource{}

func pictureOf(name fyne.ThemeIconName) fyne.Resource {
	picture := pictures[name]
	if picture == nil {
		if picture = theme.NewColoredResource(theme.Icon(name), theme.ColorNamePlaceHolder); name == theme.IconNameFolder {
			picture = theme.NewPrimaryThemedResource(theme.Icon(name))
		}
		pictures[name] = picture
	}
	return picture
}

// rowRenderer draws a row.
type rowRenderer struct{ r *row }

// Layout implements fyne.WidgetRenderer.
func (d *rowRenderer) Layout(fyne.Size) { d.r.arrange() }

// MinSize implements fyne.WidgetRenderer.
func (d *rowRenderer) MinSize() fyne.Size { return fyne.NewSize(0, rowHeight()) }

// Refresh implements fyne.WidgetRenderer.
func (d *rowRenderer) Refresh() {
	d.r.paint()
	canvas.Refresh(d.r)
}

// Objects implements fyne.WidgetRenderer.
func (d *rowRenderer) Objects() []fyne.CanvasObject {
	r := d.r
	return []fyne.CanvasObject{r.back, r.icon, r.name, r.folder, r.size, r.when}
}

// Destroy implements fyne.WidgetRenderer.
func (d *rowRenderer) Destroy() {}
