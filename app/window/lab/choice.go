package lab

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/window/ui"
)

// choice is one of several things to choose, with a sentence about it. It is chosen by a click, or by the space bar while it
// has the focus.
type choice struct {
	widget.BaseWidget
	title, about string
	chosen       bool
	tapped       func()

	focused bool
	mark    *widget.Icon
	area    *ui.Surface
}

func newChoice(title, about string, tapped func()) *choice {
	c := &choice{title: title, about: about, tapped: tapped, mark: widget.NewIcon(theme.RadioButtonIcon())}
	head := widget.NewLabelWithStyle(title, fyne.TextAlignLeading, fyne.TextStyle{Bold: true})
	words := ui.Caption(about)
	words.Wrapping = fyne.TextWrapWord
	// Labels have room of their own above and below: the two lines belong together.
	lines := container.New(layout.NewCustomPaddedVBoxLayout(-2*theme.Padding()), head, words)
	c.area = ui.NewSurface(ui.ColorNameSurface, 8, container.NewBorder(nil, nil, container.NewVBox(container.NewPadded(container.NewPadded(c.mark))), nil, lines))
	c.ExtendBaseWidget(c)
	return c
}

// choose marks it as chosen or not.
func (c *choice) choose(chosen bool) {
	c.chosen = chosen
	if chosen {
		c.mark.SetResource(theme.NewPrimaryThemedResource(theme.RadioButtonCheckedIcon()))
	} else {
		c.mark.SetResource(theme.RadioButtonIcon())
	}
	c.paint()
}

func (c *choice) paint() {
	switch {
	case c.focused:
		c.area.SetColor(theme.ColorNameFocus)
	case c.chosen:
		c.area.SetColor(theme.ColorNameSelection)
	default:
		c.area.SetColor(ui.ColorNameSurface)
	}
}

// CreateRenderer implements fyne.Widget.
func (c *choice) CreateRenderer() fyne.WidgetRenderer { return widget.NewSimpleRenderer(c.area) }

// Tapped implements fyne.Tappable.
func (c *choice) Tapped(*fyne.PointEvent) {
	if on := fyne.CurrentApp().Driver().CanvasForObject(c); on != nil {
		on.Focus(c)
	}
	c.tapped()
}

// FocusGained implements fyne.Focusable.
func (c *choice) FocusGained() { c.focused = true; c.paint() }

// FocusLost implements fyne.Focusable.
func (c *choice) FocusLost() { c.focused = false; c.paint() }

// TypedRune implements fyne.Focusable.
func (c *choice) TypedRune(rune) {}

// TypedKey implements fyne.Focusable.
func (c *choice) TypedKey(e *fyne.KeyEvent) {
	if e.Name == fyne.KeySpace || e.Name == fyne.KeyReturn || e.Name == fyne.KeyEnter {
		c.tapped()
	}
}
