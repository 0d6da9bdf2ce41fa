package uitest

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"coffer/app/window/text"
	"coffer/assets"
)

// speak chooses the language $COFFER_PICTURES_LANGUAGE, if that is set, so that pictures show the dialogs in it. The tests go
// on looking for English words: what is shown is translated back for them.
func speak(t *testing.T) {
	if language := os.Getenv("COFFER_PICTURES_LANGUAGE"); language != "" {
		text.Use(language)
		t.Cleanup(func() { text.Use() })
	}
}

// shape is a translated text with values, and the English one.
type shape struct {
	translated *regexp.Regexp
	english    string
	order      []int // which value each verb of the English text prints, as a group of the expression
}

var verb = regexp.MustCompile(`%(\[(\d)\])?[.\d]*[a-z]`)

// values are the numbers of the values that the verbs of a text print.
func values(words string) (all []int) {
	for i, found := range verb.FindAllStringSubmatch(words, -1) {
		n := i + 1
		if found[2] != "" {
			n, _ = strconv.Atoi(found[2])
		}
		all = append(all, n)
	}
	return all
}

// back reads the translations of the language chosen: those of whole texts, and those with values, the longest first.
var back = sync.OnceValues(func() (whole map[string][]string, shapes []shape) {
	raw, err := assets.Translations.ReadFile("translations/" + text.Language() + ".json")
	all := map[string]string{}
	if err != nil || json.Unmarshal(raw, &all) != nil {
		panic("uitest: no translations into " + text.Language())
	}
	whole = map[string][]string{}
	for english, translated := range all {
		if !verb.MatchString(translated) {
			whole[translated] = append(whole[translated], english)
			continue
		}
		expression := "(?s)^" + verb.ReplaceAllString(regexp.QuoteMeta(verb.ReplaceAllString(translated, "%d")), "(.*?)") + "$"
		one := shape{regexp.MustCompile(expression), english, nil}
		for _, n := range values(english) {
			one.order = append(one.order, slices.Index(values(translated), n)+1)
		}
		shapes = append(shapes, one)
	}
	slices.SortFunc(shapes, func(a, b shape) int { return len(b.translated.String()) - len(a.translated.String()) })
	return whole, shapes
})

// same tells whether a text that is shown says words, which are English.
func same(shown, words string) bool {
	if shown == words {
		return true
	}
	if text.Language() == "en" {
		return false
	}
	whole, _ := back()
	return slices.Contains(whole[shown], words) || english(shown) == words
}

// english is what a text that is shown would be in English.
func english(shown string) string {
	if text.Language() == "en" || shown == "" {
		return shown
	}
	whole, shapes := back()
	if known, ok := whole[shown]; ok {
		return known[0]
	}
	for _, between := range []string{"\n", " · "} {
		if strings.Contains(shown, between) {
			parts := strings.Split(shown, between)
			for i := range parts {
				parts[i] = english(parts[i])
			}
			return strings.Join(parts, between)
		}
	}
	for _, one := range shapes {
		if found := one.translated.FindStringSubmatch(shown); found != nil && len(one.english) > len("%s and %s") {
			n := -1
			return verb.ReplaceAllStringFunc(one.english, func(string) string {
				n++
				return english(found[one.order[n]])
			})
		}
	}
	return shown
}
