package window

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/storage"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"coffer/app/client"
	"coffer/app/config"
	"coffer/app/window/backend/fake"
	"coffer/app/window/instance"
	"coffer/app/window/model"
	"coffer/app/window/transfers"
	"coffer/app/window/ui"
)

// shell is a window with screens that only note what is asked of them, over a Coffer in memory.
type shell struct {
	*window
	t      *testing.T
	coffer *fake.Coffer
	folder string
	posted chan func()
	pages  []*notedScreen
}

// notedScreen is a screen of a test.
type notedScreen struct {
	object fyne.CanvasObject
	calls  []string
	takes  bool // files that are dropped on it
}

func (s *notedScreen) Object() fyne.CanvasObject { return s.object }
func (s *notedScreen) Shown(image string) {
	s.calls = append(s.calls, strings.TrimSpace("shown "+filepath.Base(image)))
}
func (s *notedScreen) Hidden() { s.calls = append(s.calls, "hidden") }
func (s *notedScreen) Dropped(_ fyne.Position, paths []string) bool {
	s.calls = append(s.calls, "dropped "+names(paths))
	return s.takes
}

func names(paths []string) string {
	var all []string
	for _, p := range paths {
		all = append(all, filepath.Base(p))
	}
	return strings.Join(all, " ")
}

func newShell(t *testing.T) *shell {
	t.Helper()
	app := test.NewTempApp(t)
	ui.UseTheme(app, ui.ThemeLight)
	s := &shell{t: t, coffer: fake.New(), folder: t.TempDir(), posted: make(chan func(), 10000)}
	s.window = s.make(app)
	return s
}

// make makes a window of the folder: another one is the next start.
func (s *shell) make(app fyne.App) *window {
	s.t.Helper()
	m, err := model.New(s.coffer, filepath.Join(s.folder, "containers.json"))
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.t.Cleanup(cancel)
	w := newWindow(ctx, app, &ui.Deps{Model: m, Backend: s.coffer.Backend(), Context: ctx, Post: func(f func()) { s.posted <- f },
		Paths: config.Paths{Config: s.folder, Data: s.folder, State: s.folder}})
	w.screens[w.page].Hidden()
	s.pages = nil
	for i := range w.screens {
		page := &notedScreen{object: widget.NewLabel("")}
		s.pages = append(s.pages, page)
		w.screens[i] = page
	}
	w.turn(ui.PageHome)
	s.pages[0].calls = nil
	return w
}

// until lets what was posted run until something holds.
func (s *shell) until(what string, holds func() bool) {
	s.t.Helper()
	deadline := time.After(20 * time.Second)
	for !holds() {
		select {
		case f := <-s.posted:
			f()
		case <-deadline:
			s.t.Fatalf("waited in vain until %s", what)
		case <-time.After(time.Millisecond):
		}
	}
}

func (s *shell) image(name string) string {
	path := filepath.Join(s.folder, name)
	s.coffer.Add(path, "secret")
	if err := s.deps.Model.Add(path); err != nil {
		s.t.Fatal(err)
	}
	s.deps.Model.Look(context.Background())
	return path
}

func (s *shell) file(name string) string {
	path := filepath.Join(s.folder, name)
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return path
}

