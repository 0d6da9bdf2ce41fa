package create

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/recovery"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// sheetPage shows a new recovery key, and makes sure that the person has it: two groups are to be typed again, and the key
// hides as soon as they begin.
type sheetPage struct {
	d       *ui.Deps
	panel   *ui.Panel
	title   func() string // of the container
	without func()        // goes on without a recovery key; nil: that is not offered

	content *fyne.Container
	groups  [recovery.Groups]*widget.Label
	again   *ui.KeyButton
	entries [2]*ui.KeyEntry
	labels  [2]*widget.Label
	asked   [2]int // numbers of the groups, from 1
	skip    *ui.KeyButton
	message *ui.Message

	key    []byte // nil: none was made yet
	hidden bool
	jumped *ui.KeyEntry // where the keyboard went by itself a moment ago; nil: nowhere
}

const hiddenGroup = "•••••"

func newSheetPage(d *ui.Deps, panel *ui.Panel, title func() string) *sheetPage {
	p := &sheetPage{d: d, panel: panel, title: title, message: ui.NewMessage()}
	row := []fyne.CanvasObject{}
	for i := range p.groups {
		p.groups[i] = widget.NewLabelWithStyle("", fyne.TextAlignCenter, fyne.TextStyle{Monospace: true, Bold: true})
		p.groups[i].SizeName = theme.SizeNameSubHeadingText
		number := ui.Caption(fmt.Sprint(i + 1))
		number.Alignment = fyne.TextAlignCenter
		row = append(row, container.New(&stackTight{}, number, p.groups[i]))
	}
	save := panel.Keys.NewButton(text.T("Save a sheet to print…"), p.save)
	save.Icon = theme.DocumentPrintIcon()
	p.again = panel.Keys.NewLink(text.T("Show the key again"), theme.VisibilityIcon(), func() { p.conceal(false) })
	p.skip = panel.Keys.NewLink(text.T("Go on without a recovery key"), nil, p.goWithout)
	questions := container.NewGridWithColumns(2)
	for i := range p.entries {
		p.labels[i] = widget.NewLabel("")
		p.entries[i] = panel.Keys.NewEntry()
		p.entries[i].TextStyle.Monospace = true
		p.entries[i].OnChanged = func(typed string) { p.typed(i, typed) }
		p.entries[i].KeepTab = func() bool { return p.keepTab(i) }
		questions.Add(container.NewBorder(nil, nil, p.labels[i], nil, p.entries[i]))
	}
	p.content = container.NewVBox(
		ui.Paragraph(text.T("This recovery key opens the container if you ever forget the password. Write it down or print it, and keep it where only you find it.")),
		ui.Card(container.NewGridWithColumns(recovery.Groups, row...)),
		container.NewHBox(save, p.again),
		ui.Paragraph(text.T("To be sure that you have it, type these two groups from your note. The key hides while you type.")),
		questions, p.message, container.NewHBox(p.skip))
	return p
}

// stackTight puts a caption closely above what it is about.
type stackTight struct{}

// MinSize implements fyne.Layout.
func (*stackTight) MinSize(o []fyne.CanvasObject) fyne.Size {
	a, b := o[0].MinSize(), o[1].MinSize()
	return fyne.NewSize(max(a.Width, b.Width), a.Height+b.Height-2*theme.InnerPadding())
}

// Layout implements fyne.Layout.
func (*stackTight) Layout(o []fyne.CanvasObject, size fyne.Size) {
	height := o[0].MinSize().Height
	o[0].Resize(fyne.NewSize(size.Width, height))
	o[0].Move(fyne.NewPos(0, -theme.InnerPadding()/2))
	o[1].Resize(fyne.NewSize(size.Width, o[1].MinSize().Height))
	o[1].Move(fyne.NewPos(0, height-theme.InnerPadding()*3/2))
}

func (p *sheetPage) object() fyne.CanvasObject { return p.content }

func (p *sheetPage) shown() {
	if p.key == nil {
		p.key = recovery.Generate()
	}
	p.asked[0] = rand.IntN(recovery.Groups) + 1
	p.asked[1] = (p.asked[0]-1+1+rand.IntN(recovery.Groups-1))%recovery.Groups + 1
	if p.asked[0] > p.asked[1] {
		p.asked[0], p.asked[1] = p.asked[1], p.asked[0]
	}
	for i := range p.entries {
		p.entries[i].SetText("")
		p.labels[i].SetText(text.T("Group %d", p.asked[i]))
	}
	ui.Show(p.skip, p.without != nil)
	p.message.Say(0, "")
	p.conceal(false)
}

