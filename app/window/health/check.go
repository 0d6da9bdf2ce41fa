package health

import (
	"context"
	"strings"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/client"
	"coffer/app/protocol"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// addOpener asks for what opens the container, unless it is open or needs nothing; nil then.
func (t *task) addOpener(open bool) *secretField {
	if open || t.s.info != nil && t.s.info.Container.Format == raw {
		return nil
	}
	return t.addSecret(text.T("Password"), false)
}

// opener is what opens the container, or what is wrong with what was typed. f may be nil.
func (f *secretField) opener() (c client.Credential, wrong string) {
	if f == nil {
		return c, ""
	}
	if wrong = f.wrong(); wrong != "" {
		return c, wrong
	}
	return f.take(), ""
}

// check looks for damage.
func (s *Screen) check() {
	t := s.newTask(text.T("Check %s", ui.Clean(s.name())), text.T("Check"), false)
	t.say(text.T("The file system inside is looked at from beginning to end. Nothing is written."))
	if s.find().State.Open() {
		t.say(text.T("It is unlocked: what programs write to it waits until the check is done."))
	}
	s.runCheck(t, false)
}

// repair mends what is wrong. What can be read should be saved before: it says so, and offers it.
func (s *Screen) repair() {
	s.locked(text.T("A repair needs the container for itself."), func() {
		t := s.newTask(text.T("Repair %s", ui.Clean(s.name())), text.T("Repair"), true)
		t.say(text.T("A repair makes the file system consistent again; it cannot bring back what is lost. A damaged file may be cut short. Pieces that belong to no file are kept as files named FSCK0000.REC and so on."),
			text.T("Save what can be read first, or make a copy of the container file: what a repair has changed cannot be changed back."))
		save := t.panel.Keys.NewButton(text.T("Save to folder first…"), func() {
			t.close()
			s.salvage()
		})
		save.Icon = theme.DownloadIcon()
		t.more = []fyne.CanvasObject{save}
		s.runCheck(t, true)
	})
}

// runCheck checks or repairs, and shows what was found.
func (s *Screen) runCheck(t *task, repair bool) {
	image := s.image
	opener := t.addOpener(!repair && s.find().State.Open())
	var found *client.Checked
	t.begin = func() (work, string) {
		c, wrong := opener.opener()
		if wrong != "" {
			return nil, wrong
		}
		t.stage.SetText(text.T("Looking at the file system…"))
		if repair {
			t.stage.SetText(text.T("Looking at the file system and mending it…"))
		}
		return func(ctx context.Context, to client.Reporter) (err error) {
			defer c.Wipe()
			found, err = s.deps.Backend.Containers.Check(ctx, client.CheckRequest{Image: image, Format: s.format(image), Credential: c, Repair: repair}, to)
			return err
		}, ""
	}
	t.end = func(err error) bool {
		if found == nil || found.Check == nil { // damage is no failure: it was found
			t.fail(err)
			return false
		}
		r := found.Check
		fixed := 0
		for _, f := range r.Findings {
			if f.Fixed {
				fixed++
			}
		}
		traces := r.Traces
		s.checks[image] = checked{at: time.Now(), clean: r.Clean, findings: len(r.Findings) + r.Omitted, repaired: r.Sound && !r.Clean, traces: traces}
		outcome := checkWords(r.Clean, r.Sound, len(r.Findings)+r.Omitted, fixed, traces)
		body := container.NewVBox(fact(outcome.how, outcome.words, text.T("%s in %s.", text.N(r.Files, "1 file", "%d files"), text.N(r.Folders, "1 folder", "%d folders"))))
		s.addFindings(body, r.Findings, r.Omitted)
		var more []func(*ui.Panel) fyne.CanvasObject
		if !r.Sound && traces == "" {
			more = append(more, func(p *ui.Panel) fyne.CanvasObject {
				return p.Keys.NewButton(text.T("Save to folder…"), func() { p.Close(); s.salvage() })
			}, func(p *ui.Panel) fyne.CanvasObject {
				return p.Keys.NewButton(text.T("Repair…"), func() { p.Close(); s.repair() })
			})
		}
		t.resultWith(text.T("Check of %s", ui.Clean(s.name())), body, more...)
		return true
	}
	t.open()
}

// checkWords is the outcome of a check in words.
func checkWords(clean, sound bool, findings, fixed int, traces string) verdict {
	switch {
	case clean:
		return verdict{good, text.T("Nothing is wrong.")}
	case traces == client.NotClosed && sound:
		return verdict{good, text.T("It was not closed properly. It was checked: nothing is damaged, and it counts as closed now.")}
	case traces == client.NotClosed:
		return verdict{good, text.T("It was not closed properly. It was checked: nothing is damaged.")}
	case traces == client.Interrupted && !sound:
		return verdict{neutral, text.T("It was not closed properly. No finished file is damaged; what the interruption left behind is cleared up when it is unlocked next.")}
	case sound:
		return verdict{good, text.N(int64(findings), "One thing was wrong, and was mended.", "%d things were wrong, and were mended.")}
	case fixed > 0:
		return verdict{bad, text.T("Found wrong: %d. Mended: %d.", findings, fixed)}
	}
	return verdict{bad, text.N(int64(findings), "One thing is wrong.", "%d things are wrong.")}
}

// addFindings lists what was found.
func (s *Screen) addFindings(body *fyne.Container, findings []client.Finding, omitted int) {
	if omitted > 0 {
		body.Add(ui.Caption(text.T("The first %d are listed.", len(findings))))
	}
	if len(findings) > 0 {
		list := widget.NewList(func() int { return len(findings) }, newFinding, func(i widget.ListItemID, o fyne.CanvasObject) { showFinding(findings[i], o) })
		body.Add(container.New(&tall{min(280, 64*float32(len(findings)))}, list))
	}
}

// verdict is an outcome in words.
type verdict struct {
	how   condition
	words string
}

// tall is a layout of a fixed height.
type tall struct{ height float32 }

// MinSize implements fyne.Layout.
func (l *tall) MinSize(objects []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(objects[0].MinSize().Width, l.height)
}

// Layout implements fyne.Layout.
func (l *tall) Layout(objects []fyne.CanvasObject, size fyne.Size) { objects[0].Resize(size) }

// newFinding is a line of the list of findings.
func newFinding() fyne.CanvasObject {
	path := ui.NewLine("")
	words := ui.Caption("")
	words.Truncation = fyne.TextTruncateEllipsis
	return container.NewBorder(nil, nil, widget.NewIcon(nil), nil, container.New(layout.NewCustomPaddedVBoxLayout(-2*theme.Padding()), path, words))
}

func showFinding(f client.Finding, o fyne.CanvasObject) {
	row := o.(*fyne.Container)
	labels := row.Objects[0].(*fyne.Container).Objects
	how, words := bad, findingWords(f)
	if f.Code == "dirty" {
		how = neutral
	}
	if f.Fixed {
		how, words = good, text.T("%s Mended.", words)
	}
	row.Objects[1].(*widget.Icon).SetResource(how.icon())
	path := ui.Clean(f.Path)
	if path == "" {
		path = text.T("The file system as a whole")
	}
	labels[0].(*ui.Line).SetText(path)
	ui.SetText(labels[1].(*widget.Label), words)
}

// findingWords is a kind of damage in plain words; what has none is told as the check tells it.
func findingWords(f client.Finding) string {
	switch f.Code {
	case "boot-sector", "backup-boot":
		return text.T("One of the two sectors that describe the file system is damaged.")
	case "boot-label", "label":
		return text.T("The name of the drive is stored differently in two places.")
	case "fsinfo", "free-count":
		return text.T("The note about free space is wrong.")
	case "dirty":
		return text.T("It was not closed cleanly.")
	case "io-error-mark":
		return text.T("A system has marked it as having had disk errors.")
	case "fat-head", "fat-copies":
		return text.T("The two tables that say where files lie differ.")
	case "chain-loop":
		return text.T("The file runs into itself; it is cut there.")
	case "cross-link":
		return text.T("It shares a part with another file; one of them has wrong content there.")
	case "two-names":
		return text.T("One file has two names, as after a power cut while it was renamed.")
	case "chain-short", "chain-free", "chain-bad", "chain-range":
		return text.T("A part at its end is missing.")
	case "chain-long":
		return text.T("More space is kept for it than it needs.")
	case "start-cluster":
		return text.T("Where it begins is not known; its content is lost.")
	case "zero-size":
		return text.T("It is empty, yet space is kept for it.")
	case "lost-chain":
		return text.T("Content that belongs to no file.")
	case "dir-size", "dir-dots", "after-end", "attributes", "garbage":
		return text.T("A folder has an entry that is not valid.")
	case "dir-start", "not-a-directory":
		return text.T("The folder cannot be read; what was in it has lost its names.")
	case "dir-cycle":
		return text.T("The folder contains itself.")
	case "dir-too-big", "dir-too-deep":
		return text.T("The folder is larger or deeper than can be.")
	case "short-name", "long-name", "long-name-parts", "long-name-fields":
		return text.T("Its name is not valid.")
	case "duplicate-name":
		return text.T("Two files have the same name.")
	case "too-damaged":
		return text.T("There is so much damage that the check ended early.")
	case "read-error":
		return text.T("A part could not be read; zeros stand in its place.")
	case "target":
		return text.T("It could not be written into the folder.")
	}
	return ui.Sentence(f.Detail)
}

// salvage copies out what can be read.
func (s *Screen) salvage() {
	image := s.image
	t := s.newTask(text.T("Save what can be read in %s", ui.Clean(s.name())), text.T("Save"), false)
	t.say(text.T("Everything that can still be read is copied into a new or empty folder. The container is not changed. The files in that folder are not encrypted."))
	folder := t.addNewPath(text.T("Folder"), s.name()+" "+text.T("rescued"))
	opener := t.addOpener(s.find().State.Open())
	if opener != nil {
		t.focus = opener.entry
	}
	var found *client.Checked
	var to string
	t.begin = func() (work, string) {
		if wrong := wrongPath(folder.Text); wrong != "" {
			return nil, wrong
		}
		to = strings.TrimSpace(folder.Text)
		c, wrong := opener.opener()
		if wrong != "" {
			return nil, wrong
		}
		t.stage.SetText(text.T("Saving what can be read…"))
		return func(ctx context.Context, report client.Reporter) (err error) {
			defer c.Wipe()
			found, err = s.deps.Backend.Containers.Check(ctx, client.CheckRequest{Image: image, Format: s.format(image), Credential: c, SalvageTo: to}, report)
			return err
		}, ""
	}
	t.end = func(err error) bool {
		if found == nil || found.Salvage == nil || err != nil && !ui.IsCode(err, int(protocol.Partly), int(protocol.Damaged)) {
			t.fail(err)
			return false
		}
		r := found.Salvage
		outcome := verdict{good, text.T("Everything was saved.")}
		if n := len(r.Problems) + r.Omitted; n > 0 {
			outcome = verdict{doubtful, text.N(int64(n), "One file or folder is not whole.", "%d files or folders are not whole.")}
		}
		counted := text.T("%s and %s, %s, are in %s.", text.N(r.Files, "1 file", "%d files"), text.N(r.Folders, "1 folder", "%d folders"), text.Size(r.Bytes), ui.Clean(to))
		if r.LostChains > 0 {
			counted += " " + text.N(r.LostChains, "One of the files had lost its name.", "%d of the files had lost their names.")
		}
		body := container.NewVBox(fact(outcome.how, outcome.words, counted))
		s.addFindings(body, r.Problems, r.Omitted)
		t.resultWith(text.T("Saved from %s", ui.Clean(s.name())), body, s.showFolder(to))
		return true
	}
	t.open()
}
