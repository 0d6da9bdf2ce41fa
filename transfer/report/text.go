package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// PrintExperiment writes an experiment for a terminal: remarks, tables in aligned columns, one line a transfer, method.
func PrintExperiment(w io.Writer, e *Experiment) error {
	if err := e.Check(); err != nil {
		return fmt.Errorf("print: %w", err)
	}
	d := experimentDocument(e)
	var lines []string
	for _, r := range e.Transfers {
		lines = append(lines, r.Line())
	}
	return d.text(w, lines)
}

// PrintComparison writes a comparison for a terminal.
func PrintComparison(w io.Writer, c *Comparison) error { return comparisonDocument(c).text(w, nil) }

// text writes the document without pictures and details.
func (d *document) text(w io.Writer, lines []string) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%s\n%s\n", Escape(d.title), Escape(d.subtitle))
	for _, s := range d.sections {
		if s.table == nil {
			continue
		}
		fmt.Fprintf(b, "\n%s\n", Escape(s.title))
		s.table.text(b)
	}
	if len(lines) > 0 {
		fmt.Fprintf(b, "\nMedian rounds\n  %s\n", strings.Join(lines, "\n  "))
	}
	if len(d.remarks) > 0 {
		fmt.Fprintln(b)
	}
	for _, r := range d.remarks {
		fmt.Fprintf(b, "! %s\n", Escape(r))
	}
	fmt.Fprintln(b, "\nMethod")
	for _, m := range d.method {
		fmt.Fprintf(b, "  %s: %s\n", Escape(m.Name), Escape(m.Text))
	}
	return b.Flush()
}

// text writes a table in columns as wide as their widest cell, figures to the right.
func (t *Table) text(b *bufio.Writer) {
	rows := [][]string{{Escape(t.RowTitle)}}
	for _, c := range t.Columns {
		rows[0] = append(rows[0], Escape(Column{Name: c.Name, Unit: c.Unit}.heading()))
	}
	for _, r := range t.Rows {
		label := Escape(r.Label)
		if r.Source != "" { // sources stand below: beside every row they would make the table too wide
			label = fmt.Sprintf("%s [%d]", label, t.sourceNumber(r))
		}
		row := []string{label}
		for _, c := range r.Cells {
			row = append(row, c.text())
		}
		rows = append(rows, row)
	}
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, s := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(s))
		}
	}
	if groups := t.groupLine(widths); groups != "" {
		fmt.Fprintln(b, groups)
	}
	for _, row := range rows {
		var line strings.Builder
		for i, s := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(s))
			if i > 0 && t.numeric(i-1) {
				s = pad + s
			} else {
				s += pad
			}
			line.WriteString("  " + s)
		}
		fmt.Fprintln(b, strings.TrimRight(line.String(), " "))
	}
	for _, note := range t.notes() {
		fmt.Fprintf(b, "  %s\n", Escape(note))
	}
}

// groupLine is the line of groups above the heads, "" when there are none; a group wider than its columns widens the
// last of them.
func (t *Table) groupLine(widths []int) string {
	line, any := strings.Repeat(" ", widths[0]+2), false
	for i := 0; i < len(t.Columns); {
		group := t.Columns[i].Group
		room := -2
		for ; i < len(t.Columns) && t.Columns[i].Group == group; i++ {
			room += widths[i+1] + 2
		}
		name := Escape(group)
		if more := utf8.RuneCountInString(name) - room; more > 0 {
			widths[i] += more
			room += more
		}
		any = any || group != ""
		fill := " "
		if group != "" {
			fill = "-"
			name += strings.Repeat(" ", min(1, room-utf8.RuneCountInString(name)))
		}
		line += "  " + name + strings.Repeat(fill, room-utf8.RuneCountInString(name))
	}
	if !any {
		return ""
	}
	return strings.TrimRight(line, " ")
}

// text is one cell: "28.6 ×0.64 †".
func (c Cell) text() string {
	if c.Figure == nil {
		return Escape(c.Text)
	}
	s := figureText(c.Figure)
	if ratio := ratioText(c.Figure); ratio != "" {
		s += " " + ratio
	}
	if c.Figure.Disturbed {
		s += " †"
	}
	return strings.ReplaceAll(s, "\u00a0", " ")
}
