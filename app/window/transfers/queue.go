package transfers

import (
	"context"
	"errors"
	"maps"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/protocol"
	"coffer/app/window/chart"
	"coffer/app/window/text"
	"coffer/app/window/ui"
	"coffer/transfer/report"
)

// queue is the page of the jobs: the total, a list, and the one chosen.
type queue struct {
	screen *Screen
	jobs   []Job
	chosen Key
	picked bool // the person has chosen a job; else the first one is shown
	busy   bool // the list is being refreshed: what is selected is not the person's choice

	object  *fyne.Container
	empty   fyne.CanvasObject
	full    *fyne.Container
	total   fyne.CanvasObject
	head    *widget.Label
	amount  *widget.Label
	bar     *bar
	trouble *widget.Label
	list    *widget.List
	detail  *detail
}

func newQueue(s *Screen) *queue {
	q := &queue{screen: s}
	q.head, q.amount, q.bar = ui.Subheading(""), widget.NewLabel(""), newBar()
	q.amount.Alignment = fyne.TextAlignTrailing
	q.total = ui.Card(container.NewBorder(nil, q.bar, q.head, nil, q.amount))
	q.trouble = ui.Paragraph("")
	q.trouble.Importance = widget.WarningImportance
	q.trouble.Hide()
	q.list = widget.NewList(func() int { return len(q.jobs) }, func() fyne.CanvasObject { return newJobRow() }, func(i int, o fyne.CanvasObject) {
		if i < len(q.jobs) {
			o.(*jobRow).show(q.jobs[i])
		}
	})
	q.list.OnSelected = func(i int) {
		if i < len(q.jobs) && !q.busy {
			q.chosen, q.picked = q.jobs[i].Key(), true
			q.detail.show(q.jobs[i])
		}
	}
	q.detail = newDetail(q)
	q.list.HideSeparators = true
	q.full = outer(container.NewBorder(container.NewVBox(q.total, q.trouble), nil, nil, nil, container.New(beside{}, q.list, q.detail.object)))
	q.empty = q.newEmpty()
	q.object = container.NewStack(q.empty, q.full)
	q.full.Hide()
	return q
}

// newEmpty is what stands there without jobs.
func (q *queue) newEmpty() fyne.CanvasObject {
	icon := widget.NewIcon(theme.NewDisabledResource(theme.DownloadIcon()))
	words := ui.Caption(text.T("Drop files on a container, or export some in Files. What is copied shows here, and how fast."))
	words.Alignment, words.Wrapping = fyne.TextAlignCenter, fyne.TextWrapWord
	head := ui.Subheading(text.T("Nothing is being copied"))
	head.Alignment = fyne.TextAlignCenter
	add := button(text.T("Go to Files"), theme.FolderIcon(), func() { q.screen.deps.Shell.Show(ui.PageFiles, "") })
	add.Importance = widget.HighImportance
	history := button(text.T("Show the history"), theme.HistoryIcon(), func() { q.screen.turn(1) })
	return container.NewCenter(container.NewVBox(container.NewCenter(container.NewGridWrap(fyne.NewSquareSize(56), icon)), head, container.NewStack(ui.Space(520, 0), words),
		container.NewCenter(container.NewHBox(add, history))))
}

// refresh shows the jobs as the watcher knows them.
func (q *queue) refresh() {
	q.jobs = q.screen.watcher.Jobs()
	summary := q.screen.watcher.Summary()
	ui.Show(q.empty, len(q.jobs) == 0)
	moved := toggle(q.full, len(q.jobs) > 0)
	moved = toggle(q.total, summary.Active() > 0) || moved
	if summary.Active() > 0 {
		ui.SetText(q.head, summaryText(summary))
		amount, rate := "", ""
		if f := summary.Fraction(); f >= 0 {
			amount = text.T("%d %%", int(100*f))
		}
		if summary.Running > 0 {
			rate = text.Rate(summary.Rate)
		}
		ui.SetText(q.amount, joined(amount, rate))
		q.bar.set(summary.Fraction(), summary.Running == 0)
		moved = toggle(q.bar, summary.Total > 0) || moved
	}
	if q.sayTrouble() || moved {
		q.full.Refresh()
	}
	at := slices.IndexFunc(q.jobs, func(j Job) bool { return j.Key() == q.chosen })
	if q.picked = q.picked && at >= 0; !q.picked && len(q.jobs) > 0 { // what runs, else the newest
		at, q.chosen = 0, q.jobs[0].Key()
	}
	q.list.Refresh()
	if at >= 0 {
		q.busy = true
		q.list.Select(at)
		q.busy = false
		q.detail.show(q.jobs[at])
	}
}

