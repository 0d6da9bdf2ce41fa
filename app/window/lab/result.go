package lab

import (
	"cmp"
	"math"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/window/chart"
	"coffer/app/window/text"
	"coffer/app/window/ui"
	"coffer/transfer/report"
	"coffer/transfer/report/picture"
)

// newResult shows an experiment: remarks, bars, tables, median rounds, method. Long tables take time to draw, so the parts are
// made one after the other: each of them is to be added to body in a turn of its own.
func newResult(e *report.Experiment, export func(*report.Experiment), remove func(id, name string)) (shown fyne.CanvasObject, body *fyne.Container, parts []func() fyne.CanvasObject) {
	save := widget.NewButtonWithIcon(text.T("Export…"), theme.DocumentSaveIcon(), func() { export(e) })
	save.Importance = widget.HighImportance
	forget := widget.NewButtonWithIcon(text.T("Delete…"), theme.DeleteIcon(), func() {
		remove(e.ID, text.T("%s of %s", titleOf(e.Kind), moment(e.Started)))
	})
	about := ui.Caption(subtitle(e))
	about.Wrapping = fyne.TextWrapWord
	head := container.New(layout.NewCustomPaddedVBoxLayout(-theme.Padding()),
		container.NewBorder(nil, nil, nil, container.NewHBox(save, forget), ui.Heading(titleOf(e.Kind))), about)
	body = container.New(layout.NewCustomPaddedVBoxLayout(2 * theme.Padding()))
	page := container.NewVScroll(container.NewPadded(body))
	add := func(make func() fyne.CanvasObject) {
		parts = append(parts, func() fyne.CanvasObject { return ui.Card(make()) })
	}
	if remarks := remarksOf(e); len(remarks) > 0 {
		add(func() fyne.CanvasObject { return newRemarks(remarks) })
	}
	for _, c := range e.Bars {
		add(func() fyne.CanvasObject { return newBars(c) })
	}
	for i := range e.Tables {
		add(func() fyne.CanvasObject { return newTable(&e.Tables[i], page) })
	}
	if len(e.Transfers) > 0 {
		add(func() fyne.CanvasObject { return newRounds(e.Transfers) })
	}
	if len(e.Method) > 0 {
		add(func() fyne.CanvasObject { return newMethod(e.Method) })
	}
	return container.NewBorder(container.NewPadded(head), nil, nil, nil, page), body, parts
}

// newRemarks shows what a person should know before believing the figures.
func newRemarks(remarks []string) fyne.CanvasObject {
	lines := make([]fyne.CanvasObject, len(remarks))
	for i, r := range remarks {
		lines[i] = ui.Paragraph(r)
	}
	icon := container.NewVBox(container.NewPadded(widget.NewIcon(theme.NewWarningThemedResource(theme.WarningIcon()))))
	return container.NewBorder(nil, nil, icon, nil, container.NewVBox(lines...))
}

// newRounds shows the copies of the median rounds, one line each.
func newRounds(records []*report.Record) fyne.CanvasObject {
	lines := []fyne.CanvasObject{ui.Subheading(text.T("Median rounds"))}
	for _, r := range records {
		line := ui.Caption(ui.Clean(r.Line()))
		line.Wrapping = fyne.TextWrapWord
		lines = append(lines, line)
	}
	return container.New(layout.NewCustomPaddedVBoxLayout(-theme.Padding()), lines...)
}

// subtitle is when, where and with what an experiment was made.
func subtitle(e *report.Experiment) string {
	m := e.Machine
	parts := []string{e.Title, moment(e.Started), text.Span(e.Finished.Sub(e.Started)), m.CPUModel, text.N(int64(m.Cores), "1 core", "%d cores"), m.OSName, e.Version}
	var known []string
	for _, p := range parts {
		if p != "" {
			known = append(known, ui.Clean(p))
		}
	}
	return strings.Join(known, " · ")
}

// remarksOf is what a person should know before believing the figures.
func remarksOf(e *report.Experiment) []string {
	var remarks []string
	if n := disturbed(e.Tables); n > 0 {
		remarks = append(remarks, text.N(n, "Something else was at work: the rounds of one figure, marked †, differ widely.",
			"Something else was at work: the rounds of %d figures, marked †, differ widely."))
	}
	for _, r := range e.Remarks {
		remarks = append(remarks, ui.Sentence(r))
	}
	return remarks
}

