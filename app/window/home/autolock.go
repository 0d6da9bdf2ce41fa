package home

import (
	"slices"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"coffer/app/config"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// spans are the times after which a drive can lock by itself; 0 is never.
var spans = []time.Duration{0, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour, 24 * time.Hour}

// events are what can lock a drive beside time, as the settings write them.
var events = []string{"none", "suspend", "screen", "suspend,screen"}

// autoLock is the part of the screen that says when a container locks by itself. What is chosen is kept with the container.
type autoLock struct {
	object         fyne.CanvasObject
	idle, lifetime *widget.Select
	event          *widget.Select
	known          config.Known
	settings       config.Settings
	spans          [2][]time.Duration // what the options of idle and lifetime stand for, after the first
	filling        bool               // the program chooses, not the person
}

// newAutoLock makes it; change is called with what the person has changed.
func newAutoLock(change func(func(*config.Known))) *autoLock {
	a := &autoLock{settings: config.Defaults()}
	a.idle = widget.NewSelect(nil, func(string) {
		if span, ok := a.chosenSpan(a.idle, 0); ok {
			change(func(k *config.Known) { k.Idle = span })
		}
	})
	a.lifetime = widget.NewSelect(nil, func(string) {
		if span, ok := a.chosenSpan(a.lifetime, 1); ok {
			change(func(k *config.Known) { k.Lifetime = span })
		}
	})
	a.event = widget.NewSelect(nil, func(string) {
		if i := a.event.SelectedIndex(); !a.filling && i >= 0 {
			on := ""
			if i > 0 {
				on = events[i-1]
			}
			change(func(k *config.Known) { k.LockOn = on })
		}
	})
	form := container.New(layout.NewFormLayout(),
		widget.NewLabel(text.T("When nobody uses it for")), a.idle,
		widget.NewLabel(text.T("At the latest after")), a.lifetime,
		widget.NewLabel(text.T("Together with")), a.event)
	note := ui.Paragraph(text.T("Kept with this container. Changes hold from the next time it is unlocked."))
	note.SizeName, note.Importance = "helperText", widget.LowImportance
	a.object = ui.Card(container.NewVBox(ui.Subheading(text.T("Lock by itself")), form, note))
	return a
}

// chosenSpan is the time a person has just chosen, nil for that of the settings; ok is false if the person did not choose.
func (a *autoLock) chosenSpan(from *widget.Select, which int) (span *config.Duration, ok bool) {
	i := from.SelectedIndex()
	if a.filling || i < 0 || i > len(a.spans[which]) {
		return nil, false
	}
	if i > 0 {
		d := config.Duration(a.spans[which][i-1])
		span = &d
	}
	return span, true
}

// set shows what holds for a container.
func (a *autoLock) set(known config.Known, s config.Settings) {
	a.filling = true
	defer func() { a.filling = false }()
	a.known, a.settings = known, s
	a.spans[0] = fillSpans(a.idle, known.Idle, time.Duration(s.Idle))
	a.spans[1] = fillSpans(a.lifetime, known.Lifetime, time.Duration(s.Lifetime))
	options := []string{text.T("As in the settings (%s)", eventName(s.LockOn))}
	at := 0
	for i, one := range events {
		options = append(options, eventName(one))
		if known.LockOn != "" && sameEvents(known.LockOn, one) {
			at = i + 1
		}
	}
	fillSelect(a.event, options, at)
}

// fillSpans offers the times, also the one chosen elsewhere, and returns them.
func fillSpans(s *widget.Select, chosen *config.Duration, setting time.Duration) []time.Duration {
	all, at := slices.Clone(spans), 0
	if chosen != nil {
		d := time.Duration(*chosen)
		i, found := slices.BinarySearch(all, d)
		if !found {
			all = slices.Insert(all, i, d)
		}
		at = i + 1
	}
	options := []string{text.T("As in the settings (%s)", spanName(setting))}
	for _, d := range all {
		options = append(options, spanName(d))
	}
	fillSelect(s, options, at)
	return all
}

// fillSelect changes what can be chosen, and what is, if that is a change.
func fillSelect(s *widget.Select, options []string, at int) {
	if !slices.Equal(s.Options, options) {
		s.SetOptions(options)
	}
	if s.Selected != options[at] {
		s.SetSelectedIndex(at)
	}
}

// spanName is a time in words.
func spanName(d time.Duration) string {
	switch {
	case d == 0:
		return text.T("never")
	case d < time.Minute || d%time.Minute != 0:
		return text.Span(d)
	}
	return minutes(d)
}

// eventName is what locks a drive, in words.
func eventName(on string) string {
	suspend, screen, err := config.ParseLockOn(on)
	switch {
	case err != nil:
		return text.T("something unknown")
	case suspend && screen:
		return text.T("sleep of the computer and the screen lock")
	case suspend:
		return text.T("sleep of the computer")
	case screen:
		return text.T("the screen lock")
	}
	return text.T("nothing")
}

func sameEvents(a, b string) bool {
	s1, c1, err1 := config.ParseLockOn(a)
	s2, c2, err2 := config.ParseLockOn(b)
	return err1 == nil && err2 == nil && s1 == s2 && c1 == c2
}
