package home

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"

	"coffer/app/client"
	"coffer/app/config"
	"coffer/app/protocol"
	"coffer/app/window/backend/fake"
	"coffer/app/window/model"
	"coffer/app/window/ui"
	"coffer/app/window/ui/uitest"
)

// desk is the screen in a window over a Coffer in memory.
type desk struct {
	*uitest.Desk
	screen *Screen
	urls   []string
}

func open(t *testing.T, theme string) *desk {
	t.Helper()
	k := &desk{Desk: uitest.New(t, theme)}
	k.screen = New(k.Deps)
	k.screen.openURL = func(u *url.URL) error { k.Deps.Do(func() { k.urls = append(k.urls, u.String()) }); return nil }
	k.Window().SetContent(k.screen.Object())
	k.Size(1024, 700)
	t.Cleanup(func() { // before the folder goes
		k.screen.forget()
		k.screen.looks.Wait()
	})
	return k
}

// add makes a container with a password of "secret" and puts it into the list.
func (k *desk) add(t *testing.T, name string) (string, *fake.Container) {
	t.Helper()
	path := filepath.Join(k.Folder, name)
	c := k.Coffer.Add(path, "secret")
	if err := k.Deps.Model.Add(path); err != nil {
		t.Fatal(err)
	}
	return path, c
}

// unlock unlocks one at the agents.
func (k *desk) unlock(t *testing.T, path string, change func(*fake.Container)) {
	t.Helper()
	if _, err := k.Coffer.Unlock(context.Background(), client.UnlockRequest{Image: path, Credential: client.Credential{Password: client.Secret("secret")}}, nil); err != nil {
		t.Fatal(err)
	}
	k.Coffer.Mu.Lock()
	defer k.Coffer.Mu.Unlock()
	if change != nil {
		change(k.Coffer.Containers[path])
	}
}

func (k *desk) look() { k.Deps.Model.Look(context.Background()) }

func TestWelcome(t *testing.T) {
	k := open(t, ui.ThemeLight)
	k.screen.Shown("")
	k.Picture("home-welcome-light")
	k.Tap("Create a container")
	if !k.AskedFor("NewContainer ") {
		t.Errorf("asked for %q", k.Asked)
	}
	k.Button("Open one")
	k.add(t, "a.img")
	k.Until("the list is there", func() bool { return k.Says("Lock by itself") })
	if k.Says("Create a container") {
		t.Error("somebody with a container is still welcomed")
	}
}

// held is the status of an unlocked container in some words.
func held(change func(*protocol.Status)) model.Container {
	c := model.Container{Known: config.Known{Path: "/home/x/a.img"}, ID: "1", State: model.Unlocked}
	c.Status.MountPoint, c.Status.TotalBytes, c.Status.FreeBytes = "/drives/a", 1000, 250
	if change != nil {
		change(&c.Status)
	}
	return c
}

// TestStates: what each state says, and what its one button does.
func TestStates(t *testing.T) {
	state := func(s model.State) model.Container {
		return model.Container{Known: config.Known{Path: "/home/x/a.img"}, State: s}
	}
	for _, c := range []struct {
		container   model.Container
		words, more string
		does        action
		label       string
	}{
		{state(model.Locked), "Locked", "", unlockIt, "Unlock"},
		{state(model.Missing), "Not there", "moved", findIt, "Find the file…"},
		{state(model.Busy), "One moment…", "", none, "One moment…"},
		{state(model.Unresponsive), "Does not answer", "slow disk", lockIt, "Lock"},
		{held(nil), "Unlocked at /drives/a", "", lockIt, "Lock"},
		{held(func(s *protocol.Status) { s.MountPoint = "" }), "Unlocked, without a drive", "", lockIt, "Lock"},
		{held(func(s *protocol.Status) { s.OpenFiles = 1 }), "In use at /drives/a", "1 file is open.", lockIt, "Lock"},
		{held(func(s *protocol.Status) { s.OpenFiles, s.Jobs, s.ReadOnly = 2, 3, true }), "In use at /drives/a", "2 files are open, 3 tasks are running, read only.", lockIt, "Lock"},
		{held(func(s *protocol.Status) { s.Jobs, s.MountPoint = 1, "" }), "In use", "1 task is running.", lockIt, "Lock"},
		{held(func(s *protocol.Status) { s.MountPoint = "/drives/\u202egpj" }), "Unlocked at /drives/\ufffdgpj", "", lockIt, "Lock"},
	} {
		l := lookOf(c.container)
		if l.words != c.words || !strings.Contains(l.more, c.more) || l.icon == nil || l.color == "" {
			t.Errorf("%v says %q, %q; want %q, %q", c.container.State, l.words, l.more, c.words, c.more)
		}
		if does, label := primary(c.container); does != c.does || label != c.label {
			t.Errorf("%q has the button %q (%v), not %q (%v)", l.words, label, does, c.label, c.does)
		}
	}
}

