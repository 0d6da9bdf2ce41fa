package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Follow gives what is to be shown in place of a scroll so that it follows the keyboard: what Tab leads to is scrolled into view.
// The toolkit gives it the keyboard wherever it is, seen or not.
func Follow(d *Deps, scroll *container.Scroll) *fyne.Container {
	follow := func() {
		c := fyne.CurrentApp().Driver().CanvasForObject(scroll)
		if c == nil {
			return
		}
		if focused, ok := c.Focused().(fyne.CanvasObject); ok && within(scroll.Content, focused) {
			Reveal(scroll, focused)
		}
	}
	pressed := func() { go d.Do(follow) } // later: the keyboard has not moved yet
	return container.NewStack(newTabWatch(pressed), scroll, newTabWatch(pressed))
}

// Reveal scrolls up or down as little as is needed to see something inside.
func Reveal(scroll *container.Scroll, o fyne.CanvasObject) {
	d := fyne.CurrentApp().Driver()
	edge, room := 2*theme.Padding(), scroll.Size().Height
	top := d.AbsolutePositionForObject(o).Y - d.AbsolutePositionForObject(scroll.Content).Y - edge
	bottom := top + o.Size().Height + 2*edge
	y := scroll.Offset.Y
	y = max(y, bottom-room)
	y = min(y, top)
	y = max(0, min(y, scroll.Content.Size().Height-room))
	if room > 0 && y != scroll.Offset.Y {
		scroll.ScrollToOffset(fyne.NewPos(scroll.Offset.X, y))
	}
}

// within says whether something is, or is in, another one, as far as that is made of containers.
func within(o, wanted fyne.CanvasObject) bool {
	switch o := o.(type) {
	case *fyne.Container:
		for _, child := range o.Objects {
			if within(child, wanted) {
				return true
			}
		}
	case *Surface:
		return within(o.content, wanted)
	case *container.Scroll:
		return within(o.Content, wanted)
	}
	return o == wanted
}

// tabWatch notices that Tab is pressed: the toolkit tells nobody, but it asks everything from the beginning of the window, or with
// Shift from the end, whether it can have the keyboard, until it comes to the next one. So one stands before and one behind.
type tabWatch struct {
	widget.BaseWidget
	pressed func()
}

func newTabWatch(pressed func()) *tabWatch {
	t := &tabWatch{pressed: pressed}
	t.ExtendBaseWidget(t)
	return t
}

// CreateRenderer implements fyne.Widget: there is nothing to see.
func (t *tabWatch) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(container.NewWithoutLayout())
}

// Enable implements fyne.Disableable.
func (t *tabWatch) Enable() {}

// Disable implements fyne.Disableable.
func (t *tabWatch) Disable() {}

// Disabled implements fyne.Disableable: it never has the keyboard itself.
func (t *tabWatch) Disabled() bool {
	t.pressed()
	return true
}
