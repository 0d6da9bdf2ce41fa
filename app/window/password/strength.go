package password

import (
	"math"
	"unicode/utf8"

	"github.com/trustelem/zxcvbn"
	"github.com/trustelem/zxcvbn/match"

	"coffer/app/window/text"
)

// maxRatedRunes bounds what is estimated: the estimator's time grows with the square of the length.
const maxRatedRunes = 72

// Levels of strength.
const (
	VeryWeak = iota + 1
	Weak
	Fair
	Strong
)

// Strength is how strong a password is.
type Strength struct {
	Log10  float64 // of the guesses that somebody who knows people's habits needs
	Level  int     // one of the levels; 0: nothing was typed
	Words  string
	Advice string // "" when there is nothing to do better
}

// Estimate says how strong a password is, in some 10 ms: not on Fyne's goroutine. An attacker with a copy of the container
// and a rack of graphics cards tries some ten thousand passwords a second against the usual cost of a guess: 10^8 guesses
// last hours, 10^12 years.
func Estimate(typed string) Strength {
	if typed == "" {
		return Strength{}
	}
	if !utf8.ValidString(typed) { // from a generator, not from a dictionary
		return rated(float64(len(typed))*2, nil)
	}
	runes := 0
	for at := range typed {
		if runes++; runes > maxRatedRunes {
			typed = typed[:at]
			break
		}
	}
	found := zxcvbn.PasswordStrength(typed, nil)
	return rated(math.Log10(max(1, found.Guesses)), found.Sequence)
}

func rated(log10 float64, sequence []*match.Match) Strength {
	s := Strength{Log10: log10}
	switch {
	case log10 < 6:
		s.Level, s.Words = VeryWeak, text.T("Very weak: guessed within seconds.")
	case log10 < 9:
		s.Level, s.Words = Weak, text.T("Weak: guessed within a day by somebody who wants to.")
	case log10 < 12:
		s.Level, s.Words = Fair, text.T("Fair: holds off most people.")
	default:
		s.Level, s.Words = Strong, text.T("Strong.")
		return s
	}
	s.Advice = advice(sequence)
	return s
}

// advice is about the longest piece that is easy to guess.
func advice(sequence []*match.Match) string {
	var worst *match.Match
	for _, m := range sequence {
		if m.Pattern != "bruteforce" && (worst == nil || m.J-m.I > worst.J-worst.I) {
			worst = m
		}
	}
	more := text.T("Add a word or two that have nothing to do with each other.")
	switch {
	case worst == nil:
		return more
	case worst.Pattern == "dictionary" && worst.DictionaryName == "passwords" && len(sequence) == 1:
		return text.T("It is among the passwords that everybody tries first.") + " " + more
	case worst.Pattern == "dictionary" && (worst.DictionaryName == "male_names" || worst.DictionaryName == "female_names" || worst.DictionaryName == "surnames"):
		return text.T("Names are tried early.") + " " + more
	case worst.Pattern == "dictionary" && (worst.L33t || worst.Reversed):
		return text.T("Swapped letters like @ for a fool nobody.") + " " + more
	case worst.Pattern == "dictionary":
		return more
	case worst.Pattern == "spatial":
		return text.T("Keys in a row on the keyboard are easy to guess.") + " " + more
	case worst.Pattern == "repeat":
		return text.T("Repeating adds almost nothing.") + " " + more
	case worst.Pattern == "sequence":
		return text.T("Sequences like abc or 123 are easy to guess.") + " " + more
	case worst.Pattern == "date" || worst.Pattern == "regex":
		return text.T("Dates and years are tried early.") + " " + more
	}
	return more
}
