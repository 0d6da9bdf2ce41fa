package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// referee finds a program of another kind that reads what we write. None is skipped silently.
func referee(t *testing.T, debianPackage string, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatalf("%s is not installed: apt-get install %s", names[0], debianPackage)
	return ""
}

// nasty is a label that tries to break out of every format.
const nasty = "a,b;\"c\"\nd\t=1+1 | <script>alert(1)</script> & 'é' \x1b[31m\u202e ]]> \xff"

// pythonReader prints what Python's csv module reads, as JSON.
const pythonReader = `import csv, json, sys
with open(sys.argv[1], newline="", encoding="utf-8") as f:
    print(json.dumps(list(csv.reader(f, strict=True))))`

func TestCSVWithOtherParsers(t *testing.T) {
	python, sqlite := referee(t, "python3", "python3"), referee(t, "sqlite3", "sqlite3")
	records := samples(t)
	records[1].Label = nasty
	var b bytes.Buffer
	if err := Export(&b, records, ExportOptions{Format: "csv"}); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "r.csv")
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(python, "-c", pythonReader, file).CombinedOutput()
	if err != nil {
		t.Fatalf("python: %v\n%s", err, out)
	}
	var rows [][]string
	if err := json.Unmarshal(out, &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 4 {
		t.Fatalf("python read %d rows", len(rows))
	}
	column := func(name string) int {
		for i, have := range rows[0] {
			if have == name {
				return i
			}
		}
		t.Fatalf("no column %s", name)
		return 0
	}
	for i, r := range records {
		row := rows[i+1]
		for name, want := range map[string]float64{"averageBytesPerSecond": r.Rates.Average, "maximumBytesPerSecond": r.Rates.Maximum, "bytes": float64(r.Bytes),
			"copySeconds": r.Seconds.Copy, "phaseCryptoSeconds": r.Phases[1].Seconds} {
			if got, err := strconv.ParseFloat(row[column(name)], 64); err != nil || got != want {
				t.Errorf("python reads %s = %q, want %v", name, row[column(name)], want)
			}
		}
		if got := row[column("label")]; got != text(r.Label) {
			t.Errorf("python reads the label %q, want %q", got, r.Label)
		}
	}
	// sqlite, as a spreadsheet would: sums over columns.
	query := exec.Command(sqlite, "-batch", ":memory:", ".mode csv", ".import --csv "+file+" r",
		"select count(*), sum(bytes), printf('%.3f', sum(averageBytesPerSecond)), max(length(label)) > 20 from r")
	out, err = query.CombinedOutput()
	want := "3," + integer(3*658e6) + "," + strconv.FormatFloat(records[0].Rates.Average+records[1].Rates.Average+records[2].Rates.Average, 'f', 3, 64) + ",1"
	if got := strings.TrimSpace(string(out)); err != nil || got != want {
		t.Errorf("sqlite says %q, want %q (%v)", got, want, err)
	}
	// An experiment, one row a figure.
	e := sampleExperiment(t)
	b.Reset()
	if err := ExportExperiment(&b, e, ExportOptions{Format: "csv"}); err != nil {
		t.Fatal(err)
	}
	os.WriteFile(file, b.Bytes(), 0o600)
	out, err = exec.Command(sqlite, "-batch", ":memory:", ".import --csv "+file+" e",
		`select count(*), max(case when "table" = 'Copy rates' and "row" = '[a] plain to encrypted' and reference = 'false' and "column" = 'average' then median end) from e`).CombinedOutput()
	fields := strings.Split(strings.TrimSpace(string(out)), "|")
	if err != nil || len(fields) != 2 || fields[0] != "36" || fields[1] != number(e.Tables[0].Rows[2].Cells[1].Figure.Median) {
		t.Errorf("sqlite says %q of the experiment: %v", out, err)
	}
	if bytes.Contains(b.Bytes(), []byte("NaN")) || !bytes.Contains(b.Bytes(), []byte("\r\n")) {
		t.Error("csv: not a number, or not CRLF")
	}
}

// xmlText parses a document whole and returns its text.
func xmlText(t *testing.T, name string, data []byte) string {
	t.Helper()
	var text strings.Builder
	for d := xml.NewDecoder(bytes.NewReader(data)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return text.String()
		}
		if err != nil {
			t.Fatalf("%s is not well-formed: %v", name, err)
		}
		if chars, ok := token.(xml.CharData); ok {
			text.Write(chars)
		}
	}
}

func TestSVGIsWellFormedAndSaysIt(t *testing.T) {
	exports := exportsOf(t)
	for _, name := range []string{"record.svg", "records.svg", "comparison.svg", "experiment.svg"} {
		all := xmlText(t, name, exports[name])
		for _, want := range []string{"average 6.84", "max 8.13", "min 0", "Window: ", "Cache: ", "Sync: ", "Order: ", "Rounds: ", "Machine: ", "Versions: "} {
			if !strings.Contains(all, want) {
				t.Errorf("%s: %q is missing", name, want)
			}
		}
		if bytes.Contains(exports[name], []byte("NaN")) || bytes.Contains(exports[name], []byte("Inf")) {
			t.Errorf("%s holds what is no number", name)
		}
	}
	for _, want := range []string{"Private Disk test, 2000s", "plain = 1", "Disturbed by other work"} {
		if !strings.Contains(xmlText(t, "experiment", exports["experiment.svg"]), want) {
			t.Errorf("experiment.svg: %q is missing", want)
		}
	}
	if !strings.Contains(xmlText(t, "comparison", exports["comparison.svg"]), "more than the spread of") {
		t.Error("comparison.svg has no verdict")
	}
}

