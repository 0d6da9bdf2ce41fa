package lab

import (
	"fmt"
	"slices"

	"coffer/transfer/report"
)

// report fills in everything that was measured.
func (r *driveRun) report(e *report.Experiment) {
	e.Method = r.method(e.Machine)
	e.Tables = []report.Table{r.largeTable(), r.filesTable(), r.cfsTable()}
	e.Bars = []report.Chart{r.rateChart()}
	if len(r.subjects) > 1 {
		e.Bars = append([]report.Chart{r.ratioChart()}, e.Bars...)
	}
	if r.small() {
		cached := "what of it stays in the cache is read and rewritten faster than from the disk"
		if r.subjects[len(r.subjects)-1].cooler.everything {
			cached = "caches were dropped before it was read and rewritten, but seeks find in the cache what others have brought there"
		}
		e.Remarks = append(e.Remarks, fmt.Sprintf("The large file has %s, less than twice the memory (%s): %s. Choose a larger one, or limit the memory with a control group.",
			mebibytes(r.options.SizeBytes), r.memoryText(), cached))
	}
}

// small says whether the large file may stay in memory.
func (r *driveRun) small() bool {
	return r.limit.bytes == 0 || r.options.SizeBytes < 2*r.limit.bytes
}

func (r *driveRun) memoryText() string {
	switch {
	case r.limit.bytes == 0:
		return "of unknown size"
	case r.limit.cgroup:
		return mebibytes(r.limit.bytes) + ", a control group's limit"
	}
	return mebibytes(r.limit.bytes)
}

func mebibytes(n int64) string { return fmt.Sprintf("%d MiB", n>>20) }

func (r *driveRun) values(subject, test string, of func(driveSample) float64) []float64 {
	var out []float64
	for _, s := range r.samples[subject][test] {
		out = append(out, of(s))
	}
	return out
}

func resultOf(s driveSample) float64  { return s.value }
func percentOf(s driveSample) float64 { return s.percent }
func cpuOf(s driveSample) float64     { return s.cpuSeconds }

// ratios are the results of the folder, divided by those of the plain one in the same round; times the other way round.
func (r *driveRun) ratios(test string, seconds bool) []float64 {
	if len(r.subjects) < 2 {
		return nil
	}
	here, plain := r.values(folderSubject, test, resultOf), r.values(plainSubject, test, resultOf)
	var out []float64
	for i := range min(len(here), len(plain)) {
		switch {
		case here[i] <= 0 || plain[i] <= 0:
		case seconds:
			out = append(out, plain[i]/here[i])
		default:
			out = append(out, here[i]/plain[i])
		}
	}
	return out
}

// cells are result and use of the processor.
func (r *driveRun) cells(subject, test string) []report.Cell {
	result := report.Measured(r.values(subject, test, resultOf))
	result.Figure.CPUSeconds = report.MakeFigure(r.values(subject, test, cpuOf)).Median
	if subject == folderSubject {
		if ratios := r.ratios(test, false); len(ratios) > 0 {
			result.Figure.Ratio = report.MakeFigure(ratios).Median
		}
	}
	return []report.Cell{result, report.Measured(r.values(subject, test, percentOf))}
}

// columnsOf is a result with the use of the processor beside it.
func columnsOf(group, name, unit string) []report.Column {
	return []report.Column{{Group: group, Name: name, Unit: unit, HigherIsBetter: true}, {Group: group, Name: name + " CP", Unit: "%"}}
}

// title is the heading of a subject.
func (s *driveSubject) title() string {
	if s.host.FileSystem == "" {
		return s.name
	}
	return s.name + " (" + s.host.FileSystem + ")"
}

