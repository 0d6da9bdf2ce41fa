// Package home is the screen "Containers".
package home

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"coffer/app/window/ui"
)

// Screen is the screen. Make it with New.
type Screen struct {
	deps   *ui.Deps
	object fyne.CanvasObject
}

// New makes the screen.
func New(d *ui.Deps) *Screen {
	return &Screen{deps: d, object: widget.NewLabel("Containers")}
}

// Object implements ui.Screen.
func (s *Screen) Object() fyne.CanvasObject { return s.object }

// Shown implements ui.Screen.
func (s *Screen) Shown(image string) {}

// Hidden implements ui.Screen.
func (s *Screen) Hidden() {}
