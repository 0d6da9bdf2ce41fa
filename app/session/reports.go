package session

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"coffer/transfer/report"
)

// Experiment is what an experiment of the transfer lab leaves behind; see package report.
type Experiment = report.Experiment

// Comparison is records side by side; see package report.
type Comparison = report.Comparison

// ListExperiments returns the experiments in folder, oldest first, and the ids of damaged ones.
func ListExperiments(folder string) (experiments []*Experiment, damaged []string, err error) {
	experiments, damaged, err = report.NewStore(folder).ListExperiments()
	return experiments, damaged, wrap("list experiments", err)
}

// LoadReport finds a record or an experiment by its id or the unique start of it: one of both is not nil.
func LoadReport(folder, id string) (*Record, *Experiment, error) {
	record, err := LoadRecord(folder, id)
	if !errors.Is(err, report.ErrNoRecord) {
		if err == nil { // the start of an id may fit an experiment as well
			if _, other := report.NewStore(folder).LoadExperiment(id); len(id) < len(record.ID) && !errors.Is(other, report.ErrNoRecord) {
				return nil, nil, &Error{What: "show a record", Err: fmt.Errorf("record %q: %w", id, report.ErrAmbiguous), Hint: "`coffer report list` shows them all"}
			}
		}
		return record, nil, err
	}
	experiment, other := report.NewStore(folder).LoadExperiment(id)
	if errors.Is(other, report.ErrNoRecord) {
		return nil, nil, err
	}
	if other != nil {
		return nil, nil, &Error{What: "show an experiment", Err: other, Hint: "`coffer report list` shows them all"}
	}
	return nil, experiment, nil
}

// PrintExperiment writes an experiment for a terminal.
func PrintExperiment(w io.Writer, e *Experiment) error {
	return wrap("show an experiment", report.PrintExperiment(w, e))
}

// PrintComparison writes a comparison for a terminal.
func PrintComparison(w io.Writer, c *Comparison) error {
	return wrap("compare", report.PrintComparison(w, c))
}

// CompareRecords sets records side by side, the first as the baseline.
func CompareRecords(folder string, ids []string) (*Comparison, error) {
	records, err := loadRecords(folder, ids)
	if err != nil {
		return nil, err
	}
	comparison, err := report.Compare(records)
	if err != nil {
		return nil, &Error{What: "compare", Err: err, Hint: "records of one label and one set-up count as rounds of one thing; give records of another thing as well"}
	}
	return comparison, nil
}

func loadRecords(folder string, ids []string) ([]*Record, error) {
	var records []*Record
	for _, id := range ids {
		record, experiment, err := LoadReport(folder, id)
		if err != nil {
			return nil, err
		}
		if experiment != nil {
			return nil, &Error{What: "report " + id, Err: errors.New("is an experiment, which stands for itself"), Code: Usage,
				Hint: "give records of transfers, or one experiment alone to `coffer report show` or `export`"}
		}
		records = append(records, record)
	}
	return records, nil
}

// ExportReports writes records, or one experiment, to a new file; its extension says how.
func ExportReports(folder string, ids []string, to string) error {
	if len(ids) == 1 {
		_, experiment, err := LoadReport(folder, ids[0])
		if err != nil {
			return err
		}
		if experiment != nil {
			return ExportExperiment(to, experiment)
		}
	}
	records, err := loadRecords(folder, ids)
	if err != nil {
		return err
	}
	return exportFile(to, func(w io.Writer, o report.ExportOptions) error { return report.Export(w, records, o) })
}

// ExportExperiment writes an experiment to a new file; its extension says how.
func ExportExperiment(to string, e *Experiment) error {
	return exportFile(to, func(w io.Writer, o report.ExportOptions) error { return report.ExportExperiment(w, e, o) })
}

// ExportComparison writes a comparison to a new file; its extension says how.
func ExportComparison(to string, c *Comparison) error {
	return exportFile(to, func(w io.Writer, o report.ExportOptions) error { return report.ExportComparison(w, c, o) })
}

// WriteReport writes the record of a copy just made to a new file, with the names of what failed: the person asked.
func WriteReport(to string, r *Record) error {
	return exportFile(to, func(w io.Writer, o report.ExportOptions) error {
		o.Names = true
		return report.Export(w, []*Record{r}, o)
	})
}

// exportFile makes a new file, complete or not at all.
func exportFile(to string, write func(io.Writer, report.ExportOptions) error) error {
	format, err := report.FormatOf(to)
	if err != nil {
		return wrap("export", err)
	}
	var buffer bytes.Buffer
	if err := write(&buffer, report.ExportOptions{Format: format}); err != nil {
		return wrap("export to "+to, err)
	}
	file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return wrap("export", err)
	}
	_, err = file.Write(buffer.Bytes())
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		os.Remove(to)
		return wrap("export to "+to, err)
	}
	return nil
}

// CheckReportFile says whether reports can be written to a file of this name; the error carries the exit code.
func CheckReportFile(to string) error {
	if _, err := report.FormatOf(to); err != nil {
		return &Error{What: "export", Err: err, Code: Usage, Hint: "the extension says how: " + ReportExtensions()}
	}
	return nil
}

// ReportExtensions lists the extensions of report files: ".csv .html ...".
func ReportExtensions() string {
	extensions := slices.Clone(report.Formats())
	for i := range extensions {
		extensions[i] = "." + extensions[i]
	}
	return strings.Join(extensions, " ")
}