func TestPNGShowsSomething(t *testing.T) {
	for name, data := range exportsOf(t) {
		if filepath.Ext(name) != ".png" {
			continue
		}
		img, err := png.Decode(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if img.Bounds().Dx() != 1440 {
			t.Errorf("%s is %d pixels wide", name, img.Bounds().Dx())
		}
		seen := colours(img)
		for what, colour := range map[string]uint32{"paper": 0xfffffe, "area below the curve": 0xd6e6f3, "crypto": 0xe8a317} {
			if seen[colour] < 2000 {
				t.Errorf("%s: %d pixels of %s", name, seen[colour], what)
			}
		}
	}
}

// TestHostileTextStaysText puts a label that is markup, control characters and invalid UTF-8 through every format.
func TestHostileTextStaysText(t *testing.T) {
	r := samples(t)[0]
	r.Label, r.Source.Device, r.Program, r.Machine.CPUModel = nasty, nasty, nasty, nasty
	r.Phases = append(r.Phases, Phase{nasty, 3})
	r.Problems = []Problem{{Name: nasty, Reason: "link", Detail: nasty}}
	e := sampleExperiment(t)
	e.Title, e.Remarks, e.Version = nasty, []string{nasty}, nasty
	e.Tables[0].Title, e.Tables[0].Note, e.Tables[0].RowTitle, e.Tables[0].Rows[0].Label, e.Tables[0].Rows[1].Source = nasty, nasty, nasty, nasty, nasty
	e.Tables[0].Columns[0] = Column{Name: nasty, Unit: nasty, Group: nasty}
	e.Bars[0].Title, e.Bars[0].Unit, e.Bars[0].LineName, e.Bars[0].Groups[0], e.Bars[0].Series[1].Name, e.Bars[0].Series[1].Source = nasty, nasty, nasty, nasty, nasty, nasty
	e.Method = append(e.Method, Method{nasty, nasty})
	e.Transfers = []*Record{r}
	b := samples(t)[1]
	comparison, err := Compare([]*Record{r, b})
	if err != nil {
		t.Fatal(err)
	}
	for _, format := range Formats() {
		var one, two, three bytes.Buffer
		o := ExportOptions{Format: format, Names: true}
		if err := errors.Join(Export(&one, []*Record{r}, o), ExportExperiment(&two, e, o), ExportComparison(&three, comparison, o)); err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		for _, out := range [][]byte{one.Bytes(), two.Bytes(), three.Bytes()} {
			if format == "png" || format == "json" { // json has its own escapes, and U+202E is text in it
				continue
			}
			if bytes.Contains(out, []byte("<script>alert")) && format != "csv" || bytes.ContainsAny(out, "\x1b\u202e\xff") {
				t.Errorf("%s: text became markup or control characters", format)
			}
			if format == "svg" {
				xmlText(t, "svg", out)
			}
		}
	}
	var text bytes.Buffer
	if err := errors.Join(PrintExperiment(&text, e), PrintComparison(&text, comparison)); err != nil || strings.ContainsAny(text.String(), "\x1b\u202e") {
		t.Errorf("terminal: %v, %q", err, text.String())
	}
}

// TestNumbersThatAreNone are refused in an experiment and harmless in a record.
func TestNumbersThatAreNone(t *testing.T) {
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		e := sampleExperiment(t)
		e.Tables[0].Rows[0].Cells[0].Figure.Values[3] = v
		f := sampleExperiment(t)
		f.Bars[0].Series[0].High[1] = v
		for _, bad := range []*Experiment{e, f} {
			if err := ExportExperiment(io.Discard, bad, ExportOptions{Format: "html"}); !errors.Is(err, ErrExperiment) {
				t.Errorf("%v: %v", v, err)
			}
		}
	}
	// A damaged record of the store may claim anything; pictures of it are made or refused, never a panic.
	for _, change := range []func(*Record){
		func(r *Record) { r.Rates.Series = []float64{1e308, 1e308}; r.Rates.Maximum = 1e308 },
		func(r *Record) { r.Rates.WindowSeconds = 0 },
		func(r *Record) { r.Rates.WindowSeconds, r.Seconds.Copy, r.Seconds.Sync = 1e300, -1, -5 },
		func(r *Record) {
			r.Rates.Average, r.Rates.Maximum, r.Rates.Minimum = -1, -3, -2
			r.Rates.Series = []float64{-1, -2}
		},
		func(r *Record) { r.Seconds = Seconds{} },
		func(r *Record) { r.Phases = []Phase{{"x", -4}, {"x", 1e300}, {"", 0}} },
		func(r *Record) {
			r.Rates.Series = make([]float64, map[bool]int{false: 1 << 20, true: 1 << 16}[testing.Short()])
		},
	} {
		r := samples(t)[0]
		change(r)
		for _, format := range Formats() {
			if err := Export(io.Discard, []*Record{r}, ExportOptions{Format: format}); err != nil {
				t.Errorf("%s: %v", format, err)
			}
		}
	}
}
