package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"coffer/transfer/rate"
	"coffer/transfer/report/picture"
)

// document is what html, md, svg and png show: the same for records, comparisons and experiments.
type document struct {
	title    string
	subtitle string
	remarks  []string // first thing to read: what disturbed the run, a verdict
	sections []section
	method   []Method
}

// section is a part of a document; parts of it may be empty.
type section struct {
	title  string
	charts []picture.Chart
	table  *Table
	facts  []Method // name and text, line by line
}

// disturbedNote explains the mark behind disturbed figures.
const disturbedNote = "† the middle half of the rounds spans more than 15 % of the median: disturbed by other work on the machine"

// unitsNote stands in every method.
const unitsNote = "MB/s is 10^6 bytes per second. Payload bytes are counted once, when the destination accepts them. Nothing is smoothed."

// charts of all sections.
func (d *document) charts() []picture.Chart {
	var all []picture.Chart
	for _, s := range d.sections {
		all = append(all, s.charts...)
	}
	return all
}

// disturbed counts disturbed figures of tables and names the worst.
func disturbed(tables []Table) []string {
	count, all, worst, where := 0, 0, 0.0, ""
	for _, t := range tables {
		for _, row := range t.Rows {
			for i, cell := range row.Cells {
				f := cell.Figure
				if f == nil || row.Reference || f.Rounds == 0 {
					continue
				}
				all++
				if !f.Disturbed {
					continue
				}
				count++
				if f.Spread() >= worst {
					worst, where = f.Spread(), row.Label+", "+t.Columns[i].name()
				}
			}
		}
	}
	if count == 0 {
		return nil
	}
	return []string{fmt.Sprintf("Disturbed by other work: the middle half of the rounds spans more than %.0f %% of the median in %d of %d figures, marked †; the widest is %s with %.0f %%.",
		100*DisturbedSpread, count, all, where, 100*worst)}
}

// machineText names a machine in one line.
func machineText(m Machine) string {
	parts := []string{}
	add := func(format string, a ...any) { parts = append(parts, fmt.Sprintf(format, a...)) }
	if m.CPUModel != "" {
		add("%s", m.CPUModel)
	}
	switch {
	case m.Cores == 1:
		add("1 core")
	case m.Cores > 1:
		add("%d cores", m.Cores)
	}
	if m.GovernorStart != "" {
		add("governor %s", m.GovernorStart)
	}
	if m.ClockMHzStart > 0 {
		add("%.0f MHz", m.ClockMHzStart)
	}
	if m.OSName != "" {
		add("%s", m.OSName)
	} else if m.OS != "" {
		add("%s", m.OS)
	}
	if m.Kernel != "" {
		add("kernel %s", m.Kernel)
	}
	if len(parts) == 0 {
		return "unknown"
	}
	return strings.Join(parts, ", ")
}

// distinct joins what differs, in order of appearance.
func distinct(records []*Record, of func(*Record) string) string {
	var found []string
	for _, r := range records {
		if s := of(r); s != "" && !slices.Contains(found, s) {
			found = append(found, s)
		}
	}
	return strings.Join(found, "; ")
}

// windowText says what the windows of a record are.
func windowText(s rate.Summary) string {
	length := trimZeros(fmt.Sprintf("%.3f", s.WindowSeconds)) + " s"
	if s.SingleWindow {
		return "single window: the run was too short for several windows of " + length + ", so maximum and minimum are the average"
	}
	return length
}

// recordMethod says how records were measured.
func recordMethod(records []*Record) []Method {
	method := []Method{
		{MethodWindow, distinct(records, func(r *Record) string { return windowText(r.Rates) }) +
			". Windows tile copy and sync; the last, partial one counts for the average only"},
		{MethodCache, "of the source at the start: " + distinct(records, func(r *Record) string { return r.Cache })},
		{MethodSync, "inside the time: average is bytes over the seconds of copy and final sync"},
		{MethodOrder, orderText(records)},
		{MethodRounds, fmt.Sprintf("%d", len(records))},
		{MethodMachine, distinct(records, func(r *Record) string { return machineText(r.Machine) })},
		{MethodVersions, distinct(records, func(r *Record) string { return r.Program })},
		{"Workers", distinct(records, func(r *Record) string { return integer(int64(r.Options.Workers)) })},
		{"Units", unitsNote},
	}
	if len(records) > 1 {
		method[4].Text += ", each shown"
	}
	if distinct(records, func(r *Record) string { return r.Cache }) == "" {
		method[1].Text = "unknown"
	}
	return method
}