// tableOf has a row for each folder.
func (r *driveRun) tableOf(t report.Table, tests []string) report.Table {
	t.RowTitle = "folder"
	for i := range r.subjects {
		row := report.Row{Label: r.subjects[i].title()}
		for _, test := range tests {
			row.Cells = append(row.Cells, r.cells(r.subjects[i].name, test)...)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// largeTable has the columns of bonnie++ for one large file.
func (r *driveRun) largeTable() report.Table {
	title := "One large file, " + mebibytes(r.options.SizeBytes)
	if r.small() {
		title += " (less than twice the memory)"
	}
	t := report.Table{Title: title, Note: "As bonnie++ prints it: K is 1024 bytes, CP is processor time as a part of the time, of one core."}
	t.Columns = slices.Concat(columnsOf("sequential output", "per char", "K/s"), columnsOf("sequential output", "block", "K/s"), columnsOf("sequential output", "rewrite", "K/s"),
		columnsOf("sequential input", "per char", "K/s"), columnsOf("sequential input", "block", "K/s"), columnsOf("random", "seeks", "1/s"))
	tests := []string{testPutChar, testWrite, testRewrite, testGetChar, testRead, testSeeks}
	t = r.tableOf(t, tests)
	_, luks := LUKS2007()
	for _, reference := range []Reference{DMCrypt(), luks} {
		for _, row := range reference.TableRows() { // block write, rewrite, block read, seeks
			wide := report.Row{Label: reference.Name + ": " + row.Label, Reference: true, Source: row.Source, Cells: make([]report.Cell, len(t.Columns))}
			for i, at := range []int{2, 4, 8, 10} {
				wide.Cells[at] = row.Cells[i]
			}
			t.Rows = append(t.Rows, wide)
		}
	}
	return t
}

// filesTable has the columns of bonnie++ for many files.
func (r *driveRun) filesTable() report.Table {
	t := report.Table{Title: fmt.Sprintf("Many files: %d empty ones", r.options.Files),
		Note: "In order: names in the order of their numbers, looked at and deleted in the order of the folder. At random: neither. Creating and deleting include a sync at the end."}
	for _, group := range []string{"in order", "at random"} {
		for _, name := range []string{"create", "stat", "delete"} {
			t.Columns = append(t.Columns, columnsOf(group, name, "1/s")...)
		}
	}
	return r.tableOf(t, []string{testCreate, testStat, testDelete, testCreateRand, testStatRand, testDeleteRand})
}

// cfsTable has the files of the CFS figures.
func (r *driveRun) cfsTable() report.Table {
	t := report.Table{Title: "32 MiB, in one file and in files of 64 KiB", RowTitle: "folder", Note: "Seconds, sync included. Published figures are the medians of three runs.",
		Columns: []report.Column{{Name: "one file", Unit: "s"}, {Name: "512 files", Unit: "s"}}}
	for i := range r.subjects {
		s := &r.subjects[i]
		row := report.Row{Label: s.title()}
		for _, test := range []string{testCFSLarge, testCFSSmall} {
			cell := report.Measured(r.values(s.name, test, resultOf))
			cell.Figure.CPUSeconds = report.MakeFigure(r.values(s.name, test, cpuOf)).Median
			if ratios := r.ratios(test, true); s.name == folderSubject && len(ratios) > 0 {
				cell.Figure.Ratio = report.MakeFigure(ratios).Median
			}
			row.Cells = append(row.Cells, cell)
		}
		t.Rows = append(t.Rows, row)
	}
	reference := CFS2006()
	baseline := report.MakeFigure(reference.Rows[0].Values).Median
	for _, row := range reference.Rows {
		cell := report.Published(report.MakeFigure(row.Values).Median)
		cell.Figure.Ratio = baseline / cell.Figure.Median
		t.Rows = append(t.Rows, report.Row{Label: reference.Name + ": " + row.Label, Reference: true, Source: reference.Source, Cells: []report.Cell{cell, {}}})
	}
	return t
}

// rateChart shows the large file.
func (r *driveRun) rateChart() report.Chart {
	c := report.Chart{Title: "One large file", Unit: "MB/s", Groups: []string{testWrite, testRewrite, testRead}}
	for i := range r.subjects {
		s := report.Series{Name: r.subjects[i].title()}
		for _, test := range c.Groups {
			f := report.MakeFigure(r.values(r.subjects[i].name, test, func(s driveSample) float64 { return s.value * 1024 / 1e6 }))
			s.Values, s.Low, s.High = append(s.Values, f.Median), append(s.Low, f.Q1), append(s.High, f.Q3)
		}
		c.Series = append(c.Series, s)
	}
	return c
}

// ratioChart compares with the plain folder, published ratios beside it.
func (r *driveRun) ratioChart() report.Chart {
	c := report.Chart{Title: "Compared with a plain folder", Unit: "ratio to plain", Line: 1, LineName: "plain",
		Groups: []string{testWrite, testRewrite, testRead, testSeeks, testCreate, testStat, testDelete}}
	here := report.Series{Name: r.subjects[len(r.subjects)-1].title()}
	for _, test := range c.Groups {
		f := report.MakeFigure(r.ratios(test, false))
		here.Values, here.Low, here.High = append(here.Values, f.Median), append(here.Low, f.Q1), append(here.High, f.Q3)
	}
	c.Series = append(c.Series, here)
	_, luks := LUKS2007()
	for _, reference := range []Reference{DMCrypt(), luks} {
		last := reference.Rows[len(reference.Rows)-1]
		s := report.Series{Name: reference.Name + ", " + last.Label, Reference: true, Source: reference.Source, Values: make([]float64, len(c.Groups))}
		for i := range last.Values {
			s.Values[i] = last.Values[i] / reference.Rows[0].Values[i]
		}
		c.Series = append(c.Series, s)
	}
	return c
}

// method says how it was done.
func (r *driveRun) method(m report.Machine) []report.Method {
	o := r.options
	last := &r.subjects[len(r.subjects)-1]
	order := "Each round makes every test once, in the order of the tables."
	machine := fmt.Sprintf("%s, %d cores, memory %s, %s, kernel %s, %s. The folder lies on %s, device %s, write cache %s.", orUnknown(m.CPUModel), m.Cores, r.memoryText(),
		orUnknown(m.OSName), orUnknown(m.Kernel), m.Arch, orUnknown(last.host.FileSystem), orUnknown(last.host.Device), orUnknown(last.host.WriteCache))
	if len(r.subjects) > 1 {
		plain := r.subjects[0].host
		order += " Both folders make the same test one after the other; who goes first changes with each round. Ratios are medians of the ratios within each round."
		machine += fmt.Sprintf(" The plain one lies on %s, device %s, write cache %s.", orUnknown(plain.FileSystem), orUnknown(plain.Device), orUnknown(plain.WriteCache))
	}
	cpu := "Processor time is that of this program"
	if o.Serving != nil {
		cpu += " and of the process that serves the drive"
	} else {
		cpu += ", in which the kernel's work for it counts, but not that of another process that serves the drive"
	}
	return []report.Method{
		{Name: "What", Text: fmt.Sprintf("The tests of bonnie++, done in the same way, so that figures can be compared: a file of %s in blocks of %d KiB; single bytes by one system call each, for at most %v; "+
			"up to %d seeks in %v by %d at a time, one in %d writes; %d empty files. Then a file of 32 MiB and 512 files of 64 KiB. Contents cannot be compressed. %s.",
			mebibytes(o.SizeBytes), driveBlock>>10, (&driveWork{options: o}).charTime(), driveSeeks, (&driveWork{options: o}).seekTime(), driveSeekers, seekWritePart, o.Files, cpu)},
		{Name: report.MethodWindow, Text: "None: a figure is all that was done over the whole time of a test. The spread is that of the rounds."},
		{Name: report.MethodCache, Text: last.cooler.method() + " This concerns rewriting, reading and seeks; looking at files and deleting them follow their creation, as in bonnie++."},
		{Name: report.MethodSync, Text: "Everything that writes includes a sync at the end, of the file or of the folder and its file system."},
		{Name: report.MethodOrder, Text: order},
		{Name: report.MethodRounds, Text: fmt.Sprintf("%d; medians are shown, quartiles, minimum and maximum beside them.", o.Rounds)},
		{Name: report.MethodMachine, Text: machine},
		{Name: report.MethodVersions, Text: orUnknown(o.Program) + "."},
	}
}
