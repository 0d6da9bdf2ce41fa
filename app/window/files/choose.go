package files

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"
	"github.com/adrg/xdg"

	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// Want is what somebody is to choose on the host.
type Want int

// What can be wanted.
const (
	WantFile    Want = iota // one file that is there
	WantMany                // files, and folders too
	WantFolder              // one folder, perhaps a new one
	WantFolders             // one or several folders
	WantNew                 // a name for a file that is not there yet
)

// folder says whether the folder shown may itself be what is chosen.
func (w Want) folder() bool { return w == WantFolder || w == WantFolders }

// several says whether more than one thing can be chosen.
func (w Want) several() bool { return w == WantMany || w == WantFolders }

// Request is what a chooser asks for.
type Request struct {
	Want   Want
	Title  string
	Action string // what the button says
	Here   string // what it says when the folder shown is what would be chosen; "" is Action
	Folder string // where it begins; "" is where the last one ended
	Name   string // proposed for a new file
}

// lastFolder is where the last chooser was, so that the next one begins there; Fyne's goroutine only.
var lastFolder string

// chooser is a dialog to choose files or folders of the host. The toolkit's own chooses a single one, reads the disk while the
// window waits, and cannot be used without a mouse.
type chooser struct {
	Request
	deps      *ui.Deps
	panel     *ui.Panel
	then      func([]string)
	closed    func() // nil: nobody wants to know
	modifiers func() fyne.KeyModifier

	folder  string
	reading context.CancelFunc
	items   []*item
	sel     selection
	order   order
	hidden  bool // files whose name begins with a dot are shown
	typing  typing
	wanted  string

	way    *ui.KeyEntry
	name   *ui.KeyEntry
	places *fyne.Container
	table  *table
	head   *head
	said   *widget.Label
	ok     *ui.KeyButton
	fresh  *ui.KeyButton
}

// ChooseFile asks for one file of the host that is there; folder is where it begins, "" where the last chooser was.
func ChooseFile(d *ui.Deps, folder string, then func(path string)) {
	Choose(d, Request{Want: WantFile, Title: text.T("Choose a file"), Folder: folder}, func(paths []string) { then(paths[0]) })
}

// ChooseFolder asks for one folder of the host.
func ChooseFolder(d *ui.Deps, folder string, then func(path string)) {
	Choose(d, Request{Want: WantFolder, Title: text.T("Choose a folder"), Here: text.T("Choose this folder"), Folder: folder}, func(paths []string) { then(paths[0]) })
}

// ChooseNew asks for the path of a file or folder that is not there yet, and proposes a name; nothing is made.
func ChooseNew(d *ui.Deps, title, folder, name string, then func(path string)) {
	name = strings.Map(func(r rune) rune {
		if separator(r) {
			return '-'
		}
		return r
	}, name)
	Choose(d, Request{Want: WantNew, Title: title, Action: text.T("Save"), Folder: folder, Name: name}, func(paths []string) { then(paths[0]) })
}

// Choose asks for files or folders of the host; then is called with at least one path, or not at all when it is cancelled.
func Choose(d *ui.Deps, r Request, then func(paths []string)) { newChooser(d, r, then).show() }

func newChooser(d *ui.Deps, r Request, then func([]string)) *chooser {
	if r.Action == "" {
		r.Action = text.T("Choose")
	}
	if r.Here == "" {
		r.Here = r.Action
	}
	return &chooser{Request: r, deps: d, then: then, sel: newSelection(0), modifiers: heldKeys}
}