// sayTrouble says of which containers the jobs are not known, and whether that needs another space now.
func (q *queue) sayTrouble() (moved bool) {
	words, trouble := "", q.screen.watcher.Trouble()
	for _, image := range slices.Sorted(maps.Keys(trouble)) {
		err := trouble[image]
		if words != "" {
			words += "\n"
		}
		if errors.Is(err, context.DeadlineExceeded) {
			words += text.T("%s does not answer at the moment; its copies are not shown.", ui.Clean(image))
		} else {
			words += ui.Clean(image) + ": " + ui.Sentence(err.Error())
		}
	}
	moved = q.trouble.Text != words
	ui.SetText(q.trouble, words)
	return toggle(q.trouble, words != "") || moved
}

// do does something to a job, off Fyne's goroutine, and looks what has become of it.
func (q *queue) do(what func(ctx context.Context) error) {
	s := q.screen
	s.deps.Work(func(ctx context.Context) error {
		err := what(ctx)
		s.watcher.lookAtAll(ctx)
		return err
	}, func(err error) {
		s.changed()
		ui.ShowError(s.deps.Shell.Window(), err)
	})
}

func (q *queue) pause(j Job) {
	q.do(func(ctx context.Context) error {
		_, err := q.screen.deps.Backend.Jobs.PauseJob(ctx, j.Container, j.ID)
		return err
	})
}

func (q *queue) resume(j Job) {
	q.do(func(ctx context.Context) error {
		_, err := q.screen.deps.Backend.Jobs.ResumeJob(ctx, j.Container, j.ID)
		return err
	})
}

// cancel stops a job after asking: what is half done is lost.
func (q *queue) cancel(j Job) {
	do := func() {
		q.do(func(ctx context.Context) error {
			_, err := q.screen.deps.Backend.Jobs.CancelJob(ctx, j.Container, j.ID)
			return err
		})
	}
	if j.State == protocol.JobWaiting { // nothing is lost
		do()
		return
	}
	ui.Confirm(q.screen.deps.Shell.Window(), text.T("Stop copying %s?", Title(j.Copy)), text.T("Files that are copied already stay. The others are not copied; you can try again later."),
		text.T("Stop copying"), true, do)
}

// retry puts what did not arrive at the end of the queue. An interrupted job needs its container unlocked again first.
func (q *queue) retry(j Job) {
	again := func(string) {
		q.do(func(ctx context.Context) error {
			started, err := q.screen.deps.Backend.Jobs.StartCopy(ctx, j.Container, Retry(j))
			if err == nil {
				q.screen.watcher.drop(j.Key()) // if it was interrupted: the new one takes its place
				key := Key{j.Container, started.ID, started.Queued.UnixNano()}
				q.screen.deps.Do(func() { q.chosen, q.picked = key, true })
			}
			return err
		})
	}
	if j.interrupted {
		d := q.screen.deps
		d.Work(func(ctx context.Context) error { // it may have ended so lately that the model still takes it for unlocked
			d.Model.Look(ctx)
			return nil
		}, func(error) { d.Shell.Unlock(j.Image, again) })
		return
	}
	again(j.Container)
}

// remove takes jobs that have ended off the list; their records stay.
func (q *queue) remove(jobs ...Job) {
	q.do(func(ctx context.Context) error {
		var failed error
		for _, j := range jobs {
			if j.interrupted {
				q.screen.watcher.drop(j.Key())
				continue
			}
			if err := q.screen.deps.Backend.Jobs.ForgetJob(ctx, j.Container, j.ID); err != nil && failed == nil {
				failed = err
			}
		}
		return failed
	})
}

