package health

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fyne.io/fyne/v2"

	"coffer/app/client"
	"coffer/app/protocol"
	"coffer/app/window/backend/fake"
	"coffer/app/window/password"
	"coffer/app/window/ui"
	"coffer/app/window/ui/uitest"
)

// right opens the container of the tests.
const right = "right horse"

// desk makes a screen that shows a container with two keys, unlocked or not.
func desk(t *testing.T, unlocked bool) (k *uitest.Desk, s *Screen, one *fake.Container) {
	t.Helper()
	k = uitest.New(t, ui.ThemeLight)
	image := filepath.Join(k.Folder, "photos.img")
	one = k.Coffer.Add(image, right)
	change(k, func() {
		one.Slots = append(one.Slots, client.Slot{Number: 1, KDF: "argon2id", MemoryKiB: 1 << 20, Iterations: 4, Threads: 4, Bound: true})
	})
	if unlocked {
		if _, err := k.Coffer.Unlock(k.Deps.Context, client.UnlockRequest{Image: image, Credential: client.Credential{Password: client.Secret(right)}}, nil); err != nil {
			t.Fatal(err)
		}
		one.Status.Ready = true
	}
	if err := k.Deps.Model.Add(image); err != nil {
		t.Fatal(err)
	}
	k.Deps.Model.Look(k.Deps.Context)
	s = New(k.Deps)
	k.Window().SetContent(s.Object())
	s.Shown(image)
	k.Until("the container is known", func() bool { return s.info != nil })
	return k, s, one
}

// calls are the calls of the fake with a name.
func calls(k *uitest.Desk, name string) []string {
	k.Coffer.Mu.Lock()
	defer k.Coffer.Mu.Unlock()
	var all []string
	for _, c := range k.Coffer.Calls {
		if first, _, _ := strings.Cut(c, " "); first == name {
			all = append(all, strings.TrimSpace(c))
		}
	}
	return all
}

// change changes the fake while calls may be under way.
func change(k *uitest.Desk, how func()) {
	k.Coffer.Mu.Lock()
	defer k.Coffer.Mu.Unlock()
	how()
}

// fail makes the next call of the fake fail.
func fail(k *uitest.Desk, name string, err error) {
	k.Coffer.Mu.Lock()
	defer k.Coffer.Mu.Unlock()
	k.Coffer.Fail[name] = err
}

// entries are the lines for passwords in the dialog on top, which must be empty in the end.
func entries(k *uitest.Desk) []*password.Entry {
	return uitest.FindAll(k, func(*password.Entry) bool { return true })
}

func TestCondition(t *testing.T) {
	k, s, one := desk(t, false)
	for _, words := range []string{"Locked", "LUKS2", "The header is good", "not looked at yet", "Key 1", "Key 2", "1.1 GB of memory", "4 passes"} {
		k.MustSay(words)
	}
	for _, state := range []string{"damaged", "stale", "missing", "strange"} {
		change(k, func() { one.Header = []string{state, "good"} })
		s.info = nil
		s.load()
		k.Until("it was looked at again", func() bool { return s.info != nil })
		k.MustSay("One copy of the header")
		if k.Says("The header is good") {
			t.Errorf("a %s copy counts as good", state)
		}
	}
}

func TestConditionWhileUnlocked(t *testing.T) {
	k, s, one := desk(t, true)
	k.MustSay("Unlocked at /drives/photos.img")
	k.MustSay("600 MB of 1.0 GB free")
	change(k, func() { one.Status.Problem = "the disk is full" })
	k.Deps.Model.Look(k.Deps.Context)
	k.Until("the problem shows", func() bool { return k.Says("The disk is full.") })
	change(k, func() { one.Unlocked = false }) // by the command line
	k.Deps.Model.Look(k.Deps.Context)
	k.Until("it shows as locked", func() bool { return k.Says("Locked") })
	s.Hidden()
	asked := k.Coffer.Called("Info")
	change(k, func() { one.Unlocked = true })
	k.Deps.Model.Look(k.Deps.Context)
	s.changed()
	if k.Coffer.Called("Info") != asked {
		t.Error("a hidden screen looks at containers")
	}
}

