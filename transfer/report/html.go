package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"

	"coffer/transfer/report/picture"
)

//go:embed report.html.tmpl
var pageTemplate string

//go:embed report.css
var pageStyle string

// The page as the template sees it: everything is formatted, nothing but the drawings is markup.
type (
	htmlPage struct {
		Title, Subtitle string
		Style           template.CSS
		Remarks         []string
		Sections        []htmlSection
		Method          []Method
	}
	htmlSection struct {
		Title  string
		Charts []htmlChart
		Table  *htmlTable
		Facts  []Method
	}
	// htmlChart is one drawing twice: style shows the one that fits the screen.
	htmlChart struct{ Wide, Narrow template.HTML }
	htmlTable struct {
		RowTitle string
		Groups   []htmlGroup // empty: the head has one line
		Columns  []htmlColumn
		Rows     []htmlRow
		Notes    []string
	}
	htmlColumn struct {
		Name, Unit string
		Numeric    bool
	}
	htmlGroup struct {
		Name string
		Span int
	}
	htmlRow struct {
		Label, Source string
		Reference     bool
		Cells         []htmlCell
	}
	htmlCell struct {
		Main    string
		More    []string // small lines below
		Numeric bool
	}
)

// html writes the document as one file without scripts or references to anything outside it.
func (d *document) html(w io.Writer) error {
	page := htmlPage{Title: d.title, Subtitle: d.subtitle, Remarks: d.remarks, Method: d.method}
	day, night := picture.Variables(false), picture.Variables(true)
	page.Style = template.CSS(fmt.Sprintf(":root{%s}\n@media (prefers-color-scheme:dark){:root{%s}}\n@media print{:root{%s}}\n%s", day, night, day, pageStyle))
	for _, s := range d.sections {
		out := htmlSection{Title: s.title, Facts: s.facts}
		for _, c := range s.charts {
			wide, err := picture.Inline(c, picture.Wide)
			if err != nil {
				return err
			}
			narrow, err := picture.Inline(c, picture.Narrow)
			if err != nil {
				return err
			}
			out.Charts = append(out.Charts, htmlChart{template.HTML(wide), template.HTML(narrow)})
		}
		if s.table != nil {
			out.Table = s.table.html()
		}
		page.Sections = append(page.Sections, out)
	}
	t, err := template.New("report").Parse(pageTemplate)
	if err != nil {
		return fmt.Errorf("template: %w", err)
	}
	return t.Execute(w, page)
}

func (t *Table) html() *htmlTable {
	out := &htmlTable{RowTitle: Escape(t.RowTitle)}
	grouped := false
	for i, c := range t.Columns {
		if n := len(out.Groups); n > 0 && t.Columns[i-1].Group == c.Group && c.Group != "" {
			out.Groups[n-1].Span++
		} else {
			out.Groups = append(out.Groups, htmlGroup{Escape(c.Group), 1})
		}
		grouped = grouped || c.Group != ""
		out.Columns = append(out.Columns, htmlColumn{Escape(c.Name), Escape(c.Unit), t.numeric(i)})
	}
	if !grouped {
		out.Groups = nil
	}
	for _, row := range t.Rows {
		r := htmlRow{Label: Escape(row.Label), Source: Escape(row.Source), Reference: row.Reference}
		for i, c := range row.Cells {
			r.Cells = append(r.Cells, c.html(t.numeric(i)))
		}
		out.Rows = append(out.Rows, r)
	}
	if t.Note != "" {
		out.Notes = append(out.Notes, Escape(t.Note))
	}
	if t.hasDisturbed() {
		out.Notes = append(out.Notes, disturbedNote)
	}
	return out
}

func (c Cell) html(numeric bool) htmlCell {
	if c.Figure == nil {
		return htmlCell{Main: Escape(c.Text), Numeric: numeric}
	}
	out := htmlCell{Main: figureText(c.Figure), Numeric: numeric}
	if c.Figure.Disturbed {
		out.Main += " †"
	}
	cpu := ""
	if c.Figure.CPUSeconds > 0 {
		cpu = "CPU " + picture.Figure(c.Figure.CPUSeconds) + " s"
	}
	for _, s := range []string{rangeText(c.Figure), ratioText(c.Figure), cpu} {
		if s != "" {
			out.More = append(out.More, s)
		}
	}
	return out
}

// page is the document as one sheet: title, pictures, how it was measured.
func (d *document) page() *picture.Page {
	p := &picture.Page{Title: d.title, Subtitle: d.subtitle, Lead: d.remarks, Charts: d.charts()}
	for _, m := range d.method {
		p.Notes = append(p.Notes, m.Name+": "+m.Text)
	}
	return p
}