// ended are the jobs that can be removed.
func (q *queue) ended() []Job {
	return slices.DeleteFunc(slices.Clone(q.jobs), func(j Job) bool { return !j.State.Ended() })
}

// jobRow is a job in the list.
type jobRow struct {
	widget.BaseWidget
	icon  *widget.Icon
	title *ui.Line
	line  *widget.Label
	bar   *bar
}

func newJobRow() *jobRow {
	r := &jobRow{icon: widget.NewIcon(nil), title: ui.NewBoldLine(""), line: ui.Caption(""), bar: newBar()}
	r.line.Truncation = fyne.TextTruncateEllipsis
	r.ExtendBaseWidget(r)
	return r
}

// CreateRenderer implements fyne.Widget.
func (r *jobRow) CreateRenderer() fyne.WidgetRenderer {
	side := container.NewCenter(container.NewGridWrap(fyne.NewSquareSize(22), r.icon))
	inner := theme.InnerPadding()
	under := container.New(layout.NewCustomPaddedLayout(0, inner, inner, inner), r.bar)
	return widget.NewSimpleRenderer(container.New(layout.NewCustomPaddedLayout(0, 0, inner, 0),
		container.NewBorder(nil, nil, side, nil, container.NewBorder(nil, under, nil, nil, container.New(twoLines{}, r.title, r.line)))))
}

func (r *jobRow) show(j Job) {
	if icon := stateIcon(j.State); r.icon.Resource == nil || r.icon.Resource.Name() != icon.Name() {
		r.icon.SetResource(icon)
	}
	r.title.SetText(Title(j.Copy))
	ui.SetText(r.line, rowText(j))
	r.bar.set(j.Fraction(), j.State != protocol.JobRunning)
	ui.Show(r.bar, underWay(j))
}

// underWay says whether a bar tells something about a job.
func underWay(j Job) bool {
	return !j.State.Ended() && j.State != protocol.JobWaiting && j.State != protocol.JobAsking && j.State != protocol.JobPlanning
}

// rowText is what the list says of a job.
func rowText(j Job) string {
	switch {
	case j.State == protocol.JobRunning:
		return joined(StateText(j), text.Rate(j.Current), left(j))
	case j.State == protocol.JobPaused, j.interrupted && j.TotalBytes > 0:
		return joined(StateText(j), text.T("%s of %s", text.Size(j.Bytes), text.Size(j.TotalBytes)))
	case j.State == protocol.JobDone:
		return joined(StateText(j), text.Size(j.Bytes), text.Rate(j.Average))
	case j.State == protocol.JobPartly:
		var failed, out string
		if n := int64(len(Failed(j))); n > 0 {
			failed = text.N(n, "1 file failed", "%d files failed")
		}
		if n := missing(j) - int64(len(Failed(j))); n > 0 {
			out = text.N(n, "1 was left out", "%d were left out")
		}
		return joined(failed, out)
	}
	return StateText(j)
}

// missing is how many files did not arrive, but for those that the person wanted left alone.
func missing(j Job) int64 {
	n := j.Dropped
	for _, p := range j.Problems {
		if p.Reason != report.ReasonPolicy && p.Reason != report.ReasonThere {
			n++
		}
	}
	return n
}

// detail is the job that is chosen.
type detail struct {
	queue *queue
	job   Job

	object                        fyne.CanvasObject
	body, figures                 *fyne.Container
	title, way                    *ui.Line
	state, amount, note           *widget.Label
	bar                           *bar
	now, average, highest, lowest figure
	chart                         *chart.Rates
	answer, pause, resume, stop   *widget.Button
	retry, export, remove         *widget.Button
	problems                      []report.Problem
	problemHead                   *widget.Label
	problemList                   *widget.List
	problemBox                    *fyne.Container
}

