package lab

import "coffer/transfer/report"

// Reference is a table of figures that others published, shown beside what was measured here.
type Reference struct {
	Name    string // short, for the name of a row or a series: "GELI 2008"
	Source  string // who published it, what was measured, how, as far as it is known
	Columns []report.Column
	Rows    []ReferenceRow // the first is the baseline: the same without encryption
}

// ReferenceRow is one row of a Reference.
type ReferenceRow struct {
	Label  string
	Values []float64 // one for each column, in its unit; 0: not published
}

// TableRows are the rows of a report's table: Reference is set, and each figure has its ratio to the baseline.
func (r Reference) TableRows() []report.Row {
	var rows []report.Row
	for _, row := range r.Rows {
		out := report.Row{Label: row.Label, Reference: true, Source: r.Source}
		for i, value := range row.Values {
			if value == 0 {
				out.Cells = append(out.Cells, report.Cell{})
				continue
			}
			cell := report.Published(value)
			if baseline := r.Rows[0].Values[i]; baseline != 0 {
				cell.Figure.Ratio = value / baseline
			}
			out.Cells = append(out.Cells, cell)
		}
		rows = append(rows, out)
	}
	return rows
}

// Row finds a row by its label.
func (r Reference) Row(label string) (ReferenceRow, bool) {
	for _, row := range r.Rows {
		if row.Label == label {
			return row, true
		}
	}
	return ReferenceRow{}, false
}

// GELI2008 is the comparison of the ciphers and authentications of FreeBSD's GELI. The labels are those of what is
// measured here for the same algorithm.
func GELI2008() Reference {
	return Reference{
		Name:    "GELI 2008",
		Source:  "GELI on FreeBSD, published 2008: 200 MB by dd; source of the data, sector size and key lengths of Blowfish and Camellia not told",
		Columns: []report.Column{{Name: "dd", Unit: "MB/s", HigherIsBetter: true}},
		Rows: []ReferenceRow{
			{"plain file", []float64{44.3}},
			{"AES-256-CBC", []float64{28.6}},
			{"AES-128-CBC", []float64{30.3}},
			{"Blowfish-128-CBC", []float64{22.6}},
			{"Camellia-128-CBC", []float64{25.0}},
			{"3DES-CBC", []float64{11.4}},
			{"AES-256-CBC with HMAC-SHA512", []float64{16.7}},
			{"AES-256-CBC with HMAC-SHA256", []float64{16.8}},
			{"AES-256-CBC with HMAC-SHA1", []float64{17.3}},
			{"AES-256-CBC with HMAC-RIPEMD160", []float64{18.6}},
			{"AES-256-CBC with HMAC-MD5", []float64{20.3}},
		},
	}
}

// DMCrypt is the comparison of dm-crypt by bonnie++.
func DMCrypt() Reference {
	rate := func(name string) report.Column { return report.Column{Name: name, Unit: "KB/s", HigherIsBetter: true} }
	return Reference{
		Name:   "dm-crypt 2000s",
		Source: "dm-crypt on Linux, 2000s: bonnie++ with 1 GiB; its author wished for a larger number of files in the create and delete part",
		Columns: []report.Column{rate("block write"), rate("rewrite"), rate("block read"),
			{Name: "seeks", Unit: "1/s", HigherIsBetter: true}},
		Rows: []ReferenceRow{
			{"none", []float64{21960, 8210, 18144, 126.0}},
			{"AES-128", []float64{22154, 9358, 22030, 135.2}},
			{"AES-256", []float64{27740, 12110, 28246, 141.8}},
		},
	}
}
