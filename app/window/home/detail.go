package home

import (
	"path/filepath"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/client"
	"coffer/app/config"
	"coffer/app/window/chart"
	"coffer/app/window/model"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// detail is the right side of the screen: the container chosen.
type detail struct {
	object *container.Scroll

	icon         *widget.Icon
	title        *widget.Label
	state        *ui.Line
	path, more   *widget.Label
	star, menu   *widget.Button
	problem      *ui.Message // nothing can be written any more, or the file cannot be used
	warning      *ui.Message
	locks        *ui.Message
	primary      *widget.Button
	open, browse *widget.Button
	buttons      *fyne.Container
	height       float32         // of all
	first        *fyne.Container // all of the above

	used      *widget.Label
	bar       *widget.ProgressBar
	format    *widget.Label
	file      *widget.Label
	label     *widget.Label
	labelLine fyne.CanvasObject
	activity  fyne.CanvasObject
	rates     *chart.Rates
	autoLock  *autoLock
}

// deeds are what a person can ask of the container chosen.
type deeds struct {
	primary, open, browse, star func()
	menu                        func(at fyne.Position)
	change                      func(func(*config.Known))
}

func newDetail(do deeds) *detail {
	d := &detail{icon: widget.NewIcon(ui.IconLocked), title: ui.Heading(""), state: ui.NewLine(""), path: ui.Caption(""), more: ui.Caption(""),
		problem: ui.NewMessage(), warning: ui.NewMessage(), locks: ui.NewMessage()}
	d.title.Wrapping, d.title.Truncation = fyne.TextWrapOff, fyne.TextTruncateEllipsis
	d.state.TextStyle.Bold = true
	d.path.Wrapping, d.path.Selectable = fyne.TextWrapBreak, true
	d.more.Wrapping = fyne.TextWrapWord
	d.star = widget.NewButtonWithIcon("", ui.IconStarEmpty, do.star)
	d.menu = widget.NewButtonWithIcon("", theme.MoreVerticalIcon(), func() {
		at := fyne.CurrentApp().Driver().AbsolutePositionForObject(d.menu)
		do.menu(at.AddXY(0, d.menu.Size().Height))
	})
	d.star.Importance, d.menu.Importance = widget.LowImportance, widget.LowImportance
	d.primary = widget.NewButtonWithIcon("", ui.IconUnlocked, do.primary)
	d.primary.Importance = widget.HighImportance
	d.open = widget.NewButtonWithIcon(text.T("Open in file manager"), theme.FolderOpenIcon(), do.open)
	d.browse = widget.NewButtonWithIcon(text.T("Browse files"), ui.IconFiles, do.browse)

	tight := layout.NewCustomPaddedVBoxLayout(-theme.InnerPadding())
	head := container.NewBorder(nil, nil,
		container.NewCenter(container.NewGridWrap(fyne.NewSquareSize(44), d.icon)), container.NewVBox(container.NewHBox(d.star, d.menu)),
		container.New(tight, d.title, d.state))
	d.buttons = container.New(layout.NewCustomPaddedHBoxLayout(2*theme.Padding()), d.primary, d.open, d.browse)
	d.first = container.New(layout.NewCustomPaddedVBoxLayout(0), head, container.New(tight, d.path, d.more), d.problem, d.warning, d.locks, ui.Space(1, 8), d.buttons)

	d.used, d.format, d.file, d.label = widget.NewLabel(""), widget.NewLabel(""), widget.NewLabel(""), widget.NewLabel("")
	for _, l := range []*widget.Label{d.used, d.format, d.file, d.label} {
		l.Truncation = fyne.TextTruncateEllipsis
	}
	d.bar = widget.NewProgressBar()
	d.bar.TextFormatter = func() string { return "" }
	d.labelLine = fact(text.T("Label inside"), d.label)
	facts := container.New(tight, fact(text.T("File"), d.file), fact(text.T("Encryption"), d.format), d.labelLine)
	space := ui.Card(container.New(tight, ui.Subheading(text.T("Space")), d.used, container.New(slim{}, d.bar), facts))

	d.rates = chart.NewRates()
	d.rates.SetSpan(-60, 0)
	d.rates.SetEmpty(text.T("Nothing was read or written yet"))
	d.activity = ui.Card(container.NewVBox(ui.Subheading(text.T("The last minute")), container.New(atLeast{180}, d.rates)))
	d.autoLock = newAutoLock(do.change)
	beside := 2*theme.Padding() + theme.Size(theme.SizeNameScrollBarSmall) // so that the bar to scroll with covers nothing
	d.object = container.NewVScroll(container.New(layout.NewCustomPaddedLayout(0, 0, 0, beside),
		container.New(layout.NewCustomPaddedVBoxLayout(2*theme.Padding()), ui.Card(d.first), d.activity, space, d.autoLock.object)))
	return d
}

// fact is a line with the name of something and what it is.
func fact(name string, value *widget.Label) fyne.CanvasObject {
	label := widget.NewLabel(name)
	label.Importance, label.Truncation = widget.LowImportance, fyne.TextTruncateEllipsis
	return container.New(factLayout{}, label, value)
}

type factLayout struct{}

const factName = 140 // width of the names

func (factLayout) MinSize(objects []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(factName+80, max(objects[0].MinSize().Height, objects[1].MinSize().Height))
}

func (factLayout) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	objects[0].Resize(fyne.NewSize(factName, size.Height))
	objects[1].Move(fyne.NewPos(factName, 0))
	objects[1].Resize(fyne.NewSize(size.Width-factName, size.Height))
}

