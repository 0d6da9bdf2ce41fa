package create

import (
	"strconv"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
)

// steps shows how many steps there are and which is the person's.
type steps struct {
	widget.BaseWidget
	names   []string
	at      int
	circles []*canvas.Circle
	numbers []*canvas.Text
	labels  []*canvas.Text
	lines   []*canvas.Rectangle
	row     *fyne.Container
}

const stepCircle = 26

func newSteps(names ...string) *steps {
	s := &steps{names: names}
	cells := []fyne.CanvasObject{}
	for i, name := range names {
		circle, number, label := canvas.NewCircle(nil), canvas.NewText(strconv.Itoa(i+1), nil), canvas.NewText(name, nil)
		number.Alignment, number.TextStyle.Bold = fyne.TextAlignCenter, true
		s.circles, s.numbers, s.labels = append(s.circles, circle), append(s.numbers, number), append(s.labels, label)
		if i > 0 {
			line := canvas.NewRectangle(nil)
			line.SetMinSize(fyne.NewSize(36, 1))
			s.lines = append(s.lines, line)
			cells = append(cells, container.NewCenter(line))
		}
		cells = append(cells, container.NewStack(container.NewGridWrap(fyne.NewSize(stepCircle, stepCircle), circle), container.NewCenter(number)), container.NewCenter(label))
	}
	s.row = container.NewHBox(cells...)
	s.ExtendBaseWidget(s)
	s.paint()
	return s
}

// set says which step it is, from 0.
func (s *steps) set(at int) {
	s.at = at
	s.Refresh()
}

func (s *steps) paint() {
	for i := range s.names {
		area, number, label := theme.ColorNameDisabledButton, theme.ColorNamePlaceHolder, theme.ColorNamePlaceHolder
		if i <= s.at {
			area, number = theme.ColorNamePrimary, theme.ColorNameForegroundOnPrimary
		}
		if i == s.at {
			label = theme.ColorNameForeground
		}
		s.circles[i].FillColor, s.numbers[i].Color, s.labels[i].Color = theme.Color(area), theme.Color(number), theme.Color(label)
		s.numbers[i].Text = strconv.Itoa(i + 1)
		if i < s.at {
			s.numbers[i].Text = "✓"
		}
		s.labels[i].TextStyle.Bold = i == s.at
		s.labels[i].TextSize, s.numbers[i].TextSize = theme.TextSize(), theme.TextSize()
	}
	for _, line := range s.lines {
		line.FillColor = theme.Color(theme.ColorNameInputBorder)
	}
}

// Refresh implements fyne.Widget.
func (s *steps) Refresh() {
	s.paint()
	s.BaseWidget.Refresh()
}

// CreateRenderer implements fyne.Widget.
func (s *steps) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(container.NewCenter(s.row))
}
