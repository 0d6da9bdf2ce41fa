package settings

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/config"
	"coffer/app/window/files"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// field shows one setting.
type field interface {
	show(config.Settings)
}

// showFunc is a field that is a function.
type showFunc func(config.Settings)

func (f showFunc) show(s config.Settings) { f(s) }

// controlWidth is that of everything on the right side, so that it lines up.
const controlWidth = 270

// rowLayout puts a control of a fixed width at the right of words, each in the middle of the row's height.
type rowLayout struct{}

// Layout implements fyne.Layout.
func (rowLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	words, control := objects[0], objects[1]
	width := max(size.Width-controlWidth-3*theme.Padding(), 0)
	height := words.MinSize().Height
	words.Resize(fyne.NewSize(width, height))
	if h := words.MinSize().Height; h != height { // it wraps otherwise now
		height = h
		words.Resize(fyne.NewSize(width, height))
	}
	words.Move(fyne.NewPos(0, (size.Height-height)/2))
	least := control.MinSize()
	control.Resize(fyne.NewSize(controlWidth, least.Height))
	control.Move(fyne.NewPos(size.Width-controlWidth, (size.Height-least.Height)/2))
}

// MinSize implements fyne.Layout.
func (rowLayout) MinSize(objects []fyne.CanvasObject) fyne.Size {
	words, control := objects[0].MinSize(), objects[1].MinSize()
	return fyne.NewSize(200+controlWidth, max(words.Height, control.Height))
}

// row is one setting: what it is, what that means, and the control.
func row(title, help string, control fyne.CanvasObject, message *ui.Message) fyne.CanvasObject {
	words := titled(title)
	if help != "" {
		words.Add(wrapped(help))
	}
	line := container.New(rowLayout{}, words, control)
	if message == nil {
		return line
	}
	return container.NewVBox(line, message)
}

// titled is a title, with room for more words below it.
func titled(title string) *fyne.Container { return container.New(tight{}, widget.NewLabel(title)) }

// tight is a column whose lines are nearer to each other than labels are.
type tight struct{}

// Layout implements fyne.Layout.
func (tight) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	y := float32(0)
	for _, o := range objects {
		o.Resize(fyne.NewSize(size.Width, o.MinSize().Height))
		o.Move(fyne.NewPos(0, y))
		y += o.MinSize().Height - 2*theme.InnerPadding() + theme.Padding()
	}
}

// MinSize implements fyne.Layout.
func (tight) MinSize(objects []fyne.CanvasObject) (least fyne.Size) {
	for i, o := range objects {
		size := o.MinSize()
		least.Width = max(least.Width, size.Width)
		least.Height += size.Height
		if i > 0 {
			least.Height -= 2*theme.InnerPadding() - theme.Padding()
		}
	}
	return least
}

// wrapped is a caption of as many lines as it needs.
func wrapped(words string) *widget.Label {
	l := ui.Caption(words)
	l.Wrapping = fyne.TextWrapWord
	return l
}

// group is a card with a title and rows.
func group(title string, rows ...fyne.CanvasObject) fyne.CanvasObject {
	column := container.NewVBox(ui.Subheading(title))
	for i, r := range rows {
		if i > 0 {
			column.Add(widget.NewSeparator())
		}
		column.Add(r)
	}
	return ui.Card(column)
}

// page is a column of groups.
func page(groups ...fyne.CanvasObject) fyne.CanvasObject {
	p := theme.Padding()
	column := container.New(layout.NewCustomPaddedVBoxLayout(2*p), groups...)
	return container.New(layout.NewCustomPaddedLayout(p, 2*p, 0, 3*p), column) // the bar of the scroll is at the right
}

// check is a switch.
func (s *Screen) check(title, help string, get func(config.Settings) bool, set func(*config.Settings, bool)) fyne.CanvasObject {
	message := ui.NewMessage()
	return row(title, help, s.newCheck(message, get, set), message)
}

func (s *Screen) newCheck(message *ui.Message, get func(config.Settings) bool, set func(*config.Settings, bool)) *ui.KeyCheck {
	var keys *ui.Keys
	box := keys.NewCheck(text.T("On"), nil)
	box.OnChanged = func(on bool) { s.change(message, func(c *config.Settings) { set(c, on) }) }
	s.fields = append(s.fields, showFunc(func(now config.Settings) { setCheck(&box.Check, get(now)) }))
	return box
}

// setCheck shows a state without telling anybody.
func setCheck(box *widget.Check, on bool) {
	if box.Checked == on {
		return
	}
	changed := box.OnChanged
	box.OnChanged = nil
	box.SetChecked(on)
	box.OnChanged = changed
}

// choice is one of several values.
func (s *Screen) choice(title, help string, values, names []string, get func(config.Settings) string, set func(*config.Settings, string)) fyne.CanvasObject {
	message := ui.NewMessage()
	chosen := s.newSelect(values, names, message, get, set)
	return row(title, help, chosen, message)
}