func TestWords(t *testing.T) {
	if share, words, ok := fill(held(nil)); !ok || share != 0.75 || words != "750 B of 1.0 kB used, 250 B free" {
		t.Errorf("%v %q %v", share, words, ok)
	}
	for name, c := range map[string]model.Container{"locked": {State: model.Locked}, "nothing known": held(func(s *protocol.Status) { s.TotalBytes = 0 }),
		"nonsense": held(func(s *protocol.Status) { s.FreeBytes = 2000 })} {
		if _, words, ok := fill(c); ok {
			t.Errorf("%s is full: %q", name, words)
		}
	}
	for seconds, want := range map[float64]string{0: "", 59: "in 59 s", 119: "in 1 min 59 s", 599: "about 10 minutes", 3600: "about 1 hour ", 5400: "1 hour and 30 minutes"} {
		got := locksIn(held(func(s *protocol.Status) { s.LocksIn = seconds }))
		if !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%v s: %q", seconds, got)
		}
	}
	for format, want := range map[string]string{"luks2": "LUKS2", "raw": "Not encrypted", "geli": "Geli", "": ""} {
		if got := formatName(format); got != want {
			t.Errorf("%q is called %q", format, got)
		}
	}
	for folder, want := range map[string]string{"/drives/a b": "file:///drives/a%20b", "X:": "file:///X:/", "/x/%41?#": "file:///x/%2541%3F%23"} {
		if got := address(folder).String(); got != want {
			t.Errorf("%s is opened as %s, not %s", folder, got, want)
		}
	}
}

// TestButtons: what can be done in each state, in the window.
func TestButtons(t *testing.T) {
	k := open(t, ui.ThemeLight)
	path, _ := k.add(t, "a.img")
	k.look()
	k.screen.Shown("")
	if k.screen.chosen != path {
		t.Fatalf("of one container %q is chosen", k.screen.chosen)
	}
	d := k.screen.detail
	if !d.open.Disabled() || d.browse.Disabled() || !k.screen.lockAll.Disabled() || d.activity.Visible() {
		t.Error("locked: there is a drive to open, or something to lock")
	}
	k.Tap("Unlock")
	if !k.AskedFor("Unlock " + path) {
		t.Errorf("asked for %q", k.Asked)
	}
	k.unlock(t, path, nil)
	k.look()
	k.Until("it shows as unlocked", func() bool { return k.Says("Unlocked at /drives/a.img") })
	if d.open.Disabled() || d.browse.Disabled() || k.screen.lockAll.Disabled() || !d.activity.Visible() {
		t.Error("unlocked: something cannot be done")
	}
	k.MustSay("400 MB of 1.0 GB used, 600 MB free")
	k.Tap("Open in file manager")
	k.Until("it opens", func() bool { return slices.Contains(k.urls, "file:///drives/a.img") })
	k.Tap("Browse files")
	if !k.AskedFor("Show files " + path) {
		t.Errorf("asked for %q", k.Asked)
	}
	k.Tap("Lock")
	k.Until("it is locked", func() bool { return k.Coffer.Called("Lock") == 1 })
	k.look()
	k.Until("it shows as locked", func() bool { return k.screen.detail.primary.Text == "Unlock" })

	k.unlock(t, path, func(c *fake.Container) { c.Status.MountPoint = "" })
	k.look()
	k.Until("it has no drive", func() bool { return k.Says("Unlocked, without a drive") })
	if !d.open.Disabled() || d.browse.Disabled() {
		t.Error("without a drive: files are to be browsed, not to be opened")
	}
	k.Coffer.Mu.Lock()
	k.Coffer.Containers[path].Status.Unresponsive = true
	k.Coffer.Mu.Unlock()
	k.look()
	k.Until("it does not answer", func() bool { return k.Says("Does not answer") })
	if !d.open.Disabled() || !d.browse.Disabled() || d.primary.Disabled() {
		t.Error("without an answer there is only the lock to try")
	}
	k.Coffer.Mu.Lock()
	k.Coffer.Containers[path].Status.Unresponsive, k.Coffer.Containers[path].Status.Ready = false, false
	k.Coffer.Mu.Unlock()
	k.look()
	k.Until("it is busy", func() bool { return d.primary.Text == "One moment…" })
	if !d.primary.Disabled() {
		t.Error("what is just being done can be begun again")
	}
}

