package fat32

import "testing"

// TestTraces: only what opening mends without a question counts as the trace of an interruption, and only on a volume that was
// not closed.
func TestTraces(t *testing.T) {
	for _, c := range []struct {
		codes   []string
		omitted int
		want    Traces
	}{
		{nil, 0, TracesDamage},
		{[]string{CodeDirty}, 0, TracesNotClosed},
		{[]string{CodeFreeCount, CodeDirty}, 0, TracesNotClosed},
		{[]string{CodeDirty, CodeLostChain}, 0, TracesInterrupted},
		{[]string{CodeTwoNames, CodeFATDiffer, CodeDirty, CodeFreeCount}, 0, TracesInterrupted},
		{[]string{CodeLostChain}, 0, TracesDamage},
		{[]string{CodeFreeCount}, 0, TracesDamage},
		{[]string{CodeDirty, CodeCrossLink}, 0, TracesDamage},
		{[]string{CodeDirty, CodeLostChain, CodeIOErrorMark}, 0, TracesDamage},
		{[]string{CodeDirty, CodeLostChain}, 1, TracesDamage},
	} {
		r := CheckReport{Omitted: c.omitted}
		for _, code := range c.codes {
			r.Findings = append(r.Findings, Finding{Code: code})
		}
		if got := r.Traces(); got != c.want {
			t.Errorf("%v and %d more: %q, wanted %q", c.codes, c.omitted, got, c.want)
		}
	}
}
