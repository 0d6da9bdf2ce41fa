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
	over   fyne.CanvasObject // the panel itself among what lies over the window
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
	c := p.window.Canvas()
	before := c.OnTypedKey()
	c.SetOnTypedKey(p.typed)
	p.detach = func() { c.SetOnTypedKey(before) }
	p.dialog.Show()
	p.over = c.Overlays().Top()
	p.Fit()
}

// typed takes a key that no widget wants. While something lies over the panel, a chooser of the toolkit or a question, Escape is for
// that, and nothing for the panel.
func (p *Panel) typed(e *fyne.KeyEvent) {
	top := p.window.Canvas().Overlays().Top()
	if top == nil || top == p.over {
		p.Keys.Typed(e)
	} else if e.Name == fyne.KeyEscape {
		top.Hide()
	}
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