// TestProblems: what a person must know is said, and only for the container it is about.
func TestProblems(t *testing.T) {
	k := open(t, ui.ThemeDark)
	path, _ := k.add(t, "a.img")
	other, _ := k.add(t, "b.img")
	k.unlock(t, path, func(c *fake.Container) {
		c.Status.Problem, c.Status.Warning, c.Status.LocksIn = "the disk is full", "programs keep it open", 90
	})
	k.look()
	k.screen.Shown(path)
	for _, words := range []string{"Nothing more can be written: The disk is full.", "Programs keep it open.", "Locks by itself in 1 min 30 s"} {
		k.MustSay(words)
	}
	k.Picture("home-problems-dark")
	k.screen.choose(other)
	if k.Says("disk is full") || k.Says("Programs keep") || k.Says("Locks by itself in") {
		t.Errorf("another container says %q", k.Texts())
	}
	k.Coffer.Mu.Lock()
	k.Coffer.Fail["Drives"] = errors.New("the folder of the sockets is not yours")
	k.Coffer.Mu.Unlock()
	k.look()
	k.Until("the failure is told", func() bool { return k.Says("The folder of the sockets is not yours.") })
}

// TestInfo: what the file says of itself shows, is kept for the next start, and what is wrong with it is told.
func TestInfo(t *testing.T) {
	k := open(t, ui.ThemeLight)
	path, _ := k.add(t, "a.img")
	bad, _ := k.add(t, "bad.img")
	k.look()
	k.screen.Shown(path)
	k.Until("the format is there", func() bool { return k.Says("LUKS2, AES-256-XTS") })
	k.Until("the format is kept", func() bool { return k.Deps.Model.Container(path).Format == "luks2" })
	k.Coffer.Mu.Lock()
	k.Coffer.Fail["Info"] = fake.Problem(protocol.Damaged, "open bad.img: both headers are damaged", "restore a backup of the header")
	k.Coffer.Mu.Unlock()
	k.screen.choose(bad)
	k.Until("the damage is told", func() bool { return k.Says("Both headers are damaged") || k.Says("both headers are damaged") })
	k.MustSay("Restore a backup of the header.")
}

