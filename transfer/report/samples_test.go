package report

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"coffer/transfer/rate"
)

// transferOf makes the record of a transfer of so many bytes at about a rate (bytes per second) that varies by swing.
func transferOf(t *testing.T, label string, seed uint64, bytes int64, speed, swing float64) *Record {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 9))
	now := time.Date(2026, 11, 30, 13, 20, int(seed%60), int(seed)*1e6, time.UTC)
	start := now
	recorder, err := rate.New(0, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	recorder.Start()
	phase := 0.0
	for left := bytes; left > 0; {
		n := min(left, 256<<10)
		phase += float64(n) / speed / 9
		v := speed * (1 + swing*math.Sin(phase*6) + swing*rnd.NormFloat64())
		now = now.Add(time.Duration(float64(n) / max(v, speed/4) * 1e9))
		recorder.Book(n)
		left -= n
	}
	recorder.CopyDone()
	copied := now.Sub(start).Seconds()
	sync := time.Duration(copied * 0.06 * 1e9)
	now = now.Add(sync)
	r := sample()
	r.ID, r.Label, r.Start, r.End, r.Outcome = NewID(start), label, start, now, Done
	r.Files, r.Bytes, r.Skipped, r.Failed, r.Problems = 1, bytes, map[string]int64{}, map[string]int64{}, nil
	r.Rates = recorder.Summary(1)
	r.Seconds = Seconds{Total: copied + sync.Seconds() + 0.1, Scan: 0.1, Copy: copied, Sync: sync.Seconds()}
	r.Phases = SharePhases([]Phase{{PhaseSourceRead, copied * 0.3}, {PhaseCrypto, copied * 0.15}, {PhaseFileSystem, copied * 0.05},
		{PhaseImageWrite, copied * 0.4}, {PhaseSync, sync.Seconds()}}, copied+sync.Seconds())
	return r
}

// samples are three transfers as the Private Disk test made them.
func samples(t *testing.T) []*Record {
	t.Helper()
	plain := transferOf(t, "[a] plain to plain", 1, 658e6, 7.3e6, 0.1)
	in := transferOf(t, "[a] plain to encrypted", 2, 658e6, 6.9e6, 0.12)
	out := transferOf(t, "[a] encrypted to plain", 3, 658e6, 4.4e6, 0.2)
	plain.Destination, out.Destination = plain.Source, plain.Source
	out.Source = in.Destination
	return []*Record{plain, in, out}
}

