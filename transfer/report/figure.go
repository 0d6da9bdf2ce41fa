package report

import (
	"math"
	"slices"
)

// DisturbedSpread is the interquartile range, as a part of the median, above which rounds count as disturbed by other
// work on the machine: 15 %. A report says so beside each such figure.
const DisturbedSpread = 0.15

// MakeFigure computes the figure of rounds measured in the order of values, which it copies. Without values the figure
// is zero. Ratio and CPUSeconds are the caller's to fill in.
func MakeFigure(values []float64) *Figure {
	f := &Figure{Rounds: len(values), Values: append([]float64{}, values...)}
	if len(values) == 0 {
		return f
	}
	sorted := slices.Sorted(slices.Values(values))
	f.Min, f.Max = sorted[0], sorted[len(sorted)-1]
	f.Q1, f.Median, f.Q3 = quantile(sorted, 0.25), quantile(sorted, 0.5), quantile(sorted, 0.75)
	f.Disturbed = f.Spread() > DisturbedSpread
	return f
}

// PublishedFigure is a figure that others published, of unknown rounds.
func PublishedFigure(value float64) *Figure { return &Figure{Median: value, Values: []float64{}} }

// Measured is the cell of rounds; see MakeFigure.
func Measured(values []float64) Cell { return Cell{Figure: MakeFigure(values)} }

// Published is the cell of a published figure.
func Published(value float64) Cell { return Cell{Figure: PublishedFigure(value)} }

// Text is a cell of text.
func Text(s string) Cell { return Cell{Text: s} }

// Spread is the interquartile range as a part of the median; 0 for fewer than two rounds or a median of 0.
func (f *Figure) Spread() float64 {
	if f.Rounds < 2 || f.Median == 0 {
		return 0
	}
	return (f.Q3 - f.Q1) / math.Abs(f.Median)
}

// quantile is the quantile q (0 to 1) of sorted values, interpolated linearly between order statistics.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	low := int(at)
	if low+1 >= len(sorted) {
		return sorted[low]
	}
	return sorted[low] + (at-float64(low))*(sorted[low+1]-sorted[low])
}
