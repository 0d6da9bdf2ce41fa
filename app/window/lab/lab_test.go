package lab

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"github.com/adrg/xdg"

	"coffer/app/client"
	"coffer/app/config"
	"coffer/app/protocol"
	"coffer/app/window/backend/fake"
	"coffer/app/window/chart"
	"coffer/app/window/model"
	"coffer/app/window/ui"
	"coffer/transfer/report"
)

// shell is the window around the screen.
type shell struct {
	window fyne.Window
	said   []string // notifications
	chosen string
}

func (s *shell) Window() fyne.Window             { return s.window }
func (s *shell) Show(ui.Page, string)            {}
func (s *shell) Chosen() string                  { return s.chosen }
func (s *shell) Unlock(string, func(string))     {}
func (s *shell) NewContainer([]string)           {}
func (s *shell) CopyIn(string, []string, string) {}
func (s *shell) Notify(title, _ string)          { s.said = append(s.said, title) }

// newScreen makes a screen in a window with a fake Coffer and records in a folder.
func newScreen(t *testing.T, records string) (*Screen, *ui.Deps, *fake.Coffer) {
	t.Helper()
	coffer := fake.New()
	m, err := model.New(coffer, "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	paths := config.Paths{Config: t.TempDir(), Data: filepath.Dir(records)}
	d := &ui.Deps{Model: m, Backend: coffer.Backend(), Paths: paths, Context: ctx}
	sh := &shell{window: test.NewWindow(nil)}
	d.Shell = sh
	s := New(d)
	sh.window.SetContent(s.Object())
	sh.window.Resize(fyne.NewSize(1000, 700))
	return s, d, coffer
}

// wait waits for a condition, which is looked at on Fyne's goroutine.
func wait(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		ok := false
		fyne.DoAndWait(func() { ok = done() })
		if ok {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("it did not come")
		}
	}
}

// parts is how many parts of a result are on the stage.
func (s *Screen) parts() int {
	border, ok := s.stage.Objects[0].(*fyne.Container)
	if !ok {
		return -1
	}
	for _, o := range border.Objects {
		if scroll, ok := o.(*container.Scroll); ok {
			return len(scroll.Content.(*fyne.Container).Objects[0].(*fyne.Container).Objects)
		}
	}
	return -1
}

// sample is a small experiment with all there can be in one.
func sample(kind string, at time.Time) *report.Experiment {
	e := &report.Experiment{Schema: report.ExperimentVersion, ID: report.NewID(at), Kind: kind, Title: "What it costs", Started: at, Finished: at.Add(42 * time.Second), Version: "coffer 1"}
	for _, name := range []string{report.MethodWindow, report.MethodCache, report.MethodSync, report.MethodOrder, report.MethodRounds, report.MethodMachine, report.MethodVersions} {
		e.Method = append(e.Method, report.Method{Name: name, Text: "as usual"})
	}
	calm, wild := report.Measured([]float64{100, 101, 102}), report.Measured([]float64{50, 100, 200})
	calm.Figure.Ratio = 0.5
	e.Tables = []report.Table{{Title: "One file", RowTitle: "operation", Note: "A note.",
		Columns: []report.Column{{Group: "output", Name: "block", Unit: "MB/s"}, {Group: "output", Name: "rewrite", Unit: "MB/s"}, {Name: "remark"}},
		Rows: []report.Row{
			{Label: "here", Cells: []report.Cell{calm, wild, report.Text("good")}},
			{Label: "theirs", Reference: true, Source: "A paper, 2008", Cells: []report.Cell{report.Published(28.6), report.Published(14), {}}},
		}}}
	e.Bars = []report.Chart{{Title: "Rates", Unit: "MB/s", Groups: []string{"[a]", "[b]"}, Series: []report.Series{
		{Name: "plain", Values: []float64{100, 200}}, {Name: "luks2", Values: []float64{90, 0}}, {Name: "theirs", Reference: true, Source: "A paper, 2008", Values: []float64{28.6, 0}}}}}
	return e
}

// kept makes a folder of records with experiments in it, oldest first.
func kept(t *testing.T, all ...*report.Experiment) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "records")
	for _, e := range all {
		if err := report.NewStore(folder).SaveExperiment(e); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

var day = time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)