// orderText says when the transfers ran.
func orderText(records []*Record) string {
	when := func(r *Record) string { return r.Start.UTC().Format(time.DateTime) + " UTC" }
	if len(records) > 4 {
		first, last := records[0], records[0]
		for _, r := range records {
			if r.Start.Before(first.Start) {
				first = r
			}
			if r.Start.After(last.Start) {
				last = r
			}
		}
		return fmt.Sprintf("%d transfers, started from %s to %s", len(records), when(first), when(last))
	}
	return "started " + distinct(records, when)
}

// name of a record: its label, else its id.
func (r *Record) name() string {
	if r.Label != "" {
		return Escape(r.Label)
	}
	return r.ID
}

// recordsDocument shows records one by one.
func recordsDocument(records []*Record, names bool) *document {
	d := &document{title: "Transfers", method: recordMethod(records)}
	switch len(records) {
	case 0:
		d.subtitle, d.method = "no records", nil
		return d
	case 1:
		d.title = "Transfer " + records[0].name()
		if records[0].Label == "" {
			d.title = "Transfer of " + records[0].Start.UTC().Format(time.DateTime) + " UTC"
		}
	}
	d.subtitle = period(records[0].Start, records[len(records)-1].End) + " · " + distinct(records, func(r *Record) string { return machineText(r.Machine) })
	table := recordsTable(records)
	overview := section{title: "Rates", table: &table}
	if len(records) > 1 {
		overview.charts = []picture.Chart{averageBars(records)}
	}
	d.sections = append(d.sections, overview)
	d.sections = append(d.sections, transferSections(records)...)
	for _, r := range records {
		d.sections = append(d.sections, section{title: "Details of " + r.name(), facts: recordFacts(r)})
		if names && len(r.Problems) > 0 {
			d.sections = append(d.sections, section{title: "Failed or left out", table: problemTable(r)})
		}
	}
	return d
}

// period prints a start, and the end's time of day.
func period(start, end time.Time) string {
	last := "15:04:05"
	if start.UTC().Format(time.DateOnly) != end.UTC().Format(time.DateOnly) {
		last = time.DateTime
	}
	return start.UTC().Format(time.DateTime) + " to " + end.UTC().Format(last) + " UTC"
}

// single is the figure of one round.
func single(v float64) Cell {
	return Cell{Figure: &Figure{Median: v, Min: v, Max: v, Q1: v, Q3: v, Rounds: 1, Values: []float64{v}}}
}

// recordsTable is the table of rates in the layout people know: operation, time, average, maximum, minimum.
func recordsTable(records []*Record) Table {
	t := Table{Title: "Rates", RowTitle: "operation", Columns: []Column{{Name: "from"}, {Name: "to"}, {Name: "files"}, {Name: "data", Unit: "MB"},
		{Name: "time", Unit: "s"}, {Name: "average", Unit: "MB/s", HigherIsBetter: true}, {Name: "max", Unit: "MB/s", HigherIsBetter: true},
		{Name: "min", Unit: "MB/s", HigherIsBetter: true}, {Name: "outcome"}}}
	for _, r := range records {
		s := r.Rates
		t.Rows = append(t.Rows, Row{Label: r.name(), Cells: []Cell{Text(r.Source.String()), Text(r.Destination.String()), Text(integer(r.Files)),
			single(float64(r.Bytes) / 1e6), single(r.Seconds.Copy + r.Seconds.Sync), single(s.Average / 1e6), single(s.Maximum / 1e6), single(s.Minimum / 1e6),
			Text(string(r.Outcome))}})
		if s.SingleWindow {
			t.Note = "A single window has no maximum and minimum of its own."
		}
	}
	return t
}

