package uitest

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
)

// TabThrough presses Tab until it comes around, and fails if the keyboard is at something that cannot be seen, or if the scroll had
// nothing to do.
func (k *Desk) TabThrough(scroll *container.Scroll) {
	k.t.Helper()
	c, d := k.window.Canvas(), fyne.CurrentApp().Driver()
	c.Unfocus()
	c.FocusNext()
	first, far := c.Focused(), float32(0)
	for range 200 {
		began := time.Now()
		k.Until("the scroll has followed", func() bool { return time.Since(began) > 5*time.Millisecond })
		k.Until("what has the keyboard can be seen", func() bool {
			o := c.Focused().(fyne.CanvasObject)
			top := d.AbsolutePositionForObject(o).Y
			return top >= 0 && top+o.Size().Height <= c.Size().Height
		})
		far = max(far, scroll.Offset.Y)
		if c.FocusNext(); c.Focused() == first {
			break
		}
	}
	if far == 0 {
		k.t.Error("everything can be seen without scrolling: this shows nothing")
	}
}
