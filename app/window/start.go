package window

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/app"
	"fyne.io/fyne/v2/lang"

	"coffer/app/client"
	"coffer/app/config"
	"coffer/app/protocol"
	"coffer/app/window/instance"
	"coffer/app/window/model"
	"coffer/app/window/settings"
	"coffer/app/window/text"
	"coffer/app/window/ui"
	"coffer/app/window/unlock"
)

var _ settings.Host = (*window)(nil)

// begin reads the command line, and answers what needs no window.
func begin(line []string, out, failures io.Writer) (asked instance.Request, code protocol.ExitCode, goesOn bool) {
	at, err := os.Getwd()
	if err != nil {
		at = "" // relative paths are refused then
	}
	a, err := parseArguments(line, at)
	switch {
	case err != nil:
		fmt.Fprintf(failures, "coffer-window: %v\nhint: coffer-window --help\n", err)
		return asked, protocol.Usage, false
	case a.help:
		fmt.Fprint(out, usage)
		return asked, protocol.Done, false
	case a.version:
		fmt.Fprintf(out, "coffer-window %s\n", settings.Version())
		return asked, protocol.Done, false
	}
	return a.Request, protocol.Done, true
}

// starts are later starts of the window, which hand over what they were asked.
type starts struct {
	instance *instance.Instance // nil: later starts make windows of their own
	requests chan instance.Request
	once     sync.Once
}

// close lets another process be the window.
func (s *starts) close() {
	s.once.Do(func() {
		if s.instance != nil {
			s.instance.Close()
		}
	})
}

// takeOver makes this process the window of its user, unless there is one, which then has the request. What can be done without
// a window is done and taken out of the request.
func takeOver(ctx context.Context, c *client.Client, asked *instance.Request, failures io.Writer) (s *starts, goesOn bool) {
	s = &starts{requests: make(chan instance.Request, 16)}
	folder, err := config.RuntimeDir()
	if err == nil {
		s.instance, err = instance.Take(ctx, folder, *asked)
	}
	if err != nil { // better two windows than none
		fmt.Fprintf(failures, "coffer-window: note: %v\n", err)
	} else if s.instance == nil {
		return s, false
	}
	if asked.LockAll && len(asked.Open) == 0 && lockAll(ctx, c) == nil {
		s.close()
		return s, false
	}
	if s.instance != nil {
		go s.instance.Serve(func(r instance.Request) { s.requests <- r })
	}
	return s, true
}

// drives are those of client.Client.
type drives interface {
	Drives(ctx context.Context) ([]protocol.Status, error)
	Lock(ctx context.Context, id string, force bool) error
	unlock.Jobs
}

// lockAll locks everything that is not in use and asks nothing, the last unlocked first: one may lie on another's drive.
func lockAll(ctx context.Context, c drives) error {
	all, err := c.Drives(ctx)
	for i := len(all) - 1; i >= 0; i-- {
		if unlock.Asks(ctx, c, all[i].ID) {
			err = errors.Join(err, errors.New("a copy waits for an answer"))
			continue
		}
		err = errors.Join(err, c.Lock(ctx, all[i].ID, false))
	}
	return err
}

// newApplication makes the application with its name, icon, language and looks.
func newApplication(paths config.Paths, chosen config.Settings) fyne.App {
	// While it has no identity the toolkit begins no files of its own beside ours. The identity is for the desktop.
	about := fyne.AppMetadata{Name: "Coffer", Version: settings.Version(), Icon: icon("coffer-512.png")}
	app.SetMetadata(about)
	application := app.NewWithID("")
	about.ID = ID
	app.SetMetadata(about)
	application.SetIcon(icon("coffer-256.png"))
	text.Use(languages(chosen.Language, lang.SystemLocale)...)
	translateToolkit()
	if chosen.Theme != "" || paths.Portable {
		ui.UseTheme(application, chosen.Theme)
		return application
	}
	// The toolkit follows the desktop from light to dark only if no theme has been set before it runs.
	application.Lifecycle().SetOnStarted(func() { ui.UseTheme(application, chosen.Theme) })
	return application
}

// languages are those a person prefers: the one of the settings, or that of the system.
func languages(chosen string, system func() fyne.Locale) []string {
	if chosen != "" {
		return []string{chosen}
	}
	return []string{system().LanguageString(), string(system())}
}

