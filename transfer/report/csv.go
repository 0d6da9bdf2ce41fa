package report

import (
	"encoding/csv"
	"io"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"
)

// column is one column of the csv form; the header is stable.
type column struct {
	name  string
	value func(*Record) string
}

func number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
func integer(v int64) string  { return strconv.FormatInt(v, 10) }

// counts prints "reason=n;reason=n", sorted.
func counts(m map[string]int64) string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	for i, k := range keys {
		keys[i] = k + "=" + integer(m[k])
	}
	return strings.Join(keys, ";")
}

// text keeps spreadsheets from taking a user's label for a formula, and control characters and what is not
// UTF-8 out of the file.
func text(s string) string {
	s = Escape(s)
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}

// phaseColumnsCSV are the seconds of the known phases; empty for a record that has none. Phases of other names count as
// other.
func phaseColumnsCSV() []column {
	var out []column
	for _, known := range [][2]string{{PhaseSourceRead, "phaseSourceReadSeconds"}, {PhaseCrypto, "phaseCryptoSeconds"}, {PhaseFileSystem, "phaseFileSystemSeconds"},
		{PhaseImageWrite, "phaseImageWriteSeconds"}, {PhaseSync, "phaseSyncSeconds"}, {PhaseKernel, "phaseKernelSeconds"}, {PhaseOther, "phaseOtherSeconds"}} {
		name := known[0]
		out = append(out, column{known[1], func(r *Record) string {
			if len(r.Phases) == 0 {
				return ""
			}
			sum := 0.0
			for _, p := range r.Phases {
				if p.Name == name || name == PhaseOther && !slices.Contains(PhaseNames(), p.Name) {
					sum += p.Seconds
				}
			}
			return number(sum)
		}})
	}
	return out
}

func columns() []column {
	return append(append(append([]column{
		{"id", func(r *Record) string { return r.ID }},
		{"label", func(r *Record) string { return text(r.Label) }},
		{"start", func(r *Record) string { return r.Start.UTC().Format(time.RFC3339Nano) }},
		{"end", func(r *Record) string { return r.End.UTC().Format(time.RFC3339Nano) }},
		{"outcome", func(r *Record) string { return string(r.Outcome) }},
		{"path", func(r *Record) string { return r.Path }},
	}, endpointColumns()...), figureColumns()...), append(phaseColumnsCSV(),
		column{"pausedSeconds", func(r *Record) string { return number(r.PausedSeconds) }})...)
}

func endpointColumns() []column {
	var out []column
	for _, side := range []struct {
		name string
		of   func(*Record) Endpoint
	}{{"source", func(r *Record) Endpoint { return r.Source }}, {"destination", func(r *Record) Endpoint { return r.Destination }}} {
		of := side.of
		add := func(name string, v func(Endpoint) string) {
			out = append(out, column{side.name + name, func(r *Record) string { return v(of(r)) }})
		}
		add("Kind", func(e Endpoint) string { return e.Kind })
		add("FileSystem", func(e Endpoint) string { return text(e.FileSystem) })
		add("Device", func(e Endpoint) string { return text(e.Device) })
		add("WriteCache", func(e Endpoint) string { return text(e.WriteCache) })
		add("Format", func(e Endpoint) string { return text(e.Format) })
		add("Cipher", func(e Endpoint) string { return text(e.Cipher) })
		add("Engine", func(e Endpoint) string { return text(e.Engine) })
		add("SectorBytes", func(e Endpoint) string { return integer(e.SectorBytes) })
		add("ClusterBytes", func(e Endpoint) string { return integer(e.ClusterBytes) })
	}
	return out
}

func figureColumns() []column {
	return []column{
		{"files", func(r *Record) string { return integer(r.Files) }},
		{"directories", func(r *Record) string { return integer(r.Directories) }},
		{"bytes", func(r *Record) string { return integer(r.Bytes) }},
		{"resumed", func(r *Record) string { return integer(r.Resumed) }},
		{"verified", func(r *Record) string { return integer(r.Verified) }},
		{"moved", func(r *Record) string { return integer(r.Moved) }},
		{"skipped", func(r *Record) string { return counts(r.Skipped) }},
		{"failed", func(r *Record) string { return counts(r.Failed) }},
		{"totalSeconds", func(r *Record) string { return number(r.Seconds.Total) }},
		{"scanSeconds", func(r *Record) string { return number(r.Seconds.Scan) }},
		{"copySeconds", func(r *Record) string { return number(r.Seconds.Copy) }},
		{"syncSeconds", func(r *Record) string { return number(r.Seconds.Sync) }},
		{"verifySeconds", func(r *Record) string { return number(r.Seconds.Verify) }},
		{"windowSeconds", func(r *Record) string { return number(r.Rates.WindowSeconds) }},
		{"singleWindow", func(r *Record) string { return strconv.FormatBool(r.Rates.SingleWindow) }},
		{"averageBytesPerSecond", func(r *Record) string { return number(r.Rates.Average) }},
		{"maximumBytesPerSecond", func(r *Record) string { return number(r.Rates.Maximum) }},
		{"minimumBytesPerSecond", func(r *Record) string { return number(r.Rates.Minimum) }},
		{"copyAverageBytesPerSecond", func(r *Record) string { return number(r.Rates.CopyAverage) }},
		{"p5BytesPerSecond", func(r *Record) string { return number(r.Rates.P5) }},
		{"p50BytesPerSecond", func(r *Record) string { return number(r.Rates.P50) }},
		{"p95BytesPerSecond", func(r *Record) string { return number(r.Rates.P95) }},
		{"filesPerSecond", func(r *Record) string { return number(r.Rates.FilesPerSecond) }},
		{"userSeconds", func(r *Record) string { return number(r.CPU.Total.UserSeconds) }},
		{"systemSeconds", func(r *Record) string { return number(r.CPU.Total.SystemSeconds) }},
		{"cpuPercent", func(r *Record) string { return number(r.CPU.Total.Percent) }},
		{"cache", func(r *Record) string { return r.Cache }},
		{"verify", func(r *Record) string { return strconv.FormatBool(r.Options.Verify) }},
		{"workers", func(r *Record) string { return integer(int64(r.Options.Workers)) }},
		{"cpuModel", func(r *Record) string { return text(r.Machine.CPUModel) }},
		{"cores", func(r *Record) string { return integer(int64(r.Machine.Cores)) }},
		{"osName", func(r *Record) string { return text(r.Machine.OSName) }},
		{"kernel", func(r *Record) string { return text(r.Machine.Kernel) }},
		{"governorStart", func(r *Record) string { return text(r.Machine.GovernorStart) }},
		{"governorEnd", func(r *Record) string { return text(r.Machine.GovernorEnd) }},
		{"clockMHzStart", func(r *Record) string { return number(r.Machine.ClockMHzStart) }},
		{"clockMHzEnd", func(r *Record) string { return number(r.Machine.ClockMHzEnd) }},
		{"program", func(r *Record) string { return text(r.Program) }},
		{"failedBytes", func(r *Record) string { return integer(r.FailedBytes) }},
		{"seriesBytesPerSecond", func(r *Record) string {
			parts := make([]string, len(r.Rates.Series))
			for i, v := range r.Rates.Series {
				parts[i] = number(v)
			}
			return strings.Join(parts, ";")
		}},
	}
}