func TestNothingChosen(t *testing.T) {
	k := uitest.New(t, ui.ThemeLight)
	s := New(k.Deps)
	k.Window().SetContent(s.Object())
	s.Shown("")
	k.MustSay("You have no containers yet")
	k.Tap("New container…")
	if !k.AskedFor("NewContainer ") {
		t.Error("there is no way to a first container")
	}
	image := filepath.Join(k.Folder, "gone.img")
	if err := k.Deps.Model.Add(image); err != nil {
		t.Fatal(err)
	}
	k.Deps.Model.Look(k.Deps.Context)
	k.Until("the list is known", func() bool { return len(s.paths) == 1 })
	s.picker.SetSelectedIndex(0)
	if !k.AskedFor("Show health " + image) {
		t.Errorf("choosing one asks for %q", k.Asked)
	}
	s.Shown(image)
	k.MustSay("The file is not there")
}

func TestBrokenHeader(t *testing.T) {
	k, s, _ := desk(t, false)
	fail(k, "Info", fake.Problem(protocol.Damaged, "open photos.img: damaged header", "`coffer header restore`"))
	s.load()
	k.Until("the damage shows", func() bool { return k.Says("The header is damaged") })
	for _, label := range []string{"Restore…", "Destroy…"} {
		k.Button(label)
	}
	if k.Says("Key 1") || k.Says("[Back up…]") || k.Says("[Check…]") || k.Says("coffer header") {
		t.Errorf("what cannot be done is offered: %q", k.Texts())
	}
	fail(k, "Info", fake.Problem(protocol.Unsupported, "open photos.img: not a container", ""))
	s.load()
	k.Until("it is no container", func() bool { return k.Says("no container that Coffer can open") })
	if k.Says("[Destroy…]") || !k.Says("[Restore…]") {
		t.Errorf("for a file that is no container: %q", k.Texts())
	}
	fail(k, "Info", fake.Problem(protocol.Failed, "open photos.img: permission denied", "check the permissions"))
	s.load()
	k.Until("why it could not be looked at shows", func() bool { return k.Says("Permission denied") || k.Says("permission denied") })
	k.Tap("Look again")
	k.Until("it is known again", func() bool { return s.info != nil && s.failed == nil })
}

func TestCheckOfLocked(t *testing.T) {
	k, s, _ := desk(t, false)
	k.Tap("Check…")
	k.Tap("Check")
	k.MustSay("Type the password")
	k.Type("wrong")
	fail(k, "Check", fake.Problem(protocol.WrongKey, "open photos.img: wrong password or key", "check Caps Lock; `coffer key list`"))
	k.Key(fyne.KeyReturn)
	k.Until("it is refused", func() bool { return k.Says("does not open this container") })
	if k.Says("coffer key list") || entries(k)[0].Text != "" {
		t.Error("the command line is explained to somebody who has a window, or the password stays in the entry")
	}
	change(k, func() { k.Coffer.Checked = found(true, true) })
	k.Type(right)
	k.Key(fyne.KeyReturn)
	k.Until("the outcome shows", func() bool { return k.Says("Nothing is wrong") })
	k.MustSay("1,234 files in 56 folders")
	if k.Says("Repair…") {
		t.Error("what is sound can be repaired")
	}
	k.Key(fyne.KeyEscape)
	k.Until("the screen tells too", func() bool { return k.Says("The file system was sound at") })
	if got := calls(k, "Check"); len(got) != 2 || !strings.HasSuffix(got[1], "false") {
		t.Errorf("calls: %q", got)
	}
	if s.checks[s.image].findings != 0 {
		t.Error("findings where there were none")
	}
}

