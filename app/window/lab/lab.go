// Package lab is the screen "Lab": experiments that measure what encryption costs on this computer, and their history. An
// experiment runs in the program coffer; it goes on while the person looks at other pages, and ends with the window.
package lab

import (
	"context"
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/window/text"
	"coffer/app/window/ui"
	"coffer/transfer/report"
)

// Screen is the screen. Make it with New.
type Screen struct {
	deps    *ui.Deps
	object  fyne.CanvasObject
	shown   bool
	form    *form
	running *runView
	stage   *fyne.Container // form, run or result
	note    *widget.Label   // what happened last
	notes   *fyne.Container

	run       *run // under way; nil: none
	showsRun  bool // the stage shows it
	stopPulse context.CancelFunc
	back      *widget.Button // to the run under way

	history *widget.List
	empty   *widget.Label
	entries []entry
	result  *report.Experiment // on the stage
	quiet   bool               // the selection changes by itself
}

// entry is one line of the history: an experiment, or one that cannot be read.
type entry struct {
	experiment *report.Experiment
	damaged    string // its id
}

func (e entry) id() string {
	if e.experiment == nil {
		return e.damaged
	}
	return e.experiment.ID
}

// historyWidth is the width of the list at the left.
const historyWidth = 240

// New makes the screen.
func New(d *ui.Deps) *Screen {
	s := &Screen{deps: d, stage: container.NewStack(), note: ui.Paragraph("")}
	s.form = newForm(d, s.startRun)
	s.running = newRunView(func() {
		if s.run != nil {
			s.run.cancel()
		}
	})
	s.history = widget.NewList(func() int { return len(s.entries) }, newEntryRow, s.showEntryRow)
	s.history.OnSelected = func(i widget.ListItemID) {
		if !s.quiet && i < len(s.entries) {
			s.open(s.entries[i])
		}
	}
	fresh := widget.NewButtonWithIcon(text.T("New experiment"), theme.ContentAddIcon(), func() { s.say(""); s.showForm() })
	s.back = widget.NewButtonWithIcon(text.T("Experiment under way"), theme.ViewRefreshIcon(), s.showRun)
	s.back.Hide()
	s.empty = ui.Caption(text.T("Experiments you have made are listed here."))
	s.empty.Wrapping = fyne.TextWrapWord
	s.notes = container.NewPadded(ui.Card(container.NewBorder(nil, nil, widget.NewIcon(theme.InfoIcon()),
		widget.NewButtonWithIcon("", theme.CancelIcon(), func() { s.say("") }), s.note)))
	s.notes.Hide()
	side := container.NewBorder(container.NewVBox(ui.Heading(text.T("Lab")), fresh, s.back, widget.NewSeparator()), nil, nil, nil,
		container.NewStack(s.history, container.NewVBox(s.empty)))
	s.object = container.NewBorder(nil, nil,
		container.NewHBox(container.New(&wide{historyWidth}, container.NewPadded(side)), widget.NewSeparator()), nil,
		container.NewBorder(s.notes, nil, nil, nil, s.stage))
	s.showForm()
	return s
}

// wide is a layout of a fixed width.
type wide struct{ width float32 }

// MinSize implements fyne.Layout.
func (w *wide) MinSize(objects []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(w.width, objects[0].MinSize().Height)
}

// Layout implements fyne.Layout.
func (w *wide) Layout(objects []fyne.CanvasObject, size fyne.Size) { objects[0].Resize(size) }

// Object implements ui.Screen.
func (s *Screen) Object() fyne.CanvasObject { return s.object }

// Shown implements ui.Screen.
func (s *Screen) Shown(string) {
	s.shown = true
	s.form.suggest()
	s.reload("")
	if s.run != nil && s.showsRun {
		s.running.show(s.run, time.Now())
	}
	s.keepPulse()
}

// Hidden implements ui.Screen.
func (s *Screen) Hidden() {
	s.shown = false
	s.keepPulse()
}

// say shows a line about what happened, "" for none.
func (s *Screen) say(words string) {
	ui.SetText(s.note, words)
	ui.Show(s.notes, words != "")
}

// put shows something on the stage.
func (s *Screen) put(o fyne.CanvasObject) {
	s.stage.Objects = []fyne.CanvasObject{o}
	s.stage.Refresh()
}

// showForm shows what asks for a new experiment.
func (s *Screen) showForm() {
	s.showsRun, s.result = false, nil
	s.selectEntry("")
	s.put(s.form.object)
	ui.Show(s.back, s.run != nil)
	s.keepPulse()
}

