package health

import (
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/layout"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/client"
	"coffer/app/protocol"
	"coffer/app/window/create"
	"coffer/app/window/model"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// wide is a layout of a fixed width.
type wide struct{ width float32 }

// MinSize implements fyne.Layout.
func (w *wide) MinSize(objects []fyne.CanvasObject) fyne.Size {
	return fyne.NewSize(max(w.width, objects[0].MinSize().Width), objects[0].MinSize().Height)
}

// Layout implements fyne.Layout.
func (w *wide) Layout(objects []fyne.CanvasObject, size fyne.Size) { objects[0].Resize(size) }

// buttonWidth lines the buttons of all actions up.
const buttonWidth = 190

// condition is how good or bad something is.
type condition int

const (
	neutral condition = iota
	good
	doubtful
	bad
)

func (c condition) icon() fyne.Resource {
	switch c {
	case good:
		return theme.NewSuccessThemedResource(theme.ConfirmIcon())
	case doubtful:
		return theme.NewWarningThemedResource(theme.WarningIcon())
	case bad:
		return theme.NewErrorThemedResource(theme.ErrorIcon())
	}
	return theme.InfoIcon()
}

// lines are a line and a smaller one below it, which wraps.
func lines(title, about string) fyne.CanvasObject {
	head := widget.NewLabelWithStyle(title, fyne.TextAlignLeading, fyne.TextStyle{Bold: true})
	head.Wrapping = fyne.TextWrapWord
	if about == "" {
		return head
	}
	words := ui.Caption(about)
	words.Wrapping = fyne.TextWrapWord
	return container.New(layout.NewCustomPaddedVBoxLayout(-2*theme.Padding()), head, words)
}

// fact is a line about the condition of something.
func fact(c condition, title, about string) fyne.CanvasObject {
	return container.NewBorder(nil, nil, container.NewVBox(container.NewPadded(widget.NewIcon(c.icon()))), nil, lines(title, about))
}

// action is a line about something that can be done, with its button.
func action(title, about string, b *widget.Button) fyne.CanvasObject {
	return container.NewBorder(nil, nil, nil, container.NewVBox(container.New(layout.NewCustomPaddedLayout(theme.Padding(), 0, 0, 0), container.New(&wide{buttonWidth}, b))), lines(title, about))
}

// section is a card with a title.
func section(title string, parts ...fyne.CanvasObject) fyne.CanvasObject {
	head := widget.NewLabelWithStyle(title, fyne.TextAlignLeading, fyne.TextStyle{Bold: true})
	head.SizeName = theme.SizeNameSubHeadingText
	return ui.Card(container.NewVBox(append([]fyne.CanvasObject{head}, parts...)...))
}

func (s *Screen) button(label string, icon fyne.Resource, tapped func()) *widget.Button {
	return widget.NewButtonWithIcon(label, icon, tapped)
}

// render shows what is known of the container.
func (s *Screen) render() {
	s.fillPicker()
	var parts []fyne.CanvasObject
	switch {
	case s.image == "":
		parts = append(parts, s.emptyPart())
	case s.state.State == model.Missing:
		parts = append(parts, section(text.T("Condition"), fact(bad, text.T("The file is not there"),
			text.T("There is no file at %s. It may have been moved or renamed, or be on a disk that is not connected.", ui.Clean(s.image)))))
	case s.failed != nil:
		parts = append(parts, s.brokenParts()...)
	case s.info == nil:
		parts = append(parts, section(text.T("Condition"), fact(neutral, text.T("Looking at it…"), ui.Clean(s.image))))
	case s.info.Container.Format == raw:
		parts = append(parts, s.conditionPart(), s.filesPart(), s.keysPart())
	default:
		parts = append(parts, s.conditionPart(), s.filesPart(), s.keysPart(), s.headerPart(true), s.endPart())
	}
	s.body.Objects = append(parts, s.self.object)
	s.body.Refresh()
}

// emptyPart is shown while no container is chosen.
func (s *Screen) emptyPart() fyne.CanvasObject {
	if len(s.deps.Model.Containers()) > 0 {
		return section(text.T("No container is chosen"), ui.Paragraph(text.T("Choose one above to see its condition, check it, and look after its keys.")))
	}
	b := s.button(text.T("New container…"), theme.ContentAddIcon(), func() { s.deps.Shell.NewContainer(nil) })
	b.Importance = widget.HighImportance
	return section(text.T("You have no containers yet"), ui.Paragraph(text.T("Once you have one, its condition and its keys are looked after here.")), container.NewHBox(b))
}

// conditionPart says how the container is.
func (s *Screen) conditionPart() fyne.CanvasObject {
	c := s.info.Container
	parts := []fyne.CanvasObject{fact(neutral, s.stateWords(), strings.Join([]string{formatName(c.Format), strings.ToUpper(c.Cipher),
		text.T("%s file, %s for files", text.Size(c.ImageBytes), text.Size(c.UsableBytes))}, " · "))}
	if s.state.Status.Problem != "" {
		parts = append(parts, fact(bad, text.T("Nothing can be written any more"), ui.Sentence(s.state.Status.Problem)))
	}
	if c.Unsupported != "" {
		parts = append(parts, fact(bad, text.T("This version cannot open it"), ui.Sentence(c.Unsupported)))
	}
	if how, title, about := headerWords(c.HeaderState); title != "" {
		parts = append(parts, fact(how, title, about))
	}
	parts = append(parts, fact(s.filesWords()))
	return section(text.T("Condition"), parts...)
}

// stateWords says whether it is locked.
func (s *Screen) stateWords() string {
	switch s.state.State {
	case model.Unlocked:
		if s.state.Status.MountPoint == "" {
			return text.T("Unlocked, without a drive")
		}
		return text.T("Unlocked at %s", ui.Clean(s.state.Status.MountPoint))
	case model.Busy:
		return text.T("Just being unlocked or locked")
	case model.Unresponsive:
		return text.T("Unlocked, but it does not answer")
	}
	return text.T("Locked")
}

// formatName is what people call a format.
func formatName(format string) string {
	switch format {
	case "luks1", "luks2":
		return strings.ToUpper(format)
	case raw:
		return text.T("Not encrypted")
	}
	return ui.Clean(format)
}

// headerWords is the condition of the two copies of the header; "" if the format has none.
func headerWords(states []string) (how condition, title, about string) {
	if len(states) == 0 {
		return neutral, "", ""
	}
	worst := -1
	for i, state := range states {
		if state != "good" {
			worst = i
		}
	}
	if worst < 0 {
		return good, text.T("The header is good"), text.T("It holds the keys, encrypted. There are two copies of it in the file, and both are good.")
	}
	named := map[string]string{"stale": text.T("is older than the other"), "damaged": text.T("is damaged"), "missing": text.T("is missing")}[states[worst]]
	if named == "" {
		named = text.T("cannot be read")
	}
	return doubtful, text.T("One copy of the header %s", named),
		text.T("The other copy is used, and mends it when the container is unlocked next. Make a backup of the header now.")
}

// filesWords is what is known of the file system inside.
func (s *Screen) filesWords() (how condition, title, about string) {
	if last, ok := s.checks[s.image]; ok {
		at := last.at.Format("15:04")
		switch {
		case last.clean:
			return good, text.T("The file system was sound at %s", at), text.T("A check found nothing wrong.")
		case last.traces == client.NotClosed && !last.repaired:
			return neutral, text.T("It was not closed properly the last time"), text.T("It was checked at %s: nothing is damaged.", at)
		case last.traces == client.Interrupted && !last.repaired:
			return neutral, text.T("It was not closed properly the last time"), text.T("Checked at %s. No finished file is damaged; what is left of the interruption is cleared up when it is unlocked next.", at)
		case last.repaired:
			return good, text.T("The file system was repaired at %s", at), text.N(int64(last.findings), "One thing was mended.", "%d things were mended.")
		}
		return bad, text.N(int64(last.findings), "A check found one thing wrong", "A check found %d things wrong"),
			text.T("Found at %s. Save what can be read, then repair it.", at)
	}
	f := s.info.FileSystem
	switch {
	case f == nil:
		return neutral, text.T("The file system inside was not looked at yet"), text.T("A check looks at it, whether the container is locked or not.")
	case f.Dirty:
		return neutral, text.T("It was not closed properly the last time"), text.T("Nothing need be wrong: what a power cut leaves is cleared up when it is unlocked. A check tells.")
	}
	return neutral, text.T("%s, %s of %s free", ui.Clean(f.Type), text.Size(f.FreeBytes), text.Size(f.TotalBytes)), text.T("A check tells whether it is sound.")
}

// brokenParts is for a file that cannot be read as a container.
func (s *Screen) brokenParts() []fyne.CanvasObject {
	problem := client.Explain(s.failed)
	switch problem.Code {
	case protocol.Damaged:
		return []fyne.CanvasObject{section(text.T("Condition"), fact(bad, text.T("The header is damaged: the container cannot be opened"),
			ui.Sentence(problem.Sentence)+" "+text.T("With a backup of the header it can be restored. If the file was cut short, a copy of it is needed."))),
			s.headerPart(false), s.endPart()}
	case protocol.Unsupported:
		return []fyne.CanvasObject{section(text.T("Condition"), fact(bad, text.T("This is no container that Coffer can open"),
			ui.Sentence(problem.Sentence)+" "+text.T("If it was one, its header is destroyed; a backup of the header brings it back."))),
			s.headerPart(false), section(text.T("Plain disk image"), action(text.T("It was never encrypted"),
				text.T("If the file is a plain disk image, not encrypted, it can be checked, repaired and saved as one."),
				s.button(text.T("Take it as one"), theme.StorageIcon(), s.takeAsRaw)))}
	}
	again := s.button(text.T("Look again"), theme.ViewRefreshIcon(), s.load)
	return []fyne.CanvasObject{section(text.T("Condition"), fact(bad, text.T("It could not be looked at"), ui.Sentence(problem.Sentence)+" "+ui.Hint(problem)), container.NewHBox(again))}
}

// filesPart is what can be done about the file system inside.
func (s *Screen) filesPart() fyne.CanvasObject {
	check := s.button(text.T("Check…"), theme.SearchIcon(), s.check)
	check.Importance = widget.HighImportance
	return section(text.T("Files inside"),
		action(text.T("Check"), text.T("Looks for damage and writes nothing. While the container is unlocked, programs that write to it wait until it is done."), check),
		action(text.T("Save what can be read"), text.T("Copies everything that can still be read into a new folder, whatever the damage. Nothing in the container is changed."),
			s.button(text.T("Save to folder…"), theme.DownloadIcon(), s.salvage)),
		action(text.T("Repair"), text.T("Mends what a check finds. Files that are damaged may be cut short; pieces that belong to no file are kept. Save what can be read first."),
			s.button(text.T("Repair…"), theme.SettingsIcon(), s.repair)))
}

// keysPart lists the keys and what can be done with them.
func (s *Screen) keysPart() fyne.CanvasObject {
	slots := s.info.Container.Slots
	if s.info.Container.Format == raw {
		return section(text.T("Keys"), fact(doubtful, text.T("It is not encrypted"), text.T("It has no keys: everybody who has the file can read it.")))
	}
	parts := []fyne.CanvasObject{ui.Paragraph(text.T("Each key opens the container by itself. A container does not tell which of them is a password, a key file or a recovery key."))}
	for _, slot := range slots {
		remove := s.button(text.T("Remove…"), theme.DeleteIcon(), func() { s.removeKey(slot.Number) })
		parts = append(parts, action(text.T("Key %d", keyNumber(slot.Number)), slotWords(slot), remove))
	}
	if len(slots) == 0 {
		parts = append(parts, fact(bad, text.T("There are no keys"), text.T("Nobody can open the container. A backup of the header brings its keys back.")))
	}
	parts = append(parts, widget.NewSeparator())
	if len(slots) > 0 {
		parts = append(parts,
			action(text.T("Change a password"), text.T("Replaces one key by another. Backups of the header and copies of the file still open with the old one."),
				s.button(text.T("Change…"), theme.DocumentCreateIcon(), s.changeKey)),
			action(text.T("Add a key"), text.T("A second password, for somebody else, or a key file on a memory stick."),
				s.button(text.T("Add…"), theme.ContentAddIcon(), func() { s.addKey("") })))
		parts = append(parts, action(text.T("Add a recovery key"), text.T("A key to print and put away, for the day when the password is forgotten."),
			s.button(text.T("Recovery key…"), theme.DocumentPrintIcon(), func() {
				s.locked(text.T("A key can be added only while the container is locked."), func() { create.RecoveryDialog(s.deps, s.image, s.load) })
			})))
	}
	parts = append(parts, action(text.T("Make a key file"), text.T("A new file of random bytes, to be added as a key. Whoever has it needs no password."),
		s.button(text.T("New key file…"), theme.FileIcon(), s.newKeyfile)))
	return section(text.T("Keys"), parts...)
}

// keyNumber is the number of a key as people count: from one. It stays when another one is removed.
func keyNumber(slot int) int { return slot + 1 }

// slotWords is how hard a guess of a key is.
func slotWords(slot client.Slot) string {
	words := []string{ui.Clean(slot.KDF)}
	switch strings.ToLower(slot.KDF) {
	case "argon2id":
		words[0] = "Argon2id"
	case "argon2i":
		words[0] = "Argon2i"
	case "pbkdf2":
		words[0] = "PBKDF2"
	}
	if slot.MemoryKiB > 0 {
		words = append(words, text.T("%s of memory for each guess", text.Size(int64(slot.MemoryKiB)<<10)))
	}
	if slot.Iterations > 0 {
		words = append(words, text.N(int64(slot.Iterations), "1 pass", "%d passes"))
	}
	if slot.Threads > 0 {
		words = append(words, text.N(int64(slot.Threads), "1 thread", "%d threads"))
	}
	if slot.Hash != "" {
		words = append(words, ui.Clean(slot.Hash))
	}
	if !slot.Bound {
		words = append(words, text.T("not a key of the files inside"))
	}
	return strings.Join(words, ", ")
}

// headerPart is backup and restore of the header; readable says whether there is one to back up.
func (s *Screen) headerPart(readable bool) fyne.CanvasObject {
	var parts []fyne.CanvasObject
	if readable {
		parts = append(parts, action(text.T("Back up the header"), text.T("Saves the header to a new file. If the header is ever damaged, only a backup opens the container again."),
			s.button(text.T("Back up…"), theme.DocumentSaveIcon(), s.backupHeader)))
	}
	parts = append(parts, action(text.T("Restore the header"), text.T("Puts a saved header back, with the passwords of that time. Keys that were made since are gone."),
		s.button(text.T("Restore…"), theme.HistoryIcon(), s.restoreHeader)))
	return section(text.T("Header"), parts...)
}

// endPart destroys the container.
func (s *Screen) endPart() fyne.CanvasObject {
	b := s.button(text.T("Destroy…"), theme.DeleteIcon(), s.destroy)
	b.Importance = widget.DangerImportance
	return section(text.T("Destroy"), action(text.T("Destroy the container"), text.T("Overwrites all its keys, so that nobody can ever read it again, you neither. The file itself stays."), b))
}
