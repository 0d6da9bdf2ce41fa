package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// ErrExportFormat is returned for a format this package does not write.
var ErrExportFormat = errors.New("not an export format (csv, html, json, md, png, svg)")

// ExportOptions choose what an export holds.
type ExportOptions struct {
	Format string // one of Formats
	// Names adds the problems of each record with the names of files, which may
	// come from inside a container. Only a run just made has them. html, json
	// and md show them.
	Names bool
}

// Formats returns the formats of exports, which are the extensions of their files too.
func Formats() []string { return []string{"csv", "html", "json", "md", "png", "svg"} }

// FormatOf is the export format for a file name, by its extension.
func FormatOf(path string) (string, error) {
	ext := strings.ToLower(strings.TrimPrefix(filepath.Ext(path), "."))
	if slices.Contains(Formats(), ext) {
		return ext, nil
	}
	return "", fmt.Errorf("%q: %w", filepath.Base(path), ErrExportFormat)
}

// Export writes records to w: a json array that record.schema.json describes item by item, a csv table with one line a
// record, or a document.
func Export(w io.Writer, records []*Record, o ExportOptions) error {
	return export(w, o.Format, exporters{
		json:     func() any { return recordsJSON(records, o.Names) },
		csv:      func() [][]string { return recordsCSV(records) },
		document: func() *document { return recordsDocument(records, o.Names) },
	})
}

// ExportExperiment writes an experiment to w: json that experiment.schema.json describes, a csv table with one line a
// figure, or a document. An experiment that fails its Check is refused.
func ExportExperiment(w io.Writer, e *Experiment, o ExportOptions) error {
	if err := e.Check(); err != nil {
		return fmt.Errorf("export as %s: %w", o.Format, err)
	}
	return export(w, o.Format, exporters{
		json:     func() any { return e.filled() },
		csv:      func() [][]string { return experimentCSV(e) },
		document: func() *document { return experimentDocument(e) },
	})
}

// ExportComparison writes a comparison to w: json that comparison.schema.json describes, a csv table with one line for
// what was compared, or a document.
func ExportComparison(w io.Writer, c *Comparison, o ExportOptions) error {
	return export(w, o.Format, exporters{
		json:     func() any { return c },
		csv:      func() [][]string { return comparisonCSV(c) },
		document: func() *document { return comparisonDocument(c) },
	})
}

// exporters make the forms of one thing.
type exporters struct {
	json     func() any
	csv      func() [][]string
	document func() *document
}

func export(w io.Writer, format string, e exporters) error {
	var err error
	switch format {
	case "csv":
		err = writeCSV(w, e.csv())
	case "json":
		encoder := json.NewEncoder(w)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(e.json())
	case "md":
		err = e.document().markdown(w)
	case "html":
		err = e.document().html(w)
	case "svg":
		err = e.document().page().WriteSVG(w)
	case "png":
		err = e.document().page().WritePNG(w)
	default:
		return fmt.Errorf("export as %q: %w", format, ErrExportFormat)
	}
	if err != nil {
		return fmt.Errorf("export as %s: %w", format, err)
	}
	return nil
}

// named is a record together with its problems.
type named struct {
	*Record
	Problems        []Problem `json:"problems"`
	ProblemsDropped int64     `json:"problemsDropped,omitempty"`
}

// recordsJSON is an array, always, so that readers need one shape.
func recordsJSON(records []*Record, names bool) any {
	if !names {
		return append([]*Record{}, records...)
	}
	out := make([]named, len(records))
	for i, r := range records {
		out[i] = named{r, append([]Problem{}, r.Problems...), r.ProblemsDropped}
	}
	return out
}
