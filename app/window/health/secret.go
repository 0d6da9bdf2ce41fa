package health

import (
	"path/filepath"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/client"
	"coffer/app/recovery"
	"coffer/app/window/files"
	"coffer/app/window/password"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// secretField asks for a password, key files or both; a new password is typed twice, and its strength shown.
type secretField struct {
	t      *task
	object *fyne.Container
	entry  *password.Entry
	again  *password.Entry // nil: not a new one
	meter  *password.Meter
	caps   *ui.Message
	list   *fyne.Container
	files  []string
	held   *client.Credential // of a try that failed for another reason
}

// addSecret adds the question for a secret to a task.
func (t *task) addSecret(label string, isNew bool) *secretField {
	f := &secretField{t: t, entry: password.NewEntry(&t.panel.Keys), caps: ui.NewMessage(), list: container.NewVBox()}
	f.entry.SetPlaceHolder(text.T("Password"))
	f.entry.OnCaps = func(on bool) {
		f.caps.Say(widget.WarningImportance, map[bool]string{true: text.T("Caps Lock seems to be on.")}[on])
		t.panel.Fit()
	}
	f.object = container.NewVBox(ui.Subheading(label), f.entry)
	if isNew {
		f.again, f.meter = password.NewEntry(&t.panel.Keys), password.NewMeter(t.s.deps)
		f.again.SetPlaceHolder(text.T("The same once more"))
		f.entry.OnChanged = f.meter.Rate
		f.object.Add(f.again)
		f.object.Add(f.meter)
	}
	add := t.panel.Keys.NewLink(text.T("Add a key file…"), theme.FileIcon(), func() { files.ChooseFile(t.s.deps, "", f.addFile) })
	f.object.Objects = append(f.object.Objects, f.caps, f.list, container.NewHBox(add))
	t.add(f.object)
	if t.focus == nil {
		t.focus = f.entry
	}
	closed := t.closed
	t.closed = func() {
		f.forget()
		if closed != nil {
			closed()
		}
	}
	return f
}

// addFile adds a key file.
func (f *secretField) addFile(path string) {
	if !slices.Contains(f.files, path) {
		f.files = append(f.files, path)
	}
	f.showFiles()
}

func (f *secretField) showFiles() {
	f.list.Objects = nil
	for _, path := range f.files {
		name := widget.NewLabel(ui.Clean(filepath.Base(path)))
		name.Truncation = fyne.TextTruncateEllipsis
		remove := f.t.panel.Keys.NewLink("", theme.CancelIcon(), func() {
			f.files = slices.DeleteFunc(f.files, func(one string) bool { return one == path })
			f.showFiles()
		})
		f.list.Add(container.NewBorder(nil, nil, widget.NewIcon(theme.FileIcon()), remove, name))
	}
	f.list.Refresh()
	f.t.panel.Fit()
}

// wrong is what is wrong with what was typed, "" if nothing is. Nothing is taken out of the entries.
func (f *secretField) wrong() string {
	switch {
	case f.held != nil && f.entry.Empty() && (f.again == nil || f.again.Empty()):
		return ""
	case f.again != nil && f.entry.Text != f.again.Text:
		return text.T("The two new passwords differ.")
	case f.entry.Empty() && len(f.files) == 0:
		if f.again != nil {
			return text.T("Type a new password twice, or add a key file.")
		}
		return text.T("Type the password, or add a key file.")
	}
	return ""
}

// take takes what was typed out of the entries. The caller wipes it.
func (f *secretField) take() client.Credential {
	if f.held != nil && f.entry.Empty() {
		kept := *f.held
		f.held = nil
		kept.Keyfiles = slices.Clone(f.files)
		return kept
	}
	f.forgetHeld()
	c := client.Credential{Password: f.entry.Take(), Keyfiles: slices.Clone(f.files)}
	if f.again != nil {
		f.again.Take().Wipe()
		f.meter.Rate("")
		return c
	}
	if key, err := recovery.Normalise(c.Password); err == nil { // a recovery key opens it too, however it is written
		c.Wipe()
		c.Password = key
	}
	return c
}

// hold keeps what was taken for the next try: it was not what was wrong.
func (f *secretField) hold(c client.Credential) {
	f.forgetHeld()
	f.held = &c
	if c.Password != nil {
		f.entry.SetPlaceHolder(text.T("Password as typed before"))
	}
}

func (f *secretField) forgetHeld() {
	if f.held != nil {
		f.held.Wipe()
		f.held = nil
	}
	f.entry.SetPlaceHolder(text.T("Password"))
}

// forget forgets everything.
func (f *secretField) forget() {
	f.entry.Take().Wipe()
	if f.again != nil {
		f.again.Take().Wipe()
		f.meter.Rate("")
	}
	f.forgetHeld()
}