// TestPassing: while a container is unlocked or locked, an answer that says so is no problem, and one of before is forgotten.
func TestPassing(t *testing.T) {
	k := open(t, ui.ThemeLight)
	path, _ := k.add(t, "a.img")
	k.look()
	for _, code := range []protocol.ExitCode{protocol.InUse, protocol.NoCredential} {
		k.Coffer.Mu.Lock()
		k.Coffer.Fail["Info"] = fake.Problem(code, "reach a.img: process 7 is just unlocking or locking it", "")
		asked := len(k.Coffer.Calls)
		k.Coffer.Mu.Unlock()
		k.screen.Shown(path)
		k.screen.look()
		k.screen.looks.Wait()
		k.screen.take(k.Deps.Model.Containers())
		k.Until("all is drawn", func() bool { return !k.screen.pending.Load() })
		if k.Says("just unlocking") || len(k.Coffer.Calls) == asked {
			t.Errorf("a state shows as a problem, or nothing was asked: %q", k.Texts())
		}
	}
	k.Coffer.Mu.Lock()
	k.Coffer.Fail["Info"] = fake.Problem(protocol.Failed, "read a.img: input/output error", "")
	k.Coffer.Mu.Unlock()
	k.screen.look()
	k.Until("the problem shows", func() bool { return k.Says("input/output error") })
	k.unlock(t, path, nil)
	k.look()
	k.Until("unlocked it is looked at again", func() bool { return k.screen.known[path].err == nil })
}

// TestInfoOfWhatAppears: a container that is chosen before its file was seen, as a new one is, is looked at once it is there.
func TestInfoOfWhatAppears(t *testing.T) {
	k := open(t, ui.ThemeLight)
	path := filepath.Join(k.Folder, "new.img")
	if err := k.Deps.Model.Add(path); err != nil {
		t.Fatal(err)
	}
	k.look()
	k.screen.Shown(path)
	k.MustSay("–")
	k.add(t, "new.img")
	k.unlock(t, path, func(*fake.Container) {})
	k.look()
	k.Until("the format is there", func() bool { return k.Says("LUKS2, AES-256-XTS") })
}

// TestWalk: who walks through the list has one container looked at, the last, and no program is started for the others.
func TestWalk(t *testing.T) {
	k := open(t, ui.ThemeLight)
	for i := range 8 {
		k.add(t, fmt.Sprintf("c%d.img", i))
	}
	k.look()
	k.screen.Shown("")
	k.screen.focus(k.screen.list)
	for range 7 {
		k.Key(fyne.KeyDown)
	}
	k.Until("the last is looked at", func() bool { return k.Coffer.Called("Info") > 0 })
	if n := k.Coffer.Called("Info"); n != 1 {
		t.Errorf("%d containers were looked at", n)
	}
	if !strings.HasSuffix(k.screen.chosen, "c7.img") {
		t.Errorf("%s is chosen", k.screen.chosen)
	}
}

func TestKeys(t *testing.T) {
	k := open(t, ui.ThemeLight)
	var paths []string
	for i := range 30 {
		path, _ := k.add(t, fmt.Sprintf("c%02d.img", i))
		paths = append(paths, path)
	}
	k.look()
	k.screen.Shown("")
	k.screen.focus(k.screen.list)
	for _, c := range []struct {
		key  fyne.KeyName
		want int
	}{{fyne.KeyDown, 1}, {fyne.KeyEnd, 29}, {fyne.KeyDown, 29}, {fyne.KeyUp, 28}, {fyne.KeyHome, 0}, {fyne.KeyUp, 0}} {
		if k.Key(c.key); k.screen.chosen != paths[c.want] {
			t.Errorf("%s leads to %s", c.key, k.screen.chosen)
		}
	}
	if k.Key(fyne.KeyPageDown); k.screen.chosen <= paths[3] || k.screen.chosen >= paths[29] {
		t.Errorf("a page down leads to %s", k.screen.chosen)
	}
	k.Key(fyne.KeyHome)
	k.Key(fyne.KeyReturn)
	if !k.AskedFor("Unlock " + paths[0]) {
		t.Error("Enter does not unlock")
	}
	k.Key(fyne.KeyF2)
	k.MustSay("Rename in the list")
	k.Type("My photos")
	k.Key(fyne.KeyReturn)
	k.Until("it has its name", func() bool { return k.Says("My photos") })
	if got := k.Deps.Model.Container(paths[0]).Title(); got != "My photos" {
		t.Errorf("it is called %q", got)
	}
	if k.screen.chosen != paths[0] {
		t.Errorf("with another place in the list, %s is chosen", k.screen.chosen)
	}
	k.screen.focus(k.screen.list)
	k.Key(fyne.KeyDelete)
	k.MustSay("Its file stays where it is")
	k.Key(fyne.KeyEscape)
	if k.Deps.Model.Container(paths[0]).Listed != true || k.Dialogs() > 0 {
		t.Error("Escape takes it off the list")
	}
	k.screen.focus(k.screen.list)
	k.Key(fyne.KeyDelete)
	k.Key(fyne.KeyReturn)
	k.Until("another is chosen", func() bool { return k.screen.chosen != paths[0] && len(k.screen.all) == 29 })
	if _, err := os.Stat(paths[0]); err != nil {
		t.Errorf("the file went: %v", err)
	}
}

