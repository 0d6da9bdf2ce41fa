package transfers

import (
	"fmt"
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
)

// showRecord shows one record in detail.
func (h *history) showRecord(r *report.Record) {
	back := newBackButton(text.T("History"), h.back)
	export := button(text.T("Export…"), theme.DocumentSaveIcon(), func() { h.screen.exportRecords([]*report.Record{r}) })
	export.Importance = widget.HighImportance
	remove := button(text.T("Delete…"), theme.DeleteIcon(), func() { h.deleteRecords([]*report.Record{r}) })
	head := container.NewBorder(nil, nil, back, container.NewHBox(export, remove), subtitle(ui.Clean(name(r))))

	line := widget.NewLabelWithStyle(r.Line(), fyne.TextAlignLeading, fyne.TextStyle{Monospace: true})
	line.Wrapping, line.Selectable = fyne.TextWrapWord, true
	copyLine := widget.NewButtonWithIcon("", theme.ContentCopyIcon(), func() { fyne.CurrentApp().Clipboard().SetContent(r.Line()) })
	copyLine.Importance = widget.LowImportance

	parts := container.NewVBox(ui.Card(container.NewBorder(nil, nil, nil, container.NewCenter(copyLine), line)),
		section(text.T("Rates over time"), tall(230, ratesOf(r, true)), ratesNote(r)))
	if len(r.Phases) > 0 {
		parts.Add(section(text.T("Where the time went"), newPhases(r.Phases)))
	}
	parts.Add(container.NewGridWithColumns(2, section(text.T("Transfer"), facts(transferFacts(r))), section(text.T("Computer"), facts(machineFacts(r)))))
	h.open(page(head, parts), back)
}

// page is what is shown instead of the table: a line of buttons, and parts to scroll through.
func page(head, parts fyne.CanvasObject) fyne.CanvasObject {
	return outer(container.NewBorder(head, nil, nil, nil, container.NewVScroll(container.New(layout.NewCustomPaddedLayout(theme.Padding(), 0, 0, 2*theme.Padding()), parts))))
}

// subtitle is a title in the line of buttons.
func subtitle(words string) *widget.Label {
	l := ui.Subheading(words)
	l.SizeName, l.Truncation = theme.SizeNameSubHeadingText, fyne.TextTruncateEllipsis
	return l
}

// section is a card with a title.
func section(title string, objects ...fyne.CanvasObject) fyne.CanvasObject {
	return ui.Card(container.NewVBox(append([]fyne.CanvasObject{ui.Subheading(title)}, objects...)...))
}

// ratesOf is the chart of a record; with marks, average, highest and lowest window are shown in it.
func ratesOf(r *report.Record, marks bool) *chart.Rates {
	c := chart.NewRates()
	c.SetEmpty(text.T("Too short for a chart."))
	c.SetData(chart.Windows("", r.Rates.Series, r.Rates.WindowSeconds))
	if all := seconds(r); len(r.Rates.Series) > 0 && all > 0 {
		c.SetSpan(0, all)
	}
	if marks && len(r.Rates.Series) > 0 {
		c.SetMarks(chart.Mark{Name: text.T("highest"), Value: r.Rates.Maximum}, chart.Mark{Name: text.T("average"), Value: r.Rates.Average}, chart.Mark{Name: text.T("lowest"), Value: r.Rates.Minimum})
	}
	return c
}

// ratesNote says how to read the chart.
func ratesNote(r *report.Record) fyne.CanvasObject {
	if r.Rates.SingleWindow {
		return ui.Caption(text.T("One average only: the copy was too short for more."))
	}
	return ui.Caption(text.T("Each point is a window of %s. Highest and lowest are whole windows.", windowText(r.Rates.WindowSeconds)))
}

// windowText is the length of a window.
func windowText(s float64) string {
	if s == float64(int64(s)) {
		return text.T("%d s", int64(s))
	}
	return clockSeconds(s)
}

// fact is something about a transfer, with its name.
type fact struct{ name, value string }

