package report

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// look writes what a test made for a person to look at into the folder that COFFER_LOOK names.
func look(t *testing.T, name string, data []byte) {
	t.Helper()
	if folder := os.Getenv("COFFER_LOOK"); folder != "" {
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// exportsOf returns every export of records, of their comparison and of an experiment, by "what.format".
func exportsOf(t *testing.T) map[string][]byte {
	t.Helper()
	exportsOnce.Do(func() { exports = makeExports(t) })
	return exports
}

var (
	exportsOnce sync.Once
	exports     map[string][]byte
)

func makeExports(t *testing.T) map[string][]byte {
	t.Helper()
	records, experiment := samples(t), sampleExperiment(t)
	comparison, err := Compare(records)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, format := range Formats() {
		o := ExportOptions{Format: format}
		for what, write := range map[string]func(io.Writer) error{
			"record":     func(w io.Writer) error { return Export(w, records[:1], o) },
			"records":    func(w io.Writer) error { return Export(w, records, o) },
			"comparison": func(w io.Writer) error { return ExportComparison(w, comparison, o) },
			"experiment": func(w io.Writer) error { return ExportExperiment(w, experiment, o) },
		} {
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatalf("%s as %s: %v", what, format, err)
			}
			out[what+"."+format] = b.Bytes()
			look(t, what+"."+format, b.Bytes())
		}
	}
	return out
}

func TestEveryExport(t *testing.T) {
	for name, data := range exportsOf(t) {
		if len(data) < 100 {
			t.Errorf("%s has %d bytes", name, len(data))
		}
	}
}