func TestCheckOfUnlocked(t *testing.T) {
	k, _, _ := desk(t, true)
	k.Tap("Check…")
	k.MustSay("waits until the check is done")
	if len(entries(k)) != 0 {
		t.Error("a password is asked for that is not needed")
	}
	change(k, func() {
		k.Coffer.Checked = found(false, false, client.Finding{Code: "chain-short", Path: "/a\u202egpj.exe"}, client.Finding{Code: "new-kind", Detail: "something else"})
	})
	fail(k, "Check", fake.Problem(protocol.Damaged, "check photos.img: 2 findings", ""))
	k.Tap("Check")
	k.Until("the outcome shows", func() bool { return k.Says("2 things are wrong.") })
	k.MustSay("/a\ufffdgpj.exe")
	k.MustSay("A part at its end is missing.")
	k.MustSay("Something else.")
	k.Button("Save to folder…")
	k.Tap("Repair…")
	k.MustSay("Lock photos first?") // a repair needs it for itself
	k.Tap("Cancel")
	k.Until("the screen tells too", func() bool { return k.Says("A check found 2 things wrong") })
	if len(calls(k, "Lock")) != 0 {
		t.Error("locked after a no")
	}
}

func TestCheckCancelled(t *testing.T) {
	k, s, _ := desk(t, false)
	change(k, func() { k.Coffer.Wait["Check"] = make(chan struct{}) })
	k.Tap("Check…")
	k.Type(right)
	k.Tap("Check")
	k.Until("it runs", func() bool { return k.Coffer.Called("Check") == 1 })
	if !k.Button("Check").(fyne.Disableable).Disabled() {
		t.Error("it can be started twice")
	}
	k.Key(fyne.KeyEscape)
	k.Until("it was cancelled", func() bool { return k.Says("Cancelled.") })
	if entries(k)[0].Text != "" || len(s.checks) != 0 {
		t.Error("the password stays, or a check that was not made counts")
	}
	k.Key(fyne.KeyEscape)
	if k.Dialogs() != 0 {
		t.Error("Escape does not close the dialog")
	}
}

func TestRepairLocksWarnsAndOffersToSave(t *testing.T) {
	k, _, one := desk(t, true)
	k.Tap("Repair…")
	k.MustSay("Lock photos first?")
	k.Tap("Lock and go on")
	k.Until("the repair is explained", func() bool { return k.Says("cannot bring back what is lost") })
	if one.Unlocked || len(calls(k, "Check")) != 0 {
		t.Fatal("not locked, or repaired before it was explained")
	}
	if len(entries(k)) != 1 {
		t.Fatal("no password is asked for, though it is locked now")
	}
	k.Tap("Save to folder first…")
	k.MustSay("Everything that can still be read")
	k.Tap("Cancel")
	k.Until("it shows as locked", func() bool { k.Deps.Model.Look(k.Deps.Context); return k.Says("Locked") })
	k.Tap("Repair…")
	k.Type(right)
	change(k, func() { k.Coffer.Checked = found(false, true, client.Finding{Code: "lost-chain", Fixed: true}) })
	k.Tap("Repair")
	k.Until("the outcome shows", func() bool { return k.Says("One thing was wrong, and was mended.") })
	if got := calls(k, "Check"); len(got) != 1 || !strings.HasSuffix(got[0], "true") {
		t.Errorf("calls: %q", got)
	}
	k.Tap("Close")
	k.Until("the screen tells too", func() bool { return k.Says("The file system was repaired at") })
}

func TestSalvage(t *testing.T) {
	k, _, _ := desk(t, true)
	k.Tap("Save to folder…")
	folder := filepath.Join(k.Folder, "rescued")
	path := uitest.Find(k, "the folder", func(e *ui.KeyEntry) bool { return strings.Contains(e.Text, "photos") })
	path.SetText("here")
	k.Tap("Save")
	k.MustSay("Give the whole path")
	path.SetText(folder)
	fail(k, "Check", fake.Problem(protocol.NoSpace, "salvage: the disk is full", ""))
	k.Tap("Save")
	k.Until("it is refused", func() bool { return k.Says("There is not enough room") })
	change(k, func() { k.Coffer.Checked = saved(7, client.Finding{Code: "read-error", Path: "/b"}) })
	fail(k, "Check", fake.Problem(protocol.Partly, "salvage: 1 file is not whole", ""))
	k.Tap("Save")
	k.Until("the outcome shows", func() bool { return k.Says("One file or folder is not whole.") })
	k.MustSay("7 files and 1 folder, 5.0 MB, are in " + folder)
	k.MustSay("zeros stand in its place")
	k.Button("Show folder")
}

