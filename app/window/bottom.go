package window

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/widget"

	"coffer/app/window/text"
	"coffer/app/window/transfers"
	"coffer/app/window/ui"
)

// messageSpan is how long a message stays at the bottom of the window.
const messageSpan = 12 * time.Second

// bottom is the line at the bottom of the window: a message at the left, the copies that run at the right.
type bottom struct {
	object  fyne.CanvasObject
	message *ui.Line
	busy    int // copies there were when the message was said, or may be for it
	active  int // copies there are
	jobs    *widget.Button
	bar     *widget.ProgressBar
	clear   *time.Timer
}

// newBottom makes the line; show is called when a person wants to see the copies, do runs something on Fyne's goroutine.
func newBottom(show func(), do func(func())) *bottom {
	b := &bottom{message: ui.NewLine(""), jobs: widget.NewButtonWithIcon("", ui.IconTransfers, show), bar: widget.NewProgressBar()}
	b.jobs.Importance = widget.LowImportance
	b.bar.TextFormatter = func() string { return "" }
	b.jobs.Hide()
	b.bar.Hide()
	b.clear = time.AfterFunc(time.Hour, func() { do(b.hush) })
	b.clear.Stop()
	bar := container.New(barLayout{}, b.bar)
	height := container.New(layout.NewGridWrapLayout(fyne.NewSize(1, 36))) // the same with and without copies
	b.object = ui.NewSurface(ui.ColorNameRail, 0, container.NewBorder(nil, nil, height, container.NewHBox(bar, b.jobs), b.message))
	return b
}

// barLayout is the place of the progress: short, and thinner than the line.
type barLayout struct{}

func (barLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(140, 10) }

func (barLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	for _, o := range objects {
		o.Resize(fyne.NewSize(size.Width, 8))
		o.Move(fyne.NewPos(0, (size.Height-8)/2))
	}
}

// say shows a message for a while, until another comes or more copies begin than the message tells of.
func (b *bottom) say(words string, begins int) {
	b.message.Say(widget.MediumImportance, words)
	b.busy = b.active + begins
	b.clear.Reset(messageSpan)
}

// hush takes the message away.
func (b *bottom) hush() { b.message.Say(widget.MediumImportance, "") }

// update shows the copies; what does not change is not drawn.
func (b *bottom) update(s transfers.Summary) {
	b.active = s.Active()
	if b.active > b.busy { // "Copied" beside a copy that runs would be taken for its end
		b.hush()
	}
	words := jobWords(s)
	ui.Show(b.jobs, words != "")
	if words != "" && b.jobs.Text != words {
		b.jobs.SetText(words)
	}
	importance := widget.LowImportance
	if s.Asking > 0 {
		importance = widget.WarningImportance
	}
	if b.jobs.Importance != importance {
		b.jobs.Importance = importance
		b.jobs.Refresh()
	}
	share := s.Fraction()
	ui.Show(b.bar, words != "" && share >= 0)
	if share >= 0 && b.bar.Value != share {
		b.bar.SetValue(share)
	}
}

// jobWords are all copies in a few words; "" if there are none.
func jobWords(s transfers.Summary) string {
	switch {
	case s.Asking > 0:
		return text.N(int64(s.Asking), "A copy has a question", "%d copies have a question")
	case s.Running > 0:
		words := text.N(int64(s.Running), "1 copy running", "%d copies running")
		if s.Waiting > 0 {
			words = text.T("%s, %d waiting", words, s.Waiting)
		}
		return words + "   " + text.Rate(s.Rate)
	case s.Paused > 0:
		return text.N(int64(s.Paused), "1 copy paused", "%d copies paused")
	case s.Waiting > 0:
		return text.N(int64(s.Waiting), "1 copy waiting", "%d copies waiting")
	}
	return ""
}
