package report

import (
	"bytes"
	"strings"
	"testing"
)

func TestPrintAligns(t *testing.T) {
	var b bytes.Buffer
	if err := PrintExperiment(&b, sampleExperiment(t)); err != nil {
		t.Fatal(err)
	}
	comparison, err := Compare(samples(t))
	if err != nil {
		t.Fatal(err)
	}
	look(t, "experiment.txt", b.Bytes())
	for _, want := range []string{"time, s", "  [a] plain to plain [1] ", "\n  [1] published: Private Disk test, 2000s\n", "Method\n  Window: 1 s", "! Disturbed by other work", "average=6.84 MB/s"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
	b.Reset()
	if err := PrintComparison(&b, comparison); err != nil {
		t.Fatal(err)
	}
	look(t, "comparison.txt", b.Bytes())
	if !strings.Contains(b.String(), "slower by 43 %, more than the spread of") {
		t.Error(b.String())
	}
}
