package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Line is one line of text that is shortened in its middle where there is no room for all of it: the end of a path, and of a
// sentence that tells a name, says the most. Make it with NewLine.
type Line struct {
	widget.BaseWidget
	Text       string
	Importance widget.Importance // LowImportance is muted
	SizeName   fyne.ThemeSizeName
	TextStyle  fyne.TextStyle
}

// NewLine makes a line.
func NewLine(words string) *Line {
	l := &Line{Text: words, SizeName: theme.SizeNameText}
	l.ExtendBaseWidget(l)
	return l
}

// NewBoldLine makes a line that names something.
func NewBoldLine(words string) *Line {
	l := NewLine(words)
	l.TextStyle.Bold = true
	return l
}

// NewCaptionLine makes a small and muted line, beside what matters more.
func NewCaptionLine(words string) *Line {
	l := NewLine(words)
	l.SizeName, l.Importance = theme.SizeNameCaptionText, widget.LowImportance
	return l
}

// SetText changes the line, only if it says something else.
func (l *Line) SetText(words string) { l.Say(l.Importance, words) }

// Say changes the line, only if it says something else or looks otherwise.
func (l *Line) Say(importance widget.Importance, words string) {
	if l.Text != words || l.Importance != importance {
		l.Text, l.Importance = words, importance
		l.Refresh()
	}
}

// CreateRenderer implements fyne.Widget.
func (l *Line) CreateRenderer() fyne.WidgetRenderer {
	r := &lineRenderer{line: l, text: canvas.NewText("", nil)}
	r.objects = []fyne.CanvasObject{r.text}
	r.Refresh()
	return r
}

type lineRenderer struct {
	line    *Line
	text    *canvas.Text
	objects []fyne.CanvasObject
}

func (r *lineRenderer) MinSize() fyne.Size {
	p := theme.InnerPadding()
	return fyne.NewSize(2*p, fyne.MeasureText("M", r.text.TextSize, r.text.TextStyle).Height+2*p)
}

func (r *lineRenderer) Layout(size fyne.Size) {
	p := theme.InnerPadding()
	r.text.Text = Middle(r.line.Text, size.Width-2*p, r.text.TextSize, r.text.TextStyle)
	r.text.Move(fyne.NewPos(p, p))
	r.text.Resize(fyne.NewSize(size.Width-2*p, size.Height-2*p))
}

func (r *lineRenderer) Refresh() {
	l := r.line
	r.text.TextSize, r.text.TextStyle = theme.Size(l.SizeName), l.TextStyle
	r.text.Color = Color(map[widget.Importance]fyne.ThemeColorName{widget.MediumImportance: theme.ColorNameForeground, widget.LowImportance: ColorNameMuted,
		widget.HighImportance: theme.ColorNamePrimary, widget.SuccessImportance: theme.ColorNameSuccess, widget.WarningImportance: theme.ColorNameWarning,
		widget.DangerImportance: theme.ColorNameError}[l.Importance])
	r.Layout(l.Size())
	canvas.Refresh(l)
}

func (r *lineRenderer) Objects() []fyne.CanvasObject { return r.objects }

func (r *lineRenderer) Destroy() {}
