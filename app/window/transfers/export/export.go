// Package export is the dialog that saves a report as a file: choose a format, press Save.
package export

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"github.com/adrg/xdg"

	"coffer/app/client"
	"coffer/app/protocol"
	"coffer/app/window/files"
	"coffer/app/window/text"
	"coffer/app/window/ui"
	"coffer/transfer/report"
)

// Request is a report to be saved.
type Request struct {
	Title string // of the dialog
	Name  string // of the file, without its extension
	// Write writes the report in a format of report.Formats. It runs in a goroutine of its own.
	Write func(w io.Writer, format string) error
}

// format is a format of reports.
type format struct {
	extension string
	words     func() string
}

// formats are those of package report, the most useful for most people first.
var formats = []format{
	{"html", func() string { return text.T("Web page with charts (.html)") }},
	{"png", func() string { return text.T("Picture (.png)") }},
	{"svg", func() string { return text.T("Picture that can be enlarged (.svg)") }},
	{"csv", func() string { return text.T("Table for a spreadsheet (.csv)") }},
	{"md", func() string { return text.T("Text with tables, Markdown (.md)") }},
	{"json", func() string { return text.T("Data for programs (.json)") }},
}

// last is what the person chose last, as long as the window lives; touched on Fyne's goroutine only.
var last = struct{ extension, folder string }{extension: "html"}

// Open opens a file or folder with the program of the desktop; tests replace it. It may take a moment.
var Open = func(path string) error {
	slashed := filepath.ToSlash(path)
	if !strings.HasPrefix(slashed, "/") { // C:/...
		slashed = "/" + slashed
	}
	return fyne.CurrentApp().OpenURL(&url.URL{Scheme: "file", Path: slashed})
}

// Dialog is the dialog while it is shown.
type Dialog struct {
	deps    *ui.Deps
	request Request
	keys    *ui.Keys
	dialog  *dialog.CustomDialog
	format  *ui.KeySelect
	path    *ui.KeyEntry
	problem *ui.Message
	save    *ui.KeyButton
	cancel  *ui.KeyButton
	browse  *ui.KeyButton
	offered string // the path that was offered, as long as the person has not changed it
	saving  bool
	closed  bool
}

// Show asks where to, and saves. Escape leaves it, Enter saves.
func Show(d *ui.Deps, r Request) *Dialog {
	e := &Dialog{deps: d, request: r, keys: &ui.Keys{}, problem: ui.NewMessage()}
	var words []string
	for _, f := range formats {
		words = append(words, f.words())
	}
	e.path = e.keys.NewEntry()
	e.format = e.keys.NewSelect(words, func(string) { e.formatChanged() })
	e.save = e.keys.NewPrimary(text.T("Save"), func() { e.saveNow(false) })
	e.cancel = e.keys.NewButton(text.T("Cancel"), e.close)
	e.browse = e.keys.NewButton(text.T("Choose folder…"), e.chooseFolder)
	e.keys.Enter, e.keys.Escape = func() { e.saveNow(false) }, e.close
	form := container.New(layout.NewFormLayout(), widget.NewLabel(text.T("Format")), e.format,
		widget.NewLabel(text.T("Save as")), container.NewBorder(nil, nil, nil, e.browse, e.path))
	e.dialog = dialog.NewCustomWithoutButtons(r.Title, container.New(layout.NewCustomPaddedLayout(0, 2*theme.Padding(), 0, 0), container.NewVBox(form, e.problem)), d.Shell.Window())
	e.dialog.SetButtons([]fyne.CanvasObject{e.cancel, e.save})
	detach := e.keys.Attach(d.Shell.Window().Canvas())
	e.dialog.SetOnClosed(func() {
		e.closed = true
		detach()
	})
	e.format.SetSelectedIndex(indexOf(last.extension))
	e.dialog.Resize(fyne.NewSize(620, 0))
	e.dialog.Show()
	d.Shell.Window().Canvas().Focus(e.save)
	e.offer(last.folder)
	return e
}

func indexOf(extension string) int {
	for i, f := range formats {
		if f.extension == extension {
			return i
		}
	}
	return 0
}

// close leaves the dialog, unless it is just writing.
func (e *Dialog) close() {
	if !e.saving {
		e.dialog.Hide()
	}
}

// chosen is the extension of the format chosen.
func (e *Dialog) chosen() string { return formats[max(e.format.SelectedIndex(), 0)].extension }

// formatChanged gives the name of the file the extension of the format.
func (e *Dialog) formatChanged() {
	last.extension = e.chosen()
	if e.path.Text == "" {
		return
	}
	if e.path.Text == e.offered {
		e.offer(filepath.Dir(e.offered))
		return
	}
	e.path.SetText(withExtension(e.path.Text, e.chosen()))
}

// withExtension replaces an extension that is one of a report, and adds it where there is none.
func withExtension(path, extension string) string {
	if _, err := report.FormatOf(path); err == nil {
		path = strings.TrimSuffix(path, filepath.Ext(path))
	}
	return path + "." + extension
}

