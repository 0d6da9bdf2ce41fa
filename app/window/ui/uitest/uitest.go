// Package uitest is a window for tests of dialogs and screens: a shell that notes what it was asked for, over a Coffer in
// memory, without a display. What other goroutines post for Fyne's waits until the test lets it run, so tests are free of races
// and of waiting for time.
package uitest

import (
	"context"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"coffer/app/config"
	"coffer/app/window/backend/fake"
	"coffer/app/window/model"
	"coffer/app/window/ui"
)

// patience is how long Until waits for what must come.
const patience = 20 * time.Second

// Desk is the window of a test.
type Desk struct {
	t      *testing.T
	Deps   *ui.Deps
	Coffer *fake.Coffer
	Folder string   // empty, of the test
	Asked  []string // what the shell was asked for: "Show files /a.img"
	window fyne.Window
	posted chan func()
}

// New makes one; name chooses the theme: ui.ThemeLight or ui.ThemeDark.
func New(t *testing.T, name string) *Desk {
	t.Helper()
	if dark := os.Getenv("COFFER_PICTURES_THEME"); dark != "" {
		name = dark
	}
	speak(t)
	app := test.NewTempApp(t)
	app.Settings().SetTheme(ui.Theme(name))
	k := &Desk{t: t, Coffer: fake.New(), Folder: t.TempDir(), posted: make(chan func(), 10000)}
	k.window = test.NewTempWindow(t, widget.NewLabel(""))
	k.window.SetPadded(false)
	k.window.Resize(fyne.NewSize(1024, 700))
	m, err := model.New(k.Coffer, filepath.Join(k.Folder, "containers.json"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() {
		cancel()
		k.Deps.Wait()
	})
	k.Deps = &ui.Deps{Shell: k, Model: m, Backend: k.Coffer.Backend(), Context: ctx, Post: func(f func()) { k.posted <- f },
		Paths: config.Paths{Config: k.Folder, Data: k.Folder, State: k.Folder}}
	return k
}

// Until lets what was posted run until something holds.
func (k *Desk) Until(what string, holds func() bool) {
	k.t.Helper()
	deadline := time.After(patience)
	for !holds() {
		select {
		case f := <-k.posted:
			f()
		case <-deadline:
			k.t.Fatalf("waited in vain until %s; shown: %q", what, k.Texts())
		case <-time.After(time.Millisecond): // for what is not posted, such as a call of the fake
		}
	}
}

// Dialogs is how many dialogs are open.
func (k *Desk) Dialogs() int { return len(k.window.Canvas().Overlays().List()) }

// shown are the objects to be seen in the dialog on top, or in the window.
func (k *Desk) shown() []fyne.CanvasObject {
	var all []fyne.CanvasObject
	var walk func(o fyne.CanvasObject)
	walk = func(o fyne.CanvasObject) {
		if o == nil || !o.Visible() {
			return
		}
		all = append(all, o)
		switch o := o.(type) {
		case *fyne.Container:
			for _, child := range o.Objects {
				walk(child)
			}
		case *widget.Label, *widget.Button, *ui.KeyButton, *widget.Check, *ui.KeyCheck: // their text is known
		case fyne.Widget:
			for _, child := range test.WidgetRenderer(o).Objects() {
				walk(child)
			}
		}
	}
	if top := k.window.Canvas().Overlays().Top(); top != nil {
		walk(top)
	} else {
		walk(k.window.Content())
	}
	return all
}

// Find gives the visible object of a type in the dialog on top that fits; it must be there.
func Find[T fyne.CanvasObject](k *Desk, what string, fits func(T) bool) T {
	k.t.Helper()
	for _, o := range k.shown() {
		if found, ok := o.(T); ok && fits(found) {
			return found
		}
	}
	k.t.Fatalf("%s is not shown; shown: %q", what, k.Texts())
	panic("unreachable")
}

// Button is the button with that text.
func (k *Desk) Button(label string) fyne.Tappable {
	k.t.Helper()
	found := Find(k, "the button "+label, func(o fyne.CanvasObject) bool {
		text, ok := buttonText(o)
		return ok && same(text, label)
	})
	return found.(fyne.Tappable)
}

func buttonText(o fyne.CanvasObject) (string, bool) {
	switch b := o.(type) {
	case *widget.Button:
		return b.Text, true
	case *ui.KeyButton:
		return b.Text, true
	}
	return "", false
}

// Tap taps the button with that text, which must be enabled.
func (k *Desk) Tap(label string) {
	k.t.Helper()
	b := k.Button(label)
	if b.(fyne.Disableable).Disabled() {
		k.t.Fatalf("the button %s is disabled; shown: %q", label, k.Texts())
	}
	test.Tap(b)
}

// Key presses a key where the focus is.
func (k *Desk) Key(name fyne.KeyName) {
	k.t.Helper()
	e := &fyne.KeyEvent{Name: name}
	if focused := k.window.Canvas().Focused(); focused != nil {
		focused.TypedKey(e)
	} else if typed := k.window.Canvas().OnTypedKey(); typed != nil {
		typed(e)
	}
}

// Type types where the focus is.
func (k *Desk) Type(words string) {
	k.t.Helper()
	focused := k.window.Canvas().Focused()
	if focused == nil {
		k.t.Fatalf("typing %q: nothing has the focus", words)
	}
	for _, r := range words {
		focused.TypedRune(r)
	}
}

// Texts are the texts to be seen in the dialog on top, in order.
func (k *Desk) Texts() []string {
	var all []string
	for _, o := range k.shown() {
		switch o := o.(type) {
		case *widget.Label:
			all = append(all, english(o.Text))
		case *ui.KeyCheck:
			all = append(all, english(o.Text))
		case *widget.Check:
			all = append(all, english(o.Text))
		case *canvas.Text:
			all = append(all, english(o.Text))
		default:
			if text, ok := buttonText(o); ok {
				all = append(all, "["+english(text)+"]")
			}
		}
	}
	return all
}

// Says says whether some text in the dialog on top has these words in it.
func (k *Desk) Says(words string) bool {
	return strings.Contains(strings.Join(k.Texts(), "\n"), words)
}

// MustSay fails the test if the words are not to be seen.
func (k *Desk) MustSay(words string) {
	k.t.Helper()
	if !k.Says(words) {
		k.t.Errorf("%q is not to be seen; shown: %q", words, k.Texts())
	}
}

// Picture draws the window into $COFFER_PICTURES/name.png, if that is set, in the theme $COFFER_PICTURES_THEME
// and the language $COFFER_PICTURES_LANGUAGE: for people to look at.
func (k *Desk) Picture(name string) {
	k.t.Helper()
	folder := os.Getenv("COFFER_PICTURES")
	if folder == "" {
		return
	}
	file, err := os.Create(filepath.Join(folder, name+".png"))
	if err != nil {
		k.t.Fatal(err)
	}
	defer file.Close()
	if err := png.Encode(file, k.window.Canvas().Capture()); err != nil {
		k.t.Fatal(err)
	}
}

// Size gives the window a size.
func (k *Desk) Size(width, height float32) { k.window.Resize(fyne.NewSize(width, height)) }

// Window implements ui.Shell.
func (k *Desk) Window() fyne.Window { return k.window }

// Show implements ui.Shell.
func (k *Desk) Show(page ui.Page, image string) {
	names := [...]string{"home", "files", "transfers", "lab", "health", "settings"}
	k.Asked = append(k.Asked, "Show "+names[page]+" "+image)
}

// Chosen implements ui.Shell.
func (k *Desk) Chosen() string { return "" }

// Unlock implements ui.Shell.
func (k *Desk) Unlock(image string, _ func(string)) { k.Asked = append(k.Asked, "Unlock "+image) }

// NewContainer implements ui.Shell.
func (k *Desk) NewContainer(files []string) {
	k.Asked = append(k.Asked, "NewContainer "+strings.Join(files, " "))
}

// CopyIn implements ui.Shell.
func (k *Desk) CopyIn(image string, files []string, folder string) {
	k.Asked = append(k.Asked, "CopyIn "+image+" "+strings.Join(files, " ")+" "+folder)
}

// Notify implements ui.Shell.
func (k *Desk) Notify(title, words string) { k.Asked = append(k.Asked, "Notify "+title+": "+words) }

// AskedFor says whether the shell was asked for something.
func (k *Desk) AskedFor(what string) bool {
	for _, one := range k.Asked {
		if one == what {
			return true
		}
	}
	return false
}