// show shows the dialog.
func (c *chooser) show() {
	content := container.NewStack()
	size := ui.ChooserSize(c.deps.Shell.Window())
	c.panel = ui.NewPanel(c.deps.Shell.Window(), c.Title, size.Width, content)
	keys := &c.panel.Keys
	keys.Escape = c.shut
	c.table = newTable(tableEvents{bind: c.bind, press: c.press, open: c.open, menu: func(int, fyne.Position) {}, key: c.key, typed: c.typed, cut: c.shortcut})
	c.head = newHead(c.table, keys, c.sortBy)
	c.head.mark(c.order, false)
	c.way = keys.NewEntry()
	c.way.OnSubmitted = c.enter
	up := keys.NewLink("", theme.MoveUpIcon(), c.up)
	c.said = widget.NewLabel("")
	c.said.Importance, c.said.Truncation = widget.LowImportance, fyne.TextTruncateEllipsis
	hidden := keys.NewCheck(text.T("Hidden files"), func(on bool) { c.hidden = on; c.look(c.folder, false) })
	c.ok = keys.NewPrimary(c.Action, c.accept)
	c.ok.Disable()
	c.places = container.NewVBox()
	tools := container.NewHBox()
	c.fresh = keys.NewButton(text.T("New folder"), c.newFolder)
	if c.Want == WantFolder || c.Want == WantNew {
		tools.Add(c.fresh)
	}
	c.name = keys.NewEntry()
	c.name.SetText(c.Name)
	c.name.OnChanged = func(string) { c.selected(true) }
	c.name.OnSubmitted = func(string) { c.accept() }
	bottom := container.NewVBox(container.NewBorder(nil, nil, hidden, nil, c.said))
	if c.Want == WantNew {
		bottom.Objects = append([]fyne.CanvasObject{container.NewBorder(nil, nil, widget.NewLabel(text.T("Name")), nil, c.name)}, bottom.Objects...)
	}
	rows := canvas.NewRectangle(theme.Color(theme.ColorNameInputBackground))
	rows.CornerRadius = theme.InputRadiusSize()
	list := container.NewBorder(container.NewVBox(c.head.box, widget.NewSeparator()), nil, nil, nil, container.NewStack(rows, c.table))
	height := canvas.NewRectangle(theme.Color(theme.ColorNameOverlayBackground))
	height.SetMinSize(fyne.NewSize(0, max(260, size.Height-150)))
	aside := container.NewStack(ui.Space(placesWidth, 1), container.NewVScroll(c.places))
	content.Objects = []fyne.CanvasObject{height, container.NewBorder(
		container.NewBorder(nil, nil, up, tools, c.way), bottom, container.NewHBox(aside, widget.NewSeparator()), nil, list)}
	c.panel.SetButtons(keys.NewButton(text.T("Cancel"), c.shut), c.ok)
	c.panel.Show()
	c.panel.Focus(c.table)
	c.findPlaces()
	c.begin()
}

// shut closes it.
func (c *chooser) shut() {
	if !c.panel.Open() {
		return
	}
	c.reading()
	c.panel.Close()
	if c.closed != nil {
		c.closed()
	}
}

// finish ends with what was chosen.
func (c *chooser) finish(paths ...string) {
	c.shut()
	c.then(paths)
}

// begin shows the first folder, or the nearest one around it that is there.
func (c *chooser) begin() {
	folder := c.Folder
	if folder == "" {
		folder = lastFolder
	}
	if folder == "" {
		folder = xdg.Home
	}
	c.look(folder, true)
}

// enter goes where a typed path leads: it shows a folder, or takes a file where one is wanted. A relative path is meant from the
// folder shown, and "~" is the person's own.
func (c *chooser) enter(typed string) {
	path := strings.TrimSpace(typed)
	if rest, ok := strings.CutPrefix(path, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		path = filepath.Join(xdg.Home, rest)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(c.folder, path)
	}
	c.look(filepath.Clean(path), false)
}

// look reads a path off Fyne's goroutine and takes what is there. It is not waited for when the window closes: a disk may never
// answer.
func (c *chooser) look(path string, nearest bool) {
	if c.reading != nil {
		c.reading()
	}
	ctx, cancel := context.WithCancel(c.deps.Context)
	c.reading = cancel
	hidden, files, by := c.hidden, !c.Want.folder(), c.order
	go func() {
		at := lookAt(path, nearest, c.Want == WantNew)
		if at.err == nil {
			at.items, at.err = readHost(ctx, at.folder, hidden, files)
			at.items = by.sorted(at.items)
		}
		c.deps.Do(func() {
			if ctx.Err() == nil {
				c.take(at)
			}
		})
	}()
}

// take shows what was read, or says why it was not.
func (c *chooser) take(at found) {
	if at.err != nil {
		ui.SetText(c.said, at.words())
		if at.items == nil {
			return // what is shown stays
		}
	}
	if at.file != "" && (c.Want == WantFile || c.Want == WantMany) {
		lastFolder = at.folder
		c.finish(at.file)
		return
	}
	fresh := c.folder == ""
	if at.folder == c.folder {
		c.sel = c.sel.moved(c.items, at.items)
	} else {
		c.sel = newSelection(len(at.items))
		c.table.scrollTo(0)
	}
	c.folder, lastFolder, c.items, c.typing = at.folder, at.folder, at.items, typing{}
	c.way.SetText(at.folder)
	c.table.setCount(len(at.items))
	if i := slices.IndexFunc(at.items, func(i *item) bool { return i.Path == c.wanted }); i >= 0 {
		c.sel.only(i)
		c.table.reveal(i)
	}
	c.wanted = ""
	c.panel.Focus(c.table)
	switch {
	case at.file != "" && c.Want == WantNew:
		c.name.SetText(filepath.Base(at.file))
		c.panel.Focus(c.name)
	case at.file != "":
		c.selected(true)
		ui.SetText(c.said, text.T("That is a file, not a folder."))
		return
	case fresh && c.Want == WantNew:
		c.panel.Focus(c.name)
		selectFirst(c.name, utf8.RuneCountInString(strings.TrimSuffix(c.Name, filepath.Ext(c.Name))))
	}
	c.selected(at.err == nil)
}

