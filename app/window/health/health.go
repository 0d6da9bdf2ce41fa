// Package health is the screen "Health and keys": the condition of a container, check, repair and salvage, its keys and header,
// its end, and the self-test of the program. Every action says first what it does and what can go wrong; those that need the
// container for themselves offer to lock it.
package health

import (
	"context"
	"path/filepath"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/client"
	"coffer/app/config"
	"coffer/app/protocol"
	"coffer/app/window/model"
	"coffer/app/window/text"
	"coffer/app/window/ui"
	"coffer/app/window/unlock"
)

// Screen is the screen. Make it with New.
type Screen struct {
	deps   *ui.Deps
	object fyne.CanvasObject
	picker *widget.Select
	paths  []string // of the picker's options
	body   *fyne.Container
	scroll *container.Scroll
	self   *selfTest

	shown  bool
	stop   func() // listening to the model
	image  string // path of the container that is shown; "": none
	state  model.Container
	info   *client.Info // nil: not known yet, or failure says why
	failed error
	loads  int                // how often it was looked at: the last answer counts
	checks map[string]checked // results of this session, by path
}

// checked is what the last check found.
type checked struct {
	at       time.Time
	clean    bool
	findings int
	repaired bool
	traces   string // as client.Checked tells them
}

// New makes the screen.
func New(d *ui.Deps) *Screen {
	s := &Screen{deps: d, checks: map[string]checked{}}
	s.picker = widget.NewSelect(nil, s.pick)
	s.picker.PlaceHolder = text.T("Choose a container")
	s.self = newSelfTest(d)
	s.body = container.New(layout.NewCustomPaddedVBoxLayout(2 * theme.Padding()))
	s.scroll = container.NewVScroll(container.NewPadded(s.body))
	head := container.NewBorder(nil, nil, nil, container.New(&wide{280}, s.picker), ui.Heading(text.T("Health and keys")))
	s.object = container.NewBorder(container.NewPadded(head), nil, nil, nil, ui.Follow(d, s.scroll))
	s.render()
	return s
}

// Object implements ui.Screen.
func (s *Screen) Object() fyne.CanvasObject { return s.object }

// Shown implements ui.Screen.
func (s *Screen) Shown(image string) {
	s.shown = true
	if s.stop == nil {
		s.stop = s.deps.Model.Listen(func() { s.deps.Do(s.changed) })
	}
	if image != s.image {
		s.image, s.info, s.failed = image, nil, nil
		s.scroll.ScrollToTop()
	}
	s.state = s.find()
	s.load()
}

// Hidden implements ui.Screen.
func (s *Screen) Hidden() {
	s.shown = false
	if s.stop != nil {
		s.stop()
		s.stop = nil
	}
}

// find is the container as the model knows it.
func (s *Screen) find() model.Container {
	for _, c := range s.deps.Model.Containers() {
		if c.Path == s.image {
			return c
		}
	}
	return model.Container{Known: config.Known{Path: s.image}}
}

// changed looks again if the container is in another state than before.
func (s *Screen) changed() {
	if !s.shown {
		return
	}
	now := s.find()
	before := s.state
	s.state = now
	if now.State != before.State || now.Status.MountPoint != before.Status.MountPoint || now.Title() != before.Title() || now.Status.Problem != before.Status.Problem {
		s.load()
		return
	}
	s.fillPicker()
}

// load asks for the container's facts and shows them.
func (s *Screen) load() {
	s.loads++
	load, image := s.loads, s.image
	if image == "" || s.state.State == model.Missing {
		s.info, s.failed = nil, nil
		s.render()
		return
	}
	if s.info == nil && s.failed == nil { // else what was known stays until more is
		s.render()
	}
	var info *client.Info
	s.deps.Work(func(ctx context.Context) (err error) {
		info, err = s.deps.Backend.Containers.Info(ctx, image)
		return err
	}, func(err error) {
		if load != s.loads {
			return
		}
		if ui.IsCode(err, int(protocol.Unsupported)) && s.state.Format == raw { // nothing in such a file says what it is
			info, err = rawInfo(s.state), nil
		}
		s.info, s.failed = info, err
		s.render()
	})
}

