package report

import (
	"bufio"
	_ "embed"
	"fmt"
	"html"
	"io"

	"coffer/transfer/report/picture"
)

//go:embed report.css
var pageStyle string

// htmlWriter writes markup with values put in. It is this package's own because html/template finds methods by name at
// run time, which makes the linker keep every method of every type: 4 MB of the program (docs/adr-0001-pictures.md).
type htmlWriter struct{ *bufio.Writer }

// markup is text that put does not escape.
type markup string

// put writes a format whose values are escaped, control characters too, unless they are markup or numbers.
func (h htmlWriter) put(format string, values ...any) {
	for i, v := range values {
		switch v := v.(type) {
		case markup, int:
		case string:
			values[i] = html.EscapeString(Escape(v))
		default:
			panic(fmt.Sprintf("report: %T in markup", v)) // a mistake of this package
		}
	}
	fmt.Fprintf(h, format, values...)
}

// html writes the document as one file without scripts or references to anything outside it.
func (d *document) html(w io.Writer) error {
	h := htmlWriter{bufio.NewWriter(w)}
	day, night := picture.Variables(false), picture.Variables(true)
	h.put(`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="color-scheme" content="light dark">
<title>%s</title>
<style>
:root{%s}
@media (prefers-color-scheme:dark){:root{%s}}
@media print{:root{%s}}
%s</style>
</head>
<body>
<main>
<h1>%s</h1>
<p class="sub">%s</p>
`, d.title, markup(day), markup(night), markup(day), markup(pageStyle), d.title, d.subtitle)
	if len(d.remarks) > 0 {
		h.put("<ul class=\"remarks\">\n")
		for _, r := range d.remarks {
			h.put("<li>%s</li>\n", r)
		}
		h.put("</ul>\n")
	}
	for _, s := range d.sections {
		if err := h.section(s); err != nil {
			return err
		}
	}
	if len(d.method) > 0 {
		h.put("<section>\n<h2>Method</h2>\n")
		h.facts(d.method)
		h.put("</section>\n")
	}
	h.put("<footer>Written by Coffer. This page needs no network and no script.</footer>\n</main>\n</body>\n</html>\n")
	return h.Flush()
}

// section writes each drawing twice: the style shows the one that fits the screen.
func (h htmlWriter) section(s section) error {
	h.put("<section>\n<h2>%s</h2>\n", s.title)
	for _, c := range s.charts {
		wide, err := picture.Inline(c, picture.Wide)
		if err != nil {
			return err
		}
		narrow, err := picture.Inline(c, picture.Narrow)
		if err != nil {
			return err
		}
		h.put("<figure>\n<div class=\"wide\">%s</div>\n<div class=\"narrow\">%s</div>\n</figure>\n", markup(wide), markup(narrow))
	}
	if s.table != nil {
		h.table(s.table)
	}
	h.facts(s.facts)
	h.put("</section>\n")
	return nil
}

func (h htmlWriter) facts(facts []Method) {
	if len(facts) == 0 {
		return
	}
	h.put("<dl>\n")
	for _, f := range facts {
		h.put("<dt>%s</dt><dd>%s</dd>\n", f.Name, f.Text)
	}
	h.put("</dl>\n")
}

func (h htmlWriter) table(t *Table) {
	class := markup("")
	if len(t.Columns) > 7 {
		class = ` class="many"`
	}
	h.put("<div class=\"scroll\" tabindex=\"0\">\n<table%s>\n<thead>", class)
	h.groups(t)
	h.put(`<tr><th scope="col">%s</th>`, t.RowTitle)
	for i, c := range t.Columns {
		h.put(`<th scope="col"%s>%s`, t.class(i), c.Name)
		h.small(c.Unit)
		h.put("</th>")
	}
	h.put("</tr></thead>\n<tbody>\n")
	for _, row := range t.Rows {
		class = ""
		if row.Reference {
			class = ` class="ref"`
		}
		h.put(`<tr%s><th scope="row">%s`, class, row.Label)
		h.small(t.published(row))
		h.put("</th>")
		for i, c := range row.Cells {
			h.put("<td%s>", t.class(i))
			h.cell(c)
			h.put("</td>")
		}
		h.put("</tr>\n")
	}
	h.put("</tbody>\n</table>\n</div>\n")
	for _, note := range t.notes() {
		h.put("<p class=\"note\">%s</p>\n", note)
	}
}

// class aligns columns of figures.
func (t *Table) class(column int) markup {
	if t.numeric(column) {
		return ` class="n"`
	}
	return ""
}

// groups writes the line above the heads of columns, if there are groups.
func (h htmlWriter) groups(t *Table) {
	grouped := false
	for _, c := range t.Columns {
		grouped = grouped || c.Group != ""
	}
	if !grouped {
		return
	}
	h.put(`<tr class="groups"><td></td>`)
	for i := 0; i < len(t.Columns); {
		group, from := t.Columns[i].Group, i
		for ; i < len(t.Columns) && t.Columns[i].Group == group; i++ {
		}
		if group == "" {
			h.put(`<td colspan="%d"></td>`, i-from)
		} else {
			h.put(`<th scope="colgroup" colspan="%d">%s</th>`, i-from, group)
		}
	}
	h.put("</tr>\n")
}

// small writes a small line below, unless it is empty.
func (h htmlWriter) small(s string) {
	if s != "" {
		h.put("<small>%s</small>", s)
	}
}

func (h htmlWriter) cell(c Cell) {
	if c.Figure == nil {
		h.put("%s", c.Text)
		return
	}
	h.put("%s", figureText(c.Figure))
	if c.Figure.Disturbed {
		h.put(" †")
	}
	h.small(rangeText(c.Figure))
	h.small(ratioText(c.Figure))
	if c.Figure.CPUSeconds > 0 {
		h.small("CPU " + picture.Figure(c.Figure.CPUSeconds) + " s")
	}
}

// page is the document as one sheet: title, pictures, how it was measured.
func (d *document) page() *picture.Page {
	p := &picture.Page{Title: Escape(d.title), Subtitle: Escape(d.subtitle), Charts: d.charts()}
	for _, r := range d.remarks {
		p.Lead = append(p.Lead, Escape(r))
	}
	for _, m := range d.method {
		p.Notes = append(p.Notes, Escape(m.Name+": "+m.Text))
	}
	return p
}
