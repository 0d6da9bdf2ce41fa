package transfers

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/window/ui"
)

// bar is a thin bar that shows how much is done; what is not known is an empty one.
type bar struct {
	widget.BaseWidget
	fraction float64
	quiet    bool // paused: in a colour that does not call
}

func newBar() *bar {
	b := &bar{}
	b.ExtendBaseWidget(b)
	return b
}

// set shows how much is done; negative is not known.
func (b *bar) set(fraction float64, quiet bool) {
	fraction = max(0, min(fraction, 1))
	if b.fraction != fraction || b.quiet != quiet {
		b.fraction, b.quiet = fraction, quiet
		b.Refresh()
	}
}

// CreateRenderer implements fyne.Widget.
func (b *bar) CreateRenderer() fyne.WidgetRenderer {
	r := &barRenderer{bar: b, track: canvas.NewRectangle(nil), fill: canvas.NewRectangle(nil)}
	r.paint()
	return r
}

type barRenderer struct {
	bar         *bar
	track, fill *canvas.Rectangle
}

const barHeight = 6

func (r *barRenderer) paint() {
	r.track.FillColor, r.fill.FillColor = theme.Color(theme.ColorNameButton), theme.Color(theme.ColorNamePrimary)
	if r.bar.quiet {
		r.fill.FillColor = ui.Color(ui.ColorNameMuted)
	}
	r.track.CornerRadius, r.fill.CornerRadius = barHeight/2, barHeight/2
}

func (r *barRenderer) Layout(size fyne.Size) {
	y := (size.Height - barHeight) / 2
	r.track.Move(fyne.NewPos(0, y))
	r.track.Resize(fyne.NewSize(size.Width, barHeight))
	r.fill.Move(fyne.NewPos(0, y))
	r.fill.Resize(fyne.NewSize(size.Width*float32(r.bar.fraction), barHeight))
}

func (r *barRenderer) MinSize() fyne.Size { return fyne.NewSize(40, barHeight) }

func (r *barRenderer) Refresh() {
	r.paint()
	r.Layout(r.bar.Size())
	canvas.Refresh(r.bar)
}

func (r *barRenderer) Objects() []fyne.CanvasObject { return []fyne.CanvasObject{r.track, r.fill} }

func (r *barRenderer) Destroy() {}

// atLeast gives what it holds a least height.
type atLeast float32

func (h atLeast) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	for _, o := range objects {
		o.Resize(size)
	}
}

func (h atLeast) MinSize(objects []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(objects[0].MinSize().Width, max(objects[0].MinSize().Height, float32(h)))
}

func tall(height float32, o fyne.CanvasObject) *fyne.Container {
	return container.New(atLeast(height), o)
}

// twoLines puts a label closely below another one: a name and what is to be said about it.
type twoLines struct{}

const overlap = 12 // of the paddings of the labels

func (twoLines) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	first := objects[0].MinSize().Height
	objects[0].Move(fyne.NewPos(0, 0))
	objects[0].Resize(fyne.NewSize(size.Width, first))
	objects[1].Move(fyne.NewPos(0, first-overlap))
	objects[1].Resize(fyne.NewSize(size.Width, objects[1].MinSize().Height))
}

func (twoLines) MinSize(objects []fyne.CanvasObject) fyne.Size {
	a, b := objects[0].MinSize(), objects[1].MinSize()
	return fyne.NewSize(max(a.Width, b.Width), a.Height+b.Height-overlap)
}

// line puts two labels beside each other, half of the width each, closer to what is above and below than lists do.
type line struct{}

const lineHeight = 24

func (line) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	for i, o := range objects {
		h := o.MinSize().Height
		o.Move(fyne.NewPos(float32(i)*size.Width/2, (size.Height-h)/2))
		o.Resize(fyne.NewSize(size.Width/2, h))
	}
}

func (line) MinSize(objects []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(objects[0].MinSize().Width+objects[1].MinSize().Width, lineHeight)
}

// columns are widths of the cells of a row; 0 is one that takes what is left.
type columns []float32

func (c columns) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	rest, open := size.Width, 0
	for _, w := range c {
		rest -= w
		if w == 0 {
			open++
		}
	}
	x := float32(0)
	for i, o := range objects {
		w := c[i]
		if w == 0 {
			w = max(rest/float32(open), 0)
		}
		h := o.MinSize().Height
		o.Move(fyne.NewPos(x, (size.Height-h)/2))
		o.Resize(fyne.NewSize(w, h))
		x += w
	}
}

