package files

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/protocol"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// chooseKind is what somebody chooses on the host.
type chooseKind int

const (
	chooseFiles  chooseKind = iota // files, and folders too, to be added
	chooseFolder                   // folders, to be added
	chooseTarget                   // the folder to export to
)

// chooser is a dialog to choose files or folders of the host. The toolkit's own chooses a single one, and reads the disk while
// the window waits.
type chooser struct {
	screen *Screen
	kind   chooseKind
	panel  *ui.Panel
	shut   func()
	then   func([]string)

	folder  string
	reading context.CancelFunc
	items   []*item
	sel     selection
	order   order
	hidden  bool // files whose name begins with a dot are shown
	typing  typing
	wanted  string

	way   *ui.KeyEntry
	table *table
	head  *head
	said  *widget.Label
	ok    *ui.KeyButton
	fresh *ui.KeyButton
}

// chooseOnHost asks for files or a folder of the host; nobody is called when it is cancelled.
func (s *Screen) chooseOnHost(kind chooseKind, then func([]string)) {
	home, _ := os.UserHomeDir()
	if s.place == "" {
		s.place = home
	}
	c := &chooser{screen: s, kind: kind, then: then, sel: newSelection(0)}
	s.chooser = c
	c.build(home)
	c.enter(s.place)
}

// build shows the dialog.
func (c *chooser) build(home string) {
	s := c.screen
	title := map[chooseKind]string{chooseFiles: text.T("Add files"), chooseFolder: text.T("Add a folder"), chooseTarget: text.T("Export to a folder")}[c.kind]
	content := container.NewStack()
	size := ui.ChooserSize(s.deps.Shell.Window())
	c.panel, c.shut = s.panel(title, size.Width, content, func() {
		if c.reading != nil {
			c.reading()
		}
	})
	keys := &c.panel.Keys
	c.table = newTable(tableEvents{bind: c.bind, press: c.press, open: c.open, menu: func(int, fyne.Position) {}, key: c.key, typed: c.typed})
	c.head = newHead(c.table, keys, c.sortBy)
	c.head.mark(c.order, false)
	c.way = keys.NewEntry()
	c.way.OnSubmitted = func(typed string) { c.enter(typed) }
	up := keys.NewLink("", theme.MoveUpIcon(), c.up)
	c.fresh = keys.NewButton(text.T("New folder"), c.newFolder)
	c.said = widget.NewLabel("")
	c.said.Importance, c.said.Truncation = widget.LowImportance, fyne.TextTruncateEllipsis
	hidden := keys.NewCheck(text.T("Hidden files"), func(on bool) { c.hidden = on; c.enter(c.folder) })
	c.ok = keys.NewPrimary(text.T("Add"), c.accept)

	places := container.NewVBox()
	for _, place := range placesOf(home) {
		places.Add(keys.NewLink(place.name, place.icon, func() { c.enter(place.folder) }))
	}
	tools := container.NewHBox()
	if c.kind == chooseTarget {
		tools.Add(c.fresh)
	}
	rows := canvas.NewRectangle(theme.Color(theme.ColorNameInputBackground))
	rows.CornerRadius = theme.InputRadiusSize()
	list := container.NewBorder(container.NewVBox(c.head.box, widget.NewSeparator()), nil, nil, nil, container.NewStack(rows, c.table))
	height := canvas.NewRectangle(theme.Color(theme.ColorNameOverlayBackground))
	height.SetMinSize(fyne.NewSize(0, max(260, size.Height-150)))
	content.Objects = []fyne.CanvasObject{height, container.NewBorder(
		container.NewBorder(nil, nil, up, tools, c.way),
		container.NewBorder(nil, nil, hidden, nil, c.said),
		container.NewHBox(places, widget.NewSeparator()), nil, list)}
	c.panel.SetButtons(keys.NewButton(text.T("Cancel"), c.shut), c.ok)
	c.panel.Show()
	c.panel.Focus(c.table)
}

// place is a folder that many want.
type place struct {
	name, folder string
	icon         fyne.Resource
}

