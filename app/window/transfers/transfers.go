// Package transfers is the screen "Transfers": the copy jobs of all unlocked containers with their rates and questions, and
// the history of their records, which can be compared and exported. Its Watcher knows the jobs for the whole window.
package transfers

import (
	"io"
	"sync/atomic"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/protocol"
	"coffer/app/window/model"
	"coffer/app/window/text"
	"coffer/app/window/transfers/export"
	"coffer/app/window/ui"
	"coffer/transfer/report"
)

// Screen is the screen. Make it with New.
type Screen struct {
	deps    *ui.Deps
	watcher *Watcher
	queue   *queue
	history *history

	object  fyne.CanvasObject
	head    *fyne.Container
	tabs    [2]*widget.Button
	tidy    *widget.Button
	page    int // 0: queue, 1: history
	shown   bool
	pending atomic.Bool  // changed is to be called
	ended   map[Key]bool // jobs whose records the history has seen

	asked map[Key]bool // about which the person was asked without having asked for it
	open  *questions
}

// New makes the screen of the jobs that watcher knows.
func New(d *ui.Deps, watcher *Watcher) *Screen {
	s := &Screen{deps: d, watcher: watcher, asked: map[Key]bool{}, ended: map[Key]bool{}}
	s.queue, s.history = newQueue(s), newHistory(s)
	s.tabs[0] = button(text.T("Now"), theme.DownloadIcon(), func() { s.turn(0) })
	s.tabs[1] = button(text.T("History"), theme.HistoryIcon(), func() { s.turn(1) })
	s.tidy = button(text.T("Remove finished"), theme.ContentClearIcon(), func() { s.queue.remove(s.queue.ended()...) })
	s.tidy.Importance = widget.LowImportance
	s.tidy.Hide()
	title := ui.Heading(text.T("Transfers"))
	title.Truncation = fyne.TextTruncateOff
	s.head = outer(container.NewBorder(nil, nil, container.NewHBox(title, s.tabs[0], s.tabs[1]), s.tidy))
	s.object = container.NewBorder(s.head, nil, nil, nil, container.NewStack(s.queue.object, s.history.object))
	s.history.object.Hide()
	s.markTab()
	watcher.Listen(func() {
		if s.pending.CompareAndSwap(false, true) {
			d.Do(func() {
				s.pending.Store(false)
				s.changed()
			})
		}
	})
	return s
}

// Object implements ui.Screen.
func (s *Screen) Object() fyne.CanvasObject { return s.object }

// Shown implements ui.Screen.
func (s *Screen) Shown(string) {
	s.shown = true
	s.watcher.Attend(true)
	for _, k := range s.keys() {
		s.deps.Shell.Window().Canvas().AddShortcut(k.shortcut, func(fyne.Shortcut) {
			if s.deps.Shell.Window().Canvas().Overlays().Top() == nil { // a dialog has the keys of its own
				k.do()
			}
		})
	}
	s.changed()
	if s.page == 1 {
		s.history.load()
	}
}

// Hidden implements ui.Screen.
func (s *Screen) Hidden() {
	s.shown = false
	s.watcher.Attend(false)
	for _, k := range s.keys() {
		s.deps.Shell.Window().Canvas().RemoveShortcut(k.shortcut)
	}
}

// key is a shortcut and what it does.
type key struct {
	shortcut fyne.Shortcut
	do       func()
}

// keys are the shortcuts of the screen.
func (s *Screen) keys() []key {
	at := func(name fyne.KeyName, modifier fyne.KeyModifier, do func()) key {
		return key{&desktop.CustomShortcut{KeyName: name, Modifier: modifier}, do}
	}
	return []key{
		at(fyne.KeyLeft, fyne.KeyModifierAlt, s.history.back),
		at(fyne.KeyH, fyne.KeyModifierControl, func() { s.turn(1 - s.page) }),
		at(fyne.KeyF, fyne.KeyModifierControl, func() {
			s.turn(1)
			s.history.back()
			s.deps.Shell.Window().Canvas().Focus(s.history.filter)
		}),
	}
}

