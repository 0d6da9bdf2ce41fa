package export

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"coffer/app/window/ui"
	"coffer/app/window/ui/uitest"
	"coffer/transfer/rate"
	"coffer/transfer/report"
)

// stand is the dialog in a window of a test.
type stand struct {
	*uitest.Desk
	dialog *Dialog
}

func records() []*report.Record {
	series := []float64{1e8, 2e8, 3e8, 2e8, 1e8, 2e8, 3e8, 2e8}
	return []*report.Record{{Schema: report.SchemaVersion, ID: report.NewID(time.Now()), Label: "photos", Outcome: report.Done, Bytes: 16e8, Files: 3,
		Source: report.Endpoint{Kind: "host"}, Destination: report.Endpoint{Kind: "container"}, Skipped: map[string]int64{}, Failed: map[string]int64{},
		Seconds: report.Seconds{Total: 8, Copy: 8}, Rates: rate.Summary{WindowSeconds: 1, Average: 2e8, Maximum: 3e8, Minimum: 1e8, Series: series}}}
}

func write_(w io.Writer, format string) error {
	return report.Export(w, records(), report.ExportOptions{Format: format})
}

func newStand(t *testing.T, write func(io.Writer, string) error) *stand {
	t.Helper()
	last.extension, last.folder = "html", "" // of the test before
	s := &stand{Desk: uitest.New(t, ui.ThemeLight)}
	last.folder = s.Folder
	s.dialog = Show(s.Deps, Request{Title: "Export it", Name: "report", Write: write})
	s.Until("a path is offered", func() bool { return s.dialog.path.Text != "" })
	return s
}

func (s *stand) choose(extension string) {
	s.dialog.format.SetSelectedIndex(indexOf(extension))
	s.Until("the path has the extension", func() bool { return strings.HasSuffix(s.dialog.path.Text, "."+extension) })
}

// TestEveryFormat: each file is what its name says.
func TestEveryFormat(t *testing.T) {
	begins := map[string]string{"html": "<!DOCTYPE html>", "svg": "<svg", "png": "\x89PNG\r\n\x1a\n", "csv": "", "md": "# ", "json": "["}
	if len(formats) != len(report.Formats()) {
		t.Errorf("%d formats can be chosen, package report writes %d", len(formats), len(report.Formats()))
	}
	for _, f := range report.Formats() {
		s := newStand(t, write_)
		s.choose(f)
		s.Tap("Save")
		s.Until("it is saved", func() bool { return s.Says("The report is saved") })
		raw, err := os.ReadFile(filepath.Join(s.Folder, "report."+f))
		if err != nil {
			t.Errorf("%s: %v", f, err)
			continue
		}
		head := bytes.TrimPrefix(raw, []byte(`<?xml version="1.0" encoding="UTF-8"?>`+"\n"))
		if !bytes.HasPrefix(head, []byte(begins[f])) {
			t.Errorf("%s begins with %.40q", f, raw)
		}
		if f == "json" && !json.Valid(raw) || f == "csv" && bytes.Count(raw, []byte("\n")) != 2 {
			t.Errorf("%s: %.200q", f, raw)
		}
		if info, err := os.Stat(filepath.Join(s.Folder, "report."+f)); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: others may read it: %v %v", f, info.Mode(), err)
		}
	}
}

func TestFormatIsRemembered(t *testing.T) {
	s := newStand(t, write_)
	s.choose("png")
	s.Key(fyne.KeyEscape)
	if s.Dialogs() != 0 {
		t.Fatal("Escape leaves the dialog")
	}
	again := Show(s.Deps, Request{Title: "Export it", Name: "report", Write: write_})
	if again.chosen() != "png" {
		t.Errorf("offers %s", again.chosen())
	}
}