func (c *chooser) bind(i int, r *row) {
	r.item, r.chosen, r.cursor, r.dim = c.items[i], c.sel.has(i), i == c.sel.cursor, c.items[i].Hidden
}

// selected shows another selection; status is whether the line at the bottom tells of it.
func (c *chooser) selected(status bool) {
	c.table.place(true)
	bytes := int64(0)
	for _, one := range c.chosen() {
		bytes += one.SizeBytes
	}
	words := text.N(int64(c.sel.count), "1 selected", "%d selected")
	switch {
	case c.Want == WantNew:
		words = ui.Clean(c.newPath())
	case c.sel.count == 0 && c.Want.folder():
		words = text.T("This folder: %s", ui.Clean(c.folder))
	case c.sel.count == 0 && c.Want.several():
		words = text.T("Choose files or folders; with Ctrl or Shift several at once")
	case c.sel.count == 0:
		words = ""
	case bytes > 0:
		words += ", " + text.Size(bytes)
	}
	if status {
		ui.SetText(c.said, words)
	}
	label := c.Action
	if c.Want.folder() && c.sel.count == 0 {
		label = c.Here
	}
	if c.ok.Text != label {
		c.ok.SetText(label)
		c.panel.Fit()
	}
	ui.Enable(c.ok, c.folder != "" && c.complete())
}

// complete says whether what is chosen is what is wanted.
func (c *chooser) complete() bool {
	switch c.Want {
	case WantFile:
		return c.sel.count == 1
	case WantMany:
		return c.sel.count > 0
	case WantNew:
		return strings.TrimSpace(c.name.Text) != ""
	}
	return true
}

// chosen are the items chosen.
func (c *chooser) chosen() []*item {
	list := make([]*item, 0, c.sel.count)
	for _, i := range c.sel.rows() {
		list = append(list, c.items[i])
	}
	return list
}

func (c *chooser) press(i int, m fyne.KeyModifier, _ bool) {
	c.panel.Focus(c.table)
	if !c.Want.several() {
		m = 0
	}
	c.sel.click(i, m&fyne.KeyModifierShortcutDefault != 0, m&fyne.KeyModifierShift != 0, false)
	c.picked()
}

// picked shows another selection, and proposes the name of a file that was chosen for a new one.
func (c *chooser) picked() {
	if one := c.chosen(); c.Want == WantNew && len(one) == 1 && !one[0].Folder {
		c.name.SetText(one[0].name)
	}
	if c.way.Text != c.folder { // what was typed there was not meant after all
		c.way.SetText(c.folder)
	}
	c.selected(true)
}

// open enters a folder, or takes a file.
func (c *chooser) open(i int) {
	switch {
	case i < 0 || i >= len(c.items):
	case c.items[i].Folder:
		c.look(c.items[i].Path, false)
	default:
		c.accept()
	}
}

func (c *chooser) up() {
	if above := filepath.Dir(c.folder); above != c.folder {
		c.wanted = c.folder
		c.look(above, false)
	}
}

// key is a key while the list has the keyboard.
func (c *chooser) key(e *fyne.KeyEvent) {
	extend := c.modifiers()&fyne.KeyModifierShift != 0 && c.Want.several()
	switch {
	case c.table.walk(e.Name, &c.sel, extend):
		c.picked()
	case e.Name == fyne.KeyBackspace:
		c.up()
	case e.Name == fyne.KeyF5:
		c.look(c.folder, false)
	case e.Name == fyne.KeySpace && c.sel.cursor >= 0 && time.Since(c.typing.last) > typingPause:
		if c.Want.several() {
			c.sel.toggle(c.sel.cursor)
		} else {
			c.sel.only(c.sel.cursor)
		}
		c.picked()
	case e.Name == fyne.KeyEscape:
		c.shut()
	case e.Name == fyne.KeyReturn || e.Name == fyne.KeyEnter:
		if one := c.chosen(); len(one) == 1 && one[0].Folder {
			c.look(one[0].Path, false)
			return
		}
		c.accept()
	}
}

