package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"coffer/app/window/text"
)

// Choice is one of the ways on that a person has.
type Choice struct {
	Label   string
	Primary bool // the one that Enter takes
	Do      func()
}

// Choose asks which way to go on, or none: Escape, Cancel.
func Choose(w fyne.Window, title, words string, choices []Choice) {
	p := NewPanel(w, title, 520, Paragraph(words))
	p.Keys.Escape = p.Close
	buttons := []fyne.CanvasObject{p.Keys.NewButton(text.T("Cancel"), p.Close)}
	var first fyne.Focusable
	for _, c := range choices {
		do := func() {
			p.Close()
			c.Do()
		}
		button := p.Keys.NewButton(c.Label, do)
		if c.Primary {
			button = p.Keys.NewPrimary(c.Label, do)
			p.Keys.Enter, first = do, button
		}
		buttons = append(buttons, button)
	}
	p.SetButtons(buttons...)
	p.Show()
	if first != nil {
		p.Focus(first)
	}
}

// Middle shortens words in the middle until they are no wider than width at a size of text; the end of a path says more than its
// middle.
func Middle(words string, width, size float32, style fyne.TextStyle) string {
	fits := func(s string) bool { return fyne.MeasureText(s, size, style).Width <= width }
	if width <= 0 || fits(words) {
		return words
	}
	runes := []rune(words)
	low, high := 0, len(runes)-1 // of runes that may stay
	cut := func(keep int) string {
		head := keep * 2 / 5
		return string(runes[:head]) + "…" + string(runes[len(runes)-(keep-head):])
	}
	for low < high {
		keep := (low + high + 1) / 2
		if fits(cut(keep)) {
			low = keep
		} else {
			high = keep - 1
		}
	}
	return cut(low)
}

// Space is an empty thing of a size, to keep others apart.
func Space(width, height float32) fyne.CanvasObject {
	return container.NewGridWrap(fyne.NewSize(width, height))
}
