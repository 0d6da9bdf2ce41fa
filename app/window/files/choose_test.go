package files

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/test"
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
func (w *world) chooser(kind chooseKind, folder string) (c *chooser, got *[]string) {
	w.t.Helper()
	got = new([]string)
	w.screen.place = folder
	w.screen.chooseOnHost(kind, func(paths []string) { *got = paths })
	c = w.screen.chooser
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
	c, got := w.chooser(chooseFiles, home)
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
	c, got := w.chooser(chooseFiles, home)
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
	c, _ := w.chooser(chooseFiles, home)
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
	c, got := w.chooser(chooseTarget, home)
	if c.names() != "Letters Photos" || c.ok.Text != "Export here" || c.ok.Disabled() {
		t.Errorf("shown %s, button %q", c.names(), c.ok.Text)
	}
	c.press(0, 0, false)
	c.press(1, fyne.KeyModifierShortcutDefault, false)
	if !c.ok.Disabled() {
		t.Error("export to two folders?")
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
	c, got := w.chooser(chooseFolder, home)
	if c.ok.Text != "Add this folder" {
		t.Errorf("the button is %q", c.ok.Text)
	}
	c.press(1, 0, false)
	c.accept()
	if !slices.Equal(*got, []string{filepath.Join(home, "Photos")}) {
		t.Errorf("chosen %q", *got)
	}
	c, got = w.chooser(chooseFolder, filepath.Join(home, "Photos"))
	c.accept()
	if !slices.Equal(*got, []string{filepath.Join(home, "Photos")}) {
		t.Errorf("chosen %q", *got)
	}
}