// raw is the format of a file system that is not encrypted.
const raw = "raw"

// rawInfo is what is known of a container that is not encrypted.
func rawInfo(c model.Container) *client.Info {
	info := &client.Info{Path: c.Path}
	info.Container.Format, info.Container.ImageBytes, info.Container.UsableBytes = raw, c.SizeBytes, c.SizeBytes
	if c.State.Open() {
		info.FileSystem = &client.FileSystem{Type: "FAT32", TotalBytes: c.Status.TotalBytes, FreeBytes: c.Status.FreeBytes}
	}
	return info
}

// format is the format that must be told for a container; "" for one that tells it.
func (s *Screen) format(image string) string {
	if s.image == image && s.info != nil && s.info.Container.Format == raw {
		return raw
	}
	return ""
}

// takeAsRaw notes that the file is a plain disk image, for a person who knows.
func (s *Screen) takeAsRaw() {
	image := s.image
	s.deps.Work(func(context.Context) error {
		return s.deps.Model.Update(image, func(k *config.Known) { k.Format = raw })
	}, func(err error) {
		ui.ShowError(s.deps.Shell.Window(), err)
		if s.image == image {
			s.state = s.find()
			s.load()
		}
	})
}

// pick turns to a container of the list.
func (s *Screen) pick(string) {
	if i := s.picker.SelectedIndex(); i >= 0 && s.paths[i] != s.image {
		s.deps.Shell.Show(ui.PageHealth, s.paths[i])
	}
}

// fillPicker offers the containers there are.
func (s *Screen) fillPicker() {
	var names, paths []string
	chosen := ""
	titles := map[string]int{}
	all := s.deps.Model.Containers()
	for _, c := range all {
		titles[c.Title()]++
	}
	for _, c := range all {
		name := ui.Clean(c.Title())
		if titles[c.Title()] > 1 {
			name = text.T("%s (%s)", name, ui.Clean(c.Path))
		}
		names, paths = append(names, name), append(paths, c.Path)
		if c.Path == s.image {
			chosen = name
		}
	}
	if chosen == "" && s.image != "" {
		chosen = ui.Clean(s.name())
		names, paths = append(names, chosen), append(paths, s.image)
	}
	same := len(names) == len(s.picker.Options) && s.picker.Selected == chosen
	for i := range names {
		same = same && names[i] == s.picker.Options[i] && paths[i] == s.paths[i]
	}
	if same {
		return
	}
	s.paths = paths
	s.picker.Options = names
	s.picker.Selected = chosen
	s.picker.Refresh()
}

// name is what the container is called.
func (s *Screen) name() string { return s.state.Title() }

// fileName is the name to type before something that cannot be undone.
func (s *Screen) fileName() string { return filepath.Base(s.image) }

// locked goes on with then once the container is locked: at once if it is, else after a question. why says what needs it.
func (s *Screen) locked(why string, then func()) {
	c := s.find()
	if !c.State.Open() && c.State != model.Busy && c.State != model.Unresponsive {
		then()
		return
	}
	body := container.NewVBox(ui.Paragraph(why), ui.Paragraph(text.T("It is unlocked now. Programs that have files of it open should close them first; nothing that is written down is lost.")))
	p := ui.NewPanel(s.deps.Shell.Window(), text.T("Lock %s first?", ui.Clean(c.Title())), panelWidth, body)
	lock := p.Keys.NewPrimary(text.T("Lock and go on"), func() {
		p.Close()
		unlock.Lock(s.deps, c, func() {
			s.deps.Model.Refresh()
			then()
		})
	})
	p.Keys.Enter, p.Keys.Escape = lock.OnTapped, p.Close
	p.SetButtons(p.Keys.NewButton(text.T("Cancel"), p.Close), lock)
	p.Show()
	p.Focus(lock)
}