func (s *Screen) newSelect(values, names []string, message *ui.Message, get func(config.Settings) string, set func(*config.Settings, string)) *ui.KeySelect {
	var keys *ui.Keys
	chosen := keys.NewSelect(names, nil)
	changed := func(string) {
		if at := chosen.SelectedIndex(); at >= 0 {
			s.change(message, func(c *config.Settings) { set(c, values[at]) })
		}
	}
	chosen.OnChanged = changed
	s.fields = append(s.fields, showFunc(func(now config.Settings) {
		for i, value := range values {
			if value == get(now) && chosen.SelectedIndex() != i {
				chosen.OnChanged = nil
				chosen.SetSelectedIndex(i)
				chosen.OnChanged = changed
			}
		}
	}))
	return chosen
}

// spanEntry is a line to type into, with choices.
type spanEntry struct{ widget.SelectEntry }

func newSpanEntry(choices []string) *spanEntry {
	e := &spanEntry{}
	e.Wrapping = fyne.TextWrapOff
	e.ExtendBaseWidget(e)
	e.SetOptions(choices)
	return e
}

// TypedShortcut implements fyne.Shortcutable.
func (e *spanEntry) TypedShortcut(cut fyne.Shortcut) {
	e.SelectEntry.TypedShortcut(cut)
	ui.PassShortcut(e, cut)
}

// span is a time: one of the usual ones, or what a person types. none is what 0 is called, "" if it cannot be 0.
// limits says what is wrong with a time, in words for people.
func (s *Screen) span(title, help, none string, usual []time.Duration, limits func(time.Duration) string, get func(config.Settings) config.Duration, set func(*config.Settings, config.Duration)) fyne.CanvasObject {
	message := ui.NewMessage()
	var names []string
	for _, d := range usual {
		names = append(names, spanText(d, none))
	}
	entry := newSpanEntry(names)
	changed := func(typed string) {
		d, err := parseSpan(typed, none)
		wrong := ""
		if err != nil {
			wrong = err.Error()
		} else {
			wrong = limits(d)
		}
		if wrong != "" {
			s.say(message, widget.DangerImportance, wrong)
			return
		}
		s.change(message, func(c *config.Settings) { set(c, config.Duration(d)) })
	}
	entry.OnChanged = changed
	s.fields = append(s.fields, showFunc(func(now config.Settings) {
		if d, err := parseSpan(entry.Text, none); err == nil && entry.Text != "" && d == time.Duration(get(now)) {
			return // as the person wrote it
		}
		entry.OnChanged = nil
		entry.SetText(spanText(time.Duration(get(now)), none))
		entry.OnChanged = changed
		s.say(message, widget.MediumImportance, "")
	}))
	return row(title, help, entry, message)
}

// folder is a folder of the person's, or "" for that of the program, which usual names.
func (s *Screen) folder(title, help, usual string, get func(config.Settings) string, set func(*config.Settings, string)) fyne.CanvasObject {
	message := ui.NewMessage()
	var keys *ui.Keys
	entry := keys.NewEntry()
	entry.SetPlaceHolder(usual)
	turn := 0 // of what was typed: only the last counts
	changed := func(typed string) {
		turn++
		mine := turn
		s.deps.Work(func(context.Context) error { return checkFolder(typed) }, func(err error) {
			switch {
			case mine != turn:
			case err != nil:
				s.say(message, widget.DangerImportance, ui.Sentence(err.Error()))
			default:
				s.change(message, func(c *config.Settings) { set(c, typed) })
			}
		})
	}
	entry.OnChanged = changed
	s.fields = append(s.fields, showFunc(func(now config.Settings) {
		if entry.Text == get(now) {
			return
		}
		entry.OnChanged = nil
		entry.SetText(get(now))
		entry.OnChanged = changed
		s.say(message, widget.MediumImportance, "")
	}))
	choose := keys.NewButton("", func() { s.chooseFolder(entry.Text, entry.SetText) })
	choose.Icon = theme.FolderOpenIcon()
	return row(title, help, container.NewBorder(nil, nil, nil, choose, entry), message)
}

// checkFolder says whether path is a folder that can be used; "" is the program's own.
func checkFolder(path string) error {
	if path == "" {
		return nil
	}
	if !filepath.IsAbs(path) {
		return errors.New(text.T("Write the whole path of the folder, from the root."))
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return errors.New(text.T("There is no such folder."))
	case err != nil:
		return fmt.Errorf("%s: %w", path, err)
	case !info.IsDir():
		return errors.New(text.T("That is a file, not a folder."))
	}
	return nil
}

// chooseFolder lets a person choose a folder.
func (s *Screen) chooseFolder(from string, then func(string)) {
	files.ChooseFolder(s.deps, from, then)
}
