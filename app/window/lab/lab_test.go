package lab

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/test"

	"github.com/adrg/xdg"

	"coffer/app/client"
	"coffer/app/protocol"
	"coffer/app/window/backend/fake"
	"coffer/app/window/chart"
	"coffer/app/window/ui"
	"coffer/app/window/ui/uitest"
	"coffer/transfer/report"
)

// newScreen makes a screen in a window over a fake Coffer, with experiments in its history, oldest first.
func newScreen(t *testing.T, all ...*report.Experiment) (*uitest.Desk, *Screen) {
	t.Helper()
	k := uitest.New(t, ui.ThemeLight)
	for _, e := range all {
		if err := report.NewStore(k.Deps.Paths.RecordsFolder()).SaveExperiment(e); err != nil {
			t.Fatal(err)
		}
	}
	s := New(k.Deps)
	k.Window().SetContent(s.Object())
	return k, s
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

var day = time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC)

func TestFormMakesRequests(t *testing.T) {
	var got []client.LabRequest
	k, _ := newScreen(t)
	d := k.Deps
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
	k, _ := newScreen(t)
	d := k.Deps
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
	k, s := newScreen(t)
	coffer := k.Coffer
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
	k.Until("it has happened", func() bool { return coffer.Called("Lab") == 1 })
	k.Until("it has happened", func() bool {
		s.running.show(s.run, s.run.started.Add(75*time.Second))
		return s.running.bar.Value == 0.25
	})
	if got := strings.Join(k.Texts(), "\n"); !strings.Contains(got, "1 of 4 measurements") || !strings.Contains(got, "1 min 15 s") {
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
	if err := report.NewStore(recordsFolder(k.Deps)).SaveExperiment(made); err != nil { // as the program does
		t.Fatal(err)
	}
	close(done)
	k.Until("it has happened", func() bool { return s.run == nil })
	if coffer.Called("Lab") != 1 {
		t.Error("two runs at once")
	}
	if len(k.Asked) != 1 || !strings.HasPrefix(k.Asked[0], "Notify The experiment is done") {
		t.Errorf("the person, elsewhere, is told %q", k.Asked)
	}
	s.Shown("")
	k.Until("it has happened", func() bool { return len(s.entries) == 1 })
	if s.form.start.Disabled() || s.back.Visible() {
		t.Error("no further run can be started")
	}
}

func TestRunShowsResult(t *testing.T) {
	k, s := newScreen(t)
	coffer := k.Coffer
	coffer.Experiments = []*report.Experiment{sample(report.KindDrive, day)}
	s.Shown("")
	s.form.place.SetText(t.TempDir())
	test.Tap(s.form.start)
	k.Until("it has happened", func() bool { return s.run == nil && s.result == coffer.Experiments[0] && s.parts() == 4 })
	for _, want := range []string{"What it costs", "[1] published: A paper, 2008", "Something else was at work", "[How it was measured]"} {
		k.MustSay(want)
	}
	k.Tap("How it was measured")
	k.MustSay("as usual")
	if len(k.Asked) != 0 {
		t.Errorf("the person is told what is on the screen: %q", k.Asked)
	}
}

func TestCancelRun(t *testing.T) {
	k, s := newScreen(t)
	coffer := k.Coffer
	coffer.Wait["Lab"] = make(chan struct{})
	s.Shown("")
	s.form.place.SetText(t.TempDir())
	test.Tap(s.form.start)
	k.Until("it has happened", func() bool { return coffer.Called("Lab") == 1 })
	test.Tap(s.running.cancel)
	k.Until("it has happened", func() bool { return s.run == nil })
	if s.stage.Objects[0] != s.form.object || !strings.Contains(s.note.Text, "cancelled") || !s.notes.Visible() || s.form.start.Disabled() {
		t.Errorf("after a cancelled run: %q", s.note.Text)
	}
}

func TestRunFails(t *testing.T) {
	k, s := newScreen(t)
	coffer := k.Coffer
	coffer.Fail["Lab"] = fake.Problem(protocol.NoSpace, "lab copy: 3 GB are free", "--at DIR works elsewhere, --quick needs less")
	s.Shown("")
	s.form.place.SetText(t.TempDir())
	test.Tap(s.form.start)
	k.Until("it has happened", func() bool { return s.run == nil })
	if !strings.Contains(s.note.Text, "another disk") || !strings.Contains(s.note.Text, "3 GB are free") || strings.Contains(s.note.Text, "--at") {
		t.Errorf("a full disk is explained as %q", s.note.Text)
	}
	s.Hidden()
	coffer.Fail["Lab"] = fake.Problem(protocol.Failed, "it broke", "")
	s.startRun(client.LabRequest{Experiment: "copy"})
	k.Until("it has happened", func() bool { return s.run == nil })
	if len(k.Asked) != 1 {
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

func TestTable(t *testing.T) {
	heads, rows := tableFields(&sample(report.KindCopy, day).Tables[0])
	if heads != 2 || rows[0][1].text != "output" || rows[0][1].span != 2 || rows[1][1].below != "MB/s" {
		t.Errorf("the heads are %+v", rows[:heads])
	}
	here, theirs := rows[2], rows[3]
	if here[1].text != "101" || !strings.HasSuffix(here[1].below, "×0.50") || !here[1].right || here[1].muted || here[2].text != "100 †" || here[3].text != "good" || here[3].right {
		t.Errorf("what was measured is shown as %+v", here)
	}
	if theirs[0].below != "published [1]" || theirs[1].text != "28.6" || theirs[1].below != "" || !theirs[1].muted || theirs[3].text != "" {
		t.Errorf("what others published is shown as %+v", theirs)
	}
}

func TestGridFitsItsFields(t *testing.T) {
	test.NewTempApp(t)
	heads, rows := tableFields(&sample(report.KindCopy, day).Tables[0])
	g := newGrid(heads, rows)
	g.Resize(g.MinSize())
	r := test.WidgetRenderer(g).(*gridRenderer)
	for _, o := range r.objects {
		right, bottom := o.Position().X+o.Size().Width, o.Position().Y+o.Size().Height
		if o.Position().X < 0 || o.Position().Y < 0 || right > g.Size().Width+0.5 || bottom > g.Size().Height+0.5 {
			t.Errorf("%T at %v, %v is outside of %v", o, o.Position(), o.Size(), g.Size())
		}
	}
	for i, a := range r.texts {
		for _, b := range r.texts[i+1:] {
			apart := a.Position().X+a.Size().Width <= b.Position().X+0.5 || b.Position().X+b.Size().Width <= a.Position().X+0.5 ||
				a.Position().Y+a.Size().Height <= b.Position().Y+0.5 || b.Position().Y+b.Size().Height <= a.Position().Y+0.5
			if a.Text != "" && b.Text != "" && !apart {
				t.Errorf("%q and %q overlap", a.Text, b.Text)
			}
		}
	}
}

// TestGridFitsItsRoom: where the window is narrow a table is set in smaller letters rather than cut off, and grows again with it.
func TestGridFitsItsRoom(t *testing.T) {
	test.NewTempApp(t)
	heads, rows := tableFields(&sample(report.KindCopy, day).Tables[0])
	g := newGrid(heads, rows)
	full := g.MinSize()
	table := newSideways(g, container.NewVScroll(g))
	table.Resize(fyne.NewSize(full.Width-20, 300))
	if g.MinSize().Width > full.Width-20 {
		t.Errorf("with %g of room it is %g wide", full.Width-20, g.MinSize().Width)
	}
	table.Resize(fyne.NewSize(full.Width+20, 300))
	if g.MinSize() != full {
		t.Errorf("with room for all it is %v, not %v", g.MinSize(), full)
	}
}

func TestWheelMovesThePage(t *testing.T) {
	k, _ := newScreen(t)
	heads, rows := tableFields(&sample(report.KindCopy, day).Tables[0])
	tall := container.NewVBox()
	page := container.NewVScroll(tall)
	table := newSideways(newGrid(heads, rows), page)
	tall.Objects = []fyne.CanvasObject{table, container.NewGridWrap(fyne.NewSize(10, 2000))}
	k.Window().SetContent(page)
	k.Size(120, 300)
	table.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.NewDelta(0, -50)})
	if page.Offset.Y != 50 || table.Offset.X != 0 {
		t.Errorf("the wheel over a table moves the page by %g, the table by %g", page.Offset.Y, table.Offset.X)
	}
	table.Scrolled(&fyne.ScrollEvent{Scrolled: fyne.NewDelta(-20, 0)})
	if page.Offset.Y != 50 || table.Offset.X != 20 {
		t.Errorf("moved sideways, the page is at %g, the table at %g", page.Offset.Y, table.Offset.X)
	}
}

func TestHistory(t *testing.T) {
	older, newer := sample(report.KindCopy, day), sample(report.KindCiphers, day.Add(time.Hour))
	k, s := newScreen(t, older, newer)
	records := k.Deps.Paths.RecordsFolder()
	broken := report.NewID(day.Add(-time.Hour))
	if err := os.WriteFile(filepath.Join(records, broken+".experiment.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.Shown("")
	k.Until("the history is there", func() bool { return len(s.entries) == 3 })
	if s.entries[0].id() != newer.ID || s.entries[1].id() != older.ID || s.entries[2].damaged != broken || s.empty.Visible() {
		t.Errorf("the history is %v", s.entries)
	}
	s.history.Select(1)
	if s.result == nil || s.result.ID != older.ID {
		t.Fatal("a line of the history does not open its report")
	}
	s.history.Select(2)
	k.MustSay("cannot be read")
	s.history.Select(1)
	k.Tap("Delete…")
	k.Tap("Cancel")
	if _, err := report.NewStore(records).LoadExperiment(older.ID); err != nil {
		t.Fatal("deleted before the answer, or after a no")
	}
	k.Tap("Delete…")
	k.Tap("Delete")
	k.Until("it is gone", func() bool { return len(s.entries) == 2 && s.result == nil })
	if _, err := report.NewStore(records).LoadExperiment(older.ID); err == nil {
		t.Error("not deleted")
	}
}

func TestEmptyHistory(t *testing.T) {
	k, s := newScreen(t)
	s.Shown("")
	k.MustSay("Experiments you have made are listed here.")
	if s.stage.Objects[0] != s.form.object {
		t.Error("the first thing shown does not ask for an experiment")
	}
}

func TestExportInTwoClicks(t *testing.T) {
	made := sample(report.KindCopy, day)
	k, s := newScreen(t, made)
	documents := xdg.UserDirs.Documents
	xdg.UserDirs.Documents = t.TempDir()
	t.Cleanup(func() { xdg.UserDirs.Documents = documents })
	s.Shown("")
	k.Until("the history is there", func() bool { return len(s.entries) == 1 })
	s.history.Select(0)
	k.Until("the report is shown", func() bool { return s.parts() == 4 })
	k.Tap("Export…")
	file := filepath.Join(xdg.UserDirs.Documents, "coffer-copy-"+made.Started.Local().Format("2006-01-02-1504")+".html")
	k.Until("a place is offered", func() bool {
		return uitest.Find(k, "the path", func(e *ui.KeyEntry) bool { return true }).Text == file
	})
	k.Tap("Save")
	k.Until("it is saved", func() bool { return k.Says("The report is saved") })
	if raw, err := os.ReadFile(file); err != nil || !strings.HasPrefix(string(raw), "<!DOCTYPE html>") {
		t.Errorf("the file begins with %.30q, %v", raw, err)
	}
	k.Tap("Close")
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
