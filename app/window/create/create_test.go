package create

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"github.com/adrg/xdg"

	"coffer/app/protocol"
	"coffer/app/recovery"
	"coffer/app/window/backend/fake"
	"coffer/app/window/ui"
	"coffer/app/window/ui/uitest"
)

// desk is a window whose person keeps documents in an empty folder.
func desk(t *testing.T) *uitest.Desk {
	t.Helper()
	k := uitest.New(t, ui.ThemeLight)
	before := xdg.UserDirs.Documents
	xdg.UserDirs.Documents = filepath.Join(k.Folder, "Documents")
	t.Cleanup(func() {
		xdg.UserDirs.Documents = before
		if current != nil {
			current.close()
		}
	})
	if err := os.Mkdir(xdg.UserDirs.Documents, 0o700); err != nil {
		t.Fatal(err)
	}
	return k
}

// start opens the wizard.
func start(k *uitest.Desk, files ...string) *wizard {
	Show(k.Deps, files)
	k.Until("the wizard is open", func() bool { return current != nil })
	return current
}

// enter presses Enter, and waits until the wizard is at a page.
func enter(k *uitest.Desk, w *wizard, at int) {
	k.Key(fyne.KeyReturn)
	k.Until(fmt.Sprintf("page %d is shown", at), func() bool { return w.at == at })
}

// toSecret goes to the password, and types it.
func toSecret(k *uitest.Desk, w *wizard) {
	enter(k, w, pageSize)
	enter(k, w, pageSecret)
	k.Type("correct horse battery")
	k.Key(fyne.KeyReturn) // to the second entry
	k.Type("correct horse battery")
}

// toSheet goes to the sheet, and types the groups that are asked for.
func toSheet(k *uitest.Desk, w *wizard) (key string) {
	toSecret(k, w)
	enter(k, w, pageSheet)
	key = string(w.sheet.key)
	for _, group := range w.sheet.asked {
		k.Type(strings.ToLower(string(recovery.Group([]byte(key), group))))
	}
	return key
}

// nothingLeft fails the test if something secret is left in a wizard.
func nothingLeft(t *testing.T, w *wizard) {
	t.Helper()
	if w.secret.entry.Text != "" || w.secret.again.Text != "" || w.secret.held != nil || w.sheet.key != nil || w.sheet.entries[0].Text != "" {
		t.Error("something secret is left in the wizard")
	}
	for _, label := range w.sheet.groups {
		if label.Text != "" {
			t.Errorf("the recovery key is still shown: %q", label.Text)
		}
	}
}

func TestWholeWay(t *testing.T) {
	k := desk(t)
	w := start(k)
	k.Picture("create-1-place")
	k.Type("Taxes")
	enter(k, w, pageSize)
	k.Picture("create-2-size")
	enter(k, w, pageSecret)
	k.Picture("create-3-secret-empty")
	k.Type("correct horse")
	k.Until("it is rated", func() bool { return w.secret.meter.Strength().Level > 0 })
	k.Key(fyne.KeyReturn)
	k.Type("correct horse")
	k.Picture("create-3-secret")
	enter(k, w, pageSheet)
	k.Picture("create-4-sheet")
	key := string(w.sheet.key)
	for _, group := range w.sheet.asked {
		k.Type(string(recovery.Group([]byte(key), group)))
	}
	k.Picture("create-4-sheet-typed")
	k.Key(fyne.KeyReturn)
	image := filepath.Join(xdg.UserDirs.Documents, "Taxes.img")
	k.Until("it is unlocked", func() bool {
		return k.AskedFor("Show home "+image) && k.Coffer.Called("Unlock") == 1 && k.Dialogs() == 0
	})
	k.Coffer.Mu.Lock()
	defer k.Coffer.Mu.Unlock()
	one := k.Coffer.Containers[image]
	if one == nil || !one.Unlocked || one.Status.MountPoint == "" || one.Password != "correct horse" || !slices.Equal(one.Added, []string{key}) {
		t.Errorf("made %+v", one)
	}
	nothingLeft(t, w)
}

