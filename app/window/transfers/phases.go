package transfers

import (
	"fmt"
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/window/text"
	"coffer/app/window/ui"
	"coffer/transfer/report"
)

// phaseText is a kind of work in words.
func phaseText(name string) string {
	switch name {
	case report.PhaseSourceRead:
		return text.T("Reading the originals")
	case report.PhaseCrypto:
		return text.T("Encryption")
	case report.PhaseFileSystem:
		return text.T("File system")
	case report.PhaseImageWrite:
		return text.T("Writing")
	case report.PhaseSync:
		return text.T("Making sure that all is written")
	case report.PhaseKernel:
		return text.T("The drive")
	case report.PhaseOther:
		return text.T("Other")
	}
	return ui.Clean(name)
}

// phaseColors are the colours of the kinds of work, in the order of report.PhaseNames, for light and dark.
var phaseColors = map[string][2]uint32{
	report.PhaseSourceRead: {0x1a66a6, 0x72b4ee},
	report.PhaseCrypto:     {0xb4571b, 0xf0a065},
	report.PhaseFileSystem: {0x7a4fb0, 0xb79be6},
	report.PhaseImageWrite: {0x1b7542, 0x6fcf97},
	report.PhaseSync:       {0xa3324f, 0xf08ba3},
	report.PhaseKernel:     {0x0d7d86, 0x62c9d1},
	report.PhaseOther:      {0x7d8795, 0x8d98a8},
}

// phaseColor is the colour of a kind of work on the theme in use.
func phaseColor(name string) color.Color {
	pair, ok := phaseColors[name]
	if !ok {
		pair = phaseColors[report.PhaseOther]
	}
	hex := pair[0]
	if r, g, b, _ := theme.Color(theme.ColorNameBackground).RGBA(); r+g+b < 3*0x8000 {
		hex = pair[1]
	}
	return color.NRGBA{R: uint8(hex >> 16), G: uint8(hex >> 8), B: uint8(hex), A: 0xff}
}

// phases is a bar of what the time went into, with a legend below.
type phases struct {
	widget.BaseWidget
	list []report.Phase
	sum  float64
}

func newPhases(list []report.Phase) *phases {
	p := &phases{}
	for _, one := range list {
		if one.Seconds > 0 {
			p.list = append(p.list, one)
			p.sum += one.Seconds
		}
	}
	p.ExtendBaseWidget(p)
	return p
}

// share is the part of a kind of work, in words.
func (p *phases) share(one report.Phase) string {
	return fmt.Sprintf("%.0f %%", 100*one.Seconds/p.sum)
}

// CreateRenderer implements fyne.Widget.
func (p *phases) CreateRenderer() fyne.WidgetRenderer {
	r := &phasesRenderer{phases: p, legend: container.NewGridWithColumns(3)}
	for _, one := range p.list {
		r.parts = append(r.parts, canvas.NewRectangle(nil))
		box := canvas.NewRectangle(nil)
		box.CornerRadius = 3
		r.boxes = append(r.boxes, box)
		words := ui.Caption(joined(phaseText(one.Name), p.share(one), clockSeconds(one.Seconds)))
		words.Importance = widget.MediumImportance
		words.Truncation = fyne.TextTruncateEllipsis
		r.legend.Add(container.NewBorder(nil, nil, container.NewCenter(container.NewGridWrap(fyne.NewSquareSize(10), box)), nil, words))
	}
	r.paint()
	for _, one := range r.parts {
		r.objects = append(r.objects, one)
	}
	r.objects = append(r.objects, r.legend)
	return r
}

type phasesRenderer struct {
	phases  *phases
	parts   []*canvas.Rectangle
	boxes   []*canvas.Rectangle
	legend  *fyne.Container
	objects []fyne.CanvasObject
}

const phasesHeight = 28

func (r *phasesRenderer) paint() {
	for i, one := range r.phases.list {
		r.parts[i].FillColor, r.boxes[i].FillColor = phaseColor(one.Name), phaseColor(one.Name)
	}
}

func (r *phasesRenderer) Layout(size fyne.Size) {
	x := float32(0)
	for i, one := range r.phases.list {
		w := size.Width * float32(one.Seconds/r.phases.sum)
		r.parts[i].Move(fyne.NewPos(x, 0))
		r.parts[i].Resize(fyne.NewSize(max(w-1, 0.5), phasesHeight)) // a gap tells neighbours apart
		x += w
	}
	r.legend.Move(fyne.NewPos(0, phasesHeight+theme.Padding()))
	r.legend.Resize(fyne.NewSize(size.Width, r.legend.MinSize().Height))
}

func (r *phasesRenderer) MinSize() fyne.Size {
	return fyne.NewSize(300, phasesHeight+theme.Padding()+r.legend.MinSize().Height)
}

func (r *phasesRenderer) Refresh() {
	r.paint()
	r.Layout(r.phases.Size())
	r.legend.Refresh()
	canvas.Refresh(r.phases)
}

func (r *phasesRenderer) Objects() []fyne.CanvasObject { return r.objects }

func (r *phasesRenderer) Destroy() {}
