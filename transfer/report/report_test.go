package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"coffer/transfer/rate"

	"github.com/google/go-cmp/cmp"
)

func sample() *Record {
	start := time.Date(2026, 11, 30, 13, 20, 15, 123e6, time.UTC)
	return &Record{
		Schema: SchemaVersion, ID: NewID(start), Label: "[a] = large | file", Start: start, End: start.Add(95 * time.Second), Outcome: Partial,
		Source:      Endpoint{Kind: "host", FileSystem: "ext4", Device: "vda", WriteCache: "write back", ClusterBytes: 4096},
		Destination: Endpoint{Kind: "container", FileSystem: "FAT32", Format: "luks2", Cipher: "aes-256-xts", Engine: "vaes", SectorBytes: 4096, ClusterBytes: 32768},
		Path:        "direct", Files: 1, Directories: 2, Bytes: 658e6, Skipped: map[string]int64{"link": 2}, Failed: map[string]int64{"unreadable": 1},
		Seconds: Seconds{Total: 96, Copy: 90, Sync: 5}, PausedSeconds: 1.5, Machine: ReadMachine(), Program: "coffer test", Cache: "warm", Options: Options{Workers: 2},
		Rates:    rate.Summary{WindowSeconds: 1, Average: 6.92e6, Maximum: 14e6, Minimum: 3.8e6, Series: []float64{3.8e6, 14e6}},
		Problems: []Problem{{Name: "secret name", Reason: "link", Detail: "symbolic link"}},
	}
}

func TestLine(t *testing.T) {
	r := sample()
	r.Label = "a"
	want := "[a] 95.0 s  average=6.92 MB/s  max=14.0 MB/s  min=3.80 MB/s  (window 1 s)"
	if got := r.Line(); got != want {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
	r.FailedBytes = 21e6
	if got := r.Line(); got != strings.TrimSuffix(want, ")")+"; with 21.0 MB of copies that were given up)" {
		t.Fatal(got)
	}
	r.FailedBytes = 0
	r.Label, r.Rates.SingleWindow = "x\x1b[31m\u202e", true
	if got := r.Line(); strings.ContainsAny(got, "\x1b\u202e") || !strings.HasSuffix(got, "(single window)") {
		t.Fatalf("%q", got)
	}
}

func TestStoreRoundTrip(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "reports")
	s := NewStore(dir)
	if list, damaged, err := s.List(); err != nil || len(list)+len(damaged) != 0 {
		t.Fatal("empty store:", list, damaged, err)
	}
	r := sample()
	if err := s.Save(r); err != nil {
		t.Fatal(err)
	}
	got, err := s.Load(r.ID[:12])
	if err != nil {
		t.Fatal(err)
	}
	want := *r
	want.Problems = nil // names are never stored
	if d := cmp.Diff(&want, got); d != "" {
		t.Fatal(d)
	}
	raw, _ := os.ReadFile(filepath.Join(dir, r.ID+".json"))
	if bytes.Contains(raw, []byte("secret name")) {
		t.Fatal("the stored record holds a name")
	}
	if runtime.GOOS != "windows" {
		if st, _ := os.Stat(filepath.Join(dir, r.ID+".json")); st.Mode().Perm() != 0o600 {
			t.Fatalf("mode %v", st.Mode())
		}
		if st, _ := os.Stat(dir); st.Mode().Perm() != 0o700 {
			t.Fatalf("folder mode %v", st.Mode())
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Fatalf("left behind: %v", entries)
	}
	if err := s.Delete(r.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Load(r.ID); !errors.Is(err, ErrNoRecord) {
		t.Fatal(err)
	}
}

func TestStoreToleratesDamage(t *testing.T) {
	dir := t.TempDir()
	s := NewStore(dir)
	var ids []string
	for i := range 5 {
		r := sample()
		r.ID, r.Start = "", r.Start.Add(time.Duration(i)*time.Hour)
		if err := s.Save(r); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.ID)
	}
	os.WriteFile(filepath.Join(dir, ids[1]+".json"), []byte(`{"schema":1,"id":"`), 0o600)
	os.WriteFile(filepath.Join(dir, ids[3]+".json"), nil, 0o600)
	os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("mine"), 0o600)
	os.Mkdir(filepath.Join(dir, "20261130T132015123Z-abcdef.json"), 0o700)
	list, damaged, err := s.List()
	if err != nil || len(list) != 3 || len(damaged) != 2 {
		t.Fatalf("%d records, damaged %v, %v", len(list), damaged, err)
	}
	for i, want := range []string{ids[0], ids[2], ids[4]} {
		if list[i].ID != want {
			t.Fatalf("order: %s at %d, want %s", list[i].ID, i, want)
		}
	}
	if _, err := s.Load(ids[1]); !errors.Is(err, ErrDamaged) {
		t.Fatal(err)
	}
	if _, err := s.Load("2026"); !errors.Is(err, ErrAmbiguous) {
		t.Fatal(err)
	}
	if err := s.Delete(ids[1]); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"", "../x", "..", ids[0] + "/../" + ids[2]} {
		if _, err := s.Load(bad); err == nil {
			t.Fatalf("loaded %q", bad)
		}
	}
	r := sample()
	r.ID = "../evil"
	if err := s.Save(r); !errors.Is(err, ErrID) {
		t.Fatal(err)
	}
}

