package files

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/theme"
	"github.com/adrg/xdg"

	"coffer/app/protocol"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// found is what a path of the host leads to.
type found struct {
	path   string // as it was asked for
	folder string
	file   string // in the folder, "" if the path leads to the folder itself
	items  []*item
	err    error
}

// lookAt finds out what a path leads to. With nearest the nearest folder around it that is there will do; with fresh so will a file
// that is not there yet.
func lookAt(path string, nearest, fresh bool) found {
	at := found{path: path, folder: path}
	info, err := os.Stat(path)
	for nearest && err != nil && filepath.Dir(at.folder) != at.folder {
		at.folder = filepath.Dir(at.folder)
		info, err = os.Stat(at.folder)
	}
	switch {
	case err == nil && info.IsDir():
	case err == nil && nearest:
		at.folder = filepath.Dir(at.folder)
	case err == nil:
		at.folder, at.file = filepath.Dir(path), path
	case fresh && errors.Is(err, fs.ErrNotExist):
		above := lookAt(filepath.Dir(path), false, false)
		if at.err = err; above.err == nil && above.file == "" {
			at.folder, at.file, at.err = above.folder, path, nil
		}
	default:
		at.err = err
	}
	return at
}

// words say why a path cannot be shown.
func (f found) words() string {
	path := ui.Clean(f.path)
	switch {
	case errors.Is(f.err, fs.ErrNotExist):
		return text.T("There is no file or folder %s.", path)
	case errors.Is(f.err, fs.ErrPermission):
		return text.T("You may not use the folder %s.", path)
	}
	return ui.Sentence(f.err.Error())
}

// readHost lists a folder of the host.
func readHost(ctx context.Context, folder string, hidden, files bool) ([]*item, error) {
	entries, err := os.ReadDir(folder)
	var items []*item
	for _, e := range entries {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		name := e.Name()
		if strings.HasPrefix(name, ".") && !hidden {
			continue
		}
		p := filepath.Join(folder, name)
		info, statErr := os.Stat(p) // what a link leads to
		if statErr != nil || !info.IsDir() && (!files || !info.Mode().IsRegular()) {
			continue
		}
		one := protocol.Entry{Path: p, Folder: info.IsDir(), Modified: info.ModTime(), Hidden: strings.HasPrefix(name, ".")}
		if !one.Folder {
			one.SizeBytes = info.Size()
		}
		items = append(items, &item{Entry: one, name: name, shown: ui.Clean(name), key: strings.ToLower(name)})
	}
	return items, err
}

// place is a folder that many want.
type place struct {
	name, folder string
	icon         fyne.Resource
}

// Of the places at the left.
const (
	placesWidth = 150
	maxMedia    = 12
)

// findPlaces fills the list at the left, off Fyne's goroutine: a disk that sleeps takes its time.
func (c *chooser) findPlaces() {
	go func() {
		places := placesOf()
		c.deps.Do(func() {
			for _, p := range places {
				name := ui.Middle(ui.Clean(p.name), placesWidth-50, theme.TextSize(), fyne.TextStyle{})
				c.places.Add(c.panel.Keys.NewLink(name, p.icon, func() { c.look(p.folder, false) }))
			}
		})
	}()
}

// placesOf are the folders at the left that are there.
func placesOf() []place {
	all := []place{{text.T("Home"), xdg.Home, theme.HomeIcon()},
		{text.T("Desktop"), xdg.UserDirs.Desktop, theme.DesktopIcon()},
		{text.T("Documents"), xdg.UserDirs.Documents, theme.DocumentIcon()},
		{text.T("Downloads"), xdg.UserDirs.Download, theme.DownloadIcon()},
		{text.T("Pictures"), xdg.UserDirs.Pictures, theme.MediaPhotoIcon()}}
	if runtime.GOOS != "windows" {
		all = append(all, place{text.T("This computer"), "/", theme.ComputerIcon()})
	}
	var places []place
	for i, p := range append(all, media()...) {
		if info, err := os.Stat(p.folder); err == nil && info.IsDir() && (i == 0 || p.folder != xdg.Home) {
			places = append(places, p)
		}
	}
	return places
}

// media are the disks that were plugged in, where systems show them.
func media() []place {
	var places []place
	if runtime.GOOS == "windows" {
		for letter := 'A'; letter <= 'Z'; letter++ {
			places = append(places, place{string(letter) + ":", string(letter) + `:\`, theme.StorageIcon()})
		}
		return places
	}
	name := ""
	if who, err := user.Current(); err == nil {
		name = filepath.Base(who.Username)
	}
	for _, root := range []string{"/run/media/" + name, "/media/" + name, "/media", "/Volumes"} {
		entries, _ := os.ReadDir(root) // most systems have one of them
		for _, e := range entries {
			if e.Name() != name && len(places) < maxMedia {
				places = append(places, place{e.Name(), filepath.Join(root, e.Name()), theme.StorageIcon()})
			}
		}
	}
	return places
}
