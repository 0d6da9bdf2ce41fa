package files

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

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
	s.sel.click(i, m&fyne.KeyModifierShortcutDefault != 0, m&fyne.KeyModifierShift != 0, secondary)
	s.selected()
}

// key is a key without Ctrl or Alt while the list has the keyboard.
func (s *Screen) key(e *fyne.KeyEvent) {
	extend := s.modifiers()&fyne.KeyModifierShift != 0
	if s.table.walk(e.Name, &s.sel, extend) {
		s.selected()
		return
	}
	switch e.Name {
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

// walk moves the cursor of a selection by a key, scrolls to it, and says whether the key does that.
func (t *table) walk(key fyne.KeyName, sel *selection, extend bool) bool {
	delta := map[fyne.KeyName]int{fyne.KeyDown: 1, fyne.KeyUp: -1, fyne.KeyPageDown: t.page(), fyne.KeyPageUp: -t.page(), fyne.KeyEnd: t.count, fyne.KeyHome: -t.count}[key]
	switch {
	case delta == 0:
		return key == fyne.KeyEnd || key == fyne.KeyHome // of an empty list
	case sel.cursor < 0 && (key == fyne.KeyHome || key == fyne.KeyEnd):
		sel.cursor = 0
	}
	sel.step(delta, extend)
	if sel.cursor >= 0 {
		t.reveal(sel.cursor)
	}
	return true
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

// next takes a letter and gives the row of the next name that begins with what was typed, seen from row cursor; -1 if there is
// none.
func (t *typing) next(r rune, items []*item, cursor int) int {
	if !unicode.IsPrint(r) {
		return -1
	}
	now := time.Now()
	if now.Sub(t.last) > typingPause {
		if r == ' ' {
			return -1
		}
		t.words = ""
	}
	*t = typing{t.words + strings.ToLower(string(r)), now}
	from := max(0, cursor)
	if utf8.RuneCountInString(t.words) == 1 {
		from = cursor + 1 // the same letter again goes on
	}
	for n := range items {
		if i := (from + n) % len(items); strings.HasPrefix(items[i].key, t.words) {
			return i
		}
	}
	return -1
}

// typed goes to the next name that begins with what was typed.
func (s *Screen) typed(r rune) {
	if i := s.typing.next(r, s.items, s.sel.cursor); i >= 0 {
		s.sel.only(i)
		s.table.reveal(i)
		s.selected()
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
