package picture

import (
	"bytes"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

func samplePage() *Page {
	rnd := rand.New(rand.NewPCG(1, 2))
	series := make([]float64, 93)
	lo, hi := math.Inf(1), 0.0
	for i := range series {
		series[i] = 6.5 + 2*math.Sin(float64(i)/7) + rnd.NormFloat64()*0.8
		if i == 40 {
			series[i] = 1.2
		}
		lo, hi = min(lo, series[i]), max(hi, series[i])
	}
	ciphers := []string{"null", "AES-256", "AES-128", "Blowfish", "Camellia-256", "3DES"}
	return &Page{
		Title: "Copy: plain and encrypted", Subtitle: "30 November 2026, AMD EPYC, 2 cores, Debian 12",
		Charts: []Chart{
			&Rates{Title: "[a] one large file, plain to luks2: 95 s", Caption: "Each step is a window of 1 s; nothing is smoothed. The last, partial window is not drawn.", Unit: "MB/s",
				WindowSeconds: 1, Series: series, Average: 6.5, Maximum: hi, Minimum: lo, CopySeconds: 90, TotalSeconds: 95},
			&Bars{Title: "Throughput of one stream by cipher", Unit: "MB/s", Groups: ciphers, Caption: "Bars are medians of 11 rounds, whiskers span the middle half.",
				Series: []BarSeries{{Name: "this machine", Values: []float64{48, 38, 41, 30, 31, 9}, Low: []float64{46, 36, 40, 29, 30, 8}, High: []float64{50, 39, 44, 31, 33, 9.5}},
					{Name: "published 2008", Reference: true, Source: "GELI benchmark, 2008, 200 MB by dd", Values: []float64{44.3, 28.6, 30.3, 22.6, 25.0, 11.4}}}},
			&Bars{Title: "Ratio to plain", Unit: "ratio", Line: 1, LineName: "plain = 1", Groups: []string{"plain to encrypted [a]", "plain to encrypted [b]", "encrypted to plain [a]"},
				Series: []BarSeries{{Name: "this machine", Values: []float64{0.96, 1.4, 1.1}, Low: []float64{0.94, 1.31, 1.05}, High: []float64{0.99, 1.5, 1.2}},
					{Name: "published", Reference: true, Source: "Private Disk test", Values: []float64{0.94, 0.8, 0.6}}}},
			&Bars{Title: "On a logarithmic axis", Unit: "MB/s", Log: true, Groups: ciphers, Series: []BarSeries{{Name: "this machine", Values: []float64{14000, 5000, 6000, 97, 65, 23}, Low: []float64{13000, 4000, 5900, 90, 62, 20}, High: []float64{15000, 6000, 6200, 100, 70, 25}},
				{Name: "published 2008", Reference: true, Values: []float64{44.3, 28.6, 30.3, 22.6, 25.0, 11.4}}}},
			&Phases{Title: "Where the time went", Names: []string{"source read", "crypto", "file system + journal", "image write", "sync", "kernel/FUSE", "other"},
				Rows: []PhasesRow{{"[a] plain to luks2", []float64{20, 12, 5, 40, 8, 0, 3}}, {"[a] through the mount", []float64{22, 12, 6, 42, 9, 20, 2}}}, Caption: "Shares of the wall-clock time of copy and sync."},
		},
		Notes: []string{"Window: 1 s.", "Cache: dropped before each round."},
	}
}

// TestLook writes the sample for a person to look at into the folder that COFFER_LOOK names.
func TestLook(t *testing.T) {
	folder := os.Getenv("COFFER_LOOK")
	if folder == "" {
		folder = t.TempDir()
	}
	for name, write := range map[string]func(io.Writer) error{"sample.png": samplePage().WritePNG, "sample.svg": samplePage().WriteSVG} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
