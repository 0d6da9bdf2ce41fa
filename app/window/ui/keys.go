package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Keys are what Enter and Escape do in a dialog, wherever the focus is. Fyne gives keys to the widget that has the focus only,
// so a dialog makes its widgets by these functions. Fields may be nil.
type Keys struct {
	Enter  func()
	Escape func()
}

// Attach takes the keys of the window while no widget has the focus; detach gives them back.
func (k *Keys) Attach(c fyne.Canvas) (detach func()) {
	before := c.OnTypedKey()
	c.SetOnTypedKey(func(e *fyne.KeyEvent) { k.Typed(e) })
	return func() { c.SetOnTypedKey(before) }
}

// Typed does what a key means and says whether it means something.
func (k *Keys) Typed(e *fyne.KeyEvent) bool {
	switch {
	case k == nil:
	case e.Name == fyne.KeyEscape && k.Escape != nil:
		k.Escape()
		return true
	case (e.Name == fyne.KeyReturn || e.Name == fyne.KeyEnter) && k.Enter != nil:
		k.Enter()
		return true
	}
	return false
}

// KeyButton is a button that Enter presses too when it has the focus.
type KeyButton struct {
	widget.Button
	keys *Keys
}

// NewButton makes a button.
func (k *Keys) NewButton(label string, tapped func()) *KeyButton {
	b := &KeyButton{Button: widget.Button{Text: label, OnTapped: tapped}, keys: k}
	b.ExtendBaseWidget(b)
	return b
}

// NewPrimary makes the button that Enter stands for.
func (k *Keys) NewPrimary(label string, tapped func()) *KeyButton {
	b := k.NewButton(label, tapped)
	b.Importance = widget.HighImportance
	return b
}

// NewLink makes a quiet button for what few need; icon may be nil.
func (k *Keys) NewLink(label string, icon fyne.Resource, tapped func()) *KeyButton {
	b := k.NewButton(label, tapped)
	b.Icon, b.Importance, b.Alignment = icon, widget.LowImportance, widget.ButtonAlignLeading
	return b
}

// TypedKey implements fyne.Focusable.
func (b *KeyButton) TypedKey(e *fyne.KeyEvent) {
	switch {
	case e.Name == fyne.KeyReturn || e.Name == fyne.KeyEnter:
		b.Tapped(nil)
	case !b.keys.Typed(e):
		b.Button.TypedKey(e)
	}
}

// KeyEntry is a line to type into.
type KeyEntry struct {
	widget.Entry
	keys *Keys
	// KeepTab, if not nil, says whether a Tab leaves the keyboard here: for one that it came to by itself, where people who expect to
	// go there still press Tab.
	KeepTab func() bool
}

// NewEntry makes a line to type into.
func (k *Keys) NewEntry() *KeyEntry {
	e := &KeyEntry{keys: k}
	e.Wrapping = fyne.TextWrapOff
	e.ExtendBaseWidget(e)
	return e
}

// TypedKey implements fyne.Focusable.
func (e *KeyEntry) TypedKey(key *fyne.KeyEvent) {
	if key.Name == fyne.KeyTab {
		return // it was asked for by AcceptsTab, and stays
	}
	if e.OnSubmitted != nil && key.Name != fyne.KeyEscape || !e.keys.Typed(key) {
		e.Entry.TypedKey(key)
	}
}

// AcceptsTab implements fyne.Tabbable.
func (e *KeyEntry) AcceptsTab() bool { return e.KeepTab != nil && e.KeepTab() }

// TypedShortcut implements fyne.Shortcutable: what the entry does not know is for the window.
func (e *KeyEntry) TypedShortcut(cut fyne.Shortcut) {
	e.Entry.TypedShortcut(cut)
	PassShortcut(e, cut)
}

// PassShortcut gives the window a shortcut that the toolkit gave only to the widget o, which has the focus.
func PassShortcut(o fyne.CanvasObject, cut fyne.Shortcut) {
	if _, custom := cut.(*desktop.CustomShortcut); !custom {
		return // copy, paste and the like are of the widget
	}
	if c, ok := fyne.CurrentApp().Driver().CanvasForObject(o).(fyne.Shortcutable); ok {
		c.TypedShortcut(cut)
	}
}

// KeyCheck is a check box.
type KeyCheck struct {
	widget.Check
	keys *Keys
}

// NewCheck makes a check box.
func (k *Keys) NewCheck(label string, changed func(bool)) *KeyCheck {
	c := &KeyCheck{Check: widget.Check{Text: label, OnChanged: changed}, keys: k}
	c.ExtendBaseWidget(c)
	return c
}

// TypedKey implements fyne.Focusable.
func (c *KeyCheck) TypedKey(e *fyne.KeyEvent) {
	if !c.keys.Typed(e) {
		c.Check.TypedKey(e)
	}
}

// KeySelect is a choice of one among several.
type KeySelect struct {
	widget.Select
	keys *Keys
}

// NewSelect makes a choice.
func (k *Keys) NewSelect(options []string, changed func(string)) *KeySelect {
	s := &KeySelect{Select: widget.Select{Options: options, OnChanged: changed}, keys: k}
	s.ExtendBaseWidget(s)
	return s
}

// TypedKey implements fyne.Focusable.
func (s *KeySelect) TypedKey(e *fyne.KeyEvent) {
	if !s.keys.Typed(e) {
		s.Select.TypedKey(e)
	}
}

// Message is a line that says what is wrong, or right, beside what it is about; hidden while there is nothing to say.
type Message struct {
	widget.BaseWidget
	icon  *widget.Icon
	label *widget.Label
}

// NewMessage makes an empty one.
func NewMessage() *Message {
	m := &Message{icon: widget.NewIcon(nil), label: Paragraph("")}
	m.ExtendBaseWidget(m)
	m.Hide()
	return m
}

// CreateRenderer implements fyne.Widget.
func (m *Message) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(newBorderLeft(m.icon, m.label))
}

// Say says something of an importance: widget.DangerImportance, WarningImportance, SuccessImportance or MediumImportance.
// "" hides it.
func (m *Message) Say(importance widget.Importance, words string) {
	if words == "" {
		m.label.SetText("")
		m.Hide()
		return
	}
	icons := map[widget.Importance]fyne.Resource{widget.DangerImportance: theme.NewErrorThemedResource(theme.ErrorIcon()),
		widget.WarningImportance: theme.NewWarningThemedResource(theme.WarningIcon()),
		widget.SuccessImportance: theme.NewSuccessThemedResource(theme.ConfirmIcon())}
	icon := icons[importance]
	if icon == nil {
		icon = theme.InfoIcon()
	}
	m.icon.SetResource(icon)
	m.label.SetText(words)
	m.Show()
	m.Refresh()
}

// Text is what it says, "" while hidden.
func (m *Message) Text() string { return m.label.Text }

// newBorderLeft puts a small thing at the left of a large one, at its first line.
func newBorderLeft(small, large fyne.CanvasObject) fyne.CanvasObject {
	return container.NewBorder(nil, nil, container.NewVBox(container.NewPadded(small)), nil, large)
}
