package settings

import (
	"errors"
	"strconv"
	"strings"
	"time"

	"coffer/app/window/text"
)

// errNowhere: a user without a home.
var errNowhere = errors.New("there is no folder to save settings in: this user has no home folder")

// units of times, as a person writes and reads them, longest first. They are symbols, the same in all languages.
var units = []struct {
	symbol string
	length time.Duration
}{{"d", 24 * time.Hour}, {"h", time.Hour}, {"min", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond}}

// spanText is a time as it is shown in a field: "1 h 30 min"; none stands for 0.
func spanText(d time.Duration, none string) string {
	if d == 0 {
		return none
	}
	var words []string
	for _, u := range units {
		if n := d / u.length; n > 0 {
			words = append(words, strconv.FormatInt(int64(n), 10)+" "+u.symbol)
			d -= n * u.length
		}
	}
	if len(words) == 0 {
		return d.String()
	}
	return strings.Join(words, " ")
}

// parseSpan reads what spanText writes and what people write: "90 s", "1h30m", "5 minutes"; none, "never" and "0" are 0. A
// number alone is a failure: of what?
func parseSpan(typed, none string) (time.Duration, error) {
	rest := strings.ToLower(strings.TrimSpace(typed))
	if rest == "0" || rest == "never" || none != "" && rest == strings.ToLower(none) {
		return 0, nil
	}
	bad := errors.New(text.T("Write a time like “10 min” or “1 h 30 min”."))
	if rest == "" {
		return 0, bad
	}
	var sum time.Duration
	for rest != "" {
		digits := strings.IndexFunc(rest, func(r rune) bool { return (r < '0' || r > '9') && r != '.' && r != ',' })
		if digits <= 0 {
			return 0, bad
		}
		number, err := strconv.ParseFloat(strings.ReplaceAll(rest[:digits], ",", "."), 64)
		rest = strings.TrimSpace(rest[digits:])
		end := strings.IndexAny(rest, " 0123456789")
		if end < 0 {
			end = len(rest)
		}
		length := unitOf(rest[:end])
		if err != nil || length == 0 || number*float64(length) > float64(100*365*24*time.Hour) {
			return 0, bad
		}
		sum += time.Duration(number * float64(length)).Round(time.Millisecond)
		rest = strings.TrimSpace(rest[end:])
	}
	return sum, nil
}

// unitOf is the length of a unit by its symbol or its English name; 0 for something else.
func unitOf(word string) time.Duration {
	switch strings.TrimSuffix(word, ".") {
	case "d", "day", "days":
		return 24 * time.Hour
	case "h", "hr", "hour", "hours":
		return time.Hour
	case "m", "min", "mins", "minute", "minutes":
		return time.Minute
	case "s", "sec", "second", "seconds":
		return time.Second
	case "ms":
		return time.Millisecond
	}
	return 0
}