// TestNothingIsOverwritten but what the person says.
func TestNothingIsOverwritten(t *testing.T) {
	s := newStand(t, write_)
	there := filepath.Join(s.Folder, "report.html")
	if s.dialog.path.Text != there {
		t.Fatalf("offered %s", s.dialog.path.Text)
	}
	if err := os.WriteFile(there, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Key(fyne.KeyReturn)
	s.Until("it asks", func() bool { return s.Says("is there already") })
	s.Tap("Cancel")
	if raw, _ := os.ReadFile(there); string(raw) != "precious" {
		t.Fatal("overwritten")
	}
	s.Tap("Save")
	s.Until("it asks", func() bool { return s.Says("is there already") })
	s.Tap("Replace")
	s.Until("it is saved", func() bool { return s.Says("The report is saved") })
	if raw, _ := os.ReadFile(there); !bytes.HasPrefix(raw, []byte("<!DOCTYPE")) {
		t.Errorf("not replaced: %.20q", raw)
	}
	s.Tap("Close")
	next := Show(s.Deps, Request{Title: "Export it", Name: "report", Write: write_})
	s.Until("a path is offered", func() bool { return next.path.Text != "" })
	if want := filepath.Join(s.Folder, "report-2.html"); next.path.Text != want {
		t.Errorf("offered %s, want %s", next.path.Text, want)
	}
}

func TestWhatThePersonTypesCounts(t *testing.T) {
	s := newStand(t, write_)
	s.dialog.path.SetText(filepath.Join(s.Folder, "mine"))
	s.choose("csv")
	if want := filepath.Join(s.Folder, "mine.csv"); s.dialog.path.Text != want {
		t.Errorf("the extension follows the format: %s", s.dialog.path.Text)
	}
	s.dialog.path.SetText(filepath.Join(s.Folder, "mine.md"))
	s.Tap("Save")
	s.Until("it is saved", func() bool { return s.Says("The report is saved") })
	if raw, _ := os.ReadFile(filepath.Join(s.Folder, "mine.md")); !bytes.HasPrefix(raw, []byte("# ")) {
		t.Errorf("the extension typed says what it is: %.20q", raw)
	}
}

func TestFailuresStayInTheDialog(t *testing.T) {
	s := newStand(t, write_)
	s.dialog.path.SetText("report.html")
	s.Tap("Save")
	s.MustSay("Write the whole path")
	s.dialog.path.SetText(filepath.Join(s.Folder, "missing", "report.html"))
	s.Tap("Save")
	s.Until("it is told", func() bool { return s.Says("is not there") })
	s.dialog.path.SetText(filepath.Join(s.Folder, "report.html"))
	s.Tap("Save")
	s.Until("it is saved", func() bool { return s.Says("The report is saved") })

	failing := newStand(t, func(io.Writer, string) error { return errors.New("the chart cannot be drawn") })
	failing.Tap("Save")
	failing.Until("it is told", func() bool { return failing.Says("The chart cannot be drawn.") })
	if left, _ := filepath.Glob(filepath.Join(failing.Folder, "*report*")); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestSavingHappensOnce(t *testing.T) {
	var calls int
	wait := make(chan struct{})
	s := newStand(t, func(w io.Writer, f string) error {
		calls++
		<-wait
		return write_(w, f)
	})
	s.Tap("Save")
	s.dialog.saveNow(false)
	s.Key(fyne.KeyEscape)
	if s.Dialogs() != 1 || !s.Says("[Saving…]") {
		t.Errorf("left while it writes; shown: %q", s.Texts())
	}
	close(wait)
	s.Until("it is saved", func() bool { return s.Says("The report is saved") })
	if calls != 1 {
		t.Errorf("written %d times", calls)
	}
}

func TestOpenedAfterwards(t *testing.T) {
	var opened []string
	before := Open
	t.Cleanup(func() { Open = before })
	done := make(chan struct{}, 2)
	Open = func(path string) error {
		opened = append(opened, path)
		done <- struct{}{}
		return nil
	}
	for _, label := range []string{"Open", "Show in folder"} {
		s := newStand(t, write_)
		s.Tap("Save")
		s.Until("it is saved", func() bool { return s.Says("The report is saved") })
		s.Tap(label)
		<-done
		want := []string{filepath.Join(s.Folder, "report.html")}
		if label != "Open" {
			want = []string{s.Folder}
		}
		if !slices.Equal(opened, want) {
			t.Errorf("%s opened %q, want %q", label, opened, want)
		}
		opened = nil
	}
}
