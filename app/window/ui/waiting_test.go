package ui

import (
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
)

// TestWaitingMovesInSteps: what cannot be seen is not drawn; the block stays inside of the bar.
func TestWaitingMovesInSteps(t *testing.T) {
	test.NewTempApp(t)
	w := NewWaiting()
	test.NewTempWindow(t, w).Resize(fyne.NewSize(400, 60))
	if w.Running() || w.block.Visible() {
		t.Error("it runs before it is started")
	}
	w.Start()
	moves, last := 0, fyne.NewSize(-1, -1)
	for i := range 181 { // a frame 60 times a second
		w.tick(float32(i) / 180)
		at := fyne.NewSize(w.block.Position().X, w.block.Size().Width)
		if at != last {
			moves, last = moves+1, at
		}
		if at.Width < 0 || at.Height < 0 || at.Width+at.Height > w.Size().Width+0.01 {
			t.Fatalf("the block lies at %v in a bar of %v", at, w.Size())
		}
	}
	if moves < waitingSteps/2 || moves > waitingSteps+2 {
		t.Errorf("it moved %d times in %v, not about %d", moves, waitingSpan, waitingSteps)
	}
	w.Hide()
	if w.Running() {
		t.Error("it runs while it is hidden")
	}
	w.Show()
	if w.Running() {
		t.Error("it runs because it is shown")
	}
}