// conceal hides or shows the key.
func (p *sheetPage) conceal(hidden bool) {
	p.hidden = hidden
	for i, label := range p.groups {
		words := hiddenGroup
		if !hidden && p.key != nil {
			words = string(recovery.Group(p.key, i+1))
		}
		label.SetText(words)
	}
	ui.Show(p.again, hidden)
	p.panel.Fit()
	for i := range p.entries {
		if !p.right(i) {
			p.panel.Focus(p.entries[i])
			break
		}
	}
}

// right says whether what was typed is the group that was asked for.
func (p *sheetPage) right(i int) bool {
	return p.key != nil && recovery.SameGroup(p.key, p.asked[i], p.entries[i].Text)
}

// typed hides the key, and goes to the next entry when this one is right.
func (p *sheetPage) typed(i int, typed string) {
	if typed == "" {
		return
	}
	if !p.hidden {
		p.conceal(true)
	}
	if p.right(i) && !p.right(1-i) {
		p.jumped = p.entries[1-i]
		p.panel.Focus(p.jumped)
	}
	wrong := ""
	if len(strings.TrimSpace(typed)) >= recovery.GroupLength && !p.right(i) {
		wrong = text.T("Group %d is not that. Look at your note again.", p.asked[i])
	}
	p.say(wrong)
}

// keepTab says whether a Tab in an entry is that of somebody who does not know that the keyboard is there already: once.
func (p *sheetPage) keepTab(i int) bool {
	keep := p.jumped == p.entries[i] && p.entries[i].Text == ""
	p.jumped = nil
	return keep
}

// goWithout asks first: the key that is shown here may have been written down already.
func (p *sheetPage) goWithout() {
	ui.Confirm(p.d.Shell.Window(), text.T("Go on without a recovery key?"),
		text.T("The key shown here will open nothing: throw away what you have noted or saved of it. If the password is forgotten, nobody can open the container."),
		text.T("Go on without"), true, func() { p.without() })
}

func (p *sheetPage) say(wrong string) {
	if p.message.Text() != wrong {
		p.message.Say(widget.DangerImportance, wrong)
		p.panel.Fit()
	}
}

func (p *sheetPage) leave(answer func(bool)) {
	for i := range p.entries {
		if p.right(i) {
			continue
		}
		p.say(text.T("Group %d is not that. Look at your note again.", p.asked[i]))
		if p.entries[i].Text == "" {
			p.say(text.T("Type group %d of the recovery key.", p.asked[i]))
		}
		p.panel.Focus(p.entries[i])
		answer(false)
		return
	}
	answer(true)
}

// forget wipes the key, and what shows it.
func (p *sheetPage) forget() {
	clear(p.key)
	p.key = nil
	for i := range p.entries {
		p.entries[i].SetText("")
	}
	for _, label := range p.groups {
		label.SetText("")
	}
}

// save writes the sheet where the person wants it.
func (p *sheetPage) save() {
	chooseNew(p.d, text.T("Save a sheet to print"), "", text.T("%s recovery key", p.title())+".html", func(path string) {
		if p.key == nil {
			return
		}
		sheet := newSheet(p.title(), p.key)
		p.d.Work(func(context.Context) error {
			return sheet.Write(path)
		}, func(err error) {
			if err != nil {
				ui.ShowError(p.d.Shell.Window(), err)
				return
			}
			p.message.Say(widget.WarningImportance, text.T("Saved as %s. Open it, print it, and then delete the file: whoever reads it can open the container.", ui.Clean(path)))
			p.panel.Fit()
		})
	})
}

// newSheet is the page to print.
func newSheet(title string, key []byte) *recovery.Sheet {
	return &recovery.Sheet{
		Language: text.Language(),
		Title:    text.T("Recovery key"),
		Facts:    [][2]string{{text.T("Container"), ui.Clean(title)}, {text.T("Made on"), time.Now().Format("2006-01-02")}},
		Key:      key,
		Sentences: []string{
			text.T("This key opens the container without its password. Whoever has this sheet and the container can read everything in it: keep them apart."),
			text.T("In the window: Unlock, then “Use a recovery key”. On the command line: coffer unlock FILE --recovery-key-stdin. Small letters and missing hyphens do not matter."),
			text.T("Other programs for LUKS2 take it as a password: in capitals and with its hyphens, as printed."),
			text.T("The fifth character of each group checks the others, so a slip is noticed. There are no letters I, L, O and U."),
		},
	}
}
