package window

import (
	"context"
	"runtime"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"

	"coffer/app/window/model"
	"coffer/app/window/text"
	"coffer/app/window/ui"
	"coffer/assets"
)

// maxTrayEntries is how many containers the menu of the tray has; the window has all of them.
const maxTrayEntries = 12

// tray is the icon in the notification area, with its menu.
type tray struct {
	window *window
	app    desktop.App
	shown  string // what the menu says; it is made anew only when that changes
}

// startTray puts the icon there. It must be called before the application runs: later, Fyne starts none.
func (w *window) startTray() *tray {
	application, can := w.app.(desktop.App)
	if !can {
		return nil
	}
	t := &tray{window: w, app: application}
	t.update(w.deps.Model.Containers())
	application.SetSystemTrayIcon(icon("tray.png"))
	stop := w.deps.Model.Listen(func() {
		containers := w.deps.Model.Containers()
		w.deps.Do(func() { t.update(containers) })
	})
	context.AfterFunc(w.deps.Context, stop)
	return t
}

// update shows a menu for the containers, unless it is the one shown.
func (t *tray) update(containers []model.Container) {
	menu := t.window.trayMenu(containers)
	if says := wording(menu); says != t.shown {
		t.shown = says
		t.app.SetSystemTrayMenu(menu)
	}
}

// wording is everything a person sees of a menu.
func wording(menu *fyne.Menu) string {
	var says strings.Builder
	for _, item := range menu.Items {
		says.WriteString(item.Label)
		if item.Disabled {
			says.WriteByte(0)
		}
		says.WriteByte('\n')
	}
	return says.String()
}

// trayMenu is what can be done with the containers from the tray: unlock a favourite, lock what is open, lock everything.
func (w *window) trayMenu(containers []model.Container) *fyne.Menu {
	menu := fyne.NewMenu("Coffer")
	add := func(label string, action func()) *fyne.MenuItem {
		item := fyne.NewMenuItem(label, action)
		menu.Items = append(menu.Items, item)
		return item
	}
	open, left := false, 0
	for _, c := range containers {
		open = open || c.State.Open()
		label, action := w.trayEntry(c)
		switch {
		case label == "":
		case len(menu.Items) == maxTrayEntries:
			left++
		default:
			add(label, action).Disabled = action == nil
		}
	}
	if left > 0 {
		add(text.N(int64(left), "One more in the window…", "%d more in the window…"), w.front)
	}
	if len(menu.Items) > 0 {
		menu.Items = append(menu.Items, fyne.NewMenuItemSeparator())
	}
	add(text.T("Lock all"), w.lockAllQuietly).Disabled = !open
	add(text.T("Show Coffer"), w.front)
	menu.Items = append(menu.Items, fyne.NewMenuItemSeparator())
	add(text.T("Quit"), w.quit).IsQuit = true
	return menu
}

// trayEntry is what the menu says of a container, and does with it; "" if it has none.
func (w *window) trayEntry(c model.Container) (label string, action func()) {
	title := menuText(ui.Clean(c.Title()), runtime.GOOS)
	switch c.State {
	case model.Unlocked:
		return text.T("Lock %s", title), func() { w.lockQuietly(c) }
	case model.Busy:
		return text.T("%s is just being unlocked or locked", title), nil
	case model.Unresponsive:
		return text.T("%s does not answer", title), nil
	case model.Locked:
		if c.Favourite {
			return text.T("Unlock %s…", title), func() {
				w.front()
				w.Unlock(c.Path, nil)
			}
		}
	}
	return "", nil
}

// menuText keeps a name from being taken for an access key by the menus of a system.
func menuText(name, system string) string {
	switch system {
	case "windows":
		return strings.ReplaceAll(name, "&", "&&")
	case "darwin":
		return name
	}
	return strings.ReplaceAll(name, "_", "__")
}

// icon is one of the drawings of the program.
func icon(name string) fyne.Resource {
	raw, err := assets.Icons.ReadFile("icons/" + name)
	if err != nil {
		fyne.LogError("icon "+name, err)
		return nil
	}
	return fyne.NewStaticResource(name, raw)
}
