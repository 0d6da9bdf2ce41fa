package ui

import "fyne.io/fyne/v2"

// ChooserSize is a good size for a chooser of files over the window.
func ChooserSize(w fyne.Window) fyne.Size {
	size := w.Canvas().Size()
	return fyne.NewSize(min(900, size.Width*0.9), min(640, size.Height*0.9))
}
