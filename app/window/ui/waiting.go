package ui

import (
	"image/color"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// Waiting is a bar that runs while nobody knows how long something takes. It stands until Start; Stop and Hide stop it.
//
// Fyne's own bar draws the whole window 60 times a second as long as it runs, just when a password is checked or a disk is busy:
// without a graphics card that takes a core of the processor, and keys and clicks wait for it. This one moves 12 times a second.
type Waiting struct {
	widget.BaseWidget
	track, block *canvas.Rectangle
	runs         *fyne.Animation // nil: it stands
	step         int             // of steps
}

// One way through the bar.
const (
	waitingSpan  = 3 * time.Second
	waitingSteps = 36
	waitingBlock = 0.2 // of the width
)

// NewWaiting makes one that stands still.
func NewWaiting() *Waiting {
	w := &Waiting{track: canvas.NewRectangle(color.Transparent), block: canvas.NewRectangle(color.Transparent)}
	w.ExtendBaseWidget(w)
	return w
}

// Start makes it run.
func (w *Waiting) Start() {
	if w.runs != nil {
		return
	}
	w.runs = &fyne.Animation{Duration: waitingSpan, Curve: fyne.AnimationLinear, RepeatCount: fyne.AnimationRepeatForever, AutoReverse: true, Tick: w.tick}
	w.Refresh()
	w.runs.Start()
}

// Stop makes it stand.
func (w *Waiting) Stop() {
	if w.runs == nil {
		return
	}
	w.runs.Stop()
	w.runs = nil
	w.Refresh()
}

// Running says whether it runs.
func (w *Waiting) Running() bool { return w.runs != nil }

// Hide stops it too.
func (w *Waiting) Hide() {
	w.Stop()
	w.BaseWidget.Hide()
}

// tick goes on to where the bar is after a part of its way, if that can be seen.
func (w *Waiting) tick(done float32) {
	if step := int(done * waitingSteps); step != w.step {
		w.step = step
		w.place()
		w.block.Refresh()
	}
}

// place puts the block where it belongs, cut off at the ends.
func (w *Waiting) place() {
	size := w.Size()
	width := size.Width * waitingBlock
	left := (size.Width+width)*float32(w.step)/waitingSteps - width
	right := min(left+width, size.Width)
	left = max(left, 0)
	w.block.Move(fyne.NewPos(left, 0))
	w.block.Resize(fyne.NewSize(max(0, right-left), size.Height))
}

// CreateRenderer implements fyne.Widget.
func (w *Waiting) CreateRenderer() fyne.WidgetRenderer {
	r := &waitingRenderer{w}
	r.Refresh()
	return r
}

type waitingRenderer struct{ w *Waiting }

// MinSize implements fyne.WidgetRenderer: as high as a bar that tells a percentage.
func (r *waitingRenderer) MinSize() fyne.Size {
	return fyne.MeasureText("100%", theme.TextSize(), fyne.TextStyle{}).AddWidthHeight(2*theme.InnerPadding(), 2*theme.InnerPadding())
}

// Layout implements fyne.WidgetRenderer.
func (r *waitingRenderer) Layout(size fyne.Size) {
	r.w.track.Resize(size)
	r.w.place()
}

// Refresh implements fyne.WidgetRenderer.
func (r *waitingRenderer) Refresh() {
	primary := color.NRGBAModel.Convert(theme.Color(theme.ColorNamePrimary)).(color.NRGBA)
	faint := primary
	faint.A /= 2
	r.w.track.FillColor, r.w.block.FillColor = faint, primary
	r.w.track.CornerRadius, r.w.block.CornerRadius = theme.InputRadiusSize(), theme.InputRadiusSize()
	if r.w.block.Hidden = !r.w.Running(); !r.w.block.Hidden {
		r.w.place()
	}
	r.w.track.Refresh()
	r.w.block.Refresh()
}

// Objects implements fyne.WidgetRenderer.
func (r *waitingRenderer) Objects() []fyne.CanvasObject {
	return []fyne.CanvasObject{r.w.track, r.w.block}
}

// Destroy implements fyne.WidgetRenderer: nobody sees it any more.
func (r *waitingRenderer) Destroy() {
	if r.w.runs != nil {
		r.w.runs.Stop()
		r.w.runs = nil
	}
}
