package lab

import (
	"fmt"
	"slices"
	"strings"

	"coffer/transfer/report"
)

// measure picks one figure from a sample.
type measure struct {
	name string
	of   func(sample) float64
}

func encryptRate(s sample) float64 { return s.encrypt / 1e6 }
func decryptRate(s sample) float64 { return s.decrypt / 1e6 }
func encryptCPU(s sample) float64  { return s.encryptCPU * 1e9 }

// values are the figures of all rounds of a row in a setting; nil if it was not measured.
func (r *cipherRun) values(title string, at setting, of func(sample) float64) []float64 {
	var values []float64
	for _, s := range r.samples[cell{title, at}] {
		values = append(values, of(s))
	}
	return values
}

// figure is the cell of a row, its ratio the median of the ratios of the same rounds of the baseline.
func (r *cipherRun) figure(title, baseline string, at setting, of func(sample) float64) *report.Figure {
	values, base := r.values(title, at, of), r.values(baseline, at, of)
	f := report.MakeFigure(values)
	f.Ratio = ratios(values, base).Median
	return f
}

// ratios is the figure of the ratios within each round.
func ratios(values, base []float64) *report.Figure {
	var all []float64
	for i := range min(len(values), len(base)) {
		if base[i] > 0 {
			all = append(all, values[i]/base[i])
		}
	}
	return report.MakeFigure(all)
}

