// Package settings is the screen "Settings": what a person chooses once, and what this program is. What is chosen is saved at
// once into the settings file, which the command line reads too.
package settings

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/config"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// Host is the window as far as settings change it. The Shell may be one; without it nothing but the file changes.
type Host interface {
	// Apply takes settings that have just been saved or read.
	Apply(config.Settings)
	// Restart ends the window and starts it anew. Drives and copies go on.
	Restart()
	// HasTray says whether the desktop shows a tray.
	HasTray() bool
}

// Screen is the screen. Make it with New.
type Screen struct {
	deps    *ui.Deps
	store   *store
	object  fyne.CanvasObject
	damaged *fyne.Container // shown while the settings file cannot be read
	reason  *ui.Message
	tabs    []*ui.KeyButton
	parts   []part
	stage   *container.Scroll
	at      int
	visible bool

	present config.Settings // as last read or saved
	fields  []field
	login   *loginPart
	start   *startField
	tray    *widget.Label // what keeping the window there does
	about   *aboutPart
}

// part is one page of the screen.
type part struct {
	title  string
	object fyne.CanvasObject
}

// New makes the screen.
func New(d *ui.Deps) *Screen {
	s := &Screen{deps: d, store: &store{path: d.Paths.SettingsFile(), deps: d}, present: config.Defaults(), reason: ui.NewMessage()}
	s.parts = []part{
		{text.T("General"), s.newGeneral()},
		{text.T("Locking"), s.newLocking()},
		{text.T("Drives and copies"), s.newDrives()},
		{text.T("At login"), s.newLogin()},
		{text.T("About"), s.newAbout()},
	}
	var keys *ui.Keys
	bar := container.NewHBox()
	for i, p := range s.parts {
		tab := keys.NewButton(p.title, func() { s.turn(i) })
		s.tabs = append(s.tabs, tab)
		bar.Add(tab)
	}
	again := widget.NewButton(text.T("Start over with the defaults"), s.startOver)
	s.damaged = container.NewVBox(s.reason, container.NewHBox(again))
	s.damaged.Hide()
	s.stage = container.NewVScroll(nil)
	head := container.NewVBox(ui.Heading(text.T("Settings")), bar, s.damaged)
	s.object = container.New(layout.NewCustomPaddedLayout(2*theme.Padding(), theme.Padding(), 3*theme.Padding(), theme.Padding()),
		container.NewBorder(head, nil, nil, nil, ui.Follow(d, s.stage)))
	s.turn(0)
	return s
}

// turn shows one part.
func (s *Screen) turn(to int) {
	s.at = to
	for i, tab := range s.tabs {
		if want := map[bool]widget.Importance{true: widget.MediumImportance, false: widget.LowImportance}[i == to]; tab.Importance != want {
			tab.Importance = want
			tab.Refresh()
		}
	}
	s.stage.Content = s.parts[to].object
	s.stage.Offset = fyne.Position{}
	s.stage.Refresh()
	if s.visible {
		s.showPart()
	}
}

// Object implements ui.Screen.
func (s *Screen) Object() fyne.CanvasObject { return s.object }

// Shown implements ui.Screen.
func (s *Screen) Shown(string) {
	s.visible = true
	s.store.read(s.took)
	s.showPart()
}

// showPart fills what is not in the settings file.
func (s *Screen) showPart() {
	s.start.look()
	if host, ok := s.deps.Shell.(Host); ok {
		ui.SetText(s.tray, trayWords(host.HasTray()))
	}
	switch s.parts[s.at].object {
	case s.login.object:
		s.login.look()
	case s.about.object:
		s.about.look()
	}
}

// Hidden implements ui.Screen.
func (s *Screen) Hidden() { s.visible = false }

// ShowAbout turns to the part that says what this program is.
func (s *Screen) ShowAbout() { s.turn(len(s.parts) - 1) }

// took shows settings that were read, or why they were not.
func (s *Screen) took(now config.Settings, err error) {
	if err != nil {
		s.reason.Say(widget.DangerImportance, text.T("The settings cannot be read, so the defaults are in use. %s", ui.Sentence(err.Error())))
		s.damaged.Show()
	} else if s.damaged.Visible() {
		s.damaged.Hide()
	}
	s.use(now)
	for _, f := range s.fields {
		f.show(now)
	}
}

// use applies settings to the window.
func (s *Screen) use(now config.Settings) {
	s.present = now
	if host, ok := s.deps.Shell.(Host); ok {
		host.Apply(now)
	}
}

// startOver puts a settings file aside that cannot be read, and begins with the defaults.
func (s *Screen) startOver() {
	s.store.startOver(func(now config.Settings, err error) {
		if err != nil {
			ui.ShowError(s.deps.Shell.Window(), err)
			return
		}
		s.took(now, nil)
	})
}

// say says something beside a field, "" nothing, and makes room for it.
func (s *Screen) say(message *ui.Message, importance widget.Importance, words string) {
	if message.Text() != words {
		message.Say(importance, words)
		s.fit()
	}
}

// fit lays out the part that is shown after something in it has become larger or smaller.
func (s *Screen) fit() {
	if s.stage != nil && s.stage.Content != nil {
		s.stage.Content.Refresh()
		s.stage.Refresh()
	}
}

// change saves a change of the settings; what is wrong with it stands in message.
func (s *Screen) change(message *ui.Message, change func(*config.Settings)) {
	s.store.change(change, func(now config.Settings, err error) {
		if err != nil {
			s.say(message, widget.DangerImportance, ui.Sentence(err.Error()))
			return
		}
		s.say(message, widget.MediumImportance, "")
		s.use(now)
	})
}
