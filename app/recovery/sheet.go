package recovery

import (
	"bytes"
	"fmt"
	"html"
	"os"
)

// Sheet is a page to print with a recovery key on it. Its words come from the caller, in the language of the person.
type Sheet struct {
	Language  string // "en"
	Title     string // "Recovery key"
	Facts     [][2]string
	Key       []byte // normalised
	Sentences []string
}

// HTML is the page. It needs nothing but itself: no script, no font, no picture, and it forbids the browser to fetch any. The
// caller wipes it.
func (s *Sheet) HTML() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<!DOCTYPE html>
<html lang="%s">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="referrer" content="no-referrer">
<meta name="robots" content="noindex">
<title>%s</title>
<style>
@page { margin: 20mm }
body { font: 12pt/1.5 sans-serif; color: #111; background: #fff; max-width: 42em; margin: 2em auto; padding: 0 1em }
h1 { font-size: 20pt; margin: 0 0 0.6em }
table { border-collapse: collapse; margin-bottom: 1.5em }
td { padding: 0.15em 1.5em 0.15em 0; vertical-align: top; overflow-wrap: anywhere }
td:first-child { color: #555; white-space: nowrap }
ol { list-style: none; display: flex; flex-wrap: wrap; gap: 0.6em 1.4em; border: 1.5pt solid #111; border-radius: 6pt; padding: 1em 1.4em; margin: 0 0 1.5em; break-inside: avoid }
li { white-space: nowrap }
li small { color: #555; margin-right: 0.5em }
li code { font: bold 17pt monospace; letter-spacing: 0.12em }
</style>
</head>
<body>
<h1>%s</h1>
<table>
`, html.EscapeString(s.Language), html.EscapeString(s.Title), html.EscapeString(s.Title))
	for _, fact := range s.Facts {
		fmt.Fprintf(&b, "<tr><td>%s</td><td>%s</td></tr>\n", html.EscapeString(fact[0]), html.EscapeString(fact[1]))
	}
	b.WriteString("</table>\n<ol>\n")
	for group := range Groups {
		fmt.Fprintf(&b, "<li><small>%d</small><code>", group+1)
		b.Write(Group(s.Key, group+1))
		b.WriteString("</code></li>\n")
	}
	b.WriteString("</ol>\n")
	for _, sentence := range s.Sentences {
		fmt.Fprintf(&b, "<p>%s</p>\n", html.EscapeString(sentence))
	}
	b.WriteString("</body>\n</html>\n")
	return b.Bytes()
}

// Write writes the page to a new file that only its owner can read. It never replaces a file, and leaves none if it fails.
func (s *Sheet) Write(path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	page := s.HTML()
	defer clear(page)
	_, err = file.Write(page)
	if syncErr := file.Sync(); err == nil {
		err = syncErr
	}
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		_ = os.Remove(path) // ours: it was not there before
	}
	return err
}
