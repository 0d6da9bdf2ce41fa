package ui

import (
	"context"
	"fmt"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"
)

func TestScrollFollowsTheKeyboard(t *testing.T) {
	posts := make(chan func(), 100)
	d := &Deps{Context: context.Background(), Post: func(f func()) { posts <- f }}
	column := container.NewVBox()
	var buttons []*widget.Button
	for i := range 20 {
		buttons = append(buttons, widget.NewButton(fmt.Sprint(i), nil))
		column.Add(Card(container.NewPadded(buttons[i])))
	}
	scroll := container.NewVScroll(column)
	beside := widget.NewButton("beside", nil)
	w := test.NewTempWindow(t, container.NewBorder(nil, beside, nil, nil, Follow(d, scroll)))
	w.Resize(fyne.NewSize(300, 300))
	c := w.Canvas()
	tab := func(move func()) {
		t.Helper()
		move()
		select {
		case follow := <-posts:
			follow()
		case <-time.After(50 * time.Millisecond): // it is none of the scroll's business
		}
	}
	seen := func(b *widget.Button) bool {
		at := fyne.CurrentApp().Driver().AbsolutePositionForObject(b).Y - fyne.CurrentApp().Driver().AbsolutePositionForObject(scroll).Y
		return at >= 0 && at+b.Size().Height <= scroll.Size().Height
	}
	for i, b := range buttons {
		tab(c.FocusNext)
		if c.Focused() != b || !seen(b) {
			t.Fatalf("button %d: has the keyboard %t, is seen %t", i, c.Focused() == b, seen(b))
		}
	}
	for i := len(buttons) - 2; i >= 0; i-- {
		tab(c.FocusPrevious)
		if c.Focused() != buttons[i] || !seen(buttons[i]) {
			t.Fatalf("backwards, button %d: has the keyboard %t, is seen %t", i, c.Focused() == buttons[i], seen(buttons[i]))
		}
	}
	tab(c.FocusPrevious) // around to what is not inside
	scroll.ScrollToOffset(fyne.NewPos(0, 400))
	c.Focus(nil)
	tab(c.FocusPrevious)
	if c.Focused() != beside || scroll.Offset.Y != 400 {
		t.Errorf("the keyboard is at %v; what is not inside moves it to %v", c.Focused(), scroll.Offset.Y)
	}
}
