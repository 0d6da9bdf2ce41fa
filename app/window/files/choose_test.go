package files

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"coffer/app/window/ui"
)

// hostFolder is a folder of the host with some things in it.
func hostFolder(t *testing.T) string {
	t.Helper()
	home := filepath.Join(t.TempDir(), "me")
	for _, name := range []string{"Letters/", "Letters/one.txt", "Photos/", "film.mkv", "notes.txt", ".hidden", "page 10", "page 9"} {
		p := filepath.Join(home, name)
		var err error
		if strings.HasSuffix(name, "/") {
			err = os.MkdirAll(p, 0o700)
		} else if err = os.MkdirAll(filepath.Dir(p), 0o700); err == nil {
			err = os.WriteFile(p, []byte(name), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(home, "nowhere"), filepath.Join(home, "dangling")); err != nil {
		t.Log(err) // not on every Windows
	}
	return home
}

// chooser opens a chooser in a folder and waits until it is read.
func (w *world) chooser(want Want, folder string) (c *chooser, got *[]string) {
	w.t.Helper()
	got = new([]string)
	r := Request{Want: want, Folder: folder, Action: "Take", Here: "Take this folder", Name: "new.key"}
	c = w.screen.newChooser(r, func(paths []string) { *got = paths })
	c.show()
	w.until("the folder is read", func() bool { return c.folder == folder })
	return c, got
}

func (c *chooser) names() string {
	var names []string
	for _, i := range c.items {
		names = append(names, i.name)
	}
	return strings.Join(names, " ")
}

func TestChooseFiles(t *testing.T) {
	w := newWorld(t, true)
	w.show()
	home := hostFolder(t)
	c, got := w.chooser(WantMany, home)
	if c.names() != "Letters Photos film.mkv notes.txt page 9 page 10" {
		t.Errorf("shown: %s", c.names())
	}
	if !c.ok.Disabled() {
		t.Error("nothing is chosen, but it can be added")
	}
	c.press(0, 0, false)
	c.press(2, fyne.KeyModifierShortcutDefault, false)
	c.press(3, fyne.KeyModifierShortcutDefault, false)
	if !strings.Contains(c.said.Text, "3 selected") {
		t.Errorf("it says %q", c.said.Text)
	}
	test.Tap(&c.ok.Button)
	if want := []string{filepath.Join(home, "Letters"), filepath.Join(home, "film.mkv"), filepath.Join(home, "notes.txt")}; !slices.Equal(*got, want) {
		t.Errorf("chosen %q, want %q", *got, want)
	}
	if w.overlay() != nil || w.shell.window.Canvas().Focused() != w.screen.table {
		t.Error("the dialog is still there, or the list has not the keyboard")
	}
}

func TestChooseByKeys(t *testing.T) {
	w := newWorld(t, true)
	w.show()
	home := hostFolder(t)
	c, got := w.chooser(WantMany, home)
	w.key(fyne.KeyDown, fyne.KeyReturn) // into Letters
	w.until("it is entered", func() bool { return c.folder == filepath.Join(home, "Letters") })
	w.key(fyne.KeyBackspace)
	w.until("it is left", func() bool { return c.folder == home })
	if c.sel.cursor != 0 {
		t.Errorf("the cursor is at %d, not where one came from", c.sel.cursor)
	}
	c.table.TypedRune('n')
	w.key(fyne.KeyReturn)
	if !slices.Equal(*got, []string{filepath.Join(home, "notes.txt")}) {
		t.Errorf("chosen %q", *got)
	}
}

func TestChooseHiddenAndTyped(t *testing.T) {
	w := newWorld(t, true)
	w.show()
	home := hostFolder(t)
	c, _ := w.chooser(WantMany, home)
	c.hidden = true
	c.enter("Letters")
	w.until("a relative path leads on", func() bool { return c.folder == filepath.Join(home, "Letters") })
	c.enter("..")
	w.until("and back", func() bool { return c.folder == home && strings.Contains(c.names(), ".hidden") })
	c.enter("/does/not/exist")
	w.until("it is told", func() bool { return strings.Contains(c.said.Text, "/does/not/exist") })
	if c.folder != home || len(c.items) == 0 {
		t.Error("what was shown is gone")
	}
	w.key(fyne.KeyEscape)
	if w.overlay() != nil {
		t.Error("escape does not close it")
	}
}

func TestChooseTarget(t *testing.T) {
	w := newWorld(t, true)
	w.show()
	home := hostFolder(t)
	c, got := w.chooser(WantFolder, home)
	if c.names() != "Letters Photos" || c.ok.Text != "Take this folder" || c.ok.Disabled() {
		t.Errorf("shown %s, button %q", c.names(), c.ok.Text)
	}
	c.press(0, 0, false)
	c.press(1, fyne.KeyModifierShortcutDefault, false)
	if c.sel.count != 1 || c.ok.Text != "Take" {
		t.Errorf("%d folders are chosen, button %q", c.sel.count, c.ok.Text)
	}
	c.newFolder()
	w.until("a new folder is entered", func() bool { return c.folder == filepath.Join(home, "New folder") })
	c.up()
	w.until("it is left", func() bool { return c.folder == home && c.sel.count == 1 })
	c.newFolder()
	w.until("another one", func() bool { return c.folder == filepath.Join(home, "New folder 2") })
	test.Tap(&c.ok.Button)
	if !slices.Equal(*got, []string{filepath.Join(home, "New folder 2")}) {
		t.Errorf("chosen %q", *got)
	}
}

func TestChooseFolder(t *testing.T) {
	w := newWorld(t, true)
	w.show()
	home := hostFolder(t)
	c, got := w.chooser(WantFolders, home)
	if c.ok.Text != "Take this folder" {
		t.Errorf("the button is %q", c.ok.Text)
	}
	c.press(1, 0, false)
	c.accept()
	if !slices.Equal(*got, []string{filepath.Join(home, "Photos")}) {
		t.Errorf("chosen %q", *got)
	}
	c, got = w.chooser(WantFolders, filepath.Join(home, "Photos"))
	c.accept()
	if !slices.Equal(*got, []string{filepath.Join(home, "Photos")}) {
		t.Errorf("chosen %q", *got)
	}
}

// typeInto types something and Enter into a line.
func (c *chooser) typeInto(e interface {
	SetText(string)
	TypedKey(*fyne.KeyEvent)
}, words string) {
	e.SetText(words)
	e.TypedKey(&fyne.KeyEvent{Name: fyne.KeyReturn})
}

func TestChoosePathOfFile(t *testing.T) {
	for _, want := range []Want{WantFile, WantMany} {
		w := newWorld(t, true)
		w.show()
		home := hostFolder(t)
		c, got := w.chooser(want, home)
		c.typeInto(c.way, filepath.Join(home, "Letters", "one.txt")+" ")
		w.until("the file is taken", func() bool { return len(*got) > 0 })
		if !slices.Equal(*got, []string{filepath.Join(home, "Letters", "one.txt")}) || w.overlay() != nil {
			t.Errorf("chosen %q", *got)
		}
	}
	w := newWorld(t, true)
	w.show()
	home := hostFolder(t)
	c, got := w.chooser(WantFolder, home)
	c.typeInto(c.way, "Letters/one.txt")
	w.until("it is told", func() bool { return c.said.Text == "That is a file, not a folder." })
	if *got != nil || c.folder != filepath.Join(home, "Letters") {
		t.Errorf("chosen %q, in %s", *got, c.folder)
	}
}

func TestChooseStartsPath(t *testing.T) {
	w := newWorld(t, true)
	w.show()
	home := hostFolder(t)
	c, got := w.chooser(WantFile, home)
	c.table.TypedRune('/')
	if w.shell.window.Canvas().Focused() != c.way {
		t.Fatal("a path that is typed does not go to its line")
	}
	for _, r := range filepath.ToSlash(filepath.Join(home, "notes.txt"))[1:] {
		c.way.TypedRune(r)
	}
	c.table.TypedShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyL, Modifier: fyne.KeyModifierShortcutDefault})
	if c.way.SelectedText() != home {
		t.Errorf("%q is selected", c.way.SelectedText())
	}
	c.typeInto(c.way, "notes.txt")
	w.until("it is taken", func() bool { return slices.Equal(*got, []string{filepath.Join(home, "notes.txt")}) })
}

