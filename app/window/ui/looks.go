package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Surface is a rounded area of a colour of the theme with something on it. Make it with Card or NewSurface.
type Surface struct {
	widget.BaseWidget
	color   fyne.ThemeColorName
	border  fyne.ThemeColorName
	radius  float32
	content fyne.CanvasObject
}

// NewSurface puts content on an area of a colour, with corners of a radius.
func NewSurface(color fyne.ThemeColorName, radius float32, content fyne.CanvasObject) *Surface {
	s := &Surface{color: color, radius: radius, content: content}
	s.ExtendBaseWidget(s)
	return s
}

// Card is a group of things that belong together, on a surface of its own.
func Card(content fyne.CanvasObject) *Surface {
	p := theme.Padding()
	s := NewSurface(ColorNameSurface, 8, container.New(layout.NewCustomPaddedLayout(2*p, 2*p, 2*p, 2*p), content))
	s.border = theme.ColorNameSeparator
	return s
}

// SetColor changes the colour.
func (s *Surface) SetColor(color fyne.ThemeColorName) {
	if s.color != color {
		s.color = color
		s.Refresh()
	}
}

// CreateRenderer implements fyne.Widget.
func (s *Surface) CreateRenderer() fyne.WidgetRenderer {
	r := &surfaceRenderer{surface: s, area: canvas.NewRectangle(nil)}
	r.paint()
	return r
}

type surfaceRenderer struct {
	surface *Surface
	area    *canvas.Rectangle
}

func (r *surfaceRenderer) paint() {
	r.area.FillColor, r.area.CornerRadius = Color(r.surface.color), r.surface.radius
	if r.surface.border != "" {
		r.area.StrokeColor, r.area.StrokeWidth = Color(r.surface.border), 1
	}
}

func (r *surfaceRenderer) Layout(size fyne.Size) {
	r.area.Resize(size)
	r.surface.content.Resize(size)
}

func (r *surfaceRenderer) MinSize() fyne.Size { return r.surface.content.MinSize() }

func (r *surfaceRenderer) Refresh() {
	r.paint()
	r.area.Refresh()
	r.surface.content.Refresh()
}

func (r *surfaceRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.area, r.surface.content}
}

func (r *surfaceRenderer) Destroy() {}

// Heading is the title of a screen.
func Heading(words string) *widget.Label {
	l := widget.NewLabelWithStyle(words, fyne.TextAlignLeading, fyne.TextStyle{Bold: true})
	l.SizeName = theme.SizeNameHeadingText
	l.Truncation = fyne.TextTruncateEllipsis
	return l
}

// Subheading is the title of a part of a screen.
func Subheading(words string) *widget.Label {
	l := widget.NewLabelWithStyle(words, fyne.TextAlignLeading, fyne.TextStyle{Bold: true})
	return l
}

// Caption is small and muted text beside what matters more.
func Caption(words string) *widget.Label {
	l := widget.NewLabel(words)
	l.SizeName = theme.SizeNameCaptionText
	l.Importance = widget.LowImportance
	return l
}

// SetText changes a label only if it says something else: a refresh draws the whole window.
func SetText(l *widget.Label, words string) {
	if l.Text != words {
		l.SetText(words)
	}
}

// Show shows or hides, only if that is a change.
func Show(o fyne.CanvasObject, shown bool) {
	switch {
	case shown && !o.Visible():
		o.Show()
	case !shown && o.Visible():
		o.Hide()
	}
}

// Enable enables or disables, only if that is a change.
func Enable(o fyne.Disableable, enabled bool) {
	switch {
	case enabled && o.Disabled():
		o.Enable()
	case !enabled && !o.Disabled():
		o.Disable()
	}
}
