package create

import (
	"context"
	"path/filepath"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/client"
	"coffer/app/window/password"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// maxPassword bounds a password, in bytes: what a LUKS2 container can be given by other programs too.
const maxPassword = 512

// secretPage is the third step.
type secretPage struct {
	w        *wizard
	content  *fyne.Container
	entry    *password.Entry
	again    *password.Entry
	meter    *password.Meter
	caps     *ui.Message
	message  *ui.Message
	files    *fyne.Container
	keyfiles []string
	recovery *ui.KeyCheck

	held client.Secret // the password, once both entries were the same: they are empty from then on
}

func newSecretPage(w *wizard) *secretPage {
	p := &secretPage{w: w, entry: password.NewEntry(w.keys), again: password.NewEntry(w.keys), meter: password.NewMeter(w.d),
		caps: ui.NewMessage(), message: ui.NewMessage(), files: container.NewVBox()}
	p.meter.OnShown = w.panel.Fit
	caps := func(on bool) {
		p.caps.Say(widget.WarningImportance, map[bool]string{true: text.T("Caps Lock seems to be on.")}[on])
		w.panel.Fit()
	}
	p.entry.OnCaps, p.again.OnCaps = caps, caps
	p.entry.OnChanged = func(typed string) {
		p.meter.Rate(typed)
		p.say("")
	}
	p.entry.OnSubmitted = func(string) {
		if p.entry.Empty() {
			w.forward()
			return
		}
		w.panel.Focus(p.again)
	}
	p.again.OnChanged = func(string) { p.say("") }
	p.recovery = w.keys.NewCheck(text.T("Make a recovery key, for the day when the password is forgotten"), func(bool) {
		if w.at == pageSecret {
			w.next.SetText(map[bool]string{true: text.T("Next"), false: text.T("Create")}[p.recovery.Checked])
		}
	})
	p.recovery.Checked = true
	choose := w.keys.NewLink(text.T("Add a key file…"), theme.ContentAddIcon(), func() { chooseFile(w.d, "", p.addKeyfile) })
	fresh := w.keys.NewLink(text.T("Make a new key file…"), theme.DocumentCreateIcon(), p.newKeyfile)
	p.content = container.NewVBox(
		ui.Paragraph(text.T("Nobody can open the container without the password, and nobody can recover it for you.")),
		p.entry, p.again, p.meter, p.caps, p.files, container.NewHBox(choose, fresh), p.recovery, p.message)
	p.placeholders()
	return p
}

func (p *secretPage) placeholders() {
	first, second := text.T("Password"), text.T("The same once more")
	if p.held != nil {
		first, second = text.T("Password as typed before; type another one to change it"), ""
	}
	p.entry.SetPlaceHolder(first)
	p.again.SetPlaceHolder(second)
}

func (p *secretPage) say(wrong string) {
	if p.message.Text() != wrong {
		p.message.Say(widget.DangerImportance, wrong)
		p.w.panel.Fit()
	}
}

// addKeyfile adds a key file.
func (p *secretPage) addKeyfile(path string) {
	if !slices.Contains(p.keyfiles, path) {
		p.keyfiles = append(p.keyfiles, path)
	}
	p.showKeyfiles()
}

func (p *secretPage) showKeyfiles() {
	p.files.Objects = nil
	for _, path := range p.keyfiles {
		name := widget.NewLabel(ui.Clean(filepath.Base(path)))
		name.Truncation = fyne.TextTruncateEllipsis
		remove := p.w.keys.NewLink("", theme.CancelIcon(), func() {
			p.keyfiles = slices.DeleteFunc(p.keyfiles, func(one string) bool { return one == path })
			p.showKeyfiles()
		})
		p.files.Add(container.NewBorder(nil, nil, widget.NewIcon(theme.FileIcon()), remove, name))
	}
	if len(p.keyfiles) > 0 {
		p.files.Add(ui.Caption(text.T("The container opens with all of these and the password together. Keep copies of them.")))
	}
	p.say("")
	p.files.Refresh()
	p.w.panel.Fit()
}

// newKeyfile makes a key file where the person wants it.
func (p *secretPage) newKeyfile() {
	d := p.w.d
	chooseNew(d, text.T("Make a new key file"), p.w.place.folder, p.w.place.title()+".key", func(path string) {
		d.Work(func(ctx context.Context) error { return d.Backend.Keys.NewKeyfile(ctx, path) }, func(err error) {
			if err != nil {
				ui.ShowError(d.Shell.Window(), err)
				return
			}
			p.addKeyfile(path)
		})
	})
}

// credential is what opens the container; the caller wipes it.
func (p *secretPage) credential() client.Credential {
	return client.Credential{Password: slices.Clone(p.held), Keyfiles: slices.Clone(p.keyfiles)}
}

// forget wipes the password and empties the entries.
func (p *secretPage) forget() {
	p.entry.Take().Wipe()
	p.again.Take().Wipe()
	p.held.Wipe()
	p.held = nil
}

func (p *secretPage) object() fyne.CanvasObject { return p.content }

func (p *secretPage) shown() {
	p.placeholders()
	p.w.panel.Focus(p.entry)
}

func (p *secretPage) leave(answer func(bool)) {
	wrong := ""
	switch {
	case p.entry.Empty() && p.again.Empty() && (p.held != nil || len(p.keyfiles) > 0):
		answer(true)
		return
	case p.entry.Empty():
		wrong = text.T("Type a password.")
	case len(p.entry.Text) > maxPassword:
		wrong = text.T("This password is too long: at most %d characters.", maxPassword)
	case p.again.Empty():
		wrong = text.T("Type the password once more, so that a slip of the finger does not lock you out.")
	case p.entry.Text != p.again.Text:
		wrong = text.T("The two passwords differ.")
	}
	if wrong != "" {
		p.say(wrong)
		p.w.panel.Focus(p.entry)
		if !p.entry.Empty() {
			p.w.panel.Focus(p.again)
		}
		answer(false)
		return
	}
	p.held.Wipe()
	p.held = p.entry.Take()
	p.again.Take().Wipe()
	answer(true)
}
