package report

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"time"
)

// ErrExportFormat is returned for a format this package does not write.
var ErrExportFormat = errors.New("not an export format (csv, json, md)")

// ExportOptions choose what an export holds.
type ExportOptions struct {
	Format string // "csv", "json" or "md"
	// Names adds the problems of each record with the names of files, which may
	// come from inside a container. Only a run just made has them.
	Names bool
}

// FormatOf is the export format for a file name, by its extension.
func FormatOf(path string) (string, error) {
	ext := strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
	switch ext {
	case "csv", "json", "md":
		return ext, nil
	}
	return "", fmt.Errorf("%q: %w", filepath.Base(path), ErrExportFormat)
}

// Export writes records to w.
func Export(w io.Writer, records []*Record, o ExportOptions) error {
	var err error
	switch o.Format {
	case "csv":
		err = exportCSV(w, records)
	case "json":
		err = exportJSON(w, records, o.Names)
	case "md":
		err = exportMarkdown(w, records, o.Names)
	default:
		return fmt.Errorf("export as %q: %w", o.Format, ErrExportFormat)
	}
	if err != nil {
		return fmt.Errorf("export as %s: %w", o.Format, err)
	}
	return nil
}

// named is a record together with its problems.
type named struct {
	*Record
	Problems        []Problem `json:"problems"`
	ProblemsDropped int64     `json:"problemsDropped,omitempty"`
}

// exportJSON writes an array, always, so that readers need one shape.
func exportJSON(w io.Writer, records []*Record, names bool) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	if !names {
		if records == nil {
			records = []*Record{}
		}
		return enc.Encode(records)
	}
	out := make([]named, len(records))
	for i, r := range records {
		out[i] = named{r, append([]Problem{}, r.Problems...), r.ProblemsDropped}
	}
	return enc.Encode(out)
}

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

// text keeps spreadsheets from taking a user's label for a formula.
func text(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}

func columns() []column {
	return append(append([]column{
		{"id", func(r *Record) string { return r.ID }},
		{"label", func(r *Record) string { return text(r.Label) }},
		{"start", func(r *Record) string { return r.Start.UTC().Format(time.RFC3339Nano) }},
		{"end", func(r *Record) string { return r.End.UTC().Format(time.RFC3339Nano) }},
		{"outcome", func(r *Record) string { return string(r.Outcome) }},
		{"path", func(r *Record) string { return r.Path }},
	}, endpointColumns()...), figureColumns()...)
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
		{"average", func(r *Record) string { return number(r.Rates.Average) }},
		{"maximum", func(r *Record) string { return number(r.Rates.Maximum) }},
		{"minimum", func(r *Record) string { return number(r.Rates.Minimum) }},
		{"copyAverage", func(r *Record) string { return number(r.Rates.CopyAverage) }},
		{"p5", func(r *Record) string { return number(r.Rates.P5) }},
		{"p50", func(r *Record) string { return number(r.Rates.P50) }},
		{"p95", func(r *Record) string { return number(r.Rates.P95) }},
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
		{"series", func(r *Record) string {
			parts := make([]string, len(r.Rates.Series))
			for i, v := range r.Rates.Series {
				parts[i] = number(v)
			}
			return strings.Join(parts, ";")
		}},
	}
}

// exportCSV writes one row a record, RFC 4180, rates in bytes per second.
func exportCSV(w io.Writer, records []*Record) error {
	c := csv.NewWriter(w)
	cols := columns()
	row := make([]string, len(cols))
	for i, col := range cols {
		row[i] = col.name
	}
	if err := c.Write(row); err != nil {
		return err
	}
	for _, r := range records {
		for i, col := range cols {
			row[i] = col.value(r)
		}
		if err := c.Write(row); err != nil {
			return err
		}
	}
	c.Flush()
	return c.Error()
}
