// Package home is the screen "Containers": the list of those a person knows, and the one chosen in detail.
package home

import (
	"context"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
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

const (
	// searchFrom is how many containers make the list worth a search.
	searchFrom = 10
	// infoAfter is how long a container must be chosen until its file is looked at: who walks through the list does not wait.
	infoAfter = 200 * time.Millisecond
)

// Screen is the screen. Make it with New.
type Screen struct {
	deps    *ui.Deps
	object  *fyne.Container
	empty   fyne.CanvasObject
	full    fyne.CanvasObject
	list    *list
	detail  *detail
	search  *searchEntry
	nothing *widget.Label // no container is what was typed
	failure *ui.Message
	lockAll *widget.Button

	all      []model.Container
	chosen   string
	known    map[string]about
	settings config.Settings
	shown    bool
	pending  atomic.Bool        // take will run
	stop     func()             // listens to the model no more
	forget   context.CancelFunc // looks at the file chosen no more
	looked   looked             // what look was begun for
	looks    sync.WaitGroup     // for tests, which remove the files
	openURL  func(*url.URL) error
}

// New makes the screen.
func New(d *ui.Deps) *Screen {
	s := &Screen{deps: d, known: map[string]about{}, settings: config.Defaults(), stop: func() {}, forget: func() {}}
	s.openURL = func(u *url.URL) error { return fyne.CurrentApp().OpenURL(u) }
	s.list = newList()
	s.list.choose, s.list.act, s.list.remove, s.list.rename, s.list.menu = s.choose, s.primary, s.remove, s.rename, s.showMenu
	s.detail = newDetail(deeds{primary: s.primary, open: s.open, browse: s.browse, star: s.star, menu: s.showMenu, change: s.change})
	s.search = newSearchEntry(func(string) { s.update() }, func() { s.focus(s.list) })
	s.nothing = ui.Caption(text.T("No container has that in its name or path."))
	s.nothing.Wrapping = fyne.TextWrapWord
	s.failure = ui.NewMessage()
	s.lockAll = widget.NewButtonWithIcon(text.T("Lock all"), ui.IconLocked, func() { unlock.LockAll(d, nil) })
	add := widget.NewButtonWithIcon(text.T("Add existing…"), theme.FolderOpenIcon(), s.addExisting)
	create := widget.NewButtonWithIcon(text.T("New container…"), theme.ContentAddIcon(), func() { d.Shell.NewContainer(nil) })
	bar := container.NewBorder(nil, nil, nil, container.NewCenter(container.New(layout.NewCustomPaddedHBoxLayout(2*theme.Padding()), create, add, s.lockAll)), ui.Heading(text.T("Containers")))
	left := container.NewBorder(container.NewVBox(s.search, s.nothing), nil, nil, nil, s.list)
	s.full = container.NewBorder(container.NewVBox(bar, s.failure), nil, nil, nil,
		container.New(columns{}, left, ui.Follow(d, s.detail.object)))
	s.empty = s.welcome()
	s.object = container.NewStack(s.empty, s.full)
	s.search.Hide()
	s.nothing.Hide()
	s.full.Hide()
	return s
}

// columns is the list beside the detail.
type columns struct{}

const (
	listLeast, listMost = 270, 380
	detailLeast         = 430
)

func (columns) MinSize([]fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(listLeast+detailLeast+3*theme.Padding(), 300)
}

func (columns) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	gap := 3 * theme.Padding()
	width := max(listLeast, min(listMost, size.Width*0.36))
	objects[0].Resize(fyne.NewSize(width, size.Height))
	objects[1].Move(fyne.NewPos(width+gap, 0))
	objects[1].Resize(fyne.NewSize(size.Width-width-gap, size.Height))
}

