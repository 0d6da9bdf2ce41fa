package window

import (
	"cmp"
	"encoding/json"
	"os"
	"strings"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/lang"

	"coffer/app/window/text"
)

// nameLanguage says in LANGUAGE that a system set to no language, C.UTF-8 for example, is to be spoken to in English: the toolkit
// knows C alone and complains of the others.
func nameLanguage() {
	set := cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_MESSAGES"), os.Getenv("LANG"))
	if name, _, encoded := strings.Cut(set, "."); encoded && (name == "C" || name == "POSIX") && os.Getenv("LANGUAGE") == "" {
		_ = os.Setenv("LANGUAGE", "en")
	}
}

// translateToolkit makes the toolkit's own words, in the menu of an entry and in choosers of files, of the language chosen. The
// toolkit takes the language of the system by itself, so the words are given to it as if they were of that language.
func translateToolkit() {
	words, err := json.Marshal(map[string]string{
		"Cancel":            text.T("Cancel"),
		"Copy":              text.T("Copy"),
		"Create Folder":     text.T("Create"),
		"Cut":               text.T("Cut"),
		"Error":             text.T("That did not work"),
		"file.name":         text.T("Name"),
		"file.parent":       text.T("Up"),
		"New Folder":        text.T("New folder"),
		"OK":                text.T("OK"),
		"Open":              text.T("Open"),
		"Paste":             text.T("Paste"),
		"Quit":              text.T("Quit"),
		"Redo":              text.T("Redo"),
		"Select all":        text.T("Select all"),
		"Show Hidden Files": text.T("Hidden files"),
		"Undo":              text.T("Undo"),
	})
	if err == nil {
		err = lang.AddTranslationsForLocale(words, fyne.Locale(lang.SystemLocale().LanguageString()))
	}
	if err != nil {
		fyne.LogError("Words of the toolkit stay in the language of the system", err)
	}
}
