package ui

import "fyne.io/fyne/v2/widget"

// Waiting is a bar that runs while nobody knows how long something takes. Fyne's own runs from the moment it is first looked at
// and goes on drawing, unseen, if it is hidden before it is stopped: a core of the processor for nothing. This one stands
// until Start, and Stop and Hide stop it for good.
type Waiting struct{ widget.ProgressBarInfinite }

// NewWaiting makes one that stands still.
func NewWaiting() *Waiting {
	w := &Waiting{}
	w.ExtendBaseWidget(w)
	w.Stop()
	return w
}

// Stop stops it, whatever has become of it since it was started.
func (w *Waiting) Stop() {
	w.ProgressBarInfinite.Start() // else Stop believes a hidden one to stand
	w.ProgressBarInfinite.Stop()
}

// Hide stops it too.
func (w *Waiting) Hide() {
	w.Stop()
	w.ProgressBarInfinite.Hide()
}

// Show shows it as it is.
func (w *Waiting) Show() { w.BaseWidget.Show() }
