package report

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"coffer/transfer/report/picture"
)

// ComparisonVersion is the version of the JSON form described by comparison.schema.json.
const ComparisonVersion = 1

// ErrCompare is returned for records that cannot be compared.
var ErrCompare = errors.New("at least two records that copied something are needed")

// Verdict is the outcome of a comparison with the baseline.
type Verdict string

// Verdicts. A difference counts only when it is larger than the spread of both sides.
const (
	Baseline     Verdict = "baseline"
	Faster       Verdict = "faster"
	Slower       Verdict = "slower"
	NoDifference Verdict = "no difference" // not beyond the spread
	Unclear      Verdict = "unclear"       // nothing is known about the spread
)

// Comparison is records side by side.
type Comparison struct {
	Schema   int        `json:"schema"`
	Compared []Compared `json:"compared"` // the baseline first
	Remarks  []string   `json:"remarks"`
	records  []*Record
}

// Compared is one thing compared: one record, or several of the same label and the same set-up, which count as rounds
// of one thing. Rates are in bytes per second.
type Compared struct {
	Label       string   `json:"label"`
	Records     []string `json:"records"` // ids, in the order given
	Source      string   `json:"source"`
	Destination string   `json:"destination"`
	Files       int64    `json:"files"` // of the first record
	Bytes       int64    `json:"bytes"`
	Seconds     *Figure  `json:"seconds"` // of copy and sync
	Average     *Figure  `json:"average"`
	Maximum     *Figure  `json:"maximum"`
	Minimum     *Figure  `json:"minimum"`
	Ratio       float64  `json:"ratio"` // median average rate, divided by that of the baseline; 1 for the baseline
	// Spread is how much the average rate is known to vary, as a part of it: the interquartile range of the rounds, or
	// for a single record that of the averages of eight equal parts of the run. nil: unknown.
	Spread *float64 `json:"spread"`
	// SpreadOf is "rounds", "parts" or "nothing".
	SpreadOf string  `json:"spreadOf"`
	Verdict  Verdict `json:"verdict"`
	Sentence string  `json:"sentence"` // the verdict in words
}

// Compare sets records side by side; the first given is the baseline. It needs two that differ in more than being
// rounds of one thing, or the error is ErrCompare.
func Compare(records []*Record) (*Comparison, error) {
	c := &Comparison{Schema: ComparisonVersion, Remarks: []string{}, records: records}
	groups := rounds(records)
	for _, g := range groups {
		r := summarise(g)
		if r.Average.Median <= 0 || r.Seconds.Median <= 0 {
			return nil, fmt.Errorf("compare: record %s copied nothing: %w", g[0].ID, ErrCompare)
		}
		c.Compared = append(c.Compared, r)
	}
	if len(groups) < 2 {
		return nil, fmt.Errorf("compare: %d given, all of one label and set-up: %w", len(records), ErrCompare)
	}
	base := &c.Compared[0]
	base.Ratio, base.Verdict, base.Sentence = 1, Baseline, "baseline"
	for i := 1; i < len(c.Compared); i++ {
		judge(base, &c.Compared[i])
	}
	c.remark(groups)
	return c, nil
}

// rounds groups records of one label and one set-up, in the order given. Records without a label are never rounds of
// one another: nobody said that they are the same work.
func rounds(records []*Record) [][]*Record {
	var groups [][]*Record
	var keys []string
	for _, r := range records {
		key := r.ID
		if r.Label != "" {
			key = fmt.Sprint(r.Label, r.Source, r.Destination, r.Path, r.Files, r.Bytes, r.Cache, r.Options, r.Program, r.Machine.CPUModel, r.Machine.Cores)
		}
		if i := slices.Index(keys, key); i < 0 {
			keys, groups = append(keys, key), append(groups, []*Record{r})
		} else if !slices.ContainsFunc(groups[i], func(have *Record) bool { return have.ID == r.ID }) {
			groups[i] = append(groups[i], r)
		}
	}
	return groups
}

func summarise(group []*Record) Compared {
	first := group[0]
	out := Compared{Label: first.name(), Source: first.Source.String(), Destination: first.Destination.String(), Files: first.Files, Bytes: first.Bytes, SpreadOf: "nothing"}
	collect := func(of func(*Record) float64) *Figure {
		values := make([]float64, len(group))
		for i, r := range group {
			values[i] = of(r)
		}
		return MakeFigure(values)
	}
	for _, r := range group {
		out.Records = append(out.Records, r.ID)
	}
	out.Seconds = collect(func(r *Record) float64 { return r.Seconds.Copy + r.Seconds.Sync })
	out.Average = collect(func(r *Record) float64 { return r.Rates.Average })
	out.Maximum = collect(func(r *Record) float64 { return r.Rates.Maximum })
	out.Minimum = collect(func(r *Record) float64 { return r.Rates.Minimum })
	var spread float64
	switch {
	case len(group) > 1:
		spread, out.SpreadOf = out.Average.Spread(), "rounds"
	case len(first.Rates.Series) > 1 && first.Rates.Average > 0:
		parts := MakeFigure(partsOf(first.Rates.Series))
		spread, out.SpreadOf = (parts.Q3-parts.Q1)/first.Rates.Average, "parts"
	default:
		return out
	}
	out.Spread = &spread
	return out
}

