package create

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
	"github.com/adrg/xdg"

	"coffer/app/window/files"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// extension of new containers.
const extension = ".img"

// beginning is what is suggested.
type beginning struct {
	folder, name string
	place        place
}

// begin finds a good place, and a name that is free there.
func begin(files []string) beginning {
	b := beginning{name: text.T("My files")}
	if len(files) == 1 {
		name := filepath.Base(files[0])
		if name = strings.TrimSuffix(name, filepath.Ext(name)); wrongName(name) == "" {
			b.name = name
		}
	}
	for _, folder := range []string{xdg.UserDirs.Documents, xdg.Home} {
		b.folder = folder
		if b.place = lookAt(folder); b.place.problem == "" {
			break
		}
	}
	wanted := b.name
	for n := 2; n < 1000; n++ {
		if _, err := os.Lstat(filepath.Join(b.folder, b.name+extension)); os.IsNotExist(err) {
			break
		}
		b.name = wanted + " " + strconv.Itoa(n)
	}
	return b
}

// place is what is known of a folder.
type place struct {
	problem string // why nothing can be made there
	free    int64  // bytes; negative: not known
	largest int64  // file its file system can hold; 0: no limit of interest
}

// lookAt finds out whether a container can be made in a folder, without writing there.
func lookAt(folder string) place {
	p := place{free: -1}
	info, err := os.Stat(folder)
	switch {
	case folder == "" || os.IsNotExist(err):
		p.problem = text.T("This folder is not there. Choose another one.")
	case err != nil:
		p.problem = text.T("This folder cannot be reached: %s", ui.Sentence(err.Error()))
	case !info.IsDir():
		p.problem = text.T("This is not a folder. Choose another one.")
	case !writable(folder):
		p.problem = text.T("You may not write to this folder. Choose another one.")
	default:
		p.free, p.largest = space(folder)
	}
	return p
}

// wrongName says why a file cannot have a name; "" if it can, on every system that the container may travel to.
func wrongName(name string) string {
	switch {
	case name == "":
		return text.T("Give it a name.")
	case strings.HasPrefix(name, "."):
		return text.T("A name that begins with a dot hides the file. Choose another one.")
	case strings.ContainsAny(name, `/\:*?"<>|`) || strings.ContainsFunc(name, unicode.IsControl):
		return text.T(`A name cannot have any of / \ : * ? " < > | in it.`)
	case strings.TrimRight(name, " .") != name || strings.TrimSpace(name) != name:
		return text.T("A name cannot begin or end with a blank, nor end with a dot.")
	case len(name)+len(extension) > 240:
		return text.T("This name is too long.")
	}
	return ""
}

// placePage is the first step.
type placePage struct {
	w       *wizard
	content *fyne.Container
	name    *ui.KeyEntry
	folder  string
	where   *widget.Label
	whole   *widget.Label
	message *ui.Message
	known   place
	looks   int // number of the last look at the disk
}

func newPlacePage(w *wizard, start beginning) *placePage {
	p := &placePage{w: w, name: w.keys.NewEntry(), folder: start.folder, known: start.place, where: widget.NewLabel(""), whole: ui.Caption(""), message: ui.NewMessage()}
	p.name.SetText(start.name)
	p.name.OnChanged = func(string) { p.changed() }
	p.where.Truncation, p.whole.Truncation = fyne.TextTruncateEllipsis, fyne.TextTruncateEllipsis
	change := w.keys.NewButton(text.T("Change…"), func() {
		chooseFolder(w.d, p.folder, func(folder string) {
			p.folder = folder
			p.changed()
		})
	})
	change.Icon = theme.FolderOpenIcon()
	p.content = container.NewVBox(
		ui.Paragraph(text.T("A container is one file. Everything you put into it is encrypted; unlocked, it is a drive. You can copy, move and back it up like any other file.")),
		ui.Space(1, theme.Padding()),
		ui.Subheading(text.T("Name")), p.name,
		ui.Subheading(text.T("Folder")), container.NewBorder(nil, nil, widget.NewIcon(theme.FolderIcon()), change, p.where),
		p.whole, p.message)
	p.show()
	return p
}

// path of the new container.
func (p *placePage) path() string {
	name := p.name.Text
	if !strings.EqualFold(filepath.Ext(name), extension) {
		name += extension
	}
	return filepath.Join(p.folder, name)
}

// title is the name without its extension.
func (p *placePage) title() string {
	return strings.TrimSuffix(filepath.Base(p.path()), filepath.Ext(p.path()))
}

func (p *placePage) show() {
	ui.SetText(p.where, ui.Clean(p.folder))
	ui.SetText(p.whole, text.T("The file will be %s", ui.Clean(p.path())))
}

// changed looks whether the place is all right, while the person types.
func (p *placePage) changed() {
	p.show()
	if wrong := wrongName(p.name.Text); wrong != "" {
		p.looks++ // what is found out about another name does not count any more
		p.say(wrong)
		return
	}
	p.look(func(string) {})
}

// look finds out what is wrong with the place, off Fyne's goroutine, says it, and calls then with it; "" for nothing.
func (p *placePage) look(then func(wrong string)) {
	p.looks++
	number, folder, path := p.looks, p.folder, p.path()
	var found place
	wrong := ""
	p.w.d.Work(func(context.Context) error {
		found = lookAt(folder)
		wrong = found.problem
		if wrong == "" {
			if _, err := os.Lstat(path); err == nil {
				wrong = text.T("There is already a file with this name. Nothing is ever overwritten: choose another name.")
			}
		}
		return nil
	}, func(error) {
		if number != p.looks {
			then(text.T("Changed"))
			return
		}
		p.known = found
		p.say(wrong)
		then(wrong)
	})
}

func (p *placePage) say(wrong string) {
	if p.message.Text() != wrong {
		p.message.Say(widget.DangerImportance, wrong)
		p.w.panel.Fit()
	}
}

func (p *placePage) object() fyne.CanvasObject { return p.content }

func (p *placePage) shown() {
	p.w.panel.Focus(p.name)
	p.name.TypedShortcut(&fyne.ShortcutSelectAll{})
}

func (p *placePage) leave(answer func(bool)) {
	if wrong := wrongName(p.name.Text); wrong != "" {
		p.say(wrong)
		answer(false)
		return
	}
	p.look(func(wrong string) { answer(wrong == "") })
}

// What asks for a file, a folder or the name of a new file; variables so that tests need no dialog.
var (
	chooseFile   = files.ChooseFile
	chooseFolder = files.ChooseFolder
	chooseNew    = files.ChooseNew
)
