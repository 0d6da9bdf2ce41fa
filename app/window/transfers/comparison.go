package transfers

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/client"
	"coffer/app/protocol"
	"coffer/app/window/text"
	"coffer/app/window/ui"
	"coffer/transfer/report"
)

// showComparison shows the marked records side by side.
func (h *history) showComparison() {
	records := h.chosen()
	c, err := compared(records)
	if err != nil {
		ui.ShowError(h.screen.deps.Shell.Window(), err)
		return
	}
	back := newBackButton(text.T("History"), h.back)
	export := button(text.T("Export…"), theme.DocumentSaveIcon(), func() { h.screen.exportComparison(c) })
	export.Importance = widget.HighImportance
	head := container.NewBorder(nil, nil, back, export, subtitle(text.N(int64(len(c.Compared)), "1 transfer", "%d transfers compared")))
	parts := container.NewVBox(section(text.T("Side by side"), comparisonTable(c, records)))
	if len(c.Remarks) > 0 {
		remarks := container.NewVBox()
		for _, r := range c.Remarks {
			words := ui.Paragraph("• " + ui.Sentence(named(r, records)))
			words.SizeName = theme.SizeNameCaptionText
			remarks.Add(words)
		}
		parts.Add(section(text.T("Mind this"), remarks))
	}
	charts := container.NewGridWithColumns(2)
	top, span := 0.0, 0.0
	for _, r := range records {
		top, span = max(top, r.Rates.Maximum), max(span, seconds(r))
	}
	for _, r := range records {
		one := ratesOf(r, false)
		one.SetSpan(0, span)
		one.SetTop(top)
		title, line := ui.Subheading(ui.Clean(name(r))), ui.Caption(joined(when(r.Start), text.Rate(r.Rates.Average)))
		title.Truncation, line.Truncation = fyne.TextTruncateEllipsis, fyne.TextTruncateEllipsis
		charts.Add(ui.Card(container.NewVBox(container.New(twoLines{}, title, line), tall(170, one))))
	}
	parts.Add(charts)
	h.open(page(head, parts), back)
}

// compared is report.Compare with the words for what cannot be compared.
func compared(records []*report.Record) (*report.Comparison, error) {
	c, err := report.Compare(records)
	if errors.Is(err, report.ErrCompare) {
		return nil, &client.Error{Problem: protocol.Problem{Sentence: text.T("These transfers cannot be compared: it takes two that copied something and are not rounds of the same."),
			Hint: text.T("Transfers with one name between the same places count as rounds of one thing. Tick one of another kind as well."), Code: protocol.Usage}}
	}
	return c, err
}

// named is a remark with names of records instead of their ids.
func named(remark string, records []*report.Record) string {
	for _, r := range records {
		if r.Label == "" {
			remark = strings.ReplaceAll(remark, r.ID, name(r)+" ("+when(r.Start)+")")
		}
	}
	return remark
}

// verdict is the outcome of a comparison, in words.
func verdict(c report.Compared) (words string, importance widget.Importance) {
	switch c.Verdict {
	case report.Baseline:
		return text.T("compared with"), widget.LowImportance
	case report.Faster:
		return text.T("faster"), widget.SuccessImportance
	case report.Slower:
		return text.T("slower"), widget.WarningImportance
	case report.NoDifference:
		return text.T("no clear difference"), widget.MediumImportance
	}
	return text.T("not certain: one run each"), widget.MediumImportance
}

// ratio is how many times as fast as the first one.
func ratio(c report.Compared) string {
	if c.Verdict == report.Baseline {
		return "1 ×"
	}
	return text.T("%.2f ×", c.Ratio)
}

// comparisonTable has a line for everything compared.
func comparisonTable(c *report.Comparison, records []*report.Record) fyne.CanvasObject {
	layout := columns{0, 88, 90, 90, 90, 70, 160}
	rows := container.NewVBox()
	var heads []fyne.CanvasObject
	for i, words := range []string{text.T("Transfer"), text.T("Time"), text.T("Average"), text.T("Highest"), text.T("Lowest"), text.T("Speed"), text.T("Verdict")} {
		l := ui.Caption(words)
		if i > 0 && i < 6 {
			l.Alignment = fyne.TextAlignTrailing
		}
		heads = append(heads, l)
	}
	rows.Add(container.New(layout, heads...))
	for _, one := range c.Compared {
		rows.Add(widget.NewSeparator())
		first := records[slices.IndexFunc(records, func(r *report.Record) bool { return r.ID == one.Records[0] })]
		what, line := ui.Subheading(ui.Clean(name(first))), ui.Caption(joined(when(first.Start), way(first)))
		if n := int64(len(one.Records)); n > 1 {
			line.SetText(joined(text.T("%d rounds, medians", n), way(first)))
		}
		what.Truncation, line.Truncation = fyne.TextTruncateEllipsis, fyne.TextTruncateEllipsis
		cells := []fyne.CanvasObject{container.New(twoLines{}, what, line)}
		for _, words := range []string{clockSeconds(one.Seconds.Median), text.Rate(one.Average.Median), text.Rate(one.Maximum.Median), text.Rate(one.Minimum.Median), ratio(one)} {
			cells = append(cells, widget.NewLabelWithStyle(words, fyne.TextAlignTrailing, fyne.TextStyle{}))
		}
		words, importance := verdict(one)
		v := widget.NewLabel(words)
		v.Importance, v.Truncation = importance, fyne.TextTruncateEllipsis
		rows.Add(container.New(layout, append(cells, v)...))
	}
	return rows
}

func sortedKeys(m map[string]int64) []string { return slices.Sorted(maps.Keys(m)) }
