package create

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/widget"

	"coffer/app/client"
	"coffer/app/protocol"
	"coffer/app/window/text"
	"coffer/app/window/ui"
	"coffer/app/window/unlock"
)

// makePage shows that the container is being made. The person can cancel until it is complete; nothing stays then.
type makePage struct {
	w       *wizard
	content *fyne.Container
	line    *widget.Label
	bar     *ui.Waiting
	exact   *widget.ProgressBar
}

func newMakePage(w *wizard) *makePage {
	p := &makePage{w: w, line: ui.Paragraph(""), bar: ui.NewWaiting(), exact: widget.NewProgressBar()}
	p.bar.Stop()
	p.exact.Hide()
	p.content = container.NewVBox(ui.Space(1, wizardHeight/4), p.line, p.bar, p.exact)
	return p
}

func (p *makePage) object() fyne.CanvasObject { return p.content }

func (p *makePage) leave(answer func(bool)) { answer(false) }

// shown makes the container.
func (p *makePage) shown() {
	w := p.w
	p.say(text.T("Making the container…"), -1)
	w.cancel.Enable()
	w.panel.Focus(w.cancel)
	credential := w.secret.credential()
	var key client.Secret
	if w.secret.recovery.Checked {
		key = slices.Clone(w.sheet.key)
	}
	request, files := w.request(credential), slices.Clone(w.size.files)
	ctx, cancel := context.WithCancel(w.d.Context)
	w.making = cancel
	var keyErr error
	w.d.Work(func(context.Context) (err error) {
		keyErr, err = p.make(ctx, request, key)
		return err
	}, func(err error) {
		cancel()
		key.Wipe()
		w.making = nil
		p.bar.Stop()
		if err != nil {
			credential.Wipe()
			if current == w { // not closed meanwhile
				p.failed(err)
			}
			return
		}
		w.close()
		p.finish(request.Image, credential, files, keyErr)
	})
}

// make makes the container and adds the recovery key, if there is one. Cancelled, it leaves nothing. A container without the
// recovery key is made all the same: why is keyErr.
func (p *makePage) make(ctx context.Context, r client.CreateRequest, key client.Secret) (keyErr, err error) {
	b := p.w.d.Backend
	if _, err := b.Containers.Create(ctx, r, p.heard); err != nil {
		return nil, err
	}
	if key == nil {
		return nil, nil
	}
	made, statErr := os.Lstat(r.Image)
	p.w.d.Do(func() { p.say(text.T("Adding the recovery key…"), -1) })
	_, keyErr = b.Keys.AddKey(ctx, r.Image, r.Credential, client.Credential{Password: key})
	if ctx.Err() == nil {
		return keyErr, nil
	}
	if statErr == nil {
		err = removeMade(r.Image, made)
	}
	return nil, errors.Join(ctx.Err(), err)
}

// removeMade removes the container just made, unless another file has taken its name since.
func removeMade(path string, made fs.FileInfo) error {
	if here, err := os.Lstat(path); err != nil || !os.SameFile(here, made) {
		return nil
	}
	return os.Remove(path)
}

// heard is called in another goroutine with signs of life.
func (p *makePage) heard(e protocol.Event) {
	if e.Kind != protocol.EventProgress || e.Total == 0 {
		return
	}
	p.w.d.Do(func() {
		if p.w.making != nil && !p.w.cancel.Disabled() {
			p.say(text.T("Preparing the drive inside…"), float64(e.Done)/float64(e.Total))
		}
	})
}

// say says what is being done; how far is negative when that is not known.
func (p *makePage) say(words string, far float64) {
	ui.SetText(p.line, words)
	ui.Show(p.bar, far < 0)
	ui.Show(p.exact, far >= 0)
	if far >= 0 {
		p.bar.Stop()
		p.exact.SetValue(far)
		return
	}
	p.bar.Start()
}

// stop cancels the making.
func (p *makePage) stop() {
	p.say(text.T("Cancelling…"), -1)
	p.w.cancel.Disable()
	p.w.making()
}

// failed goes back to the page where the person can do something about it.
func (p *makePage) failed(err error) {
	w := p.w
	w.cancel.Enable()
	problem := client.Explain(err)
	words := ui.Sentence(problem.Sentence)
	if problem.Hint != "" {
		words += " " + ui.Sentence(problem.Hint)
	}
	switch {
	case errors.Is(err, context.Canceled):
		w.turn(w.last())
	case problem.Code == protocol.NoSpace:
		w.turn(pageSize)
		w.size.message.Say(widget.DangerImportance, words)
		w.panel.Fit()
	default:
		w.turn(pagePlace)
		w.place.message.Say(widget.DangerImportance, words)
		w.panel.Fit()
	}
}

// last is the page from which the container is made.
func (w *wizard) last() int {
	if w.secret.recovery.Checked {
		return pageSheet
	}
	return pageSecret
}

// finish unlocks the new container and copies the files in.
func (p *makePage) finish(image string, credential client.Credential, files []string, keyErr error) {
	d := p.w.d
	d.Work(func(context.Context) error { return d.Model.Add(image) }, func(err error) {
		ui.ShowError(d.Shell.Window(), err)
		d.Shell.Show(ui.PageHome, image)
		unlock.With(d, image, credential, func(string) {
			if len(files) > 0 {
				d.Shell.CopyIn(image, files, "/")
			}
			if keyErr != nil {
				showKeyFailed(d, keyErr)
			}
		})
	})
}

// showKeyFailed says that the recovery key that the person has written down opens nothing.
func showKeyFailed(d *ui.Deps, err error) {
	problem := client.Explain(err)
	words := text.T("The container is ready, but its recovery key could not be added: %s", ui.Sentence(problem.Sentence)) + " " +
		text.T("The key you have written down opens nothing. Lock the container and make a new one under Health and keys.")
	w := d.Shell.Window()
	m := dialog.NewCustom(text.T("There is no recovery key"), text.T("Close"), ui.Paragraph(words), w)
	m.Resize(fyne.NewSize(520, 0))
	m.Show()
}