// table is one table: a place, a number of workers and a sector size; the sources of data are columns.
func (r *cipherRun) table(title string, subjects []subject, baseline string, at setting, directions [2]string) report.Table {
	t := report.Table{Title: title, RowTitle: "algorithm",
		Note: "CPU is processor time of all cores, of the first column. Ratios are to " + baseline + "."}
	type column struct {
		at setting
		of func(sample) float64
	}
	var columns []column
	for _, source := range r.options.Sources {
		at.source = source
		for i, of := range []func(sample) float64{encryptRate, decryptRate} {
			t.Columns = append(t.Columns, report.Column{Name: directions[i] + ", " + string(source), Unit: "MB/s", HigherIsBetter: true})
			columns = append(columns, column{at, of})
		}
	}
	at.source = r.options.Sources[0]
	t.Columns = append(t.Columns, report.Column{Name: "CPU", Unit: "s/GB"})
	columns = append(columns, column{at, encryptCPU})
	for _, s := range subjects {
		row := report.Row{Label: s.title}
		for _, c := range columns {
			f := r.figure(s.title, baseline, c.at, c.of)
			row.Cells = append(row.Cells, report.Cell{Figure: f})
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func workersText(n int) string {
	if n == 1 {
		return "one core"
	}
	return fmt.Sprintf("%d cores", n)
}

// report fills in what was found.
func (r *cipherRun) report(e *report.Experiment) {
	o := r.options
	for _, n := range o.Workers {
		if len(r.memory) == 0 {
			break
		}
		for _, size := range o.SectorBytes {
			title := fmt.Sprintf("In memory, %s, sectors of %d bytes", workersText(n), size)
			at := setting{workers: n, sectorBytes: size}
			e.Tables = append(e.Tables, r.table(title, r.memory, nullTitle, at, [2]string{"encrypt", "decrypt"}))
		}
	}
	if slices.ContainsFunc(r.memory, func(s subject) bool { return s.bare }) {
		e.Bars = append(e.Bars, r.memoryBars(r.memory))
	}
	if len(r.images) > 0 {
		for _, n := range o.ImageWorkers {
			for _, size := range o.SectorBytes {
				title := fmt.Sprintf("Image file, %s, sectors of %d bytes", workersText(n), size)
				t := r.table(title, r.images, plainTitle, setting{true, n, size, ""}, [2]string{"write", "read"})
				for _, row := range GELI2008().TableRows() {
					row.Label += " (" + GELI2008().Name + ")"
					for len(row.Cells) < len(t.Columns) {
						row.Cells = append(row.Cells, report.Cell{})
					}
					t.Rows = append(t.Rows, row)
				}
				e.Tables = append(e.Tables, t)
			}
		}
		if bars := r.publishedBars(); len(bars.Groups) > 0 {
			e.Bars = append(e.Bars, bars)
		}
	}
	e.Method = r.method(e.Machine)
	for _, n := range o.Workers {
		e.Remarks = append(e.Remarks, r.starved(n)...)
	}
	e.Remarks = append(e.Remarks, r.remarks...)
}

// memoryBars compare the ciphers without authentication on one core, or the fewest there were.
func (r *cipherRun) memoryBars(subjects []subject) report.Chart {
	at := setting{workers: slices.Min(r.options.Workers), sectorBytes: slices.Max(r.options.SectorBytes), source: r.options.Sources[0]}
	c := report.Chart{Title: fmt.Sprintf("Ciphers in memory, %s, sectors of %d bytes", workersText(at.workers), at.sectorBytes), Unit: "MB/s", Log: true}
	directions := []measure{{"encrypt", encryptRate}, {"decrypt", decryptRate}}
	for _, d := range directions {
		s := report.Series{Name: d.name}
		for _, subject := range subjects {
			if subject.bare {
				f := r.figure(subject.title, nullTitle, at, d.of)
				s.Values, s.Low, s.High = append(s.Values, f.Median), append(s.Low, f.Q1), append(s.High, f.Q3)
			}
		}
		c.Series = append(c.Series, s)
	}
	for _, subject := range subjects {
		if subject.bare {
			c.Groups = append(c.Groups, subject.title)
		}
	}
	return c
}

// publishedBars put the ratios to a plain file beside those of GELI2008.
func (r *cipherRun) publishedBars() report.Chart {
	at := setting{true, slices.Max(r.options.ImageWorkers), slices.Max(r.options.SectorBytes), r.options.Sources[0]}
	reference := GELI2008()
	c := report.Chart{Title: fmt.Sprintf("Writing an image file, %s, sectors of %d bytes", workersText(at.workers), at.sectorBytes),
		Unit: "ratio to a plain file", Line: 1, LineName: "plain file"}
	here := report.Series{Name: "here"}
	published := report.Series{Name: reference.Name, Reference: true, Source: reference.Source}
	for _, s := range r.images {
		if s.title == plainTitle {
			continue
		}
		f := ratios(r.values(s.title, at, encryptRate), r.values(plainTitle, at, encryptRate))
		if f.Rounds == 0 {
			continue // no plain file was measured
		}
		c.Groups = append(c.Groups, s.title)
		here.Values, here.Low, here.High = append(here.Values, f.Median), append(here.Low, f.Q1), append(here.High, f.Q3)
		row, _ := reference.Row(s.title)
		value := 0.0
		if len(row.Values) > 0 {
			value = row.Values[0] / reference.Rows[0].Values[0]
		}
		published.Values = append(published.Values, value)
	}
	c.Series = []report.Series{here, published}
	return c
}

// starved says when the workers in memory, which never wait for anything, did not get the processors they were to have: on a
// busy machine two cores can be as fast as one.
func (r *cipherRun) starved(workers int) []string {
	var shares []float64
	for key, samples := range r.samples {
		if key.setting.image || key.setting.workers != workers {
			continue
		}
		for _, s := range samples {
			shares = append(shares, s.encrypt*s.encryptCPU/float64(workers), s.decrypt*s.decryptCPU/float64(workers))
		}
	}
	share := report.MakeFigure(shares).Median
	if len(shares) == 0 || share == 0 || share > 0.9 { // 0: the system does not tell processor time
		return nil
	}
	return []string{fmt.Sprintf("In memory, %s: half of the measurements got %.0f %% or less of the processor time they asked for. Other work took the rest, "+
		"and these figures are that much too low; those of processor time are not.", workersText(workers), 100*share)}
}

// method says how it was done.
func (r *cipherRun) method(m report.Machine) []report.Method {
	o := r.options
	sizes := strings.Trim(fmt.Sprint(o.SectorBytes), "[]")
	list := []report.Method{
		{Name: "What", Text: fmt.Sprintf("Sectors of %s bytes are encrypted and given a tag (encrypt, then MAC, over sector number and ciphertext), and checked and decrypted. "+
			"Only payload counts, not tags. Sources: %v. MB is 10^6 bytes.", strings.ReplaceAll(sizes, " ", " and "), join(o.Sources))},
		{Name: report.MethodWindow, Text: fmt.Sprintf("In memory a figure is all bytes of at least %v of work over the time until the last worker stopped, over a buffer of %d KiB "+
			"for each worker, so in the processor's caches. There are no windows: the spread is that of the rounds. Making keys, one encryption and one decryption of the buffer, "+
			"which check the implementation, come before and are not in the time.", o.MemoryTime, memoryBytes>>10)},
		{Name: report.MethodOrder, Text: "Each round measures everything once: first all in memory, then all through the file; the second round runs backwards, the third forwards, and so on. " +
			"A ratio is the median of the ratios within each round."},
		{Name: report.MethodRounds, Text: fmt.Sprintf("%d; medians are shown, quartiles, minimum and maximum beside them.", o.Rounds)},
	}
	machine := fmt.Sprintf("%s, %d cores, %s, kernel %s, %s.", orUnknown(m.CPUModel), m.Cores, orUnknown(m.OSName), orUnknown(m.Kernel), m.Arch)
	if o.Dir != "" {
		cache := "The system was asked to forget its cached copy of the file before it is read."
		if r.dropErr != nil {
			cache = "The system could not be asked to forget its cached copy of the file before it is read (" + r.dropErr.Error() + "): reading is warm."
		}
		host := report.HostEndpoint(o.Dir)
		if host.FileSystem == "tmpfs" || host.FileSystem == "ramfs" {
			r.remarks = append(r.remarks, "The image file lay in memory ("+host.FileSystem+"): there is nothing to sync and no cache to forget.")
		}
		machine += fmt.Sprintf(" The image file lies on %s, device %s, write cache %s.", orUnknown(host.FileSystem), orUnknown(host.Device), orUnknown(host.WriteCache))
		list = append(list,
			report.Method{Name: "Image file", Text: fmt.Sprintf("%d MiB of payload to a new sparse file in writes of 1 MiB of ciphertext with its tags behind it; the payload is %d MiB of source data over and over, "+
				"in memory beforehand. The plain file is written from there directly; the null cipher copies.", o.ImageBytes>>20, dataBytes>>20)},
			report.Method{Name: report.MethodCache, Text: cache},
			report.Method{Name: report.MethodSync, Text: "Writing includes one sync of the file at the end."})
	} else {
		list = append(list, report.Method{Name: report.MethodCache, Text: "No file was used."},
			report.Method{Name: report.MethodSync, Text: "No file was used."})
	}
	return append(list, report.Method{Name: report.MethodMachine, Text: machine},
		report.Method{Name: report.MethodVersions, Text: fmt.Sprintf("%s. %s is the one every XTS container of Coffer uses. AES-CBC, AES-GCM, 3DES and the hashes are Go's, "+
			"ChaCha20-Poly1305, Twofish, Blowfish and RIPEMD160 golang.org/x/crypto's, Camellia, Serpent and Kuznyechik Coffer's own, block by block and without processor instructions for them. "+
			"CRC32C finds accidents only; anybody can make it fit.", orUnknown(o.Program), engine256)})
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown"
	}
	return s
}

func join(sources []Source) string {
	var names []string
	for _, s := range sources {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}
