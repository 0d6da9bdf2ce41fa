package files

import (
	"cmp"
	"context"
	"path"
	"strings"
	"sync"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/client"
	"coffer/app/protocol"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// panel makes a dialog that tells of what is inside: it closes when the container is locked or left. shut closes it, by which
// closed, if not nil, is called.
func (s *Screen) panel(title string, width float32, content fyne.CanvasObject, closed func()) (p *ui.Panel, shut func()) {
	p = ui.NewPanel(s.deps.Shell.Window(), title, width, content)
	shut = func() {
		if !p.Open() {
			return
		}
		p.Close()
		s.close = nil
		if closed != nil {
			closed()
		}
		s.focus()
	}
	p.Keys.Escape, s.close = shut, shut
	return p, shut
}

// ask asks before something happens. With danger the other answer is the default.
func (s *Screen) ask(title, question, action string, danger bool, yes func()) {
	p, shut := s.panel(title, 480, ui.Paragraph(question), nil)
	no := p.Keys.NewButton(text.T("Cancel"), shut)
	ok := p.Keys.NewPrimary(action, func() { shut(); yes() })
	p.SetButtons(no, ok)
	p.Show()
	if danger {
		ok.Importance = widget.DangerImportance
		ok.Refresh()
		p.Focus(no)
		return
	}
	p.Focus(ok)
}

// tell says something that is no failure.
func (s *Screen) tell(title, words string) {
	p, shut := s.panel(title, 480, ui.Paragraph(words), nil)
	ok := p.Keys.NewPrimary(text.T("Close"), shut)
	p.SetButtons(ok)
	p.Show()
	p.Focus(ok)
}

// nameQuestion asks for the name of a file or folder.
type nameQuestion struct {
	title, name, action string
	stem                bool // only what is before the ending is selected
	taken               func(folded string) bool
}

// selectFirst selects the first n letters, as the keys would.
func selectFirst(e *ui.KeyEntry, n int) {
	e.CursorColumn = 0
	e.KeyDown(&fyne.KeyEvent{Name: desktop.KeyShiftLeft})
	for range n {
		e.Entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyRight})
	}
	e.KeyUp(&fyne.KeyEvent{Name: desktop.KeyShiftLeft})
}

// askName asks for a name and calls then with one that FAT can hold.
func (s *Screen) askName(q nameQuestion, then func(name string)) {
	content := container.NewVBox()
	p, shut := s.panel(q.title, 460, content, nil)
	entry := p.Keys.NewEntry()
	entry.SetText(q.name)
	why := ui.Paragraph(" ") // the room is there from the beginning, so that nothing jumps
	why.Importance = widget.WarningImportance
	content.Objects = []fyne.CanvasObject{entry, why}
	typed := func() string { return strings.TrimLeft(entry.Text, " ") }
	accept := func() {
		if name := typed(); nameFault(name, q.taken) == "" {
			shut()
			then(name)
		}
	}
	ok := p.Keys.NewPrimary(q.action, accept)
	entry.OnChanged = func(string) {
		fault := nameFault(typed(), q.taken)
		ui.Enable(ok, fault == "")
		ui.SetText(why, cmp.Or(fault, " "))
	}
	entry.OnSubmitted = func(string) { accept() }
	p.SetButtons(p.Keys.NewButton(text.T("Cancel"), shut), ok)
	entry.OnChanged("")
	p.Show()
	p.Focus(entry)
	marked := len([]rune(q.name))
	if dot := strings.LastIndexByte(q.name, '.'); q.stem && dot > 0 {
		marked = len([]rune(q.name[:dot]))
	}
	selectFirst(entry, marked)
}

// tally is what is in folders.
type tally struct{ files, folders, bytes int64 }

// words tells it.
func (t tally) words() string {
	if t.folders == 0 {
		return text.N(t.files, "1 file", "%d files") + ", " + text.Size(t.bytes)
	}
	return text.T("%s in %s, %s", text.N(t.files, "1 file", "%d files"), text.N(t.folders, "1 folder", "%d folders"), text.Size(t.bytes))
}