func TestExports(t *testing.T) {
	records := []*Record{sample(), sample()}
	var buf bytes.Buffer
	if err := Export(&buf, records, ExportOptions{Format: "csv"}); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&buf).ReadAll()
	if err != nil || len(rows) != 3 {
		t.Fatal(len(rows), err)
	}
	at := map[string]string{}
	for i, name := range rows[0] {
		if _, dup := at[name]; dup {
			t.Fatalf("column %s twice", name)
		}
		at[name] = rows[1][i]
	}
	for name, want := range map[string]string{"averageBytesPerSecond": "6920000", "failed": "unreadable=1", "seriesBytesPerSecond": "3800000;14000000", "destinationEngine": "vaes", "windowSeconds": "1", "pausedSeconds": "1.5"} {
		if at[name] != want {
			t.Errorf("csv %s = %q, want %q", name, at[name], want)
		}
	}
	buf.Reset()
	if err := Export(&buf, records, ExportOptions{Format: "json"}); err != nil {
		t.Fatal(err)
	}
	var back []*Record
	if err := json.Unmarshal(buf.Bytes(), &back); err != nil || len(back) != 2 || back[0].Bytes != 658e6 {
		t.Fatal(err, len(back))
	}
	for _, format := range []string{"csv", "json", "md"} {
		for _, names := range []bool{false, true} {
			buf.Reset()
			if err := Export(&buf, records, ExportOptions{Format: format, Names: names}); err != nil {
				t.Fatal(err)
			}
			if has := strings.Contains(buf.String(), "secret name"); has != (names && format != "csv") {
				t.Errorf("%s with names %v: name present %v", format, names, has)
			}
		}
	}
	if !strings.Contains(buf.String(), "Paused") || !strings.Contains(buf.String(), "1.500 s") {
		t.Error("md: nothing tells that it was paused")
	}
	if !strings.Contains(buf.String(), `large \| file`) {
		t.Error("md: label not escaped")
	}
	if err := Export(&buf, nil, ExportOptions{Format: "txt"}); !errors.Is(err, ErrExportFormat) {
		t.Fatal(err)
	}
}

func TestFormulaLabelsAreDefused(t *testing.T) {
	r := sample()
	r.Label = "=HYPERLINK(1)"
	var buf bytes.Buffer
	if err := Export(&buf, []*Record{r}, ExportOptions{Format: "csv"}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(buf.String(), ",=HYPERLINK") {
		t.Fatal(buf.String())
	}
}

func TestMachineAndHost(t *testing.T) {
	m := ReadMachine()
	m.Finish()
	if m.Cores < 1 || m.OS == "" || m.Arch == "" {
		t.Fatalf("%+v", m)
	}
	e := HostEndpoint(filepath.Join(t.TempDir(), "not", "yet"))
	if e.Kind != "host" || runtime.GOOS == "linux" && e.FileSystem == "" {
		t.Fatalf("%+v", e)
	}
	from := ProcessTimes()
	for start := time.Now(); time.Since(start) < 60*time.Millisecond; {
	}
	if u := UsageBetween(from, ProcessTimes(), 60*time.Millisecond); u.UserSeconds+u.SystemSeconds <= 0 || u.Percent <= 0 {
		t.Fatalf("%+v", u)
	}
}
