package transfers

import (
	"context"
	"slices"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/window/text"
	"coffer/app/window/ui"
	"coffer/transfer/report"
)

// history is the page of the records: a table, one of them in detail, or several side by side.
type history struct {
	screen  *Screen
	records []*report.Record // all
	shown   []*report.Record // those in the table
	damaged []string
	failure error
	loads   int // how many loads were begun: only the last one counts
	marked  map[string]bool
	order   order

	object                   *fyne.Container
	table                    fyne.CanvasObject
	body                     *fyne.Container // of the table
	page                     *fyne.Container // a record or a comparison
	tools                    *fyne.Container
	filter                   *filterEntry
	compare, export, delete_ *widget.Button
	heads                    []*widget.Button
	list                     *list
	count                    *widget.Label
	broken                   *widget.Label
	brokenBox                *fyne.Container
	empty                    *widget.Label
}

// widths are those of the columns of the table: mark, what, size, time, average, highest, lowest, outcome.
var widths = columns{36, 0, 78, 92, 96, 96, 96, 78}

func newHistory(s *Screen) *history {
	h := &history{screen: s, marked: map[string]bool{}, order: order{byDate, true}}
	h.filter = newFilterEntry(func(string) { h.arrange() })
	h.compare = button(text.T("Compare"), theme.ViewRestoreIcon(), func() { h.showComparison() })
	h.export = button(text.T("Export…"), theme.DocumentSaveIcon(), func() { s.exportRecords(h.chosen()) })
	h.delete_ = button(text.T("Delete…"), theme.DeleteIcon(), func() { h.deleteRecords(h.chosen()) })
	h.count = ui.Caption("")
	h.tools = container.NewBorder(nil, nil, nil, container.NewHBox(h.count, h.compare, h.export, h.delete_), h.filter)
	h.list = newList(func() int { return len(h.shown) }, func() fyne.CanvasObject { return newRecordRow(h.mark) }, func(i int, o fyne.CanvasObject) {
		if i < len(h.shown) {
			o.(*recordRow).show(h.shown[i], h.marked[h.shown[i].ID])
		}
	})
	h.list.HideSeparators = false
	h.list.opens = func(i int) { h.showRecord(h.shown[i]) }
	h.list.marks = func(i int) { h.mark(h.shown[i].ID, !h.marked[h.shown[i].ID]) }
	h.list.other = func(key fyne.KeyName, i int) {
		if key == fyne.KeyDelete && i < len(h.shown) {
			h.deleteRecords(h.shown[i : i+1])
		}
	}
	h.broken = ui.Paragraph("")
	h.broken.Importance = widget.WarningImportance
	h.brokenBox = container.NewBorder(nil, nil, nil, container.NewCenter(button(text.T("Delete…"), theme.DeleteIcon(), h.deleteDamaged)), h.broken)
	h.brokenBox.Hide()
	h.empty = ui.Paragraph("")
	h.empty.Alignment = fyne.TextAlignCenter
	h.body = container.NewBorder(container.NewVBox(h.tools, h.newHeads()), h.brokenBox, nil, nil, container.NewStack(h.list, container.NewVBox(h.empty)))
	h.table = outer(ui.Card(h.body))
	h.page = container.NewStack()
	h.page.Hide()
	h.object = container.NewStack(h.table, h.page)
	h.arrange()
	return h
}

// newHeads are the heads of the columns, which sort.
func (h *history) newHeads() fyne.CanvasObject {
	names := []string{text.T("Date"), text.T("Name"), text.T("Size"), text.T("Time"), text.T("Average"), text.T("Highest"), text.T("Lowest"), text.T("Result")}
	for i, words := range names {
		by := column(i)
		b := widget.NewButton(words, func() {
			if h.order.by == by {
				h.order.down = !h.order.down
			} else {
				h.order = order{by, by != byName && by != byOutcome}
			}
			h.arrange()
		})
		b.Importance, b.IconPlacement = widget.LowImportance, widget.ButtonIconTrailingText
		b.Alignment = widget.ButtonAlignTrailing
		if by == byDate || by == byName || by == byOutcome {
			b.Alignment = widget.ButtonAlignLeading
		}
		h.heads = append(h.heads, b)
	}
	cells := []fyne.CanvasObject{widget.NewLabel(""), container.NewHBox(h.heads[byDate], h.heads[byName])}
	for _, b := range h.heads[bySize:] {
		cells = append(cells, b)
	}
	return container.New(widths, cells...)
}