// A first-time user comes to a drive in at most six clicks: one is for the button on Home that opens the wizard.
func TestClicks(t *testing.T) {
	k := desk(t)
	clicks := 1
	w := start(k)
	tap := func(label string) {
		clicks++
		k.Tap(label)
	}
	tap("Next")
	k.Until("the size is asked for", func() bool { return w.at == pageSize })
	tap("Next")
	k.Until("the password is asked for", func() bool { return w.at == pageSecret })
	k.Type("correct horse battery")
	clicks++ // into the second entry
	k.Window().Canvas().Focus(w.secret.again)
	k.Type("correct horse battery")
	tap("Next")
	k.Until("the sheet is shown", func() bool { return w.at == pageSheet })
	for _, group := range w.sheet.asked {
		k.Type(string(recovery.Group(w.sheet.key, group)))
	}
	tap("Create")
	k.Until("there is a drive", func() bool {
		k.Coffer.Mu.Lock()
		defer k.Coffer.Mu.Unlock()
		for _, one := range k.Coffer.Containers {
			return one.Status.MountPoint != ""
		}
		return false
	})
	if clicks > 6 {
		t.Errorf("it takes %d clicks", clicks)
	}
	t.Logf("%d clicks", clicks)
}

func TestWithoutRecoveryKey(t *testing.T) {
	for _, how := range []string{"switched off", "by the link"} {
		t.Run(how, func(t *testing.T) {
			k := desk(t)
			w := start(k)
			toSecret(k, w)
			if how == "switched off" {
				w.secret.recovery.SetChecked(false)
				k.Tap("Create")
			} else {
				enter(k, w, pageSheet)
				k.Tap("Go on without a recovery key")
				k.Tap("Go on without")
				k.Until("it is made", func() bool { return current == nil || w.at == pageMake })
			}
			k.Until("it is unlocked", func() bool { return k.Coffer.Called("Unlock") == 1 && k.Dialogs() == 0 })
			if k.Coffer.Called("AddKey") != 0 {
				t.Error("a recovery key was added")
			}
			nothingLeft(t, w)
		})
	}
}

// TestTabAfterTheFirstGroup: the keyboard goes to the second group by itself, and the Tab that people press all the same does not
// take it further, to the link that leaves the key out; the next one does.
func TestTabAfterTheFirstGroup(t *testing.T) {
	k := desk(t)
	w := start(k)
	toSecret(k, w)
	enter(k, w, pageSheet)
	if w.sheet.entries[0].AcceptsTab() {
		t.Error("a Tab in the first group stays there")
	}
	k.Type(string(recovery.Group(w.sheet.key, w.sheet.asked[0])))
	if second := w.sheet.entries[1]; !second.AcceptsTab() || second.AcceptsTab() {
		t.Error("the first Tab must stay, the second must not")
	}
	k.Type(string(recovery.Group(w.sheet.key, w.sheet.asked[1])))
	if !w.sheet.right(0) || !w.sheet.right(1) {
		t.Errorf("typed: %q and %q", w.sheet.entries[0].Text, w.sheet.entries[1].Text)
	}
}

func TestNames(t *testing.T) {
	for name, right := range map[string]bool{"Taxes": true, "Übung 1": true, "a.b": true, "": false, ".hidden": false, "a/b": false, `a\b`: false, "a:b": false,
		"a\nb": false, "end.": false, "end ": false, " begin": false, strings.Repeat("x", 250): false} {
		if got := wrongName(name); (got == "") != right {
			t.Errorf("%q: %q", name, got)
		}
	}
}

