package session

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"coffer/transfer/rate"
	"coffer/transfer/report"
)

// reportStore holds two records and an experiment, begun at the same second.
func reportStore(t *testing.T) (folder string, records []*Record, experiment *Experiment) {
	t.Helper()
	folder = t.TempDir()
	store := report.NewStore(folder)
	begin := time.Date(2026, 11, 30, 13, 20, 15, 0, time.UTC)
	for i, label := range []string{"plain", "encrypted"} {
		start := begin.Add(time.Duration(i) * time.Second)
		r := &Record{Schema: report.SchemaVersion, ID: report.NewID(start), Label: label, Start: start, End: start.Add(10 * time.Second), Outcome: report.Done,
			Source: report.Endpoint{Kind: "host"}, Destination: report.Endpoint{Kind: "container"}, Path: "direct", Bytes: 1e9, Files: 1,
			Seconds: report.Seconds{Total: 10, Copy: 9, Sync: 1}, Rates: rate.Summary{WindowSeconds: 1, Average: 1e8 / float64(i+1), Maximum: 2e8, Minimum: 1e7,
				Series: []float64{2e8, 1e7, 1e8, 1e8}}}
		if err := store.Save(r); err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	experiment = &Experiment{Schema: report.ExperimentVersion, ID: report.NewID(begin.Add(5 * time.Millisecond)), Kind: report.KindDrive, Title: "Drive", Started: begin, Finished: begin,
		Tables: []report.Table{{Title: "T", Columns: []report.Column{{Name: "time", Unit: "s"}}, Rows: []report.Row{{Label: "x", Cells: []report.Cell{report.Measured([]float64{1, 2, 3})}}}}}}
	for _, name := range []string{report.MethodWindow, report.MethodCache, report.MethodSync, report.MethodOrder, report.MethodRounds, report.MethodMachine, report.MethodVersions} {
		experiment.Method = append(experiment.Method, report.Method{Name: name, Text: "as it was"})
	}
	if err := store.SaveExperiment(experiment); err != nil {
		t.Fatal(err)
	}
	return folder, records, experiment
}

func TestReportsAreFoundByTheStartOfTheirID(t *testing.T) {
	folder, records, experiment := reportStore(t)
	if r, e, err := LoadReport(folder, records[0].ID); err != nil || e != nil || r.ID != records[0].ID {
		t.Error(r, e, err)
	}
	if r, e, err := LoadReport(folder, experiment.ID); err != nil || r != nil || e.ID != experiment.ID {
		t.Error(r, e, err)
	}
	if r, e, err := LoadReport(folder, "20261130T132016"); err != nil || e != nil || r.ID != records[1].ID {
		t.Error(r, e, err)
	}
	if _, _, err := LoadReport(folder, "20261130T132015"); !errors.Is(err, report.ErrAmbiguous) { // a record and the experiment
		t.Error(err)
	}
	for _, id := range []string{"", "x", "../x"} {
		if _, _, err := LoadReport(folder, id); err == nil {
			t.Errorf("%q was found", id)
		}
	}
}

func TestReportsAreExportedInEveryFormat(t *testing.T) {
	folder, records, experiment := reportStore(t)
	ids := []string{records[0].ID, records[1].ID}
	comparison, err := CompareRecords(folder, ids)
	if err != nil || comparison.Compared[1].Ratio != 0.5 {
		t.Fatal(comparison, err)
	}
	out := t.TempDir()
	for _, format := range report.Formats() {
		for name, write := range map[string]func(string) error{
			"records":    func(to string) error { return ExportReports(folder, ids, to) },
			"experiment": func(to string) error { return ExportReports(folder, []string{experiment.ID}, to) },
			"comparison": func(to string) error { return ExportComparison(to, comparison) },
			"now":        func(to string) error { return WriteReport(to, records[0]) },
		} {
			to := filepath.Join(out, name+"."+strings.ToUpper(format))
			if err := CheckReportFile(to); err != nil {
				t.Error(err)
			}
			if err := write(to); err != nil {
				t.Errorf("%s: %v", to, err)
				continue
			}
			info, err := os.Stat(to)
			if err != nil || info.Size() < 50 || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
				t.Errorf("%s: %v, %v", to, info, err)
			}
			if err := write(to); !errors.Is(err, os.ErrExist) {
				t.Errorf("%s was overwritten: %v", to, err)
			}
		}
	}
}

func TestWhatReportsRefuse(t *testing.T) {
	folder, records, experiment := reportStore(t)
	var told *Error
	for name, try := range map[string]func() error{
		"an experiment among records": func() error {
			return ExportReports(folder, []string{records[0].ID, experiment.ID}, filepath.Join(folder, "x.md"))
		},
		"an experiment compared": func() error { _, err := CompareRecords(folder, []string{records[0].ID, experiment.ID}); return err },
		"another extension":      func() error { return CheckReportFile("x.pdf") },
	} {
		if err := try(); !errors.As(err, &told) || told.Code != Usage || told.Hint == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := CompareRecords(folder, []string{records[0].ID, records[0].ID}); !errors.Is(err, report.ErrCompare) {
		t.Error(err)
	}
	if entries, err := filepath.Glob(filepath.Join(folder, "*.md")); err != nil || len(entries) != 0 {
		t.Error("a refused export left", entries, err)
	}
}
