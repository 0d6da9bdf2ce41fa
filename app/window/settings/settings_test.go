package settings

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"coffer/app/client"
	"coffer/app/config"
	"coffer/app/window/text"
	"coffer/app/window/ui"
	"coffer/app/window/ui/uitest"
)

// hosted is a window of a test that takes settings.
type hosted struct {
	*uitest.Desk
	applied  []config.Settings
	restarts int
	tray     bool
}

func (h *hosted) Apply(s config.Settings) { h.applied = append(h.applied, s) }
func (h *hosted) Restart()                { h.restarts++ }
func (h *hosted) HasTray() bool           { return h.tray }

// listed is an autostart list in memory.
type listed struct {
	mu   sync.Mutex
	path string
	err  error
}

func (l *listed) enabled() (bool, error)   { path, _ := l.is(); return path != "", nil }
func (l *listed) enable(path string) error { return l.set(path) }
func (l *listed) disable() error           { return l.set("") }

func (l *listed) set(path string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.path = path
	return l.err
}

func (l *listed) is() (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.path, l.err
}

// at makes the screen, shown at one of its parts.
func at(t *testing.T, part string, before ...func(*hosted)) (*Screen, *hosted) {
	t.Helper()
	look := ui.ThemeLight
	if os.Getenv("COFFER_PICTURES_THEME") == ui.ThemeDark {
		look = ui.ThemeDark
	}
	h := &hosted{Desk: uitest.New(t, look), tray: true}
	h.Deps.Shell = h
	for _, b := range before {
		b(h)
	}
	s := New(h.Deps)
	s.start.list = &listed{}
	h.Window().SetContent(s.Object())
	s.Shown("")
	h.Until("the settings are read", func() bool { return len(h.applied) > 0 })
	if part != "" {
		h.Tap(part)
	}
	return s, h
}

// saved is the settings file now.
func saved(t *testing.T, h *hosted) config.Settings {
	t.Helper()
	now, err := config.Load(h.Deps.Paths.SettingsFile())
	if err != nil {
		t.Fatal(err)
	}
	return now
}

// until waits for the file to be as wanted.
func until(t *testing.T, h *hosted, what string, holds func(config.Settings) bool) {
	t.Helper()
	h.Until(what, func() bool { return holds(saved(t, h)) && holds(h.applied[len(h.applied)-1]) })
}

// entry is the field that shows some text.
func entry(h *hosted, shown string) *spanEntry {
	return uitest.Find(h.Desk, "field "+shown, func(e *spanEntry) bool { return e.Text == shown })
}

func folderEntry(h *hosted, empty string) *ui.KeyEntry {
	return uitest.Find(h.Desk, "field "+empty, func(e *ui.KeyEntry) bool { return e.PlaceHolder == empty })
}

func choice(h *hosted, option string) *ui.KeySelect {
	return uitest.Find(h.Desk, "choice with "+option, func(s *ui.KeySelect) bool { return strings.Contains(strings.Join(s.Options, "\n"), option) })
}

func TestPictures(t *testing.T) {
	for i, part := range []string{"General", "Locking", "Drives and copies", "At login", "About"} {
		_, h := at(t, "", func(h *hosted) {
			for _, name := range []string{"Photos", "Tax 2026"} {
				image := filepath.Join(h.Folder, name+".img")
				h.Coffer.Add(image, "x")
				if err := h.Deps.Model.Update(image, func(k *config.Known) { k.Favourite = true }); err != nil {
					t.Fatal(err)
				}
			}
		})
		h.Tap(part)
		if part == "About" {
			h.Until("the versions are there", func() bool { return h.Says("vaes") })
		}
		h.Picture(fmt.Sprintf("settings-%d", i))
	}
}

