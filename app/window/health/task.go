package health

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"coffer/app/client"
	"coffer/app/protocol"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// panelWidth is the width of the dialogs.
const panelWidth = 580

// work is what a task does, in a goroutine of its own.
type work func(ctx context.Context, to client.Reporter) error

// task is a dialog that asks, does something that takes its time and can be cancelled, and tells what came out.
type task struct {
	s     *Screen
	panel *ui.Panel
	form  *fyne.Container // what asks
	typed *ui.KeyEntry    // for the name, before what cannot be undone; nil: none is asked for
	name  string

	// begin takes what was typed: the work, or what is wrong with it. A wrong "" with no work stays as it is.
	begin func() (do work, wrong string)
	// end tells what came out, and says whether the dialog is done with. Without it a failure is explained and success closes.
	end func(err error) (done bool)
	// cancelled, if not nil, is called when the person has stopped the work.
	cancelled func()
	// focus is where the person types first, and again after a failure; nil: the main button.
	focus fyne.Focusable
	// closed, if not nil, forgets what was typed.
	closed func()
	// ready, if not nil, says whether what was typed is enough.
	ready func() bool

	message *ui.Message
	waits   *fyne.Container
	stage   *widget.Label
	bar     *widget.ProgressBar
	runs    *ui.Waiting
	primary *ui.KeyButton
	cancel  *ui.KeyButton
	stop    context.CancelFunc // of the work under way; nil: none
	more    []fyne.CanvasObject
	after   func() // shows what came out; nil: nothing
}

// newTask makes one about a title; action is the word on its main button, which is red if there is danger. Fill its form, then
// open it.
func (s *Screen) newTask(title, action string, danger bool) *task {
	t := &task{s: s, form: container.NewVBox(), message: ui.NewMessage(), stage: ui.Paragraph(""), bar: widget.NewProgressBar(), runs: ui.NewWaiting()}
	t.runs.Stop()
	t.bar.Hide()
	t.waits = container.NewVBox(t.stage, t.bar, t.runs)
	t.waits.Hide()
	t.panel = ui.NewPanel(s.deps.Shell.Window(), title, panelWidth, container.NewVBox(t.form, t.waits, t.message))
	keys := &t.panel.Keys
	t.cancel = keys.NewButton(text.T("Cancel"), t.back)
	t.primary = keys.NewPrimary(action, t.start)
	if danger {
		t.primary.Importance = widget.DangerImportance
	}
	keys.Escape = t.back
	keys.Enter = func() {
		if danger && t.focus == nil { // nothing was typed: Enter must not do what is dangerous
			t.back()
			return
		}
		t.start()
	}
	return t
}

// add puts something below the rest of the form.
func (t *task) add(objects ...fyne.CanvasObject) { t.form.Objects = append(t.form.Objects, objects...) }

// say explains, in a paragraph each.
func (t *task) say(paragraphs ...string) {
	for _, p := range paragraphs {
		t.add(ui.Paragraph(p))
	}
}

// needName makes the person type a name first.
func (t *task) needName(name string) {
	t.name = name
	t.typed = t.panel.Keys.NewEntry()
	t.typed.SetPlaceHolder(name)
	t.typed.OnChanged = func(string) { t.check() }
	t.add(ui.Paragraph(text.T("Type the name %s to go on:", name)), t.typed)
	if t.focus == nil {
		t.focus = t.typed
	}
}

// allowed says whether the main button may be pressed.
func (t *task) allowed() bool {
	return t.stop == nil && (t.typed == nil || t.typed.Text == t.name) && (t.ready == nil || t.ready())
}

// check enables the main button as far as what was typed allows.
func (t *task) check() { ui.Enable(t.primary, t.allowed()) }

// open shows it.
func (t *task) open() {
	t.buttons()
	t.check()
	t.panel.Show()
	t.refocus()
}

func (t *task) buttons() {
	t.panel.SetButtons(append(append([]fyne.CanvasObject{t.cancel}, t.more...), t.primary)...)
}

func (t *task) refocus() {
	switch {
	case t.focus != nil:
		t.panel.Focus(t.focus)
	case t.primary.Importance == widget.DangerImportance:
		t.panel.Focus(t.cancel)
	default:
		t.panel.Focus(t.primary)
	}
}

// back cancels what is done, or else closes.
func (t *task) back() {
	if t.stop != nil {
		t.stage.SetText(text.T("Cancelling…"))
		t.cancel.Disable()
		t.stop()
		return
	}
	t.close()
}

func (t *task) close() {
	if t.closed != nil {
		t.closed()
	}
	t.runs.Stop()
	t.panel.Close()
}

// tell shows a line below the form.
func (t *task) tell(importance widget.Importance, words string) {
	t.message.Say(importance, words)
	t.panel.Fit()
}

