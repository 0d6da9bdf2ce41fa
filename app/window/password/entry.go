// Package password is what dialogs that ask for passwords share: the line to type one into, and how strong a new one is.
//
// What is typed is a string of the toolkit while it is in the entry: it cannot be wiped there, only left to the garbage
// collector, which is why the window forgets it as soon as it has been taken.
package password

import (
	"unicode"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/widget"

	"coffer/app/client"
	"coffer/app/window/ui"
)

// Entry is a line to type a password into. The eye at its end, or Ctrl+R, reveals it.
type Entry struct {
	widget.Entry
	// OnCaps is called when it becomes known that Caps Lock is on, or off again.
	OnCaps func(on bool)

	keys  *ui.Keys
	shift int // keys held
	caps  bool
}

// NewEntry makes an empty one, in a dialog with keys.
func NewEntry(keys *ui.Keys) *Entry {
	e := &Entry{keys: keys}
	e.Password, e.Wrapping = true, fyne.TextWrap(fyne.TextTruncateClip)
	e.ExtendBaseWidget(e)
	return e
}

// Empty says whether nothing is typed.
func (e *Entry) Empty() bool { return e.Text == "" }

// Take gives what was typed, nil if nothing was, and empties the entry with its memory of changes. The caller wipes it.
func (e *Entry) Take() client.Secret {
	if e.Text == "" {
		return nil
	}
	typed := client.Secret(e.Text)
	e.SetText("")
	e.Password = true
	e.Refresh()
	return typed
}

// TypedKey implements fyne.Focusable.
func (e *Entry) TypedKey(key *fyne.KeyEvent) {
	if e.OnSubmitted != nil && key.Name != fyne.KeyEscape || !e.keys.Typed(key) {
		e.Entry.TypedKey(key)
	}
}

// TypedShortcut implements fyne.Shortcutable: Ctrl+R reveals or hides.
func (e *Entry) TypedShortcut(s fyne.Shortcut) {
	if c, ok := s.(*desktop.CustomShortcut); ok && c.KeyName == fyne.KeyR && c.Modifier == fyne.KeyModifierShortcutDefault {
		e.Password = !e.Password
		e.Refresh()
		return
	}
	e.Entry.TypedShortcut(s)
}

// KeyDown implements desktop.Keyable.
func (e *Entry) KeyDown(key *fyne.KeyEvent) {
	switch key.Name {
	case desktop.KeyShiftLeft, desktop.KeyShiftRight:
		e.shift++
	case desktop.KeyCapsLock:
		if e.caps { // it goes off now; whether it goes on is known with the next letter only
			e.setCaps(false)
		}
	}
	e.Entry.KeyDown(key)
}

// KeyUp implements desktop.Keyable.
func (e *Entry) KeyUp(key *fyne.KeyEvent) {
	if key.Name == desktop.KeyShiftLeft || key.Name == desktop.KeyShiftRight {
		e.shift = max(0, e.shift-1)
	}
	e.Entry.KeyUp(key)
}

// FocusLost implements fyne.Focusable.
func (e *Entry) FocusLost() {
	e.shift = 0
	e.Entry.FocusLost()
}

// TypedRune implements fyne.Focusable. The toolkit does not tell whether Caps Lock is on: a capital without Shift does, and
// so does a small letter with it.
func (e *Entry) TypedRune(r rune) {
	if unicode.IsUpper(r) != unicode.IsLower(r) {
		e.setCaps(unicode.IsUpper(r) != (e.shift > 0))
	}
	e.Entry.TypedRune(r)
}

func (e *Entry) setCaps(on bool) {
	if e.caps == on {
		return
	}
	e.caps = on
	if e.OnCaps != nil {
		e.OnCaps(on)
	}
}