// welcome is what somebody sees who has no container yet.
func (s *Screen) welcome() fyne.CanvasObject {
	icon := widget.NewIcon(ui.Tinted(ui.IconLocked, theme.ColorNamePrimary))
	title := ui.Heading(text.T("Your files, in an encrypted drive"))
	title.Truncation, title.Alignment = fyne.TextTruncateOff, fyne.TextAlignCenter
	words := widget.NewLabelWithStyle(text.T("A container is one file that a password opens. Unlocked, it is a drive like a USB stick; locked, nobody can read it."),
		fyne.TextAlignCenter, fyne.TextStyle{})
	words.Wrapping = fyne.TextWrapWord
	create := widget.NewButtonWithIcon(text.T("Create a container"), ui.Tinted(theme.ContentAddIcon(), theme.ColorNameForegroundOnPrimary), func() { s.deps.Shell.NewContainer(nil) })
	create.Importance = widget.HighImportance
	open := widget.NewButtonWithIcon(text.T("Open one"), theme.FolderOpenIcon(), s.addExisting)
	hint := ui.Caption(text.T("Or drop a container, or files for a new one, on this window."))
	hint.Alignment = fyne.TextAlignCenter
	buttons := container.New(layout.NewCustomPaddedHBoxLayout(4*theme.Padding()), big(create), big(open))
	return container.NewCenter(container.New(layout.NewCustomPaddedVBoxLayout(2*theme.Padding()),
		container.NewCenter(container.NewGridWrap(fyne.NewSquareSize(72), icon)), title,
		container.NewCenter(container.NewGridWrap(fyne.NewSize(520, 64), words)), container.NewCenter(buttons), ui.Space(1, 4), hint))
}

// big gives a button the size of the thing that a screen is about.
func big(b *widget.Button) fyne.CanvasObject {
	return container.NewGridWrap(fyne.NewSize(max(220, b.MinSize().Width), 52), b)
}

// Object implements ui.Screen.
func (s *Screen) Object() fyne.CanvasObject { return s.object }

// Shown implements ui.Screen.
func (s *Screen) Shown(image string) {
	if image != "" {
		s.chosen = image
	}
	again := s.shown
	if !again {
		s.shown = true
		s.stop = s.deps.Model.Listen(func() {
			if s.pending.CompareAndSwap(false, true) { // one look is enough for all changes until then
				s.deps.Do(func() {
					s.pending.Store(false)
					s.take(s.deps.Model.Containers())
				})
			}
		})
		s.keys(true)
	}
	s.take(s.deps.Model.Containers())
	if again {
		return
	}
	s.look()
	var chosen config.Settings
	s.deps.Work(func(context.Context) (err error) {
		chosen, err = s.deps.Settings()
		return err
	}, func(error) { // settings that cannot be read are told by their own screen; the defaults hold
		s.settings = chosen
		s.update()
	})
}

// Hidden implements ui.Screen.
func (s *Screen) Hidden() {
	s.shown = false
	s.stop()
	s.forget()
	s.keys(false)
}

// keys takes the keys of the window that are for this screen, or gives them back.
func (s *Screen) keys(take bool) {
	c := s.deps.Shell.Window().Canvas()
	cut := shortcut(fyne.KeyF)
	if !take {
		c.RemoveShortcut(cut)
		return
	}
	c.AddShortcut(cut, func(fyne.Shortcut) {
		if c.Overlays().Top() == nil {
			s.focus(s.search)
		}
	})
}

// focus gives something the keyboard, if it is to be seen.
func (s *Screen) focus(o fyne.Focusable) {
	if o.(fyne.CanvasObject).Visible() {
		s.deps.Shell.Window().Canvas().Focus(o)
	}
}

// take shows containers as they are now.
func (s *Screen) take(all []model.Container) {
	if !s.shown {
		return
	}
	s.all = all
	if c := s.current(); c != nil && s.looked != (looked{c.Path, c.State}) { // just made or found, unlocked or locked
		s.look()
	}
	s.update()
}

// current is the container chosen, nil if there is none.
func (s *Screen) current() *model.Container {
	i := slices.IndexFunc(s.all, func(c model.Container) bool { return c.Path == s.chosen })
	if i < 0 {
		return nil
	}
	return &s.all[i]
}

// update shows what there is.
func (s *Screen) update() {
	ui.Show(s.empty, len(s.all) == 0)
	ui.Show(s.full, len(s.all) > 0)
	if len(s.all) == 0 {
		return
	}
	ui.Show(s.search, len(s.all) > searchFrom)
	shown := s.all
	if s.search.Visible() && strings.TrimSpace(s.search.Text) != "" {
		shown = nil
		for _, c := range s.all {
			if matches(c, s.search.Text) {
				shown = append(shown, c)
			}
		}
	}
	ui.Show(s.nothing, len(shown) == 0)
	if s.current() == nil {
		s.turnTo(s.all[0].Path)
	}
	s.list.set(shown, s.chosen)
	ui.Enable(s.lockAll, slices.ContainsFunc(s.all, func(c model.Container) bool { return c.State.Held() }))
	why := ""
	if err := s.deps.Model.Failure(); err != nil {
		why = text.T("What is unlocked cannot be found out: %s", ui.Sentence(client.Explain(err).Sentence))
	}
	say(s.failure, widget.DangerImportance, why)
	c := s.current()
	s.detail.set(*c, s.known[c.Path], s.deps.Model.History(c.ID), s.settings, time.Now())
}

