package window

import (
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"

	"coffer/app/agent/registry"
	"coffer/app/config"
	"coffer/app/protocol"
	"coffer/app/window/instance"
	"coffer/app/window/model"
	"coffer/app/window/settings"
	"coffer/app/window/ui"
)

// fakeTray is a notification area.
type fakeTray struct{ menus []*fyne.Menu }

func (f *fakeTray) SetSystemTrayMenu(m *fyne.Menu)    { f.menus = append(f.menus, m) }
func (f *fakeTray) SetSystemTrayIcon(fyne.Resource)   {}
func (f *fakeTray) SetSystemTrayWindow(_ fyne.Window) {}

// says is a menu as a person reads it.
func says(menu *fyne.Menu) string {
	var lines []string
	for _, item := range menu.Items {
		switch {
		case item.IsSeparator:
			lines = append(lines, "-")
		case item.Disabled:
			lines = append(lines, "("+item.Label+")")
		default:
			lines = append(lines, item.Label)
		}
	}
	return strings.Join(lines, "|")
}

func one(name string, state model.State, favourite bool) model.Container {
	return model.Container{Known: config.Known{Path: "/" + name + ".img", Favourite: favourite}, ID: "id-" + name, State: state, Listed: true}
}

func TestTrayMenu(t *testing.T) {
	s := newShell(t)
	const end = "-|Lock all|Show Coffer|-|Quit"
	for name, want := range map[string]struct {
		list []model.Container
		says string
	}{
		"nothing known":            {nil, "(Lock all)|Show Coffer|-|Quit"},
		"a favourite":              {[]model.Container{one("a", model.Locked, true), one("b", model.Locked, false)}, "Unlock a…|-|(Lock all)|Show Coffer|-|Quit"},
		"a favourite that is away": {[]model.Container{one("a", model.Missing, true)}, "(Lock all)|Show Coffer|-|Quit"},
		"unlocked, no favourite":   {[]model.Container{one("b", model.Unlocked, false)}, "Lock b|" + end},
		"busy":                     {[]model.Container{one("b", model.Busy, false)}, "(b is just being unlocked or locked)|-|(Lock all)|Show Coffer|-|Quit"},
		"not answering":            {[]model.Container{one("b", model.Unresponsive, false)}, "(b does not answer)|-|(Lock all)|Show Coffer|-|Quit"},
		"a name that turns around": {[]model.Container{one("a\u202eb", model.Unlocked, false)}, "Lock a\ufffdb|" + end},
		"both":                     {[]model.Container{one("a", model.Unlocked, true), one("c", model.Locked, true)}, "Lock a|Unlock c…|" + end},
	} {
		if got := says(s.trayMenu(want.list)); got != want.says {
			t.Errorf("%s: %s, want %s", name, got, want.says)
		}
	}
	var many []model.Container
	for i := range 30 {
		many = append(many, one(string(rune('a'+i)), model.Unlocked, false))
	}
	got := s.trayMenu(many)
	if len(got.Items) > maxTrayEntries+6 || !strings.Contains(says(got), "18 more in the window…") {
		t.Errorf("30 containers: %s", says(got))
	}
	last := got.Items[len(got.Items)-1]
	if !last.IsQuit || last.Action == nil {
		t.Error("the last entry is not Quit: the toolkit would add one of its own")
	}
}

func TestNamesAreNoAccessKeys(t *testing.T) {
	for system, want := range map[string]string{"linux": "my__a & b", "windows": "my_a && b", "darwin": "my_a & b"} {
		if got := menuText("my_a & b", system); got != want {
			t.Errorf("%s: %q, want %q", system, got, want)
		}
	}
}

func TestTrayIsMadeAnewOnlyForADifference(t *testing.T) {
	s, area := newShell(t), &fakeTray{}
	tr := &tray{window: s.window, app: area}
	list := []model.Container{one("a", model.Locked, true)}
	tr.update(list)
	tr.update(list)
	list[0].Status.IdleSeconds = 7
	tr.update(list)
	if len(area.menus) != 1 {
		t.Fatalf("%d menus for one state", len(area.menus))
	}
	list[0].State = model.Unlocked
	tr.update(list)
	if len(area.menus) != 2 {
		t.Fatalf("%d menus for two states", len(area.menus))
	}
}

// entryOf is an entry of the menu for what is unlocked now.
func (s *shell) entryOf(label string) *fyne.MenuItem {
	s.t.Helper()
	s.deps.Model.Look(s.t.Context())
	menu := s.trayMenu(s.deps.Model.Containers())
	for _, item := range menu.Items {
		if item.Label == label {
			return item
		}
	}
	s.t.Fatalf("no entry %s: %s", label, says(menu))
	return nil
}

// opened is an unlocked container of the list.
func (s *shell) opened(name string) (image string) {
	image = s.image(name + ".img")
	s.unlocked(image)
	return image
}

// isOpen says whether it still is.
func (s *shell) isOpen(image string) bool {
	s.coffer.Mu.Lock()
	defer s.coffer.Mu.Unlock()
	return s.coffer.Containers[image].Unlocked
}

