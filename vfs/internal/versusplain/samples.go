package main

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
)

// Sample is one measurement.
type Sample struct {
	Run       string  `json:"run"` // tells rounds of different runs in one file apart: when it started
	Round     int     `json:"round"`
	Line      string  `json:"line"`
	Unit      string  `json:"unit"`
	Contender string  `json:"contender"`
	Rate      float64 `json:"rate"`
	// Disturbed samples are not counted: somebody else dropped the caches of the kernel meanwhile.
	Disturbed bool `json:"disturbed,omitempty"`
}

// readSamples reads the file of earlier samples; without a name, or without the file, there are none.
func readSamples(path string) ([]Sample, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []Sample
	for decoder := json.NewDecoder(f); ; {
		var s Sample
		if err := decoder.Decode(&s); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
}

func appendSamples(path string, samples []Sample) error {
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(f)
	for _, s := range samples {
		if err := encoder.Encode(s); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	return f.Close()
}

// round names one round of one run.
type round struct {
	run string
	n   int
}

// series are the rates of one line by round and contender.
func series(samples []Sample, line string) map[round]map[string]float64 {
	out := map[round]map[string]float64{}
	for _, s := range samples {
		if s.Line != line || s.Disturbed {
			continue
		}
		at := round{s.Run, s.Round}
		if out[at] == nil {
			out[at] = map[string]float64{}
		}
		out[at][s.Contender] = s.Rate
	}
	return out
}

// rates of one contender, over all rounds.
func rates(by map[round]map[string]float64, contender string) (out []float64) {
	for _, one := range by {
		if rate, ok := one[contender]; ok {
			out = append(out, rate)
		}
	}
	return out
}

// ratios of two contenders, round by round.
func ratios(by map[round]map[string]float64, upper, lower string) (out []float64) {
	for _, one := range by {
		u, hasUpper := one[upper]
		l, hasLower := one[lower]
		if hasUpper && hasLower && l > 0 {
			out = append(out, u/l)
		}
	}
	return out
}

// quantile of values, interpolated; 0 of none.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(values))
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 == len(sorted) {
		return sorted[i]
	}
	return sorted[i] + (sorted[i+1]-sorted[i])*(at-float64(i))
}
