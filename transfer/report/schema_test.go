package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemas compiles the schemas of this package by name: "record", "records", "experiment", "comparison".
func schemas(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	texts := map[string]string{"record": JSONSchema(), "records": RecordsSchema(), "experiment": ExperimentSchema(), "comparison": ComparisonSchema()}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	for name, text := range texts {
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := compiler.AddResource("https://coffer.invalid/"+name+".schema.json", v); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	out := map[string]*jsonschema.Schema{}
	for name := range texts {
		s, err := compiler.Compile("https://coffer.invalid/" + name + ".schema.json")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name] = s
	}
	return out
}

func validate(t *testing.T, s *jsonschema.Schema, data []byte) error {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(v)
}

func TestEveryJSONFitsItsSchema(t *testing.T) {
	have := schemas(t)
	for name, data := range exportsOf(t) {
		what, format, _ := strings.Cut(name, ".")
		if format != "json" {
			continue
		}
		if what == "record" {
			what = "records" // one record too is exported as an array
		}
		if err := validate(t, have[what], data); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	var b bytes.Buffer
	if err := Export(&b, []*Record{sample()}, ExportOptions{Format: "json", Names: true}); err != nil {
		t.Fatal(err)
	}
	if err := validate(t, have["records"], b.Bytes()); err != nil {
		t.Errorf("with names: %v", err)
	}
	// What is stored, of the least that is possible.
	dir := t.TempDir()
	store := NewStore(dir)
	least := &Experiment{Schema: ExperimentVersion, Kind: KindDrive, Method: sampleExperiment(t).Method, Tables: []Table{{}}, Bars: []Chart{{}}}
	if err := store.SaveExperiment(least); err != nil {
		t.Fatal(err)
	}
	record := sample()
	if err := store.Save(record); err != nil {
		t.Fatal(err)
	}
	for name, schema := range map[string]string{least.ID + ".experiment.json": "experiment", record.ID + ".json": "record"} {
		data, err := os.ReadFile(dir + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(t, have[schema], data); err != nil {
			t.Errorf("stored %s: %v", schema, err)
		}
	}
}

// TestSchemasCanFail breaks valid documents in one place each.
func TestSchemasCanFail(t *testing.T) {
	have, exports := schemas(t), exportsOf(t)
	at := func(v any, path ...any) any {
		for _, p := range path {
			if i, ok := p.(int); ok {
				v = v.([]any)[i]
			} else {
				v = v.(map[string]any)[p.(string)]
			}
		}
		return v
	}
	for i, c := range []struct {
		schema, export string
		breakIt        func(v any)
	}{
		{"records", "records.json", func(v any) { at(v, 0).(map[string]any)["names"] = []any{"x"} }},
		{"records", "records.json", func(v any) { delete(at(v, 1, "rates").(map[string]any), "p95") }},
		{"records", "records.json", func(v any) { at(v, 0).(map[string]any)["files"] = "1" }},
		{"records", "records.json", func(v any) { at(v, 0, "failed").(map[string]any)["x"] = json.Number("1.5") }},
		{"records", "records.json", func(v any) { at(v, 0, "phases", 0).(map[string]any)["seconds"] = json.Number("-1") }},
		{"records", "records.json", func(v any) { at(v, 0).(map[string]any)["pausedSeconds"] = json.Number("0") }},
		{"experiment", "experiment.json", func(v any) { delete(v.(map[string]any), "method") }},
		{"experiment", "experiment.json", func(v any) { v.(map[string]any)["kind"] = "other" }},
		{"experiment", "experiment.json", func(v any) { at(v, "tables", 0, "rows", 0, "cells", 0).(map[string]any)["text"] = "both" }},
		{"experiment", "experiment.json", func(v any) {
			at(v, "tables", 0, "rows", 0, "cells", 0, "figure").(map[string]any)["ratio"] = json.Number("0")
		}},
		{"experiment", "experiment.json", func(v any) { delete(at(v, "transfers", 0).(map[string]any), "rates") }},
		{"comparison", "comparison.json", func(v any) { at(v, "compared", 1).(map[string]any)["verdict"] = "better" }},
	} {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(exports[c.export]))
		if err != nil {
			t.Fatal(err)
		}
		c.breakIt(v)
		if have[c.schema].Validate(v) == nil {
			t.Errorf("broken document %d (%s) passed", i, c.export)
		}
	}
}

// TestOldRecordsLoad reads a record of before phases were measured, exports it in every format and compares it with a new
// one.
func TestOldRecordsLoad(t *testing.T) {
	old, err := NewStore("testdata").Load("20261130T195504160Z-a318a2")
	if err != nil {
		t.Fatal(err)
	}
	if old.Bytes != 30_000_000 || len(old.Phases) != 0 || old.Rates.Average < 1 {
		t.Fatalf("%+v", old)
	}
	comparison, err := Compare([]*Record{old, samples(t)[0]})
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range Formats() {
		var b, c bytes.Buffer
		if err := Export(&b, []*Record{old}, ExportOptions{Format: format}); err != nil || b.Len() == 0 {
			t.Errorf("%s: %v", format, err)
		}
		if err := ExportComparison(&c, comparison, ExportOptions{Format: format}); err != nil || c.Len() == 0 {
			t.Errorf("%s: %v", format, err)
		}
		if format == "json" {
			if err := validate(t, schemas(t)["records"], b.Bytes()); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestExperimentsAreStored(t *testing.T) {
	store := NewStore(t.TempDir())
	e, record := sampleExperiment(t), sample()
	if err := store.SaveExperiment(e); err != nil {
		t.Fatal(err)
	}
	if err := store.Save(record); err != nil {
		t.Fatal(err)
	}
	back, err := store.LoadExperiment(e.ID[:17])
	if err != nil {
		t.Fatal(err)
	}
	a, _ := json.Marshal(e.filled())
	b, _ := json.Marshal(back)
	if !bytes.Equal(a, b) {
		t.Error("what comes back is not what was stored")
	}
	records, _, err := store.List()
	experiments, _, err2 := store.ListExperiments()
	if err != nil || err2 != nil || len(records) != 1 || len(experiments) != 1 {
		t.Fatal("records and experiments mix:", len(records), len(experiments), err, err2)
	}
	bad := sampleExperiment(t)
	bad.ID = NewID(bad.Started)
	bad.Tables[0].Rows[0].Cells = bad.Tables[0].Rows[0].Cells[1:]
	if err := store.SaveExperiment(bad); err == nil || !strings.Contains(err.Error(), "4 cells for 5 columns") {
		t.Error(err)
	}
	bad = sampleExperiment(t)
	bad.Method = bad.Method[1:]
	if err := store.SaveExperiment(bad); err == nil || !strings.Contains(err.Error(), `["Window"]`) {
		t.Error(err)
	}
	// A damaged file is reported, not shown.
	os.WriteFile(fmt.Sprintf("%s/%s.experiment.json", store.dir, NewID(e.Started)), []byte(`{"schema":1`), 0o600)
	if _, damaged, err := store.ListExperiments(); err != nil || len(damaged) != 1 {
		t.Error(damaged, err)
	}
	if err := store.DeleteExperiment(e.ID); err != nil {
		t.Error(err)
	}
}
