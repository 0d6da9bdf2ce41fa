package home

import (
	"path/filepath"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"coffer/app/window/files"
	"coffer/app/window/model"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// shortcut is a key together with that of the system for shortcuts.
func shortcut(key fyne.KeyName) *desktop.CustomShortcut {
	return &desktop.CustomShortcut{KeyName: key, Modifier: fyne.KeyModifierShortcutDefault}
}

// menu is what can be done with a container.
func (s *Screen) menu(c model.Container) *fyne.Menu {
	does, label := primary(c)
	first := fyne.NewMenuItem(label, s.primary)
	first.Disabled = does == none
	open := fyne.NewMenuItem(text.T("Open in file manager"), s.open)
	open.Disabled = !c.State.Open() || c.Status.MountPoint == ""
	browse := fyne.NewMenuItem(text.T("Browse files"), s.browse)
	browse.Disabled = c.State != model.Locked && (!c.State.Open() || c.Status.Raw)
	favourite := fyne.NewMenuItem(text.T("Make it a favourite"), s.star)
	if c.Favourite {
		favourite.Label = text.T("No favourite any more")
	}
	path := c.Path
	file := fyne.NewMenuItem(text.T("Show the folder of the file"), func() { s.show(filepath.Dir(path)) })
	file.Disabled = c.State == model.Missing
	health := fyne.NewMenuItem(text.T("Health and keys"), func() { s.deps.Shell.Show(ui.PageHealth, path) })
	items := []*fyne.MenuItem{first, open, browse, fyne.NewMenuItemSeparator(), favourite, fyne.NewMenuItem(text.T("Rename in the list…"), s.rename), file, health,
		fyne.NewMenuItemSeparator()}
	if c.Listed {
		items = append(items, fyne.NewMenuItem(text.T("Take off the list…"), s.remove))
	} else {
		items = append(items, fyne.NewMenuItem(text.T("Keep in the list"), func() { s.edit(func() error { return s.deps.Model.Add(path) }) }))
	}
	return fyne.NewMenu("", items...)
}

// showMenu shows it for the container chosen.
func (s *Screen) showMenu(at fyne.Position) {
	if c := s.current(); c != nil {
		widget.ShowPopUpMenuAtPosition(s.menu(*c), s.deps.Shell.Window().Canvas(), at)
	}
}

// chooseFile lets the person choose a file of the host, beginning in a folder; "" is where the last choice was.
func (s *Screen) chooseFile(folder string, then func(path string)) {
	files.ChooseFile(s.deps, folder, then)
}

// searchEntry is the line to search in. Keys that are not for writing go on to the window.
type searchEntry struct {
	widget.Entry
	leave func()
}

func newSearchEntry(changed func(string), leave func()) *searchEntry {
	e := &searchEntry{leave: leave}
	e.OnChanged = changed
	e.PlaceHolder = text.T("Search containers")
	e.ExtendBaseWidget(e)
	return e
}

// TypedKey implements fyne.Focusable.
func (e *searchEntry) TypedKey(key *fyne.KeyEvent) {
	switch key.Name {
	case fyne.KeyEscape:
		e.SetText("")
		e.leave()
	case fyne.KeyDown, fyne.KeyReturn, fyne.KeyEnter:
		e.leave()
	default:
		e.Entry.TypedKey(key)
	}
}

// TypedShortcut implements fyne.Shortcutable.
func (e *searchEntry) TypedShortcut(cut fyne.Shortcut) {
	e.Entry.TypedShortcut(cut)
	if _, custom := cut.(*desktop.CustomShortcut); custom {
		if c, ok := fyne.CurrentApp().Driver().CanvasForObject(e).(fyne.Shortcutable); ok {
			c.TypedShortcut(cut)
		}
	}
}
