package settings

import (
	"path/filepath"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"coffer/app/config"
	"coffer/app/window/text"
	"coffer/app/window/ui"
)

// newGeneral is looks, language, tray, the start, locking everything, and portable mode.
func (s *Screen) newGeneral() fyne.CanvasObject {
	return page(
		group(text.T("Window"), s.newTheme(), s.newLanguage(), s.newTray(), s.newStart()),
		group(text.T("Lock everything"), s.newHotkey()),
		group(text.T("On a memory stick"), s.newPortable()),
	)
}

func (s *Screen) newTheme() fyne.CanvasObject {
	return s.choice(text.T("Appearance"), "", []string{"", config.ThemeLight, config.ThemeDark},
		[]string{text.T("As the system"), text.T("Light"), text.T("Dark")},
		func(c config.Settings) string { return c.Theme }, func(c *config.Settings, v string) { c.Theme = v })
}

// languageNames are the names of languages in themselves: not translated.
var languageNames = map[string]string{"en": "English", "de": "Deutsch", "es": "Español"}

// newLanguage chooses the language. The texts of a window are made when it starts, so a new one needs a new start.
func (s *Screen) newLanguage() fyne.CanvasObject {
	values, names := []string{""}, []string{text.T("As the system")}
	for _, tag := range text.Languages() {
		name := languageNames[tag.String()]
		if name == "" {
			name = tag.String()
		}
		values, names = append(values, tag.String()), append(names, name)
	}
	message, started := ui.NewMessage(), ""
	known := false // what the window started with
	var keys *ui.Keys
	again := keys.NewButton(text.T("Start the window anew"), func() {
		if host, ok := s.deps.Shell.(Host); ok {
			host.Restart()
		}
	})
	later := container.NewVBox(ui.Paragraph(text.T("The new language comes with the next start of the window. Drives and copies go on meanwhile.")), container.NewHBox(again))
	later.Hide()
	chosen := s.newSelect(values, names, message, func(c config.Settings) string { return c.Language }, func(c *config.Settings, v string) {
		c.Language = v
	})
	save := chosen.OnChanged
	changed := func(name string) {
		save(name)
		ui.Show(later, known && values[max(chosen.SelectedIndex(), 0)] != started)
		s.fit()
	}
	chosen.OnChanged = changed
	s.fields = append(s.fields, showFunc(func(now config.Settings) {
		chosen.OnChanged = changed // showing it puts back the one that only saves
		if !known {
			known, started = true, now.Language
		}
	}))
	return container.NewVBox(row(text.T("Language"), "", chosen, message), later)
}

func (s *Screen) newTray() fyne.CanvasObject {
	s.tray = wrapped(trayWords(true))
	message := ui.NewMessage()
	box := s.newCheck(message, func(c config.Settings) bool { return c.KeepInTray }, func(c *config.Settings, on bool) { c.KeepInTray = on })
	words := titled(text.T("Keep in the tray"))
	words.Add(s.tray)
	return container.NewVBox(container.New(rowLayout{}, words, box), message)
}

// trayWords says what keeping the window in the tray does, there being one or not.
func trayWords(there bool) string {
	if !there {
		return text.T("This desktop shows no tray, so closing the window ends it. Drives stay open in any case.")
	}
	return text.T("Closing the window hides it in the tray. Drives stay open in any case.")
}

// newHotkey tells the ways to lock everything: no toolkit that draws this window can take a key of the whole system.
func (s *Screen) newHotkey() fyne.CanvasObject {
	command := lockAllCommand()
	shown := widget.NewLabel(command)
	shown.TextStyle.Monospace = true
	shown.Truncation = fyne.TextTruncateEllipsis
	var keys *ui.Keys
	copied := keys.NewButton("", func() { fyne.CurrentApp().Clipboard().SetContent(command) })
	copied.Icon = theme.ContentCopyIcon()
	everywhere := titled(text.T("Everywhere"))
	everywhere.Add(wrapped(text.T("Give this command a key of your own in the keyboard settings of your desktop. It works without this window too.")))
	return container.NewVBox(
		row(text.T("In this window"), "", widget.NewLabel(text.T("Ctrl+Shift+L")), nil),
		widget.NewSeparator(),
		everywhere,
		container.NewBorder(nil, nil, nil, copied, shown))
}

// lockAllCommand is the command to lock everything, as a desktop's settings take it.
func lockAllCommand() string {
	program := ownProgram()
	if program == "" {
		return "coffer lock --all"
	}
	command := filepath.Join(filepath.Dir(program), "coffer"+filepath.Ext(program))
	if strings.ContainsAny(command, " \t") {
		command = `"` + command + `"`
	}
	return command + " lock --all"
}

func (s *Screen) newPortable() fyne.CanvasObject {
	words := ui.Paragraph(text.T("To carry Coffer with all its settings on a memory stick, make a folder with the name %s beside the program and start it again: settings, the list of containers and reports are kept there, and nothing in your home folder.", config.PortableFolder))
	if s.deps.Paths.Portable {
		words = ui.Paragraph(text.T("Portable mode is on: settings, the list of containers and reports are kept beside the program, in %s. To switch it off, move that folder away and start Coffer again.", s.deps.Paths.Config))
	}
	return words
}
