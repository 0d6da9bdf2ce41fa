package transfers

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"coffer/app/client"
	"coffer/app/protocol"
	"coffer/transfer/report"
)

func labels(records []*report.Record) (all []string) {
	for _, r := range records {
		all = append(all, r.Label)
	}
	return all
}

func TestHistorySortsAndFilters(t *testing.T) {
	a, b, c := record("alpha", 3, 10, 300e6), record("Beta", 1, 30, 100e6), record("gamma", 2, 20, 200e6)
	b.Outcome = report.Failed
	c.Source, c.Destination = c.Destination, report.Endpoint{Kind: "host", FileSystem: "btrfs"}
	all := []*report.Record{a, b, c}
	for _, one := range []struct {
		filter string
		order  order
		want   []string
	}{
		{"", order{byDate, true}, []string{"alpha", "gamma", "Beta"}},
		{"", order{byDate, false}, []string{"Beta", "gamma", "alpha"}},
		{"", order{byName, false}, []string{"alpha", "Beta", "gamma"}},
		{"", order{bySeconds, true}, []string{"Beta", "gamma", "alpha"}},
		{"", order{byAverage, true}, []string{"alpha", "gamma", "Beta"}},
		{"", order{byLowest, false}, []string{"Beta", "gamma", "alpha"}},
		{"", order{byHighest, false}, []string{"Beta", "gamma", "alpha"}},
		{"", order{bySize, false}, []string{"alpha", "Beta", "gamma"}},
		{"", order{byOutcome, true}, []string{"Beta", "alpha", "gamma"}},
		{"ALPHA", order{byDate, true}, []string{"alpha"}},
		{"failed", order{byDate, true}, []string{"Beta"}},
		{"luks2 btrfs", order{byDate, true}, []string{"gamma"}},
		{"2026-11-02", order{byDate, true}, []string{"gamma"}},
		{"alpha btrfs", order{byDate, true}, nil},
	} {
		if one.order.by == bySize { // the same times as much work: the sizes are told by Bytes
			a.Bytes, b.Bytes, c.Bytes = 1, 2, 3
		}
		if got := labels(arrange(all, one.filter, one.order)); !slices.Equal(got, one.want) {
			t.Errorf("%q by %d (down %v): got %q, want %q", one.filter, one.order.by, one.order.down, got, one.want)
		}
	}
	if !slices.Equal(labels(all), []string{"alpha", "Beta", "gamma"}) {
		t.Error("the records themselves were sorted")
	}
}