func TestTrayLocks(t *testing.T) {
	s := newShell(t)
	a, b := s.opened("a"), s.opened("b")
	s.entryOf("Lock a").Action()
	s.until("a is locked", func() bool { return !s.isOpen(a) })
	// A program in the way: the window says so and asks.
	s.coffer.Containers[b].Users = []protocol.User{{PID: 7, Program: "editor"}}
	s.entryOf("Lock all").Action()
	s.until("the dialog is open", func() bool { return s.window.window.Canvas().Overlays().Top() != nil })
	if !s.isOpen(b) {
		t.Error("locked without asking")
	}
}

func TestClosingWithATray(t *testing.T) {
	s := newShell(t)
	if s.staysInTray() {
		t.Error("stays without a tray")
	}
	s.tray = &tray{window: s.window, app: &fakeTray{}}
	if s.staysInTray() {
		t.Error("stays without the setting")
	}
	s.settings.KeepInTray = true
	s.pages[ui.PageHome].calls = nil
	for range 2 {
		if !s.staysInTray() {
			t.Fatal("does not stay")
		}
	}
	s.front()
	if got := s.pages[ui.PageHome].calls; !reflect.DeepEqual(got, []string{"hidden", "shown ."}) {
		t.Errorf("the screen was told %q: hidden, it has to do nothing", got)
	}
}

// TestNotices: who is told what when containers change.
func TestNotices(t *testing.T) {
	own := map[string]bool{}
	w := &watch{own: func(id string) bool { return own[id] }}
	look := func(list ...model.Container) string {
		var told []string
		for _, n := range w.look(list) {
			told = append(told, n.title+": "+n.words)
		}
		return strings.Join(told, "|")
	}
	want := func(got, wanted string) {
		t.Helper()
		if (wanted == "") != (got == "") || !strings.Contains(got, wanted) {
			t.Errorf("told %q, want %q", got, wanted)
		}
	}
	open, locked := one("a", model.Unlocked, false), one("a", model.Locked, false)
	want(look(locked), "")
	want(look(open), "")
	want(look(open), "")
	want(look(locked), "a is locked: Another program")
	want(look(locked), "")

	due := open
	due.Status.LocksIn = 1.2
	want(look(due), "")
	want(look(locked), "a is locked: It locked by itself")

	want(look(open), "")
	own[open.ID] = true // this window did it
	want(look(locked), "")
	own[open.ID] = false

	// While it is locking, or does not answer, it is not gone.
	want(look(open), "")
	want(look(one("a", model.Busy, false)), "")
	want(look(one("a", model.Unresponsive, false)), "")
	want(look(locked), "a is locked")

	// A drive with a problem is told once; another problem again; one that had it when the window started too.
	bad := open
	bad.Status.Problem = "the disk is full"
	want(look(bad), "Problem with a: The disk is full.")
	want(look(bad), "")
	bad.Status.Problem = "the disk is gone"
	want(look(bad), "The disk is gone.")

	// What is not in the list comes and goes without a word, as drives of experiments do.
	want(look(), "a is locked")
	other := one("lab", model.Unlocked, false)
	other.Listed = false
	want(look(other), "")
	want(look(), "")
}

func TestOwnLocks(t *testing.T) {
	s := newShell(t)
	image := s.opened("a")
	id := s.coffer.Containers[image].ID
	o := &ownLocks{asked: s.deps.Backend.Drives}
	s.coffer.Containers[image].Users = []protocol.User{{PID: 1}}
	if err := o.Lock(t.Context(), id, false); err == nil || o.take(id) {
		t.Errorf("a lock that failed is noted: %v", err)
	}
	if err := o.Lock(t.Context(), id, true); err != nil || !o.take(id) || o.take(id) {
		t.Errorf("a lock is not noted once: %v", err)
	}
}

func TestAtLogin(t *testing.T) {
	login := func(name string, state model.State) model.Container {
		c := one(name, state, true)
		c.UnlockAtLogin = true
		return c
	}
	got := atLogin([]model.Container{login("a", model.Locked), login("gone", model.Missing), login("open", model.Unlocked), one("other", model.Locked, true), login("b", model.Locked)})
	if !reflect.DeepEqual(got, []string{"/a.img", "/b.img"}) {
		t.Errorf("%q", got)
	}
}

