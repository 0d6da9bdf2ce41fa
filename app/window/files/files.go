// Package files is the screen "Files": it shows what is inside an unlocked container without a drive, and changes it. Names from
// inside are shown clean and used as they are; they go over the agent's socket and nowhere else, but for a file that the person
// opens with a program of the desktop.
package files

import (
	"context"
	"image/color"
	"net/url"
	"path"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/protocol"
	"coffer/app/window/model"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// Screen is the screen. Make it with New.
type Screen struct {
	deps *ui.Deps
	hooks

	shown     bool
	image     string // path of the container chosen
	container model.Container
	unlisten  func()
	watched   atomic.Pointer[string] // image, for other goroutines
	finding   sync.Mutex

	// What is shown of an open container.
	folder  string
	items   []*item
	sel     selection
	order   order
	words   string // searched for, "" while a folder is shown
	load    *load
	failed  error // why the folder is not shown
	counted counters
	again   func() // stops the wait for the next quiet listing
	took    time.Duration
	wanted  string // path to be chosen when it is there: what was just made
	clip    clip
	typing  typing
	close   func() // closes a dialog that tells of what is inside

	object  fyne.CanvasObject
	view    *fyne.Container // head, table and what is around them
	message *fyne.Container // instead of the view
	said    string          // which message it is
	path    *crumbs
	search  *searchEntry
	head    *head
	table   *table
	hint    *fyne.Container // over an empty table
	hinted  string
	notice  *fyne.Container
	noticed string
	actions []*action
	bottom  *fyne.Container
	status  *widget.Label
	space   *widget.Label
	busy    *widget.Activity
	waiting func() // stops the wait for the search
}

// hooks are what a test replaces.
type hooks struct {
	do        func(func())                              // runs on Fyne's goroutine
	after     func(time.Duration, func()) (stop func()) // runs there later
	modifiers func() fyne.KeyModifier                   // keys held down now
	launch    func(*url.URL) error                      // opens with the desktop
	choose    func(r Request, then func([]string))      // asks for files or a folder of the host
}

// counters tell whether somebody has changed something inside.
type counters struct{ written, stored, free int64 }

func countersOf(c model.Container) counters {
	return counters{c.Status.FileSystem.BytesWritten, c.Status.Backing.BytesWritten, c.Status.FreeBytes}
}

// Times.
const (
	searchPause = 250 * time.Millisecond // after the last letter
	quietPause  = 500 * time.Millisecond // between a change by others and the listing that shows it
	typingPause = time.Second            // between two letters of one name
	barPause    = 300 * time.Millisecond // before work that goes on shows a bar
)

// New makes the screen.
func New(d *ui.Deps) *Screen {
	s := &Screen{deps: d, folder: "/", sel: newSelection(0)}
	s.watched.Store(&s.image)
	s.hooks = hooks{do: d.Do, after: s.onTime, modifiers: heldKeys, launch: launch, choose: s.chooseOnHost}
	s.build()
	return s
}

// onTime runs f on Fyne's goroutine after a while, unless it is stopped there before.
func (s *Screen) onTime(d time.Duration, f func()) (stop func()) {
	stopped := false
	timer := time.AfterFunc(d, func() {
		s.do(func() {
			if !stopped {
				f()
			}
		})
	})
	return func() {
		stopped = true
		timer.Stop()
	}
}

func heldKeys() fyne.KeyModifier {
	if d, ok := fyne.CurrentApp().Driver().(desktop.Driver); ok {
		return d.CurrentKeyModifiers()
	}
	return 0
}

func launch(u *url.URL) error { return fyne.CurrentApp().OpenURL(u) }

// build makes the widgets.
func (s *Screen) build() {
	s.table = newTable(tableEvents{bind: s.bind, press: s.press, open: s.openRow, menu: s.showMenu, key: s.key, typed: s.typed})
	s.head = newHead(s.table, &ui.Keys{Escape: s.escape}, s.sortBy)
	s.path = newCrumbs(func(folder string) { s.enter(folder) })
	s.search = newSearchEntry(s)
	s.actions = s.allActions()
	s.status, s.space, s.busy = widget.NewLabel(""), widget.NewLabel(""), widget.NewActivity()
	s.status.Truncation = fyne.TextTruncateEllipsis
	s.space.Importance, s.status.Importance = widget.LowImportance, widget.LowImportance
	s.busy.Hide()
	s.hint, s.notice, s.message = container.NewStack(), container.NewStack(), container.NewStack()
	s.hint.Hide()
	s.notice.Hide()

	up := s.action(actUp).iconButton()
	again := s.action(actRefresh).iconButton()
	wide := canvas.NewRectangle(color.Transparent)
	wide.SetMinSize(fyne.NewSize(230, 0))
	way := container.NewBorder(nil, nil, container.NewHBox(up, again), container.NewStack(wide, s.search), s.path.box)
	tools := container.New(flow{})
	for _, kind := range []actionKind{actAddFiles, actAddFolder, actNewFolder, actExport, actRename, actDelete, actProperties} {
		tools.Add(s.action(kind).button())
	}
	more := widget.NewButtonWithIcon("", theme.MoreHorizontalIcon(), nil)
	more.OnTapped = func() {
		at := fyne.CurrentApp().Driver().AbsolutePositionForObject(more)
		s.showMenuAt(s.menu(), at.AddXY(0, more.Size().Height))
	}
	tools.Add(more)
	s.bottom = container.NewBorder(nil, nil, s.busy, s.space, s.status)
	list := container.NewBorder(container.NewVBox(s.head.box, widget.NewSeparator()), nil, nil, nil, container.NewStack(s.table, s.hint))
	s.view = container.NewBorder(container.NewVBox(way, tools, s.notice), container.NewVBox(widget.NewSeparator(), s.bottom), nil, nil, list)
	s.view.Hide()
	s.object = container.New(layout.NewCustomPaddedLayout(theme.Padding(), theme.Padding(), 2*theme.Padding(), 2*theme.Padding()), container.NewStack(s.view, s.message))
}

// Object implements ui.Screen.
func (s *Screen) Object() fyne.CanvasObject { return s.object }

// Shown implements ui.Screen.
func (s *Screen) Shown(image string) {
	if !s.shown {
		s.shown = true
		s.addShortcuts()
		s.unlisten = s.deps.Model.Listen(s.heard)
	}
	if image != s.image {
		s.leave()
		s.image, s.container = image, model.Container{}
		s.watched.Store(&image)
	}
	s.update(s.container)
	if s.load == nil { // it may have changed while nobody looked
		s.list(s.items != nil)
	}
	s.focus()
	s.heard()
}

// Hidden implements ui.Screen: nothing goes on until Shown.
func (s *Screen) Hidden() {
	if !s.shown {
		return
	}
	s.shown = false
	s.unlisten()
	s.removeShortcuts()
	s.stop()
}

// stop ends the listing, and everything that waits.
func (s *Screen) stop() {
	if s.load != nil {
		s.load.cancel()
		s.load = nil
	}
	for _, stop := range []*func(){&s.again, &s.waiting} {
		if *stop != nil {
			(*stop)()
			*stop = nil
		}
	}
	s.turn(false)
}

// leave forgets what was shown of a container: its names are gone with it.
func (s *Screen) leave() {
	s.stop()
	if s.close != nil {
		s.close()
	}
	s.folder, s.words, s.failed, s.wanted, s.typing = "/", "", nil, "", typing{}
	s.search.reset()
	s.setItems(nil)
	s.table.scrollTo(0)
}

// heard is called by the model, in any goroutine. The disk, if it must be asked, is not asked on Fyne's.
func (s *Screen) heard() {
	go func() {
		s.finding.Lock() // what is found last is shown last
		defer s.finding.Unlock()
		image := *s.watched.Load()
		if image == "" {
			return
		}
		c := s.find(image)
		s.do(func() {
			if s.shown && s.image == image {
				s.update(c)
			}
		})
	}()
}

// find is the container at the path image: from the list if it is there, else the disk is asked.
func (s *Screen) find(image string) model.Container {
	for _, c := range s.deps.Model.Containers() {
		if c.Path == image {
			return c
		}
	}
	return s.deps.Model.Container(image)
}

// update takes what the model knows of the container.
func (s *Screen) update(c model.Container) {
	before := s.container
	s.container = c
	if c.State.Open() && !c.Status.Raw && s.image != "" {
		s.say("", nil, "", "")
		switch {
		case before.ID != c.ID || !before.State.Open() || !before.Status.Started.Equal(c.Status.Started):
			s.list(false)
			s.focus()
		case s.load == nil && s.again == nil && s.counted != countersOf(c):
			s.listSoon()
		}
		s.showState()
		return
	}
	if before.State.Open() {
		s.leave()
	}
	switch {
	case s.image == "":
		s.say("none", theme.FolderIcon(), text.T("No container chosen"), text.T("Choose a container first. Its files appear here once it is unlocked."),
			widget.NewButtonWithIcon(text.T("Choose a container"), theme.StorageIcon(), func() { s.deps.Shell.Show(ui.PageHome, "") }))
	case c.Path == "": // not looked at yet
		s.say("wait", nil, "", "")
		s.view.Hide()
	case c.State == model.Missing:
		s.say("missing", ui.IconMissing, text.T("%s is not there", c.Title()), text.T("There is no file at %s. If it is on another disk, connect that first.", ui.Clean(c.Path)))
	case c.State == model.Busy:
		s.say("busy", ui.IconBusy, text.T("One moment"), text.T("%s is just being unlocked or locked.", c.Title()))
	case c.State == model.Unresponsive:
		s.say("silent", theme.WarningIcon(), text.T("%s does not answer", c.Title()), text.T("The process that holds the container is busy or stuck. Its files appear here as soon as it answers."))
	case c.State.Open(): // raw
		s.say("raw", theme.InfoIcon(), text.T("%s is open as a raw device", c.Title()), text.T("It shows one file, the whole decrypted disk, for other file systems. Lock it and unlock it in the usual way to see files here."))
	default:
		unlock := widget.NewButtonWithIcon(text.T("Unlock…"), ui.IconUnlocked, s.unlock)
		unlock.Importance = widget.HighImportance
		s.say("locked", theme.NewColoredResource(ui.IconLocked, theme.ColorNamePrimary), text.T("%s is locked", c.Title()), text.T("Unlock it to see the files inside. You can also drop files here: they are copied in after you have unlocked it."), unlock)
	}
}

func (s *Screen) unlock() {
	s.deps.Shell.Unlock(s.image, func(string) { s.deps.Model.Refresh() })
}

// say shows a message in the place of files; without a title, the files again.
func (s *Screen) say(which string, icon fyne.Resource, title, words string, buttons ...fyne.CanvasObject) {
	key := which + "\x00" + title + "\x00" + words
	if key == s.said {
		return
	}
	s.said = key
	defer canvas.Refresh(s.object) // what was never drawn cannot ask to be
	if title == "" {
		s.message.Hide()
		s.view.Show()
		return
	}
	s.message.Objects = []fyne.CanvasObject{emptyState(icon, title, words, buttons...)}
	s.message.Refresh()
	s.view.Hide()
	s.message.Show()
}

// emptyState is a picture, a title and a sentence in the middle, with what can be done.
func emptyState(icon fyne.Resource, title, words string, buttons ...fyne.CanvasObject) fyne.CanvasObject {
	picture := canvas.NewImageFromResource(icon)
	picture.FillMode = canvas.ImageFillContain
	picture.SetMinSize(fyne.NewSquareSize(64))
	big := widget.NewLabelWithStyle(title, fyne.TextAlignCenter, fyne.TextStyle{Bold: true})
	big.SizeName = theme.SizeNameSubHeadingText
	big.Wrapping = fyne.TextWrapWord
	small := ui.Paragraph(words)
	small.Alignment = fyne.TextAlignCenter
	wide := canvas.NewRectangle(color.Transparent)
	wide.SetMinSize(fyne.NewSize(420, 0))
	column := container.NewVBox(picture, big, container.NewStack(wide, small))
	if len(buttons) > 0 {
		column.Add(container.NewCenter(container.NewHBox(buttons...)))
	}
	return container.NewCenter(column)
}

// list shows the folder anew, or what is searched for in it; quiet keeps what is shown until the new list is there.
func (s *Screen) list(quiet bool) {
	s.stop()
	if !s.shown || !s.container.State.Open() {
		return
	}
	ctx, cancel := context.WithCancel(s.deps.Context)
	l := &load{id: s.container.ID, folder: s.folder, words: s.words, quiet: quiet, began: time.Now(), cancel: cancel, order: s.order}
	s.load, s.counted = l, countersOf(s.container)
	if !quiet {
		s.failed = nil
		s.setItems(nil)
		s.table.scrollTo(0)
	}
	s.showState()
	go l.run(ctx, s.deps.Backend.Files, func(items []*item, ended bool, err error) {
		s.do(func() {
			if s.load == l {
				s.took = time.Since(l.began)
				s.take(items, ended, err)
			}
		})
	})
}

// listSoon lists quietly in a while. A large folder that changes all the time is not listed all the time.
func (s *Screen) listSoon() {
	s.again = s.after(max(quietPause, 10*s.took), func() {
		s.again = nil
		s.list(true)
	})
}

// take takes what a listing has found.
func (s *Screen) take(items []*item, ended bool, err error) {
	if ended {
		s.load.cancel()
		s.load = nil
	}
	switch {
	case err == nil:
		s.failed = nil
		if items == nil {
			items = []*item{}
		}
		if !same(s.items, items) || s.items == nil {
			s.setItems(items)
		}
	case ui.IsCode(err, int(protocol.NoCredential), int(protocol.InUse), int(protocol.Interrupted)): // just locked, or being locked: the model will say so
		s.deps.Model.Refresh()
		if s.again == nil {
			s.listSoon() // or it was not locked after all
		}
	default:
		s.failed = err
		s.setItems(items) // what can be read of a damaged folder
	}
	if ended && s.again == nil && s.counted != countersOf(s.container) { // it was changed meanwhile
		s.listSoon()
	}
	s.showState()
}

// setItems shows other items: the same ones stay chosen, and what is on top stays there.
func (s *Screen) setItems(items []*item) {
	sel := s.sel.moved(s.items, items)
	top, above := s.table.top()
	var on string
	if top > 0 && top < len(s.items) {
		on = s.items[top].Path
	}
	s.items, s.sel = items, sel
	if s.wanted != "" {
		if i := slices.IndexFunc(items, func(i *item) bool { return i.Path == s.wanted }); i >= 0 {
			s.wanted = ""
			s.sel.only(i)
			defer s.table.reveal(i)
		}
	}
	s.table.setCount(len(items))
	if on != "" {
		if i := slices.IndexFunc(items, func(i *item) bool { return i.Path == on }); i >= 0 {
			s.table.scrollTo(float32(i)*rowHeight() + above)
		}
	}
}

// bind shows item i in a row.
func (s *Screen) bind(i int, r *row) {
	r.item, r.chosen, r.cursor = s.items[i], s.sel.has(i), i == s.sel.cursor
	r.dim = r.item.Hidden || s.clip.cut && s.clip.id == s.container.ID && slices.Contains(s.clip.paths, r.item.Path)
}

// showState shows everything around the list.
func (s *Screen) showState() {
	s.head.mark(s.order, s.words != "")
	s.path.show(s.container.Title(), s.folder)
	s.showNotice()
	s.showHint()
	s.showStatus()
	s.enable()
	s.turn(s.load != nil && !s.load.quiet)
}

// turn shows that something goes on.
func (s *Screen) turn(on bool) {
	switch {
	case on && !s.busy.Visible():
		s.busy.Show()
		s.busy.Start()
	case !on && s.busy.Visible():
		s.busy.Stop()
		s.busy.Hide()
	}
}

// chosen are the items chosen, in order.
func (s *Screen) chosen() []*item {
	list := make([]*item, 0, s.sel.count)
	for _, i := range s.sel.rows() {
		list = append(list, s.items[i])
	}
	return list
}

// selected shows another selection.
func (s *Screen) selected() {
	s.table.place(true)
	s.showStatus()
	s.enable()
}

// enter shows a folder.
func (s *Screen) enter(folder string) {
	s.words = ""
	s.search.reset()
	if folder != s.folder {
		s.sel = newSelection(0)
		s.items = nil
	}
	s.folder = folder
	s.list(false)
	s.focus()
}

// up shows the folder above, with the one it came from chosen; during a search, the folder that was searched.
func (s *Screen) up() {
	if s.words != "" {
		s.endSearch()
		return
	}
	if s.folder == "/" {
		return
	}
	from := s.folder
	s.enter(path.Dir(from))
	s.wanted = from
}

// sortBy orders the list by a column, or turns it round.
func (s *Screen) sortBy(by column) {
	if s.order.by == by {
		s.order.down = !s.order.down
	} else {
		s.order = order{by: by, down: by == bySize || by == byModified} // the largest and the latest are what one looks for
	}
	s.head.mark(s.order, s.words != "")
	if s.load != nil {
		s.load.setOrder(s.order)
	}
	items, wanted := s.items, s.order
	go func() {
		sorted := wanted.sorted(items)
		s.do(func() {
			if s.order == wanted && len(s.items) > 0 && len(items) > 0 && len(s.items) == len(items) && &s.items[0] == &items[0] {
				s.setItems(sorted)
				s.table.scrollTo(0)
				s.selected()
			}
		})
	}()
	s.focus()
}

// focus gives the keyboard to the list, unless a dialog has it or there is no list.
func (s *Screen) focus() {
	if c := s.deps.Shell.Window().Canvas(); s.shown && s.view.Visible() && c.Overlays().Top() == nil {
		c.Focus(s.table)
	}
}

// Dropped takes files from the desktop: into the folder they were dropped on, or else into the one that is shown. at is a
// position of the window.
func (s *Screen) Dropped(at fyne.Position, paths []string) bool {
	if s.image == "" || s.container.State == model.Missing || len(paths) == 0 {
		return false
	}
	if !s.container.State.Open() {
		s.deps.Shell.CopyIn(s.image, paths, "/")
		return true
	}
	if can, why := s.writable(); !can {
		s.tell(text.T("Nothing was added"), why)
		return true
	}
	folder := s.folder
	if i, inside := s.table.rowAt(at); inside && i >= 0 && s.items[i].Folder {
		folder = s.items[i].Path
	}
	s.deps.Shell.CopyIn(s.image, paths, folder)
	return true
}