func TestChoicesAreSavedAtOnce(t *testing.T) {
	_, h := at(t, "General")
	choice(h, "Dark").SetSelected("Dark")
	until(t, h, "the theme is saved", func(c config.Settings) bool { return c.Theme == config.ThemeDark })
	choice(h, "Dark").SetSelected("As the system")
	until(t, h, "the theme is saved", func(c config.Settings) bool { return c.Theme == "" })
	h.Tap("Locking")
	entry(h, "Never").SetText("10 min")
	until(t, h, "the time is saved", func(c config.Settings) bool { return c.Idle == config.Duration(10*time.Minute) })
	entry(h, "Never").SetText("1 h 30 min")
	until(t, h, "the time is saved", func(c config.Settings) bool { return c.Lifetime == config.Duration(90*time.Minute) })
	entry(h, "1 s").SetText("2 s")
	until(t, h, "the cost is saved", func(c config.Settings) bool { return c.KDFTime == config.Duration(2*time.Second) })
	for i, box := range uitest.FindAll(h.Desk, func(*ui.KeyCheck) bool { return true }) {
		test.Tap(box)
		until(t, h, "the switch is saved", func(c config.Settings) bool {
			return []bool{c.LockOn == "none", c.LockOn == "screen", c.LockForce}[i]
		})
	}
	h.Tap("Drives and copies")
	boxes := uitest.FindAll(h.Desk, func(*ui.KeyCheck) bool { return true })
	test.Tap(boxes[0])
	test.Tap(boxes[1])
	until(t, h, "both are saved", func(c config.Settings) bool {
		return c.Verify && c.Litter != config.Defaults().Litter
	})
	folderEntry(h, "Chosen by Coffer").SetText(h.Folder)
	until(t, h, "the folder is saved", func(c config.Settings) bool { return c.Drives == h.Folder })
	if now := saved(t, h); now.Idle != config.Duration(10*time.Minute) || now.LockOn != "screen" || !now.LockForce {
		t.Errorf("later choices undid earlier ones: %+v", now)
	}
}

func TestWrongValuesAreToldAndNotSaved(t *testing.T) {
	_, h := at(t, "Locking")
	e := entry(h, "1 s")
	for typed, says := range map[string]string{"1 min": "from 100 ms to 10 s", "50 ms": "from 100 ms to 10 s", "soon": "Write a time like", "": "Write a time like", "7": "Write a time like", "0": "from 100 ms"} {
		e.SetText(typed)
		if !h.Says(says) {
			t.Errorf("%q: %q is not said: %q", typed, says, h.Texts())
		}
	}
	e.SetText("3 s")
	until(t, h, "the good value is saved", func(c config.Settings) bool { return c.KDFTime == config.Duration(3*time.Second) })
	if h.Says("Write a time") || h.Says("from 100 ms") {
		t.Errorf("the reason stays: %q", h.Texts())
	}
	entry(h, "Never").SetText("500 ms")
	h.MustSay("at least 1 s")
	h.Tap("Drives and copies")
	entry(h, "1 s").SetText("15 ms")
	h.MustSay("from 50 ms to 1 h, in steps of 10 ms")
	drives := folderEntry(h, "Chosen by Coffer")
	for typed, says := range map[string]string{"here": "the whole path", h.Folder + "/missing": "no such folder", h.Deps.Paths.SettingsFile(): "a file, not a folder"} {
		drives.SetText(typed)
		h.Until(says, func() bool { return h.Says(says) })
	}
	if now := saved(t, h); now.Idle != 0 || now.Window != config.Duration(time.Second) || now.Drives != "" {
		t.Errorf("saved all the same: %+v", now)
	}
	drives.SetText("")
	h.Until("the reason goes", func() bool { return !h.Says("a file, not a folder") })
}

// TestTypingKeepsTheLast: the checks of a path that is being typed may end in any order.
func TestTypingKeepsTheLast(t *testing.T) {
	_, h := at(t, "Drives and copies")
	e := folderEntry(h, "Chosen by Coffer")
	for i := range h.Folder {
		e.SetText(h.Folder[:i+1])
	}
	until(t, h, "the whole path is saved", func(c config.Settings) bool { return c.Drives == h.Folder })
	if h.Says("no such folder") {
		t.Error("an earlier failure is shown")
	}
}

func TestOtherProgramsChangesStay(t *testing.T) {
	s, h := at(t, "Locking")
	now := config.Defaults()
	now.Idle, now.LogLevel = config.Duration(time.Hour), "debug"
	if err := config.Save(h.Deps.Paths.SettingsFile(), now); err != nil {
		t.Fatal(err)
	}
	entry(h, "1 s").SetText("2 s")
	until(t, h, "it is saved", func(c config.Settings) bool { return c.KDFTime == config.Duration(2*time.Second) })
	if now := saved(t, h); now.Idle != config.Duration(time.Hour) || now.LogLevel != "debug" {
		t.Errorf("what another program chose is gone: %+v", now)
	}
	s.Hidden()
	s.Shown("")
	h.Until("it is shown", func() bool {
		return len(uitest.FindAll(h.Desk, func(e *spanEntry) bool { return e.Text == "1 h" })) == 1
	})
}

