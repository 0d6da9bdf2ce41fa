package files

import (
	"context"
	"path"
	"strings"
	"sync"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/dialog"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/client"
	"coffer/app/protocol"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// show shows a dialog that tells of what is inside: it closes when the container is locked or left. closed, if not nil, is
// called when it closes.
func (s *Screen) show(d dialog.Dialog, closed func()) {
	s.close = d.Hide
	d.SetOnClosed(func() {
		s.close = nil
		if closed != nil {
			closed()
		}
		s.focus()
	})
	d.Show()
}

// keyButton is a button that hears Enter, and Esc for cancel.
type keyButton struct {
	widget.Button
	cancel func()
}

func newKeyButton(words string, tapped, cancel func()) *keyButton {
	b := &keyButton{cancel: cancel}
	b.Text, b.OnTapped = words, tapped
	b.ExtendBaseWidget(b)
	return b
}

// TypedKey implements fyne.Focusable.
func (b *keyButton) TypedKey(k *fyne.KeyEvent) {
	switch k.Name {
	case fyne.KeyReturn, fyne.KeyEnter:
		b.Tapped(nil)
	case fyne.KeyEscape:
		b.cancel()
	default:
		b.Button.TypedKey(k)
	}
}

// ask asks before something happens. With danger the other answer is the default.
func (s *Screen) ask(title, question, action string, danger bool, yes func()) {
	d := dialog.NewCustomWithoutButtons(title, ui.Paragraph(question), s.deps.Shell.Window())
	no := newKeyButton(text.T("Cancel"), d.Hide, d.Hide)
	ok := newKeyButton(action, func() { d.Hide(); yes() }, d.Hide)
	ok.Importance = widget.HighImportance
	if danger {
		ok.Importance = widget.DangerImportance
	}
	d.SetButtons([]fyne.CanvasObject{no, ok})
	d.Resize(fyne.NewSize(480, 0))
	s.show(d, nil)
	first := ok
	if danger {
		first = no
	}
	s.deps.Shell.Window().Canvas().Focus(first)
}

// confirm asks before something that cannot be undone.
func (s *Screen) confirm(title, question, action string, yes func()) {
	s.ask(title, question, action, true, yes)
}

// tell says something that is no failure.
func (s *Screen) tell(title, words string) {
	d := dialog.NewCustomWithoutButtons(title, ui.Paragraph(words), s.deps.Shell.Window())
	ok := newKeyButton(text.T("Close"), d.Hide, d.Hide)
	d.SetButtons([]fyne.CanvasObject{ok})
	d.Resize(fyne.NewSize(480, 0))
	s.show(d, nil)
	s.deps.Shell.Window().Canvas().Focus(ok)
}

// nameQuestion asks for the name of a file or folder.
type nameQuestion struct {
	title, name, action string
	stem                bool // only what is before the ending is selected
	taken               func(folded string) bool
}

// nameEntry is where a name is typed.
type nameEntry struct {
	widget.Entry
	cancel func()
}

// TypedKey implements fyne.Focusable.
func (e *nameEntry) TypedKey(k *fyne.KeyEvent) {
	if k.Name == fyne.KeyEscape {
		e.cancel()
		return
	}
	e.Entry.TypedKey(k)
}

// selectFirst selects the first n letters, as the keys would.
func (e *nameEntry) selectFirst(n int) {
	e.CursorColumn = 0
	e.KeyDown(&fyne.KeyEvent{Name: desktop.KeyShiftLeft})
	for range n {
		e.Entry.TypedKey(&fyne.KeyEvent{Name: fyne.KeyRight})
	}
	e.KeyUp(&fyne.KeyEvent{Name: desktop.KeyShiftLeft})
}

// askName asks for a name and calls then with one that FAT can hold.
func (s *Screen) askName(q nameQuestion, then func(name string)) {
	entry := &nameEntry{}
	entry.ExtendBaseWidget(entry)
	entry.SetText(q.name)
	why := ui.Paragraph(" ")
	why.Importance = widget.WarningImportance
	d := dialog.NewCustomWithoutButtons(q.title, container.NewVBox(entry, why), s.deps.Shell.Window())
	var ok *keyButton
	accept := func() {
		if name := strings.TrimLeft(entry.Text, " "); nameFault(name, q.taken) == "" {
			d.Hide()
			then(name)
		}
	}
	ok = newKeyButton(q.action, accept, d.Hide)
	ok.Importance = widget.HighImportance
	check := func(string) {
		fault := nameFault(strings.TrimLeft(entry.Text, " "), q.taken)
		if fault == "" {
			why.SetText(" ")
			ok.Enable()
			return
		}
		why.SetText(fault)
		ok.Disable()
	}
	entry.OnChanged, entry.OnSubmitted, entry.cancel = check, func(string) { accept() }, d.Hide
	d.SetButtons([]fyne.CanvasObject{newKeyButton(text.T("Cancel"), d.Hide, d.Hide), ok})
	d.Resize(fyne.NewSize(460, 0))
	check("")
	s.show(d, nil)
	s.deps.Shell.Window().Canvas().Focus(entry)
	marked := len([]rune(q.name))
	if dot := strings.LastIndexByte(q.name, '.'); q.stem && dot > 0 {
		marked = len([]rune(q.name[:dot]))
	}
	entry.selectFirst(marked)
}

// tally is what is in folders.
type tally struct{ files, folders, bytes int64 }

// words tells it.
func (t tally) words() string {
	return text.T("%s in %s, %s", text.N(t.files, "1 file", "%d files"), text.N(t.folders, "1 folder", "%d folders"), text.Size(t.bytes))
}

// properties tells about what is chosen, or about the folder shown. Folders are counted meanwhile.
func (s *Screen) properties() {
	items := s.chosen()
	title := text.T("Properties")
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
		line(text.T("Selected"), text.T("%d files and folders", len(items)))
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
	d := dialog.NewCustomWithoutButtons(title, container.NewBorder(nil, nil, container.NewVBox(head), nil, form), s.deps.Shell.Window())
	ok := newKeyButton(text.T("Close"), d.Hide, d.Hide)
	d.SetButtons([]fyne.CanvasObject{ok})
	d.Resize(fyne.NewSize(520, 0))
	s.show(d, cancel)
	s.deps.Shell.Window().Canvas().Focus(ok)
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