// words are all texts below an object that can be seen.
func words(o fyne.CanvasObject) string {
	var all []string
	var walk func(fyne.CanvasObject)
	walk = func(o fyne.CanvasObject) {
		if !o.Visible() {
			return
		}
		switch o := o.(type) {
		case *fyne.Container:
			for _, inside := range o.Objects {
				walk(inside)
			}
		case *canvas.Text:
			all = append(all, o.Text)
		case *widget.Label:
			all = append(all, o.Text)
		case fyne.Widget:
			for _, inside := range test.WidgetRenderer(o).Objects() {
				walk(inside)
			}
		}
	}
	walk(o)
	return strings.Join(all, "\n")
}

func TestFormMakesRequests(t *testing.T) {
	test.NewTempApp(t)
	var got []client.LabRequest
	_, d, _ := newScreen(t, kept(t))
	f := newForm(d, func(r client.LabRequest) { got = append(got, r) })
	folder := t.TempDir()
	f.place.SetText(folder)
	for i, e := range experiments() {
		test.Tap(f.choices[i])
		if f.chosen.name != e.name || !f.choices[i].chosen {
			t.Errorf("a click on %q chooses %q", e.title, f.chosen.name)
		}
		if copies := e.name == "copy"; f.extras.Visible() != copies {
			t.Errorf("%s: what only copies have is shown: %v", e.name, !copies)
		}
		test.Tap(f.start)
		want := client.LabRequest{Experiment: e.name, At: folder, Quick: true}
		if len(got) != i+1 || !reflect.DeepEqual(got[i], want) {
			t.Fatalf("%s: asks for %+v, want %+v", e.name, got, want)
		}
	}
	f.choices[0].TypedKey(&fyne.KeyEvent{Name: fyne.KeySpace})
	f.effort.SetSelected(f.effort.Options[1])
	f.via.SetSelected(viaMount())
	f.own.SetText(folder)
	f.rounds.SetText("7")
	test.Tap(f.start)
	want := client.LabRequest{Experiment: "copy", At: folder, Folder: folder, Via: "mount", Rounds: 7}
	if last := got[len(got)-1]; !reflect.DeepEqual(last, want) {
		t.Errorf("a full one with everything chosen asks for %+v, want %+v", last, want)
	}
	f.choose("ciphers")
	if r, wrong := f.request(); wrong != "" || r.Folder != "" || r.Via != "" || r.Quick {
		t.Errorf("another experiment takes what belongs to copies, or forgets that the person wants a full one: %+v %s", r, wrong)
	}
}

func TestFormRefusesNonsense(t *testing.T) {
	test.NewTempApp(t)
	_, d, _ := newScreen(t, kept(t))
	for name, spoil := range map[string]func(*form){
		"no place":         func(f *form) { f.place.SetText("  ") },
		"relative place":   func(f *form) { f.place.SetText("here") },
		"no rounds":        func(f *form) { f.rounds.SetText("0") },
		"too many rounds":  func(f *form) { f.rounds.SetText("1001") },
		"words for rounds": func(f *form) { f.rounds.SetText("three") },
		"relative folder":  func(f *form) { f.own.SetText("pictures") },
	} {
		f := newForm(d, func(client.LabRequest) { t.Errorf("%s: an experiment is made", name) })
		if f.start.Disabled() || f.wrong.Visible() {
			t.Fatalf("%s: refused before", name)
		}
		spoil(f)
		if !f.start.Disabled() || f.wrong.Text == "" || !f.wrong.Visible() {
			t.Errorf("%s: not refused, or without a reason", name)
		}
		test.Tap(f.start)
		f.submit()
	}
}