// TestSearch: over ten containers can be searched; what is chosen stays.
func TestSearch(t *testing.T) {
	k := open(t, ui.ThemeLight)
	for i := range 10 {
		k.add(t, fmt.Sprintf("c%02d.img", i))
	}
	k.look()
	k.screen.Shown("")
	if k.screen.search.Visible() {
		t.Error("ten containers have a search")
	}
	wanted, _ := k.add(t, "Holiday.img")
	k.Until("there is a search", func() bool { return k.screen.search.Visible() })
	k.screen.focus(k.screen.search)
	k.Type("hOLi")
	if got := len(k.screen.list.shown); got != 1 || k.screen.list.shown[0].Path != wanted {
		t.Errorf("%d are found", got)
	}
	k.Type("xyz")
	k.MustSay("No container has that")
	k.Key(fyne.KeyEscape)
	if len(k.screen.list.shown) != 11 || k.Window().Canvas().Focused() != k.screen.list {
		t.Error("Escape does not end the search")
	}
}

// TestThousand: of a thousand containers only the rows to be seen exist.
func TestThousand(t *testing.T) {
	k := open(t, ui.ThemeLight)
	var all []config.Known
	for i := range 1000 {
		all = append(all, config.Known{Path: filepath.Join(k.Folder, fmt.Sprintf("c%04d.img", i))})
	}
	if err := config.SaveKnown(filepath.Join(k.Folder, "containers.json"), all); err != nil {
		t.Fatal(err)
	}
	k.look()
	made := 0
	inner := k.screen.list.CreateItem
	k.screen.list.CreateItem = func() fyne.CanvasObject { made++; return inner() }
	k.screen.Shown("")
	if len(k.screen.list.shown) != 1000 {
		t.Fatalf("%d are listed", len(k.screen.list.shown))
	}
	if made == 0 || made > 60 {
		t.Errorf("%d rows were made", made)
	}
	k.screen.focus(k.screen.list)
	k.Key(fyne.KeyEnd)
	if made > 120 || !strings.HasSuffix(k.screen.chosen, "c0999.img") {
		t.Errorf("at the end %d rows were made, and %s is chosen", made, k.screen.chosen)
	}
	found := false
	for _, o := range k.Texts() {
		found = found || strings.Contains(o, "c0999")
	}
	if !found {
		t.Error("the last is not to be seen")
	}
}

