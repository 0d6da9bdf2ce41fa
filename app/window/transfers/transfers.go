// Package transfers is the screen "Transfers".
package transfers

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"coffer/app/window/ui"
)

// Screen is the screen. Make it with New.
type Screen struct {
	deps    *ui.Deps
	watcher *Watcher
	object  fyne.CanvasObject
}

// New makes the screen of the jobs that watcher knows.
func New(d *ui.Deps, watcher *Watcher) *Screen {
	return &Screen{deps: d, watcher: watcher, object: widget.NewLabel("Transfers")}
}

// Object implements ui.Screen.
func (s *Screen) Object() fyne.CanvasObject { return s.object }

// Shown implements ui.Screen.
func (s *Screen) Shown(image string) {}

// Hidden implements ui.Screen.
func (s *Screen) Hidden() {}