// slim is the place of a bar that shows how full something is.
type slim struct{}

func (slim) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(60, 22) }

func (slim) Layout(objects []fyne.CanvasObject, size fyne.Size) {
	p := theme.InnerPadding()
	for _, o := range objects {
		o.Resize(fyne.NewSize(size.Width-2*p, 8))
		o.Move(fyne.NewPos(p, (size.Height-8)/2))
	}
}

// atLeast gives something a least height.
type atLeast struct{ height float32 }

func (l atLeast) MinSize(objects []fyne.CanvasObject) fyne.Size {
	return objects[0].MinSize().Max(fyne.NewSize(0, l.height))
}

func (l atLeast) Layout(objects []fyne.CanvasObject, size fyne.Size) { objects[0].Resize(size) }

// about is what is known of a container beside its state; Info is nil until it was looked at.
type about struct {
	info *client.Info
	err  error
}

// set shows a container. What does not change is not drawn.
func (d *detail) set(c model.Container, known about, samples []model.Sample, settings config.Settings, now time.Time) {
	l := lookOf(c)
	d.icon.SetResource(ui.Tinted(l.icon, l.color))
	ui.SetText(d.title, ui.Clean(c.Title()))
	setState(d.state, l)
	ui.SetText(d.path, ui.Clean(c.Path))
	ui.SetText(d.more, l.more)
	ui.Show(d.more, l.more != "")
	star := ui.IconStarEmpty
	if c.Favourite {
		star = ui.Tinted(ui.IconStar, theme.ColorNameWarning)
	}
	if d.star.Icon != star {
		d.star.SetIcon(star)
	}
	d.setMessages(c, known)
	d.setButtons(c)
	d.setFacts(c, known)
	ui.Show(d.activity, c.State.Open())
	if c.State.Open() {
		d.rates.SetData(series(c, samples, now)...)
	}
	d.autoLock.set(c.Known, settings)
	if height := d.object.Content.MinSize().Height; height != d.height { // lines come and go
		d.height = height
		d.object.Content.Refresh()
		d.object.Refresh()
	}
}

// setState colours the words of the state.
func setState(line *ui.Line, l look) {
	line.Say(map[fyne.ThemeColorName]widget.Importance{theme.ColorNameSuccess: widget.SuccessImportance, theme.ColorNameWarning: widget.WarningImportance,
		theme.ColorNameError: widget.DangerImportance, theme.ColorNamePrimary: widget.HighImportance, ui.ColorNameMuted: widget.LowImportance}[l.color], l.words)
}

// say says it only if it is something else.
func say(m *ui.Message, importance widget.Importance, words string) {
	if m.Text() != words || m.Visible() != (words != "") {
		m.Say(importance, words)
	}
}