func TestKeysNeedALockedContainer(t *testing.T) {
	for _, label := range []string{"Add…", "Change…", "Back up…", "Restore…", "Destroy…", "Remove…", "Recovery key…"} {
		k, _, one := desk(t, true)
		k.Tap(label)
		k.MustSay("Lock photos first?")
		k.Key(fyne.KeyEscape)
		if k.Dialogs() != 0 || !one.Unlocked {
			t.Errorf("%s: a no is not taken", label)
		}
		k.Tap(label)
		k.Tap("Lock and go on")
		k.Until("it goes on", func() bool { return k.Dialogs() == 1 && !k.Says("Lock photos first?") })
		if one.Unlocked {
			t.Errorf("%s: it is still unlocked", label)
		}
		for _, name := range []string{"AddKey", "ChangeKey", "BackupHeader", "RestoreHeader", "Destroy", "RemoveKey"} {
			if len(calls(k, name)) != 0 {
				t.Errorf("%s: done without a further question", label)
			}
		}
	}
}

func TestBusyProgramsKeepItUnlocked(t *testing.T) {
	k, _, one := desk(t, true)
	one.Users = []protocol.User{{Program: "editor", PID: 7, Path: "/drives/photos.img/a"}}
	k.Tap("Add…")
	k.Tap("Lock and go on")
	k.Until("who is in the way shows", func() bool { return k.Says("editor") })
	if len(entries(k)) != 0 {
		t.Error("it goes on although it is not locked")
	}
}

func TestAddKey(t *testing.T) {
	k, _, one := desk(t, false)
	k.Tap("Add…")
	k.Tap("Add key")
	k.MustSay("Type the password")
	all := entries(k)
	if len(all) != 3 {
		t.Fatalf("%d passwords are asked for", len(all))
	}
	now, next, again := all[0], all[1], all[2]
	now.SetText("wrong horse")
	k.Tap("Add key")
	k.MustSay("Type a new password twice")
	next.SetText("correct battery staple")
	again.SetText("correct battery")
	k.Tap("Add key")
	k.MustSay("The two new passwords differ.")
	if len(calls(k, "AddKey")) != 0 {
		t.Fatal("a key is added that nobody has typed twice")
	}
	again.SetText("correct battery staple")
	k.Tap("Add key")
	k.Until("it is refused", func() bool { return k.Says("does not open this container") })
	for i, e := range all {
		if e.Text != "" {
			t.Errorf("entry %d still has what was typed", i)
		}
	}
	now.SetText(right) // the new one need not be typed again
	k.Tap("Add key")
	k.Until("it was added", func() bool { return k.Says("The key was added") })
	k.MustSay("key 3")
	if len(one.Slots) != 3 || len(calls(k, "AddKey")) != 2 {
		t.Errorf("slots %v, calls %q", one.Slots, calls(k, "AddKey"))
	}
	k.Tap("Close")
	k.Until("it is listed", func() bool { return k.Says("Key 3") })
}

func TestAddKeyCancelledKeepsWhatWasTyped(t *testing.T) {
	k, s, one := desk(t, false)
	hold := make(chan struct{})
	change(k, func() { k.Coffer.Wait["AddKey"] = hold })
	s.addKey("/media/usb.key")
	k.MustSay("usb.key")
	all := entries(k)
	all[0].SetText(right)
	k.Tap("Add key") // a key file alone is enough
	k.Until("it runs", func() bool { return k.Coffer.Called("AddKey") == 1 })
	k.Tap("Cancel")
	k.Until("it was cancelled", func() bool { return k.Says("Cancelled.") })
	if len(one.Slots) != 2 {
		t.Error("added all the same")
	}
	close(hold)
	k.Tap("Add key")
	k.Until("it was added", func() bool { return k.Says("The key was added") })
}