// recordsCSV is one row a record. Heads of columns name their units; the columns are stable.
func recordsCSV(records []*Record) [][]string {
	cols := columns()
	rows := make([][]string, 1, len(records)+1)
	for _, col := range cols {
		rows[0] = append(rows[0], col.name)
	}
	for _, r := range records {
		row := make([]string, len(cols))
		for i, col := range cols {
			row[i] = col.value(r)
		}
		rows = append(rows, row)
	}
	return rows
}

// writeCSV writes RFC 4180 in UTF-8: commas, CRLF, dots in decimals.
func writeCSV(w io.Writer, rows [][]string) error {
	c := csv.NewWriter(w)
	c.UseCRLF = true
	return c.WriteAll(rows)
}

// experimentCSV is one row a figure or text of a table, so that a spreadsheet can filter and pivot; the unit of median
// to q3 and values stands in column unit.
func experimentCSV(e *Experiment) [][]string {
	rows := [][]string{{"experiment", "kind", "started", "version", "table", "row", "reference", "source", "column", "unit", "higherIsBetter", "text",
		"median", "min", "max", "q1", "q3", "rounds", "ratio", "cpuSeconds", "disturbed", "values"}}
	for _, t := range e.Tables {
		for _, row := range t.Rows {
			for i, cell := range row.Cells {
				col := t.Columns[i]
				rows = append(rows, append([]string{e.ID, e.Kind, e.Started.UTC().Format(time.RFC3339), text(e.Version), text(t.Title), text(row.Label),
					strconv.FormatBool(row.Reference), text(row.Source), text(col.name()), text(col.Unit), strconv.FormatBool(col.HigherIsBetter), text(cell.Text)},
					figureCSV(cell.Figure)...))
			}
		}
	}
	return rows
}

// name of a column with its group.
func (c Column) name() string { return Column{Group: c.Group, Name: c.Name}.heading() }

// figureCSV is median to values; what is unknown is empty, not 0.
func figureCSV(f *Figure) []string {
	out := make([]string, 10)
	if f == nil {
		return out
	}
	out[0] = number(f.Median)
	if f.Rounds > 0 {
		values := make([]string, len(f.Values))
		for i, v := range f.Values {
			values[i] = number(v)
		}
		copy(out[1:], []string{number(f.Min), number(f.Max), number(f.Q1), number(f.Q3), integer(int64(f.Rounds))})
		out[8], out[9] = strconv.FormatBool(f.Disturbed), strings.Join(values, ";")
	}
	if f.Ratio != 0 {
		out[6] = number(f.Ratio)
	}
	if f.CPUSeconds != 0 {
		out[7] = number(f.CPUSeconds)
	}
	return out
}

// comparisonCSV is one row for each thing compared.
func comparisonCSV(c *Comparison) [][]string {
	rows := [][]string{{"label", "baseline", "records", "source", "destination", "files", "bytes", "seconds", "averageBytesPerSecond", "maximumBytesPerSecond",
		"minimumBytesPerSecond", "rounds", "ratio", "spreadPercent", "verdict", "sentence"}}
	for i, r := range c.Compared {
		rows = append(rows, []string{text(r.Label), strconv.FormatBool(i == 0), strings.Join(r.Records, ";"), text(r.Source), text(r.Destination), integer(r.Files),
			integer(r.Bytes), number(r.Seconds.Median), number(r.Average.Median), number(r.Maximum.Median), number(r.Minimum.Median), integer(int64(r.Average.Rounds)),
			number(r.Ratio), spreadCSV(r), string(r.Verdict), text(r.Sentence)})
	}
	return rows
}

func spreadCSV(r Compared) string {
	if r.Spread == nil {
		return ""
	}
	return number(100 * *r.Spread)
}
