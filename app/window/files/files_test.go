package files

import (
	"context"
	"fmt"
	"image/png"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"
	"fyne.io/fyne/v2/widget"

	"coffer/app/client"
	"coffer/app/config"
	"coffer/app/protocol"
	"coffer/app/window/backend/fake"
	"coffer/app/window/model"
	"coffer/app/window/ui"
	"coffer/app/window/ui/uitest"
)

// shell is the window around the screen.
type shell struct {
	window   fyne.Window
	chosen   string
	unlocked []string
	copied   []string // "image <- paths -> folder"
	page     ui.Page
}

func (s *shell) Window() fyne.Window             { return s.window }
func (s *shell) Show(page ui.Page, image string) { s.page = page }
func (s *shell) Chosen() string                  { return s.chosen }
func (s *shell) Unlock(image string, _ func(string)) {
	s.unlocked = append(s.unlocked, image)
}
func (s *shell) NewContainer([]string) {}
func (s *shell) CopyIn(image string, files []string, folder string) {
	s.copied = append(s.copied, fmt.Sprint(filepath.Base(image), " <- ", files, " -> ", folder))
}
func (s *shell) Notify(string, string) {}

// world is a screen over a fake Coffer. The test's goroutine is Fyne's: what others want to do there waits until the test lets
// it, and timers run when the test says so.
type world struct {
	t      testing.TB
	coffer *fake.Coffer
	one    *fake.Container
	image  string
	shell  *shell
	screen *Screen
	model  *model.Model
	opened []string
	answer []string // of the choosers
	asked  []Want
	held   fyne.KeyModifier

	mu     sync.Mutex
	queue  []func()
	signal chan struct{}
	timers []*timer
}

type timer struct {
	after time.Duration
	f     func()
}