func TestDialogsForgetWhatWasTyped(t *testing.T) {
	k, s, _ := desk(t, false)
	task := s.newTask("title", "action", false)
	field := task.addSecret("secret", true)
	task.begin = func() (work, string) { return nil, "" }
	task.open()
	held := client.Credential{Password: client.Secret("held")}
	field.hold(held)
	field.entry.SetText("typed")
	field.again.SetText("typed")
	k.Key(fyne.KeyEscape)
	if field.entry.Text != "" || field.again.Text != "" || field.held != nil || string(held.Password) == "held" {
		t.Error("a dialog that is closed still knows what was typed")
	}
	taken := func() client.Credential { field.entry.SetText(right); field.again.SetText(right); return field.take() }()
	if string(taken.Password) != right || field.entry.Text != "" || field.again.Text != "" {
		t.Errorf("taken %q", taken.Password)
	}
}

func TestChangeKey(t *testing.T) {
	k, _, _ := desk(t, false)
	k.Tap("Change…")
	all := entries(k)
	all[0].SetText(right)
	all[1].SetText("new horse")
	all[2].SetText("new horse")
	fail(k, "ChangeKey", fake.Problem(protocol.InUse, "change a key of photos.img: in use", ""))
	k.Tap("Change")
	k.Until("it is refused", func() bool { return k.Says("Somebody is using it") })
	k.Tap("Change") // everything typed still counts: nothing of it was wrong
	k.Until("it was changed", func() bool { return k.Says("The password was changed") })
	if len(calls(k, "ChangeKey")) != 2 {
		t.Errorf("calls: %q", calls(k, "ChangeKey"))
	}
}

func TestRemoveKey(t *testing.T) {
	k, s, _ := desk(t, false)
	s.removeKey(1)
	k.MustSay("does not tell which password belongs to which key")
	k.Key(fyne.KeyReturn) // the focus is on Cancel
	if len(calls(k, "RemoveKey")) != 0 || k.Dialogs() != 0 {
		t.Fatal("Enter removes a key")
	}
	s.removeKey(1)
	k.Window().Canvas().Unfocus()
	k.Key(fyne.KeyReturn)
	if len(calls(k, "RemoveKey")) != 0 || k.Dialogs() != 0 {
		t.Fatal("Enter removes a key while nothing has the focus")
	}
	s.removeKey(1)
	k.Tap("Remove")
	k.Until("it was removed", func() bool { return k.Dialogs() == 0 })
	if got := calls(k, "RemoveKey"); len(got) != 1 || !strings.HasSuffix(got[0], "photos.img 1 false") {
		t.Errorf("calls: %q", got)
	}
}

func TestRemoveLastKey(t *testing.T) {
	k, s, one := desk(t, false)
	change(k, func() {
		one.Slots = []client.Slot{{Number: 0, KDF: "argon2id", Bound: true}, {Number: 1, KDF: "argon2id"}}
	}) // the second opens something else
	s.info = nil
	s.load()
	k.Until("it is known again", func() bool { return s.info != nil })
	s.removeKey(0)
	k.MustSay("This is the last key.")
	remove := k.Button("Remove").(fyne.Disableable)
	for _, typed := range []string{"", "photos", "PHOTOS.IMG", "photos.img "} {
		uitest.Find(k, "the name", func(*ui.KeyEntry) bool { return true }).SetText(typed)
		k.Key(fyne.KeyReturn)
		if !remove.Disabled() || len(calls(k, "RemoveKey")) != 0 {
			t.Fatalf("%q counts as the name", typed)
		}
	}
	uitest.Find(k, "the name", func(*ui.KeyEntry) bool { return true }).SetText("photos.img")
	k.Tap("Remove")
	k.Until("it was removed", func() bool { return k.Dialogs() == 0 })
	if got := calls(k, "RemoveKey"); len(got) != 1 || !strings.HasSuffix(got[0], "photos.img 0 true") {
		t.Errorf("calls: %q", got)
	}
}