// load reads the records again.
func (h *history) load() {
	h.loads++
	this := h.loads
	var records []*report.Record
	var damaged []string
	h.screen.deps.Work(func(context.Context) (err error) {
		records, damaged, err = report.NewStore(h.screen.folder()).List()
		return err
	}, func(err error) {
		if this != h.loads {
			return
		}
		h.records, h.damaged, h.failure = records, damaged, err
		for id := range h.marked {
			if !slices.ContainsFunc(records, func(r *report.Record) bool { return r.ID == id }) {
				delete(h.marked, id)
			}
		}
		h.arrange()
	})
}

// arrange shows the records in the order and by the filter that were chosen.
func (h *history) arrange() {
	h.shown = arrange(h.records, h.filter.Text, h.order)
	h.list.Refresh()
	for i, b := range h.heads {
		var icon fyne.Resource
		if h.order.by == column(i) {
			if icon = theme.MoveUpIcon(); h.order.down {
				icon = theme.MoveDownIcon()
			}
		}
		if b.Icon != icon {
			b.SetIcon(icon)
		}
	}
	words := ""
	switch {
	case h.failure != nil:
		words = text.T("The history cannot be read. %s", ui.Sentence(h.failure.Error()))
	case len(h.records) == 0:
		words = text.T("No transfers yet. Every copy leaves a record here: how much, how long, how fast.")
	case len(h.shown) == 0:
		words = text.T("No transfer fits the words above.")
	}
	ui.SetText(h.empty, words)
	ui.Show(h.empty, words != "")
	if len(h.damaged) > 0 {
		ui.SetText(h.broken, text.N(int64(len(h.damaged)), "1 record is damaged and cannot be shown: ", "%d records are damaged and cannot be shown: ")+strings.Join(h.damaged, ", "))
	}
	h.marksChanged()
	if toggle(h.brokenBox, len(h.damaged) > 0) {
		h.body.Refresh()
	}
}

// mark takes a record among those to be compared, exported or deleted, or out of them.
func (h *history) mark(id string, yes bool) {
	if yes {
		h.marked[id] = true
	} else {
		delete(h.marked, id)
	}
	h.list.Refresh()
	h.marksChanged()
}

func (h *history) marksChanged() {
	n := len(h.chosen())
	ui.Enable(h.compare, n > 1)
	ui.Enable(h.export, n > 0)
	ui.Enable(h.delete_, n > 0)
	words := text.T("Tick what to compare")
	if n > 0 {
		words = text.N(int64(n), "1 ticked", "%d ticked")
	}
	if h.count.Text != words {
		h.count.SetText(words)
		h.tools.Refresh()
	}
}

// chosen are the records that are marked, the oldest first: it is what others are compared with.
func (h *history) chosen() []*report.Record {
	return arrange(slices.DeleteFunc(slices.Clone(h.records), func(r *report.Record) bool { return !h.marked[r.ID] }), "", order{})
}

// deleteRecords deletes records after asking.
func (h *history) deleteRecords(records []*report.Record) {
	if len(records) == 0 {
		return
	}
	var ids []string
	for _, r := range records {
		ids = append(ids, r.ID)
	}
	question := text.N(int64(len(records)), "The record is deleted for good. The files that were copied stay.", "%d records are deleted for good. The files that were copied stay.")
	if len(records) == 1 {
		question = ui.Clean(name(records[0])) + ", " + when(records[0].Start) + "\n\n" + question
	}
	ui.Confirm(h.screen.deps.Shell.Window(), text.T("Delete from the history?"), question, text.T("Delete"), true, func() { h.deleteNow(ids) })
}

// deleteDamaged deletes what cannot be read.
func (h *history) deleteDamaged() {
	ids := slices.Clone(h.damaged)
	ui.Confirm(h.screen.deps.Shell.Window(), text.T("Delete damaged records?"), text.T("They cannot be read any more: %s", strings.Join(ids, ", ")), text.T("Delete"), true, func() { h.deleteNow(ids) })
}

