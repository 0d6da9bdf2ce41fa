// Package window is the desktop application: its main window, the navigation between screens, drops from the desktop, the tray.
// It and what is below it are the only packages that import Fyne. It is a client: what holds keys is elsewhere, and goes on
// when the window closes, is killed or crashes.
package window

import (
	"context"
	"fmt"
	"io"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/app"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/client"
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

// Main runs the window until it is closed, and returns the exit code of the process. arguments are containers to open.
func Main(arguments []string, errors io.Writer) int {
	c, err := client.New("")
	if err != nil {
		fmt.Fprintf(errors, "coffer-window: %v\n", err)
		return int(protocol.Failed)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	application := app.NewWithID(ID)
	text.Use("en")
	known, err := model.New(c, c.Paths().KnownFile())
	w := newWindow(ctx, application, &ui.Deps{Model: known, Backend: backend.Of(c), Paths: c.Paths(), Context: ctx})
	if err != nil {
		ui.ShowError(w.window, err)
	}
	go known.Run(ctx)
	go w.watcher.Run(ctx)
	w.openAll(arguments)
	w.window.ShowAndRun()
	return int(protocol.Done)
}

// window is the main window; it is the ui.Shell of its screens.
type window struct {
	app     fyne.App
	window  fyne.Window
	deps    *ui.Deps
	watcher *transfers.Watcher
	screens []ui.Screen
	rail    *widget.List
	stage   *fyne.Container
	page    ui.Page
	chosen  string
}

// newWindow builds the window.
func newWindow(_ context.Context, application fyne.App, d *ui.Deps) *window {
	w := &window{app: application, window: application.NewWindow("Coffer"), deps: d, page: -1}
	d.Shell = w
	w.watcher = transfers.NewWatcher(d)
	w.screens = []ui.Screen{home.New(d), files.New(d), transfers.New(d, w.watcher), lab.New(d), health.New(d), settings.New(d)}
	w.stage = container.NewStack()
	w.rail = w.newRail()
	w.window.SetContent(container.NewBorder(nil, nil, container.NewStack(w.rail), nil, w.stage))
	w.window.Resize(fyne.NewSize(1180, 760))
	w.window.SetOnDropped(w.dropped)
	w.rail.Select(0)
	return w
}

// newRail is the navigation.
func (w *window) newRail() *widget.List {
	names := []string{text.T("Containers"), text.T("Files"), text.T("Transfers"), text.T("Lab"), text.T("Health and keys"), text.T("Settings")}
	icons := []fyne.Resource{theme.StorageIcon(), theme.FolderIcon(), theme.DownloadIcon(), theme.InfoIcon(), theme.ConfirmIcon(), theme.SettingsIcon()}
	rail := widget.NewList(func() int { return len(names) },
		func() fyne.CanvasObject {
			return container.NewBorder(nil, nil, widget.NewIcon(theme.StorageIcon()), nil, widget.NewLabel("Health and keys"))
		},
		func(i widget.ListItemID, o fyne.CanvasObject) {
			row := o.(*fyne.Container)
			row.Objects[0].(*widget.Label).SetText(names[i])
			row.Objects[1].(*widget.Icon).SetResource(icons[i])
		})
	rail.OnSelected = func(i widget.ListItemID) { w.turn(ui.Page(i)) }
	return rail
}

// turn shows a page.
func (w *window) turn(page ui.Page) {
	if w.page >= 0 {
		w.screens[w.page].Hidden()
	}
	w.page = page
	w.stage.Objects = []fyne.CanvasObject{w.screens[page].Object()}
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
	if page == w.page {
		w.screens[page].Shown(w.chosen)
		return
	}
	w.rail.Select(int(page))
}

// Unlock implements ui.Shell.
func (w *window) Unlock(image string, then func(id string)) { unlock.Show(w.deps, image, then) }

// NewContainer implements ui.Shell.
func (w *window) NewContainer(files []string) { create.Show(w.deps, files) }

// CopyIn implements ui.Shell.
func (w *window) CopyIn(image string, files []string, folder string) {
	w.Unlock(image, func(id string) {
		w.deps.Work(func(ctx context.Context) error {
			_, err := w.deps.Backend.Jobs.StartCopy(ctx, id, protocol.CopyJob{Sources: files, Destination: folder, ToInside: true, Records: w.deps.Paths.RecordsFolder()})
			return err
		}, func(err error) { ui.ShowError(w.window, err) })
	})
}

// Notify implements ui.Shell.
func (w *window) Notify(title, words string) {
	w.app.SendNotification(fyne.NewNotification(title, words))
}

// dropped takes files from the desktop.
func (w *window) dropped(_ fyne.Position, _ []fyne.URI) {}

// openAll opens containers named on the command line or by a double click.
func (w *window) openAll(_ []string) {}