func problemTable(r *Record) *Table {
	t := &Table{RowTitle: "name", Columns: []Column{{Name: "reason"}, {Name: "why"}}}
	for _, p := range r.Problems {
		t.Rows = append(t.Rows, Row{Label: Escape(p.Name), Cells: []Cell{Text(p.Reason), Text(Escape(p.Detail))}})
	}
	if r.ProblemsDropped > 0 {
		t.Note = fmt.Sprintf("and %d more", r.ProblemsDropped)
	}
	return t
}

// recordFacts are all details of a record that are no picture.
func recordFacts(r *Record) []Method {
	var facts []Method
	add := func(name, format string, a ...any) { facts = append(facts, Method{name, fmt.Sprintf(format, a...)}) }
	add("Record", "%s, %s, path %s, %s", r.ID, r.Outcome, orDash(r.Path), orDash(r.Program))
	add("Time", "%s", period(r.Start, r.End))
	for _, side := range []struct {
		name string
		e    Endpoint
	}{{"Source", r.Source}, {"Destination", r.Destination}} {
		add(side.name, "%s; device %s, write cache %s, engine %s, sector %d B, cluster %d B", side.e, orDash(side.e.Device), orDash(side.e.WriteCache),
			orDash(side.e.Engine), side.e.SectorBytes, side.e.ClusterBytes)
	}
	add("Copied", "%d files, %d folders, %d bytes; resumed %d, verified %d, moved %d; skipped %s; failed %s", r.Files, r.Directories, r.Bytes,
		r.Resumed, r.Verified, r.Moved, orDash(counts(r.Skipped)), orDash(counts(r.Failed)))
	if r.FailedBytes > 0 {
		add("Given up", "%d more bytes were written for copies that were given up; the rates count them", r.FailedBytes)
	}
	add("Seconds", "total %.3f: scan %.3f, copy %.3f, sync %.3f, verify %.3f", r.Seconds.Total, r.Seconds.Scan, r.Seconds.Copy, r.Seconds.Sync, r.Seconds.Verify)
	if r.PausedSeconds > 0 {
		add("Paused", "%.3f s, which count in none of the seconds and rates", r.PausedSeconds)
	}
	if len(r.Phases) > 0 {
		parts := make([]string, len(r.Phases))
		for i, p := range r.Phases {
			parts[i] = fmt.Sprintf("%s %.3f s", p.Name, p.Seconds)
		}
		add("Where the time went", "%s", strings.Join(parts, ", "))
	}
	add("More rates", "copy alone %s MB/s; percentiles of windows p5 %s, p50 %s, p95 %s MB/s; %s files/s", megabytes(r.Rates.CopyAverage), megabytes(r.Rates.P5),
		megabytes(r.Rates.P50), megabytes(r.Rates.P95), significant(r.Rates.FilesPerSecond))
	add("Processor time", "%.2f s user, %.2f s system, %.0f %% of one core", r.CPU.Total.UserSeconds, r.CPU.Total.SystemSeconds, r.CPU.Total.Percent)
	add("Clock", "governor %s to %s, %.0f to %.0f MHz", orDash(r.Machine.GovernorStart), orDash(r.Machine.GovernorEnd), r.Machine.ClockMHzStart, r.Machine.ClockMHzEnd)
	add("Processor and system", "%s, %s", machineText(r.Machine), r.Machine.Arch)
	return facts
}

// String is a short description: "host ext4" or "luks2 aes-256-xts FAT32".
func (e Endpoint) String() string {
	parts := []string{}
	for _, p := range []string{e.Format, e.Cipher, e.FileSystem} {
		if p != "" && p != "none" { // no cipher: the format says so
			parts = append(parts, p)
		}
	}
	if e.Kind == "host" {
		parts = append([]string{"host"}, parts...)
	}
	if len(parts) == 0 {
		return e.Kind
	}
	return strings.Join(parts, " ")
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return Escape(s)
}
