package text

import (
	"bytes"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"coffer/app/window/text/internal/source"
)

// same are the texts that are the same in English and in another language, beside those without words.
var same = map[string][]string{
	"de": {"%d threads", "%s in %s, %s", "%s in %s.", "1 thread", "Computer", "Container", "Downloads", "Format", "Fyne", "Go",
		"Header", "Name", "OK", "System", "Video", "system"},
	"es": {"%s (%d bytes)", "Fyne", "General", "Go"},
}

// units need no translation.
var units = []string{"B", "kB", "MB", "GB", "KiB", "MB/s", "MHz", "d", "h", "min", "s"}

func TestEveryTextCanBeFound(t *testing.T) {
	_, faults, err := source.Texts("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range faults {
		t.Error(fault)
	}
}

// TestTranslations: after a text changed, go run ./app/window/text/internal/collect says what is to translate.
func TestTranslations(t *testing.T) {
	texts, _, err := source.Texts("..")
	if err != nil {
		t.Fatal(err)
	}
	if len(texts) < 500 {
		t.Fatalf("%d texts found; there are many more", len(texts))
	}
	places := map[string]string{}
	for _, text := range texts {
		places[text.Key] = text.Place
	}
	for _, language := range []string{"en", "de", "es"} {
		t.Run(language, func(t *testing.T) {
			raw, err := fs.ReadFile(translations, "translations/"+language+".json")
			if err != nil {
				t.Fatal(err)
			}
			translated, err := source.Decode(raw)
			if err != nil {
				t.Fatal(err)
			}
			for _, fault := range faultsOf(language, places, translated) {
				t.Error(fault)
			}
			if sorted, err := source.Encode(translated); err != nil || !bytes.Equal(sorted, raw) {
				t.Error("the file is not as the command collect writes it: sorted, one text a line")
			}
		})
	}
}

