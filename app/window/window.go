// Package window is the desktop application: its main window, the navigation between screens, drops from the desktop, the tray.
// It and what is below it are the only packages that import Fyne. It is a client: what holds keys is elsewhere, and goes on
// when the window closes, is killed or crashes.
package window

import (
	"context"
	"fmt"
	"io"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"

	"coffer/app/client"
	"coffer/app/config"
	"coffer/app/protocol"
	"coffer/app/window/backend"
	"coffer/app/window/create"
	"coffer/app/window/files"
	"coffer/app/window/health"
	"coffer/app/window/home"
	"coffer/app/window/lab"
	"coffer/app/window/model"
	"coffer/app/window/settings"
	"coffer/app/window/text"
	"coffer/app/window/transfers"
	"coffer/app/window/ui"
	"coffer/app/window/unlock"
)

// ID is the identity of the application for the desktop.
const ID = "org.coffer.Coffer"

// Main runs the window until it is closed, and returns the exit code of the process. line is the command line without the name
// of the program.
func Main(line []string, out, errors io.Writer) int {
	asked, code, goesOn := begin(line, out, errors)
	if !goesOn {
		return int(code)
	}
	c, err := client.New("")
	if err != nil {
		fmt.Fprintf(errors, "coffer-window: %v\n", err)
		return int(protocol.Failed)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	starts, goesOn := takeOver(ctx, c, &asked, errors)
	if !goesOn {
		return int(protocol.Done)
	}
	defer starts.close()
	paths := c.Paths()
	chosen, _ := config.Load(paths.SettingsFile()) // one that cannot be read is told by the screen of the settings
	paths.Records = chosen.Records
	nameLanguage()
	application := newApplication(paths, chosen)
	known, err := model.New(c, paths.KnownFile())
	d := &ui.Deps{Model: known, Backend: backend.Of(c), Paths: paths, Context: ctx, Post: idle.post}
	own := &ownLocks{asked: d.Backend.Drives}
	d.Backend.Drives = own
	w := newWindow(ctx, application, d)
	w.settings = chosen
	if err != nil {
		ui.ShowError(w.window, err)
	}
	w.start()
	w.startNotices(own)
	w.show(asked, starts)
	go idle.run(ctx)
	application.Run()
	cancel()
	settle(w.deps)
	if w.anew {
		starts.close()
		if err := startAnew(); err != nil {
			fmt.Fprintf(errors, "coffer-window: start the window anew: %v\n", err)
			return int(protocol.Failed)
		}
	}
	return int(protocol.Done)
}

// settlePatience is how long the process outlives its window at most.
const settlePatience = 10 * time.Second

// settle waits for what was under way when the window ended: an experiment removes its files, the list is saved.
func settle(d *ui.Deps) {
	settled := make(chan struct{})
	go func() {
		d.Wait()
		close(settled)
	}()
	select {
	case <-settled:
	case <-time.After(settlePatience):
	}
}

// window is the main window; it is the ui.Shell of its screens.
type window struct {
	app     fyne.App
	window  fyne.Window
	deps    *ui.Deps
	watcher *transfers.Watcher
	screens []ui.Screen
	rail    *rail
	bottom  *bottom
	stage   *fyne.Container
	page    ui.Page // -1: none yet
	chosen  string
	memory  memory
	// stays, if not nil, is asked when the person closes the window; true: it only hides, for there is a way to get it back.
	stays func() bool

	settings   config.Settings // as last read or saved
	tray       *tray           // nil: there is none
	toldOfTray bool
	away       bool // hidden in the tray
	anew       bool // when it has ended it starts again
}

// newWindow builds the window.
func newWindow(_ context.Context, application fyne.App, d *ui.Deps) *window {
	w := &window{app: application, window: application.NewWindow("Coffer"), deps: d, page: -1}
	d.Shell = w
	w.watcher = transfers.NewWatcher(d)
	w.screens = []ui.Screen{home.New(d), files.New(d), transfers.New(d, w.watcher), lab.New(d), health.New(d), settings.New(d)}
	w.stage = container.NewStack()
	w.rail = newRail(func(p ui.Page) { w.Show(p, "") })
	w.bottom = newBottom(func() { w.Show(ui.PageTransfers, "") }, d.Do)
	w.window.SetContent(container.New(frame{}, w.rail.object, w.bottom.object, w.stage))
	w.window.SetPadded(false)
	w.window.SetMaster()
	w.memory = remember(memoryFile(d.Paths))
	w.window.Resize(w.memory.size())
	w.window.SetOnDropped(w.dropped)
	w.window.SetCloseIntercept(w.close)
	w.addShortcuts()
	w.Show(ui.PageHome, "")
	return w
}

// start begins to look at containers and copies, until the context of the window ends.
func (w *window) start() {
	context.AfterFunc(w.deps.Context, w.watcher.Listen(func() {
		s := w.watcher.Summary()
		w.deps.Do(func() { w.bottom.update(s) })
	}))
	go w.deps.Model.Run(w.deps.Context)
	go w.watcher.Run(w.deps.Context)
}

// addShortcuts gives the window its keys. While a dialog is open only locking and quitting do something.
func (w *window) addShortcuts() {
	pages := []fyne.KeyName{fyne.Key1, fyne.Key2, fyne.Key3, fyne.Key4, fyne.Key5, fyne.Key6}
	for page, key := range pages {
		w.shortcut(key, fyne.KeyModifierShortcutDefault, func() { w.Show(ui.Page(page), "") })
	}
	w.shortcut(fyne.KeyN, fyne.KeyModifierShortcutDefault, func() { w.NewContainer(nil) })
	w.shortcut(fyne.KeyO, fyne.KeyModifierShortcutDefault, func() {
		files.ChooseFile(w.deps, "", func(path string) { w.open([]string{path}) })
	})
	w.shortcut(fyne.KeyL, fyne.KeyModifierShortcutDefault|fyne.KeyModifierShift, w.lockAllAsking)
	w.shortcut(fyne.KeyQ, fyne.KeyModifierShortcutDefault, w.quit)
}

// shortcut makes a key do something.
func (w *window) shortcut(key fyne.KeyName, modifier fyne.KeyModifier, do func()) {
	w.window.Canvas().AddShortcut(&desktop.CustomShortcut{KeyName: key, Modifier: modifier}, func(fyne.Shortcut) {
		if w.window.Canvas().Overlays().Top() == nil || key == fyne.KeyQ || key == fyne.KeyL { // to lock is never in the way
			do()
		}
	})
}

// turn shows a page.
func (w *window) turn(page ui.Page) {
	if w.page >= 0 {
		if c := w.window.Canvas(); w.page != page && c.Overlays().Top() == nil {
			if _, rail := c.Focused().(*railItem); !rail {
				c.Unfocus() // an entry of the page that goes would take what is typed on the next one
			}
		}
		w.screens[w.page].Hidden()
	}
	w.page = page
	w.rail.choose(page)
	object := w.screens[page].Object()
	w.stage.Objects = []fyne.CanvasObject{object}
	object.Refresh() // the theme may be another one since it was shown
	w.stage.Refresh()
	w.screens[page].Shown(w.chosen)
}

// Window implements ui.Shell.
func (w *window) Window() fyne.Window { return w.window }

// Chosen implements ui.Shell.
func (w *window) Chosen() string { return w.chosen }

// Show implements ui.Shell.
func (w *window) Show(page ui.Page, image string) {
	if image != "" {
		w.chosen = image
	}
	switch {
	case page < 0 || int(page) >= len(w.screens):
	case page == w.page:
		w.screens[page].Shown(w.chosen)
	default:
		w.turn(page)
	}
}

// Unlock implements ui.Shell.
func (w *window) Unlock(image string, then func(id string)) { unlock.Show(w.deps, image, then) }

// NewContainer implements ui.Shell.
func (w *window) NewContainer(files []string) { create.Show(w.deps, files) }

// CopyIn implements ui.Shell.
func (w *window) CopyIn(image string, files []string, folder string) {
	w.Unlock(image, func(id string) {
		job := protocol.CopyJob{Sources: files, Destination: folder, ToInside: true, Records: w.deps.Paths.RecordsFolder()}
		w.deps.Work(func(ctx context.Context) error {
			if s, err := w.deps.Settings(); err == nil {
				job.Verify, job.WindowMillis = s.Verify, time.Duration(s.Window).Milliseconds()
				if s.Records != "" {
					job.Records = s.Records
				}
			}
			_, err := w.deps.Backend.Jobs.StartCopy(ctx, id, job)
			return err
		}, func(err error) {
			ui.ShowError(w.window, err)
			w.watcher.Refresh()
			if err == nil {
				w.bottom.say(text.T("%s: being copied into %s", dropWords(files), ui.Clean(w.title(image))), 1)
			}
		})
	})
}

// title is the name of a container as the list has it.
func (w *window) title(image string) string {
	for _, c := range w.deps.Model.Containers() {
		if c.Path == image {
			return c.Title()
		}
	}
	return model.Container{Known: config.Known{Path: image}}.Title()
}

// Notify implements ui.Shell.
func (w *window) Notify(title, words string) {
	w.bottom.say(title+": "+words, 0)
	notice := fyne.NewNotification(title, words)
	go w.app.SendNotification(notice) // the desktop may take its time
}

// close is what happens when the person closes the window: drives stay, which is told once.
func (w *window) close() {
	if w.stays != nil && w.stays() {
		w.window.Hide()
		return
	}
	w.quit()
}

// quit ends the window, and nothing else: drives and copies go on.
func (w *window) quit() {
	open := int64(0)
	for _, c := range w.deps.Model.Containers() {
		if c.State.Held() {
			open++
		}
	}
	if open > 0 && !w.memory.Told {
		w.memory.Told = true
		w.app.SendNotification(fyne.NewNotification(text.T("Your drives stay open"),
			text.T("Coffer closes, drives and copies go on. To close a drive too, lock it first.")))
	}
	if size := w.window.Canvas().Size(); size.Width >= leastWidth && size.Height >= leastHeight {
		w.memory.Width, w.memory.Height = size.Width, size.Height
	}
	w.memory.keep(memoryFile(w.deps.Paths))
	w.app.Quit()
}
