package chart

import (
	"math"
	"slices"
	"time"

	"coffer/app/window/text"
)

// headroom is how much higher than the highest value the axis is, at least.
const headroom = 1.03

// roundSteps are what a step of an axis may be, times a power of ten.
var roundSteps = []float64{1, 2, 2.5, 5, 10}

// valueScale is an axis from 0 that holds highest and a little room, with at most so many steps: its end, and the step between
// two marks. Without a value there is a scale all the same.
func valueScale(highest, least float64, most int) (end, step float64) {
	if !(highest > 0) || math.IsInf(highest, 0) {
		highest = least
	}
	highest *= headroom
	rough := highest / float64(max(most, 1))
	power := math.Pow(10, math.Floor(math.Log10(rough)))
	step = 10 * power
	for _, m := range roundSteps {
		if m*power >= rough*(1-1e-9) {
			step = m * power
			break
		}
	}
	return step * math.Ceil(highest/step-1e-9), step
}

// number is a value of an axis with as many decimals as its step needs.
func number(value, step float64) string {
	decimals := 0
	for scaled := step; decimals < 3 && math.Abs(scaled-math.Round(scaled)) > 1e-6; decimals++ {
		scaled *= 10
	}
	switch decimals {
	case 0:
		return text.T("%.0f", value)
	case 1:
		return text.T("%.1f", value)
	case 2:
		return text.T("%.2f", value)
	}
	return text.T("%.3f", value)
}

// timeSteps are what a step of a time axis may be, in seconds.
var timeSteps = []float64{0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400}

// timeMarks are the round times of an axis from a time to another one, in seconds, at most so many steps.
func timeMarks(from, to float64, most int) []float64 {
	if !(to > from) || most < 1 {
		return nil
	}
	step := timeSteps[len(timeSteps)-1]
	if i := slices.IndexFunc(timeSteps, func(s float64) bool { return (to-from)/s <= float64(most) }); i >= 0 {
		step = timeSteps[i]
	} else {
		step *= math.Ceil((to - from) / step / float64(most))
	}
	var marks []float64
	for i := math.Ceil(from/step - 1e-9); i*step <= to+step*1e-9; i++ {
		marks = append(marks, i*step)
	}
	return marks
}

// timeName is a time of an axis that ends at to and shows so many seconds; times before 0 lie in the past.
func timeName(seconds, to, span float64) string {
	if math.Abs(seconds) < 1e-9 {
		if to <= 0 {
			return text.T("now")
		}
		return text.T("%d s", 0)
	}
	if seconds != math.Round(seconds) {
		return text.T("%.1f s", seconds)
	}
	switch whole := int64(seconds); {
	case span <= 120:
		return text.T("%d s", whole)
	case whole%3600 == 0:
		return text.T("%d h", whole/3600)
	case whole%60 == 0 && span < 2*3600:
		return text.T("%d min", whole/60)
	default:
		return text.Span(time.Duration(whole) * time.Second)
	}
}