// showRun shows the experiment under way.
func (s *Screen) showRun() {
	if s.run == nil {
		return
	}
	s.say("")
	s.showsRun, s.result = true, nil
	s.selectEntry("")
	s.running.show(s.run, time.Now())
	s.put(s.running.object)
	s.back.Hide()
	s.keepPulse()
}

// showResult shows an experiment that was made.
func (s *Screen) showResult(e *report.Experiment) {
	s.showsRun, s.result = false, e
	s.selectEntry(e.ID)
	shown, body, parts := newResult(e, s.export, s.confirmDelete)
	s.put(shown)
	var next func()
	next = func() {
		if len(parts) > 0 && s.stage.Objects[0] == shown {
			body.Add(parts[0]())
			canvas.Refresh(body)
			parts = parts[1:]
			go s.deps.Do(next)
		}
	}
	next()
	ui.Show(s.back, s.run != nil)
	s.keepPulse()
}

// selectEntry marks a line of the history; "" marks none.
func (s *Screen) selectEntry(id string) {
	s.quiet = true
	defer func() { s.quiet = false }()
	i := slices.IndexFunc(s.entries, func(e entry) bool { return id != "" && e.id() == id })
	if i < 0 {
		s.history.UnselectAll()
		return
	}
	s.history.Select(i)
}

// open shows an entry of the history.
func (s *Screen) open(e entry) {
	s.say("")
	if e.experiment != nil {
		s.showResult(e.experiment)
		return
	}
	s.showsRun, s.result = false, nil
	remove := widget.NewButtonWithIcon(text.T("Delete…"), theme.DeleteIcon(), func() { s.confirmDelete(e.damaged, text.T("the damaged report")) })
	s.put(container.NewPadded(container.NewVBox(ui.Heading(text.T("This report cannot be read")),
		ui.Paragraph(text.T("Its file is damaged: %s. Nothing else is affected.", e.damaged)), container.NewHBox(remove))))
	ui.Show(s.back, s.run != nil)
	s.keepPulse()
}

// recordsFolder is where the program keeps experiments.
func recordsFolder(d *ui.Deps) string {
	if settings, err := d.Settings(); err == nil && settings.Records != "" {
		return settings.Records
	}
	return d.Paths.RecordsFolder()
}

// reload reads the history and marks the entry with the id, if that is not "".
func (s *Screen) reload(id string) {
	var entries []entry
	s.deps.Work(func(context.Context) error {
		folder := recordsFolder(s.deps)
		if folder == "" {
			return nil
		}
		list, damaged, err := report.NewStore(folder).ListExperiments()
		for _, e := range slices.Backward(list) {
			entries = append(entries, entry{experiment: e})
		}
		for _, one := range damaged {
			entries = append(entries, entry{damaged: one})
		}
		return err
	}, func(err error) {
		if err != nil {
			s.say(ui.Sentence(err.Error()))
			return
		}
		if !slices.EqualFunc(s.entries, entries, func(a, b entry) bool { return a.id() == b.id() }) {
			s.entries = entries
			s.history.Refresh()
		}
		ui.Show(s.empty, len(s.entries) == 0)
		if id == "" && s.result != nil {
			id = s.result.ID
		}
		if s.result != nil {
			s.selectEntry(id)
		}
	})
}

// newEntryRow is a line of the history.
func newEntryRow() fyne.CanvasObject {
	title := widget.NewLabel("")
	title.Truncation = fyne.TextTruncateEllipsis
	when := ui.Caption("")
	when.Truncation = fyne.TextTruncateEllipsis
	return container.New(layout.NewCustomPaddedVBoxLayout(-theme.Padding()), title, when)
}

func (s *Screen) showEntryRow(i widget.ListItemID, o fyne.CanvasObject) {
	if i >= len(s.entries) {
		return
	}
	labels := o.(*fyne.Container).Objects
	title, when := labels[0].(*widget.Label), labels[1].(*widget.Label)
	e := s.entries[i]
	if e.experiment == nil {
		ui.SetText(title, text.T("Cannot be read"))
		ui.SetText(when, e.damaged)
		return
	}
	ui.SetText(title, titleOf(e.experiment.Kind))
	ui.SetText(when, moment(e.experiment.Started))
}

// moment is a point in time in the person's zone.
func moment(t time.Time) string { return t.Local().Format("2006-01-02 15:04") }