func (s *shell) unlocked(path string) string {
	e, err := s.coffer.Unlock(context.Background(), client.UnlockRequest{Image: path, Credential: client.Credential{Password: client.Secret("secret")}}, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	s.deps.Model.Look(context.Background())
	return e.ID
}

func (s *shell) drop(paths ...string) {
	var all []fyne.URI
	for _, p := range paths {
		all = append(all, storage.NewFileURI(p))
	}
	s.dropped(fyne.NewPos(300, 300), all)
}

func (s *shell) press(key fyne.KeyName) {
	s.window.window.Canvas().(fyne.Shortcutable).TypedShortcut(&desktop.CustomShortcut{KeyName: key, Modifier: fyne.KeyModifierShortcutDefault})
}

// overlay is what the dialog on top shows, "" without one.
func (s *shell) overlay() string {
	top := s.window.window.Canvas().Overlays().Top()
	if top == nil {
		return ""
	}
	var all []string
	for _, o := range test.LaidOutObjects(top) {
		switch o := o.(type) {
		case *widget.Label:
			all = append(all, o.Text)
		case *ui.KeyButton:
			all = append(all, "["+o.Text+"]")
		}
	}
	return strings.Join(all, " ")
}

func (s *shell) tap(label string) {
	s.t.Helper()
	for _, o := range test.LaidOutObjects(s.window.window.Canvas().Overlays().Top()) {
		if b, ok := o.(*ui.KeyButton); ok && b.Text == label {
			test.Tap(b)
			return
		}
	}
	s.t.Fatalf("no button %q in %q", label, s.overlay())
}

// TestPages: each page is shown once, the one before is told that it is hidden, and the container chosen goes along.
func TestPages(t *testing.T) {
	s := newShell(t)
	s.Show(ui.PageFiles, "/x/a.img")
	s.Show(ui.PageLab, "")
	s.Show(ui.PageLab, "")
	if got := s.pages[ui.PageHome].calls; !slices.Equal(got, []string{"hidden"}) {
		t.Errorf("home: %q", got)
	}
	if got := s.pages[ui.PageFiles].calls; !slices.Equal(got, []string{"shown a.img", "hidden"}) {
		t.Errorf("files: %q", got)
	}
	if got := s.pages[ui.PageLab].calls; !slices.Equal(got, []string{"shown a.img", "shown a.img"}) {
		t.Errorf("lab: %q", got)
	}
	if s.Chosen() != "/x/a.img" || s.stage.Objects[0] != s.pages[ui.PageLab].object {
		t.Errorf("%q is chosen", s.Chosen())
	}
	s.Show(ui.Page(17), "")
	s.Show(-1, "")
	if s.page != ui.PageLab {
		t.Error("a page that there is not is shown")
	}
}

// TestKeys: pages by keys, in the rail and everywhere; none of them under a dialog.
func TestKeys(t *testing.T) {
	s := newShell(t)
	for i, key := range []fyne.KeyName{fyne.Key2, fyne.Key3, fyne.Key4, fyne.Key5, fyne.Key6, fyne.Key1} {
		if s.press(key); int(s.page) != (i+1)%6 {
			t.Errorf("Ctrl+%s turns to page %d", key, s.page)
		}
	}
	c := s.window.window.Canvas()
	c.FocusNext()
	if c.Focused() != s.rail.items[0] {
		t.Errorf("the first that Tab reaches is %T", c.Focused())
	}
	for _, key := range []fyne.KeyName{fyne.KeyUp, fyne.KeyDown, fyne.KeyDown, fyne.KeyReturn} {
		c.Focused().TypedKey(&fyne.KeyEvent{Name: key})
	}
	if s.page != ui.PageTransfers {
		t.Errorf("down, down, Enter turns to page %d", s.page)
	}
	for i, item := range s.rail.items {
		if item.chosen != (ui.Page(i) == s.page) {
			t.Errorf("line %d shows as chosen: %v", i, item.chosen)
		}
	}
	test.Tap(s.rail.items[4])
	if s.page != ui.PageHealth {
		t.Errorf("a click on the fifth line turns to page %d", s.page)
	}
	ui.Choose(s.window.window, "Question", "", nil)
	if s.press(fyne.Key1); s.page != ui.PageHealth {
		t.Error("a page turns under a dialog")
	}
}

// TestKeysEverywhere: a container is added from every page, and everything is locked whatever dialog is open.
func TestKeysEverywhere(t *testing.T) {
	s := newShell(t)
	a := filepath.Join(s.folder, "a.img")
	s.coffer.Add(a, "secret")
	if _, err := s.coffer.Unlock(t.Context(), client.UnlockRequest{Image: a, Credential: client.Credential{Password: client.Secret("secret")}}, nil); err != nil {
		t.Fatal(err)
	}
	s.press(fyne.Key3)
	s.press(fyne.KeyO)
	s.until("a file can be chosen", func() bool { return strings.Contains(s.overlay(), "Choose a file") })
	s.window.window.Canvas().(fyne.Shortcutable).TypedShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyL, Modifier: fyne.KeyModifierShortcutDefault | fyne.KeyModifierShift})
	s.until("it is locked", func() bool { return s.coffer.Called("Lock") == 1 })
}

// TestDropContainers: containers come into the list, and the password of the first one is asked for; files beside them are files.
func TestDropContainers(t *testing.T) {
	s := newShell(t)
	a := filepath.Join(s.folder, "a.img")
	s.coffer.Add(a, "secret")
	note := s.file("note.txt")
	s.drop(a)
	s.until("it is in the list", func() bool { return s.Chosen() == a })
	if !s.deps.Model.Container(a).Listed || s.page != ui.PageHome {
		t.Error("it is not in the list")
	}
	s.until("its password is asked for", func() bool { return strings.Contains(s.overlay(), "a") && s.overlay() != "" })
	s.pages[ui.PageHome].calls = nil
	s.drop(note)
	if got := s.pages[ui.PageHome].calls; len(got) != 0 {
		t.Errorf("what is dropped on a dialog comes to the page below: %q", got)
	}
	s.window.window.Canvas().Focused().TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
	if s.overlay() != "" {
		t.Errorf("Escape leaves %q", s.overlay())
	}
}

