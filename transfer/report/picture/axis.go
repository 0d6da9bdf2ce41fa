package picture

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// scale maps values to places along an axis.
type scale struct {
	from, to float64 // values at both ends
	start    float64 // place of from
	length   float64 // to the place of to; negative for upwards
	log      bool
}

func (s scale) at(v float64) float64 {
	lo, hi := s.from, s.to
	if s.log {
		v, lo, hi = math.Log10(max(v, lo)), math.Log10(lo), math.Log10(hi)
	}
	if hi <= lo {
		return s.start
	}
	return s.start + s.length*min(max((v-lo)/(hi-lo), 0), 1)
}

// linear is the axis from 0 to a round number not below most, with about count ticks.
func linear(most float64, count int) (to float64, ticks []float64) {
	if most <= 0 || math.IsInf(most, 0) || math.IsNaN(most) {
		most = 1
	}
	step := niceStep(most / float64(max(count, 1)))
	n := int(math.Ceil(most/step - 1e-9))
	for i := range n + 1 {
		ticks = append(ticks, float64(i)*step)
	}
	return float64(n) * step, ticks
}

// niceStep is the smallest of 1, 2, 2.5, 5 times a power of ten not below v.
func niceStep(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 2.5, 5} {
		if m*power >= v*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// decades is the logarithmic axis around least and most (both above 0): whole powers of ten at the ticks.
func decades(least, most float64) (from, to float64, ticks []float64) {
	lo, hi := math.Floor(math.Log10(least)+1e-9), math.Ceil(math.Log10(most)-1e-9)
	if hi <= lo {
		hi = lo + 1
	}
	for e := lo; e <= hi; e++ {
		ticks = append(ticks, math.Pow(10, e))
	}
	return ticks[0], min(ticks[len(ticks)-1], most*1.3), ticks // the axis may end with the highest value
}

// tickText prints the value of a tick, all ticks of an axis with the same number of decimals.
func tickText(v, step float64) string {
	decimals := 0
	for s := step; decimals < 9 && math.Abs(s-math.Round(s)) > 1e-6*math.Abs(s); decimals++ {
		s *= 10
	}
	return Group(strconv.FormatFloat(v, 'f', decimals, 64))
}

// Figure prints a value with three significant digits, four from a thousand on, without exponent, thousands set apart
// from five digits on.
func Figure(v float64) string {
	a := math.Abs(v)
	switch {
	case v == 0:
		return "0"
	case a >= 9999.5: // four digits: more would say more than was measured
		unit := math.Pow(10, math.Floor(math.Log10(a))-3)
		return Group(fmt.Sprintf("%.0f", math.Round(v/unit)*unit))
	case a >= 99.95:
		return Group(fmt.Sprintf("%.0f", v))
	case a >= 9.995:
		return fmt.Sprintf("%.1f", v)
	case a >= 0.9995:
		return fmt.Sprintf("%.2f", v)
	case a >= 0.0995:
		return fmt.Sprintf("%.3f", v)
	default:
		return strconv.FormatFloat(v, 'g', 2, 64)
	}
}

// Exact prints a value as it was published, with the digits it has; a value with more than six of them was computed from
// others and is printed as a Figure.
func Exact(v float64) string {
	if short := strconv.FormatFloat(v, 'e', -1, 64); strings.IndexByte(short, 'e') > len("-1.23456") {
		return Figure(v)
	}
	return Group(strconv.FormatFloat(v, 'f', -1, 64))
}

// Group sets thousands apart with no-break spaces in whole parts of five digits and more.
func Group(s string) string {
	whole, fraction, dotted := strings.Cut(s, ".")
	sign := ""
	if strings.HasPrefix(whole, "-") {
		sign, whole = "-", whole[1:]
	}
	if len(whole) >= 5 {
		var parts []string
		for ; len(whole) > 3; whole = whole[:len(whole)-3] {
			parts = append([]string{whole[len(whole)-3:]}, parts...)
		}
		whole = strings.Join(append([]string{whole}, parts...), "\u00a0")
	}
	if dotted {
		whole += "." + fraction
	}
	return sign + whole
}

// Ratio prints a ratio with two decimals; below 0.1 and from ten on like a Figure.
func Ratio(v float64) string {
	if a := math.Abs(v); a < 0.1 || a >= 9.995 {
		return Figure(v)
	}
	return fmt.Sprintf("%.2f", v)
}
