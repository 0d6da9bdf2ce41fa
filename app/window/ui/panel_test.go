package ui

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"
)

// TestEscapeIsForTheTopmost: a question over a panel goes first, the panel after it.
func TestEscapeIsForTheTopmost(t *testing.T) {
	test.NewTempApp(t)
	w := test.NewTempWindow(t, widget.NewLabel("below"))
	escaped := 0
	p := NewPanel(w, "a panel", 300, widget.NewLabel("inside"))
	p.Keys.Escape = func() { escaped++; p.Close() }
	p.Show()
	Confirm(w, "sure?", "really?", "yes", true, func() { t.Error("it was confirmed") })
	press := func() { w.Canvas().OnTypedKey()(&fyne.KeyEvent{Name: fyne.KeyEscape}) }
	press()
	if escaped != 0 || !p.Open() || len(w.Canvas().Overlays().List()) != 1 {
		t.Fatalf("after one Escape: panel escaped %d times, open %v, %d things over the window", escaped, p.Open(), len(w.Canvas().Overlays().List()))
	}
	press()
	if escaped != 1 || p.Open() || w.Canvas().Overlays().Top() != nil {
		t.Errorf("after two: panel escaped %d times, open %v", escaped, p.Open())
	}
}