// sampleExperiment has every part that an experiment can have.
func sampleExperiment(t *testing.T) *Experiment {
	t.Helper()
	records := samples(t)
	start := records[0].Start
	figure := func(seed uint64, v, spread float64) Cell {
		rnd := rand.New(rand.NewPCG(seed, 3))
		values := make([]float64, 11)
		for i := range values {
			values[i] = v * (1 + spread*rnd.NormFloat64())
		}
		c := Measured(values)
		return c
	}
	withRatio := func(c Cell, to float64) Cell { c.Figure.Ratio, c.Figure.CPUSeconds = c.Figure.Median/to, 3.2; return c }
	e := &Experiment{Schema: ExperimentVersion, ID: NewID(start), Kind: KindCopy, Title: "Copy: what encryption costs", Started: start, Finished: records[2].End.Add(time.Hour),
		Version: "coffer 0.4.0", Machine: Machine{CPUModel: "AMD EPYC", Cores: 2, OS: "linux", OSName: "Debian GNU/Linux 12 (bookworm)", Kernel: "6.18.5", Arch: "amd64", GovernorStart: "performance", ClockMHzStart: 2600},
		Method: []Method{{MethodWindow, "1 s"}, {MethodCache, "dropped before each round"}, {MethodSync, "inside the time"}, {MethodOrder, "A B C C B A"},
			{MethodRounds, "11, medians shown"}, {MethodMachine, "AMD EPYC, 2 cores, 24 GB, ext4 on a virtual disk"}, {MethodVersions, "coffer 0.4.0; cp of coreutils 9.1"}},
		Transfers: records, Remarks: []string{"The write cache of the disk could not be switched off: the system does not tell its state."}}
	e.Tables = []Table{{Title: "Copy rates", RowTitle: "operation", Note: "[a] one file of 658 MB, [b] 2140 files in folders, 667 MB.",
		Columns: []Column{{Name: "time", Unit: "s"}, {Name: "average", Unit: "MB/s", HigherIsBetter: true}, {Name: "max", Unit: "MB/s", HigherIsBetter: true}, {Name: "min", Unit: "MB/s", HigherIsBetter: true}, {Name: "cache"}},
		Rows: []Row{
			{Label: "[a] plain to plain", Cells: []Cell{figure(1, 2.01, 0.02), figure(2, 327, 0.02), figure(3, 430, 0.05), figure(4, 120, 0.3), Text("dropped")}},
			{Label: "[a] plain to plain", Reference: true, Source: "Private Disk test, 2000s", Cells: []Cell{Published(95), Published(6.92), Published(14), Published(3.8), {}}},
			{Label: "[a] plain to encrypted", Cells: []Cell{withRatio(figure(5, 2.1, 0.02), 2.01), withRatio(figure(6, 313, 0.02), 327), figure(7, 410, 0.05), figure(8, 118, 0.04), Text("dropped")}},
			{Label: "[a] plain to encrypted", Reference: true, Source: "Private Disk test, 2000s", Cells: []Cell{Published(101), Published(6.51), Published(10), Published(2.9), {}}},
		}},
		{Title: "Drive", RowTitle: "drive", Columns: []Column{{Group: "sequential output", Name: "per character", Unit: "K/s", HigherIsBetter: true}, {Group: "sequential output", Name: "%CP"},
			{Group: "sequential output", Name: "block", Unit: "K/s", HigherIsBetter: true}, {Group: "sequential output", Name: "%CP"}, {Group: "sequential input", Name: "block", Unit: "K/s", HigherIsBetter: true},
			{Group: "sequential input", Name: "%CP"}, {Group: "random", Name: "seeks", Unit: "/s", HigherIsBetter: true}, {Group: "random", Name: "%CP"}},
			Rows: []Row{{Label: "this drive", Cells: []Cell{figure(11, 131000, 0.01), figure(12, 98, 0.01), figure(13, 412000, 0.02), figure(14, 31, 0.02), figure(15, 901000, 0.02), figure(16, 40, 0.02), figure(17, 9120, 0.1), figure(18, 20, 0.02)}},
				{Label: "none", Reference: true, Source: "dm-crypt, 2000s", Cells: []Cell{{}, {}, Published(21960), {}, Published(18144), {}, Published(126), {}}}}}}
	e.Bars = []Chart{
		{Title: "Average rate as a ratio to plain", Unit: "ratio", Line: 1, LineName: "plain = 1", Groups: []string{"[a] plain to encrypted", "[a] encrypted to plain", "[b] plain to encrypted"},
			Series: []Series{{Name: "this machine", Values: []float64{0.957, 1.04, 1.62}, Low: []float64{0.94, 1.02, 1.51}, High: []float64{0.97, 1.05, 1.7}},
				{Name: "published", Reference: true, Source: "Private Disk test, 2000s", Values: []float64{0.941, 0.601, 0.798}}}},
		{Title: "Throughput by cipher", Unit: "MB/s", Log: true, Groups: []string{"null", "AES-256", "Camellia-256", "3DES"},
			Series: []Series{{Name: "this machine", Values: []float64{13000, 4800, 65, 23}, Low: []float64{12500, 4700, 60, 22}, High: []float64{13500, 4850, 66, 24}},
				{Name: "published", Reference: true, Source: "GELI, 2008", Values: []float64{44.3, 28.6, 25, 11.4}}}},
	}
	return e
}
