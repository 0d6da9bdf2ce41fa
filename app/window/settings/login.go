package settings

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/config"
	"coffer/app/window/model"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// maxLogin is how many favourites are offered: a page of switches, not the whole list.
const maxLogin = 50

// loginPart is which favourites are unlocked at login, and where.
type loginPart struct {
	screen *Screen
	object fyne.CanvasObject
	list   *fyne.Container
	hint   *widget.Label
	shown  []config.Known
}

func (s *Screen) newLogin() fyne.CanvasObject {
	p := &loginPart{screen: s, list: container.NewVBox(), hint: ui.Paragraph("")}
	p.object = page(group(text.T("Favourites unlocked at login"),
		container.NewVBox(wrapped(text.T("When Coffer starts with the session it asks for the passwords of these, one after the other. No password is ever kept. It needs “Start with the session” under General.")),
			p.hint, p.list)))
	s.login = p
	return p.object
}

// loginChoices are the containers to offer: favourites, and those chosen already.
func loginChoices(containers []model.Container) (choices []config.Known) {
	for _, c := range containers {
		if c.Listed && (c.Favourite || c.UnlockAtLogin) && len(choices) < maxLogin {
			choices = append(choices, c.Known)
		}
	}
	return choices
}

// look shows the favourites as they are now.
func (p *loginPart) look() {
	choices := loginChoices(p.screen.deps.Model.Containers())
	if len(choices) == 0 {
		p.hint.SetText(text.T("There are no favourites yet. Make a container one with the star on its page under Containers."))
	}
	ui.Show(p.hint, len(choices) == 0)
	if same(choices, p.shown) {
		return
	}
	p.shown = choices
	p.list.RemoveAll()
	for i, known := range choices {
		if i > 0 {
			p.list.Add(widget.NewSeparator())
		}
		p.list.Add(p.newRow(known))
	}
	p.screen.fit()
}

// same says whether two lists show the same.
func same(a, b []config.Known) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Path != b[i].Path || a[i].Name != b[i].Name || a[i].UnlockAtLogin != b[i].UnlockAtLogin || a[i].MountPoint != b[i].MountPoint {
			return false
		}
	}
	return true
}

// newRow is one favourite: whether, and where.
func (p *loginPart) newRow(known config.Known) fyne.CanvasObject {
	message := ui.NewMessage()
	var keys *ui.Keys
	box := keys.NewCheck(text.T("Unlock at login"), nil)
	box.SetChecked(known.UnlockAtLogin)
	box.OnChanged = func(on bool) { p.update(known.Path, message, func(k *config.Known) { k.UnlockAtLogin = on }) }
	title := model.Container{Known: known}.Title()
	return container.NewVBox(row(ui.Clean(title), ui.Clean(known.Path), container.NewVBox(box, p.newPoint(known, message)), nil), message)
}

// newPoint is where the drive appears: a letter, or a folder.
func (p *loginPart) newPoint(known config.Known, message *ui.Message) fyne.CanvasObject {
	var keys *ui.Keys
	if runtime.GOOS == "windows" {
		letters := driveLetters()
		chosen := keys.NewSelect(letters, nil)
		chosen.SetSelectedIndex(max(0, indexFold(letters, known.MountPoint)))
		chosen.OnChanged = func(letter string) {
			if chosen.SelectedIndex() == 0 {
				letter = ""
			}
			p.update(known.Path, message, func(k *config.Known) { k.MountPoint = letter })
		}
		return chosen
	}
	entry := keys.NewEntry()
	entry.SetText(known.MountPoint)
	entry.SetPlaceHolder(text.T("Folder: chosen by Coffer"))
	turn := 0
	entry.OnChanged = func(typed string) {
		turn++
		mine := turn
		p.screen.deps.Work(func(context.Context) error { return checkPoint(typed) }, func(err error) {
			switch {
			case mine != turn:
			case err != nil:
				p.screen.say(message, widget.DangerImportance, ui.Sentence(err.Error()))
			default:
				p.update(known.Path, message, func(k *config.Known) { k.MountPoint = typed })
			}
		})
	}
	choose := keys.NewButton("", func() { p.screen.chooseFolder(entry.Text, entry.SetText) })
	choose.Icon = theme.FolderOpenIcon()
	return container.NewBorder(nil, nil, nil, choose, entry)
}

// driveLetters are the choices on Windows, the first for none in particular.
func driveLetters() []string {
	letters := []string{text.T("Next free letter")}
	for letter := 'D'; letter <= 'Z'; letter++ {
		letters = append(letters, string(letter)+":")
	}
	return letters
}

func indexFold(list []string, wanted string) int {
	for i, one := range list {
		if strings.EqualFold(one, wanted) {
			return i
		}
	}
	return -1
}

// checkPoint says whether path can be where a drive appears: a folder that is empty, or one that can still be made; "" is any.
func checkPoint(path string) error {
	if path == "" {
		return nil
	}
	if !filepath.IsAbs(path) {
		return errors.New(text.T("Write the whole path of the folder, from the root."))
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		if parent, err := os.Stat(filepath.Dir(path)); err != nil || !parent.IsDir() {
			return errors.New(text.T("There is no such folder."))
		}
	case err != nil:
		return err
	case !info.IsDir():
		return errors.New(text.T("That is a file, not a folder."))
	}
	return nil
}

// update changes what is known of a container, off Fyne's goroutine.
func (p *loginPart) update(path string, message *ui.Message, change func(*config.Known)) {
	p.screen.store.do(func() {
		err := p.screen.deps.Model.Update(path, change)
		p.screen.store.post(func() {
			if err != nil {
				p.screen.say(message, widget.DangerImportance, ui.Sentence(err.Error()))
				return
			}
			p.screen.say(message, widget.MediumImportance, "")
			for i := range p.shown {
				if p.shown[i].Path == path {
					change(&p.shown[i])
				}
			}
		})
	})
}