func (h *history) deleteNow(ids []string) {
	h.screen.deps.Work(func(context.Context) error {
		store := report.NewStore(h.screen.folder())
		for _, id := range ids {
			if err := store.Delete(id); err != nil {
				return err
			}
		}
		return nil
	}, func(err error) {
		h.back()
		h.load()
		ui.ShowError(h.screen.deps.Shell.Window(), err)
	})
}

// open shows a page instead of the table, and gives its way back the keys.
func (h *history) open(page fyne.CanvasObject, back fyne.Focusable) {
	h.page.Objects = []fyne.CanvasObject{page}
	h.page.Refresh()
	ui.Show(h.table, false)
	ui.Show(h.page, true)
	h.screen.deps.Shell.Window().Canvas().Focus(back)
}

// back shows the table.
func (h *history) back() {
	if !h.page.Visible() {
		return
	}
	h.page.Objects = nil
	ui.Show(h.page, false)
	ui.Show(h.table, true)
	h.screen.deps.Shell.Window().Canvas().Focus(h.list)
}

// recordRow is a record in the table.
type recordRow struct {
	widget.BaseWidget
	id       string
	marks    func(id string, yes bool)
	check    *widget.Check
	what     *widget.Label
	line     *widget.Label
	cells    [5]*widget.Label
	outcome  *widget.Label
	updating bool
}

func newRecordRow(marks func(string, bool)) *recordRow {
	r := &recordRow{marks: marks, what: ui.Subheading(""), line: ui.Caption(""), outcome: widget.NewLabel("")}
	r.check = widget.NewCheck("", func(yes bool) {
		if !r.updating {
			r.marks(r.id, yes)
		}
	})
	r.what.Truncation, r.line.Truncation, r.outcome.Truncation = fyne.TextTruncateEllipsis, fyne.TextTruncateEllipsis, fyne.TextTruncateEllipsis
	for i := range r.cells {
		r.cells[i] = widget.NewLabelWithStyle("", fyne.TextAlignTrailing, fyne.TextStyle{})
	}
	r.ExtendBaseWidget(r)
	return r
}

// CreateRenderer implements fyne.Widget.
func (r *recordRow) CreateRenderer() fyne.WidgetRenderer {
	cells := []fyne.CanvasObject{r.check, container.New(twoLines{}, r.what, r.line)}
	for _, c := range r.cells {
		cells = append(cells, c)
	}
	return widget.NewSimpleRenderer(container.New(widths, append(cells, r.outcome)...))
}

func (r *recordRow) show(record *report.Record, marked bool) {
	r.id = record.ID
	r.updating = true
	if r.check.Checked != marked {
		r.check.SetChecked(marked)
	}
	r.updating = false
	ui.SetText(r.what, ui.Clean(name(record)))
	ui.SetText(r.line, joined(when(record.Start), way(record)))
	cells := []string{text.Size(record.Bytes), "–", "–", "–", "–"} // nothing copied: no rate
	if record.Bytes+record.FailedBytes > 0 {
		cells = []string{cells[0], clockSeconds(seconds(record)), text.Rate(record.Rates.Average), text.Rate(record.Rates.Maximum), text.Rate(record.Rates.Minimum)}
	}
	for i, words := range cells {
		ui.SetText(r.cells[i], words)
	}
	words, importance := outcomeText(record.Outcome)
	if r.outcome.Text != words || r.outcome.Importance != importance {
		r.outcome.Importance = importance
		r.outcome.SetText(words)
	}
}

// filterEntry is the line to search in; Escape empties it.
type filterEntry struct{ widget.Entry }

func newFilterEntry(changed func(string)) *filterEntry {
	e := &filterEntry{}
	e.PlaceHolder, e.OnChanged = text.T("Search the history"), changed
	e.Icon = theme.SearchIcon()
	e.ExtendBaseWidget(e)
	return e
}

// TypedKey implements fyne.Focusable.
func (e *filterEntry) TypedKey(key *fyne.KeyEvent) {
	if key.Name == fyne.KeyEscape {
		e.SetText("")
		return
	}
	e.Entry.TypedKey(key)
}
