// Package text is what the window says, in the language of the person. The English text is the key of its translations, which
// lie in assets/translations, one file a language. Every text is a literal in a call of T, so that a test can find it.
package text

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/text/language"
	"golang.org/x/text/message"
	"golang.org/x/text/message/catalog"

	"coffer/assets"
)

// translations is the folder of the files.
var translations fs.FS = assets.Translations

var _ embed.FS // assets.Translations is one

// speaker is a language that was chosen, and what prints in it.
type speaker struct {
	language language.Tag
	*message.Printer
}

// chosen is who speaks.
var chosen atomic.Pointer[speaker]

// known are the languages there are, English first.
var known, languages = load()

// load builds the catalog. A damaged file is a fault of the build: the tests read all of them.
func load() (*catalog.Builder, []language.Tag) {
	c := catalog.NewBuilder(catalog.Fallback(language.English))
	tags := []language.Tag{language.English}
	files, _ := fs.Glob(translations, "translations/*.json")
	for _, file := range files {
		tag, err := language.Parse(strings.TrimSuffix(path.Base(file), ".json"))
		if err != nil || tag == language.English {
			continue
		}
		raw, err := fs.ReadFile(translations, file)
		texts := map[string]string{}
		if err != nil || json.Unmarshal(raw, &texts) != nil {
			continue
		}
		for key, translated := range texts {
			_ = c.SetString(tag, key, translated)
		}
		tags = append(tags, tag)
	}
	return c, tags
}

// Languages are the languages there are, English first.
func Languages() []language.Tag { return slices.Clone(languages) }

// Use chooses the language that suits best what the person prefers, in order; English when nothing does.
func Use(preferred ...string) {
	tag, _ := language.MatchStrings(language.NewMatcher(languages), preferred...)
	base, _ := tag.Base()
	for _, one := range languages {
		if b, _ := one.Base(); b == base {
			tag = one
		}
	}
	chosen.Store(&speaker{tag, message.NewPrinter(tag, message.Catalog(known))})
}

// Language is the tag of the language chosen, as "de".
func Language() string { return current().language.String() }

// current speaks English before anything was chosen.
func current() *speaker {
	if chosen.Load() == nil {
		Use()
	}
	return chosen.Load()
}

// T is a text in the language of the person. format is the English text, a literal, with verbs as in package fmt;
// translations may use %[2]s and the like. Numbers are grouped as the language does.
func T(format string, values ...any) string { return printed(format, values...) }

// printed is T for this package itself, whose numbers need no translation.
func printed(format string, values ...any) string { return current().Sprintf(format, values...) }

// N is T for a number of things: one if n is 1, else many, which has the verb for n (%d). For languages with these two forms.
func N(n int64, one, many string) string {
	if n == 1 {
		return printed(one)
	}
	return printed(many, n)
}

// Size is an amount of bytes, as on the labels of disks: 10^3 to a step ("1.5 GB").
func Size(bytes int64) string {
	value, units := float64(bytes), []string{"B", "kB", "MB", "GB", "TB", "PB"}
	for value >= 999.5 && len(units) > 1 {
		value, units = value/1000, units[1:]
	}
	switch {
	case units[0] == "B":
		return printed("%d B", bytes)
	case value < 9.95:
		return printed("%.1f", value) + " " + units[0]
	}
	return printed("%.0f", value) + " " + units[0]
}

// Rate is a rate, always in MB/s (10^6 bytes a second).
func Rate(bytesPerSecond float64) string {
	if bytesPerSecond < 500 {
		return printed("%.0f", 0.0) + " MB/s"
	}
	if bytesPerSecond < 0.0995e6 { // a rate that is there must not read as none
		return printed("%.3f", bytesPerSecond/1e6) + " MB/s"
	}
	if bytesPerSecond >= 99.95e6 {
		return printed("%.0f", bytesPerSecond/1e6) + " MB/s"
	}
	return printed("%.1f", bytesPerSecond/1e6) + " MB/s"
}

// Span is a length of time in words: "12 s", "3 min 20 s", "2 h 5 min".
func Span(d time.Duration) string {
	d = d.Round(time.Second)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
}