func TestAutoLock(t *testing.T) {
	k := open(t, ui.ThemeLight)
	path, _ := k.add(t, "a.img")
	k.look()
	settings := config.Defaults()
	settings.Idle = config.Duration(10 * time.Minute)
	if err := config.Save(k.Deps.Paths.SettingsFile(), settings); err != nil {
		t.Fatal(err)
	}
	k.screen.Shown("")
	a := k.screen.detail.autoLock
	k.Until("the settings show", func() bool { return a.idle.Selected == "As in the settings (10 minutes)" })
	k.MustSay("hold from the next time it is unlocked")
	if a.lifetime.Selected != "As in the settings (never)" || a.event.Selected != "As in the settings (sleep of the computer)" {
		t.Errorf("%q, %q", a.lifetime.Selected, a.event.Selected)
	}
	known := func() config.Known { return k.Deps.Model.Container(path).Known }
	a.idle.SetSelected("1 hour")
	k.Until("an hour is kept", func() bool { got := known().Idle; return got != nil && time.Duration(*got) == time.Hour })
	a.lifetime.SetSelected("never")
	k.Until("never is kept", func() bool { got := known().Lifetime; return got != nil && *got == 0 })
	a.event.SetSelected("sleep of the computer and the screen lock")
	k.Until("the events are kept", func() bool { return known().LockOn == "suspend,screen" })
	a.idle.SetSelectedIndex(0)
	k.Until("the settings hold again", func() bool { return known().Idle == nil })
	if known().Lifetime == nil {
		t.Error("one choice undoes another")
	}

	odd := config.Duration(77 * time.Second)
	if err := k.Deps.Model.Update(path, func(c *config.Known) { c.Idle = &odd; c.LockOn = "screen, suspend" }); err != nil {
		t.Fatal(err)
	}
	k.Until("a time chosen elsewhere shows", func() bool { return a.idle.Selected == "1 min 17 s" })
	if a.event.Selected != "sleep of the computer and the screen lock" {
		t.Errorf("the events written otherwise show as %q", a.event.Selected)
	}
	if got := known().Idle; got == nil || *got != odd {
		t.Errorf("showing it changed it to %v", got)
	}
}

func TestFavourite(t *testing.T) {
	k := open(t, ui.ThemeLight)
	k.add(t, "a.img")
	path, _ := k.add(t, "z.img")
	k.look()
	k.screen.Shown(path)
	k.screen.star()
	k.Until("it is the first", func() bool { return k.screen.all[0].Path == path })
	if k.screen.chosen != path {
		t.Error("another is chosen now")
	}
	k.screen.star()
	k.Until("it is the last", func() bool { return k.screen.all[1].Path == path })
}

// TestMenu: what can be done with a container that is there, one that is not, and one not in the list.
func TestMenu(t *testing.T) {
	k := open(t, ui.ThemeLight)
	path, _ := k.add(t, "a.img")
	labels := func(c model.Container) (all string) {
		for _, i := range k.screen.menu(c).Items {
			if !i.Disabled {
				all += i.Label + "|"
			}
		}
		return all
	}
	locked := labels(model.Container{Known: config.Known{Path: path}, Listed: true})
	for _, want := range []string{"Unlock|", "Browse files|", "Take off the list…|", "Rename in the list…|"} {
		if !strings.Contains(locked, want) {
			t.Errorf("%q is not in %q", want, locked)
		}
	}
	if strings.Contains(locked, "Open in file manager") {
		t.Errorf("there is no drive: %q", locked)
	}
	if all := labels(held(nil)); !strings.Contains(all, "Lock|") || !strings.Contains(all, "Keep in the list|") || !strings.Contains(all, "Open in file manager|") {
		t.Errorf("unlocked by others: %q", all)
	}
	if all := labels(model.Container{State: model.Missing, Listed: true}); strings.Contains(all, "Browse") || strings.Contains(all, "folder") {
		t.Errorf("missing: %q", all)
	}
}

// TestMissing: a file that was moved is found again, and keeps what is known of it.
func TestMissing(t *testing.T) {
	k := open(t, ui.ThemeLight)
	before := filepath.Join(k.Folder, "before.img")
	if err := k.Deps.Model.Update(before, func(c *config.Known) { c.Name = "Mine"; c.Favourite = true }); err != nil {
		t.Fatal(err)
	}
	k.look()
	k.screen.Shown("")
	k.MustSay("Not there")
	k.MustSay("Find the file…")
	k.MustSay("moved, renamed or deleted")
	if !k.screen.detail.browse.Disabled() {
		t.Error("what is not there can be browsed")
	}
}

