package ui

import (
	"context"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/client"
	"coffer/app/window/text"
)

// Clean makes a name from inside a container safe to show: characters that steer or that turn the direction of writing become
// visible, and bytes that are no UTF-8 do too.
func Clean(name string) string {
	if utf8.ValidString(name) && !strings.ContainsFunc(name, hostile) {
		return name
	}
	return strings.Map(func(r rune) rune {
		if hostile(r) || r == utf8.RuneError {
			return '\ufffd'
		}
		return r
	}, name)
}

func hostile(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}

// Paragraph is text that wraps.
func Paragraph(words string) *widget.Label {
	l := widget.NewLabel(words)
	l.Wrapping = fyne.TextWrapWord
	return l
}

// ShowError tells a person what failed and what to do. A cancelled context is no failure.
func ShowError(w fyne.Window, err error) {
	if err == nil || errors.Is(err, context.Canceled) {
		return
	}
	problem := client.Explain(err)
	what := Paragraph(Sentence(problem.Sentence))
	what.TextStyle.Bold = true
	body := container.NewVBox(container.NewBorder(nil, nil, widget.NewIcon(theme.ErrorIcon()), nil, what))
	if hint := Hint(problem); hint != "" {
		body.Add(Paragraph(hint))
	}
	d := dialog.NewCustom(text.T("That did not work"), text.T("Close"), body, w)
	d.Resize(fyne.NewSize(520, 0))
	d.Show()
}

// Sentence begins with a capital letter, ends with a stop and has nothing hostile in it.
func Sentence(s string) string {
	s = strings.TrimSpace(Clean(s))
	if s == "" {
		return s
	}
	first, size := utf8.DecodeRuneInString(s)
	s = string(unicode.ToUpper(first)) + s[size:]
	if last, _ := utf8.DecodeLastRuneInString(s); !unicode.IsPunct(last) {
		s += "."
	}
	return s
}

// Confirm asks before something happens; action names it on the button. With danger the button is red and not the default.
func Confirm(w fyne.Window, title, question, action string, danger bool, yes func()) {
	body := Paragraph(question)
	c := dialog.NewCustomConfirm(title, action, text.T("Cancel"), body, func(ok bool) {
		if ok {
			yes()
		}
	}, w)
	if danger {
		c.SetConfirmImportance(widget.DangerImportance)
	}
	c.Resize(fyne.NewSize(480, 0))
	c.Show()
}

// ConfirmTyped makes a person type name before something that cannot be undone.
func ConfirmTyped(w fyne.Window, title, warning, name, action string, yes func()) {
	entry := widget.NewEntry()
	entry.SetPlaceHolder(name)
	var d *dialog.CustomDialog
	ok := widget.NewButton(action, func() {
		if entry.Text == name {
			d.Hide()
			yes()
		}
	})
	ok.Importance = widget.DangerImportance
	ok.Disable()
	entry.OnChanged = func(typed string) {
		if typed == name {
			ok.Enable()
		} else {
			ok.Disable()
		}
	}
	body := container.NewVBox(Paragraph(warning), Paragraph(text.T("Type the name %s to go on:", name)), entry)
	d = dialog.NewCustomWithoutButtons(title, body, w)
	d.SetButtons([]fyne.CanvasObject{widget.NewButton(text.T("Cancel"), func() { d.Hide() }), ok})
	d.Resize(fyne.NewSize(480, 0))
	d.Show()
	w.Canvas().Focus(entry)
}

// Progress shows long work that can be cancelled: a bar, or a running one while the end is not known.
type Progress struct {
	dialog *dialog.CustomDialog
	bar    *widget.ProgressBar
	runs   *Waiting
	line   *widget.Label
}

// ShowProgress shows it; cancel, if not nil, is called when the person asks for it.
func ShowProgress(w fyne.Window, title string, cancel func()) *Progress {
	p := &Progress{bar: widget.NewProgressBar(), runs: NewWaiting(), line: Paragraph("")}
	p.bar.Hide()
	p.dialog = dialog.NewCustomWithoutButtons(title, container.NewVBox(p.line, p.bar, p.runs), w)
	if cancel != nil {
		var stop *widget.Button
		stop = widget.NewButton(text.T("Cancel"), func() {
			stop.Disable()
			p.line.SetText(text.T("Cancelling…"))
			cancel()
		})
		p.dialog.SetButtons([]fyne.CanvasObject{stop})
	}
	p.dialog.Resize(fyne.NewSize(420, 0))
	p.dialog.Show()
	p.runs.Start()
	return p
}

// Say says what is being done; fraction is how much of it, negative when that is not known.
func (p *Progress) Say(words string, fraction float64) {
	p.line.SetText(words)
	if fraction < 0 {
		p.bar.Hide()
		p.runs.Show()
		p.runs.Start()
		return
	}
	p.runs.Hide()
	p.bar.Show()
	p.bar.SetValue(fraction)
}

// Close takes it away.
func (p *Progress) Close() {
	p.runs.Stop()
	p.dialog.Hide()
}