// TestLoginAsksOneAfterTheOther: giving up the first brings the second, and after the last the window goes into the tray.
func TestLoginAsksOneAfterTheOther(t *testing.T) {
	s := newShell(t)
	s.tray, s.settings.KeepInTray = &tray{window: s.window, app: &fakeTray{}}, true
	for _, name := range []string{"a", "b"} {
		image := filepath.Join(s.folder, name+".img")
		s.coffer.Add(image, "x")
		if err := s.deps.Model.Update(image, func(k *config.Known) { k.UnlockAtLogin = true }); err != nil {
			t.Fatal(err)
		}
	}
	dialog := func() fyne.CanvasObject { return s.window.window.Canvas().Overlays().Top() }
	escape := func() {
		if focused := s.window.window.Canvas().Focused(); focused != nil {
			focused.TypedKey(&fyne.KeyEvent{Name: fyne.KeyEscape})
			return
		}
		s.window.window.Canvas().OnTypedKey()(&fyne.KeyEvent{Name: fyne.KeyEscape})
	}
	s.unlockAtLogin()
	s.until("the first dialog is open", func() bool { return dialog() != nil })
	first := dialog()
	escape()
	s.until("the second dialog is open", func() bool { return dialog() != nil && dialog() != first })
	if s.away {
		t.Error("in the tray already")
	}
	escape()
	s.until("the window is in the tray", func() bool { return dialog() == nil && s.away })
}

func TestLaterStarts(t *testing.T) {
	s := newShell(t)
	image := filepath.Join(s.folder, "a.img")
	s.coffer.Add(image, "x")
	s.away = true
	s.asked(instance.Request{Hidden: true})
	if !s.away {
		t.Error("a start in the tray brought the window up")
	}
	s.asked(instance.Request{})
	if s.away {
		t.Error("a later start does not bring the window up")
	}
	s.asked(instance.Request{Open: []string{image}})
	s.until("the dialog is open", func() bool { return s.window.window.Canvas().Overlays().Top() != nil })
	if list := s.deps.Model.Containers(); len(list) != 1 || list[0].Path != image {
		t.Errorf("%v", list)
	}
}

// open2 are two unlocked containers.
type open2 struct {
	locked []string
	stuck  string
	asking string // its copy waits for an answer
}

func (o *open2) Jobs(_ context.Context, id string) ([]protocol.Job, error) {
	if id == o.asking {
		return []protocol.Job{{State: protocol.JobAsking}}, nil
	}
	return nil, nil
}

func (o *open2) Drives(context.Context) ([]protocol.Status, error) {
	return []protocol.Status{{Entry: registry.Entry{ID: "old"}}, {Entry: registry.Entry{ID: "new"}}}, nil
}

func (o *open2) Lock(_ context.Context, id string, force bool) error {
	if force || id == o.stuck {
		return errors.New("in use")
	}
	o.locked = append(o.locked, id)
	return nil
}

func TestLockAllWithoutAWindow(t *testing.T) {
	o := &open2{}
	if err := lockAll(t.Context(), o); err != nil || !reflect.DeepEqual(o.locked, []string{"new", "old"}) {
		t.Errorf("%v, %v", o.locked, err)
	}
	o = &open2{stuck: "new"}
	if err := lockAll(t.Context(), o); err == nil || !reflect.DeepEqual(o.locked, []string{"old"}) {
		t.Errorf("one in use keeps the other open: %v, %v", o.locked, err)
	}
	o = &open2{asking: "old"}
	if err := lockAll(t.Context(), o); err == nil || !reflect.DeepEqual(o.locked, []string{"new"}) {
		t.Errorf("one with a question is locked: %v, %v", o.locked, err)
	}
}

func TestBegin(t *testing.T) {
	for line, want := range map[string]struct {
		code protocol.ExitCode
		says string
	}{"--version": {protocol.Done, "coffer-window " + settings.Version()}, "--help": {protocol.Done, "--lock-all"}, "--bogus": {protocol.Usage, "hint"}} {
		var out strings.Builder
		_, code, goesOn := begin([]string{line}, &out, &out)
		if goesOn || code != want.code || !strings.Contains(out.String(), want.says) {
			t.Errorf("%s: %v %v %q", line, code, goesOn, out.String())
		}
	}
	if asked, code, goesOn := begin([]string{"--hidden", "/a"}, nil, nil); !goesOn || code != 0 || !asked.Hidden || len(asked.Open) != 1 {
		t.Errorf("%+v %v %v", asked, code, goesOn)
	}
}

func TestLanguages(t *testing.T) {
	system := func() fyne.Locale { return "es-MX" }
	if got := languages("de", system); !reflect.DeepEqual(got, []string{"de"}) {
		t.Errorf("%q", got)
	}
	if got := languages("", system); len(got) == 0 || !strings.HasPrefix(got[0], "es") {
		t.Errorf("%q", got)
	}
}

// TestSessionStart: waiting for the tray of a new session ends when the person wants the window.
func TestSessionStart(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+filepath.Join(t.TempDir(), "none"))
	requests := make(chan instance.Request, 3)
	requests <- instance.Request{Hidden: true} // a session start of another kind: no reason to show
	requests <- instance.Request{Open: []string{"/a.img"}}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	there, asked := awaitTrayOr(ctx, instance.Request{Hidden: true}, requests)
	if there || asked.Hidden || !reflect.DeepEqual(asked.Open, []string{"/a.img"}) {
		t.Errorf("%v, %+v", there, asked)
	}
}

func TestIcons(t *testing.T) {
	for _, name := range []string{"tray.png", "coffer-256.png", "coffer-512.png"} {
		if icon(name) == nil {
			t.Errorf("%s is not built in", name)
		}
	}
}
