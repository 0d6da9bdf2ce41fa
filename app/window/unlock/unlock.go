// Package unlock is the dialog that unlocks a container, and what happens when one is locked.
package unlock

import (
	"context"
	"path/filepath"

	"fyne.io/fyne/v2"

	"coffer/app/client"
	"coffer/app/config"
	"coffer/app/window/files"
	"coffer/app/window/model"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// current is the dialog that is open; Fyne's goroutine only.
var current *prompt

// Show asks for what unlocks the container at path image, over the window, unless it is unlocked already. then, which may be
// nil, is called with its identity.
func Show(d *ui.Deps, image string, then func(id string)) {
	if absolute, err := filepath.Abs(image); err == nil {
		image = absolute
	}
	if current != nil {
		if current.container.Path == image {
			return
		}
		current.close()
	}
	look(d, image, func(c model.Container) {
		if current != nil { // asked for twice at once
			return
		}
		newPrompt(d, c, then).show()
	}, then)
}

// ShowThen asks as Show does, and calls after once the dialog is gone, whether the container was unlocked or not.
func ShowThen(d *ui.Deps, image string, after func()) {
	if current != nil {
		current.close()
	}
	look(d, image, func(c model.Container) {
		if current != nil {
			return
		}
		p := newPrompt(d, c, nil)
		p.left = after
		p.show()
	}, func(string) { after() })
}

// With unlocks the container at path image with a credential that is known, as a new container's is, and goes on as Show does:
// when it fails the dialog says so. It wipes the credential.
func With(d *ui.Deps, image string, credential client.Credential, then func(id string)) {
	if current != nil {
		current.close()
	}
	p := newPrompt(d, model.Container{Known: config.Known{Path: image}}, then)
	p.show()
	p.held = &credential
	p.addKeyfiles(credential.Keyfiles)
	p.start()
}

// Dropped takes files from the desktop as key files if the dialog is open, and says whether it did.
func Dropped(paths []string) bool {
	if current == nil || !current.asking() || current.raw || len(paths) == 0 {
		return false
	}
	if current.recovery.Visible() {
		current.useRecovery(false)
	}
	current.addKeyfiles(paths)
	return true
}

// look finds out how a container is and shows the dialog for it unless it is unlocked, where then is called, or missing.
func look(d *ui.Deps, image string, ask func(model.Container), then func(string)) {
	var c model.Container
	d.Work(func(context.Context) error {
		c = d.Model.Container(image)
		if c.State.Open() {
			return d.Model.Add(c.Path)
		}
		return nil
	}, func(err error) {
		switch {
		case err != nil:
			ui.ShowError(d.Shell.Window(), err)
		case c.State.Open():
			if then != nil {
				then(c.ID)
			}
		case c.State == model.Missing:
			showMissing(d, c, then)
		default:
			ask(c)
		}
	})
}

// showMissing is for a file of the list that is not where it was.
func showMissing(d *ui.Deps, c model.Container, then func(string)) {
	w := d.Shell.Window()
	words := ui.Paragraph(text.T("There is no file at %s. It may have been moved or renamed, or be on a disk that is not connected.", ui.Clean(c.Path)))
	p := ui.NewPanel(w, text.T("%s is not there", ui.Clean(c.Title())), 520, words)
	p.Keys.Escape = p.Close
	find := p.Keys.NewPrimary(text.T("Look for it…"), func() {
		chooseFile(d, filepath.Dir(c.Path), func(path string) {
			p.Close()
			d.Work(func(context.Context) error { return moved(d.Model, c, path) }, func(err error) {
				if err != nil {
					ui.ShowError(w, err)
					return
				}
				Show(d, path, then)
			})
		})
	})
	p.Keys.Enter = find.OnTapped
	buttons := []fyne.CanvasObject{p.Keys.NewButton(text.T("Cancel"), p.Close)}
	if c.Listed {
		buttons = append(buttons, p.Keys.NewButton(text.T("Remove from the list"), func() {
			p.Close()
			d.Work(func(context.Context) error { return d.Model.Forget(c.Path) }, func(err error) { ui.ShowError(w, err) })
		}))
	}
	p.SetButtons(append(buttons, find)...)
	p.Show()
}

// moved makes the list know a container at its new path.
func moved(m *model.Model, c model.Container, path string) error {
	if err := m.Update(path, func(k *config.Known) {
		old := c.Known
		old.Path = path
		*k = old
	}); err != nil {
		return err
	}
	if path == c.Path {
		return nil
	}
	return m.Forget(c.Path)
}

// What asks for a file or a folder that is there; variables so that tests need no dialog.
var (
	chooseFile   = files.ChooseFile
	chooseFolder = files.ChooseFolder
)
