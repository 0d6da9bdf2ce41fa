package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
)

// Panel is a dialog whose content changes while it is shown, with keys. Escape is what its Keys say, not closing by itself.
type Panel struct {
	Keys Keys

	dialog *dialog.CustomDialog
	window fyne.Window
	width  float32
	detach func()
	open   bool
}

// NewPanel makes one; content is shown at that width or wider.
func NewPanel(w fyne.Window, title string, width float32, content fyne.CanvasObject) *Panel {
	return &Panel{dialog: dialog.NewCustomWithoutButtons(title, content, w), window: w, width: width}
}

// minButton is how wide the buttons at the bottom are at least.
const minButton = 120

// SetButtons sets the row of buttons.
func (p *Panel) SetButtons(buttons ...fyne.CanvasObject) {
	row := make([]fyne.CanvasObject, len(buttons))
	for i, b := range buttons {
		row[i] = container.NewStack(Space(minButton, 1), b)
	}
	p.dialog.SetButtons(row)
}

// Show shows it.
func (p *Panel) Show() {
	if p.open {
		return
	}
	p.open = true
	p.detach = p.Keys.Attach(p.window.Canvas())
	p.dialog.Show()
	p.Fit()
}

// Fit gives it the height that its content needs now: texts wrap at the width they have.
func (p *Panel) Fit() {
	for range 2 { // the height of a text is known once it has its width
		p.dialog.Resize(fyne.NewSize(p.width, 0))
		p.dialog.Refresh()
	}
}

// Focus gives something in it the focus.
func (p *Panel) Focus(o fyne.Focusable) {
	if p.open {
		p.window.Canvas().Focus(o)
	}
}

// Open says whether it is shown.
func (p *Panel) Open() bool { return p.open }

// Close takes it away.
func (p *Panel) Close() {
	if !p.open {
		return
	}
	p.open = false
	p.detach()
	p.window.Canvas().Unfocus() // else the entry that has the keyboard goes on blinking, unseen
	p.dialog.Hide()
}