// offer puts a name that is free into the line, of a file in folder; "": that of the person's documents.
func (e *Dialog) offer(folder string) {
	name, extension, before := e.request.Name, e.chosen(), e.path.Text
	var path string
	e.deps.Work(func(context.Context) error {
		if folder == "" {
			folder = documents()
		}
		path = free(filepath.Join(folder, name), extension)
		return nil
	}, func(error) {
		if e.closed || e.path.Text != before || e.chosen() != extension { // the person was faster
			return
		}
		e.offered = path
		e.path.SetText(path)
		e.path.CursorColumn = len([]rune(path))
		e.path.Refresh()
	})
}

// documents is the person's folder of documents, or else their home.
func documents() string {
	for _, folder := range []string{xdg.UserDirs.Documents, xdg.Home} {
		if info, err := os.Stat(folder); err == nil && info.IsDir() {
			return folder
		}
	}
	return os.TempDir()
}

// free is base with the extension, and with a number if there is such a file.
func free(base, extension string) string {
	path := base + "." + extension
	for i := 2; i < 1000; i++ {
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			break
		}
		path = fmt.Sprintf("%s-%d.%s", base, i, extension)
	}
	return path
}

func (e *Dialog) chooseFolder() {
	files.ChooseFolder(e.deps, filepath.Dir(e.path.Text), func(folder string) {
		e.offered = ""
		e.path.SetText(filepath.Join(folder, filepath.Base(e.path.Text)))
	})
}

// errThere: there is such a file, and the person was not asked yet.
var errThere = errors.New("there is such a file")

// saveNow writes the file; with replace one that is there gives way.
func (e *Dialog) saveNow(replace bool) {
	path := strings.TrimSpace(e.path.Text)
	if e.saving || path == "" {
		return
	}
	extension := e.chosen()
	if typed, err := report.FormatOf(path); err == nil {
		extension = typed // what the person wrote counts
	} else {
		path += "." + extension
	}
	if !filepath.IsAbs(path) {
		e.problem.Say(widget.DangerImportance, text.T("Write the whole path, beginning with the folder."))
		return
	}
	e.busy(true)
	e.problem.Say(0, "")
	e.deps.Work(func(context.Context) error {
		if _, err := os.Lstat(path); err == nil && !replace {
			return errThere
		}
		return write(path, extension, e.request.Write)
	}, func(err error) {
		e.busy(false)
		switch {
		case errors.Is(err, errThere):
			ui.Confirm(e.deps.Shell.Window(), text.T("Replace the file?"), text.T("%s is there already.", ui.Clean(path)), text.T("Replace"), true, func() { e.saveNow(true) })
		case err != nil:
			problem := client.Explain(err)
			e.problem.Say(widget.DangerImportance, strings.TrimSpace(ui.Sentence(problem.Sentence)+" "+ui.Sentence(problem.Hint)))
		default:
			last.folder = filepath.Dir(path)
			e.dialog.Hide()
			saved(e.deps, path)
		}
	})
}

func (e *Dialog) busy(yes bool) {
	e.saving = yes
	ui.Enable(e.save, !yes)
	ui.Enable(e.cancel, !yes)
	words := text.T("Save")
	if yes {
		words = text.T("Saving…")
	}
	e.save.SetText(words)
}

// write writes the report, complete or not at all.
func write(path, extension string, report_ func(io.Writer, string) error) error {
	var buffer bytes.Buffer
	if err := report_(&buffer, extension); err != nil {
		return err
	}
	err := report.WriteFileAtomic(path, buffer.Bytes())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &client.Error{Problem: protocol.Problem{Sentence: text.T("The folder %s is not there.", filepath.Dir(path)), Hint: text.T("Choose another one."), Code: protocol.Failed}}
	case errors.Is(err, fs.ErrPermission):
		return &client.Error{Problem: protocol.Problem{Sentence: text.T("You may not write to %s.", filepath.Dir(path)), Hint: text.T("Choose another folder."), Code: protocol.Failed}}
	}
	return err
}

// saved says where the report is, and opens it or its folder if wanted.
func saved(d *ui.Deps, path string) {
	keys := &ui.Keys{}
	var done *dialog.CustomDialog
	open := func(what string) func() {
		return func() {
			done.Hide()
			d.Work(func(context.Context) error { return Open(what) }, func(err error) { ui.ShowError(d.Shell.Window(), err) })
		}
	}
	file, folder := keys.NewPrimary(text.T("Open"), open(path)), keys.NewButton(text.T("Show in folder"), open(filepath.Dir(path)))
	close := keys.NewButton(text.T("Close"), func() { done.Hide() })
	keys.Enter, keys.Escape = open(path), func() { done.Hide() }
	body := container.NewBorder(nil, nil, widget.NewIcon(theme.NewSuccessThemedResource(theme.ConfirmIcon())), nil, ui.Paragraph(ui.Clean(path)))
	done = dialog.NewCustomWithoutButtons(text.T("The report is saved"), body, d.Shell.Window())
	done.SetButtons([]fyne.CanvasObject{close, folder, file})
	done.SetOnClosed(keys.Attach(d.Shell.Window().Canvas()))
	done.Resize(fyne.NewSize(520, 0))
	done.Show()
	d.Shell.Window().Canvas().Focus(close)
}
