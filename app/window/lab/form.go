package lab

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/client"
	"coffer/app/window/files"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// experiment is one that can be made.
type experiment struct {
	name    string // as client.LabRequest takes it
	title   string
	answers string // the question it answers
	quick   string // how long it takes
	full    string
}

// all is the experiment that makes the others.
const all = "all"

// experiments are those there are.
func experiments() []experiment {
	return []experiment{
		{"copy", text.T("Copies"), text.T("What does encryption cost a copy? One large file and a photo archive, or a folder of your own, go into a container and come back, beside the same copies without encryption."),
			text.T("about a minute"), text.T("a few minutes on a fast disk; it copies about 40 GB")},
		{"ciphers", text.T("Ciphers"), text.T("How fast is each cipher on this computer? In memory and through a file, with one core and with all."),
			text.T("about a minute"), text.T("a few minutes")},
		{"drive", text.T("Drive or folder"), text.T("What can a drive or a folder do? One large file, jumps to and fro in it, and many small files."),
			text.T("a few seconds to a minute"), text.T("a few minutes")},
		{all, text.T("Everything"), text.T("All three, one after the other, on the same disk."),
			text.T("a few minutes"), text.T("a quarter of an hour or more")},
	}
}

// titleOf is what people call an experiment.
func titleOf(name string) string {
	for _, e := range experiments() {
		if e.name == name {
			return e.title
		}
	}
	return name
}

// maxRounds bounds what a person may ask for, as the command line does.
const maxRounds = 1000

// form asks what experiment to make.
type form struct {
	deps    *ui.Deps
	run     func(client.LabRequest)
	object  fyne.CanvasObject
	choices []*choice
	chosen  experiment

	effort *widget.RadioGroup
	place  *widget.SelectEntry
	about  *widget.Label // what the place is
	own    *widget.Entry
	via    *widget.RadioGroup
	rounds *widget.Entry
	extras *fyne.Container // what only the experiment copy has
	wrong  *widget.Label   // what is wrong with what was typed
	start  *widget.Button
	busy   bool
	typed  bool // the place was chosen by the person
}

func newForm(d *ui.Deps, run func(client.LabRequest)) *form {
	f := &form{deps: d, run: run, effort: widget.NewRadioGroup(nil, nil), place: widget.NewSelectEntry(nil), about: ui.Caption(""),
		own: widget.NewEntry(), via: widget.NewRadioGroup(nil, nil), rounds: widget.NewEntry(), wrong: ui.Paragraph("")}
	grid := container.NewGridWithColumns(2)
	for _, e := range experiments() {
		c := newChoice(e.title, e.answers, func() { f.choose(e.name) })
		f.choices = append(f.choices, c)
		grid.Add(c)
	}
	f.about.Wrapping = fyne.TextWrapWord
	f.effort.Required, f.via.Required, f.via.Horizontal = true, true, true
	f.via.Options = []string{viaDirect(), viaMount()}
	f.via.Selected = viaDirect()
	f.place.OnChanged = func(string) { f.typed = true; f.check() }
	f.own.SetPlaceHolder(text.T("Files made for it"))
	f.own.OnChanged = func(string) { f.check() }
	f.rounds.SetPlaceHolder(text.T("As many as it needs"))
	f.rounds.OnChanged = func(string) { f.check() }
	f.wrong.Importance = widget.DangerImportance
	f.wrong.Hide()
	f.start = widget.NewButtonWithIcon(text.T("Run"), theme.MediaPlayIcon(), f.submit)
	f.start.Importance = widget.HighImportance
	f.extras = container.New(layout.NewFormLayout(),
		widget.NewLabel(text.T("What to copy")), chooser(f.own, func() { f.chooseFolder(f.own) }),
		widget.NewLabel(text.T("How")), f.via)
	more := widget.NewAccordion(widget.NewAccordionItem(text.T("More"), container.NewVBox(f.extras,
		container.New(layout.NewFormLayout(), widget.NewLabel(text.T("Rounds")), f.rounds))))
	place := container.NewVBox(chooser(f.place, func() { f.chooseFolder(&f.place.Entry) }), f.about)
	body := container.NewVBox(
		ui.Heading(text.T("Measure this computer")),
		ui.Paragraph(text.T("Choose a question. The answer is a table and a picture, with figures that others have published beside them.")),
		grid,
		ui.Card(container.NewVBox(
			container.New(layout.NewFormLayout(),
				widget.NewLabel(text.T("How thorough")), f.effort,
				widget.NewLabel(text.T("Where")), place),
			more)),
	)
	foot := container.NewPadded(container.NewBorder(nil, nil, f.start, nil, f.wrong))
	f.object = container.NewBorder(nil, foot, nil, nil, ui.Follow(f.deps, container.NewVScroll(container.NewPadded(body))))
	f.choose(experiments()[0].name)
	return f
}

