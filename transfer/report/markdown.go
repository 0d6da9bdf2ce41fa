package report

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"coffer/transfer/report/picture"
)

// cell makes text safe inside a Markdown table.
func cell(s string) string {
	s = Escape(s)
	return strings.NewReplacer(`\`, `\\`, "|", `\|`, "<", "&lt;", "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`).Replace(s)
}

// figureText prints a figure: as measured with three significant digits, as published with the digits it has.
func figureText(f *Figure) string {
	if f.Rounds == 0 {
		return picture.Exact(f.Median)
	}
	return picture.Figure(f.Median)
}

// rangeText is the middle half of the rounds; "" when there is only one.
func rangeText(f *Figure) string {
	if f.Rounds < 2 {
		return ""
	}
	return picture.Figure(f.Q1) + "–" + picture.Figure(f.Q3)
}

// ratioText is the ratio to the baseline; "" when there is none.
func ratioText(f *Figure) string {
	if f.Ratio == 0 {
		return ""
	}
	return "×" + picture.Ratio(f.Ratio)
}

// markdownCell is one cell: "28.6 (27.9–29.3; ×0.64) †".
func markdownCell(c Cell) string {
	if c.Figure == nil {
		return cell(c.Text)
	}
	text, inside := figureText(c.Figure), []string{}
	for _, s := range []string{rangeText(c.Figure), ratioText(c.Figure)} {
		if s != "" {
			inside = append(inside, s)
		}
	}
	if c.Figure.CPUSeconds > 0 {
		inside = append(inside, "CPU "+picture.Figure(c.Figure.CPUSeconds)+" s")
	}
	if len(inside) > 0 {
		text += " (" + strings.Join(inside, "; ") + ")"
	}
	if c.Figure.Disturbed {
		text += " †"
	}
	return text
}

// heading is the head of a column with its unit.
func (c Column) heading() string {
	head := c.Name
	if c.Group != "" {
		head = c.Group + ": " + head
	}
	if c.Unit != "" {
		head += ", " + c.Unit
	}
	return head
}

// hasDisturbed says whether a table needs the note on disturbed figures.
func (t *Table) hasDisturbed() bool {
	for _, row := range t.Rows {
		for _, c := range row.Cells {
			if c.Figure != nil && c.Figure.Disturbed {
				return true
			}
		}
	}
	return false
}

// numeric says whether a column holds figures: it is then aligned right.
func (t *Table) numeric(column int) bool {
	for _, row := range t.Rows {
		if column < len(row.Cells) && row.Cells[column].Figure != nil {
			return true
		}
	}
	return false
}

// sources are the sources of a table's references, each once, in order; references point at them by number.
func (t *Table) sources() []string {
	var found []string
	for _, row := range t.Rows {
		if row.Source != "" && !slices.Contains(found, row.Source) {
			found = append(found, row.Source)
		}
	}
	return found
}

func (t *Table) sourceNumber(row Row) int { return 1 + slices.Index(t.sources(), row.Source) }

// published is what stands behind the label of a reference: "published [1]". "" for others.
func (t *Table) published(row Row) string {
	switch {
	case row.Source != "":
		return fmt.Sprintf("published [%d]", t.sourceNumber(row))
	case row.Reference:
		return "published"
	}
	return ""
}

// notes stand below a table.
func (t *Table) notes() []string {
	var notes []string
	if t.Note != "" {
		notes = append(notes, t.Note)
	}
	for i, s := range t.sources() {
		notes = append(notes, fmt.Sprintf("[%d] published: %s", i+1, s))
	}
	if t.hasDisturbed() {
		notes = append(notes, disturbedNote)
	}
	return notes
}

func (t *Table) markdown(b *bufio.Writer) {
	fmt.Fprintf(b, "| %s |", cell(t.RowTitle))
	for _, c := range t.Columns {
		fmt.Fprintf(b, " %s |", cell(c.heading()))
	}
	fmt.Fprint(b, "\n|---|")
	for i := range t.Columns {
		if t.numeric(i) {
			fmt.Fprint(b, "---:|")
		} else {
			fmt.Fprint(b, "---|")
		}
	}
	fmt.Fprintln(b)
	for _, row := range t.Rows {
		label := cell(row.Label)
		if published := t.published(row); published != "" {
			label = "*" + label + "*, " + cell(published)
		}
		fmt.Fprintf(b, "| %s |", label)
		for _, c := range row.Cells {
			fmt.Fprintf(b, " %s |", markdownCell(c))
		}
		fmt.Fprintln(b)
	}
	for _, note := range t.notes() {
		fmt.Fprintf(b, "\n%s\n", cell(note))
	}
}

// markdown writes the document without its pictures: what they show stands in tables too, except the series.
func (d *document) markdown(w io.Writer) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "# %s\n\n%s\n", cell(d.title), cell(d.subtitle))
	for _, r := range d.remarks {
		fmt.Fprintf(b, "\n> %s\n", cell(r))
	}
	for _, s := range d.sections {
		if s.table == nil && len(s.facts) == 0 && len(seriesOf(s)) == 0 {
			continue
		}
		fmt.Fprintf(b, "\n## %s\n\n", cell(s.title))
		if s.table != nil {
			s.table.markdown(b)
		}
		writeFacts(b, s.facts)
		writeFacts(b, seriesOf(s))
	}
	if len(d.method) > 0 {
		fmt.Fprint(b, "\n## Method\n\n")
		writeFacts(b, d.method)
	}
	return b.Flush()
}

// seriesOf writes the series of rates, which are no table, as text.
func seriesOf(s section) []Method {
	var out []Method
	charts := s.charts
	if len(charts) == 1 {
		if grid, ok := charts[0].(*picture.Grid); ok {
			charts = grid.Charts
		}
	}
	for _, c := range charts {
		rates, ok := c.(*picture.Rates)
		if !ok || len(rates.Series) == 0 {
			continue
		}
		parts := make([]string, len(rates.Series))
		for i, v := range rates.Series {
			parts[i] = picture.Figure(v)
		}
		out = append(out, Method{rates.Title, "MB/s, window " + number(rates.WindowSeconds) + " s: " + strings.Join(parts, " ")})
	}
	return out
}

func writeFacts(b *bufio.Writer, facts []Method) {
	for _, f := range facts {
		fmt.Fprintf(b, "- **%s**: %s\n", cell(f.Name), cell(f.Text))
	}
}
