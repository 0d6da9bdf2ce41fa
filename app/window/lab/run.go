package lab

import (
	"context"
	"errors"
	"sync"
	"time"

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

// run is an experiment under way.
type run struct {
	request client.LabRequest
	started time.Time
	cancel  context.CancelFunc

	mu       sync.Mutex
	last     protocol.Event
	part     int // of the experiment "all": which one, from 0
	warnings []string
}

// parts is how many experiments it makes.
func (r *run) parts() int {
	if r.request.Experiment == all {
		return len(experiments()) - 1
	}
	return 1
}

// hear takes an event, in any goroutine.
func (r *run) hear(e protocol.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e.Kind {
	case protocol.EventProgress:
		// The next experiment counts anew.
		if r.last.Total != 0 && (e.Unit != r.last.Unit || e.Total != r.last.Total) && e.Done < r.last.Done {
			r.part = min(r.part+1, r.parts()-1)
		}
		r.last = e
	case protocol.EventWarning:
		r.warnings = append(r.warnings, e.Detail)
	}
}

// progress is how far it is: in words, and as a part of 1; negative when that is not known.
func (r *run) progress() (stage, count string, fraction float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	stage = ui.Clean(r.last.Stage)
	if r.last.Total <= 0 {
		return stage, "", -1
	}
	fraction = min(float64(r.last.Done)/float64(r.last.Total), 1)
	switch r.last.Unit {
	case protocol.UnitBytes:
		count = text.T("%s of %s", text.Size(r.last.Done), text.Size(r.last.Total))
	default:
		count = text.T("%d of %d measurements", r.last.Done, r.last.Total)
	}
	if n := r.parts(); n > 1 {
		count = text.T("Experiment %d of %d: %s", r.part+1, n, count)
		fraction = (float64(r.part) + fraction) / float64(n)
	}
	return stage, count, fraction
}

// runView shows an experiment under way.
type runView struct {
	object  fyne.CanvasObject
	title   *widget.Label
	stage   *widget.Label
	count   *widget.Label
	elapsed *widget.Label
	bar     *widget.ProgressBar
	cancel  *widget.Button
	ending  bool
}

func newRunView(cancel func()) *runView {
	v := &runView{title: ui.Heading(""), stage: ui.Paragraph(""), count: ui.Caption(""), elapsed: ui.Caption(""), bar: widget.NewProgressBar()}
	v.cancel = widget.NewButtonWithIcon(text.T("Cancel"), theme.CancelIcon(), func() {
		v.ending = true
		v.cancel.Disable()
		v.stage.SetText(text.T("Stopping. What was made for the experiment is being removed…"))
		cancel()
	})
	v.elapsed.Alignment = fyne.TextAlignTrailing
	v.object = container.NewPadded(container.NewVBox(
		v.title,
		ui.Paragraph(text.T("The computer is being measured: the less else it does, the truer the figures. You may turn to another page; the experiment goes on.")),
		ui.Card(container.NewVBox(v.stage, v.bar, container.NewBorder(nil, nil, v.count, v.elapsed))),
		container.NewHBox(v.cancel),
	))
	return v
}

// begin shows a run from its start.
func (v *runView) begin(r *run) {
	v.ending = false
	v.cancel.Enable()
	effort := text.T("full")
	if r.request.Quick {
		effort = text.T("quick")
	}
	v.title.SetText(text.T("%s, %s", titleOf(r.request.Experiment), effort))
	v.stage.SetText(text.T("Getting ready…"))
	v.bar.SetValue(0)
	v.show(r, r.started)
}

// show brings it up to date.
func (v *runView) show(r *run, now time.Time) {
	stage, count, fraction := r.progress()
	if !v.ending && stage != "" {
		ui.SetText(v.stage, stage)
	}
	ui.SetText(v.count, count)
	ui.SetText(v.elapsed, text.T("%s elapsed", text.Span(now.Sub(r.started))))
	if fraction >= 0 && v.bar.Value != fraction {
		v.bar.SetValue(fraction)
	}
}

// pulse is how often the view of a run is brought up to date while it is shown.
const pulse = 250 * time.Millisecond

// startRun makes an experiment.
func (s *Screen) startRun(request client.LabRequest) {
	if s.run != nil {
		return
	}
	ctx, cancel := context.WithCancel(s.deps.Context)
	r := &run{request: request, started: time.Now(), cancel: cancel}
	s.run = r
	s.form.setBusy(true)
	s.running.begin(r)
	s.showRun()
	s.keepPulse()
	var made []*report.Experiment
	s.deps.Work(func(context.Context) (err error) {
		defer cancel()
		made, err = s.deps.Backend.Lab.Lab(ctx, request, r.hear)
		return err
	}, func(err error) { s.endRun(r, made, err) })
}

// endRun shows what came out.
func (s *Screen) endRun(r *run, made []*report.Experiment, err error) {
	watched := s.shown && s.showsRun
	s.run = nil
	s.form.setBusy(false)
	s.keepPulse()
	ui.Show(s.back, false)
	switch {
	case errors.Is(err, context.Canceled) || ui.IsCode(err, int(protocol.Interrupted)):
		s.say(text.T("The experiment was cancelled. Nothing of it was left on the disk."))
		s.reload("")
		if watched {
			s.showForm()
		}
	case err != nil:
		s.reload("")
		if watched {
			s.showForm()
		}
		s.fail(err)
	case len(made) > 0:
		s.say("")
		s.reload(made[0].ID)
		if watched {
			s.showResult(made[0])
		}
		if len(r.warnings) > 0 { // it was not kept, say
			s.say(ui.Sentence(r.warnings[0]))
		}
		if !s.shown {
			s.deps.Shell.Notify(text.T("The experiment is done"), titleOf(r.request.Experiment))
		}
	}
}

// fail tells why an experiment was not made.
func (s *Screen) fail(err error) {
	words := ui.Sentence(client.Explain(err).Sentence)
	switch {
	case ui.IsCode(err, int(protocol.NoSpace)):
		words = text.T("There is not enough room there. A quick experiment needs less, or choose a folder on another disk. (%s)", words)
	case ui.IsCode(err, int(protocol.NoMount)):
		words = text.T("This computer has nothing that makes drives. Measure through Coffer alone, or install FUSE or WinFsp. (%s)", words)
	}
	if !s.shown {
		s.deps.Shell.Notify(text.T("The experiment failed"), words)
	}
	s.say(words)
}

// keepPulse runs a ticker exactly while a run is on the screen.
func (s *Screen) keepPulse() {
	wanted := s.shown && s.showsRun && s.run != nil
	switch {
	case wanted && s.stopPulse == nil:
		ctx, stop := context.WithCancel(s.deps.Context)
		s.stopPulse = stop
		go func() {
			tick := time.NewTicker(pulse)
			defer tick.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-tick.C:
					s.deps.Do(func() {
						if s.run != nil && s.stopPulse != nil {
							s.running.show(s.run, time.Now())
						}
					})
				}
			}
		}()
	case !wanted && s.stopPulse != nil:
		s.stopPulse()
		s.stopPulse = nil
	}
}