func TestDamagedFile(t *testing.T) {
	s, h := at(t, "Locking", func(h *hosted) {
		if err := os.WriteFile(h.Deps.Paths.SettingsFile(), []byte(`{"idel": "1h"}`), 0o600); err != nil {
			t.Fatal(err)
		}
	})
	h.MustSay("cannot be read")
	h.MustSay("idel")
	entry(h, "1 s").SetText("2 s")
	h.Until("the change is refused", func() bool { return strings.Count(strings.Join(h.Texts(), "\n"), "idel") == 2 })
	h.Tap("Start over with the defaults")
	h.Until("the file is good", func() bool { return !s.damaged.Visible() })
	if saved(t, h) != config.Defaults() {
		t.Error("not the defaults")
	}
	if raw, err := os.ReadFile(h.Deps.Paths.SettingsFile() + ".damaged"); err != nil || !strings.Contains(string(raw), "idel") {
		t.Errorf("the old file is gone: %v", err)
	}
}

func TestNowhereToSave(t *testing.T) {
	_, h := at(t, "Locking", func(h *hosted) { h.Deps.Paths = config.Paths{} })
	entry(h, "1 s").SetText("2 s")
	h.Until("it is told", func() bool { return h.Says("no home folder") })
}

func TestLanguage(t *testing.T) {
	defer text.Use("en")
	_, h := at(t, "General")
	languages := choice(h, "English")
	if len(languages.Options) != len(text.Languages())+1 || languages.Selected != "As the system" {
		t.Fatalf("%q, %s", languages.Options, languages.Selected)
	}
	if h.Says("Start the window anew") {
		t.Error("a new start is offered before there is a reason")
	}
	languages.SetSelected("Deutsch")
	until(t, h, "it is saved", func(c config.Settings) bool { return c.Language == "de" })
	h.MustSay("with the next start of the window")
	h.Tap("Start the window anew")
	if h.restarts != 1 {
		t.Errorf("%d starts", h.restarts)
	}
	languages.SetSelected("As the system")
	until(t, h, "it is saved", func(c config.Settings) bool { return c.Language == "" })
	if h.Says("Start the window anew") {
		t.Error("a new start is offered for nothing")
	}
	// What was chosen holds.
	text.Use("de")
	if got := text.T("Settings"); got != "Einstellungen" && got != "Settings" {
		t.Errorf("in German: %q", got)
	}
}

func TestTrayIsNotPromisedWithoutOne(t *testing.T) {
	_, h := at(t, "General", func(h *hosted) { h.tray = false })
	h.MustSay("shows no tray")
	_, h = at(t, "General")
	h.MustSay("hides it in the tray")
}

func TestStartWithTheSession(t *testing.T) {
	s, h := at(t, "General")
	list := s.start.list.(*listed)
	box := s.start.box
	test.Tap(box)
	h.Until("it is on", func() bool { path, _ := list.is(); return path == ownProgram() && box.Checked })
	test.Tap(box)
	h.Until("it is off", func() bool { path, _ := list.is(); return path == "" && !box.Checked })
	list.mu.Lock()
	list.err = fmt.Errorf("the folder is read-only")
	list.mu.Unlock()
	test.Tap(box)
	h.Until("the failure is told", func() bool { return h.Says("The folder is read-only.") })
}

func TestPortableModeIsTold(t *testing.T) {
	_, h := at(t, "General")
	h.MustSay("make a folder with the name coffer-data")
	s, h := at(t, "General", func(h *hosted) { h.Deps.Paths.Portable = true })
	h.MustSay("Portable mode is on")
	if !s.start.box.Disabled() {
		t.Error("a program on a stick can be started with the session")
	}
}

