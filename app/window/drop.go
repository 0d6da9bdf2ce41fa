package window

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"fyne.io/fyne/v2"

	"coffer/app/window/create"
	"coffer/app/window/home"
	"coffer/app/window/model"
	"coffer/app/window/text"
	"coffer/app/window/ui"
	"coffer/app/window/unlock"
)

// mostImages is how many dropped files are looked at whether they are containers: more are files to be copied.
const mostImages = 8

// dropped takes files from the desktop: for a dialog that wants them, for what lies under the mouse, as containers to open, or
// to be copied into the container chosen; else a new container is offered for them.
func (w *window) dropped(at fyne.Position, items []fyne.URI) {
	paths := pathsOf(items)
	if len(paths) == 0 || unlock.Dropped(paths) || create.Dropped(paths) || w.window.Canvas().Overlays().Top() != nil {
		return
	}
	page := w.page
	if d, takes := w.screens[page].(ui.Dropper); takes && page == ui.PageHome && d.Dropped(at, paths) {
		return
	}
	w.sort(paths, func(images, others []string) {
		w.open(images)
		if len(others) == 0 {
			return
		}
		if d, takes := w.screens[page].(ui.Dropper); takes && page != ui.PageHome && page == w.page && d.Dropped(at, others) {
			return
		}
		w.offer(others)
	})
}

// pathsOf are the paths of dropped things that are files of this computer.
func pathsOf(items []fyne.URI) []string {
	var paths []string
	for _, item := range items {
		if item == nil || item.Scheme() != "file" {
			continue
		}
		path := item.Path()
		if runtime.GOOS == "windows" {
			path = strings.TrimPrefix(path, "/")
		}
		if path = filepath.Clean(filepath.FromSlash(path)); filepath.IsAbs(path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// sort finds out which paths are containers, and calls then on Fyne's goroutine.
func (w *window) sort(paths []string, then func(images, others []string)) {
	if len(paths) > mostImages {
		then(nil, paths)
		return
	}
	var images, others []string
	w.deps.Work(func(ctx context.Context) error {
		for _, path := range paths {
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
				if _, err := w.deps.Backend.Containers.Info(ctx, path); err == nil {
					images = append(images, path)
					continue
				}
			}
			others = append(others, path)
		}
		return nil
	}, func(error) { then(images, others) })
}

// open puts containers into the list and asks for the password of the first one.
func (w *window) open(images []string) {
	asks := true
	home.Add(w.deps, images, func(image string, sound bool) {
		if !asks {
			return
		}
		asks = false
		w.Show(ui.PageHome, image)
		if sound {
			w.Unlock(image, nil)
		}
	})
}

// offer asks what to do with files that were dropped where nothing takes them.
func (w *window) offer(files []string) {
	chosen, title := w.chosen, ""
	for _, c := range w.deps.Model.Containers() {
		if c.Path == chosen && c.State != model.Missing {
			title = c.Title()
		}
	}
	if title == "" {
		w.NewContainer(files)
		return
	}
	ui.Choose(w.window, text.T("What should happen with these files?"), dropWords(files), []ui.Choice{
		{Label: text.T("Copy into %s", ui.Clean(title)), Primary: true, Do: func() { w.CopyIn(chosen, files, "/") }},
		{Label: text.T("New container for them…"), Do: func() { w.NewContainer(files) }},
	})
}

// dropWords says what was dropped.
func dropWords(files []string) string {
	if len(files) == 1 {
		return ui.Clean(filepath.Base(files[0]))
	}
	return text.T("%s and %s", ui.Clean(filepath.Base(files[0])), text.N(int64(len(files)-1), "one more", "%d more"))
}
