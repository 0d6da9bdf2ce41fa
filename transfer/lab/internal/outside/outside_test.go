package outside

import (
	"context"
	"flag"
	"fmt"
	"math"
	"os/exec"
	"testing"
	"time"

	"coffer/transfer/lab"
	"coffer/transfer/report"
)

// The full comparison takes about six seconds a round and row:
//
//	go test ./transfer/lab/internal/outside -run TestLabAgrees -v -timeout 60m -outside.rounds 7
//
// Without the flag one short round checks that the comparison works; its figures mean nothing on a busy machine.
var roundsFlag = flag.Int("outside.rounds", 0, "interleaved rounds; 0: one short one that judges nothing")

// labSecondsPerGB is the processor time in the report of the experiment.
func labSecondsPerGB(t *testing.T, title string, atLeast time.Duration) float64 {
	t.Helper()
	e, err := lab.Ciphers(context.Background(), lab.CipherOptions{Rounds: 1, Only: []string{title}, SectorBytes: []int{SectorBytes},
		Sources: []lab.Source{lab.Random}, Workers: []int{1}, MemoryTime: atLeast, Program: "coffer test"})
	if err != nil {
		t.Fatal(err)
	}
	table := e.Tables[0]
	last := len(table.Columns) - 1
	if len(table.Rows) != 1 || table.Columns[last].Unit != "s/GB" {
		t.Fatalf("the table changed: %d rows, last column %+v", len(table.Rows), table.Columns[last])
	}
	return table.Rows[0].Cells[last].Figure.Median
}

// TestLabAgrees: what the lab reports agrees within 10 % with a plain loop over the same primitive.
func TestLabAgrees(t *testing.T) {
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		t.Fatalf("%v: apt-get install openssl", err)
	}
	rounds, atLeast := *roundsFlag, 300*time.Millisecond
	if rounds == 0 {
		rounds, atLeast = 1, 3*time.Millisecond
	}
	for i, c := range Comparisons() {
		var ours, loop, speed []float64
		for range rounds {
			ours = append(ours, labSecondsPerGB(t, c.Title, atLeast))
			outside, err := c.CPUSecondsPerGB(atLeast)
			if err != nil {
				t.Fatal(err)
			}
			loop = append(loop, outside)
			if c.OpenSSL != nil && (*roundsFlag > 0 || i == 0) {
				figure, err := c.OpenSSLSecondsPerGB(openssl)
				if err != nil {
					t.Fatal(err)
				}
				speed = append(speed, figure)
			}
		}
		labGB, loopGB := report.MakeFigure(ours), report.MakeFigure(loop)
		line := fmt.Sprintf("%-32s lab %7.0f MB/s (spread %2.0f %%)  loop %7.0f (%2.0f %%)  lab/loop %.3f", c.Title,
			1e3/labGB.Median, 100*labGB.Spread(), 1e3/loopGB.Median, 100*loopGB.Spread(), loopGB.Median/labGB.Median)
		if len(speed) > 0 {
			line += fmt.Sprintf("  openssl %6.0f, lab/openssl %.2f (%s)", 1e3/report.MakeFigure(speed).Median, report.MakeFigure(speed).Median/labGB.Median, c.OwnCode)
		}
		t.Log(line)
		if ratio := loopGB.Median / labGB.Median; *roundsFlag > 0 && math.Abs(ratio-1) > 0.1 {
			t.Errorf("%s: the lab says %.3f of what a loop outside says", c.Title, ratio)
		}
		if !(labGB.Median > 0 && loopGB.Median > 0) {
			t.Errorf("%s: %v and %v seconds per GB", c.Title, labGB.Median, loopGB.Median)
		}
	}
}
