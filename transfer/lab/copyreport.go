package lab

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"coffer/container"
	"coffer/transfer/lab/workload"
	"coffer/transfer/report"
)

// report fills in everything that was measured.
func (r *copyRun) report(e *report.Experiment) {
	e.Method = r.method(e.Machine)
	for _, w := range r.options.Workloads {
		e.Tables = append(e.Tables, r.table(w))
	}
	e.Tables = append(e.Tables, r.costs())
	e.Bars = append(e.Bars, r.ratioChart(), r.rateChart())
	for _, w := range r.options.Workloads {
		for _, l := range r.legs {
			if run := r.medianRun(w, l.title); run.record != nil {
				e.Transfers = append(e.Transfers, run.record)
			}
		}
	}
	if !haveCP() {
		e.Remarks = append(e.Remarks, "There is no cp on this system to compare the plain copy with.")
	}
	if r.host.FileSystem == "tmpfs" || r.host.FileSystem == "ramfs" {
		e.Remarks = append(e.Remarks, "Everything lay in memory ("+r.host.FileSystem+"): there is no disk to wait for, so that only the processor's part shows.")
	}
}

// table is a workload in the layout of the Private Disk test.
func (r *copyRun) table(w workload.Workload) report.Table {
	rate := func(name string) report.Column { return report.Column{Name: name, Unit: "MB/s", HigherIsBetter: true} }
	t := report.Table{
		Title: strings.ToUpper(w.Title[:1]) + w.Title[1:], RowTitle: "operation",
		Note:    "The ratio is that of the average rate to " + plainCopy + ", median of the ratios within each round.",
		Columns: []report.Column{{Name: "time", Unit: "s"}, rate("average"), rate("maximum"), rate("minimum"), {Name: "CPU", Unit: "s"}},
	}
	for _, l := range r.legs {
		runs := r.runs[runKey{w.Name, l.title}]
		average := report.Measured(valuesOf(runs, func(l legRun) float64 { return l.average / 1e6 }))
		average.Figure.Ratio = report.MakeFigure(r.ratios(w, l.title, plainCopy)).Median
		seconds := report.Measured(valuesOf(runs, func(l legRun) float64 { return l.seconds }))
		seconds.Figure.CPUSeconds = r.medianRun(w, l.title).cpuSeconds
		row := report.Row{Label: l.title, Cells: []report.Cell{seconds, average, {}, {},
			report.Measured(valuesOf(runs, func(l legRun) float64 { return l.cpuSeconds }))}}
		if !l.cp { // nobody watches cp by windows
			row.Cells[2] = report.Measured(valuesOf(runs, func(l legRun) float64 { return l.record.Rates.Maximum / 1e6 }))
			row.Cells[3] = report.Measured(valuesOf(runs, func(l legRun) float64 { return l.record.Rates.Minimum / 1e6 }))
		}
		t.Rows = append(t.Rows, row)
	}
	if reference, ok := PrivateDisk(w.Name); ok {
		for _, row := range reference.TableRows() {
			row.Label = reference.Name + ": " + row.Label
			for len(row.Cells) < len(t.Columns) {
				row.Cells = append(row.Cells, report.Cell{})
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

func valuesOf(runs []legRun, of func(legRun) float64) []float64 {
	values := make([]float64, len(runs))
	for i, run := range runs {
		values[i] = of(run)
	}
	return values
}

// ratios are the rates of one leg, divided by those of another in the same round.
func (r *copyRun) ratios(w workload.Workload, upper, lower string) []float64 {
	above, below := r.runs[runKey{w.Name, upper}], r.runs[runKey{w.Name, lower}]
	var out []float64
	for i := range min(len(above), len(below)) {
		if below[i].average > 0 {
			out = append(out, above[i].average/below[i].average)
		}
	}
	return out
}

// medianRun is the round that stands for all: the one in the middle by time, of two the faster.
func (r *copyRun) medianRun(w workload.Workload, title string) legRun {
	runs := slices.Clone(r.runs[runKey{w.Name, title}])
	slices.SortStableFunc(runs, func(a, b legRun) int { return cmp.Compare(a.seconds, b.seconds) })
	return runs[(len(runs)-1)/2]
}

// cost is a question the experiment answers.
type cost struct {
	label        string
	upper, lower string // names of the sides in titles of legs
}

func (r *copyRun) costsAsked() []cost {
	list := []cost{{"the file system: " + fatName + " / plain", fatName, "plain"}}
	for _, f := range r.options.Formats {
		list = append(list, cost{"encryption: " + f + " / " + fatName, f, fatName}, cost{"both: " + f + " / plain", f, "plain"})
	}
	return list
}

// direction is in or out.
type direction struct {
	name  string
	title func(side string) string // of a leg
}

func directions() []direction {
	return []direction{
		{"in", func(side string) string { return "plain → " + side }},
		{"out", func(side string) string {
			return side + " → plain" // for "plain" the baseline is the same copy
		}},
	}
}

// costs is what each part costs: ratios of rates.
func (r *copyRun) costs() report.Table {
	t := report.Table{Title: "What each part costs", RowTitle: "ratio of average rates",
		Note: "1: it costs nothing; 0.5: copies take twice as long. " + fatName + " is a plain FAT volume in a file, written by the same code as the encrypted ones."}
	for _, w := range r.options.Workloads {
		for _, d := range directions() {
			t.Columns = append(t.Columns, report.Column{Group: "[" + w.Name + "]", Name: d.name, HigherIsBetter: true})
		}
	}
	for _, c := range r.costsAsked() {
		row := report.Row{Label: c.label}
		for _, w := range r.options.Workloads {
			for _, d := range directions() {
				row.Cells = append(row.Cells, report.Measured(r.ratios(w, d.title(c.upper), d.title(c.lower))))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	published := report.Row{Label: "Private Disk: AES / plain", Reference: true, Source: privateDiskSource}
	any := false
	for _, w := range r.options.Workloads {
		for _, d := range directions() {
			cell := report.Cell{}
			if ratio := privateDiskRatio(w.Name, d.title("AES")); ratio > 0 {
				cell, any = report.Published(ratio), true
			}
			published.Cells = append(published.Cells, cell)
		}
	}
	if any {
		t.Rows = append(t.Rows, published)
	}
	return t
}

// ratioChart shows rates as parts of that of the plain copy, published ones beside them.
func (r *copyRun) ratioChart() report.Chart {
	c := report.Chart{Title: "Rate of a copy, compared with " + plainCopy, Unit: "ratio to plain", Line: 1, LineName: plainCopy}
	published := report.Series{Name: "Private Disk, AES", Reference: true, Source: privateDiskSource}
	for _, w := range r.options.Workloads {
		for _, d := range directions() {
			c.Groups = append(c.Groups, "["+w.Name+"] "+d.name)
			published.Values = append(published.Values, privateDiskRatio(w.Name, d.title("AES")))
		}
	}
	for _, side := range append([]string{fatName}, r.options.Formats...) {
		s := report.Series{Name: side}
		for _, w := range r.options.Workloads {
			for _, d := range directions() {
				f := report.MakeFigure(r.ratios(w, d.title(side), plainCopy))
				s.Values, s.Low, s.High = append(s.Values, f.Median), append(s.Low, f.Q1), append(s.High, f.Q3)
			}
		}
		c.Series = append(c.Series, s)
	}
	if slices.Max(published.Values) > 0 {
		c.Series = append(c.Series, published)
	}
	return c
}

// rateChart shows average rates.
func (r *copyRun) rateChart() report.Chart {
	c := report.Chart{Title: "Average rate, sync included", Unit: "MB/s"}
	for _, w := range r.options.Workloads {
		c.Groups = append(c.Groups, "["+w.Name+"]")
	}
	for _, l := range r.legs {
		s := report.Series{Name: l.title}
		for _, w := range r.options.Workloads {
			f := report.MakeFigure(valuesOf(r.runs[runKey{w.Name, l.title}], func(l legRun) float64 { return l.average / 1e6 }))
			s.Values, s.Low, s.High = append(s.Values, f.Median), append(s.Low, f.Q1), append(s.High, f.Q3)
		}
		c.Series = append(c.Series, s)
	}
	return c
}

// method says how it was done.
func (r *copyRun) method(m report.Machine) []report.Method {
	o := r.options
	what := "Files that neither compression nor deduplication makes smaller, the same ones every time"
	if o.Workloads[0].Folder != "" {
		what = "The files of a folder of the user's own"
	}
	path := "Copies into and out of containers go directly through the program, without a drive."
	if o.Mounter != nil {
		path = "Copies into and out of containers go through drives that the containers were made to; processor time includes the process behind the drive."
	}
	baseline := "The baseline is a copy between two folders by the same program"
	if haveCP() {
		baseline += "; beside it the same by the system's cp followed by a sync, whose time includes finding the files"
	}
	return []report.Method{
		{Name: "What", Text: fmt.Sprintf("%s, are copied between folders, from a folder into a new %s volume without encryption in a file of its own, into new containers, and back out of both. "+
			"%s %s. The time is that of copying and syncing, without finding the files first. MB is 10^6 bytes.", what, fatName, path, baseline)},
		{Name: report.MethodWindow, Text: r.windowText()},
		{Name: report.MethodCache, Text: r.cooler.method()},
		{Name: report.MethodSync, Text: "The time ends when everything is durable: the sync at the end is inside. Before each measurement the file system is synced, outside of the time."},
		{Name: report.MethodOrder, Text: "Each round copies everything once: first all that reads the folder, then all that reads the containers just filled. Every second round runs both halves backwards. " +
			"A copy that is not measured goes before the first round. Ratios are medians of the ratios within each round."},
		{Name: report.MethodRounds, Text: fmt.Sprintf("%d; medians are shown, quartiles, minimum and maximum beside them. Time series are those of the median rounds.", o.Rounds)},
		{Name: "Where the time went", Text: "At every moment the time is shared equally among what the workers are doing; a sync counts only while nobody reads or writes. The share of a container is divided by how long its " +
			"ciphers and its image file were busy; what remains is the file system's, or, through a drive, that of the kernel, FUSE and the file system behind them. Reading ahead and writing back by the system's own threads is not seen, only waiting for it."},
		{Name: report.MethodMachine, Text: fmt.Sprintf("%s, %d cores, %s, kernel %s, %s. The files lie on %s, device %s, write cache %s.", orUnknown(m.CPUModel), m.Cores, orUnknown(m.OSName),
			orUnknown(m.Kernel), m.Arch, orUnknown(r.host.FileSystem), orUnknown(r.host.Device), orUnknown(r.host.WriteCache))},
		{Name: report.MethodVersions, Text: orUnknown(o.Program) + ". " + r.containersText()},
	}
}

// windowText says how long the windows were. A run shorter than eight of them used shorter ones.
func (r *copyRun) windowText() string {
	var parts []string
	for _, w := range r.options.Workloads {
		shortest, single := 0.0, 0
		all := 0
		for _, l := range r.legs {
			for _, run := range r.runs[runKey{w.Name, l.title}] {
				if run.record == nil {
					continue
				}
				all++
				if run.record.Rates.SingleWindow {
					single++
				} else if s := run.record.Rates.WindowSeconds; shortest == 0 || s < shortest {
					shortest = s
				}
			}
		}
		text := fmt.Sprintf("[%s]: %v", w.Name, r.windows[w.Name])
		if shortest > 0 && shortest < r.windows[w.Name].Seconds() {
			text += fmt.Sprintf(", and down to %v in copies that took less than eight of them", time.Duration(shortest*1e9).Round(time.Millisecond))
		}
		if single > 0 {
			text += fmt.Sprintf("; %d of %d copies were too short for windows and have one rate only", single, all)
		}
		parts = append(parts, text)
	}
	return "Maximum and minimum are the highest and lowest window of copying and syncing, the last, partial one left out. " + strings.Join(parts, ". ") + "."
}

// containersText describes the containers.
func (r *copyRun) containersText() string {
	var parts []string
	for _, f := range append([]string{string(container.Raw)}, r.options.Formats...) {
		k, ok := r.kinds[f]
		if !ok {
			continue
		}
		text := fmt.Sprintf("%s: %s, sectors of %d bytes, clusters of %d", nameOf(f), k.FileSystem, k.SectorBytes, k.ClusterBytes)
		if k.Engine != "" {
			text += fmt.Sprintf(", %s, engine %s", k.Cipher, k.Engine)
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ") + "."
}
