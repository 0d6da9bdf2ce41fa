package health

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"

	"github.com/adrg/xdg"

	"coffer/app/client"
	"coffer/app/protocol"
	"coffer/app/window/files"
	"coffer/app/window/text"
	"coffer/app/window/transfers/export"
	"coffer/app/window/ui"
)

// documents is where people look for what they have saved.
func documents() string {
	if info, err := os.Stat(xdg.UserDirs.Documents); err == nil && info.IsDir() {
		return xdg.UserDirs.Documents
	}
	home, _ := os.UserHomeDir()
	return home
}

// addNewPath adds the question where to make a file or folder, with a proposal for its name.
func (t *task) addNewPath(label, name string) *ui.KeyEntry {
	e := t.panel.Keys.NewEntry()
	choose := t.panel.Keys.NewButton(text.T("Choose…"), func() {
		at, last := filepath.Split(strings.TrimSpace(e.Text))
		if last == "" {
			last = name
		}
		files.ChooseNew(t.s.deps, label, at, last, e.SetText)
	})
	choose.Icon = theme.FolderOpenIcon()
	t.add(ui.Subheading(label), container.NewBorder(nil, nil, nil, choose, e))
	e.SetText(filepath.Join(documents(), name))
	if t.focus == nil {
		t.focus = e
	}
	return e
}

// addOldPath adds the question for a file that is there.
func (t *task) addOldPath(label string) *ui.KeyEntry {
	e := t.panel.Keys.NewEntry()
	choose := t.panel.Keys.NewButton(text.T("Choose…"), func() {
		at := strings.TrimSpace(e.Text)
		if at != "" {
			at = filepath.Dir(at)
		} else {
			at = documents()
		}
		files.ChooseFile(t.s.deps, at, e.SetText)
	})
	choose.Icon = theme.FolderOpenIcon()
	t.add(ui.Subheading(label), container.NewBorder(nil, nil, nil, choose, e))
	if t.focus == nil {
		t.focus = e
	}
	return e
}

// wrongPath is what is wrong with a path that was typed.
func wrongPath(typed string) string {
	switch path := strings.TrimSpace(typed); {
	case path == "":
		return text.T("Choose a file or folder.")
	case !filepath.IsAbs(path):
		return text.T("Give the whole path, from its beginning.")
	}
	return ""
}

// mustBeNew refuses a file that is there, in plain words.
func mustBeNew(path string) error {
	if _, err := os.Lstat(path); err == nil {
		return &client.Error{Problem: protocol.Problem{Sentence: text.T("There is a file with that name already. Choose another name."), Code: protocol.Failed}}
	}
	return nil
}

// showFolder is a button that opens the folder at path in the file manager.
func (s *Screen) showFolder(path string) func(p *ui.Panel) fyne.CanvasObject {
	return func(p *ui.Panel) fyne.CanvasObject {
		return p.Keys.NewButton(text.T("Show folder"), func() {
			p.Close()
			s.deps.Work(func(context.Context) error { return export.Open(path) }, func(err error) { ui.ShowError(s.deps.Shell.Window(), err) })
		})
	}
}