// newMethod says how it was measured, once it is opened: its sentences are many.
func newMethod(method []report.Method) fyne.CanvasObject {
	box := container.NewVBox()
	var open *widget.Button
	open = widget.NewButtonWithIcon(text.T("How it was measured"), theme.MenuDropDownIcon(), func() {
		if len(box.Objects) > 1 {
			open.SetIcon(theme.MenuDropDownIcon())
			box.Objects = box.Objects[:1]
			box.Refresh()
			return
		}
		open.SetIcon(theme.MenuDropUpIcon())
		var lines []fyne.CanvasObject
		for _, m := range method {
			name := ui.Caption(ui.Clean(m.Name))
			name.TextStyle.Bold = true
			words := ui.Caption(ui.Clean(m.Text))
			words.Wrapping = fyne.TextWrapWord
			lines = append(lines, name, words)
		}
		box.Add(container.New(layout.NewFormLayout(), lines...))
		box.Refresh()
	})
	open.Importance, open.Alignment = widget.LowImportance, widget.ButtonAlignLeading
	box.Add(open)
	return box
}

// newBars is a chart of an experiment.
func newBars(c report.Chart) fyne.CanvasObject {
	title := ui.Clean(c.Title)
	if c.Unit != "" {
		title += ", " + ui.Clean(c.Unit)
	}
	groups := groupsOf(c)
	if c.Log {
		title = text.T("%s, logarithmic scale", title)
		logarithmic(groups)
	}
	bars := chart.NewBars()
	bars.SetData(groups...)
	box := container.NewVBox(ui.Subheading(title), container.NewPadded(bars))
	for _, s := range c.Series {
		if s.Source != "" {
			note := ui.Caption(text.T("%s: published by %s", ui.Clean(s.Name), ui.Clean(s.Source)))
			note.Wrapping = fyne.TextWrapWord
			box.Add(note)
		}
	}
	return box
}

// logarithmic makes the lengths of bars logarithms, from the power of ten below the smallest one. Their words stay.
func logarithmic(groups []chart.Group) {
	least := math.Inf(1)
	for _, g := range groups {
		for _, b := range g.Bars {
			if b.Value > 0 {
				least = min(least, b.Value)
			}
		}
	}
	from := math.Floor(math.Log10(least)) - 0.1 // so that a bar of exactly that power has some length
	for _, g := range groups {
		for i, b := range g.Bars {
			if b.Value > 0 {
				g.Bars[i].Value = math.Log10(b.Value) - from
			}
		}
	}
}

// groupsOf arranges a chart so that what is compared stands together. With one series of ours it is one group, in which each
// bar has the published ones below it; many labels in few series are one group a series; else a group for each label.
func groupsOf(c report.Chart) []chart.Group {
	own, published := 0, 0
	for _, s := range c.Series {
		if s.Reference {
			published++
		} else {
			own++
		}
	}
	bar := func(label string, s report.Series, i int) (chart.Bar, bool) {
		if i >= len(s.Values) || s.Values[i] == 0 {
			return chart.Bar{}, false
		}
		words := picture.Figure(s.Values[i])
		if c.Line == 1 {
			words = picture.Ratio(s.Values[i])
		}
		return chart.Bar{Label: ui.Clean(label), Value: s.Values[i], Text: words, Published: s.Reference}, true
	}
	var groups []chart.Group
	switch {
	case own == 1:
		g := chart.Group{Unit: c.Unit}
		for i, label := range c.Groups {
			for _, s := range c.Series {
				name := label
				if s.Reference {
					name = label + ", " + s.Name
				}
				if b, ok := bar(name, s, i); ok {
					g.Bars = append(g.Bars, b)
				}
			}
		}
		groups = append(groups, g)
	case published == 0 && len(c.Groups) > 2*len(c.Series):
		for _, s := range c.Series {
			g := chart.Group{Title: ui.Clean(s.Name), Unit: c.Unit}
			for i, label := range c.Groups {
				if b, ok := bar(label, s, i); ok {
					g.Bars = append(g.Bars, b)
				}
			}
			groups = append(groups, g)
		}
	default:
		for i, label := range c.Groups {
			g := chart.Group{Title: ui.Clean(label), Unit: c.Unit}
			for _, s := range c.Series {
				if b, ok := bar(s.Name, s, i); ok {
					g.Bars = append(g.Bars, b)
				}
			}
			groups = append(groups, g)
		}
	}
	for i := range groups {
		groups[i].Unit = cmp.Or(ui.Clean(c.Unit), " ")
	}
	return groups
}
