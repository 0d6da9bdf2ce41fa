package files

import (
	"path"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// flow lays out as many of its objects as fit, one beside the other; if some do not, the last one, a button that leads to
// them, is shown too.
type flow struct{}

// MinSize implements fyne.Layout.
func (flow) MinSize(objects []fyne.CanvasObject) fyne.Size {
	first, last := objects[0].MinSize(), objects[len(objects)-1].MinSize()
	return fyne.NewSize(first.Width+theme.Padding()+last.Width, max(first.Height, last.Height))
}

// Layout implements fyne.Layout.
func (flow) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	objects, more := objects[:len(objects)-1], objects[len(objects)-1]
	whole := -theme.Padding()
	for _, o := range objects {
		ui.Show(o, true) // a hidden button does not know how wide it is with its icon
		whole += o.MinSize().Width + theme.Padding()
	}
	room := size.Width
	if whole > room {
		room -= more.MinSize().Width + theme.Padding()
	}
	x, all := float32(0), true
	for _, o := range objects {
		width := o.MinSize().Width
		all = all && x+width <= room
		ui.Show(o, all)
		if all {
			o.Move(fyne.NewPos(x, 0))
			o.Resize(fyne.NewSize(width, size.Height))
			x += width + theme.Padding()
		}
	}
	ui.Show(more, !all)
	more.Move(fyne.NewPos(x, 0))
	more.Resize(fyne.NewSize(more.MinSize().Width, size.Height))
}

// crumbs shows a path whose parts lead back to them.
type crumbs struct {
	box    *fyne.Container
	opened func(folder string)
	shown  string
}

func newCrumbs(opened func(folder string)) *crumbs {
	return &crumbs{box: container.New(trail{}, widget.NewLabel("")), opened: opened}
}

// maxCrumb is how many letters of a folder's name are shown.
const maxCrumb = 32

// show shows the path of a folder in the container called title.
func (c *crumbs) show(title, folder string) {
	if c.shown == title+"\x00"+folder {
		return
	}
	c.shown = title + "\x00" + folder
	add := func(name, to string, icon fyne.Resource) *widget.Button {
		name = ui.Clean(name)
		if letters := []rune(name); len(letters) > maxCrumb {
			name = string(letters[:maxCrumb-1]) + "…"
		}
		b := widget.NewButtonWithIcon(name, icon, func() { c.opened(to) })
		b.Importance = widget.LowImportance
		return b
	}
	objects := []fyne.CanvasObject{add(title, "/", ui.IconDrive), widget.NewLabel("…")}
	at := ""
	for name := range strings.SplitSeq(strings.Trim(folder, "/"), "/") {
		if name != "" {
			at += "/" + name
			mark := widget.NewLabel("›")
			mark.Importance = widget.LowImportance
			objects = append(objects, mark, add(name, at, nil))
		}
	}
	if len(objects) > 2 || folder == "/" { // where one is stands out
		objects[max(0, len(objects)-1-btoi(folder == "/"))].(*widget.Button).Importance = widget.MediumImportance
	}
	c.box.Objects = objects
	c.box.Refresh()
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// trail lays out crumbs: the container, then what fits of the end of the path. The second object stands for what does not.
type trail struct{}

// MinSize implements fyne.Layout.
func (trail) MinSize(objects []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(160, objects[0].MinSize().Height)
}

// Layout implements fyne.Layout.
func (trail) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	if len(objects) < 2 {
		return
	}
	root, dots, rest := objects[0], objects[1], objects[2:]
	room := size.Width - root.MinSize().Width
	whole := float32(0)
	for _, o := range rest {
		whole += o.MinSize().Width
	}
	first := 0
	if whole > room {
		room -= dots.MinSize().Width
		for first < len(rest)-2 && whole > room {
			whole -= rest[first].MinSize().Width + rest[first+1].MinSize().Width
			first += 2
		}
	}
	x := float32(0)
	put := func(o fyne.CanvasObject, show bool) {
		ui.Show(o, show)
		if !show {
			return
		}
		width := min(o.MinSize().Width, max(0, size.Width-x))
		o.Move(fyne.NewPos(x, 0))
		o.Resize(fyne.NewSize(width, size.Height))
		x += width
	}
	put(root, true)
	put(dots, first > 0)
	for i, o := range rest {
		put(o, i >= first)
	}
}

// head is the line above the table, whose cells order it.
type head struct {
	box   *fyne.Container
	table *table
	shown order
	cells [4]*ui.KeyButton
}

func newHead(t *table, keys *ui.Keys, sort func(column)) *head {
	h := &head{table: t, shown: order{by: -1}}
	for by, words := range []string{byName: text.T("Name"), byFolder: text.T("Folder"), bySize: text.T("Size"), byModified: text.T("Modified")} {
		b := keys.NewButton(words, func() { sort(column(by)) })
		b.Importance, b.Alignment, b.IconPlacement = widget.LowImportance, widget.ButtonAlignLeading, widget.ButtonIconTrailingText
		if column(by) == bySize {
			b.Alignment = widget.ButtonAlignTrailing
		}
		h.cells[by] = b
	}
	h.box = container.New(headLayout{t}, h.cells[0], h.cells[1], h.cells[2], h.cells[3])
	return h
}

// mark shows the order.
func (h *head) mark(o order, folders bool) {
	if o == h.shown && folders == h.table.folders {
		return
	}
	h.shown, h.table.folders = o, folders
	for by, b := range h.cells {
		var icon fyne.Resource
		if column(by) == o.by {
			if icon = theme.MenuDropUpIcon(); o.down {
				icon = theme.MenuDropDownIcon()
			}
		}
		if b.Icon != icon {
			b.SetIcon(icon)
		}
	}
	ui.Show(h.cells[byFolder], folders)
	h.box.Refresh()
}

// headLayout puts the cells above their columns.
type headLayout struct{ t *table }

// MinSize implements fyne.Layout.
func (headLayout) MinSize(objects []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(320, objects[0].MinSize().Height)
}

// Layout implements fyne.Layout.
func (l headLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	c, edge := columnsOf(size.Width, l.t.folders), theme.InnerPadding()
	for i, at := range []span{byName: {c.icon.x, c.name.x + c.name.width - c.icon.x}, byFolder: c.folder, bySize: c.size, byModified: c.when} {
		objects[i].Move(fyne.NewPos(at.x-edge, 0))
		objects[i].Resize(fyne.NewSize(at.width+2*edge, size.Height))
	}
}

// folderOf is the folder an item is in, safe to show.
func folderOf(i *item) string { return ui.Clean(path.Dir(i.Path)) }

// sizeOf is the size of an item as the list shows it.
func sizeOf(i *item) string {
	if i.Folder {
		return ""
	}
	return text.Size(i.SizeBytes)
}