// shortcut is a key with Ctrl or Alt while the list has the keyboard. None is for the screen below.
func (c *chooser) shortcut(cut fyne.Shortcut) {
	up := desktop.CustomShortcut{KeyName: fyne.KeyUp, Modifier: fyne.KeyModifierAlt}
	way := desktop.CustomShortcut{KeyName: fyne.KeyL, Modifier: fyne.KeyModifierShortcutDefault}
	all := desktop.CustomShortcut{KeyName: fyne.KeyA, Modifier: fyne.KeyModifierShortcutDefault}
	switch cut.ShortcutName() {
	case up.ShortcutName():
		c.up()
	case way.ShortcutName():
		c.startPath(c.folder)
		c.way.TypedShortcut(&fyne.ShortcutSelectAll{})
	case all.ShortcutName(), (&fyne.ShortcutSelectAll{}).ShortcutName():
		if c.Want.several() {
			c.sel.all()
			c.picked()
		}
	}
}

// typed goes to a name, or begins a path.
func (c *chooser) typed(r rune) {
	if separator(r) || r == '~' {
		c.startPath(string(r))
	} else if i := c.typing.next(r, c.items, c.sel.cursor); i >= 0 {
		c.sel.only(i)
		c.table.reveal(i)
		c.picked()
	}
}

// startPath gives the keyboard to the line for a path, which begins with something.
func (c *chooser) startPath(with string) {
	c.way.SetText(with)
	c.way.CursorColumn = utf8.RuneCountInString(with)
	c.panel.Focus(c.way)
}

func (c *chooser) sortBy(by column) {
	if c.order.by == by {
		c.order.down = !c.order.down
	} else {
		c.order = order{by: by, down: by == bySize || by == byModified}
	}
	c.head.mark(c.order, false)
	c.look(c.folder, false)
}

// accept ends with what is chosen, or with the folder shown where a folder is wanted.
func (c *chooser) accept() {
	chosen := c.chosen()
	switch {
	case c.ok.Disabled():
	case c.way.Text != c.folder: // typed, and not gone to yet: to take the folder shown would be the wrong place
		c.enter(c.way.Text)
	case c.Want == WantNew:
		c.acceptNew()
	case c.Want == WantFile && chosen[0].Folder:
		c.look(chosen[0].Path, false)
	case len(chosen) == 0:
		c.finish(c.folder)
	default:
		c.finish(pathsOf(chosen)...)
	}
}

// newPath is the path of the file to be made; it ends as the one proposed does if nothing else was typed.
func (c *chooser) newPath() string {
	name := strings.TrimSpace(c.name.Text)
	if ending := filepath.Ext(c.Name); name != "" && filepath.Ext(name) == "" && !strings.Contains(ending, " ") {
		name += ending
	}
	return filepath.Join(c.folder, name)
}

// separator says whether a character parts the names of a path.
func separator(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) }

// acceptNew ends with the name of a new file. One that is there is refused: no screen that asks for a new file may replace another,
// for what these hold opens containers.
func (c *chooser) acceptNew() {
	if typed := strings.TrimSpace(c.name.Text); typed == "~" || strings.ContainsFunc(typed, separator) {
		c.enter(typed)
		return
	}
	path := c.newPath()
	c.ok.Disable()
	go func() {
		info, err := os.Lstat(path)
		c.deps.Do(func() {
			switch {
			case !c.panel.Open():
			case os.IsNotExist(err):
				c.finish(path)
			case err == nil && info.IsDir():
				c.look(path, false)
			case err == nil:
				c.selected(false)
				ui.SetText(c.said, text.T("There is already a file with this name. Nothing is ever overwritten: choose another name."))
				c.panel.Focus(c.name)
			default:
				c.selected(false)
				ui.SetText(c.said, found{path: path, err: err}.words())
			}
		})
	}()
}

// newFolder makes a folder, and enters it. Its name can be changed with any other program.
func (c *chooser) newFolder() {
	above := c.folder
	c.fresh.Disable()
	go func() {
		name, err := "", error(nil)
		for n := 1; n < 1000; n++ {
			if name = text.T("New folder"); n > 1 {
				name = text.T("%s %d", name, n)
			}
			if err = os.Mkdir(filepath.Join(above, name), 0o700); !os.IsExist(err) {
				break
			}
		}
		c.deps.Do(func() {
			c.fresh.Enable()
			if err != nil {
				ui.SetText(c.said, found{path: above, err: err}.words())
				return
			}
			c.look(filepath.Join(above, name), false)
		})
	}()
}
