package files

import (
	"strings"
	"time"
	"unicode"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// press is a mouse button that goes down on row i, or below the rows.
func (s *Screen) press(i int, m fyne.KeyModifier, secondary bool) {
	s.focus()
	switch {
	case i < 0 || i >= len(s.items):
		s.sel.none()
	case secondary:
		if !s.sel.has(i) {
			s.sel.only(i)
		}
	case m&fyne.KeyModifierShift != 0:
		s.sel.extend(i, m&fyne.KeyModifierShortcutDefault != 0)
	case m&fyne.KeyModifierShortcutDefault != 0:
		s.sel.toggle(i)
	default:
		s.sel.only(i)
	}
	s.selected()
}

// key is a key without Ctrl or Alt while the list has the keyboard.
func (s *Screen) key(e *fyne.KeyEvent) {
	extend := s.modifiers()&fyne.KeyModifierShift != 0
	step := func(delta int) {
		s.sel.step(delta, extend)
		if s.sel.cursor >= 0 {
			s.table.reveal(s.sel.cursor)
		}
		s.selected()
	}
	switch e.Name {
	case fyne.KeyDown:
		step(1)
	case fyne.KeyUp:
		step(-1)
	case fyne.KeyPageDown:
		step(s.table.page())
	case fyne.KeyPageUp:
		step(-s.table.page())
	case fyne.KeyEnd:
		step(len(s.items))
	case fyne.KeyHome:
		if s.sel.cursor < 0 {
			s.sel.cursor = 0
		}
		step(-len(s.items))
	case fyne.KeySpace:
		if s.sel.cursor >= 0 && time.Since(s.typing.last) > typingPause { // else it is a letter of a name
			s.sel.toggle(s.sel.cursor)
			s.selected()
		}
	case fyne.KeyReturn, fyne.KeyEnter:
		s.perform(actOpen)
	case fyne.KeyBackspace:
		s.perform(actUp)
	case fyne.KeyF2:
		s.perform(actRename)
	case fyne.KeyF5:
		s.perform(actRefresh)
	case fyne.KeyDelete:
		s.perform(actDelete)
	case fyne.KeyEscape:
		s.escape()
	case desktop.KeyMenu:
		s.menuByKey()
	case fyne.KeyF10:
		if extend {
			s.menuByKey()
		}
	}
}

// escape gives up the search, or what was cut, or the selection.
func (s *Screen) escape() {
	switch {
	case s.words != "":
		s.endSearch()
	case s.clip.cut:
		s.clip = clip{}
		s.selected()
	default:
		s.sel.none()
		s.selected()
	}
}

func (s *Screen) menuByKey() {
	s.showMenuAt(s.menu(), s.table.placeOf(max(0, s.sel.cursor)))
}

func (s *Screen) selectAll() {
	s.sel.all()
	s.selected()
	s.focus()
}

// typing is the beginning of a name that is being typed to go to it.
type typing struct {
	words string
	last  time.Time
}

// typed goes to the next name that begins with what was typed.
func (s *Screen) typed(r rune) {
	if !unicode.IsPrint(r) {
		return
	}
	now := time.Now()
	if now.Sub(s.typing.last) > typingPause {
		if r == ' ' {
			return
		}
		s.typing.words = ""
	}
	s.typing = typing{s.typing.words + strings.ToLower(string(r)), now}
	from := max(0, s.sel.cursor)
	if len([]rune(s.typing.words)) == 1 {
		from = s.sel.cursor + 1 // the same letter again goes on
	}
	for n := range s.items {
		i := (from + n) % len(s.items)
		if strings.HasPrefix(s.items[i].key, s.typing.words) {
			s.sel.only(i)
			s.table.reveal(i)
			s.selected()
			return
		}
	}
}

// searchEntry is where the words of a search are typed.
type searchEntry struct {
	widget.Entry
	screen *Screen
	empty  *widget.Button
	silent bool
}

func newSearchEntry(s *Screen) *searchEntry {
	e := &searchEntry{screen: s}
	e.SetPlaceHolder(text.T("Search here and below"))
	e.SetIcon(theme.SearchIcon())
	e.empty = widget.NewButtonWithIcon("", theme.CancelIcon(), s.endSearch)
	e.empty.Importance = widget.LowImportance
	e.empty.Hide()
	e.ActionItem = e.empty
	e.OnChanged = func(words string) {
		ui.Show(e.empty, words != "")
		if !e.silent {
			s.searchSoon()
		}
	}
	e.OnSubmitted = func(string) { s.searchNow() }
	e.ExtendBaseWidget(e)
	return e
}

// reset empties it.
func (e *searchEntry) reset() {
	if e.Text != "" {
		e.silent = true
		e.SetText("")
		e.silent = false
	}
}

// TypedKey implements fyne.Focusable.
func (e *searchEntry) TypedKey(k *fyne.KeyEvent) {
	switch k.Name {
	case fyne.KeyEscape:
		e.screen.endSearch()
	case fyne.KeyDown:
		e.screen.focus()
		e.screen.key(k)
	default:
		e.Entry.TypedKey(k)
	}
}

// startSearch gives the keyboard to the words to be searched for.
func (s *Screen) startSearch() {
	s.deps.Shell.Window().Canvas().Focus(s.search)
}

// searchSoon searches when no other letter comes.
func (s *Screen) searchSoon() {
	if s.waiting != nil {
		s.waiting()
	}
	s.waiting = s.after(searchPause, s.searchNow)
}

// searchNow searches the folder and what is below it. The one before is cancelled.
func (s *Screen) searchNow() {
	if s.waiting != nil {
		s.waiting()
		s.waiting = nil
	}
	words := strings.TrimSpace(s.search.Text)
	if words == s.words {
		return
	}
	s.words, s.items, s.sel = words, nil, newSelection(0)
	s.list(false)
}

// endSearch shows the folder again.
func (s *Screen) endSearch() {
	s.search.reset()
	if s.words != "" {
		s.enter(s.folder)
		return
	}
	if s.waiting != nil {
		s.waiting()
		s.waiting = nil
	}
	s.focus()
}
