// Package chart draws rates over time and figures as bars, on Fyne's canvas and in the colours of the theme.
//
// Its widgets, like all of Fyne's, are used on Fyne's goroutine only.
package chart

import (
	"fyne.io/fyne/v2"

	"coffer/app/window/ui"
)

// Point is a value at a time.
type Point struct {
	At    float64 // seconds; negative ones lie in the past
	Value float64 // of rates: bytes per second
}

// Series is one line of a chart.
type Series struct {
	Name   string // in the legend; "": not there
	Note   string // after the name, such as the value now
	Points []Point
}

// Windows is the series of the rates of windows of a length in seconds, one after the other from 0 on, as records have them:
// each in the middle of its window, the first from the beginning and the last to the end.
func Windows(name string, rates []float64, seconds float64) Series {
	s := Series{Name: name}
	if len(rates) == 0 {
		return s
	}
	s.Points = make([]Point, 0, len(rates)+2)
	s.Points = append(s.Points, Point{0, rates[0]})
	for i, rate := range rates {
		s.Points = append(s.Points, Point{(float64(i) + 0.5) * seconds, rate})
	}
	s.Points = append(s.Points, Point{float64(len(rates)) * seconds, rates[len(rates)-1]})
	return s
}

// Mark is a value that a line across the chart shows, such as the average.
type Mark struct {
	Name  string // short, "average"
	Value float64
}

// seriesColors are the colours of series, in their order.
var seriesColors = []fyne.ThemeColorName{ui.ColorNameSeries1, ui.ColorNameSeries2}

func seriesColor(i int) fyne.ThemeColorName { return seriesColors[i%len(seriesColors)] }