func (d *detail) setMessages(c model.Container, known about) {
	problem, warning := ui.Sentence(c.Status.Problem), ui.Sentence(c.Status.Warning)
	if problem != "" {
		problem = text.T("Nothing more can be written: %s", problem)
	}
	switch {
	case problem != "" || c.State.Held() || c.State == model.Missing:
	case known.err != nil:
		p := client.Explain(known.err)
		problem = strings.TrimSpace(ui.Sentence(p.Sentence) + " " + ui.Hint(p))
	case known.info != nil && known.info.Container.Unsupported != "":
		problem = text.T("This version cannot open it: %s", ui.Sentence(known.info.Container.Unsupported))
	}
	if warning == "" && known.info != nil {
		warning = headerWarning(known.info)
	}
	say(d.problem, widget.DangerImportance, problem)
	say(d.warning, widget.WarningImportance, warning)
	say(d.locks, widget.MediumImportance, locksIn(c))
}

// headerWarning says what is not well with the headers, and with anything else that was found.
func headerWarning(info *client.Info) string {
	for _, state := range info.Container.HeaderState {
		if state != "" && state != "good" {
			return text.T("One of the two copies of the header is not good. See Health and keys.")
		}
	}
	var all []string
	for _, w := range info.Container.Warnings {
		all = append(all, ui.Sentence(w))
	}
	return strings.Join(all, " ")
}

func (d *detail) setButtons(c model.Container) {
	does, label := primary(c)
	icon := map[action]fyne.Resource{unlockIt: ui.IconUnlocked, lockIt: ui.IconLocked, findIt: theme.SearchIcon(), none: ui.IconBusy}[does]
	icon = ui.Tinted(icon, theme.ColorNameForegroundOnPrimary)
	if d.primary.Text != label {
		d.primary.Icon = icon
		d.primary.SetText(label)
		d.buttons.Refresh() // it is wider or narrower now
	}
	ui.Enable(d.primary, does != none)
	ui.Enable(d.open, c.State.Open() && c.Status.MountPoint != "")
	ui.Enable(d.browse, c.State.Open() && !c.Status.Raw || c.State == model.Locked)
}

func (d *detail) setFacts(c model.Container, known about) {
	share, words, ok := fill(c)
	if !ok {
		words = text.T("How full it is shows once it is unlocked.")
	}
	ui.SetText(d.used, words)
	if d.bar.Value != share {
		d.bar.SetValue(share)
	}
	ui.Show(d.bar, ok)

	format := []string{}
	name := c.Format
	if known.info != nil {
		name = known.info.Container.Format
	}
	if name != "" {
		format = append(format, formatName(name))
	}
	if known.info != nil && known.info.Container.Cipher != "" {
		format = append(format, strings.ToUpper(known.info.Container.Cipher))
	}
	if len(format) == 0 {
		format = append(format, "–")
	}
	ui.SetText(d.format, strings.Join(format, ", "))
	file := ui.Clean(filepath.Base(c.Path))
	if c.SizeBytes > 0 {
		file = text.T("%s, %s", file, text.Size(c.SizeBytes))
	}
	ui.SetText(d.file, file)
	label := ui.Clean(strings.TrimSpace(c.Status.Label))
	ui.SetText(d.label, label)
	ui.Show(d.labelLine, label != "")
}

// series are the rates of the last minute, as the chart takes them.
func series(c model.Container, samples []model.Sample, now time.Time) []chart.Series {
	read, write := chart.Series{Name: text.T("Read")}, chart.Series{Name: text.T("Write")}
	moves := false
	for _, s := range samples {
		moves = moves || s.Read+s.Write > 0
	}
	if !moves { // the same picture whatever the time
		if len(samples) > 0 {
			read.Points, write.Points = []chart.Point{{At: -60}, {At: 0}}, []chart.Point{{At: -60}, {At: 0}}
			read.Note, write.Note = text.Rate(0), text.Rate(0)
		}
		return []chart.Series{read, write}
	}
	for _, s := range samples {
		at := min(0, s.At.Sub(now).Seconds())
		if at < -60 {
			continue
		}
		read.Points = append(read.Points, chart.Point{At: at, Value: s.Read})
		write.Points = append(write.Points, chart.Point{At: at, Value: s.Write})
	}
	read.Note, write.Note = text.Rate(c.Status.FileSystem.ReadRate), text.Rate(c.Status.FileSystem.WriteRate)
	return []chart.Series{read, write}
}