func TestChooseOneFile(t *testing.T) {
	w := newWorld(t, true)
	w.show()
	home := hostFolder(t)
	c, got := w.chooser(WantFile, home)
	c.press(0, 0, false)
	c.press(2, fyne.KeyModifierShortcutDefault, false)
	if c.sel.count != 1 {
		t.Errorf("%d are chosen", c.sel.count)
	}
	c.press(0, 0, false)
	c.accept()
	w.until("a folder is entered, not taken", func() bool { return c.folder == filepath.Join(home, "Letters") })
	c.table.TypedShortcut(&desktop.CustomShortcut{KeyName: fyne.KeyUp, Modifier: fyne.KeyModifierAlt})
	w.until("Alt and Up leave it", func() bool { return c.folder == home })
	w.key(fyne.KeyEnd, fyne.KeyReturn)
	if !slices.Equal(*got, []string{filepath.Join(home, "page 10")}) {
		t.Errorf("chosen %q", *got)
	}
}

func TestChooseBeginsNear(t *testing.T) {
	w := newWorld(t, true)
	w.show()
	home := hostFolder(t)
	begin := func(folder, shown string) {
		t.Helper()
		c := w.screen.newChooser(Request{Want: WantFile, Folder: folder}, nil)
		c.show()
		w.until("it is read", func() bool { return c.folder != "" })
		if c.folder != shown {
			t.Errorf("from %q it begins in %s", folder, c.folder)
		}
		w.key(fyne.KeyEscape)
	}
	begin(filepath.Join(home, "gone", "deeper"), home)
	begin(filepath.Join(home, "Letters", "one.txt"), filepath.Join(home, "Letters"))
	begin("", filepath.Join(home, "Letters")) // where the last one was
}