// show brings up the window, or only the tray, and does what the start was asked.
func (w *window) show(asked instance.Request, s *starts) {
	there := false
	if asked.Hidden {
		there, asked = awaitTrayOr(w.deps.Context, asked, s.requests)
	} else {
		there = hasTray()
	}
	if there {
		w.tray = w.startTray()
		w.stays = w.staysInTray
	}
	if asked.Hidden && w.tray != nil {
		w.hide(true)
	} else {
		w.window.Show()
	}
	go func() {
		for {
			select {
			case <-w.deps.Context.Done():
				return
			case r := <-s.requests:
				w.deps.Do(func() { w.asked(r) })
			}
		}
	}()
	if asked.Hidden {
		w.unlockAtLogin()
	}
	if asked.LockAll {
		w.lockAllAsking()
	}
	w.open(asked.Open)
}

// awaitTrayOr waits for the tray of a session that is just beginning, but not longer than until the person wants the window.
func awaitTrayOr(ctx context.Context, asked instance.Request, requests <-chan instance.Request) (bool, instance.Request) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	found := make(chan bool, 1)
	go func() { found <- awaitTray(ctx) }()
	for {
		select {
		case there := <-found:
			return there, asked
		case r := <-requests:
			if r.Hidden {
				continue
			}
			asked.Hidden, asked.LockAll = false, asked.LockAll || r.LockAll
			asked.Open = append(asked.Open, r.Open...)
			return hasTray(), asked
		}
	}
}

// asked does what a later start was asked.
func (w *window) asked(r instance.Request) {
	if r.LockAll {
		w.lockAllQuietly()
	}
	if len(r.Open) > 0 || !r.Hidden && !r.LockAll {
		w.front()
	}
	w.open(r.Open)
}

// front brings the window to the person, out of the tray too.
func (w *window) front() {
	w.hide(false)
	w.window.Show()
	w.window.RequestFocus()
}

// hide notes whether the window is out of sight: its screen does nothing then.
func (w *window) hide(hidden bool) {
	if w.away == hidden {
		return
	}
	w.away = hidden
	if hidden {
		w.screens[w.page].Hidden()
	} else {
		w.screens[w.page].Shown(w.chosen)
	}
}

// HasTray implements settings.Host.
func (w *window) HasTray() bool { return w.tray != nil }

// Apply implements settings.Host.
func (w *window) Apply(s config.Settings) {
	if s.Theme != w.settings.Theme {
		ui.UseTheme(w.app, s.Theme)
	}
	w.settings = s
}

// staysInTray says whether closing the window only hides it.
func (w *window) staysInTray() bool {
	if w.tray == nil || !w.settings.KeepInTray {
		return false
	}
	w.hide(true)
	if !w.toldOfTray {
		w.toldOfTray = true
		w.Notify(text.T("Coffer stays in the tray"), text.T("Its icon brings the window back, and has Quit."))
	}
	return true
}

// Restart implements settings.Host.
func (w *window) Restart() {
	w.anew = true
	w.quit()
}

// startAnew starts this program once more, when this process has nothing to do any more.
func startAnew() error {
	own, err := os.Executable()
	if err != nil {
		return err
	}
	next := exec.Command(own)
	next.Stdout, next.Stderr = os.Stdout, os.Stderr
	if err := next.Start(); err != nil {
		return err
	}
	return next.Process.Release()
}

// unlockAtLogin asks for the passwords of the favourites that shall be open from the start, one after the other. Those that are
// not there, on a stick that is not plugged in, are left alone.
func (w *window) unlockAtLogin() {
	w.deps.Work(func(ctx context.Context) error {
		w.deps.Model.Look(ctx)
		return nil
	}, func(error) { w.unlockNext(atLogin(w.deps.Model.Containers())) })
}

// unlockNext asks for the first of them, and when that is done for the next.
func (w *window) unlockNext(images []string) {
	if len(images) == 0 {
		if w.settings.KeepInTray && w.tray != nil {
			w.hide(true)
			w.window.Hide()
		}
		return
	}
	w.front()
	unlock.ShowThen(w.deps, images[0], func() { w.unlockNext(images[1:]) })
}

// lockAllAsking locks what is open; what is in the way is asked about.
func (w *window) lockAllAsking() { unlock.LockAll(w.deps, nil) }

// atLogin are the containers to be unlocked at login, as far as they are there and locked.
func atLogin(containers []model.Container) (images []string) {
	for _, c := range containers {
		if c.Listed && c.UnlockAtLogin && c.State == model.Locked {
			images = append(images, c.Path)
		}
	}
	return images
}