// turn shows the queue (0) or the history (1).
func (s *Screen) turn(page int) {
	if s.page == page {
		if page == 1 {
			s.history.back()
		}
		return
	}
	s.page = page
	s.markTab()
	ui.Show(s.queue.object, page == 0)
	ui.Show(s.history.object, page == 1)
	s.changed()
	if page == 1 {
		s.history.load()
	}
}

func (s *Screen) markTab() {
	for i, b := range s.tabs {
		b.Importance = widget.LowImportance
		if i == s.page {
			b.Importance = widget.MediumImportance
		}
		b.Refresh()
	}
}

// changed shows what has changed, if somebody looks, and asks what jobs ask.
func (s *Screen) changed() {
	if s.shown && s.page == 0 {
		s.queue.refresh()
	}
	if toggle(s.tidy, s.page == 0 && len(s.queue.ended()) > 0) {
		s.head.Refresh()
	}
	news := false
	for _, j := range s.watcher.Jobs() {
		if k := j.Key(); j.State.Ended() && !s.ended[k] {
			s.ended[k], news = true, true
		}
	}
	if news && s.shown && s.page == 1 {
		s.history.load()
	}
	s.ask()
}

// ask shows the questions of jobs, each once; a person who wants to decide later finds them at the job.
func (s *Screen) ask() {
	asking := map[Key]Job{}
	var next *Job
	for _, j := range s.watcher.Jobs() {
		if j.State != protocol.JobAsking {
			continue
		}
		asking[j.Key()] = j
		// What was asked before the window was there waits until the person comes to this screen.
		if next == nil && !s.asked[j.Key()] && (s.shown || j.Queued.After(s.watcher.started)) {
			next = &j
		}
	}
	if s.open != nil {
		if _, still := asking[s.open.job.Key()]; !still { // answered elsewhere, or gone
			s.open.dialog.Hide()
		}
	}
	if next != nil && s.open == nil && s.deps.Shell.Window().Canvas().Overlays().Top() == nil {
		s.askAbout(*next)
	}
}

// askAbout shows the questions of a job.
func (s *Screen) askAbout(j Job) {
	if s.open != nil || len(j.Questions) == 0 {
		return
	}
	s.asked[j.Key()] = true
	s.open = showQuestions(s, j, func() { s.open = nil })
}

// titles are the names of unlocked containers by their identity.
func (s *Screen) titles() map[string]string {
	titles := map[string]string{}
	for _, c := range s.deps.Model.Containers() {
		if c.State == model.Unlocked {
			titles[c.ID] = c.Title()
		}
	}
	return titles
}

// folder is where the records are. It reads the settings: not on Fyne's goroutine.
func (s *Screen) folder() string {
	if settings, err := s.deps.Settings(); err == nil && settings.Records != "" {
		return settings.Records
	}
	return s.deps.Paths.RecordsFolder()
}

// exportRecords lets the person save records as a file.
func (s *Screen) exportRecords(records []*report.Record) {
	if len(records) == 0 || records[0] == nil {
		return
	}
	title := text.T("Export %d transfers", len(records))
	if len(records) == 1 {
		title = text.T("Export %s", ui.Clean(name(records[0])))
	}
	export.Show(s.deps, export.Request{Title: title, Name: fileName(records), Write: func(w io.Writer, format string) error {
		return report.Export(w, records, report.ExportOptions{Format: format})
	}})
}

// exportComparison lets the person save a comparison as a file.
func (s *Screen) exportComparison(c *report.Comparison) {
	export.Show(s.deps, export.Request{Title: text.T("Export the comparison"), Name: "coffer-comparison", Write: func(w io.Writer, format string) error {
		return report.ExportComparison(w, c, report.ExportOptions{Format: format})
	}})
}

// fileName is the name that a report of records is offered.
func fileName(records []*report.Record) string {
	if len(records) == 1 {
		return "coffer-transfer-" + records[0].Start.Local().Format("2006-01-02-1504")
	}
	return "coffer-transfers"
}
