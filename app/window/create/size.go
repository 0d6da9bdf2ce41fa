package create

import (
	"context"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// Bounds of sizes, in bytes.
const (
	smallest     = 2e6      // with its header, and room for a little
	largest      = 16 << 40 // what a FAT volume can have
	usual        = 4e9      // suggested, if half of what is free is more
	headerRoom   = 17e6     // of the file, for the header
	maxFATFile   = 1<<32 - 1
	sizeUnitStep = 1000
)

// sizeUnits are the units to choose from, as on the labels of disks.
var sizeUnits = []string{"MB", "GB", "TB"}

// sizePage is the second step.
type sizePage struct {
	w       *wizard
	content *fyne.Container
	entry   *ui.KeyEntry
	unit    *ui.KeySelect
	slider  *widget.Slider
	free    *widget.Label
	inside  *widget.Label // what is to be copied in
	insides *fyne.Container
	message *ui.Message
	bytes   int64 // 0: what is typed is no size
	chosen  bool  // by the person: it is not changed for them any more
	setting bool  // the widgets are being set: they must not answer

	files  []string
	tally  tally
	halt   context.CancelFunc // of the counting
	counts int
}

func newSizePage(w *wizard) *sizePage {
	p := &sizePage{w: w, entry: w.keys.NewEntry(), slider: widget.NewSlider(0, 1), free: ui.Paragraph(""), inside: ui.Paragraph(""), message: ui.NewMessage()}
	p.unit = w.keys.NewSelect(sizeUnits, func(string) { p.typed() })
	p.entry.OnChanged = func(string) { p.typed() }
	p.slider.Step = 0.0001
	p.slider.OnChanged = func(at float64) {
		if !p.setting {
			p.chosen = true
			p.set(round(p.at(at)), false)
		}
	}
	forget := w.keys.NewLink(text.T("Do not copy them"), theme.CancelIcon(), func() {
		p.stop()
		p.files, p.tally = nil, tally{}
		p.chosen = false
		p.suggest()
		p.show()
	})
	p.insides = container.NewBorder(nil, nil, container.NewVBox(container.NewPadded(widget.NewIcon(theme.FolderOpenIcon()))), container.NewVBox(forget), p.inside)
	p.insides.Hide()
	p.content = container.NewVBox(
		ui.Paragraph(text.T("How much should fit in? The file takes space on the disk only as you fill it, but it cannot grow beyond this size.")),
		ui.Space(1, theme.Padding()),
		ui.Subheading(text.T("Size")),
		container.NewBorder(nil, nil, nil, p.unit, p.entry), p.slider, p.free, p.insides, p.message)
	p.setting = true
	p.unit.SetSelected("GB")
	p.setting = false
	return p
}

// most is the largest container that can be made at the place.
func (p *sizePage) most() int64 {
	most := int64(largest)
	if free := p.w.place.known.free; free >= 0 {
		most = min(most, free)
	}
	if limit := p.w.place.known.largest; limit > 0 {
		most = min(most, limit)
	}
	return most
}

// at is the size at a place of the slider, which goes by factors; where is the other way round.
func (p *sizePage) at(where float64) float64 {
	most := max(float64(p.most()), 2*smallest)
	return smallest * math.Pow(most/smallest, where)
}

func (p *sizePage) where(bytes int64) float64 {
	most := max(float64(p.most()), 2*smallest)
	return min(1, max(0, math.Log(float64(max(bytes, smallest))/smallest)/math.Log(most/smallest)))
}

// round gives a size that is easy to read: two digits, downwards.
func round(bytes float64) int64 {
	if bytes < 1 {
		return 0
	}
	step := math.Pow(10, math.Floor(math.Log10(bytes))-1)
	return int64(math.Floor(bytes/step+1e-9) * step)
}

// suggest sets the size that suits best, unless the person has chosen one.
func (p *sizePage) suggest() {
	if p.chosen {
		return
	}
	want := min(int64(usual), round(float64(p.most())/2))
	if need := p.tally.container(); len(p.files) > 0 && need > 0 {
		want = need
	}
	p.set(max(want, smallest), true)
}

// set sets the size, and shows it in the widgets.
func (p *sizePage) set(bytes int64, slider bool) {
	p.setting = true
	defer func() { p.setting = false }()
	p.bytes = bytes
	value, unit := float64(bytes)/1e6, 0
	for value >= sizeUnitStep && unit < len(sizeUnits)-1 {
		value, unit = value/sizeUnitStep, unit+1
	}
	p.unit.SetSelected(sizeUnits[unit])
	p.entry.SetText(strconv.FormatFloat(math.Round(value*1e6)/1e6, 'f', -1, 64))
	if slider {
		p.slider.SetValue(p.where(bytes))
	}
	p.judge()
}

// typed reads the size that was typed.
func (p *sizePage) typed() {
	if p.setting {
		return
	}
	p.chosen = true
	p.bytes = parseSize(p.entry.Text, p.unit.Selected)
	p.setting = true
	p.slider.SetValue(p.where(p.bytes))
	p.setting = false
	p.judge()
}

// parseSize reads a number of a unit of sizeUnits in bytes; 0 if it is none. A comma does for a point, and a unit that is typed
// behind the number counts instead.
func parseSize(typed, unit string) int64 {
	typed = strings.TrimSpace(typed)
	for _, one := range sizeUnits {
		if number := len(typed) - len(one); number > 0 && strings.EqualFold(typed[number:], one) {
			typed, unit = strings.TrimSpace(typed[:number]), one
			break
		}
	}
	value, err := strconv.ParseFloat(strings.ReplaceAll(typed, ",", "."), 64)
	if err != nil || math.IsNaN(value) || value <= 0 {
		return 0
	}
	value *= math.Pow(sizeUnitStep, float64(slices.Index(sizeUnits, unit)+2))
	if value > math.MaxInt64/2 {
		return math.MaxInt64 / 2
	}
	return int64(math.Round(value))
}

// wrong says why there can be no container of this size; "" if there can.
func (p *sizePage) wrong() string {
	known := p.w.place.known
	switch {
	case p.bytes == 0:
		return text.T("Type a size, for example 4 GB.")
	case p.bytes < smallest:
		return text.T("That is too small: a container needs at least %s.", text.Size(smallest))
	case p.bytes > largest:
		return text.T("That is too big: a container holds at most %s.", text.Size(largest))
	case known.free >= 0 && p.bytes > known.free:
		return text.T("That does not fit: this disk has only %s left. Make it smaller, or go back and choose a folder on another disk.", text.Size(known.free))
	case known.largest > 0 && p.bytes > known.largest:
		return text.T("This disk is formatted as FAT and cannot hold a file over %s. Make it smaller, or choose a folder on another disk.", text.Size(known.largest))
	}
	return ""
}

// judge says what there is to say about the size.
func (p *sizePage) judge() {
	wrong, importance := p.wrong(), widget.DangerImportance
	if need := p.tally.least(); wrong == "" && len(p.files) > 0 && p.tally.done && p.bytes < need {
		wrong, importance = text.T("The files to be copied in need at least %s.", text.Size(need)), widget.WarningImportance
	}
	if p.message.Text() != wrong {
		p.message.Say(importance, wrong)
		p.w.panel.Fit()
	}
}

// add adds files and folders to be copied in, and counts them.
func (p *sizePage) add(files []string) {
	before := len(p.files)
	for _, file := range files {
		if !slices.Contains(p.files, file) {
			p.files = append(p.files, file)
		}
	}
	if len(p.files) > before {
		p.count()
	}
}

// count sums the files up in the background.
func (p *sizePage) count() {
	p.stop()
	p.counts++
	number, files := p.counts, slices.Clone(p.files)
	ctx, halt := context.WithCancel(p.w.d.Context)
	p.halt = halt
	p.tally = tally{}
	p.show()
	var found tally
	p.w.d.Work(func(context.Context) error {
		return found.add(ctx, files, func(so tally) {
			p.w.d.Do(func() {
				if number == p.counts && !p.tally.done {
					p.tally = so
					p.show()
				}
			})
		})
	}, func(err error) {
		halt()
		if err != nil || number != p.counts {
			return
		}
		p.halt = nil
		p.tally = found
		p.suggest()
		p.show()
	})
}

// stop ends the counting.
func (p *sizePage) stop() {
	p.counts++
	if p.halt != nil {
		p.halt()
		p.halt = nil
	}
}

func (p *sizePage) show() {
	if free := p.w.place.known.free; free >= 0 {
		ui.SetText(p.free, text.T("%s are free on this disk.", text.Size(free)))
	} else {
		ui.SetText(p.free, "")
	}
	ui.Show(p.insides, len(p.files) > 0)
	words := text.T("%s in %s will be copied in.", text.Size(p.tally.bytes), text.N(p.tally.files, "one file", "%d files"))
	if !p.tally.done {
		words = text.T("Counting what will be copied in: %s in %s so far…", text.Size(p.tally.bytes), text.N(p.tally.files, "one file", "%d files"))
	}
	if p.tally.big > 0 {
		words += " " + text.N(p.tally.big, "One file is over 4 GB; you will be asked whether to cut it into parts.", "%d files are over 4 GB; you will be asked whether to cut them into parts.")
	}
	if len(p.files) > 0 {
		ui.SetText(p.inside, words)
	}
	p.judge()
	p.w.panel.Fit()
}

func (p *sizePage) object() fyne.CanvasObject { return p.content }

func (p *sizePage) shown() {
	p.suggest()
	p.set(p.bytes, true) // the slider's end may have moved
	p.show()
	p.w.panel.Focus(p.entry)
	p.entry.TypedShortcut(&fyne.ShortcutSelectAll{})
}

func (p *sizePage) leave(answer func(bool)) {
	p.judge()
	answer(p.wrong() == "")
}

// tally is what files and folders need inside.
type tally struct {
	files, bytes int64
	rounded      int64 // bytes in whole clusters, and folders
	big          int64 // files that FAT cannot hold in one piece
	done         bool
}

// Clusters as they are on volumes up to 8 GB, and what a folder takes; larger volumes have larger ones, for which there is room.
const (
	clusterBytes = 4096
	reportEvery  = 2000 // files
)

// add counts files and folders with all that is in them. What cannot be read is left out: the copy will name it.
func (t *tally) add(ctx context.Context, paths []string, report func(tally)) error {
	for _, path := range paths {
		err := filepath.WalkDir(path, func(_ string, entry fs.DirEntry, err error) error {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if err != nil {
				return nil
			}
			t.rounded += 128 // slots of its name, or more
			if entry.IsDir() {
				t.rounded += clusterBytes
				return nil
			}
			info, err := entry.Info()
			if err != nil || !info.Mode().IsRegular() {
				return nil
			}
			t.files++
			t.bytes += info.Size()
			t.rounded += (info.Size() + clusterBytes - 1) / clusterBytes * clusterBytes
			if info.Size() > maxFATFile {
				t.big++
			}
			if t.files%reportEvery == 0 {
				report(*t)
			}
			return nil
		})
		if err != nil && !os.IsNotExist(err) {
			return err
		}
	}
	t.done = true
	return nil
}

// least is the smallest container that holds it.
func (t tally) least() int64 {
	if t.rounded == 0 {
		return 0
	}
	volume := t.rounded
	if volume > 8e9 { // larger clusters
		volume += t.files * 12e3
	}
	return volume + volume/clusterBytes*8 + 2e6 + headerRoom
}

// container is a good size for a container that holds it: a tenth more, at least 20 MB, rounded up to what is easy to read.
func (t tally) container() int64 {
	if t.rounded == 0 {
		return 0
	}
	want := t.least() + max(t.least()/10, 20e6)
	rounded := round(float64(want))
	if rounded < want {
		rounded += int64(math.Pow(10, math.Floor(math.Log10(float64(want)))-1))
	}
	return rounded
}