// choose works with the container at path from now on.
func (s *Screen) choose(path string) {
	s.turnTo(path)
	s.detail.object.ScrollToTop()
	s.update()
}

// turnTo makes it the chosen one, here and for the other screens.
func (s *Screen) turnTo(path string) {
	s.chosen = path
	s.look()
	if s.deps.Shell.Chosen() != path {
		s.deps.Shell.Show(ui.PageHome, path)
	}
}

// looked is a container in a state: what its file says was asked then.
type looked struct {
	path  string
	state model.State
}

// passes says whether an error only tells that the container is just being unlocked or locked: its state says that.
func passes(err error) bool {
	return ui.IsCode(err, int(protocol.InUse), int(protocol.NoCredential), int(protocol.Interrupted))
}

// look finds out what the file of the chosen container says of itself, in a moment.
func (s *Screen) look() {
	s.forget()
	s.looked = looked{}
	c := s.current()
	if c == nil || c.State == model.Missing || c.State == model.Busy || c.State == model.Unresponsive || c.Format == "raw" {
		return
	}
	s.looked = looked{c.Path, c.State}
	path, format, listed := c.Path, c.Format, c.Listed
	ctx, cancel := context.WithCancel(s.deps.Context)
	s.forget = cancel
	s.looks.Go(func() {
		select {
		case <-ctx.Done():
			return
		case <-time.After(infoAfter):
		}
		info, err := s.deps.Backend.Containers.Info(ctx, path)
		if ctx.Err() != nil || passes(err) {
			return
		}
		s.deps.Do(func() {
			s.known[path] = about{info, err}
			if s.shown && s.chosen == path {
				s.update()
			}
		})
		if err == nil && listed && info.Container.Format != format { // shown at the next start before anybody looks
			_ = s.deps.Model.Update(path, func(k *config.Known) { k.Format = info.Container.Format })
		}
	})
}

// edit changes the list, off Fyne's goroutine, for it waits for the disk.
func (s *Screen) edit(change func() error) {
	s.deps.Work(func(context.Context) error { return change() }, func(err error) { ui.ShowError(s.deps.Shell.Window(), err) })
}

// change changes what is known of the container chosen.
func (s *Screen) change(change func(*config.Known)) {
	if c := s.current(); c != nil {
		path := c.Path
		s.edit(func() error { return s.deps.Model.Update(path, change) })
	}
}

// primary does what the one button of the container says.
func (s *Screen) primary() {
	c := s.current()
	if c == nil {
		return
	}
	switch does, _ := primary(*c); does {
	case unlockIt:
		s.deps.Shell.Unlock(c.Path, nil)
	case lockIt:
		unlock.Lock(s.deps, *c, nil)
	case findIt:
		s.find()
	}
}

// open shows the drive in the file manager of the system.
func (s *Screen) open() {
	if c := s.current(); c != nil && c.State.Open() && c.Status.MountPoint != "" {
		s.show(c.Status.MountPoint)
	}
}

// show opens a folder of the host with the desktop.
func (s *Screen) show(folder string) {
	s.deps.Work(func(context.Context) error { return s.openURL(address(folder)) }, func(err error) { ui.ShowError(s.deps.Shell.Window(), err) })
}

// address is the URL of a folder.
func address(folder string) *url.URL {
	path := filepath.ToSlash(folder)
	if !strings.HasPrefix(path, "/") { // X: or X:/folder
		path = "/" + path
	}
	if strings.HasSuffix(path, ":") {
		path += "/"
	}
	return &url.URL{Scheme: "file", Path: path}
}

// browse turns to the files inside, which ask for the password themselves.
func (s *Screen) browse() {
	if c := s.current(); c != nil {
		s.deps.Shell.Show(ui.PageFiles, c.Path)
	}
}