func TestChooseNew(t *testing.T) {
	w := newWorld(t, true)
	w.show()
	home := hostFolder(t)
	c, got := w.chooser(WantNew, home)
	if focused := w.shell.window.Canvas().Focused(); focused != c.name || c.name.SelectedText() != "new" {
		t.Errorf("the keyboard is at %T, %q is selected", focused, c.name.SelectedText())
	}
	c.typeInto(c.name, "notes.txt")
	w.until("it is told", func() bool { return strings.Contains(c.said.Text, "already a file") })
	if *got != nil {
		t.Fatal("a file that is there would be overwritten")
	}
	c.typeInto(c.name, filepath.Join(home, "Photos", "mine.key"))
	w.until("the path leads on", func() bool { return c.folder == filepath.Join(home, "Photos") && c.name.Text == "mine.key" })
	c.typeInto(c.name, "mine")
	w.until("it is chosen", func() bool { return *got != nil })
	if !slices.Equal(*got, []string{filepath.Join(home, "Photos", "mine.key")}) {
		t.Errorf("chosen %q", *got)
	}
}

func TestChooseCancelledOverDialog(t *testing.T) {
	w := newWorld(t, true)
	w.show()
	below := ui.NewPanel(w.shell.window, "Below", 300, widget.NewLabel("words"))
	below.Keys.Escape = below.Close
	below.Show()
	home := hostFolder(t)
	c := newChooser(w.screen.deps, Request{Want: WantFile, Folder: home}, nil)
	c.show()
	w.until("it is read", func() bool { return c.folder == home })
	w.key(fyne.KeyEscape)
	if c.panel.Open() || !below.Open() {
		t.Errorf("the chooser is open: %t, the dialog below: %t", c.panel.Open(), below.Open())
	}
}

// TestChooseTypedWithoutEnter: the button never takes the folder shown while another path stands in the line above it.
func TestChooseTypedWithoutEnter(t *testing.T) {
	w := newWorld(t, true)
	w.show()
	home := hostFolder(t)
	c, got := w.chooser(WantFolder, home)
	letters := filepath.Join(home, "Letters")
	c.way.SetText(letters)
	test.Tap(&c.ok.Button)
	w.until("what was typed is gone to", func() bool { return c.folder == letters })
	if len(*got) != 0 {
		t.Errorf("chosen %q", *got)
	}
	c.way.SetText("/does/not/exist")
	test.Tap(&c.ok.Button)
	w.until("it is said", func() bool { return strings.Contains(c.said.Text, "/does/not/exist") })
	if len(*got) != 0 || c.folder != letters {
		t.Errorf("chosen %q in %s", *got, c.folder)
	}
	c.way.SetText(letters)
	test.Tap(&c.ok.Button)
	if !slices.Equal(*got, []string{letters}) {
		t.Errorf("chosen %q", *got)
	}
}

// TestChooseExactNames: a folder whose name ends in a space is entered, not another one without it.
func TestChooseExactNames(t *testing.T) {
	w := newWorld(t, true)
	w.show()
	home := hostFolder(t)
	exact := filepath.Join(home, "Letters ")
	if err := os.Mkdir(exact, 0o700); err != nil {
		t.Fatal(err)
	}
	c, _ := w.chooser(WantFolder, home)
	at := slices.IndexFunc(c.items, func(i *item) bool { return i.Path == exact })
	c.open(at)
	w.until("a folder is entered", func() bool { return c.folder != home })
	if c.folder != exact {
		t.Errorf("entered %q", c.folder)
	}
}