// facts are shown below each other.
func facts(all []fact) fyne.CanvasObject {
	box := container.New(layout.NewFormLayout())
	for _, f := range all {
		if f.value == "" {
			continue
		}
		caption := ui.Caption(f.name)
		value := ui.Paragraph(ui.Clean(f.value))
		value.SizeName = theme.SizeNameCaptionText
		box.Add(caption)
		box.Add(value)
	}
	return box
}

func transferFacts(r *report.Record) []fact {
	outcome, _ := outcomeText(r.Outcome)
	all := []fact{
		{text.T("Result"), outcome},
		{text.T("Begun"), r.Start.Local().Format("2006-01-02 15:04:05")},
		{text.T("From"), endpoint(r.Source)},
		{text.T("To"), endpoint(r.Destination)},
		{text.T("Way"), pathText(r.Path)},
		{text.T("Files"), joined(files(r.Files), text.N(r.Directories, "1 folder", "%d folders"), text.Size(r.Bytes))},
		{text.T("Time"), stages(r)},
		{text.T("Left out"), counts(r.Skipped)},
		{text.T("Failed"), counts(r.Failed)},
	}
	if r.Verified > 0 {
		all = append(all, fact{text.T("Compared"), text.N(r.Verified, "1 copy is the same as its original", "%d copies are the same as their originals")})
	}
	if r.Moved > 0 {
		all = append(all, fact{text.T("Moved"), files(r.Moved)})
	}
	return all
}

// stages are the seconds of a transfer.
func stages(r *report.Record) string {
	part := func(words string, s float64) string {
		if s <= 0 {
			return ""
		}
		return words + " " + clockSeconds(s)
	}
	return joined(part(text.T("in total"), r.Seconds.Total), part(text.T("looking"), r.Seconds.Scan), part(text.T("copying"), r.Seconds.Copy),
		part(text.T("writing the rest"), r.Seconds.Sync), part(text.T("comparing"), r.Seconds.Verify), part(text.T("and paused for"), r.PausedSeconds))
}

func counts(by map[string]int64) string {
	var parts []string
	for _, reason := range sortedKeys(by) {
		parts = append(parts, text.T("%d (%s)", by[reason], Reason(report.Problem{Reason: reason, Detail: reason})))
	}
	return strings.Join(parts, ", ")
}

// endpoint is one side of a transfer in detail.
func endpoint(e report.Endpoint) string {
	parts := []string{text.T("this computer"), e.FileSystem}
	if e.Kind == "container" {
		parts = []string{text.T("container"), e.Format, e.Cipher, e.Engine, e.FileSystem}
	}
	if e.Device != "" {
		parts = append(parts, text.T("disk %s", e.Device))
	}
	if e.WriteCache != "" {
		parts = append(parts, text.T("disk cache %s", e.WriteCache))
	}
	return joined(parts...)
}

func pathText(p string) string {
	switch p {
	case "direct":
		return text.T("directly into the container")
	case "mount":
		return text.T("through the drive")
	}
	return p
}

func machineFacts(r *report.Record) []fact {
	m := r.Machine
	cores := ""
	if m.Cores > 0 {
		cores = text.N(int64(m.Cores), "1 core", "%d cores")
	}
	clock := ""
	if m.ClockMHzStart > 0 {
		clock = text.T("%.0f MHz at the start, %.0f MHz at the end", m.ClockMHzStart, m.ClockMHzEnd)
	}
	system := m.OSName
	if system == "" {
		system = m.OS
	}
	busy := ""
	if r.CPU.Total.UserSeconds+r.CPU.Total.SystemSeconds > 0 {
		busy = text.T("%s of a core, %s of it", fmt.Sprintf("%.0f %%", r.CPU.Total.Percent), clockSeconds(r.CPU.Total.UserSeconds+r.CPU.Total.SystemSeconds))
	}
	return []fact{
		{text.T("Processor"), joined(m.CPUModel, cores)},
		{text.T("Clock"), joined(clock, m.GovernorStart)},
		{text.T("System"), joined(system, m.Kernel, m.Arch)},
		{text.T("Program"), r.Program},
		{text.T("Busy"), busy},
		{text.T("Source cache"), r.Cache},
		{text.T("Record"), r.ID},
	}
}
