package report

import (
	"errors"
	"fmt"
	"math"

	"coffer/transfer/report/picture"
)

// ErrExperiment is returned for an experiment that contradicts itself.
var ErrExperiment = errors.New("the experiment is not well-formed")

// experimentDocument shows an experiment.
func experimentDocument(e *Experiment) *document {
	d := &document{title: Escape(e.Title), subtitle: period(e.Started, e.Finished) + " · " + machineText(e.Machine) + " · " + e.Version}
	for _, r := range append(disturbed(e.Tables), e.Remarks...) {
		d.remarks = append(d.remarks, Escape(r))
	}
	if len(e.Bars) > 0 {
		s := section{title: "At a glance"}
		for _, c := range e.Bars {
			s.charts = append(s.charts, picture.Chart(chartOf(c)))
		}
		d.sections = append(d.sections, s)
	}
	for i := range e.Tables {
		d.sections = append(d.sections, section{title: Escape(e.Tables[i].Title), table: &e.Tables[i]})
	}
	d.sections = append(d.sections, transferSections(e.Transfers)...)
	for _, m := range e.Method {
		d.method = append(d.method, Method{Escape(m.Name), Escape(m.Text)})
	}
	d.method = append(d.method, Method{"Figures", fmt.Sprintf("medians of the rounds, with the middle half of them (first to third quartile); × is the ratio to the baseline; † marks figures whose middle half spans more than %.0f %% of the median", 100*DisturbedSpread)},
		Method{"Units", unitsNote})
	for _, t := range e.Tables {
		for _, c := range t.Columns {
			if c.Unit == "K/s" {
				d.method[len(d.method)-1].Text = unitsNote + " K/s is 1024 bytes per second."
			}
		}
	}
	return d
}

// MissingMethod returns the names of what the method does not state: window, cache, sync, order, rounds, machine,
// versions.
func (e *Experiment) MissingMethod() []string {
	var missing []string
	for _, name := range []string{MethodWindow, MethodCache, MethodSync, MethodOrder, MethodRounds, MethodMachine, MethodVersions} {
		found := false
		for _, m := range e.Method {
			found = found || m.Name == name && m.Text != ""
		}
		if !found {
			missing = append(missing, name)
		}
	}
	return missing
}

// Check says whether the experiment can be stored and exported: every row has a cell for each column, every series a
// value for each group, all numbers are finite, the method states what it must. The error is ErrExperiment.
func (e *Experiment) Check() error {
	fail := func(format string, a ...any) error {
		return fmt.Errorf("%w: %s", ErrExperiment, fmt.Sprintf(format, a...))
	}
	if missing := e.MissingMethod(); len(missing) > 0 {
		return fail("its method does not state %q", missing)
	}
	switch e.Kind {
	case KindCopy, KindCiphers, KindDrive:
	default:
		return fail("unknown kind %q", e.Kind)
	}
	for _, t := range e.Tables {
		for _, row := range t.Rows {
			if len(row.Cells) != len(t.Columns) {
				return fail("table %q, row %q: %d cells for %d columns", t.Title, row.Label, len(row.Cells), len(t.Columns))
			}
			for i, cell := range row.Cells {
				if f := cell.Figure; f != nil && (cell.Text != "" || !finite(append([]float64{f.Median, f.Min, f.Max, f.Q1, f.Q3, f.Ratio, f.CPUSeconds}, f.Values...)...)) {
					return fail("table %q, row %q, column %q: text beside a figure, or not a finite number", t.Title, row.Label, t.Columns[i].Name)
				}
			}
		}
	}
	for _, c := range e.Bars {
		for _, s := range c.Series {
			n := len(c.Groups)
			if len(s.Values) != n || len(s.Low) != len(s.High) || len(s.Low) != 0 && len(s.Low) != n {
				return fail("chart %q, series %q: %d values, %d and %d whiskers for %d groups", c.Title, s.Name, len(s.Values), len(s.Low), len(s.High), n)
			}
			if !finite(s.Values...) || !finite(s.Low...) || !finite(s.High...) || !finite(c.Line) {
				return fail("chart %q, series %q: not a finite number", c.Title, s.Name)
			}
		}
	}
	for _, r := range e.Transfers {
		if r == nil {
			return fail("a transfer is missing")
		}
	}
	return nil
}

func finite(values ...float64) bool {
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// filled returns a copy whose lists are empty rather than nil, as the schema wants them.
func (e *Experiment) filled() *Experiment {
	out := *e
	out.Method, out.Transfers, out.Remarks = append([]Method{}, e.Method...), append([]*Record{}, e.Transfers...), append([]string{}, e.Remarks...)
	out.Tables, out.Bars = append([]Table{}, e.Tables...), append([]Chart{}, e.Bars...)
	for i := range out.Tables {
		t := &out.Tables[i]
		t.Columns, t.Rows = append([]Column{}, t.Columns...), append([]Row{}, t.Rows...)
		for k := range t.Rows {
			t.Rows[k].Cells = append([]Cell{}, t.Rows[k].Cells...)
			for n, cell := range t.Rows[k].Cells {
				if cell.Figure != nil && cell.Figure.Values == nil {
					f := *cell.Figure
					f.Values = []float64{}
					t.Rows[k].Cells[n].Figure = &f
				}
			}
		}
	}
	for i := range out.Bars {
		c := &out.Bars[i]
		c.Groups, c.Series = append([]string{}, c.Groups...), append([]Series{}, c.Series...)
		for k := range c.Series {
			s := &c.Series[k]
			s.Values, s.Low, s.High = append([]float64{}, s.Values...), append([]float64{}, s.Low...), append([]float64{}, s.High...)
		}
	}
	return &out
}
