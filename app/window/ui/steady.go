package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
)

// NewSteady puts pages in one place, of which one is shown at a time, so that a dialog keeps its size while a person goes through
// them: there is room for the tallest, hidden or not, and for height at least, and what was needed once is kept.
func NewSteady(height float32, pages ...fyne.CanvasObject) *fyne.Container {
	return container.New(&steady{least: height}, pages...)
}

// steady is the layout.
type steady struct {
	least   float32
	width   float32 // at which tallest was needed: texts that wrap are taller in a narrower place
	tallest float32
}

// MinSize implements fyne.Layout.
func (s *steady) MinSize(pages []fyne.CanvasObject) fyne.Size {
	size := fyne.NewSize(0, max(s.least, s.tallest))
	for _, p := range pages {
		size = size.Max(p.MinSize())
	}
	return size
}

// Layout implements fyne.Layout.
func (s *steady) Layout(pages []fyne.CanvasObject, size fyne.Size) {
	if size.Width != s.width {
		s.width, s.tallest = size.Width, 0
	}
	for _, p := range pages {
		p.Move(fyne.NewPos(0, 0))
		p.Resize(size)
		s.tallest = max(s.tallest, p.MinSize().Height)
	}
}
