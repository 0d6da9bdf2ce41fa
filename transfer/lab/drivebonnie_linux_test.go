package lab

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"coffer/transfer/report"
)

// The comparison with bonnie++ is asked for by -lab.bonnie; it takes minutes and a quiet machine:
//
//	go test ./transfer/lab -run TestAgainstBonnie -v -timeout 60m -lab.bonnie /var/tmp -lab.pairs 5
var (
	bonnieFlag = flag.String("lab.bonnie", "", "folder in which to compare the drive experiment with bonnie++; needs 2 GB")
	pairsFlag  = flag.Int("lab.pairs", 5, "interleaved pairs")
)

// bonnieColumns are the places of figures in a line of bonnie++ 2.00 (its form 1.98).
func bonnieColumns() map[string]int {
	return map[string]int{testPutChar: 9, testWrite: 11, testRewrite: 13, testGetChar: 15, testRead: 17, testSeeks: 19,
		testCreate: 26, testStat: 28, testDelete: 30, testCreateRand: 32, testStatRand: 34, testDeleteRand: 36}
}

// bonnie runs bonnie++ and gives what it could measure; it gives no figure of what took it less than half a second.
func bonnie(t *testing.T, dir string, args ...string) map[string]float64 {
	t.Helper()
	out, err := exec.Command("bonnie++", append([]string{"-d", dir, "-u", "root", "-x", "1", "-q"}, args...)...).Output()
	if err != nil {
		t.Fatalf("bonnie++ (package bonnie++): %v", err)
	}
	fields, figures := strings.Split(strings.TrimSpace(string(out)), ","), map[string]float64{}
	for test, at := range bonnieColumns() {
		if at >= len(fields) || fields[0] != "1.98" {
			t.Fatalf("this is no line of bonnie++ 2.00: %s", out)
		}
		if v, err := strconv.ParseFloat(fields[at], 64); err == nil {
			figures[test] = v
		}
	}
	return figures
}

// TestAgainstBonnie runs bonnie++ and the drive experiment in turn in one folder. The medians of the large file must
// agree within 10 %, and those of single bytes too; those of many files are told: making files on a disk varies several times
// over.
func TestAgainstBonnie(t *testing.T) {
	if *bonnieFlag == "" { // that the columns are where they are thought to be is checked always
		if got := bonnie(t, t.TempDir(), "-s", "2M", "-r", "1", "-n", "1"); got[testPutChar] == 0 {
			t.Errorf("%v", got)
		}
		return
	}
	dir, err := os.MkdirTemp(*bonnieFlag, "bonnie")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	theirs, ours := map[string][]float64{}, map[string][]float64{}
	for pair := range *pairsFlag {
		both := []func(){
			func() {
				for _, args := range [][]string{{"-f", "-s", "1024M", "-r", "512", "-n", "16"}, {"-s", "4M", "-r", "2", "-n", "0"}} {
					for test, v := range bonnie(t, dir, args...) {
						theirs[test] = append(theirs[test], v)
					}
				}
			},
			func() {
				run := &driveRun{options: DriveOptions{Dir: dir, Rounds: 1, Scale: 1, SizeBytes: 1 << 30, Files: 16 << 10, Warm: true}, samples: map[string]map[string][]driveSample{}}
				if err := run.prepare(); err != nil {
					t.Fatal(err)
				}
				defer run.remove()
				if err := run.round(context.Background(), pair); err != nil {
					t.Fatal(err)
				}
				for test, s := range run.samples[folderSubject] {
					ours[test] = append(ours[test], s[0].value)
				}
			},
		}
		for i := range both {
			both[(i+pair)%2]()
		}
	}
	for _, test := range driveTests() {
		there, here := report.MakeFigure(theirs[test.name]), report.MakeFigure(ours[test.name])
		if there.Rounds == 0 {
			continue
		}
		ratio := here.Median / there.Median
		t.Logf("%-28s bonnie++ %9.0f (%.0f to %.0f, %d)  coffer %9.0f (%.0f to %.0f)  ratio %.2f", test.name, there.Median, there.Q1, there.Q3, there.Rounds, here.Median, here.Q1, here.Q3, ratio)
		if there.Rounds < *pairsFlag {
			continue // bonnie++ tells the slow ones only, those over half a second
		}
		if large := test.name == testPutChar || test.name == testGetChar || test.name == testWrite || test.name == testRewrite || test.name == testRead; large && (ratio < 0.9 || ratio > 1.1) {
			t.Errorf("%s differs by more than 10 %%", test.name)
		}
	}
}