func TestRunGoesOnWhileAway(t *testing.T) {
	test.NewTempApp(t)
	s, d, coffer := newScreen(t, kept(t))
	done := make(chan struct{})
	coffer.Wait["Lab"] = done
	made := sample(report.KindCopy, day)
	coffer.Experiments = []*report.Experiment{made}
	s.Shown("")
	s.form.place.SetText(t.TempDir())
	test.Tap(s.form.start)
	if s.run == nil || s.stage.Objects[0] != s.running.object {
		t.Fatal("a run does not show")
	}
	wait(t, func() bool { return coffer.Called("Lab") == 1 })
	wait(t, func() bool {
		s.running.show(s.run, s.run.started.Add(75*time.Second))
		return s.running.bar.Value == 0.25
	})
	if got := words(s.running.object); !strings.Contains(got, "1 of 4 measurements") || !strings.Contains(got, "1 min 15 s") {
		t.Errorf("progress says %q", got)
	}
	s.showForm()
	if !s.back.Visible() || !s.form.start.Disabled() || s.stopPulse != nil {
		t.Error("a second run can be started, there is no way back to the first, or what nobody sees is drawn")
	}
	s.startRun(client.LabRequest{Experiment: "ciphers"})
	test.Tap(s.back)
	if s.stage.Objects[0] != s.running.object || s.stopPulse == nil {
		t.Error("the way back does not lead to the run")
	}
	s.Hidden()
	if s.stopPulse != nil {
		t.Error("a hidden screen is kept up to date")
	}
	if err := report.NewStore(recordsFolder(d)).SaveExperiment(made); err != nil { // as the program does
		t.Fatal(err)
	}
	close(done)
	wait(t, func() bool { return s.run == nil })
	if coffer.Called("Lab") != 1 {
		t.Error("two runs at once")
	}
	if said := d.Shell.(*shell).said; len(said) != 1 {
		t.Errorf("the person, elsewhere, is told %q", said)
	}
	s.Shown("")
	wait(t, func() bool { return len(s.entries) == 1 })
	if s.form.start.Disabled() || s.back.Visible() {
		t.Error("no further run can be started")
	}
}

func TestRunShowsResult(t *testing.T) {
	test.NewTempApp(t)
	s, d, coffer := newScreen(t, kept(t))
	coffer.Experiments = []*report.Experiment{sample(report.KindDrive, day)}
	s.Shown("")
	s.form.place.SetText(t.TempDir())
	test.Tap(s.form.start)
	wait(t, func() bool { return s.run == nil && s.result == coffer.Experiments[0] && s.parts() == 4 })
	got := words(s.stage)
	for _, want := range []string{"What it costs", "101", "×0.50", "†", "published [1]", "[1] published: A paper, 2008", "28.6", "theirs", "Something else was at work", "How it was measured"} {
		if !strings.Contains(got, want) {
			t.Errorf("the result does not show %q:\n%s", want, got)
		}
	}
	if len(d.Shell.(*shell).said) != 0 {
		t.Error("the person is told what is on the screen")
	}
}

func TestCancelRun(t *testing.T) {
	test.NewTempApp(t)
	s, _, coffer := newScreen(t, kept(t))
	coffer.Wait["Lab"] = make(chan struct{})
	s.Shown("")
	s.form.place.SetText(t.TempDir())
	test.Tap(s.form.start)
	wait(t, func() bool { return coffer.Called("Lab") == 1 })
	test.Tap(s.running.cancel)
	wait(t, func() bool { return s.run == nil })
	if s.stage.Objects[0] != s.form.object || !strings.Contains(s.note.Text, "cancelled") || !s.notes.Visible() || s.form.start.Disabled() {
		t.Errorf("after a cancelled run: %q", s.note.Text)
	}
}

func TestRunFails(t *testing.T) {
	test.NewTempApp(t)
	s, d, coffer := newScreen(t, kept(t))
	coffer.Fail["Lab"] = fake.Problem(protocol.NoSpace, "lab copy: 3 GB are free", "--at DIR works elsewhere, --quick needs less")
	s.Shown("")
	s.form.place.SetText(t.TempDir())
	test.Tap(s.form.start)
	wait(t, func() bool { return s.run == nil })
	if !strings.Contains(s.note.Text, "another disk") || !strings.Contains(s.note.Text, "3 GB are free") || strings.Contains(s.note.Text, "--at") {
		t.Errorf("a full disk is explained as %q", s.note.Text)
	}
	s.Hidden()
	coffer.Fail["Lab"] = fake.Problem(protocol.Failed, "it broke", "")
	s.startRun(client.LabRequest{Experiment: "copy"})
	wait(t, func() bool { return s.run == nil })
	if len(d.Shell.(*shell).said) != 1 {
		t.Error("a failure while the person is elsewhere is not told")
	}
}

