package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"coffer/app/session"
)

// output writes results: text for people or, with --json, one document. Results go to stdout; nothing else does.
type output struct {
	to        io.Writer
	json      bool
	quiet     bool
	documents int   // JSON documents written so far; at most one
	err       error // the first write that failed: a result that did not arrive is no success
}

// Write passes bytes of a result on and remembers the first failure; after that nothing more is written.
func (o *output) Write(p []byte) (int, error) {
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.to.Write(p)
	if err != nil {
		o.err = &session.Error{What: "write the result", Err: err, Hint: "standard output did not take all of it"}
	}
	return n, o.err
}

// say prints a line of result for people. Names in it must have gone through escape. Nothing with --json.
func (o *output) say(format string, values ...any) {
	if !o.json {
		fmt.Fprintf(o, format+"\n", values...)
	}
}

// chat prints a line that --quiet suppresses.
func (o *output) chat(format string, values ...any) {
	if !o.quiet {
		o.say(format, values...)
	}
}

// document writes the one JSON document of the command, with --json only.
func (o *output) document(value any) error {
	if !o.json {
		return nil
	}
	o.documents++
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	err := encoder.Encode(value)
	if err == nil {
		_, err = o.Write(escapeJSON(text.Bytes()))
	}
	return err
}

// escapeJSON writes characters that must not reach a terminal as JSON's own \u escapes. Package json does that below
// U+0020 only; what it leaves can only stand inside strings.
func escapeJSON(text []byte) []byte {
	if !bytes.ContainsFunc(text, func(r rune) bool { return r > 0x7e && unsafeRune(r) }) {
		return text
	}
	out := make([]byte, 0, len(text)+16)
	for _, r := range string(text) {
		switch {
		case r <= 0x7e || !unsafeRune(r):
			out = utf8.AppendRune(out, r)
		case r <= 0xffff:
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		}
	}
	return out
}

// escape makes a name safe to print: control characters, bytes that are no UTF-8 and characters that turn the writing
// direction become \x1b or \u202e, so that a hostile name can neither drive a terminal nor disguise itself.
func escape(text string) string {
	if !strings.ContainsFunc(text, unsafeRune) && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1, r < 0x80 && unsafeRune(r):
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case unsafeRune(r) && r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		case unsafeRune(r):
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			b.WriteString(text[i : i+size])
		}
		i += size
	}
	return b.String()
}

// unsafeRune says whether r must not reach a terminal. Formatting characters (Cf) include the direction marks; line and
// paragraph separators break lines in some terminals.
func unsafeRune(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' || r == '\u2029'
}

// count is a number of things in words: "1 file", "3 files".
func count(n int64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