// TestOpenWhatIsNone: a file that the window is started with is in the list only if it is a container, or the person says what it is.
func TestOpenWhatIsNone(t *testing.T) {
	s := newShell(t)
	note := s.file("note.txt")
	s.asked(instance.Request{Open: []string{note}})
	s.until("it is asked about", func() bool { return strings.Contains(s.overlay(), "What is note.txt?") })
	if s.deps.Model.Container(note).Listed {
		t.Error("it is in the list before the person said what it is")
	}
}

// TestDropFiles: files go to what lies under the mouse; where nothing takes them the person is asked.
func TestDropFiles(t *testing.T) {
	s := newShell(t)
	a := s.image("Photos.img")
	note, more := s.file("note.txt"), s.file("more.txt")
	s.pages[ui.PageHome].takes = true
	s.drop(note)
	if got := s.pages[ui.PageHome].calls; !slices.Equal(got, []string{"dropped note.txt"}) {
		t.Errorf("home: %q", got)
	}
	s.pages[ui.PageFiles].takes = true
	s.Show(ui.PageFiles, a)
	s.pages[ui.PageFiles].calls = nil
	s.drop(note, more)
	s.until("the files have them", func() bool { return slices.Contains(s.pages[ui.PageFiles].calls, "dropped note.txt more.txt") })

	id := s.unlocked(a)
	s.Show(ui.PageLab, "")
	s.drop(note, more)
	s.until("it is asked", func() bool { return strings.Contains(s.overlay(), "note.txt and one more") })
	if !strings.Contains(s.overlay(), "[New container for them…]") {
		t.Errorf("asked: %q", s.overlay())
	}
	s.tap("Copy into Photos")
	s.until("it is copied", func() bool { return s.coffer.Called("StartCopy") == 1 })
	jobs, err := s.coffer.Jobs(context.Background(), id)
	if err != nil || len(jobs) != 1 || !slices.Equal(jobs[0].Copy.Sources, []string{note, more}) || jobs[0].Copy.Destination != "/" || !jobs[0].Copy.ToInside {
		t.Errorf("%v, %+v", err, jobs)
	}
	if jobs[0].Copy.Records != s.deps.Paths.RecordsFolder() || jobs[0].Copy.WindowMillis != 1000 {
		t.Errorf("the settings do not hold: %+v", jobs[0].Copy)
	}
	s.until("it is said", func() bool { return strings.Contains(s.bottom.message.Text, "being copied into Photos") })
}

// TestDropMany: a folder full of files is not looked at one by one, and addresses of other places are none of ours.
func TestDropMany(t *testing.T) {
	s := newShell(t)
	var many []string
	for range mostImages + 1 {
		many = append(many, s.file("x.img"))
	}
	s.Show(ui.PageFiles, "")
	s.pages[ui.PageFiles].takes = true
	s.drop(many...)
	if s.coffer.Called("Info") != 0 {
		t.Error("many files are looked at whether they are containers")
	}
	address, err := storage.ParseURI("https://example.org/a.img")
	if err != nil {
		t.Fatal(err)
	}
	if got := pathsOf([]fyne.URI{address, nil, storage.NewFileURI("/a/../b.img")}); !slices.Equal(got, []string{filepath.FromSlash("/b.img")}) {
		t.Errorf("paths %q", got)
	}
}

// TestCopyInSettings: what the person has set for copies holds for those by drop.
func TestCopyInSettings(t *testing.T) {
	s := newShell(t)
	a := s.image("a.img")
	id := s.unlocked(a)
	settings := config.Defaults()
	settings.Verify, settings.Records, settings.Window = true, filepath.Join(s.folder, "elsewhere"), config.Duration(500*time.Millisecond)
	if err := config.Save(s.deps.Paths.SettingsFile(), settings); err != nil {
		t.Fatal(err)
	}
	s.CopyIn(a, []string{"/x"}, "/in")
	s.until("it is copied", func() bool { return s.coffer.Called("StartCopy") == 1 })
	jobs, _ := s.coffer.Jobs(context.Background(), id)
	if c := jobs[0].Copy; !c.Verify || c.Records != settings.Records || c.WindowMillis != 500 || c.Destination != "/in" {
		t.Errorf("%+v", c)
	}
}

