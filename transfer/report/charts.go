package report

import (
	"fmt"
	"slices"

	"coffer/transfer/report/picture"
)

// transferSections are the pictures of transfers: rates over time and where the time went.
func transferSections(records []*Record) []section {
	var sections []section
	var rates []picture.Chart
	for _, r := range records {
		rates = append(rates, ratesChart(r))
	}
	sameAxes(rates)
	if len(rates) >= many {
		for _, c := range rates {
			c.(*picture.Rates).Small = true
		}
		rates = []picture.Chart{&picture.Grid{Title: "Rates over time", Charts: rates}}
	}
	if len(rates) > 0 {
		sections = append(sections, section{title: "Rates over time", charts: rates})
	}
	if chart := phasesChart(records); chart != nil {
		sections = append(sections, section{title: "Where the time went", charts: []picture.Chart{chart}, table: phasesTable(records)})
	}
	return sections
}

// ratesChart is the rate of one transfer over time.
func ratesChart(r *Record) *picture.Rates {
	s := r.Rates
	way := Escape(fmt.Sprintf("%s to %s", r.Source, r.Destination))
	name := r.name()
	if r.Label == "" {
		name = way
	}
	chart := &picture.Rates{Title: fmt.Sprintf("%s · %s s", name, significant(r.Seconds.Copy+r.Seconds.Sync)), Unit: "MB/s", WindowSeconds: s.WindowSeconds,
		Series: make([]float64, len(s.Series)), Average: s.Average / 1e6, Maximum: s.Maximum / 1e6, Minimum: s.Minimum / 1e6,
		CopySeconds: r.Seconds.Copy, TotalSeconds: r.Seconds.Copy + r.Seconds.Sync}
	for i, v := range s.Series {
		chart.Series[i] = v / 1e6
	}
	if r.Label != "" {
		chart.Caption = way + ". "
	}
	switch {
	case s.SingleWindow:
		chart.Series = nil
		chart.Caption += "Single window: too short a run for a series; the area is the average."
	case len(s.Series) > picture.MaxSteps:
		chart.Caption += fmt.Sprintf("%d windows of %s s; the band spans lowest to highest window of each column, the line is their median.", len(s.Series), number(s.WindowSeconds))
	default:
		chart.Caption += fmt.Sprintf("Each step is a window of %s s; the last, partial window is not drawn.", number(s.WindowSeconds))
	}
	return chart
}

// many pictures of rates are drawn smaller, side by side.
const many = 4

// likeness is how many times as large the largest of several rates or durations may be for all to be drawn on one axis.
const likeness = 5

// sameAxes gives pictures of rates the same axes, so that the eye may compare them, unless some would shrink to nothing.
func sameAxes(charts []picture.Chart) {
	var top, span, lowest, shortest float64
	for i, c := range charts {
		r := c.(*picture.Rates)
		high := max(r.Maximum, r.Average)
		if i == 0 {
			lowest, shortest = high, r.TotalSeconds
		}
		top, span, lowest, shortest = max(top, high), max(span, r.TotalSeconds), min(lowest, high), min(shortest, r.TotalSeconds)
	}
	for _, c := range charts {
		if r := c.(*picture.Rates); top <= likeness*lowest {
			r.Top = top
		}
		if r := c.(*picture.Rates); span <= likeness*shortest {
			r.Span = span
		}
	}
}

// averageBars sets the averages of records side by side, with whiskers from minimum to maximum.
func averageBars(records []*Record) *picture.Bars {
	b := &picture.Bars{Title: "Average rates", Unit: "MB/s", Caption: "Whiskers span nine tenths of the windows, from the 5th to the 95th percentile."}
	s := picture.BarSeries{Name: "average"}
	for _, r := range records {
		b.Groups = append(b.Groups, r.name())
		s.Values = append(s.Values, r.Rates.Average/1e6)
		s.Low = append(s.Low, r.Rates.P5/1e6)
		s.High = append(s.High, r.Rates.P95/1e6)
	}
	b.Series = []picture.BarSeries{s}
	return b
}

// phaseColumns are the names of the phases that records have: the known ones in their order, then others.
func phaseColumns(records []*Record) []string {
	var found, names []string
	for _, r := range records {
		for _, p := range r.Phases {
			if !slices.Contains(found, p.Name) {
				found = append(found, p.Name)
			}
		}
	}
	for _, name := range PhaseNames() {
		if slices.Contains(found, name) || len(found) > 0 && name != PhaseOther {
			names = append(names, name) // also those without time, so that each keeps its colour in every picture
		}
	}
	for _, name := range found {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// phaseSeconds are the seconds of a record by the names in columns.
func phaseSeconds(r *Record, columns []string) []float64 {
	out := make([]float64, len(columns))
	for _, p := range r.Phases {
		if i := slices.Index(columns, p.Name); i >= 0 {
			out[i] += p.Seconds
		}
	}
	return out
}

// phasesChart is nil when no record has phases.
func phasesChart(records []*Record) picture.Chart {
	columns := phaseColumns(records)
	if len(columns) == 0 {
		return nil
	}
	chart := &picture.Phases{Title: "Seconds of copy and sync by phase", Caption: "Shares of the wall-clock time of copy and sync. Work of several workers side by side is scaled to the clock."}
	for _, name := range columns {
		chart.Names = append(chart.Names, Escape(name))
	}
	for _, r := range records {
		if len(r.Phases) > 0 {
			chart.Rows = append(chart.Rows, picture.PhasesRow{Label: r.name(), Seconds: phaseSeconds(r, columns)})
		}
	}
	return chart
}

func phasesTable(records []*Record) *Table {
	var columns []string
	for _, name := range phaseColumns(records) { // known phases that none had are left out
		if slices.ContainsFunc(records, func(r *Record) bool {
			return slices.ContainsFunc(r.Phases, func(p Phase) bool { return p.Name == name && p.Seconds != 0 })
		}) {
			columns = append(columns, name)
		}
	}
	t := &Table{Title: "Where the time went", RowTitle: "operation"}
	for _, name := range columns {
		t.Columns = append(t.Columns, Column{Name: Escape(name), Unit: "s"})
	}
	for _, r := range records {
		if len(r.Phases) == 0 {
			continue
		}
		row := Row{Label: r.name()}
		for _, seconds := range phaseSeconds(r, columns) {
			row.Cells = append(row.Cells, single(seconds))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// chartOf turns the chart of an experiment into a picture.
func chartOf(c Chart) *picture.Bars {
	b := &picture.Bars{Title: Escape(c.Title), Unit: Escape(c.Unit), Line: c.Line, LineName: Escape(c.LineName), Log: c.Log}
	for _, g := range c.Groups {
		b.Groups = append(b.Groups, Escape(g))
	}
	for _, s := range c.Series {
		b.Series = append(b.Series, picture.BarSeries{Name: Escape(s.Name), Reference: s.Reference, Source: Escape(s.Source), Values: s.Values, Low: s.Low, High: s.High})
		if len(s.High) > 0 {
			b.Caption = "Bars are medians; whiskers span the middle half of the rounds."
		}
	}
	return b
}