// faultsOf are what is wrong with the translations into a language of the texts at some places.
func faultsOf(language string, places, translated map[string]string) (faults []string) {
	fault := func(key, words string) { faults = append(faults, places[key]+": "+words+": "+key) }
	for _, key := range slices.Sorted(maps.Keys(places)) {
		words, known := translated[key]
		verbs, _ := source.Verbs(key)
		there, err := source.Verbs(words)
		switch {
		case !known:
			fault(key, "not translated")
		case language == "en" && words != key:
			fault(key, "not itself in English")
		case strings.TrimSpace(words) == "":
			fault(key, "empty")
		case err != nil:
			fault(key, err.Error())
		case !maps.Equal(verbs, there):
			fault(key, "other verbs in the translation")
		case ends(key) != ends(words):
			fault(key, "other blanks or … at the ends")
		case language != "en" && words == key && !slices.Contains(same[language], key) && hasWords(key):
			fault(key, "the same as in English")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(translated)) {
		if places[key] == "" {
			fault(key, "said nowhere")
		}
	}
	return faults
}

// ends are what stands at the ends of a text and is no part of its words: blanks, and the dots of a button with more to come.
func ends(words string) [2]string {
	return [2]string{words[:len(words)-len(strings.TrimLeft(words, " \n"))], words[len(strings.TrimRight(words, " \n…")):]}
}

// hasWords tells whether there is something to translate: more than verbs, signs and units.
func hasWords(key string) bool {
	for _, word := range strings.FieldsFunc(withoutVerbs(key), func(r rune) bool { return !unicode.IsLetter(r) && r != '/' }) {
		if !slices.Contains(units, word) && strings.Trim(word, "/") != "" {
			return true
		}
	}
	return false
}

// withoutVerbs is a text without its %d and the like.
func withoutVerbs(key string) string {
	verbs, _ := source.Verbs(key)
	for _, verb := range verbs {
		key = strings.ReplaceAll(key, "%"+verb, " ")
	}
	return key
}

func TestSameWordsAreNeeded(t *testing.T) {
	for language, words := range same {
		raw, err := fs.ReadFile(translations, "translations/"+language+".json")
		if err != nil {
			t.Fatal(err)
		}
		translated, err := source.Decode(raw)
		if err != nil {
			t.Fatal(err)
		}
		for _, word := range words {
			if translated[word] != word {
				t.Errorf("%s: %q need not be in the list of words that are the same", language, word)
			}
		}
	}
}

func TestFaultsAreFound(t *testing.T) {
	places := map[string]string{"%d of %s": "a.go:1", "Open…": "a.go:2", "Name": "a.go:3", "Close": "a.go:4", "%d MB": "a.go:5", "Delete": "a.go:6"}
	good := map[string]string{"%d of %s": "%[2]s: %[1]d", "Open…": "Öffnen…", "Name": "Name", "Close": "Schließen", "%d MB": "%d MB", "Delete": "Löschen"}
	if faults := faultsOf("de", places, good); len(faults) > 0 {
		t.Errorf("good translations: %q", faults)
	}
	for _, bad := range []struct{ key, words, fault string }{
		{"%d of %s", "%s von %d", "a.go:1: other verbs in the translation: %d of %s"},
		{"%d of %s", "%d von", "a.go:1: other verbs in the translation: %d of %s"},
		{"%d of %s", "100 % von %d: %s", "a.go:1: a % is no verb; a percent sign is %%: %d of %s"},
		{"Open…", "Öffnen", "a.go:2: other blanks or … at the ends: Open…"},
		{"Close", "Close", "a.go:4: the same as in English: Close"},
		{"Close", " ", "a.go:4: empty: Close"},
		{"Gone", "Weg", ": said nowhere: Gone"},
	} {
		translated := maps.Clone(good)
		translated[bad.key] = bad.words
		if faults := faultsOf("de", places, translated); len(faults) != 1 || faults[0] != bad.fault {
			t.Errorf("%q as %q: %q, want %q", bad.key, bad.words, faults, bad.fault)
		}
	}
	translated := maps.Clone(good)
	delete(translated, "Delete")
	if faults := faultsOf("de", places, translated); len(faults) != 1 || faults[0] != "a.go:6: not translated: Delete" {
		t.Errorf("one is missing: %q", faults)
	}
	if faults := faultsOf("en", map[string]string{"Close": "a.go:1"}, map[string]string{"Close": "Shut"}); len(faults) != 1 {
		t.Errorf("English is not itself: %q", faults)
	}
}

// TestTextsOfASource: what is found in a file, and what cannot be translated.
func TestTextsOfASource(t *testing.T) {
	folder := t.TempDir()
	write := func(name, body string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(body), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("a.go", `package a

import words "coffer/app/window/text"

var early = words.T("early")
var late = func() string { return words.T("late") }

func f(n int, s string) {
	words.T("plain" + " text")
	words.T("%s in " + "%s", words.T("inner %d", n), s)
	words.N(1, "1 file", "%d files")
	words.T(s)
	words.T("%d of %d", n)
	words.N(2, "%d file", "files")
	words.T("100 % sure")
	take(words.T)
}
`)
	write("b.go", "package a\n\nfunc T(s string) {}\n\nfunc g() { T(\"none of ours\") }\n")
	write("a_test.go", "package a\n\nimport \"coffer/app/window/text\"\n\nfunc h() { text.T(\"in a test\") }\n")
	texts, faults, err := source.Texts(folder)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	for _, text := range texts {
		keys = append(keys, text.Key)
	}
	want := []string{"%d file", "%d files", "%d of %d", "%s in %s", "1 file", "100 % sure", "early", "files", "inner %d", "late", "plain text"}
	if !slices.Equal(keys, want) {
		t.Errorf("texts %q, want %q", keys, want)
	}
	var got []string
	for _, fault := range faults {
		got = append(got, strings.TrimPrefix(fault, folder+string(filepath.Separator)))
	}
	wantFaults := []string{
		"a.go:5: the text is made before a language is chosen",
		"a.go:12: the text is no literal",
		`a.go:13: "%d of %d" has verbs for 2 values and gets 1`,
		`a.go:14: "%d file" has verbs for 1 values and gets 0`,
		`a.go:14: "files" has verbs for 0 values and gets 1`,
		`a.go:15: "100 % sure": a % is no verb; a percent sign is %%`,
		"a.go:16: text.T is not called",
	}
	if !slices.Equal(got, wantFaults) {
		t.Errorf("faults\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(wantFaults, "\n"))
	}
}