func TestExistingFileIsRefused(t *testing.T) {
	k := desk(t)
	there := filepath.Join(xdg.UserDirs.Documents, "Taxes.img")
	if err := os.WriteFile(there, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := start(k)
	k.Type("Taxes")
	k.Until("it says so while the name is typed", func() bool { return k.Says("already a file with this name") })
	k.Picture("create-exists")
	k.Tap("Next")
	k.Until("the page has made up its mind", func() bool { return !w.busy })
	if w.at != pagePlace {
		t.Error("it goes on")
	}
	w.place.name.SetText("Taxes.IMG2")
	k.Until("another name is all right", func() bool { return !k.Says("already a file") })
	if got := w.place.path(); got != filepath.Join(xdg.UserDirs.Documents, "Taxes.IMG2.img") {
		t.Errorf("the path is %s", got)
	}
	w.place.name.SetText("")
	k.MustSay("Give it a name")
}

func TestSuggestedNameIsFree(t *testing.T) {
	k := desk(t)
	for _, name := range []string{"My files.img", "My files 2.img"} {
		if err := os.WriteFile(filepath.Join(xdg.UserDirs.Documents, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if w := start(k); w.place.name.Text != "My files 3" {
		t.Errorf("it suggests %q", w.place.name.Text)
	}
}

func TestFolderThatCannotBeUsed(t *testing.T) {
	k := desk(t)
	w := start(k)
	folder := filepath.Join(k.Folder, "nowhere")
	chooseFolder = func(_ *ui.Deps, _ string, chosen func(string)) { chosen(folder) }
	k.Tap("Change…")
	k.Until("it says so", func() bool { return k.Says("This folder is not there") })
	if os.Getuid() != 0 {
		folder = filepath.Join(k.Folder, "closed")
		if err := os.Mkdir(folder, 0o500); err != nil {
			t.Fatal(err)
		}
		k.Tap("Change…")
		k.Until("it says so", func() bool { return k.Says("may not write") })
	}
	folder = filepath.Join(k.Folder, "file")
	if err := os.WriteFile(folder, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	k.Tap("Change…")
	k.Until("it says so", func() bool { return k.Says("This is not a folder") })
	k.Tap("Next")
	k.Until("the page has made up its mind", func() bool { return !w.busy })
	if w.at != pagePlace {
		t.Error("it goes on")
	}
}

func TestSizes(t *testing.T) {
	for _, one := range []struct {
		typed, unit string
		want        int64
	}{
		{"4", "GB", 4e9}, {"1.5", "GB", 15e8}, {"1,5", "GB", 15e8}, {" 700 ", "MB", 7e8}, {"2", "TB", 2e12}, {"2 GB", "MB", 2e9}, {"1.5tb", "GB", 15e11}, {"GB", "GB", 0},
		{"", "GB", 0}, {"-1", "GB", 0}, {"0", "GB", 0}, {"x", "GB", 0}, {"NaN", "GB", 0}, {"1e300", "TB", 1<<62 - 1}, {"Inf", "MB", 1<<62 - 1},
	} {
		if got := parseSize(one.typed, one.unit); got != one.want && !(one.want == 1<<62-1 && got > largest) {
			t.Errorf("%q %s: %d, want %d", one.typed, one.unit, got, one.want)
		}
	}
	for bytes, want := range map[float64]int64{0: 0, 4e9: 4e9, 4.19e9: 41e8, 123456: 120000, 99e6: 99e6} {
		if got := round(bytes); got != want {
			t.Errorf("round(%v) = %d, want %d", bytes, got, want)
		}
	}
}

func TestSizeLimits(t *testing.T) {
	k := desk(t)
	w := start(k)
	enter(k, w, pageSize)
	p := w.size
	w.place.known = place{free: 10e9, largest: 1<<32 - 1}
	for _, one := range []struct{ typed, unit, says string }{
		{"", "GB", "Type a size"}, {"1", "MB", "too small"}, {"20", "TB", "too big"}, {"11", "GB", "only 10 GB left"}, {"5", "GB", "formatted as FAT"}, {"4", "GB", ""},
	} {
		p.unit.SetSelected(one.unit)
		p.entry.SetText(one.typed)
		if one.says == "" && p.message.Visible() || !strings.Contains(p.message.Text(), one.says) {
			t.Errorf("%s %s: it says %q, want %q", one.typed, one.unit, p.message.Text(), one.says)
		}
		if one.says != "" {
			k.Tap("Next")
			if w.at != pageSize {
				t.Fatalf("%s %s: it goes on", one.typed, one.unit)
			}
		}
	}
	p.slider.SetValue(1)
	if p.bytes > 1<<32-1 || p.bytes < 4e9 {
		t.Errorf("the end of the slider is %d", p.bytes)
	}
	p.slider.SetValue(0)
	if p.bytes != smallest {
		t.Errorf("the beginning of the slider is %d", p.bytes)
	}
	if r := p.w.request(w.secret.credential()); r.SizeBytes != smallest {
		t.Errorf("the request is for %d bytes", r.SizeBytes)
	}
	w.place.known = place{free: -1}
	p.entry.SetText("5000")
	if p.message.Visible() {
		t.Errorf("with nothing known of the disk it says %q", p.message.Text())
	}
}

func TestSizedToContent(t *testing.T) {
	k := desk(t)
	folder := filepath.Join(k.Folder, "Pictures 2024")
	if err := os.MkdirAll(filepath.Join(folder, "deep", "er"), 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		if err := os.WriteFile(filepath.Join(folder, "deep", fmt.Sprint(i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(filepath.Join(folder, "deep", fmt.Sprint(i)), 50e6); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Truncate(filepath.Join(folder, "deep", "0"), 5e9); err != nil {
		t.Fatal(err)
	}
	w := start(k, folder)
	if w.place.name.Text != "Pictures 2024" {
		t.Errorf("it suggests the name %q", w.place.name.Text)
	}
	w.place.known.free = 100e9
	k.Until("it is counted", func() bool { return w.size.tally.done })
	w.at = pageSize
	w.place.known.free = 100e9
	w.turn(pageSize)
	k.MustSay("5.5 GB in 10 files will be copied in")
	k.MustSay("One file is over 4 GB")
	k.Picture("create-2-content")
	if w.size.bytes < 55e8 || w.size.bytes > 70e8 {
		t.Errorf("sized to %d for 5.45 GB", w.size.bytes)
	}
	w.size.entry.SetText("1")
	k.MustSay("need at least")
	w.size.entry.SetText("7")
	if !Dropped([]string{filepath.Join(folder, "deep", "1")}) {
		t.Error("a drop on the open wizard is not taken")
	}
	k.Until("it is counted again", func() bool { return w.size.tally.files == 11 })
	if w.size.bytes != 7e9 {
		t.Error("a size that the person has chosen is changed")
	}
	toSecretFromSize(k, w)
	w.secret.recovery.SetChecked(false)
	k.Key(fyne.KeyReturn)
	image := filepath.Join(xdg.UserDirs.Documents, "Pictures 2024.img")
	k.Until("the files are copied in", func() bool {
		return k.AskedFor("CopyIn " + image + " " + folder + " " + filepath.Join(folder, "deep", "1") + " /")
	})
}

func toSecretFromSize(k *uitest.Desk, w *wizard) {
	enter(k, w, pageSecret)
	k.Type("correct horse battery")
	k.Key(fyne.KeyReturn)
	k.Type("correct horse battery")
}

func TestContentIsForgotten(t *testing.T) {
	k := desk(t)
	file := filepath.Join(k.Folder, "a.txt")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	w := start(k, file)
	enter(k, w, pageSize)
	k.Until("it is counted", func() bool { return w.size.tally.done })
	k.Tap("Do not copy them")
	if len(w.size.files) != 0 || k.Says("will be copied in") {
		t.Error("they are not forgotten")
	}
}

func TestPasswordRules(t *testing.T) {
	k := desk(t)
	w := start(k)
	enter(k, w, pageSize)
	enter(k, w, pageSecret)
	stays := func(says string) {
		t.Helper()
		k.Tap("Next")
		k.MustSay(says)
		if w.at != pageSecret {
			t.Fatal("it goes on")
		}
	}
	stays("Type a password")
	k.Type("one")
	stays("once more")
	if k.Window().Canvas().Focused() != fyne.Focusable(w.secret.again) {
		t.Error("the second entry has not the focus")
	}
	k.Type("two")
	stays("The two passwords differ")
	k.Picture("create-3-differ")
	w.secret.entry.SetText(strings.Repeat("x", maxPassword+1))
	stays("too long")
	w.secret.entry.SetText("one")
	w.secret.again.SetText("one")
	enter(k, w, pageSheet)
	if w.secret.entry.Text != "" || w.secret.again.Text != "" {
		t.Error("the entries are not empty once the password is known")
	}
	k.Tap("Back")
	k.Key(fyne.KeyReturn) // kept
	k.Until("the password is kept", func() bool { return w.at == pageSheet })
	if string(w.secret.held) != "one" {
		t.Errorf("kept %q", w.secret.held)
	}
	k.Tap("Back")
	k.Type("three")
	stays("once more")
}

func TestKeyFiles(t *testing.T) {
	k := desk(t)
	w := start(k)
	enter(k, w, pageSize)
	enter(k, w, pageSecret)
	chooseFile = func(_ *ui.Deps, _ string, chosen func(string)) { chosen("/keys/usb.key") }
	chooseNew = func(_ *ui.Deps, _, folder, name string, chosen func(string)) { chosen(filepath.Join(folder, name)) }
	k.Tap("Add a key file…")
	k.Tap("Make a new key file…")
	k.Until("it is made", func() bool { return len(w.secret.keyfiles) == 2 })
	k.Picture("create-3-keyfiles")
	w.secret.recovery.SetChecked(false)
	k.Tap("Create") // the key files do without a password
	k.Until("it is made", func() bool { return k.Coffer.Called("Create") == 1 })
}

func TestSheetRules(t *testing.T) {
	k := desk(t)
	w := start(k)
	toSecret(k, w)
	enter(k, w, pageSheet)
	p := w.sheet
	key := string(p.key)
	a, b := p.asked[0], p.asked[1]
	if a == b || a < 1 || b > recovery.Groups {
		t.Fatalf("groups %d and %d are asked for", a, b)
	}
	for i := range recovery.Groups {
		k.MustSay(string(recovery.Group([]byte(key), i+1)))
	}
	k.Tap("Create")
	k.MustSay(fmt.Sprintf("Type group %d", a))
	k.Type("?")
	for i := range recovery.Groups {
		if k.Says(string(recovery.Group([]byte(key), i+1))) {
			t.Error("the key does not hide while it is typed")
		}
	}
	k.Type("????")
	k.MustSay(fmt.Sprintf("Group %d is not that", a))
	k.Tap("Show the key again")
	k.MustSay(string(recovery.Group([]byte(key), 1)))
	p.entries[0].SetText("")
	k.Type(string(recovery.Group([]byte(key), a)))
	if k.Window().Canvas().Focused() != fyne.Focusable(p.entries[1]) {
		t.Error("a right group does not lead to the next one")
	}
	k.Type("wrong")
	k.Tap("Create")
	if w.at != pageSheet {
		t.Fatal("it goes on with a wrong group")
	}
	k.Tap("Back")
	enter(k, w, pageSheet)
	if string(p.key) != key {
		t.Error("the key changes although it may be printed already")
	}
}

func TestSheetIsSaved(t *testing.T) {
	k := desk(t)
	w := start(k)
	toSecret(k, w)
	enter(k, w, pageSheet)
	path := ""
	chooseNew = func(_ *ui.Deps, _, _, name string, chosen func(string)) {
		path = filepath.Join(k.Folder, name)
		chosen(path)
	}
	k.Tap("Save a sheet to print…")
	k.Until("it is saved", func() bool { return k.Says("then delete the file") })
	k.Picture("create-4-saved")
	page, err := os.ReadFile(path)
	if err != nil || !strings.Contains(string(page), string(recovery.Group(w.sheet.key, 7))) || strings.Contains(string(page), "correct horse") {
		t.Errorf("the sheet: %v\n%s", err, page)
	}
	if err := os.WriteFile(path, []byte("another one"), 0o600); err != nil {
		t.Fatal(err)
	}
	k.Tap("Save a sheet to print…")
	k.Until("it is refused", func() bool { return k.Says("That did not work") })
	if old, _ := os.ReadFile(path); string(old) != "another one" || filepath.Base(path) != "My files recovery key.html" {
		t.Errorf("%s was overwritten", path)
	}
}

func TestEscapeAtEachStep(t *testing.T) {
	for at := pagePlace; at <= pageSheet; at++ {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			k := desk(t)
			w := start(k)
			switch at {
			case pageSize:
				enter(k, w, pageSize)
			case pageSecret:
				toSecret(k, w)
			case pageSheet:
				toSheet(k, w)
			}
			k.Key(fyne.KeyEscape)
			if current != nil || k.Dialogs() != 0 || k.Coffer.Called("Create") != 0 {
				t.Error("it is not closed")
			}
			nothingLeft(t, w)
			if left, _ := os.ReadDir(xdg.UserDirs.Documents); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

func TestCancelledWhileMaking(t *testing.T) {
	for _, call := range []string{"Create", "AddKey"} {
		t.Run(call, func(t *testing.T) {
			k := desk(t)
			w := start(k)
			toSheet(k, w)
			k.Coffer.Wait[call] = make(chan struct{})
			k.Key(fyne.KeyReturn)
			k.Until("it is being made", func() bool { return k.Coffer.Called(call) == 1 })
			k.Picture("create-5-" + call)
			k.Tap("Cancel")
			k.Until("it is back", func() bool { return w.making == nil && w.at == pageSheet })
			if left, _ := os.ReadDir(xdg.UserDirs.Documents); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
			if k.Coffer.Called("Unlock") != 0 || len(k.Deps.Model.Containers()) != 0 {
				t.Error("it goes on")
			}
			k.Key(fyne.KeyEscape)
			nothingLeft(t, w)
		})
	}
}

func TestClosedWhileMaking(t *testing.T) {
	k := desk(t)
	w := start(k)
	toSheet(k, w)
	k.Coffer.Wait["AddKey"] = make(chan struct{})
	k.Key(fyne.KeyReturn)
	k.Until("it is being made", func() bool { return k.Coffer.Called("AddKey") == 1 })
	w.close()
	k.Until("it has ended", func() bool { return w.making == nil })
	if left, _ := os.ReadDir(xdg.UserDirs.Documents); len(left) != 0 || k.Dialogs() != 0 {
		t.Errorf("left behind: %v", left)
	}
	nothingLeft(t, w)
}

func TestAnotherFileIsNotRemoved(t *testing.T) {
	folder := t.TempDir()
	path := filepath.Join(folder, "a.img")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	made, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Rename(path, filepath.Join(folder, "b.img")), os.WriteFile(path, []byte("another"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := removeMade(path, made); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Error("another file that took the name was removed")
	}
}

func TestFailures(t *testing.T) {
	for name, one := range map[string]struct {
		code protocol.ExitCode
		page int
	}{"no space": {protocol.NoSpace, pageSize}, "another": {protocol.Failed, pagePlace}} {
		t.Run(name, func(t *testing.T) {
			k := desk(t)
			w := start(k)
			toSheet(k, w)
			k.Coffer.Fail["Create"] = fake.Problem(one.code, "the disk is on fire", "leave the room")
			k.Key(fyne.KeyReturn)
			k.Until("it is told", func() bool { return w.making == nil && w.at == one.page })
			k.MustSay("The disk is on fire. Leave the room.")
			for w.at < pageSecret { // once more: nothing secret is typed again but the groups
				enter(k, w, w.at+1)
			}
			enter(k, w, pageSheet)
			for _, group := range w.sheet.asked {
				k.Type(string(recovery.Group(w.sheet.key, group)))
			}
			k.Key(fyne.KeyReturn)
			k.Until("it is unlocked", func() bool { return k.Coffer.Called("Unlock") == 1 && k.Dialogs() == 0 })
		})
	}
}

func TestRecoveryKeyThatCouldNotBeAdded(t *testing.T) {
	k := desk(t)
	w := start(k)
	toSheet(k, w)
	k.Coffer.Fail["AddKey"] = fake.Problem(protocol.Failed, "no slot is free", "")
	k.Key(fyne.KeyReturn)
	k.Until("it is told", func() bool { return k.Says("recovery key could not be added: No slot is free.") })
	if k.Coffer.Called("Unlock") != 1 {
		t.Error("the container is not unlocked all the same")
	}
	nothingLeft(t, w)
}

func TestNoDriveHere(t *testing.T) {
	k := desk(t)
	w := start(k)
	toSheet(k, w)
	k.Coffer.Fail["Unlock"] = fake.Problem(protocol.NoMount, "no FUSE", "")
	k.Key(fyne.KeyReturn)
	k.Until("it is told", func() bool { return k.Says("cannot show drives yet") })
	k.Tap("Open without a drive")
	k.Until("it is open", func() bool { return k.AskedFor("Show files " + w.place.path()) })
}

func TestLabels(t *testing.T) {
	for label, right := range map[string]bool{"": true, "PHOTOS": true, "photos 2024": true, "Über": true, "elevencharsX": false, "trailing   ": true,
		" x": false, "a.b": false, "a/b": false, "日本": false, "a\x01": false, "ELEVENCHARS": true} {
		if got := wrongLabel(label); (got == "") != right {
			t.Errorf("%q: %q", label, got)
		}
	}
}

func TestMoreOptions(t *testing.T) {
	k := desk(t)
	w := start(k)
	k.Tap("More options…")
	k.Picture("create-more")
	k.Type("a.b")
	k.MustSay("cannot have “.”")
	k.Key(fyne.KeyReturn)
	if k.Dialogs() != 2 {
		t.Fatal("a wrong label is taken")
	}
	k.Key(fyne.KeyEscape)
	if w.more != (options{}) {
		t.Errorf("cancelled, but %+v", w.more)
	}
	k.Tap("More options…")
	k.Type("Photos")
	cipher := uitest.Find(k, "the cipher", func(s *ui.KeySelect) bool { return slices.Equal(s.Options, cipherNames()) })
	cipher.SetSelectedIndex(1)
	cost := uitest.Find(k, "the cost", func(s *ui.KeySelect) bool { return slices.Equal(s.Options, costNames()) })
	cost.SetSelectedIndex(2)
	cluster := uitest.Find(k, "the cluster size", func(s *ui.KeySelect) bool { return slices.Equal(s.Options, clusterNames()) })
	cluster.SetSelectedIndex(3)
	uitest.Find(k, "the check box", func(*ui.KeyCheck) bool { return true }).SetChecked(true)
	k.Tap("OK")
	if k.Dialogs() != 1 {
		t.Fatal("OK does not close it")
	}
	r := w.request(w.secret.credential())
	if r.Cipher != "aes-128-xts" || r.KDFTime != 3*time.Second || r.ClusterBytes != 16<<10 || r.Label != "Photos" || !r.Preallocate {
		t.Errorf("the request is %+v", r)
	}
}

func TestRecoveryDialog(t *testing.T) {
	k := desk(t)
	image := filepath.Join(k.Folder, "Photos.img")
	one := k.Coffer.Add(image, "secret")
	told := false
	RecoveryDialog(k.Deps, image, func() { told = true })
	k.Picture("recovery-1")
	key := typeGroups(k)
	k.Key(fyne.KeyReturn)
	k.MustSay("Type a password that opens the container")
	k.Picture("recovery-2")
	k.Key(fyne.KeyReturn)
	k.MustSay("Type the password")
	k.Type("wrong")
	k.Key(fyne.KeyReturn)
	k.Until("it is told", func() bool { return k.Says("not the password") })
	k.Coffer.Wait["AddKey"] = make(chan struct{})
	k.Type("secret")
	k.Key(fyne.KeyReturn)
	k.Until("it is being added", func() bool { return k.Coffer.Called("AddKey") == 2 })
	k.Key(fyne.KeyEscape)
	k.Until("it is cancelled", func() bool { return k.Says("[Add the key]") && !k.Button("Add the key").(*ui.KeyButton).Disabled() })
	delete(k.Coffer.Wait, "AddKey")
	k.Type("secret")
	k.Key(fyne.KeyReturn)
	k.Until("it is added", func() bool { return k.Dialogs() == 0 })
	if !slices.Equal(one.Added, []string{key}) {
		t.Errorf("added %q, want %q", one.Added, key)
	}
	if !told {
		t.Error("whoever has opened it is not told")
	}
}

// typeGroups reads the key from the dialog as a person does, and types the two groups that are asked for.
func typeGroups(k *uitest.Desk) string {
	var groups []string
	var asked []int
	for _, words := range k.Texts() {
		if len(words) == recovery.GroupLength && strings.ToUpper(words) == words {
			groups = append(groups, words)
		}
		var n int
		if _, err := fmt.Sscanf(words, "Group %d", &n); err == nil {
			asked = append(asked, n)
		}
	}
	for _, n := range asked {
		k.Type(groups[n-1])
	}
	return strings.Join(groups, "-")
}