func TestDestroy(t *testing.T) {
	k, s, _ := desk(t, false)
	s.destroy()
	for _, words := range []string{"copies of the file", "snapshots", "backups of the header", "solid-state disk"} {
		k.MustSay(words)
	}
	if !k.Button("Destroy").(fyne.Disableable).Disabled() {
		t.Fatal("it can be destroyed without typing its name")
	}
	k.Key(fyne.KeyReturn)
	k.Type("photos.img")
	fail(k, "Destroy", fake.Problem(protocol.Failed, "destroy photos.img: input/output error", ""))
	k.Tap("Destroy")
	k.Until("it is refused", func() bool { return k.Says("input/output error") })
	k.Tap("Destroy")
	k.Until("it is gone", func() bool { return k.Says("It is destroyed") })
	if len(calls(k, "Destroy")) != 2 {
		t.Errorf("calls: %q", calls(k, "Destroy"))
	}
	k.Tap("Remove it from the list")
	k.Until("it is off the list", func() bool { return len(k.Deps.Model.Containers()) == 0 && k.AskedFor("Show home ") })
	if _, err := os.Stat(s.image); err != nil {
		t.Error("the file is gone")
	}
}

func TestHeaderBackupAndRestore(t *testing.T) {
	k, s, _ := desk(t, false)
	k.Tap("Back up…")
	k.MustSay("also after the password was changed")
	place := uitest.Find(k, "the place", func(*ui.KeyEntry) bool { return true })
	if filepath.Base(place.Text) != "photos-header.backup" {
		t.Errorf("%s is proposed", place.Text)
	}
	place.SetText(s.image)
	k.Tap("Save")
	k.Until("a file that is there is kept", func() bool { return k.Says("There is a file with that name already") })
	if len(calls(k, "BackupHeader")) != 0 {
		t.Error("written over a file")
	}
	backup := filepath.Join(k.Folder, "my backup")
	place.SetText(backup)
	fail(k, "BackupHeader", fake.Problem(protocol.Failed, "back up the header: no such folder", ""))
	k.Tap("Save")
	k.Until("it is refused", func() bool { return k.Says("no such folder") })
	k.Tap("Save")
	k.Until("it is saved", func() bool { return k.Says("The header is saved") })
	k.MustSay(backup)
	k.Tap("Close")

	s.restoreHeader()
	k.MustSay("Whoever knows only a newer password")
	all := uitest.FindAll(k, func(*ui.KeyEntry) bool { return true })
	from, name := all[0], all[1]
	name.SetText("photos.img")
	if !k.Button("Restore").(fyne.Disableable).Disabled() {
		t.Error("restored from nothing")
	}
	from.SetText(backup)
	name.SetText("photos")
	if !k.Button("Restore").(fyne.Disableable).Disabled() {
		t.Error("restored without the name")
	}
	name.SetText("photos.img")
	fail(k, "RestoreHeader", fake.Problem(protocol.Failed, "restore the header: it is of another container", "--force restores it all the same"))
	k.Tap("Restore")
	k.Until("it is refused", func() bool { return k.Says("of another container.") })
	if k.Says("--force") {
		t.Error("the command line is explained to somebody who has a window")
	}
	uitest.Find(k, "the box", func(*ui.KeyCheck) bool { return true }).SetChecked(true)
	k.Tap("Restore")
	k.Until("it is restored", func() bool { return k.Says("The header is restored") })
	got := calls(k, "RestoreHeader")
	if len(got) != 2 || !strings.HasSuffix(got[0], backup+" false") || !strings.HasSuffix(got[1], backup+" true") {
		t.Errorf("calls: %q", got)
	}
}

