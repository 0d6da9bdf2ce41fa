package home

import (
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"

	"coffer/app/window/model"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// look is how the state of a container shows.
type look struct {
	icon  fyne.Resource
	color fyne.ThemeColorName
	words string // short, for the list
	more  string // beside them, where there is room
}

// lookOf says it.
func lookOf(c model.Container) look {
	switch c.State {
	case model.Missing:
		return look{ui.IconMissing, theme.ColorNameWarning, text.T("Not there"),
			text.T("The file was moved, renamed or deleted, or its disk is not connected.")}
	case model.Busy:
		return look{ui.IconBusy, theme.ColorNamePrimary, text.T("One moment…"), text.T("It is just being unlocked or locked.")}
	case model.Unresponsive:
		return look{ui.IconMissing, theme.ColorNameError, text.T("Does not answer"),
			text.T("The process that holds it does not answer. It may be waiting for a slow disk.")}
	case model.Unlocked:
		return openLook(c)
	}
	return look{ui.IconLocked, ui.ColorNameMuted, text.T("Locked"), ""}
}

func openLook(c model.Container) look {
	l := look{icon: ui.IconUnlocked, color: theme.ColorNameSuccess}
	point := ui.Clean(c.Status.MountPoint)
	switch {
	case c.InUse() && point != "":
		l.words = text.T("In use at %s", point)
	case c.InUse():
		l.words = text.T("In use")
	case point != "":
		l.words = text.T("Unlocked at %s", point)
	default:
		l.words = text.T("Unlocked, without a drive")
	}
	var more []string
	if n := int64(c.Status.OpenFiles); n > 0 {
		more = append(more, text.N(n, "1 file is open", "%d files are open"))
	}
	if n := int64(c.Status.Jobs); n > 0 {
		more = append(more, text.N(n, "1 task is running", "%d tasks are running"))
	}
	if c.Status.ReadOnly {
		more = append(more, text.T("read only"))
	}
	l.more = strings.Join(more, ", ")
	if l.more != "" {
		l.more = ui.Sentence(l.more)
	}
	return l
}

// action is what the one button of a container does.
type action int

// Actions.
const (
	none action = iota
	unlockIt
	lockIt
	findIt
)

// primary is the one button for a container.
func primary(c model.Container) (does action, label string) {
	switch c.State {
	case model.Missing:
		return findIt, text.T("Find the file…")
	case model.Busy:
		return none, text.T("One moment…")
	case model.Unlocked, model.Unresponsive:
		return lockIt, text.T("Lock")
	}
	return unlockIt, text.T("Unlock")
}

// fill is how full a container is; ok is false while nobody knows.
func fill(c model.Container) (share float64, words string, ok bool) {
	total, free := c.Status.TotalBytes, c.Status.FreeBytes
	if !c.State.Open() || total <= 0 || free < 0 || free > total {
		return 0, "", false
	}
	return float64(total-free) / float64(total), text.T("%s of %s used, %s free", text.Size(total-free), text.Size(total), text.Size(free)), true
}

// locksIn says when a drive locks by itself; "" if it does not.
func locksIn(c model.Container) string {
	if !c.State.Open() || c.Status.LocksIn <= 0 {
		return ""
	}
	left := time.Duration(c.Status.LocksIn * float64(time.Second))
	if left > 2*time.Minute {
		return text.T("Locks by itself in about %s if nobody uses it.", minutes(left))
	}
	return text.T("Locks by itself in %s if nobody uses it.", text.Span(left))
}

// minutes is a time of more than a minute, without seconds.
func minutes(d time.Duration) string {
	d = d.Round(time.Minute)
	hours, rest := int64(d/time.Hour), int64(d%time.Hour/time.Minute)
	switch {
	case hours == 0:
		return text.N(rest, "1 minute", "%d minutes")
	case rest == 0:
		return text.N(hours, "1 hour", "%d hours")
	}
	return text.T("%s and %s", text.N(hours, "1 hour", "%d hours"), text.N(rest, "1 minute", "%d minutes"))
}

// formatName is the name of a format as people write it.
func formatName(format string) string {
	switch format {
	case "":
		return ""
	case "luks1", "luks2":
		return "LUKS" + format[4:]
	case "raw":
		return text.T("Not encrypted")
	case "native":
		return "Coffer"
	case "veracrypt":
		return "VeraCrypt"
	case "truecrypt":
		return "TrueCrypt"
	}
	return strings.ToUpper(format[:1]) + format[1:]
}

// matches says whether a container is what a person types to find.
func matches(c model.Container, typed string) bool {
	typed = strings.ToLower(strings.TrimSpace(typed))
	return typed == "" || strings.Contains(strings.ToLower(c.Title()), typed) || strings.Contains(strings.ToLower(c.Path), typed) ||
		strings.Contains(strings.ToLower(c.Status.MountPoint), typed)
}