func TestProgressOfAll(t *testing.T) {
	r := &run{request: client.LabRequest{Experiment: all}}
	if _, _, fraction := r.progress(); fraction >= 0 {
		t.Errorf("before anything is known, %g is done", fraction)
	}
	for i, step := range []struct {
		event protocol.Event
		want  float64
	}{
		{protocol.Event{Kind: protocol.EventProgress, Done: 5, Total: 10, Unit: protocol.UnitBytes}, 0.5 / 3},
		{protocol.Event{Kind: protocol.EventNote, Detail: "no progress"}, 0.5 / 3},
		{protocol.Event{Kind: protocol.EventProgress, Done: 10, Total: 10, Unit: protocol.UnitBytes}, 1.0 / 3},
		{protocol.Event{Kind: protocol.EventProgress, Done: 0, Total: 8, Unit: protocol.UnitMeasurements}, 1.0 / 3},
		{protocol.Event{Kind: protocol.EventProgress, Done: 8, Total: 8, Unit: protocol.UnitMeasurements}, 2.0 / 3},
		{protocol.Event{Kind: protocol.EventProgress, Done: 1, Total: 4, Unit: protocol.UnitMeasurements}, 2.25 / 3},
	} {
		r.hear(step.event)
		if _, _, got := r.progress(); math.Abs(got-step.want) > 1e-9 {
			t.Errorf("step %d: %g is done, want %g", i, got, step.want)
		}
	}
}

