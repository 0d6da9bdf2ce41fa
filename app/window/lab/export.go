package lab

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/adrg/xdg"

	"coffer/app/window/text"
	"coffer/app/window/ui"
	"coffer/transfer/report"
)

// formatName is what people call a format of reports.
func formatName(format string) string {
	switch format {
	case "csv":
		return text.T("Table for spreadsheets (csv)")
	case "html":
		return text.T("Web page (html)")
	case "json":
		return text.T("Data for programs (json)")
	case "md":
		return text.T("Text (md)")
	case "png":
		return text.T("Picture (png)")
	case "svg":
		return text.T("Drawing (svg)")
	}
	return format
}

// exportMenu lets a person choose a format; choosing one writes the report. below is what the menu hangs from.
func (s *Screen) exportMenu(e *report.Experiment, below fyne.CanvasObject) {
	menu := fyne.NewMenu("")
	for _, format := range []string{"html", "png", "svg", "csv", "json", "md"} {
		menu.Items = append(menu.Items, fyne.NewMenuItem(formatName(format), func() { s.export(e, format) }))
	}
	popup := widget.NewPopUpMenu(menu, s.deps.Shell.Window().Canvas())
	popup.ShowAtRelativePosition(fyne.NewPos(below.Size().Width-popup.MinSize().Width, below.Size().Height), below)
}

// export writes a report into the folder of documents and says where it is.
func (s *Screen) export(e *report.Experiment, format string) {
	var path string
	s.deps.Work(func(context.Context) (err error) {
		path, err = exportInto(documents(), e, format)
		return err
	}, func(err error) {
		if err != nil {
			ui.ShowError(s.deps.Shell.Window(), err)
			return
		}
		s.exported(path)
	})
}

// exported says where a report is, and opens it if the person likes.
func (s *Screen) exported(path string) {
	open := func(path string) func() {
		return func() {
			address := &url.URL{Scheme: "file", Path: filepath.ToSlash(path)}
			if err := fyne.CurrentApp().OpenURL(address); err != nil {
				ui.ShowError(s.deps.Shell.Window(), fmt.Errorf("open %s: %w", path, err))
			}
		}
	}
	name := ui.Paragraph(ui.Clean(path))
	name.Selectable = true
	d := dialog.NewCustomWithoutButtons(text.T("The report is saved"), container.NewVBox(name), s.deps.Shell.Window())
	show := widget.NewButtonWithIcon(text.T("Open"), theme.DocumentIcon(), func() { d.Hide(); open(path)() })
	show.Importance = widget.HighImportance
	d.SetButtons([]fyne.CanvasObject{widget.NewButton(text.T("Close"), d.Hide),
		widget.NewButtonWithIcon(text.T("Show folder"), theme.FolderOpenIcon(), func() { d.Hide(); open(filepath.Dir(path))() }), show})
	d.Resize(fyne.NewSize(520, 0))
	d.Show()
}

// documents is the person's folder of documents, or else the home folder.
func documents() string {
	if info, err := os.Stat(xdg.UserDirs.Documents); err == nil && info.IsDir() {
		return xdg.UserDirs.Documents
	}
	home, _ := os.UserHomeDir()
	return home
}

// exportInto writes a report to a new file in folder and returns its path. It never overwrites anything.
func exportInto(folder string, e *report.Experiment, format string) (string, error) {
	var out bytes.Buffer
	if err := report.ExportExperiment(&out, e, report.ExportOptions{Format: format}); err != nil {
		return "", err
	}
	base := filepath.Join(folder, "coffer-"+e.Kind+"-"+e.Started.Local().Format("2006-01-02-1504"))
	path := base + "." + format
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	for n := 2; errors.Is(err, fs.ErrExist) && n < 1000; n++ {
		path = fmt.Sprintf("%s-%d.%s", base, n, format)
		file, err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("export the report: %w", err)
	}
	_, err = file.Write(out.Bytes())
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return "", errors.Join(fmt.Errorf("export the report to %s: %w", path, err), os.Remove(path))
	}
	return path, nil
}

// confirmDelete removes an experiment from the history after a question.
func (s *Screen) confirmDelete(id, name string) {
	ui.Confirm(s.deps.Shell.Window(), text.T("Delete this report?"), text.T("The report %s is removed from this computer. Files you have exported stay.", name), text.T("Delete"), true, func() {
		s.deps.Work(func(context.Context) error { return report.NewStore(recordsFolder(s.deps)).DeleteExperiment(id) }, func(err error) {
			ui.ShowError(s.deps.Shell.Window(), err)
			if err == nil {
				s.showForm()
			}
			s.reload("")
		})
	})
}
