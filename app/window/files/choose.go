package files

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/dialog"
)

// chooseKind is what somebody chooses on the host.
type chooseKind int

const (
	chooseFiles  chooseKind = iota // files, to be added
	chooseFolder                   // folders, to be added
	chooseTarget                   // the folder to export to
)

// chooseOnHost asks for files or a folder of the host; nobody is called when it is cancelled.
func (s *Screen) chooseOnHost(kind chooseKind, then func([]string)) {
	w := s.deps.Shell.Window()
	var d *dialog.FileDialog
	if kind == chooseFiles {
		d = dialog.NewFileOpen(func(r fyne.URIReadCloser, err error) {
			if r != nil {
				_ = r.Close()
				then([]string{r.URI().Path()})
			}
		}, w)
	} else {
		d = dialog.NewFolderOpen(func(u fyne.ListableURI, err error) {
			if u != nil {
				then([]string{u.Path()})
			}
		}, w)
	}
	d.Resize(fyne.NewSize(860, 560))
	d.Show()
}
