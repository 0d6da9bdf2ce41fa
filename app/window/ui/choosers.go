package ui

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/storage"
)

// StartIn makes a chooser begin in a folder, if that is there.
func StartIn(f *dialog.FileDialog, folder string) {
	if folder == "" {
		return
	}
	if place, err := storage.ListerForURI(storage.NewFileURI(folder)); err == nil {
		f.SetLocation(place)
	}
}

// ChooserSize is a good size for a chooser of files over the window.
func ChooserSize(w fyne.Window) fyne.Size {
	size := w.Canvas().Size()
	return fyne.NewSize(min(900, size.Width*0.9), min(640, size.Height*0.9))
}