func newDetail(q *queue) *detail {
	d := &detail{queue: q, title: ui.NewBoldLine(""), way: ui.NewCaptionLine(""), state: widget.NewLabel(""), amount: widget.NewLabel(""), note: ui.Paragraph(""), bar: newBar(), chart: chart.NewRates()}
	d.title.SizeName = theme.SizeNameSubHeadingText
	d.amount.Alignment, d.amount.Truncation = fyne.TextAlignTrailing, fyne.TextTruncateEllipsis
	d.now, d.average, d.highest, d.lowest = newFigure(text.T("Now")), newFigure(text.T("Average")), newFigure(text.T("Highest")), newFigure(text.T("Lowest"))
	d.answer = button(text.T("Answer…"), theme.QuestionIcon(), func() { q.screen.askAbout(d.job) })
	d.answer.Importance = widget.HighImportance
	d.pause = button(text.T("Pause"), theme.MediaPauseIcon(), func() { q.pause(d.job) })
	d.resume = button(text.T("Go on"), theme.MediaPlayIcon(), func() { q.resume(d.job) })
	d.resume.Importance = widget.HighImportance
	d.stop = button(text.T("Stop…"), theme.MediaStopIcon(), func() { q.cancel(d.job) })
	d.retry = button("", theme.ViewRefreshIcon(), func() { q.retry(d.job) })
	d.export = button(text.T("Export…"), theme.DocumentSaveIcon(), func() { q.screen.exportRecords([]*report.Record{d.job.Record}) })
	d.remove = button(text.T("Remove from list"), theme.ContentClearIcon(), func() { q.remove(d.job) })
	d.chart.SetEmpty(text.T("The chart begins with the first second."))
	d.problemHead = ui.Subheading("")
	d.problemList = widget.NewList(func() int { return len(d.problems) },
		func() fyne.CanvasObject { return newProblemRow() },
		func(i int, o fyne.CanvasObject) {
			if i < len(d.problems) {
				o.(*problemRow).show(d.problems[i])
			}
		})
	d.problemList.HideSeparators = true
	d.problemBox = container.NewBorder(d.problemHead, nil, nil, nil, tall(90, d.problemList))
	d.figures = container.NewGridWithColumns(4, d.now.object, d.average.object, d.highest.object, d.lowest.object)
	buttons := container.NewHBox(d.answer, d.pause, d.resume, d.retry, d.export, d.stop, d.remove)
	top := container.NewVBox(container.New(twoLines{}, d.title, d.way), buttons,
		container.NewBorder(nil, nil, d.state, nil, d.amount), d.bar, d.note, d.figures)
	d.body = container.NewBorder(top, d.problemBox, nil, nil, d.chart)
	d.object = ui.Card(d.body)
	return d
}

// show shows a job.
func (d *detail) show(j Job) {
	d.job = j
	d.title.SetText(Title(j.Copy))
	var titles map[string]string
	if j.Copy.Peer != "" {
		titles = d.queue.screen.titles()
	}
	d.way.SetText(text.T("From %s to %s", j.From(titles), j.To()))
	ui.SetText(d.state, StateText(j))
	ui.SetText(d.amount, joined(amounts(j), left(j)))
	d.bar.set(j.Fraction(), j.State != protocol.JobRunning)
	moved := toggle(d.bar, underWay(j))
	note := d.noteOf(j)
	moved = toggle(d.note, note != "") || d.note.Text != note || moved
	ui.SetText(d.note, note)
	begun := j.Bytes > 0 || !j.State.Ended()
	moved = toggle(d.figures, begun) || moved
	moved = toggle(d.chart, begun) || moved
	d.showRates(j)
	moved = d.showButtons(j) || moved
	if len(d.problems) != len(j.Problems) || len(j.Problems) > 0 && d.problems[0] != j.Problems[0] {
		d.problems = j.Problems
		d.problemList.Refresh()
	}
	not := int64(len(j.Problems)) + j.Dropped
	switch j.State {
	case protocol.JobWaiting, protocol.JobPlanning, protocol.JobAsking:
		not = 0 // that is not decided yet
	}
	if not > 0 {
		ui.SetText(d.problemHead, text.N(not, "1 file was not copied", "%d files were not copied"))
	}
	if toggle(d.problemBox, not > 0) || moved {
		d.body.Refresh()
	}
}

