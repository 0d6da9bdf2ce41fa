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

const privateDiskSource = "Private Disk, 2000s: an AES-encrypted image with FAT32 on Windows, [a] one ISO file of 658 MB, [b] a photo archive of 2140 files in subfolders, 667 MB; windows, caches and sync not told"

// PrivateDisk is one workload, "a" or "b", of the test of Private Disk, which lab copy repeats.
func PrivateDisk(workload string) (Reference, bool) {
	rate := func(name string) report.Column { return report.Column{Name: name, Unit: "MB/s", HigherIsBetter: true} }
	r := Reference{Name: "Private Disk", Source: privateDiskSource,
		Columns: []report.Column{{Name: "time", Unit: "s"}, rate("average"), rate("maximum"), rate("minimum")}}
	switch workload {
	case "a":
		r.Rows = []ReferenceRow{
			{plainCopy, []float64{95, 6.92, 14, 3.8}},
			{"plain → AES", []float64{101, 6.51, 10, 2.9}},
			{"AES → plain", []float64{158, 4.16, 7.5, 1}},
		}
	case "b":
		r.Rows = []ReferenceRow{
			{plainCopy, []float64{99, 6.73, 25, 2.4}},
			{"plain → AES", []float64{124, 5.37, 14, 2.5}},
			{"AES → plain", []float64{115, 5.8, 20, 3.9}},
		}
	default:
		return r, false
	}
	return r, true
}

// privateDiskRatio is the average rate of a row of PrivateDisk, divided by that of its plain copy; 0: not published.
func privateDiskRatio(workload, row string) float64 {
	reference, ok := PrivateDisk(workload)
	if !ok {
		return 0
	}
	found, ok := reference.Row(row)
	if !ok {
		return 0
	}
	return found.Values[1] / reference.Rows[0].Values[1]
}

// LUKS2007 is what LUKS cost on Linux in 2007, by dd and bonnie++.
func LUKS2007() (dd, bonnie Reference) {
	const source = "LUKS on Linux, published 2007: "
	dd = Reference{Name: "LUKS 2007", Source: source + "dd, 1000 MiB without and 4000 MiB with the disk's write cache",
		Columns: []report.Column{{Name: "no write cache", Unit: "MB/s", HigherIsBetter: true}, {Name: "write cache", Unit: "MB/s", HigherIsBetter: true}},
		Rows:    []ReferenceRow{{"plain", []float64{45.4, 51.8}}, {"encrypted", []float64{33.7, 27.7}}}}
	bonnie = Reference{Name: "LUKS 2007", Source: source + "bonnie++ with 4 GiB, 16 x 1024 files", Columns: DMCrypt().Columns,
		Rows: []ReferenceRow{{"plain", []float64{84213, 37749, 119217, 436.6}}, {"encrypted", []float64{79380, 28544, 74157, 464.5}}}}
	return dd, bonnie
}

// CFS2006 is what Matt Blaze's CFS cost in 2006: seconds for 32 MB by dd, three runs each. With files of 64 KB there was
// no difference within noise.
func CFS2006() Reference {
	run := func(name string) report.Column { return report.Column{Name: name, Unit: "s"} }
	return Reference{Name: "CFS 2006", Source: "CFS on Unix, 2006: 32 MB by dd, three runs; with files of 64 KB no difference within noise",
		Columns: []report.Column{run("run 1"), run("run 2"), run("run 3")},
		Rows: []ReferenceRow{
			{"home file system", []float64{2.12, 2.08, 2.05}},
			{"encrypted directory", []float64{10.33, 10.75, 9.69}},
			{"memory file system", []float64{1.84, 1.89, 1.85}},
		}}
}