// partsOf is the average of each of eight parts of a series of windows; of fewer windows, the windows themselves. An
// eighth of a run is long enough not to show every pause of a write cache, and the range of eighths is wider than what
// averages of whole runs differ by for the same reasons.
func partsOf(series []float64) []float64 {
	const parts = 8
	if len(series) <= parts {
		return series
	}
	out := make([]float64, parts)
	for i := range out {
		from, to := i*len(series)/parts, (i+1)*len(series)/parts
		for _, v := range series[from:to] {
			out[i] += v / float64(to-from)
		}
	}
	return out
}

// judge fills in ratio and verdict of r against the baseline.
func judge(base, r *Compared) {
	r.Ratio = r.Average.Median / base.Average.Median
	difference := math.Abs(r.Ratio - 1)
	word, verdict := "faster", Faster
	if r.Ratio < 1 {
		word, verdict = "slower", Slower
	}
	change := percent(difference)
	if r.Ratio >= 2 {
		change = picture.Figure(r.Ratio) + " times"
		word = "as fast"
	} else {
		word += " by"
	}
	if r.Spread == nil || base.Spread == nil {
		r.Verdict = Unclear
		r.Sentence = fmt.Sprintf("%s; the spread is unknown: repeat the runs under one label each", phrase(word, change))
		return
	}
	spread := max(*r.Spread, *base.Spread)
	if difference <= spread {
		r.Verdict = NoDifference
		r.Sentence = fmt.Sprintf("no difference beyond the spread (%s, spread %s)", phrase(word, change), percent(spread))
		return
	}
	r.Verdict = verdict
	r.Sentence = fmt.Sprintf("%s, more than the spread of %s", phrase(word, change), percent(spread))
}

// phrase is "faster by 12 %" or "3.4 times as fast".
func phrase(word, change string) string {
	if word == "as fast" {
		return change + " as fast"
	}
	return word + " " + change
}

// percent prints a part as percent with digits that make sense.
func percent(part float64) string {
	switch p := 100 * part; {
	case p >= 9.95:
		return fmt.Sprintf("%.0f %%", p)
	case p == 0:
		return "0 %"
	case p >= 0.095:
		return fmt.Sprintf("%.1f %%", p)
	default:
		return "under 0.1 %"
	}
}

// remark says what makes the comparison less than clear.
func (c *Comparison) remark(groups [][]*Record) {
	say := func(format string, a ...any) { c.Remarks = append(c.Remarks, fmt.Sprintf(format, a...)) }
	alone, base := false, groups[0][0]
	for i, g := range groups {
		r := c.Compared[i]
		alone = alone || r.SpreadOf == "parts"
		if r.Average.Disturbed {
			say("%s: rounds differ by more than %.0f %% (interquartile range %s of the median): disturbed by other work", r.Label, 100*DisturbedSpread, percent(r.Average.Spread()))
		}
		first := g[0]
		if i == 0 {
			continue
		}
		if difference := math.Abs(float64(first.Bytes)/float64(max(base.Bytes, 1)) - 1); difference > 0.01 || math.Abs(float64(first.Files)/float64(max(base.Files, 1))-1) > 0.01 {
			say("%s is other work than the baseline: %d files, %s MB against %d files, %s MB", r.Label, first.Files, megabytes(float64(first.Bytes)), base.Files, megabytes(float64(base.Bytes)))
		}
		for _, d := range []struct{ what, a, b string }{{"cache", base.Cache, first.Cache}, {"machine", machineText(base.Machine), machineText(first.Machine)},
			{"windows", number(base.Rates.WindowSeconds) + " s", number(first.Rates.WindowSeconds) + " s"}, {"program", base.Program, first.Program}} {
			if d.a != d.b && !(d.what == "windows" && (base.Rates.SingleWindow || first.Rates.SingleWindow)) {
				say("%s: another %s than the baseline's: %s against %s", r.Label, strings.TrimSuffix(d.what, "s"), orDash(d.b), orDash(d.a))
			}
		}
	}
	for _, r := range c.records {
		if r.Outcome != Done {
			say("%s ended as %s", r.name(), r.Outcome)
		}
		if r.PausedSeconds > 0 {
			say("%s was stopped on the way for %s s, which do not count; what the system wrote to the disk meanwhile came for nothing", r.name(), picture.Figure(r.PausedSeconds))
		}
	}
	if alone {
		say("Where there is one run, the spread is the middle half of the averages of its eighths: how much one run differs from the next, nobody measured. Runs repeated under one label tell that.")
	}
}