// chooser is an entry for a path with a button that opens the chooser of files.
func chooser(entry fyne.CanvasObject, choose func()) fyne.CanvasObject {
	return container.NewBorder(nil, nil, nil, widget.NewButtonWithIcon(text.T("Choose…"), theme.FolderOpenIcon(), choose), entry)
}

func viaDirect() string { return text.T("Through Coffer alone") }
func viaMount() string  { return text.T("Through a drive") }

// choose turns to an experiment.
func (f *form) choose(name string) {
	for i, e := range experiments() {
		if e.name == name {
			f.chosen = e
		}
		f.choices[i].choose(e.name == name)
	}
	quick := f.effort.Selected == "" || len(f.effort.Options) > 0 && f.effort.Selected == f.effort.Options[0]
	f.effort.Options = []string{text.T("Quick: %s", f.chosen.quick), text.T("Full: %s", f.chosen.full)}
	f.effort.Selected = f.effort.Options[1]
	if quick {
		f.effort.Selected = f.effort.Options[0]
	}
	f.effort.Refresh()
	if name == "drive" {
		f.about.SetText(text.T("The folder to measure: on an unlocked drive, on another one, or on a plain disk. Nothing stays in it."))
	} else {
		f.about.SetText(text.T("A folder on the disk to measure. What is made there is removed at the end, also when you cancel."))
	}
	ui.Show(f.extras, name == "copy")
	f.suggest()
	f.check()
}

// suggest offers places: the person's folder and the drives that are unlocked.
func (f *form) suggest() {
	var drives []string
	for _, c := range f.deps.Model.Containers() {
		if c.State.Open() && c.Status.MountPoint != "" {
			at := c.Status.MountPoint
			if c.Path == f.chosenImage() {
				drives = append([]string{at}, drives...)
			} else {
				drives = append(drives, at)
			}
		}
	}
	home, _ := os.UserHomeDir()
	places := []string{home}
	if f.chosen.name == "drive" {
		places = append(drives, home)
	}
	places = slices.DeleteFunc(places, func(p string) bool { return p == "" })
	f.place.SetOptions(places)
	if !f.typed && len(places) > 0 && f.place.Text != places[0] {
		f.place.SetText(places[0])
		f.typed = false
	}
}

func (f *form) chosenImage() string {
	if f.deps.Shell == nil {
		return ""
	}
	return f.deps.Shell.Chosen()
}

// request is what the form asks for, or why it cannot be made.
func (f *form) request() (client.LabRequest, string) {
	r := client.LabRequest{Experiment: f.chosen.name, At: strings.TrimSpace(f.place.Text), Quick: f.effort.Selected == f.effort.Options[0]}
	switch {
	case r.At == "":
		return r, text.T("Choose a folder to work in.")
	case !filepath.IsAbs(r.At):
		return r, text.T("Give the whole path of the folder, from its beginning.")
	}
	if rounds := strings.TrimSpace(f.rounds.Text); rounds != "" {
		n, err := strconv.Atoi(rounds)
		if err != nil || n < 1 || n > maxRounds {
			return r, text.T("Rounds are a number from 1 to %d.", maxRounds)
		}
		r.Rounds = n
	}
	if r.Experiment != "copy" {
		return r, ""
	}
	if r.Folder = strings.TrimSpace(f.own.Text); r.Folder != "" && !filepath.IsAbs(r.Folder) {
		return r, text.T("Give the whole path of the folder to copy, from its beginning.")
	}
	if f.via.Selected == viaMount() {
		r.Via = "mount"
	}
	return r, ""
}

// check shows what is wrong with what was typed.
func (f *form) check() {
	if f.start == nil {
		return
	}
	_, wrong := f.request()
	ui.SetText(f.wrong, wrong)
	ui.Show(f.wrong, wrong != "")
	ui.Enable(f.start, wrong == "" && !f.busy)
}

// setBusy says whether an experiment is under way: one at a time.
func (f *form) setBusy(busy bool) {
	f.busy = busy
	f.check()
}

// submit runs what was asked for.
func (f *form) submit() {
	if r, wrong := f.request(); wrong == "" && !f.busy {
		f.run(r)
	}
}

// chooseFolder puts a folder into an entry.
func (f *form) chooseFolder(entry *widget.Entry) {
	at := strings.TrimSpace(entry.Text)
	if !filepath.IsAbs(at) {
		at = ""
	}
	files.ChooseFolder(f.deps, at, entry.SetText)
}