// properties tells about what is chosen, or about the folder shown. Folders are counted meanwhile.
func (s *Screen) properties() {
	items := s.chosen()
	if len(items) == 0 {
		items = []*item{newItem(protocol.Entry{Path: s.folder, Folder: true})}
	}
	form := container.New(layout.NewFormLayout())
	line := func(name, words string) *widget.Label {
		key := widget.NewLabelWithStyle(name, fyne.TextAlignTrailing, fyne.TextStyle{})
		key.Importance = widget.LowImportance
		value := widget.NewLabel(words)
		value.Wrapping = fyne.TextWrapWord
		value.Selectable = true
		form.Add(key)
		form.Add(value)
		return value
	}
	icon := theme.IconNameFile
	if len(items) == 1 {
		one := items[0]
		icon = one.icon()
		if one.Path == "/" {
			line(text.T("Name"), s.container.Title())
			line(text.T("Kind"), text.T("The whole container"))
		} else {
			line(text.T("Name"), one.shown)
			line(text.T("Kind"), one.kind())
			line(text.T("In folder"), folderOf(one))
		}
		if !one.Modified.IsZero() {
			line(text.T("Modified"), one.Modified.Local().Format("2006-01-02 15:04:05"))
		}
		if words := attributes(one); words != "" {
			line(text.T("Attributes"), words)
		}
	} else {
		line(text.T("Selected"), text.T("%d items", len(items)))
	}
	size := line(text.T("Size"), "")
	ctx, cancel := context.WithCancel(s.deps.Context)
	if len(items) == 1 && !items[0].Folder {
		size.SetText(text.T("%s (%d bytes)", text.Size(items[0].SizeBytes), items[0].SizeBytes))
	} else {
		go s.tally(ctx, s.container.ID, outermost(items), func(t tally, ended bool, err error) {
			s.do(func() {
				switch {
				case ctx.Err() != nil:
				case err != nil:
					size.SetText(text.T("%s could be read. %s", t.words(), ui.Sentence(client.Explain(err).Sentence)))
				case ended:
					size.SetText(t.words())
				default:
					size.SetText(text.T("Counting… %s", t.words()))
				}
			})
		})
		size.SetText(text.T("Counting…"))
	}
	picture := widget.NewIcon(pictureOf(icon))
	head := container.NewGridWrap(fyne.NewSquareSize(48), picture)
	p, shut := s.panel(text.T("Properties"), 520, container.NewBorder(nil, nil, container.NewVBox(head), nil, form), cancel)
	ok := p.Keys.NewPrimary(text.T("Close"), shut)
	p.SetButtons(ok)
	p.Show()
	p.Focus(ok)
}

// attributes are the marks of a file, in words.
func attributes(i *item) string {
	var marks []string
	if i.ReadOnly {
		marks = append(marks, text.T("read-only"))
	}
	if i.Hidden {
		marks = append(marks, text.T("hidden"))
	}
	if i.System {
		marks = append(marks, text.T("system"))
	}
	return strings.Join(marks, ", ")
}

// tally counts what is in items, and calls said now and then and at the end.
func (s *Screen) tally(ctx context.Context, id string, items []*item, said func(t tally, ended bool, err error)) {
	var mu sync.Mutex
	var sum tally
	count := func(folder bool, bytes int64) {
		mu.Lock()
		defer mu.Unlock()
		if folder {
			sum.folders++
		} else {
			sum.files, sum.bytes = sum.files+1, sum.bytes+bytes
		}
	}
	meanwhile(func() error {
		for _, i := range items {
			if path.Clean(i.Path) != "/" {
				count(i.Folder, i.SizeBytes)
			}
			if !i.Folder {
				continue
			}
			err := s.deps.Backend.Files.List(ctx, id, i.Path, true, func(e protocol.Entry) error {
				count(e.Folder, e.SizeBytes)
				return ctx.Err()
			})
			if err != nil {
				return err
			}
		}
		return nil
	}, func(ended bool, err error) {
		mu.Lock()
		now := sum
		mu.Unlock()
		said(now, ended, err)
	})
}