func (s *Screen) star() {
	if c := s.current(); c != nil {
		favourite := !c.Favourite
		s.change(func(k *config.Known) { k.Favourite = favourite })
	}
}

// rename gives the container another name in the list; its file keeps its own.
func (s *Screen) rename() {
	c := s.current()
	if c == nil {
		return
	}
	path := c.Path
	plain := model.Container{Known: config.Known{Path: path}}.Title()
	w := s.deps.Shell.Window()
	content := container.NewVBox(ui.Paragraph(text.T("This name is for you: the file keeps its own, %s.", ui.Clean(filepath.Base(path)))))
	p := ui.NewPanel(w, text.T("Rename in the list"), 460, content)
	entry := p.Keys.NewEntry()
	entry.SetPlaceHolder(plain)
	entry.SetText(c.Name)
	content.Add(entry)
	save := func() {
		name := strings.TrimSpace(entry.Text)
		if name == plain {
			name = ""
		}
		p.Close()
		s.edit(func() error { return s.deps.Model.Update(path, func(k *config.Known) { k.Name = name }) })
	}
	p.Keys.Enter, p.Keys.Escape = save, p.Close
	p.SetButtons(p.Keys.NewButton(text.T("Cancel"), p.Close), p.Keys.NewPrimary(text.T("Rename"), save))
	p.Show()
	p.Focus(entry)
}

// remove takes the container off the list.
func (s *Screen) remove() {
	c := s.current()
	if c == nil || !c.Listed {
		return
	}
	path := c.Path
	question := text.T("%s goes from the list. Its file stays where it is, and can be added again.", ui.Clean(c.Title()))
	if c.State.Held() {
		question = text.T("%s goes from the list once it is locked. Its file stays where it is, and can be added again.", ui.Clean(c.Title()))
	}
	ui.Choose(s.deps.Shell.Window(), text.T("Take off the list?"), question, []ui.Choice{{Label: text.T("Take off the list"), Primary: true, Do: func() {
		next := s.beside(path)
		s.deps.Work(func(context.Context) error { return s.deps.Model.Forget(path) }, func(err error) {
			ui.ShowError(s.deps.Shell.Window(), err)
			if err == nil && next != "" && s.chosen == path {
				s.choose(next)
			}
		})
	}}})
}

// beside is the path of the container after the one at path, or before it if it is the last.
func (s *Screen) beside(path string) string {
	i := slices.IndexFunc(s.all, func(c model.Container) bool { return c.Path == path })
	switch {
	case i >= 0 && i+1 < len(s.all):
		return s.all[i+1].Path
	case i > 0:
		return s.all[i-1].Path
	}
	return ""
}

// find lets the person show where a file is now that is not where it was.
func (s *Screen) find() {
	c := s.current()
	if c == nil {
		return
	}
	before := c.Path
	s.chooseFile(filepath.Dir(before), func(path string) {
		s.deps.Work(func(context.Context) error {
			if !slices.ContainsFunc(s.deps.Model.Containers(), func(c model.Container) bool { return c.Path == path }) {
				return s.deps.Model.Update(before, func(k *config.Known) { k.Path = path })
			}
			return s.deps.Model.Forget(before)
		}, func(err error) {
			ui.ShowError(s.deps.Shell.Window(), err)
			if err == nil {
				s.take(s.deps.Model.Containers())
				s.choose(path)
			}
		})
	})
}

// addExisting puts a container that there is already into the list, and asks for its password.
func (s *Screen) addExisting() { s.chooseFile("", s.add) }

func (s *Screen) add(path string) {
	Add(s.deps, []string{path}, func(path string, sound bool) {
		s.take(s.deps.Model.Containers())
		s.choose(path)
		if sound {
			s.deps.Shell.Unlock(path, nil)
		}
	})
}

// Dropped implements ui.Dropper: files on a container of the list are copied into it.
func (s *Screen) Dropped(at fyne.Position, paths []string) bool {
	if !s.full.Visible() {
		return false
	}
	c := s.list.at(at)
	if c == nil || c.State == model.Missing || slices.Contains(paths, c.Path) {
		return false
	}
	s.choose(c.Path)
	s.deps.Shell.CopyIn(c.Path, paths, "/")
	return true
}