// noteOf is what a person should know of a job.
func (d *detail) noteOf(j Job) string {
	d.note.Importance = widget.MediumImportance
	switch j.State {
	case protocol.JobFailed:
		d.note.Importance = widget.DangerImportance
		return Why(j)
	case protocol.JobAsking:
		return text.T("Nothing is written before you have answered.")
	case protocol.JobPaused:
		return text.T("The drive can be used meanwhile. Pauses do not count in the rates.")
	case protocol.JobCancelled:
		return text.T("What was copied until then stays. Of large files the part that has arrived stays too, in hidden files named .coffer-part-…, so that “Try again” can go on from there; delete them if you do not want that.")
	}
	if len(j.Notes) > 0 {
		return ui.Sentence(j.Notes[0])
	}
	return ""
}

// showRates shows the figures and the chart.
func (d *detail) showRates(j Job) {
	windows, seconds := j.Windows, j.WindowSeconds
	average, highest, lowest := j.Average, j.Maximum, j.Minimum
	if r := j.Record; r != nil {
		average, highest, lowest = r.Rates.Average, r.Rates.Maximum, r.Rates.Minimum
		if len(r.Rates.Series) > 0 {
			windows, seconds = r.Rates.Series, r.Rates.WindowSeconds
		}
	}
	rate := func(v float64, known bool) string {
		if !known {
			return "–"
		}
		return text.Rate(v)
	}
	ui.SetText(d.now.value, rate(j.Current, j.State == protocol.JobRunning))
	ui.SetText(d.average.value, rate(average, average > 0))
	ui.SetText(d.highest.value, rate(highest, highest > 0))
	ui.SetText(d.lowest.value, rate(lowest, highest > 0))
	d.chart.SetData(chart.Windows("", windows, seconds))
	var marks []chart.Mark
	if average > 0 && len(windows) > 1 {
		marks = append(marks, chart.Mark{Name: text.T("average"), Value: average})
	}
	d.chart.SetMarks(marks...)
	switch {
	case j.State == protocol.JobWaiting, j.State == protocol.JobAsking, j.State == protocol.JobPlanning:
		d.chart.SetEmpty(text.T("The chart begins with the copy."))
	case j.State.Ended():
		d.chart.SetEmpty(text.T("Too short for a chart."))
	default:
		d.chart.SetEmpty(text.T("The chart begins with the first second."))
	}
}

// showButtons shows those for what can be done, and says whether they are others than before.
func (d *detail) showButtons(j Job) (moved bool) {
	can := ActionsOf(j)
	for _, one := range []struct {
		button *widget.Button
		shown  bool
	}{{d.answer, can.Answer}, {d.pause, can.Pause}, {d.resume, can.Resume}, {d.stop, can.Cancel}, {d.retry, can.Retry}, {d.remove, can.Remove}, {d.export, j.State.Ended() && j.Record != nil}} {
		moved = toggle(one.button, one.shown) || moved
	}
	words := text.T("Try again")
	if n := int64(len(Failed(j))); j.State == protocol.JobPartly && j.Dropped == 0 {
		words = text.N(n, "Retry the failed file", "Retry %d failed files")
	}
	if d.retry.Text != words {
		d.retry.SetText(words)
		moved = true
	}
	return moved
}

// problemRow is a file that was not copied.
type problemRow struct {
	widget.BaseWidget
	name   *ui.Line
	reason *widget.Label
}

func newProblemRow() *problemRow {
	r := &problemRow{name: ui.NewCaptionLine(""), reason: ui.Caption("")}
	r.name.Importance = widget.MediumImportance
	r.reason.Truncation = fyne.TextTruncateEllipsis
	r.ExtendBaseWidget(r)
	return r
}

// CreateRenderer implements fyne.Widget.
func (r *problemRow) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(container.New(line{}, r.name, r.reason))
}

func (r *problemRow) show(p report.Problem) {
	r.name.SetText(ui.Clean(p.Name))
	words := Reason(p)
	if p.Failed && p.Detail != "" {
		words += " (" + ui.Clean(p.Detail) + ")"
	}
	ui.SetText(r.reason, words)
}
