package transfers

import (
	"cmp"
	"slices"
	"strings"

	"coffer/app/window/text"
	"coffer/transfer/report"
)

// column is what the history can be sorted by.
type column int

// Columns of the history.
const (
	byDate column = iota
	byName
	bySize
	bySeconds
	byAverage
	byHighest
	byLowest
	byOutcome
)

// order is how the history is sorted.
type order struct {
	by   column
	down bool // the largest or newest first
}

// seconds is the time that the rates of a record are of.
func seconds(r *report.Record) float64 { return r.Seconds.Copy + r.Seconds.Sync }

// name is what a record is called: the person's own text, else how much it copied where. A record knows no names of files.
func name(r *report.Record) string {
	if r.Label != "" {
		return r.Label
	}
	inside := func(e report.Endpoint) bool { return e.Kind == "container" }
	switch {
	case inside(r.Source) && inside(r.Destination):
		return text.T("%s between containers", files(r.Files))
	case inside(r.Source):
		return text.T("%s out of a container", files(r.Files))
	case inside(r.Destination):
		return text.T("%s into a container", files(r.Files))
	}
	return text.T("%s on this computer", files(r.Files))
}

// arrange are the records that all words of filter are in, sorted.
func arrange(records []*report.Record, filter string, o order) []*report.Record {
	words := strings.Fields(strings.ToLower(filter))
	kept := slices.DeleteFunc(slices.Clone(records), func(r *report.Record) bool {
		if len(words) == 0 {
			return false
		}
		all := strings.ToLower(searchable(r))
		return slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(all, w) })
	})
	slices.SortStableFunc(kept, func(a, b *report.Record) int {
		c := cmp.Or(compare(a, b, o.by), a.Start.Compare(b.Start), cmp.Compare(a.ID, b.ID))
		if o.down {
			return -c
		}
		return c
	})
	return kept
}

func compare(a, b *report.Record, by column) int {
	switch by {
	case byName:
		return cmp.Compare(strings.ToLower(name(a)), strings.ToLower(name(b)))
	case bySize:
		return cmp.Compare(a.Bytes, b.Bytes)
	case bySeconds:
		return cmp.Compare(seconds(a), seconds(b))
	case byAverage:
		return cmp.Compare(a.Rates.Average, b.Rates.Average)
	case byHighest:
		return cmp.Compare(a.Rates.Maximum, b.Rates.Maximum)
	case byLowest:
		return cmp.Compare(a.Rates.Minimum, b.Rates.Minimum)
	case byOutcome:
		return cmp.Compare(a.Outcome, b.Outcome)
	}
	return a.Start.Compare(b.Start)
}

// searchable is all of a record that a person may search for.
func searchable(r *report.Record) string {
	outcome, _ := outcomeText(r.Outcome)
	return strings.Join([]string{r.ID, name(r), way(r), r.Source.Cipher, r.Destination.Cipher, r.Source.Device, r.Destination.Device, r.Path,
		outcome, string(r.Outcome), when(r.Start), r.Machine.CPUModel, r.Machine.OSName, r.Program}, "\n")
}
