package lab

import (
	"bytes"
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"coffer/container/ciphers"
	"coffer/transfer/report"
)

// small measures next to nothing, but everything of it.
func small(dir string) CipherOptions {
	return CipherOptions{Rounds: 2, MemoryTime: time.Millisecond, SectorBytes: []int{512, 4096}, Workers: []int{1, 2},
		ImageWorkers: []int{2}, Dir: dir, ImageBytes: 2 << 20, Quick: true, Program: "coffer test"}
}

func TestCiphers(t *testing.T) {
	dir := t.TempDir()
	var last, total int
	o := small(dir)
	o.Progress = func(done, all int, next string) {
		if done < last || all == 0 || done < all && next == "" {
			t.Errorf("progress %d of %d after %d: %q", done, all, last, next)
		}
		last, total = done, all
	}
	e, err := Ciphers(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if last != total || total == 0 {
		t.Errorf("progress ended at %d of %d", last, total)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v (%v)", left, err)
	}
	if len(e.Tables) != 6 || len(e.Bars) != 2 { // 2 sizes x (2 in memory + 1 file)
		t.Fatalf("%d tables and %d charts", len(e.Tables), len(e.Bars))
	}
	for _, table := range e.Tables {
		references := 0
		for _, row := range table.Rows {
			if len(row.Cells) != len(table.Columns) {
				t.Errorf("%s: %s has %d cells, %d columns", table.Title, row.Label, len(row.Cells), len(table.Columns))
			}
			if row.Reference {
				references++
				continue
			}
			for i, c := range row.Cells {
				if c.Figure == nil || c.Figure.Rounds != 2 || c.Figure.Median < 0 ||
					table.Columns[i].Unit == "MB/s" && (c.Figure.Median <= 0 || c.Figure.Ratio <= 0) {
					t.Errorf("%s: %s, %s: %+v", table.Title, row.Label, table.Columns[i].Name, c.Figure)
				}
			}
		}
		if want := map[bool]int{true: 11}[strings.HasPrefix(table.Title, "Image")]; references != want {
			t.Errorf("%s: %d published rows, want %d", table.Title, references, want)
		}
	}
	for _, c := range e.Bars {
		for _, s := range c.Series {
			if len(s.Values) != len(c.Groups) || !s.Reference && (len(s.Low) != len(c.Groups) || slices.Contains(s.Values, 0)) {
				t.Errorf("%s: %s: %v for %v", c.Title, s.Name, s.Values, c.Groups)
			}
		}
	}
	checkExports(t, e)
	for _, name := range []string{report.MethodWindow, report.MethodCache, report.MethodSync, report.MethodOrder,
		report.MethodRounds, report.MethodMachine, report.MethodVersions} {
		if !slices.ContainsFunc(e.Method, func(m report.Method) bool { return m.Name == name && m.Text != "" }) {
			t.Errorf("the method does not tell %s", name)
		}
	}
}

// checkExports exports an experiment in every format, and holds the JSON against the schema of the repository.
func checkExports(t *testing.T, e *report.Experiment) {
	t.Helper()
	for _, format := range report.Formats() {
		var out bytes.Buffer
		if err := report.ExportExperiment(&out, e, report.ExportOptions{Format: format}); err != nil || out.Len() < 1000 {
			t.Errorf("%s: %d bytes, %v", format, out.Len(), err)
		}
		if format != "json" {
			continue
		}
		compiler := jsonschema.NewCompiler()
		for name, text := range map[string]string{"record": report.JSONSchema(), "experiment": report.ExperimentSchema()} {
			v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			if err := compiler.AddResource("https://coffer.invalid/"+name+".schema.json", v); err != nil {
				t.Fatal(err)
			}
		}
		v, err := jsonschema.UnmarshalJSON(&out)
		if err != nil {
			t.Fatal(err)
		}
		if err := compiler.MustCompile("https://coffer.invalid/experiment.schema.json").Validate(v); err != nil {
			t.Error(err)
		}
	}
}

// TestPublishedAreMeasured: every algorithm GELI2008 compared is a row of ours under the same label.
func TestPublishedAreMeasured(t *testing.T) {
	for _, row := range GELI2008().Rows {
		if !slices.ContainsFunc(imageSubjects(), func(s subject) bool { return s.title == row.Label }) {
			t.Errorf("%s is not measured", row.Label)
		}
	}
}

// TestOnly: rows can be chosen, with and without what they are compared to.
func TestOnly(t *testing.T) {
	for _, only := range [][]string{{engine256}, {nullTitle, plainTitle, "3DES-CBC"}, {"AES-256-GCM"}, {"AES-256-CBC with HMAC-MD5"}} {
		o := small(t.TempDir())
		o.Rounds, o.Only, o.SectorBytes, o.Workers = 1, only, []int{512}, []int{1}
		e, err := Ciphers(context.Background(), o)
		if err != nil {
			t.Fatal(err)
		}
		var rows []string
		for _, table := range e.Tables {
			for _, row := range table.Rows {
				if !row.Reference {
					rows = append(rows, row.Label)
				}
			}
		}
		slices.Sort(rows)
		if got := slices.Compact(rows); !slices.Equal(got, slices.Sorted(slices.Values(only))) {
			t.Errorf("%q gave %q", only, got)
		}
	}
}

// TestSubjects: titles are rows of tables, so they differ, and the full set has every cipher with every MAC.
func TestSubjects(t *testing.T) {
	for _, list := range [][]subject{memorySubjects(true), memorySubjects(false), imageSubjects()} {
		seen := map[string]bool{}
		for _, s := range list {
			if seen[s.title] {
				t.Errorf("%s occurs twice", s.title)
			}
			seen[s.title] = true
		}
	}
	full := memorySubjects(false)
	for _, m := range ciphers.MACs() {
		for _, name := range []string{"null", "AES-256-XTS", "AES-128-XTS", "AES-256-CBC", "AES-128-CBC", "Twofish", "Serpent", "Camellia", "Blowfish", "3DES", "Kuznyechik"} {
			if !slices.ContainsFunc(full, func(s subject) bool {
				return strings.HasPrefix(s.title, name) && (m == ciphers.NoMAC && s.bare || m != ciphers.NoMAC && strings.HasSuffix(s.title, " with "+m.Title()))
			}) {
				t.Errorf("%s with %q is not measured", name, m)
			}
		}
	}
}

// TestCiphersCancel: cancelled at any measurement, it ends soon, with the context's error and nothing left behind.
func TestCiphersCancel(t *testing.T) {
	for _, at := range []int{0, 1, 40, 200} {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(context.Background())
		o := small(dir)
		o.Progress = func(done, _ int, _ string) {
			if done == at {
				cancel()
			}
		}
		_, err := Ciphers(ctx, o)
		if left, _ := os.ReadDir(dir); !errors.Is(err, context.Canceled) || len(left) != 0 {
			t.Errorf("cancelled at %d: %v, left behind: %v", at, err, left)
		}
		cancel()
	}
}

func TestCiphersRefusesNonsense(t *testing.T) {
	for name, spoil := range map[string]func(*CipherOptions){
		"rounds": func(o *CipherOptions) { o.Rounds = -1 }, "sector": func(o *CipherOptions) { o.SectorBytes = []int{500} },
		"sector 0": func(o *CipherOptions) { o.SectorBytes = []int{0} }, "workers": func(o *CipherOptions) { o.Workers = []int{0} },
		"source": func(o *CipherOptions) { o.Sources = []Source{"tape"} }, "time": func(o *CipherOptions) { o.MemoryTime = -1 },
		"bytes": func(o *CipherOptions) { o.ImageBytes = -1 }, "no sectors": func(o *CipherOptions) { o.SectorBytes = []int{} },
		"only":   func(o *CipherOptions) { o.Only = []string{"ROT13"} },
		"folder": func(o *CipherOptions) { o.Dir = o.Dir + "/none" },
	} {
		o := small(t.TempDir())
		spoil(&o)
		if e, err := Ciphers(context.Background(), o); err == nil {
			t.Errorf("%s: %d tables and no error", name, len(e.Tables))
		}
	}
}

// TestCiphersNeedsRoom: what does not fit is told before anything is measured.
func TestCiphersNeedsRoom(t *testing.T) {
	o := small(t.TempDir())
	o.Progress = func(int, int, string) { t.Error("something was measured") }
	var err error
	if o.ImageBytes, err = freeBytes(o.Dir); err != nil {
		t.Fatal(err)
	}
	var space *SpaceError
	if _, err := Ciphers(context.Background(), o); !errors.As(err, &space) || space.NeedBytes < o.ImageBytes {
		t.Errorf("%v", err)
	}
}

// TestStarved: workers that did not get their cores are told of, others are not.
func TestStarved(t *testing.T) {
	for used, told := range map[float64]bool{2: false, 1.9: false, 1: true, 0.2: true, 0: false} {
		key := cell{nullTitle, setting{workers: 2, sectorBytes: 512, source: Zeros}}
		run := &cipherRun{samples: map[cell][]sample{key: {{encrypt: 4e9, decrypt: 2e9, encryptCPU: used / 4e9, decryptCPU: used / 2e9}}}}
		if got := run.starved(2); (len(got) == 1) != told {
			t.Errorf("%v of 2 cores: %q", used, got)
		}
		if got := run.starved(1); len(got) != 0 {
			t.Errorf("nothing was measured with one worker: %q", got)
		}
	}
}

// wrong decrypts to something else.
type wrong struct{ ciphers.Sectors }

func (w wrong) Decrypt(dst, tags, src []byte, first uint64) error {
	err := w.Sectors.Decrypt(dst, tags, src, first)
	dst[len(src)-1] ^= 1
	return err
}

// TestWrongCipherIsNotMeasured: an implementation that does not give back what it took has no speed.
func TestWrongCipherIsNotMeasured(t *testing.T) {
	o, err := small(t.TempDir()).withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	run, err := newCipherRun(o)
	if err != nil {
		t.Fatal(err)
	}
	run.folder = o.Dir
	broken := algorithmSubject(ciphers.Algorithm{Cipher: ciphers.AES, KeyBits: 256, Mode: ciphers.CBCPlain64})
	open := broken.open
	broken.open = func(n int) (ciphers.Sectors, error) { s, err := open(n); return wrong{s}, err }
	at := setting{workers: 2, sectorBytes: 4096, source: Random}
	if _, err := run.measureMemory(context.Background(), broken, at); !errors.Is(err, errRoundTrip) {
		t.Errorf("in memory: %v", err)
	}
	at.image = true
	if _, err := run.measureImage(context.Background(), broken, at); !errors.Is(err, errRoundTrip) {
		t.Errorf("image: %v", err)
	}
}

// TestRateIsBytesOverTime: the bytes of all workers, each counted once, over the whole time.
func TestRateIsBytesOverTime(t *testing.T) {
	run := &cipherRun{options: CipherOptions{MemoryTime: 60 * time.Millisecond}}
	for _, n := range []int{1, 4} {
		workers := make([]*memoryWorker, n)
		for i := range workers {
			workers[i] = &memoryWorker{plain: make([]byte, memoryBytes)}
		}
		var calls atomic.Int64
		start := time.Now()
		perSecond, cpuPerByte, err := run.span(context.Background(), workers, func(*memoryWorker) error {
			calls.Add(1)
			time.Sleep(time.Millisecond)
			return nil
		})
		outside := time.Since(start)
		if err != nil {
			t.Fatal(err)
		}
		bytesDone := float64(calls.Load() * memoryBytes)
		took := time.Duration(bytesDone / perSecond * 1e9)
		if took < run.options.MemoryTime-time.Microsecond || took > outside+time.Microsecond {
			t.Errorf("%d workers: %.0f bytes at %.0f B/s took %v; asked for %v, %v passed outside", n, bytesDone, perSecond, took, run.options.MemoryTime, outside)
		}
		if cores := cpuPerByte * perSecond; cores > 0.5 {
			t.Errorf("%d workers that sleep use %.2f cores", n, cores)
		}
	}
}