func TestHistory(t *testing.T) {
	test.NewTempApp(t)
	older, newer := sample(report.KindCopy, day), sample(report.KindCiphers, day.Add(time.Hour))
	records := kept(t, older, newer)
	broken := report.NewID(day.Add(-time.Hour))
	if err := os.WriteFile(filepath.Join(records, broken+".experiment.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, d, _ := newScreen(t, records)
	s.Shown("")
	wait(t, func() bool { return len(s.entries) == 3 })
	if s.entries[0].id() != newer.ID || s.entries[1].id() != older.ID || s.entries[2].damaged != broken || s.empty.Visible() {
		t.Errorf("the history is %v", s.entries)
	}
	s.history.Select(1)
	if s.result == nil || s.result.ID != older.ID {
		t.Fatal("a line of the history does not open its report")
	}
	s.history.Select(2)
	if got := words(s.stage); !strings.Contains(got, "cannot be read") {
		t.Errorf("a damaged report shows %q", got)
	}
	s.history.Select(1)
	s.confirmDelete(older.ID, "it")
	if _, err := report.NewStore(records).LoadExperiment(older.ID); err != nil {
		t.Fatal("deleted before the answer")
	}
	press(t, d.Shell.Window(), "Cancel")
	s.confirmDelete(older.ID, "it")
	press(t, d.Shell.Window(), "Delete")
	wait(t, func() bool { return len(s.entries) == 2 && s.result == nil })
	if _, err := report.NewStore(records).LoadExperiment(older.ID); err == nil {
		t.Error("not deleted")
	}
}

// press taps the button or the line of a menu with a label in the topmost dialog.
func press(t *testing.T, w fyne.Window, label string) {
	t.Helper()
	top := w.Canvas().Overlays().Top()
	if top == nil {
		t.Fatalf("no dialog has a button %q", label)
	}
	pressIn(t, top, label)
}

func pressIn(t *testing.T, in fyne.CanvasObject, label string) {
	t.Helper()
	var found fyne.Tappable
	var walk func(fyne.CanvasObject)
	walk = func(o fyne.CanvasObject) {
		switch o := o.(type) {
		case *fyne.Container:
			for _, inside := range o.Objects {
				walk(inside)
			}
		case fyne.Widget:
			if b, ok := o.(fyne.Tappable); ok && words(o) == label {
				found = b
			}
			for _, inside := range test.WidgetRenderer(o).Objects() {
				walk(inside)
			}
		}
	}
	walk(in)
	if found == nil {
		t.Fatalf("there is nothing to press %q but\n%s", label, words(in))
	}
	test.Tap(found)
}

func TestExport(t *testing.T) {
	e := sample(report.KindCopy, day)
	folder := t.TempDir()
	begins := map[string]string{"csv": "", "html": "<!DOCTYPE html>", "json": "{", "md": "# ", "png": "\x89PNG", "svg": "<svg"}
	for _, format := range report.Formats() {
		if formatName(format) == format {
			t.Errorf("%s has no name for people", format)
		}
		path, err := exportInto(folder, e, format)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(path)
		if err != nil || len(raw) == 0 || !strings.Contains(string(raw[:min(len(raw), 200)]), begins[format]) {
			t.Errorf("%s begins with %q, %v", format, raw[:min(len(raw), 40)], err)
		}
		if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
			t.Fatal(err)
		}
		second, err := exportInto(folder, e, format)
		if mine, _ := os.ReadFile(path); err != nil || second == path || string(mine) != "mine" {
			t.Errorf("%s: a file that was there is overwritten: %s, %v", format, second, err)
		}
	}
	if _, err := exportInto(filepath.Join(folder, "missing"), e, "csv"); err == nil {
		t.Error("written into a folder that is not there")
	}
}

func TestExportInTwoClicks(t *testing.T) {
	test.NewTempApp(t)
	xdgDocuments := xdg.UserDirs.Documents
	xdg.UserDirs.Documents = t.TempDir()
	t.Cleanup(func() { xdg.UserDirs.Documents = xdgDocuments })
	s, d, _ := newScreen(t, kept(t, sample(report.KindCopy, day)))
	s.Shown("")
	wait(t, func() bool { return len(s.entries) == 1 })
	s.history.Select(0)
	pressIn(t, s.stage, "Export…")
	press(t, d.Shell.Window(), formatName("html"))
	wait(t, func() bool {
		files, _ := filepath.Glob(filepath.Join(xdg.UserDirs.Documents, "coffer-copy-*.html"))
		top := d.Shell.Window().Canvas().Overlays().Top()
		return len(files) == 1 && top != nil && strings.Contains(words(top), "coffer-copy-")
	})
	press(t, d.Shell.Window(), "Close")
}

func TestGroups(t *testing.T) {
	count := func(groups []chart.Group) (counts []int) {
		for _, g := range groups {
			counts = append(counts, len(g.Bars))
		}
		return counts
	}
	one := report.Chart{Groups: []string{"AES", "3DES"}, Series: []report.Series{{Name: "here", Values: []float64{2, 1}}, {Name: "GELI", Reference: true, Values: []float64{1, 0}}}}
	if groups := groupsOf(one); !slices.Equal(count(groups), []int{3}) || !groups[0].Bars[1].Published || groups[0].Bars[1].Label != "AES, GELI" || groups[0].Bars[2].Label != "3DES" {
		t.Errorf("one series: %+v", groups)
	}
	many := report.Chart{Groups: []string{"a", "b", "c", "d", "e"}, Series: []report.Series{{Name: "encrypt", Values: []float64{1, 2, 3, 4, 5}}, {Name: "decrypt", Values: []float64{1, 2, 0, 4, 5}}}}
	if groups := groupsOf(many); !slices.Equal(count(groups), []int{5, 4}) || groups[1].Title != "decrypt" {
		t.Errorf("many labels: %+v", groups)
	}
	few := sample(report.KindCopy, day).Bars[0]
	if groups := groupsOf(few); !slices.Equal(count(groups), []int{3, 1}) || groups[0].Title != "[a]" {
		t.Errorf("few labels: %+v", groups)
	}
	groups := groupsOf(report.Chart{Groups: []string{"a", "b", "c"}, Series: []report.Series{{Name: "x", Values: []float64{46, 875, 94000}}}})
	logarithmic(groups)
	bars := groups[0].Bars
	if !(0 < bars[0].Value && bars[0].Value < bars[1].Value && bars[1].Value < bars[2].Value) || bars[2].Value > 4*bars[1].Value {
		t.Errorf("logarithmic: %+v", bars)
	}
}