func TestNewKeyfileBecomesAKey(t *testing.T) {
	k, _, _ := desk(t, false)
	k.Tap("New key file…")
	path := filepath.Join(k.Folder, "usb.key")
	uitest.Find(k, "the place", func(*ui.KeyEntry) bool { return true }).SetText(path)
	k.Tap("Make")
	k.Until("it is made", func() bool { return k.Says("The key file is made") })
	k.Tap("Add it as a key…")
	k.MustSay("usb.key")
	entries(k)[0].SetText(right)
	k.Tap("Add key")
	k.Until("it was added", func() bool { return k.Says("The key was added") })
}

func TestSelfTest(t *testing.T) {
	k, s, _ := desk(t, false)
	change(k, func() { k.Coffer.Tests = []client.Test{{Name: "AES-XTS"}, {Name: "KDF", Error: "wrong result"}} })
	fail(k, "SelfTest", fake.Problem(protocol.Failed, "a part failed", ""))
	k.Tap("Run self-test")
	k.Until("the outcome shows", func() bool { return k.Says("One part failed.") })
	k.MustSay("AES-XTS")
	k.MustSay("Wrong result.")
	change(k, func() { k.Coffer.Tests = k.Coffer.Tests[:1] })
	k.Tap("Run self-test")
	k.Until("the outcome shows", func() bool { return k.Says("The one part passed.") })
	fail(k, "SelfTest", fake.Problem(protocol.Failed, "the program is not there", ""))
	change(k, func() { k.Coffer.Tests = nil })
	k.Tap("Run self-test")
	k.Until("the outcome shows", func() bool { return k.Says("The test could not be run") })
	change(k, func() { k.Coffer.Wait["SelfTest"] = make(chan struct{}) })
	k.Tap("Run self-test")
	k.Until("it runs", func() bool { return k.Coffer.Called("SelfTest") == 4 })
	s.self.tapped()
	k.Until("it was cancelled", func() bool { return k.Says("Cancelled.") && k.Says("[Run self-test]") })
}

func TestEveryKindOfDamageHasWords(t *testing.T) {
	for _, code := range []string{"boot-sector", "backup-boot", "boot-label", "fsinfo", "free-count", "dirty", "io-error-mark", "fat-head", "fat-copies", "chain-loop", "cross-link", "two-names",
		"chain-short", "chain-long", "chain-free", "chain-bad", "chain-range", "start-cluster", "zero-size", "lost-chain", "dir-size", "dir-start", "dir-cycle", "dir-too-big", "dir-too-deep",
		"dir-dots", "not-a-directory", "after-end", "attributes", "short-name", "long-name", "duplicate-name", "long-name-parts", "long-name-fields", "label", "garbage", "too-damaged", "read-error", "target"} {
		if words := findingWords(client.Finding{Code: code, Detail: "jargon"}); words == "Jargon." || words == "" {
			t.Errorf("%s has no words", code)
		}
	}
}

// found is the outcome of a check.
func found(clean, sound bool, findings ...client.Finding) *client.Checked {
	c := &client.Checked{}
	mustRead(`{"check": {"files": 1234, "folders": 56}}`, c)
	c.Check.Clean, c.Check.Sound, c.Check.Findings = clean, sound, findings
	return c
}

// saved is the outcome of a salvage.
func saved(files int64, problems ...client.Finding) *client.Checked {
	c := &client.Checked{}
	mustRead(`{"salvage": {"folders": 1, "bytes": 5000000}}`, c)
	c.Salvage.Files, c.Salvage.Problems = files, problems
	return c
}

func mustRead(document string, into any) {
	if err := json.Unmarshal([]byte(document), into); err != nil {
		panic(err)
	}
}

func TestTabScrolls(t *testing.T) {
	k, s, _ := desk(t, false)
	k.Size(1024, 500)
	k.TabThrough(s.scroll)
}
