package files

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/client"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// writable says whether something can be changed inside, and if not, why.
func (s *Screen) writable() (bool, string) {
	switch c := s.container; {
	case !c.State.Open():
		return false, text.T("The container is locked.")
	case c.Status.Problem != "":
		return false, text.T("Nothing can be changed: %s", ui.Sentence(c.Status.Problem))
	case c.Status.ReadOnly:
		return false, text.T("Unlocked for reading only, so nothing can be changed here. To change files, lock the container and unlock it without that choice.")
	}
	return true, ""
}

func (s *Screen) showNotice() {
	_, words := s.writable()
	icon := theme.InfoIcon()
	if s.container.Status.Problem != "" {
		icon = theme.WarningIcon()
	}
	if words == s.noticed {
		return
	}
	s.noticed = words
	s.notice.Objects = nil
	if words != "" {
		s.notice.Objects = []fyne.CanvasObject{container.NewBorder(nil, nil, widget.NewIcon(icon), nil, ui.Paragraph(words))}
	}
	ui.Show(s.notice, words != "")
	s.view.Refresh() // there is another height for the list
}

// showHint fills an empty list with what can be done.
func (s *Screen) showHint() {
	key := ""
	switch can, _ := s.writable(); {
	case s.failed != nil:
		key = "failed " + s.failed.Error()
	case len(s.items) > 0 || s.load != nil || s.items == nil:
	case s.words != "":
		key = "nothing " + s.words
	case can:
		key = "empty"
	default:
		key = "empty, read-only"
	}
	if key == s.hinted {
		return
	}
	s.hinted = key
	var content fyne.CanvasObject
	kind, _, _ := strings.Cut(key, " ")
	switch {
	case kind == "failed" && len(s.items) > 0:
		key = "" // shown in the line at the bottom
	case kind == "failed":
		problem := client.Explain(s.failed)
		words := ui.Sentence(problem.Sentence)
		if hint := ui.Hint(problem); hint != "" {
			words += "\n" + hint
		}
		buttons := []fyne.CanvasObject{widget.NewButtonWithIcon(text.T("Try again"), theme.ViewRefreshIcon(), func() { s.list(false) })}
		if s.folder != "/" {
			buttons = append(buttons, widget.NewButtonWithIcon(text.T("Up one folder"), theme.MoveUpIcon(), s.up))
		}
		content = emptyState(theme.NewErrorThemedResource(theme.ErrorIcon()), text.T("This folder cannot be shown"), words, buttons...)
	case kind == "nothing":
		content = emptyState(theme.SearchIcon(), text.T("Nothing found"), text.T("Nothing in this folder or below has “%s” in its name.", ui.Clean(s.words)),
			widget.NewButton(text.T("End the search"), s.endSearch))
	case key == "empty":
		content = emptyState(theme.NewPrimaryThemedResource(theme.FolderOpenIcon()), text.T("This folder is empty"), text.T("Drop files and folders here, or add them."),
			s.action(actAddFiles).plainButton(), s.action(actAddFolder).plainButton())
	case key != "":
		content = emptyState(theme.FolderOpenIcon(), text.T("This folder is empty"), "")
	}
	if content != nil {
		s.hint.Objects = []fyne.CanvasObject{content}
		s.hint.Refresh()
	}
	ui.Show(s.hint, content != nil)
	canvas.Refresh(s.view)
}

// showStatus tells how much there is, how much is chosen, and how much room is left.
func (s *Screen) showStatus() {
	n := int64(len(s.items))
	words := text.N(n, "1 item", "%d items")
	if s.words != "" {
		words = text.T("%s found below this folder", text.N(n, "1 item", "%d items"))
		if n >= maxFound {
			words = text.T("The first %d found; search for more letters to see others", n)
		}
	}
	switch {
	case s.load != nil && !s.load.quiet && s.words != "":
		words = text.T("Searching… %d found so far", n)
	case s.load != nil && !s.load.quiet:
		words = text.T("Reading… %d so far", n)
	case s.failed != nil && n > 0:
		words = text.T("Not everything could be read: %s", ui.Sentence(client.Explain(s.failed).Sentence))
	case s.failed != nil:
		words = ""
	}
	if s.sel.count > 0 {
		words += "  ·  " + s.chosenWords()
	}
	ui.SetText(s.status, words)
	words = ""
	if total := s.container.Status.TotalBytes; total > 0 {
		words = text.T("%s free of %s", text.Size(s.container.Status.FreeBytes), text.Size(total))
	}
	if s.space.Text != words {
		s.space.SetText(words)
		s.bottom.Refresh() // it has another width now
	}
}

// chosenWords tell how many are chosen and how large the files among them are.
func (s *Screen) chosenWords() string {
	bytes, files := int64(0), false
	for i, on := range s.sel.on {
		if on && !s.items[i].Folder {
			bytes, files = bytes+s.items[i].SizeBytes, true
		}
	}
	words := text.N(int64(s.sel.count), "1 selected", "%d selected")
	if files {
		words += ", " + text.Size(bytes)
	}
	return words
}
