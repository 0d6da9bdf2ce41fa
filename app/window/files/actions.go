package files

import (
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// actionKind is something a person can do here.
type actionKind int

const (
	actOpen actionKind = iota
	actShow            // where a result of a search is
	actUp
	actRefresh
	actFind
	actNewFolder
	actAddFiles
	actAddFolder
	actExport
	actCut
	actCopy
	actPaste
	actSelectAll
	actRename
	actDelete
	actProperties
)

// action is one of them, wherever it is offered: as a button, in a menu, by keys.
type action struct {
	kind    actionKind
	name    string
	icon    fyne.Resource
	keys    []fyne.Shortcut // that the canvas hears; the first is shown in menus
	shown   fyne.Shortcut   // shown in menus though the list hears it, not the canvas
	do      func()
	can     func() bool
	buttons []*widget.Button
}

func custom(key fyne.KeyName, m fyne.KeyModifier) fyne.Shortcut {
	return &desktop.CustomShortcut{KeyName: key, Modifier: m}
}

// allActions are all of them, in the order of the menu.
func (s *Screen) allActions() []*action {
	const ctrl, shift, alt = fyne.KeyModifierShortcutDefault, fyne.KeyModifierShift, fyne.KeyModifierAlt
	changes := func() bool { can, _ := s.writable(); return can && s.failed == nil }
	some := func() bool { return s.sel.count > 0 }
	one := func() bool { return s.sel.count == 1 }
	return []*action{
		{kind: actOpen, name: text.T("Open"), icon: theme.FolderOpenIcon(), shown: custom(fyne.KeyReturn, 0), do: func() { s.openItem(s.chosen()[0]) }, can: one},
		{kind: actShow, name: text.T("Show in its folder"), icon: theme.FolderIcon(), do: s.showInFolder, can: func() bool { return one() && s.words != "" }},
		{kind: actUp, name: text.T("Up one folder"), icon: theme.MoveUpIcon(), keys: []fyne.Shortcut{custom(fyne.KeyUp, alt)}, do: s.up, can: func() bool { return s.folder != "/" || s.words != "" }},
		{kind: actRefresh, name: text.T("Refresh"), icon: theme.ViewRefreshIcon(), shown: custom(fyne.KeyF5, 0), do: func() { s.list(s.failed == nil) }, can: nil},
		{kind: actFind, name: text.T("Search by name"), icon: theme.SearchIcon(), keys: []fyne.Shortcut{custom(fyne.KeyF, ctrl)}, do: s.startSearch, can: nil},
		{kind: actNewFolder, name: text.T("New folder"), icon: theme.FolderNewIcon(), keys: []fyne.Shortcut{custom(fyne.KeyN, ctrl|shift)}, do: s.newFolder, can: func() bool { return changes() && s.words == "" }},
		{kind: actAddFiles, name: text.T("Add files…"), icon: theme.ContentAddIcon(), do: func() { s.add(WantMany) }, can: changes},
		{kind: actAddFolder, name: text.T("Add folder…"), icon: theme.FolderNewIcon(), do: func() { s.add(WantFolders) }, can: changes},
		{kind: actExport, name: text.T("Export to…"), icon: theme.UploadIcon(), keys: []fyne.Shortcut{custom(fyne.KeyE, ctrl)}, do: s.export, can: some},
		{kind: actCut, name: text.T("Cut"), icon: theme.ContentCutIcon(), keys: []fyne.Shortcut{&fyne.ShortcutCut{}}, do: func() { s.hold(true) }, can: func() bool { return changes() && some() }},
		{kind: actCopy, name: text.T("Copy"), icon: theme.ContentCopyIcon(), keys: []fyne.Shortcut{&fyne.ShortcutCopy{}}, do: func() { s.hold(false) }, can: some},
		{kind: actPaste, name: text.T("Paste"), icon: theme.ContentPasteIcon(), keys: []fyne.Shortcut{&fyne.ShortcutPaste{}}, do: s.paste, can: func() bool { return changes() && s.words == "" && len(s.clip.paths) > 0 }},
		{kind: actSelectAll, name: text.T("Select all"), icon: theme.ListIcon(), keys: []fyne.Shortcut{&fyne.ShortcutSelectAll{}}, do: s.selectAll, can: func() bool { return len(s.items) > 0 }},
		{kind: actRename, name: text.T("Rename…"), icon: theme.DocumentCreateIcon(), shown: custom(fyne.KeyF2, 0), do: s.rename, can: func() bool { return changes() && one() }},
		{kind: actDelete, name: text.T("Delete…"), icon: theme.DeleteIcon(), shown: custom(fyne.KeyDelete, 0), do: s.remove, can: func() bool { return changes() && some() }},
		{kind: actProperties, name: text.T("Properties"), icon: theme.InfoIcon(), keys: []fyne.Shortcut{custom(fyne.KeyReturn, alt), custom(fyne.KeyEnter, alt)}, do: s.properties, can: nil},
	}
}

func (s *Screen) action(kind actionKind) *action {
	return s.actions[slices.IndexFunc(s.actions, func(a *action) bool { return a.kind == kind })]
}

// perform does an action if it can be done now and no dialog is in the way.
func (s *Screen) perform(kind actionKind) {
	a := s.action(kind)
	if s.shown && s.container.State.Open() && (a.can == nil || a.can()) && s.deps.Shell.Window().Canvas().Overlays().Top() == nil {
		a.do()
	}
}

// button is a button that does it.
func (a *action) button() *widget.Button {
	b := a.plainButton()
	a.buttons = append(a.buttons, b)
	if a.kind == actAddFiles {
		b.Importance = widget.HighImportance
	}
	return b
}

// plainButton is a button for a place where it can always be done.
func (a *action) plainButton() *widget.Button {
	return widget.NewButtonWithIcon(a.name, a.icon, func() {
		if a.can == nil || a.can() {
			a.do()
		}
	})
}

func (a *action) iconButton() *widget.Button {
	b := a.button()
	b.Text, b.Importance = "", widget.LowImportance
	return b
}

// enable lets those buttons be pressed that do something now.
func (s *Screen) enable() {
	for _, a := range s.actions {
		for _, b := range a.buttons {
			ui.Enable(b, a.can == nil || a.can())
		}
	}
}

// menu is the menu of what can be done with what is chosen, or with the folder if nothing is.
func (s *Screen) menu() *fyne.Menu {
	groups := [][]actionKind{{actOpen, actShow, actExport}, {actCut, actCopy, actPaste}, {actRename, actDelete}, {actProperties}}
	if s.sel.count == 0 {
		groups = [][]actionKind{{actNewFolder, actAddFiles, actAddFolder}, {actPaste, actSelectAll}, {actRefresh, actProperties}}
	}
	var items []*fyne.MenuItem
	for n, group := range groups {
		if n > 0 {
			items = append(items, fyne.NewMenuItemSeparator())
		}
		for _, kind := range group {
			a := s.action(kind)
			if kind == actShow && s.words == "" {
				continue
			}
			item := fyne.NewMenuItemWithIcon(a.name, a.icon, a.do)
			item.Disabled = a.can != nil && !a.can()
			if item.Shortcut = a.shown; len(a.keys) > 0 {
				item.Shortcut = a.keys[0]
			}
			items = append(items, item)
		}
	}
	return fyne.NewMenu("", items...)
}

// showMenu is asked for on row i, or below the rows.
func (s *Screen) showMenu(_ int, at fyne.Position) { s.showMenuAt(s.menu(), at) }

func (s *Screen) showMenuAt(menu *fyne.Menu, at fyne.Position) {
	widget.ShowPopUpMenuAtPosition(menu, s.deps.Shell.Window().Canvas(), at)
}

// addShortcuts lets the canvas hear the keys of this screen; those without Ctrl or Alt are heard by the list.
func (s *Screen) addShortcuts() {
	for _, a := range s.actions {
		for _, keys := range a.keys {
			s.deps.Shell.Window().Canvas().AddShortcut(keys, func(fyne.Shortcut) { s.perform(a.kind) })
		}
	}
}

func (s *Screen) removeShortcuts() {
	for _, a := range s.actions {
		for _, keys := range a.keys {
			s.deps.Shell.Window().Canvas().RemoveShortcut(keys)
		}
	}
}