// placesOf are the folders at the left. Whether they are there is not asked: entering one tells.
func placesOf(home string) []place {
	places := []place{{text.T("Home"), home, theme.HomeIcon()},
		{text.T("Desktop"), filepath.Join(home, "Desktop"), theme.DesktopIcon()},
		{text.T("Documents"), filepath.Join(home, "Documents"), theme.DocumentIcon()},
		{text.T("Downloads"), filepath.Join(home, "Downloads"), theme.DownloadIcon()},
		{text.T("Pictures"), filepath.Join(home, "Pictures"), theme.MediaPhotoIcon()}}
	switch runtime.GOOS {
	case "windows":
		return append(places, place{text.T("This computer"), filepath.VolumeName(home) + `\`, theme.ComputerIcon()})
	case "darwin":
		places = append(places, place{text.T("Disks"), "/Volumes", theme.StorageIcon()})
	case "linux":
		places = append(places, place{text.T("Disks"), "/media", theme.StorageIcon()})
	}
	return append(places, place{text.T("This computer"), "/", theme.ComputerIcon()})
}

// enter shows a folder; a relative one is meant from the one shown, and "~" is the person's own.
func (c *chooser) enter(folder string) {
	folder = strings.TrimSpace(folder)
	if rest, ok := strings.CutPrefix(folder, "~"); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		if home, err := os.UserHomeDir(); err == nil {
			folder = filepath.Join(home, rest)
		}
	}
	if !filepath.IsAbs(folder) {
		folder = filepath.Join(c.folder, folder)
	}
	folder = filepath.Clean(folder)
	if c.reading != nil {
		c.reading()
	}
	ctx, cancel := context.WithCancel(c.screen.deps.Context)
	c.reading = cancel
	shown, files, by := c.hidden, c.kind == chooseFiles, c.order
	go func() {
		items, err := readHost(ctx, folder, shown, files)
		items = by.sorted(items)
		c.screen.do(func() {
			if ctx.Err() == nil {
				c.take(folder, items, err)
			}
		})
	}()
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

// take shows what was read, or why it was not.
func (c *chooser) take(folder string, items []*item, err error) {
	if err != nil {
		ui.SetText(c.said, ui.Sentence(err.Error()))
		if items == nil {
			return // what is shown stays
		}
	}
	same := folder == c.folder
	before := c.items
	c.folder, c.screen.place, c.items, c.typing = folder, folder, items, typing{}
	if same {
		c.sel = c.sel.moved(before, items)
	} else {
		c.sel = newSelection(len(items))
		c.table.scrollTo(0)
	}
	c.way.SetText(folder)
	c.table.setCount(len(items))
	for i, one := range items {
		if one.Path == c.wanted {
			c.sel.only(i)
			c.table.reveal(i)
		}
	}
	c.wanted = ""
	c.selected(err == nil)
	c.panel.Focus(c.table)
}

func (c *chooser) bind(i int, r *row) {
	r.item, r.chosen, r.cursor, r.dim = c.items[i], c.sel.has(i), i == c.sel.cursor, c.items[i].Hidden
}

// selected shows another selection; status is whether the line at the bottom tells of it.
func (c *chooser) selected(status bool) {
	c.table.place(true)
	bytes := int64(0)
	for i, one := range c.items {
		if c.sel.has(i) {
			bytes += one.SizeBytes
		}
	}
	words := text.N(int64(c.sel.count), "1 selected", "%d selected")
	switch {
	case c.sel.count == 0 && c.kind != chooseFiles:
		words = text.T("This folder: %s", ui.Clean(c.folder))
	case c.sel.count == 0:
		words = text.T("Choose files or folders; with Ctrl or Shift several at once")
	case bytes > 0:
		words += ", " + text.Size(bytes)
	}
	if status {
		ui.SetText(c.said, words)
	}
	label := text.T("Add")
	switch {
	case c.kind == chooseTarget:
		label = text.T("Export here")
	case c.kind == chooseFolder && c.sel.count == 0:
		label = text.T("Add this folder")
	}
	if c.ok.Text != label {
		c.ok.SetText(label)
		c.panel.Fit()
	}
	ui.Enable(c.ok, c.folder != "" && (c.sel.count > 0 || c.kind != chooseFiles) && (c.sel.count < 2 || c.kind != chooseTarget))
}

func (c *chooser) press(i int, m fyne.KeyModifier, _ bool) {
	c.panel.Focus(c.table)
	c.sel.click(i, m&fyne.KeyModifierShortcutDefault != 0, m&fyne.KeyModifierShift != 0, false)
	c.selected(true)
}

// open enters a folder, or takes a file.
func (c *chooser) open(i int) {
	switch {
	case i < 0 || i >= len(c.items):
	case c.items[i].Folder:
		c.enter(c.items[i].Path)
	default:
		c.accept()
	}
}

func (c *chooser) up() {
	if above := filepath.Dir(c.folder); above != c.folder {
		c.wanted = c.folder
		c.enter(above)
	}
}

// key is a key while the list has the keyboard.
func (c *chooser) key(e *fyne.KeyEvent) {
	m := c.screen.modifiers()
	switch {
	case c.table.walk(e.Name, &c.sel, m&fyne.KeyModifierShift != 0):
		c.selected(true)
	case e.Name == fyne.KeyBackspace:
		c.up()
	case e.Name == fyne.KeyF5:
		c.enter(c.folder)
	case e.Name == fyne.KeySpace && c.sel.cursor >= 0 && time.Since(c.typing.last) > typingPause:
		c.sel.toggle(c.sel.cursor)
		c.selected(true)
	case e.Name == fyne.KeyEscape:
		c.shut()
	case e.Name == fyne.KeyReturn || e.Name == fyne.KeyEnter:
		if c.sel.count == 1 && c.items[c.sel.rows()[0]].Folder {
			c.enter(c.items[c.sel.rows()[0]].Path)
			return
		}
		c.accept()
	}
}

func (c *chooser) typed(r rune) {
	if i := c.typing.next(r, c.items, c.sel.cursor); i >= 0 {
		c.sel.only(i)
		c.table.reveal(i)
		c.selected(true)
	}
}

func (c *chooser) sortBy(by column) {
	if c.order.by == by {
		c.order.down = !c.order.down
	} else {
		c.order = order{by: by, down: by == bySize || by == byModified}
	}
	c.head.mark(c.order, false)
	c.enter(c.folder)
}

// accept ends with what is chosen, or with the folder shown where a folder is wanted.
func (c *chooser) accept() {
	if c.ok.Disabled() {
		return
	}
	paths := []string{}
	for _, i := range c.sel.rows() {
		paths = append(paths, c.items[i].Path)
	}
	if len(paths) == 0 {
		paths = append(paths, c.folder)
	}
	c.shut()
	c.then(paths)
}

// newFolder makes a folder to export to, and enters it. Its name can be changed with any other program.
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
		c.screen.do(func() {
			c.fresh.Enable()
			if err != nil {
				ui.SetText(c.said, ui.Sentence(err.Error()))
				return
			}
			c.enter(filepath.Join(above, name))
		})
	}()
}