// newWorld makes one with an unlocked container; drive is whether it has one.
func newWorld(t testing.TB, drive bool) *world {
	t.Helper()
	w := &world{t: t, coffer: fake.New(), signal: make(chan struct{}, 1), image: filepath.Join(t.TempDir(), "photos.img")}
	ui.UseTheme(test.NewTempApp(t), os.Getenv("COFFER_PICTURES_THEME"))
	w.one = w.coffer.Add(w.image, "secret")
	m, err := model.New(w.coffer, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Add(w.image); err != nil {
		t.Fatal(err)
	}
	w.model = m
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	w.shell = &shell{window: test.NewTempWindow(t, widget.NewLabel("")), chosen: w.image}
	d := &ui.Deps{Shell: w.shell, Model: m, Backend: w.coffer.Backend(), Paths: config.Paths{Data: t.TempDir()}, Context: ctx, Post: w.do}
	w.screen = New(d)
	s := w.screen
	s.after = func(after time.Duration, f func()) func() {
		one := &timer{after, f}
		w.timers = append(w.timers, one)
		return func() { one.f = nil }
	}
	s.modifiers = func() fyne.KeyModifier { return w.held }
	s.launch = func(u *url.URL) error {
		w.do(func() { w.opened = append(w.opened, u.String()) })
		return nil
	}
	s.choose = func(r Request, then func([]string)) {
		w.asked = append(w.asked, r.Want)
		if w.answer != nil {
			then(w.answer)
		}
	}
	w.shell.window.SetContent(s.Object())
	w.shell.window.Resize(fyne.NewSize(900, 640))
	t.Cleanup(func() { s.Hidden() })
	if !drive {
		w.unlock(true)
	} else {
		w.unlock(false)
	}
	return w
}

func (w *world) unlock(noMount bool) {
	w.t.Helper()
	if _, err := w.coffer.Unlock(context.Background(), client.UnlockRequest{Image: w.image, NoMount: noMount, Credential: client.Credential{Password: client.Secret("secret")}}, nil); err != nil {
		w.t.Fatal(err)
	}
	w.model.Look(context.Background())
}

// do lets f run in the test's goroutine.
func (w *world) do(f func()) {
	w.mu.Lock()
	w.queue = append(w.queue, f)
	w.mu.Unlock()
	select {
	case w.signal <- struct{}{}:
	default:
	}
}

// until runs what others want to do until something is so.
func (w *world) until(what string, so func() bool) {
	w.t.Helper()
	deadline := time.NewTimer(20 * time.Second)
	defer deadline.Stop()
	for {
		w.mu.Lock()
		queue := w.queue
		w.queue = nil
		w.mu.Unlock()
		for _, f := range queue {
			f()
		}
		if so() {
			return
		}
		if len(queue) > 0 {
			continue
		}
		select {
		case <-w.signal:
		case <-time.After(5 * time.Millisecond): // something else may have changed
		case <-deadline.C:
			said := ""
			if top := w.overlay(); top != nil {
				said = says(top)
			}
			w.t.Fatalf("waited in vain until %s; calls: %q; dialog: %q", what, w.coffer.Calls, said)
		}
	}
}

// ring lets all timers that wait run out.
func (w *world) ring() (n int) {
	timers := w.timers
	w.timers = nil
	for _, one := range timers {
		if one.f != nil {
			one.f()
			n++
		}
	}
	return n
}

// show comes to the screen and waits for the list.
func (w *world) show() {
	w.t.Helper()
	w.screen.Shown(w.image)
	w.listed()
}

// listed waits until nothing is being listed.
func (w *world) listed() {
	w.t.Helper()
	w.until("the folder is listed", func() bool { return w.screen.load == nil && w.screen.items != nil })
}

// put fills the container: names ending with "/" are folders.
func (w *world) put(names ...string) {
	w.coffer.Mu.Lock()
	defer w.coffer.Mu.Unlock()
	for i, name := range names {
		if folder, ok := strings.CutSuffix(name, "/"); ok {
			w.one.Put("/"+folder, true, 0)
			continue
		}
		w.one.Put("/"+name, false, int64(i+1)*1000)
	}
}

// names are the names of the list, as they are stored.
func (w *world) names() string {
	var names []string
	for _, i := range w.screen.items {
		names = append(names, i.name)
	}
	return strings.Join(names, " ")
}

func (w *world) chosen() string {
	var names []string
	for _, i := range w.screen.chosen() {
		names = append(names, i.name)
	}
	return strings.Join(names, " ")
}

func (w *world) press(i int, m fyne.KeyModifier) {
	w.screen.table.slotOf(i).MouseDown(&desktop.MouseEvent{Button: desktop.MouseButtonPrimary, Modifier: m})
}

func (w *world) key(names ...fyne.KeyName) {
	for _, name := range names {
		w.shell.window.Canvas().Focused().TypedKey(&fyne.KeyEvent{Name: name})
	}
}

// shortcut is what the canvas of the window hears.
func (w *world) shortcut(s fyne.Shortcut) {
	w.shell.window.Canvas().(fyne.Shortcutable).TypedShortcut(s)
}

// overlay is the dialog on top.
func (w *world) overlay() fyne.CanvasObject { return w.shell.window.Canvas().Overlays().Top() }

// button is the button with the words in the dialog on top.
func (w *world) button(words string) *widget.Button {
	w.t.Helper()
	for _, o := range test.LaidOutObjects(w.overlay()) {
		switch b := o.(type) {
		case *widget.Button:
			if b.Text == words {
				return b
			}
		case *ui.KeyButton:
			if b.Text == words {
				return &b.Button
			}
		}
	}
	w.t.Fatalf("the dialog has no button %q", words)
	return nil
}

// says is every text that is visible in an object.
func says(o fyne.CanvasObject) string {
	var all []string
	for _, one := range test.LaidOutObjects(o) {
		switch l := one.(type) {
		case *widget.Label:
			all = append(all, l.Text)
		case *row:
			all = append(all, l.name.Text, l.folder.Text, l.size.Text, l.when.Text)
		}
	}
	return strings.Join(all, " | ")
}

// slotOf is the row widget that shows row i.
func (t *table) slotOf(i int) *row { return t.slots[i%len(t.slots)] }

// picture writes what the window looks like, if the environment names a folder for it.
func (w *world) picture(name string) {
	folder := os.Getenv("COFFER_PICTURES")
	if folder == "" {
		return
	}
	f, err := os.Create(filepath.Join(folder, name+".png"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer f.Close()
	if err := png.Encode(f, w.shell.window.Canvas().Capture()); err != nil {
		w.t.Fatal(err)
	}
}

func TestShowsAFolder(t *testing.T) {
	w := newWorld(t, true)
	w.put("b.txt", "a.txt", "Photos/", "Photos/x.jpg", "page 10", "page 9")
	w.show()
	if got := w.names(); got != "Photos a.txt b.txt page 9 page 10" {
		t.Errorf("shown: %s", got)
	}
	w.picture("folder")
}

// TestPictures draws what there is to look at; by itself it fails when one of the pictures is empty.
func TestPictures(t *testing.T) {
	defer uitest.PicturesOf(t)()
	w := newWorld(t, true)
	w.put("Holidays/", "Letters/", "Holidays/Rome/", "Holidays/beach in the evening with a very long name that goes on and on and on and on until it cannot be shown any more.jpeg", "Holidays/film.mkv", "Holidays/song.mp3", "Holidays/Rome/forum.png", "notes.txt", "budget 2024.xlsx", "setup.exe", "archive.zip", "evil\u202egnp.exe", "long name that does not fit because it is too long for its column, really, much too long, is it not.txt")
	for i := range 40 {
		w.put(fmt.Sprintf("picture %d.jpg", i))
	}
	w.one.Entries["/budget 2024.xlsx"] = func() protocol.Entry { e := w.one.Entries["/budget 2024.xlsx"]; e.Hidden = true; return e }()
	w.shell.window.Resize(fyne.NewSize(844, 640))
	w.show()
	w.press(2, 0)
	w.press(4, fyne.KeyModifierShift)
	w.picture("many")
	w.screen.showMenu(3, fyne.NewPos(300, 200))
	w.picture("menu")
	w.overlay().Hide()
	w.screen.properties()
	w.until("counted", func() bool { return true })
	w.picture("properties")
	w.button("Close").Tapped(nil)
	w.screen.newFolder()
	w.picture("new folder")
	w.button("Cancel").Tapped(nil)
	w.screen.remove()
	w.picture("delete")
	w.button("Cancel").Tapped(nil)
	w.screen.search.SetText("e")
	w.ring()
	w.listed()
	w.picture("search")
	w.screen.search.SetText("nothing of this")
	w.ring()
	w.listed()
	w.picture("nothing")
	w.screen.enter("/Holidays/Rome")
	w.listed()
	w.one.Status.ReadOnly = true
	w.model.Look(t.Context())
	w.until("read-only", func() bool { return w.screen.container.Status.ReadOnly })
	w.picture("read-only")
	w.one.Status.ReadOnly = false
	w.model.Look(t.Context())
	w.until("read-only", func() bool { return !w.screen.container.Status.ReadOnly })
	delete(w.one.Entries, "/Holidays/Rome/forum.png")
	w.screen.list(true)
	w.listed()
	w.picture("empty")
	w.coffer.Fail["List"] = fake.Problem(protocol.Damaged, "list photos.img:/Holidays: the file system is damaged", "check it under Health and keys")
	w.screen.list(false)
	w.until("failed", func() bool { return w.screen.failed != nil })
	w.picture("failed")
	home := hostFolder(t)
	w.shell.window.Resize(fyne.NewSize(1024, 700))
	w.screen.chooseOnHost(Request{Want: WantMany, Folder: home, Title: "Add files", Action: "Add"}, func([]string) {})
	w.until("read", func() bool { return strings.Contains(says(w.overlay()), "film.mkv") })
	w.picture("chooser")
	w.key(fyne.KeyEscape)
	w.screen.chooseOnHost(Request{Want: WantFolder, Folder: home, Title: "Export to a folder", Action: "Export here"}, func([]string) {})
	w.until("read", func() bool { return strings.Contains(says(w.overlay()), "Letters") })
	w.picture("chooser target")
	w.key(fyne.KeyEscape)
	_ = w.coffer.Lock(t.Context(), w.one.ID, true)
	w.model.Look(t.Context())
	w.until("locked", func() bool { return !w.screen.container.State.Open() })
	w.picture("locked")
	w.screen.Shown("")
	w.picture("none")
}