func TestBottom(t *testing.T) {
	for _, c := range []struct {
		s    transfers.Summary
		want string
	}{
		{transfers.Summary{}, ""},
		{transfers.Summary{Running: 1, Rate: 12e6}, "1 copy running   12.0 MB/s"},
		{transfers.Summary{Running: 2, Waiting: 3, Rate: 250e6}, "2 copies running, 3 waiting   250 MB/s"},
		{transfers.Summary{Asking: 1, Running: 4}, "A copy has a question"},
		{transfers.Summary{Paused: 2}, "2 copies paused"},
		{transfers.Summary{Waiting: 1}, "1 copy waiting"},
	} {
		if got := jobWords(c.s); got != c.want {
			t.Errorf("%+v reads %q", c.s, got)
		}
	}
	s := newShell(t)
	s.bottom.update(transfers.Summary{Running: 1, Done: 3, Total: 4})
	if !s.bottom.jobs.Visible() || !s.bottom.bar.Visible() || s.bottom.bar.Value != 0.75 {
		t.Error("a copy that runs does not show")
	}
	test.Tap(s.bottom.jobs)
	if s.page != ui.PageTransfers {
		t.Errorf("the line turns to page %d", s.page)
	}
	s.bottom.update(transfers.Summary{Asking: 1})
	if s.bottom.jobs.Importance != widget.WarningImportance || s.bottom.bar.Visible() {
		t.Error("a question looks like a copy that runs")
	}
	s.bottom.update(transfers.Summary{})
	if s.bottom.jobs.Visible() || s.bottom.bar.Visible() {
		t.Error("no copy shows")
	}
	s.Notify("Photos is locked", "By itself.")
	if got := s.bottom.message.Text; got != "Photos is locked: By itself." {
		t.Errorf("the line says %q", got)
	}
	s.bottom.update(transfers.Summary{Running: 1})
	if got := s.bottom.message.Text; got != "" {
		t.Errorf("beside a copy that began since, the line says %q", got)
	}
	s.bottom.say("a.txt: being copied", 1)
	s.bottom.update(transfers.Summary{Running: 2})
	if got := s.bottom.message.Text; got != "a.txt: being copied" {
		t.Errorf("beside the copy it tells of, the line says %q", got)
	}
}

// TestClose: drives stay, which is said once; the size is there at the next start.
func TestClose(t *testing.T) {
	s := newShell(t)
	s.unlocked(s.image("a.img"))
	s.window.window.Resize(fyne.NewSize(1100, 720))
	said := fyne.NewNotification("Your drives stay open", "Coffer closes, drives and copies go on. To close a drive too, lock it first.")
	test.AssertNotificationSent(t, said, s.close)
	next := s.make(s.app)
	if got := next.window.Canvas().Size(); got != fyne.NewSize(1100, 720) {
		t.Errorf("the next start has the size %v", got)
	}
	next.deps.Model.Look(context.Background())
	test.AssertNotificationSent(t, nil, next.close)

	next.stays = func() bool { return true }
	if err := os.Remove(memoryFile(next.deps.Paths)); err != nil {
		t.Fatal(err)
	}
	next.close()
	if _, err := os.Stat(memoryFile(next.deps.Paths)); err == nil {
		t.Error("a window that only hides has quit")
	}
}

// TestMemory: nonsense in the file is as no file.
func TestMemory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "window.json")
	for _, raw := range []string{"", "{", `{"width":1,"height":1}`, `{"width":1e9,"height":700}`, `{"width":"x"}`, "[]"} {
		if raw != "" {
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(raw), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := remember(file); got.Width != startWidth || got.Height != startHeight {
			t.Errorf("%q is read as %+v", raw, got)
		}
	}
	want := memory{Width: 1000, Height: 650, Told: true}
	if want.keep(file); remember(file) != want {
		t.Errorf("%+v is read back as %+v", want, remember(file))
	}
	memory{}.keep("") // nowhere: no failure
}

// TestLeastSize: everything has its place at 1024x700.
func TestLeastSize(t *testing.T) {
	app := test.NewTempApp(t)
	ui.UseTheme(app, ui.ThemeLight)
	m, err := model.New(fake.New(), "")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	w := newWindow(ctx, app, &ui.Deps{Model: m, Backend: fake.New().Backend(), Context: ctx, Post: func(func()) {}})
	for page := range w.screens {
		w.Show(ui.Page(page), "")
		if got := w.window.Canvas().Content().MinSize(); got.Width > 1024 || got.Height > 700 {
			t.Errorf("with page %d the window wants %v", page, got)
		}
	}
}
