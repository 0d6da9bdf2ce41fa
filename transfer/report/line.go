package report

import (
	"fmt"
	"strings"
)

// Line is the one-line form:
//
//	[label] 95 s  average=6.92 MB/s  max=14.0 MB/s  min=3.8 MB/s  (window 1 s)
//
// Bytes written for copies that were given up are part of the rates; if there
// are any, the bracket says so. Control characters of the label are escaped. MB/s is 10^6 bytes per second.
func (r *Record) Line() string {
	var b strings.Builder
	label := r.Label
	if label == "" {
		label = r.ID
	}
	fmt.Fprintf(&b, "[%s] %s s  average=%s MB/s  max=%s MB/s  min=%s MB/s  (", Escape(label),
		significant(r.Seconds.Copy+r.Seconds.Sync), megabytes(r.Rates.Average), megabytes(r.Rates.Maximum), megabytes(r.Rates.Minimum))
	if r.Rates.SingleWindow {
		b.WriteString("single window")
	} else {
		fmt.Fprintf(&b, "window %s s", trimZeros(fmt.Sprintf("%.3f", r.Rates.WindowSeconds)))
	}
	if r.FailedBytes > 0 {
		fmt.Fprintf(&b, "; with %s MB of copies that were given up", megabytes(float64(r.FailedBytes)))
	}
	b.WriteByte(')')
	return b.String()
}

// megabytes prints bytes per second as MB/s with three significant digits.
func megabytes(bytesPerSecond float64) string { return significant(bytesPerSecond / 1e6) }

// significant prints v with three significant digits and no exponent.
func significant(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v >= 99.95:
		return fmt.Sprintf("%.0f", v)
	case v >= 9.995:
		return fmt.Sprintf("%.1f", v)
	case v >= 0.9995:
		return fmt.Sprintf("%.2f", v)
	default:
		return fmt.Sprintf("%.3f", v)
	}
}

func trimZeros(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// Escape makes text safe for a terminal: control characters, also the invisible
// ones that reorder text, become \u and four hexadecimal digits.
func Escape(s string) string {
	var b strings.Builder
	for i, c := range s {
		switch {
		case c < 0x20 || c >= 0x7f && c < 0xa0 || c >= 0x200b && c <= 0x200f || c >= 0x2028 && c <= 0x202e || c >= 0x2060 && c <= 0x206f || c == 0xfeff:
			fmt.Fprintf(&b, `\u%04x`, c)
		case c == 0xfffd && s[i] != 0xef: // a byte that is not UTF-8
			fmt.Fprintf(&b, `\x%02x`, s[i])
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}
