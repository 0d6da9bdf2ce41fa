package password

import (
	"context"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// Meter shows how strong the password in an entry is: a bar of four parts, and words.
type Meter struct {
	widget.BaseWidget
	// OnShown is called when other words are shown, which may need more room or less.
	OnShown func()

	d     *ui.Deps
	parts [4]*canvas.Rectangle
	words *widget.Label
	shown Strength

	wanted  string // to be estimated next
	running bool
}

// NewMeter makes one that shows nothing yet.
func NewMeter(d *ui.Deps) *Meter {
	m := &Meter{d: d, words: ui.Paragraph("")}
	for i := range m.parts {
		m.parts[i] = canvas.NewRectangle(nil)
		m.parts[i].CornerRadius = 2
		m.parts[i].SetMinSize(fyne.NewSize(24, 4))
	}
	m.ExtendBaseWidget(m)
	m.show(Strength{})
	return m
}

// Rate estimates what was typed and shows it. One estimate runs at a time; of those that wait only the last one counts.
func (m *Meter) Rate(typed string) {
	m.wanted = typed
	if typed == "" {
		m.show(Strength{})
		return
	}
	if m.running {
		return
	}
	m.running = true
	var found Strength
	m.d.Work(func(context.Context) error {
		found = Estimate(typed)
		return nil
	}, func(error) {
		m.running = false
		if m.wanted != typed {
			m.Rate(m.wanted)
			return
		}
		m.wanted = ""
		m.show(found)
	})
}

// Strength is what it shows.
func (m *Meter) Strength() Strength { return m.shown }

func (m *Meter) show(s Strength) {
	m.shown = s
	words := s.Words
	if s.Advice != "" {
		words += " " + s.Advice
	}
	if s.Level == 0 {
		words = text.T("Several words that have nothing to do with each other make a good password.")
	}
	m.paint()
	if m.words.Text == words {
		return
	}
	m.words.SetText(words)
	if m.OnShown != nil {
		m.OnShown()
	}
}

func (m *Meter) paint() {
	colors := [...]fyne.ThemeColorName{theme.ColorNameInputBorder, theme.ColorNameError, theme.ColorNameError, theme.ColorNameWarning, theme.ColorNameSuccess}
	for i, part := range m.parts {
		name := theme.ColorNameInputBorder
		if i < m.shown.Level {
			name = colors[m.shown.Level]
		}
		part.FillColor = theme.Color(name)
		part.Refresh()
	}
}

// Refresh implements fyne.Widget: the theme may have changed.
func (m *Meter) Refresh() {
	m.paint()
	m.BaseWidget.Refresh()
}

// CreateRenderer implements fyne.Widget.
func (m *Meter) CreateRenderer() fyne.WidgetRenderer {
	p := theme.Padding()
	bar := container.New(layout.NewCustomPaddedLayout(p, 0, 2, 2), container.NewGridWithColumns(4, m.parts[0], m.parts[1], m.parts[2], m.parts[3]))
	return widget.NewSimpleRenderer(container.NewVBox(bar, m.words))
}