func (c columns) MinSize(objects []fyne.CanvasObject) fyne.Size {
	var size fyne.Size
	for i, o := range objects {
		size.Width += c[i]
		if c[i] == 0 {
			size.Width += 120
		}
		size.Height = max(size.Height, o.MinSize().Height)
	}
	return size
}

// beside puts a narrow thing at the left of a wide one.
type beside struct{}

func (beside) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	gap := 2 * theme.Padding()
	left := max(230, min(0.33*size.Width, 360))
	objects[0].Resize(fyne.NewSize(left, size.Height))
	objects[0].Move(fyne.NewPos(0, 0))
	objects[1].Resize(fyne.NewSize(max(size.Width-left-gap, 0), size.Height))
	objects[1].Move(fyne.NewPos(left+gap, 0))
}

func (beside) MinSize(objects []fyne.CanvasObject) fyne.Size {
	a, b := objects[0].MinSize(), objects[1].MinSize()
	return fyne.NewSize(max(a.Width, 230)+2*theme.Padding()+b.Width, max(a.Height, b.Height))
}

// outer is the space around a page.
func outer(o fyne.CanvasObject) *fyne.Container {
	p := theme.Padding()
	return container.New(layout.NewCustomPaddedLayout(p, 2*p, 2*p, 2*p), o)
}

// toggle shows or hides, and says whether that is a change: what is around it has to be laid out again then.
func toggle(o fyne.CanvasObject, shown bool) bool {
	if o.Visible() == shown {
		return false
	}
	ui.Show(o, shown)
	return true
}

// list is a list whose entries can be opened by Enter as well, and which tells other keys.
type list struct {
	widget.List
	opens func(i int)
	marks func(i int)               // Space; nil: as opens
	other func(fyne.KeyName, int)   // of other keys
	at    int                       // which entry the keys are at
	byKey func(i widget.ListItemID) // what the next choice is, if a key makes it
}

func newList(length func() int, create func() fyne.CanvasObject, update func(int, fyne.CanvasObject)) *list {
	l := &list{}
	l.Length, l.CreateItem, l.UpdateItem = length, create, update
	l.HideSeparators = true
	l.OnSelected = func(i widget.ListItemID) {
		l.UnselectAll()
		l.at = i
		if do := l.byKey; do != nil {
			do(i)
		} else if l.opens != nil {
			l.opens(i)
		}
	}
	l.ExtendBaseWidget(l)
	return l
}

// TypedKey implements fyne.Focusable.
func (l *list) TypedKey(e *fyne.KeyEvent) {
	choose := func(do func(int)) {
		l.byKey = do
		l.List.TypedKey(&fyne.KeyEvent{Name: fyne.KeySpace})
		l.byKey = nil
	}
	switch e.Name {
	case fyne.KeyReturn, fyne.KeyEnter:
		choose(l.opens)
	case fyne.KeySpace:
		choose(l.marks)
	case fyne.KeyUp, fyne.KeyDown:
		l.List.TypedKey(e)
	default:
		if l.other != nil {
			choose(func(i int) { l.other(e.Name, i) })
		}
	}
}

// backButton leads back; so does Escape while it has the focus.
type backButton struct{ widget.Button }

func newBackButton(words string, back func()) *backButton {
	b := &backButton{widget.Button{Text: words, Icon: theme.NavigateBackIcon(), Importance: widget.LowImportance, OnTapped: back}}
	b.ExtendBaseWidget(b)
	return b
}

// TypedKey implements fyne.Focusable.
func (b *backButton) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeyEscape, fyne.KeyBackspace, fyne.KeyReturn, fyne.KeyEnter:
		b.Tapped(nil)
	default:
		b.Button.TypedKey(e)
	}
}

// figure is a number with its name above it.
type figure struct {
	object fyne.CanvasObject
	value  *widget.Label
}

func newFigure(name string) figure {
	f := figure{value: ui.Subheading("")}
	f.value.SizeName = theme.SizeNameSubHeadingText
	f.object = container.New(twoLines{}, ui.Caption(name), f.value)
	return f
}

// button makes a button with a picture.
func button(words string, icon fyne.Resource, tapped func()) *widget.Button {
	return widget.NewButtonWithIcon(words, icon, tapped)
}