// comparisonDocument shows a comparison.
func comparisonDocument(c *Comparison) *document {
	d := &document{title: "Transfers compared", method: recordMethod(c.records)}
	for i := range d.method {
		if d.method[i].Name == MethodRounds {
			d.method[i].Text = c.roundsText()
		}
	}
	for _, r := range c.Compared[1:] {
		d.remarks = append(d.remarks, r.Label+" against "+c.Compared[0].Label+": "+r.Sentence+".")
	}
	d.remarks = append(d.remarks, c.Remarks...)
	d.subtitle = distinct(c.records, func(r *Record) string { return machineText(r.Machine) })
	table := &Table{Title: "Comparison", RowTitle: "operation", Columns: []Column{{Name: "from"}, {Name: "to"}, {Name: "time", Unit: "s"},
		{Name: "average", Unit: "MB/s", HigherIsBetter: true}, {Name: "max", Unit: "MB/s", HigherIsBetter: true}, {Name: "min", Unit: "MB/s", HigherIsBetter: true}, {Name: "verdict"}}}
	bars := &picture.Bars{Title: "Average rates", Unit: "MB/s", Caption: c.whiskersText()}
	series := picture.BarSeries{Name: "average"}
	for i, r := range c.Compared {
		average := inMegabytes(r.Average)
		if i > 0 {
			average.Ratio = r.Ratio
		}
		table.Rows = append(table.Rows, Row{Label: r.Label, Cells: []Cell{Text(r.Source), Text(r.Destination), {Figure: r.Seconds}, {Figure: average},
			{Figure: inMegabytes(r.Maximum)}, {Figure: inMegabytes(r.Minimum)}, Text(r.Sentence)}})
		bars.Groups = append(bars.Groups, r.Label)
		series.Values = append(series.Values, r.Average.Median/1e6)
		low, high := r.Average.Q1, r.Average.Q3
		if r.Average.Rounds == 1 {
			low, high = c.percentiles(r.Records[0])
		}
		series.Low, series.High = append(series.Low, low/1e6), append(series.High, high/1e6)
	}
	bars.Series = []picture.BarSeries{series}
	d.sections = append(d.sections, section{title: "Side by side", table: table, charts: []picture.Chart{bars}})
	d.sections = append(d.sections, transferSections(c.medians())...)
	return d
}

// whiskersText says what whiskers span.
func (c *Comparison) whiskersText() string {
	rounds := slices.ContainsFunc(c.Compared, func(r Compared) bool { return len(r.Records) > 1 })
	alone := slices.ContainsFunc(c.Compared, func(r Compared) bool { return len(r.Records) == 1 })
	const ofWindows = "nine tenths of its windows, from the 5th to the 95th percentile"
	switch {
	case rounds && alone:
		return "Whiskers span the middle half of the rounds, or for a single run " + ofWindows + "."
	case rounds:
		return "Bars are medians; whiskers span the middle half of the rounds."
	default:
		return "Whiskers span, for each run, " + ofWindows + "."
	}
}

// roundsText says how many records stand behind each line.
func (c *Comparison) roundsText() string {
	parts := make([]string, len(c.Compared))
	several := false
	for i, r := range c.Compared {
		parts[i] = fmt.Sprintf("%s: %d", r.Label, len(r.Records))
		several = several || len(r.Records) > 1
	}
	text := strings.Join(parts, "; ")
	if several {
		text += ". Medians are shown; series and phases are those of the median round"
	}
	return text
}

// medians are the records of the median rounds, one for each thing compared.
func (c *Comparison) medians() []*Record {
	var out []*Record
	for _, compared := range c.Compared {
		var best *Record
		for _, r := range c.records {
			if slices.Contains(compared.Records, r.ID) && (best == nil ||
				math.Abs(r.Rates.Average-compared.Average.Median) < math.Abs(best.Rates.Average-compared.Average.Median)) {
				best = r
			}
		}
		out = append(out, best)
	}
	return out
}

// percentiles are p5 and p95 of the windows of a record.
func (c *Comparison) percentiles(id string) (low, high float64) {
	for _, r := range c.records {
		if r.ID == id {
			return r.Rates.P5, r.Rates.P95
		}
	}
	return 0, 0
}

func inMegabytes(f *Figure) *Figure {
	values := make([]float64, len(f.Values))
	for i, v := range f.Values {
		values[i] = v / 1e6
	}
	return MakeFigure(values)
}