func TestHistoryIsShown(t *testing.T) {
	s := newStand(t)
	h := s.screen.history
	s.screen.Shown("")
	s.screen.turn(1)
	s.Until("the history is read", func() bool { return h.loads == 1 && s.Says("No transfers yet") })
	s.save(record("first", 1, 10, 100e6), record("evil\u202elabel", 2, 10, 200e6))
	damaged := "20261130T132015123Z-1a2b3c"
	if err := os.WriteFile(filepath.Join(s.Deps.Paths.RecordsFolder(), damaged+".json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.screen.Shown("")
	s.Until("the records are there", func() bool { return s.Says("first") })
	s.MustSay("evil\ufffdlabel")
	s.MustSay("1 record is damaged and cannot be shown: " + damaged)
	h.filter.SetText("second")
	s.MustSay("No transfer fits")
	h.filter.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	s.MustSay("first")
	for h.broken.Visible() && len(h.damaged) > 0 {
		h.deleteDamaged()
		s.Tap("Delete")
		s.Until("it is gone", func() bool { return len(h.damaged) == 0 })
	}
	if s.Says(damaged) {
		t.Error("the damaged record is still named")
	}
}

func TestHistoryThatCannotBeRead(t *testing.T) {
	s := newStand(t)
	if err := os.WriteFile(s.Deps.Paths.RecordsFolder(), []byte("a file where a folder should be"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.history()
	s.MustSay("The history cannot be read.")
}

func TestNewRecordsAppear(t *testing.T) {
	s := newStand(t)
	s.save(record("first", 1, 10, 100e6))
	j := s.job(s.photos, protocol.JobRunning, "/a")
	s.look()
	s.history()
	s.save(record("second", 2, 10, 100e6))
	s.set(j, func(j *protocol.Job) { j.State = protocol.JobDone })
	s.look()
	s.Until("the new record is shown", func() bool { return s.Says("second") })
}

func TestDeletingAsksFirst(t *testing.T) {
	s := newStand(t)
	s.save(record("keep", 1, 10, 100e6), record("delete me", 2, 10, 100e6))
	h := s.history()
	h.list.FocusGained()
	h.list.TypedKey(&fyne.KeyEvent{Name: fyne.KeyDelete}) // the first line is the newest
	s.MustSay("delete me")
	s.MustSay("The files that were copied stay.")
	s.Tap("Cancel")
	s.MustSay("delete me")
	h.list.TypedKey(&fyne.KeyEvent{Name: fyne.KeySpace})
	if got := labels(h.chosen()); !slices.Equal(got, []string{"delete me"}) {
		t.Fatalf("Space marks %q", got)
	}
	s.Tap("Delete…")
	s.Tap("Delete")
	s.Until("it is gone", func() bool { return len(h.records) == 1 })
	if records, _, _ := report.NewStore(s.Deps.Paths.RecordsFolder()).List(); !slices.Equal(labels(records), []string{"keep"}) {
		t.Errorf("left on the disk: %q", labels(records))
	}
	if len(h.marked) != 0 {
		t.Error("what is gone is still marked")
	}
}

func TestOneRecord(t *testing.T) {
	s := newStand(t)
	r := record("photos", 3, 60, 240e6)
	r.Failed["busy"], r.Skipped["link"] = 2, 1
	s.save(r, record("", 1, 10, 100e6))
	h := s.history()
	h.list.FocusGained()
	h.list.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
	for _, words := range []string{r.Line(), "Where the time went", "Encryption · 15 %", "AMD Ryzen", "aes-256-xts", "directly into the container", "2 (another program has it open)", "1 (a link, which is not followed)", r.ID} {
		s.MustSay(words)
	}
	s.Key(fyne.KeyEscape)
	if !h.table.Visible() || h.page.Visible() {
		t.Error("Escape leads back")
	}
	h.showRecord(h.shown[1])
	s.MustSay("1,024 files into a container")
	s.screen.turn(1) // the tab once more
	if !h.table.Visible() {
		t.Error("the tab leads back")
	}
}

func TestPhasesShareTheTime(t *testing.T) {
	p := newPhases([]report.Phase{{Name: report.PhaseCrypto, Seconds: 3}, {Name: report.PhaseSync, Seconds: 0}, {Name: "a new one", Seconds: 1}})
	if len(p.list) != 2 || p.share(p.list[0]) != "75 %" || p.share(p.list[1]) != "25 %" {
		t.Errorf("got %+v", p.list)
	}
	r := p.CreateRenderer().(*phasesRenderer)
	r.Layout(fyne.NewSize(400, 60))
	if w := r.parts[0].Size().Width; w != 299 { // less the gap
		t.Errorf("three quarters of 400 are drawn %v wide", w)
	}
	for _, name := range report.PhaseNames() {
		if _, ok := phaseColors[name]; !ok || phaseText(name) == name {
			t.Errorf("phase %q has no colour or no words", name)
		}
	}
}

func TestComparison(t *testing.T) {
	s := newStand(t)
	slow, fast := record("", 1, 40, 100e6), record("again", 2, 40, 300e6)
	slow.Rates.Series, fast.Rates.Series = wave(40, 100e6, 0), wave(40, 300e6, 0)
	s.save(slow, fast)
	h := s.history()
	if !h.compare.Disabled() || !h.export.Disabled() || !h.delete_.Disabled() {
		t.Error("nothing is ticked: nothing to be done")
	}
	h.mark(slow.ID, true)
	if !h.compare.Disabled() || h.export.Disabled() {
		t.Error("one is ticked: it can be exported, not compared")
	}
	h.mark(fast.ID, true)
	s.Tap("Compare")
	for _, words := range []string{"2 transfers compared", "faster", "compared with", "1,024 files into a container", "again"} {
		s.MustSay(words)
	}
	if !s.Says("3.0") { // about three times
		t.Errorf("the ratio is not shown: %q", s.Texts())
	}
	if s.Says(slow.ID) {
		t.Error("an id stands where a name should be")
	}
}

func TestWhatCannotBeCompared(t *testing.T) {
	same := record("same", 1, 10, 100e6)
	again := *same
	again.ID = report.NewID(same.Start.AddDate(0, 0, 1))
	nothing := record("nothing", 3, 10, 100e6)
	nothing.Rates.Average = 0
	for what, records := range map[string][]*report.Record{"rounds of one thing": {same, &again}, "nothing copied": {same, nothing}, "one": {same}, "none": {}} {
		_, err := compared(records)
		var told *client.Error
		if !errors.As(err, &told) || told.Hint == "" || !strings.Contains(told.Sentence, "cannot be compared") {
			t.Errorf("%s: %v", what, err)
		}
	}
	s := newStand(t)
	s.save(same, &again)
	h := s.history()
	h.mark(same.ID, true)
	h.mark(again.ID, true)
	s.Tap("Compare")
	s.MustSay("cannot be compared")
	s.Tap("Close")
	if !h.table.Visible() {
		t.Error("the table is gone")
	}
}

// TestExportInTwoClicks: Export…, Save.
func TestExportInTwoClicks(t *testing.T) {
	s := newStand(t)
	t.Setenv("HOME", s.Folder)
	s.save(record("photos", 1, 40, 100e6))
	h := s.history()
	h.showRecord(h.shown[0])
	s.Tap("Export…")
	s.Until("it can be saved", func() bool { return s.Dialogs() == 1 && s.offered() != "" })
	path := s.offered()
	t.Cleanup(func() { os.Remove(path) })
	s.Tap("Save")
	s.Until("it is saved", func() bool { return s.Says("The report is saved") })
	raw, err := os.ReadFile(path)
	if err != nil || !strings.HasPrefix(string(raw), "<!DOCTYPE html>") || !strings.Contains(string(raw), "photos") {
		t.Errorf("%s: %v, begins with %.40q", path, err, raw)
	}
}

// TestNamesTellAmounts: records know no names of files, so how much was copied tells them apart.
func TestNamesTellAmounts(t *testing.T) {
	host, inside := report.Endpoint{Kind: "host"}, report.Endpoint{Kind: "container"}
	for want, r := range map[string]*report.Record{
		"1 file into a container":      {Files: 1, Source: host, Destination: inside},
		"12 files out of a container":  {Files: 12, Source: inside, Destination: host},
		"2 files between containers":   {Files: 2, Source: inside, Destination: inside},
		"1,204 files on this computer": {Files: 1204, Source: host, Destination: host},
		"the holidays":                 {Files: 3, Label: "the holidays"},
	} {
		if got := name(r); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