func TestAdd(t *testing.T) {
	k := open(t, ui.ThemeLight)
	path := filepath.Join(k.Folder, "new.img")
	k.Coffer.Add(path, "secret")
	plain := filepath.Join(k.Folder, "plain.txt")
	if err := os.WriteFile(plain, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	k.screen.Shown("")
	k.screen.add(plain)
	k.Until("it is asked about", func() bool { return k.Says("What is plain.txt?") })
	k.Tap("Cancel")
	if len(k.Deps.Model.Containers()) != 0 {
		t.Error("what is no container is in the list")
	}
	k.screen.add(plain)
	k.Until("it is asked about again", func() bool { return k.Says("What is plain.txt?") })
	k.Tap("A plain disk image, not encrypted")
	k.Until("it is opened as one", func() bool { return k.AskedFor("Unlock " + plain) })
	if c := k.Deps.Model.Container(plain); !c.Listed || c.Format != "raw" {
		t.Errorf("in the list as %+v", c)
	}
	k.screen.add(path)
	k.Until("it is asked for its password", func() bool { return k.AskedFor("Unlock " + path) })
	if k.screen.chosen != path || !k.Deps.Model.Container(path).Listed {
		t.Error("it is not in the list, or not chosen")
	}
	broken := filepath.Join(k.Folder, "broken.img")
	k.Coffer.Add(broken, "secret")
	k.Coffer.Mu.Lock()
	k.Coffer.Fail["Info"] = fake.Problem(protocol.Damaged, "open broken.img: its header is damaged", "")
	k.Coffer.Mu.Unlock()
	k.screen.add(broken)
	k.Until("a damaged one is in the list, so that it can be mended", func() bool { return k.screen.chosen == broken })
	if k.AskedFor("Unlock " + broken) {
		t.Error("the password of what cannot be opened is asked for")
	}
}

// TestDrop: files on a row are copied into that container, whichever is chosen, however the list is scrolled.
func TestDrop(t *testing.T) {
	k := open(t, ui.ThemeLight)
	var paths []string
	for i := range 30 {
		path, _ := k.add(t, fmt.Sprintf("c%02d.img", i))
		paths = append(paths, path)
	}
	k.look()
	k.screen.Shown("")
	corner := fyne.CurrentApp().Driver().AbsolutePositionForObject(k.screen.list)
	third := corner.AddXY(40, 2*k.screen.list.step()+rowHeight/2)
	if !k.screen.Dropped(third, []string{"/tmp/x"}) || !k.AskedFor("CopyIn "+paths[2]+" /tmp/x /") {
		t.Errorf("asked for %q", k.Asked)
	}
	k.screen.list.ScrollToOffset(10 * k.screen.list.step())
	if !k.screen.Dropped(third, []string{"/tmp/y"}) || !k.AskedFor("CopyIn "+paths[12]+" /tmp/y /") {
		t.Errorf("scrolled: asked for %q", k.Asked)
	}
	if k.screen.chosen != paths[12] {
		t.Errorf("%s is chosen", k.screen.chosen)
	}
	for _, at := range []fyne.Position{{X: corner.X - 5, Y: third.Y}, {X: corner.X + k.screen.list.Size().Width + 40, Y: third.Y}, {X: third.X, Y: corner.Y - 3}} {
		if k.screen.Dropped(at, []string{"/tmp/z"}) {
			t.Errorf("files dropped at %v, outside of the list, are taken", at)
		}
	}
	if k.screen.Dropped(third, []string{paths[12]}) {
		t.Error("a container is copied into itself")
	}
}

// TestMouse: a click chooses at once, a double click does what the button says.
func TestMouse(t *testing.T) {
	k := open(t, ui.ThemeLight)
	k.add(t, "a.img")
	path, _ := k.add(t, "b.img")
	k.look()
	k.screen.Shown("")
	b := uitest.Find(k.Desk, "the row", func(r *row) bool { return r.container.Path == path })
	b.MouseDown(nil)
	if k.screen.chosen != path || k.Window().Canvas().Focused() != k.screen.list {
		t.Error("pressing the mouse does not choose")
	}
	test.DoubleTap(b)
	if !k.AskedFor("Unlock " + path) {
		t.Errorf("asked for %q", k.Asked)
	}
	test.TapSecondary(b)
	if k.Dialogs() != 1 {
		t.Error("there is no menu")
	}
}

// TestQuiet: while nothing changes nothing is drawn, and a hidden screen does nothing at all.
func TestQuiet(t *testing.T) {
	k := open(t, ui.ThemeLight)
	path, _ := k.add(t, "a.img")
	k.unlock(t, path, nil)
	k.look()
	k.screen.Shown("")
	k.Until("all is known", func() bool { return k.Says("LUKS2") && k.Deps.Model.Container(path).Format == "luks2" })
	k.look()
	k.Until("all is drawn", func() bool { return !k.screen.pending.Load() })
	posts := 0
	k.Deps.Post = func(func()) { posts++ }
	for range 5 {
		k.look()
	}
	if posts != 0 {
		t.Errorf("at rest the screen was drawn %d times", posts)
	}
	k.screen.Hidden()
	k.Coffer.Mu.Lock()
	k.Coffer.Containers[path].Status.OpenFiles = 3
	k.Coffer.Mu.Unlock()
	k.look()
	if posts != 0 {
		t.Errorf("hidden, the screen was drawn %d times", posts)
	}
}

func TestPictures(t *testing.T) {
	defer uitest.PicturesOf(t)()
	for _, name := range []string{ui.ThemeLight, ui.ThemeDark} {
		k := open(t, name)
		var paths []string
		for _, one := range []string{"Photos.img", "Tax 2023.img", "archive.img", "a quite long name of a container that never ends and ends.img"} {
			path, _ := k.add(t, one)
			paths = append(paths, path)
		}
		_ = k.Deps.Model.Add(filepath.Join(k.Folder, "a very long folder name", "and another", "old stick.img"))
		_ = k.Deps.Model.Update(paths[0], func(c *config.Known) { c.Favourite = true })
		k.unlock(t, paths[0], func(c *fake.Container) { c.Status.OpenFiles, c.Status.LocksIn = 2, 540; c.Status.Label = "PHOTOS" })
		k.unlock(t, paths[1], nil)
		k.look()
		for i := range 5 {
			time.Sleep(100 * time.Millisecond)
			k.Coffer.Mu.Lock()
			s := &k.Coffer.Containers[paths[0]].Status
			s.FileSystem.BytesWritten += int64(i) * 3e6
			s.FileSystem.BytesRead += 2e6
			s.FileSystem.WriteRate, s.FileSystem.ReadRate = 4e6, 2e6
			k.Coffer.Mu.Unlock()
			k.look()
		}
		k.screen.Shown(paths[0])
		k.Until("info", func() bool { return k.Says("AES-256-XTS") })
		for _, size := range []fyne.Size{{Width: 836, Height: 660}, {Width: 1100, Height: 760}} {
			k.Size(size.Width, size.Height)
			k.Picture(fmt.Sprintf("home-open-%s-%.0f", name, size.Width))
		}
		k.screen.choose(paths[2])
		k.Until("info", func() bool { return k.Says("AES-256-XTS") })
		k.Picture("home-locked-" + name)
		k.screen.detail.object.ScrollToBottom()
		k.Picture("home-bottom-" + name)
		k.screen.Hidden()
	}
}

func TestTabScrolls(t *testing.T) {
	k := open(t, ui.ThemeLight)
	path, _ := k.add(t, "a.img")
	k.look()
	k.screen.Shown(path)
	k.Until("info", func() bool { return k.Says("AES-256-XTS") })
	k.Size(836, 480)
	k.TabThrough(k.screen.detail.object)
}