// start does it.
func (t *task) start() {
	if !t.panel.Open() || !t.allowed() {
		return
	}
	do, wrong := t.begin()
	if do == nil {
		if wrong != "" {
			t.tell(widget.DangerImportance, wrong)
			t.refocus()
		}
		return
	}
	ctx, stop := context.WithCancel(t.s.deps.Context)
	t.stop = stop
	t.message.Say(0, "")
	t.wait(true)
	progress := &feed{deps: t.s.deps, show: t.show}
	t.s.deps.Work(func(context.Context) error {
		defer stop()
		return do(ctx, progress.hear)
	}, func(err error) {
		t.stop = nil
		t.wait(false)
		switch {
		case errors.Is(err, context.Canceled) || ui.IsCode(err, int(protocol.Interrupted)):
			if t.cancelled != nil {
				t.cancelled()
			}
			t.tell(widget.MediumImportance, text.T("Cancelled."))
			t.refocus()
		case t.end != nil:
			if t.end(err) {
				t.succeed()
			}
		case err != nil:
			t.fail(err)
		default:
			t.succeed()
		}
	})
}

// succeed closes the dialog, shows the container as it is now, and what came out.
func (t *task) succeed() {
	t.close()
	t.s.load()
	if t.after != nil {
		t.after()
	}
}

// fail explains a failure and lets the person try again.
func (t *task) fail(err error) {
	t.tell(widget.DangerImportance, explain(err))
	t.check()
	t.refocus()
}

// wait shows that something is being done, or the form again.
func (t *task) wait(on bool) {
	ui.Show(t.form, !on)
	ui.Show(t.waits, on)
	t.cancel.Enable()
	t.check()
	for _, o := range t.more {
		if d, ok := o.(fyne.Disableable); ok {
			ui.Enable(d, !on)
		}
	}
	if on {
		t.bar.Hide()
		t.runs.Show()
		t.runs.Start()
		t.panel.Fit()
		t.panel.Focus(t.cancel)
		return
	}
	t.runs.Stop()
	t.panel.Fit()
}

// show shows how far the work is.
func (t *task) show(e protocol.Event) {
	if t.stop == nil || t.cancel.Disabled() {
		return
	}
	if e.Kind == protocol.EventNote {
		ui.SetText(t.stage, ui.Sentence(e.Detail))
		return
	}
	if e.Total <= 0 {
		return
	}
	if t.runs.Visible() {
		t.runs.Stop()
		t.runs.Hide()
		t.bar.Show()
	}
	t.bar.SetValue(min(1, float64(e.Done)/float64(e.Total)))
}

// feed brings events of work to the dialog, not more often than people can see.
type feed struct {
	deps *ui.Deps
	show func(protocol.Event)

	mu      sync.Mutex
	last    protocol.Event
	waiting bool // the last one is on its way to the dialog
	before  time.Time
}

// feedStep is the least time between two steps of a bar.
const feedStep = 100 * time.Millisecond

// hear takes an event, in any goroutine.
func (f *feed) hear(e protocol.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch e.Kind {
	case protocol.EventNote:
		f.deps.Do(func() { f.show(e) })
	case protocol.EventProgress:
		f.last = e
		if f.waiting || time.Since(f.before) < feedStep && e.Done != e.Total {
			return
		}
		f.waiting, f.before = true, time.Now()
		f.deps.Do(func() {
			f.mu.Lock()
			f.waiting = false
			last := f.last
			f.mu.Unlock()
			f.show(last)
		})
	}
}

// explain is a failure in words, with what to do.
func explain(err error) string {
	p := client.Explain(err)
	switch p.Code {
	case protocol.WrongKey:
		return text.T("That does not open this container. Check the keyboard layout, and whether Caps Lock is on.")
	case protocol.NoCredential:
		return text.T("The container was locked or unlocked meanwhile. Close this and try again.")
	case protocol.InUse:
		return text.T("Somebody is using it: %s Close that, or wait until it is done, and try again.", ui.Sentence(p.Sentence))
	case protocol.NoSpace:
		return text.T("There is not enough room: %s Free some, or choose a folder on another disk.", ui.Sentence(p.Sentence))
	}
	return strings.TrimSpace(ui.Sentence(p.Sentence) + " " + ui.Hint(p))
}

// result tells what came out, once the dialog is closed.
func (t *task) result(title, words string, more ...func(p *ui.Panel) fyne.CanvasObject) {
	t.resultWith(title, ui.Paragraph(words), more...)
}

// resultWith shows what came out, once the dialog is closed. Buttons of more stand before Close.
func (t *task) resultWith(title string, body fyne.CanvasObject, more ...func(p *ui.Panel) fyne.CanvasObject) {
	t.after = func() { t.s.showResult(title, body, more...) }
}

// showResult shows what came out.
func (s *Screen) showResult(title string, body fyne.CanvasObject, more ...func(p *ui.Panel) fyne.CanvasObject) {
	p := ui.NewPanel(s.deps.Shell.Window(), title, panelWidth, body)
	closing := p.Keys.NewPrimary(text.T("Close"), p.Close)
	p.Keys.Enter, p.Keys.Escape = p.Close, p.Close
	var buttons []fyne.CanvasObject
	for _, m := range more {
		if b := m(p); b != nil {
			buttons = append(buttons, b)
		}
	}
	p.SetButtons(append(buttons, closing)...)
	p.Show()
	p.Focus(closing)
}