func TestLoginList(t *testing.T) {
	_, h := at(t, "At login")
	h.MustSay("There are no favourites yet")
	image := ""
	s, h := at(t, "", func(h *hosted) {
		image = filepath.Join(h.Folder, "tax.img")
		h.Coffer.Add(image, "x")
		h.Coffer.Add(filepath.Join(h.Folder, "music.img"), "x")
		for path, favourite := range map[string]bool{image: true, filepath.Join(h.Folder, "music.img"): false} {
			if err := h.Deps.Model.Update(path, func(k *config.Known) { k.Favourite = favourite }); err != nil {
				t.Fatal(err)
			}
		}
	})
	h.Tap("At login")
	h.MustSay("tax")
	if h.Says("music") {
		t.Error("what is no favourite is offered")
	}
	boxes := uitest.FindAll(h.Desk, func(b *ui.KeyCheck) bool { return b.Text == "Unlock at login" })
	if len(boxes) != 1 {
		t.Fatalf("%d switches", len(boxes))
	}
	known := func() config.Known {
		list, err := config.LoadKnown(filepath.Join(h.Folder, "containers.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range list {
			if k.Path == image {
				return k
			}
		}
		return config.Known{}
	}
	test.Tap(boxes[0])
	h.Until("it is saved", func() bool { return known().UnlockAtLogin })
	point := folderEntry(h, "Folder: chosen by Coffer")
	point.SetText("not/absolute")
	h.Until("it is refused", func() bool { return h.Says("the whole path") })
	point.SetText(filepath.Join(h.Folder, "drive")) // is made when the drive comes
	h.Until("it is saved", func() bool { return known().MountPoint == filepath.Join(h.Folder, "drive") && known().UnlockAtLogin })
	// Unstarred, it stays in the list as long as it is unlocked at login.
	if err := h.Deps.Model.Update(image, func(k *config.Known) { k.Favourite = false }); err != nil {
		t.Fatal(err)
	}
	s.login.look()
	h.MustSay("tax")
}

func TestAbout(t *testing.T) {
	defer func(before string) { version = before }(version)
	version = "v1"
	_, h := at(t, "About")
	h.MustSay("This program never talks to the network.")
	h.Until("the versions are there", func() bool { return h.Says("vaes") })
	if h.Says("different versions") {
		t.Error("equal versions are called different")
	}
	if got := h.Coffer.Called("Version"); got != 1 {
		t.Errorf("asked %d times for the version", got)
	}
	version = "v2"
	_, h = at(t, "About")
	h.Until("the difference is told", func() bool { return h.Says("different versions") })
	_, h = at(t, "", func(h *hosted) { h.Coffer.Fail["Version"] = fmt.Errorf("coffer is gone") })
	h.Tap("About")
	h.Until("the failure is told", func() bool { return h.Says("Coffer is gone.") })
}

func TestSelfTest(t *testing.T) {
	_, h := at(t, "About")
	h.Coffer.Tests = []client.Test{{Name: "AES"}, {Name: "FAT"}}
	h.Tap("Test this program")
	h.Until("it ends", func() bool { return h.Says("All 2 parts are sound.") })
	h.Coffer.Tests[1].Error = "wrong byte"
	h.Tap("Test this program")
	h.Until("it ends", func() bool { return h.Says("Do not trust") })
	h.MustSay("FAT: Wrong byte.")
	h.Coffer.Wait = map[string]chan struct{}{"SelfTest": make(chan struct{})}
	h.Tap("Test this program")
	h.Until("it runs", func() bool { return h.Says("[Cancel]") })
	h.Tap("Cancel")
	h.Until("it ends", func() bool { return h.Says("[Test this program]") })
	if h.Says("sound") || h.Says("trust") {
		t.Errorf("a cancelled test has a result: %q", h.Texts())
	}
}

// TestKeysOfTheWindow: they work while a field has the focus, too.
func TestKeysOfTheWindow(t *testing.T) {
	_, h := at(t, "Locking")
	key, pressed := &desktop.CustomShortcut{KeyName: fyne.KeyL, Modifier: fyne.KeyModifierControl | fyne.KeyModifierShift}, 0
	h.Window().Canvas().AddShortcut(key, func(fyne.Shortcut) { pressed++ })
	entry(h, "1 s").TypedShortcut(key)
	h.Tap("Drives and copies")
	folderEntry(h, "Chosen by Coffer").TypedShortcut(key)
	if pressed != 2 {
		t.Errorf("the window heard %d of 2", pressed)
	}
}

func TestSpans(t *testing.T) {
	for typed, want := range map[string]time.Duration{"10 min": 10 * time.Minute, "1h30m": 90 * time.Minute, " 1 H 30 Min ": 90 * time.Minute, "90 s": 90 * time.Second,
		"1.5 h": 90 * time.Minute, "1,5 h": 90 * time.Minute, "2 days": 48 * time.Hour, "250ms": 250 * time.Millisecond, "0": 0, "Never": 0, "nie": 0, "1 d 1 s": 24*time.Hour + time.Second} {
		if got, err := parseSpan(typed, "Nie"); err != nil || got != want {
			t.Errorf("%q: %v, %v", typed, got, err)
		}
		if again, err := parseSpan(spanText(want, "Nie"), "Nie"); err != nil || again != want {
			t.Errorf("%v is shown as %q, which reads as %v, %v", want, spanText(want, "Nie"), again, err)
		}
	}
	for _, typed := range []string{"", " ", "5", "min", "5 x", "-5 min", "5 min x", "1e9 h", "99999999 d", "..5 s", "1.2.3 s", "5 min 3"} {
		if got, err := parseSpan(typed, "Nie"); err == nil {
			t.Errorf("%q was read as %v", typed, got)
		}
	}
}

func TestTabScrolls(t *testing.T) {
	s, h := at(t, "Drives and copies")
	h.Size(800, 420)
	h.TabThrough(s.stage)
}
