package outside

import (
	"context"
	"flag"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"coffer/transfer/lab"
	"coffer/transfer/report"
)

// The comparison with dd is asked for by -outside.rounds and takes about two seconds a round:
//
//	go test ./transfer/lab/internal/outside -run TestImageAgrees -v -outside.rounds 15 -outside.dir /var/tmp
var dirFlag = flag.String("outside.dir", "", "folder on the file system under test; \"\": that of temporary files")

// dd runs dd with its statistics off and returns bytes per second by the clock on the wall, its start included.
func dd(t *testing.T, sizeBytes int64, arguments ...string) float64 {
	t.Helper()
	start := time.Now()
	if out, err := exec.Command("dd", append(arguments, "status=none")...).CombinedOutput(); err != nil {
		t.Fatalf("dd %v: %v: %s", arguments, err, out)
	}
	return float64(sizeBytes) / time.Since(start).Seconds()
}

// TestImageAgrees: a plain file in the lab is as fast as dd with conv=fsync, and as fast to read once the cache is dropped.
func TestImageAgrees(t *testing.T) {
	rounds, sizeBytes := *roundsFlag, int64(256<<20)
	if rounds == 0 {
		rounds, sizeBytes = 1, 4<<20
	}
	dir := *dirFlag
	if dir == "" {
		dir = t.TempDir()
	}
	name := filepath.Join(dir, "coffer-outside-dd")
	defer os.Remove(name)
	var labWrite, labRead, ddWrite, ddRead, write, read []float64
	for range rounds {
		e, err := lab.Ciphers(context.Background(), lab.CipherOptions{Rounds: 1, Only: []string{"plain file"}, SectorBytes: []int{SectorBytes},
			Sources: []lab.Source{lab.Zeros}, ImageWorkers: []int{1}, ImageBytes: sizeBytes, Dir: dir, Program: "coffer test"})
		if err != nil {
			t.Fatal(err)
		}
		cells := e.Tables[0].Rows[0].Cells
		labWrite, labRead = append(labWrite, cells[0].Figure.Median), append(labRead, cells[1].Figure.Median)
		if err := os.Remove(name); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		ddWrite = append(ddWrite, dd(t, sizeBytes, "if=/dev/zero", "of="+name, "bs=1M", "iflag=fullblock,count_bytes", "count="+strconv.FormatInt(sizeBytes, 10), "conv=fsync")/1e6)
		dd(t, sizeBytes, "of="+name, "oflag=nocache", "conv=notrunc,fdatasync", "count=0") // drops it from the cache
		ddRead = append(ddRead, dd(t, sizeBytes, "if="+name, "of=/dev/null", "bs=1M")/1e6)
		last := len(labWrite) - 1
		write, read = append(write, labWrite[last]/ddWrite[last]), append(read, labRead[last]/ddRead[last])
	}
	for _, c := range []struct {
		what            string
		lab, dd, ratios []float64
	}{{"write", labWrite, ddWrite, write}, {"read", labRead, ddRead, read}} {
		ratio := report.MakeFigure(c.ratios)
		t.Logf("%-5s lab %6.0f MB/s, dd %6.0f MB/s, median of ratios %.3f, quartiles %.3f to %.3f", c.what,
			report.MakeFigure(c.lab).Median, report.MakeFigure(c.dd).Median, ratio.Median, ratio.Q1, ratio.Q3)
		if *roundsFlag > 0 && math.Abs(ratio.Median-1) > 0.1 {
			t.Errorf("%s: the lab says %.3f of what dd says", c.what, ratio.Median)
		}
	}
}
