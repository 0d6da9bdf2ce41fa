package cli_test

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// needs finds a program that a test cannot do without.
func needs(t *testing.T, name, debianPackage string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatalf("%s is not installed: apt-get install %s", name, debianPackage)
	}
	return path
}

// traceFit is what testdata/tracefit.py prints.
type traceFit struct {
	TracedBytes, RecordedBytes                   int64
	Windows, Stalled                             int
	SeriesError                                  float64
	TraceMaximum, TraceMinimum, Maximum, Minimum float64
	AverageTimesSeconds, Seconds, WriteSeconds   float64
}

// tracedCopy copies a file under strace and compares record and trace. during runs once some of it is copied.
func tracedCopy(t *testing.T, during func(pid int)) traceFit {
	t.Helper()
	strace, python := needs(t, "strace", "strace"), needs(t, "python3", "python3")
	folder := t.TempDir()
	writeFile(t, filepath.Join(folder, "big.bin"), randomBytes(300<<20, 5))
	// With -D strace is the grandchild, so that signals reach the program.
	p := startCommand(t, folder, exec.Command(strace, "-D", "-f", "-ttt", "-T", "-y", "-e", "trace=write,pwrite64,pwritev,writev", "-o", "trace",
		program, "copy", "big.bin", "copy.bin", "--window", "50ms", "--report", "r.json", "--json"))
	untilCopying(t, p)
	during(p.command.Process.Pid)
	if code, out, complaint := p.wait(); code != 0 {
		t.Fatalf("exit code %d\n%s%s", code, out, complaint)
	}
	trace := filepath.Join(folder, "trace")
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) { // strace ends a moment later
		data, err := os.ReadFile(trace)
		if err == nil && strings.Contains(string(data[max(0, len(data)-400):]), "exited with 0") {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the trace does not end")
		}
	}
	out, err := exec.Command(python, "testdata/tracefit.py", trace, filepath.Join(folder, "r.json")).CombinedOutput()
	if err != nil {
		t.Fatalf("tracefit: %v\n%s", err, out)
	}
	var fit traceFit
	if err := json.Unmarshal(out, &fit); err != nil {
		t.Fatalf("%v in %s", err, out)
	}
	t.Logf("%s", out)
	if fit.TracedBytes != 300<<20 || fit.RecordedBytes != 300<<20 {
		t.Errorf("%d bytes traced, %d recorded, want %d", fit.TracedBytes, fit.RecordedBytes, 300<<20)
	}
	if d := math.Abs(fit.AverageTimesSeconds/(300<<20) - 1); d > 0.02 { // the clock of rates and that of stages are read one after the other
		t.Errorf("average times seconds differs from the bytes by %g", d)
	}
	if fit.WriteSeconds > fit.Seconds {
		t.Errorf("writes took %v s, the record says %v s", fit.WriteSeconds, fit.Seconds)
	}
	if fit.Windows < 3 || fit.SeriesError > 0.05 {
		t.Errorf("%d windows differ from the trace by %.1f %%", fit.Windows, 100*fit.SeriesError)
	}
	for _, pair := range [][2]float64{{fit.Maximum, fit.TraceMaximum}, {fit.Minimum, fit.TraceMinimum}} {
		if math.Abs(pair[0]-pair[1]) > 0.05*fit.TraceMaximum {
			t.Errorf("the record says %.3g, the trace %.3g", pair[0], pair[1])
		}
	}
	return fit
}

// TestRatesAgreeWithATraceOfTheWrites computes average, maximum, minimum and every window again, in another language, from
// what the kernel saw.
func TestRatesAgreeWithATraceOfTheWrites(t *testing.T) {
	tracedCopy(t, func(int) {})
}

// TestRatesOfAStoppedProgram: what was not copied while the program was stopped is missing in the windows of that time, and
// does not pile up in the one after it.
func TestRatesOfAStoppedProgram(t *testing.T) {
	const stop = 600 * time.Millisecond
	fit := tracedCopy(t, func(pid int) {
		if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		time.Sleep(stop)
		if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
	})
	if fit.Minimum != 0 || fit.Stalled < 9 { // 12 windows of 50 ms, but for both ends and the latency of signals
		t.Errorf("%d windows without bytes, minimum %v", fit.Stalled, fit.Minimum)
	}
	if fit.Seconds < stop.Seconds() {
		t.Errorf("%v s", fit.Seconds)
	}
}

// TestRatesOfOneByte: finite, and one byte.
func TestRatesOfOneByte(t *testing.T) {
	folder := t.TempDir()
	makeImage(t, folder, "i.img", "48MiB")
	writeFile(t, filepath.Join(folder, "one"), []byte{7})
	for _, target := range []string{"i.img:/", "plain"} {
		out, _ := run(t, folder, 0, "copy", "one", target, "--password-file", "pw", "--json")
		var r struct {
			Bytes, Files int64
			Seconds      struct{ Copy, Sync float64 }
			Rates        struct {
				SingleWindow              bool
				Average, Maximum, Minimum float64
				Series                    []float64
			}
		}
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
		seconds := r.Seconds.Copy + r.Seconds.Sync
		if r.Bytes != 1 || r.Files != 1 || seconds <= 0 || math.Abs(r.Rates.Average*seconds-1) > 0.2 || r.Rates.Maximum < r.Rates.Minimum ||
			r.Rates.SingleWindow && (r.Rates.Maximum != r.Rates.Average || len(r.Rates.Series) != 0) {
			t.Errorf("to %s: %+v", target, r)
		}
	}
}

// TestRatesWhenTheClockJumps sets the clock of a real kernel forth by hours and back by more while a copy runs: durations
// and rates know nothing of it.
func TestRatesWhenTheClockJumps(t *testing.T) {
	umlrun, err := filepath.Abs("../../.ci/umlrun")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	writeFile(t, filepath.Join(folder, "big.bin"), randomBytes(200<<20, 6))
	writeFile(t, filepath.Join(folder, "jump"), []byte(`cd "$1" || exit 3
export HOME=$1 XDG_DATA_HOME=$1 XDG_CONFIG_HOME=$1
before=$(cut -d. -f1 /proc/uptime)
"$2" copy big.bin copy.bin --window 50ms --report r.json --quiet &
for i in $(seq 500); do [ -n "$(find . -name '.coffer-part-*' -size +8M)" ] && break; sleep 0.01; done
date -s '+3 hours' >/dev/null || exit 4
ls .coffer-part-* > running || exit 5
sleep 0.05
date -s '-9 hours' >/dev/null || exit 4
wait $! || exit 6
echo $(($(cut -d. -f1 /proc/uptime) - before + 1)) > lasted
`))
	if out, err := exec.Command(umlrun, filepath.Join(folder, "jump"), folder, program).CombinedOutput(); err != nil {
		t.Fatalf("umlrun: %v\n%s", err, out)
	}
	data, err := os.ReadFile(filepath.Join(folder, "r.json"))
	if err != nil {
		t.Fatal(err)
	}
	var records []struct {
		Bytes   int64
		Seconds struct{ Total, Copy, Sync float64 }
		Rates   struct{ Average, Maximum, Minimum float64 }
	}
	if err := json.Unmarshal(data, &records); err != nil || len(records) != 1 {
		t.Fatal(err, len(records))
	}
	lasted, err := os.ReadFile(filepath.Join(folder, "lasted"))
	if err != nil {
		t.Fatal(err)
	}
	var longest float64
	if err := json.Unmarshal(lasted, &longest); err != nil {
		t.Fatal(err)
	}
	r := records[0]
	t.Logf("%+v, by uptime at most %v s", r, longest)
	if seconds := r.Seconds.Copy + r.Seconds.Sync; r.Bytes != 200<<20 || seconds <= 0.05 || r.Seconds.Total > longest || math.Abs(r.Rates.Average*seconds/float64(r.Bytes)-1) > 0.02 {
		t.Errorf("%+v, by uptime at most %v s", r, longest)
	}
	if r.Rates.Minimum < 0 || r.Rates.Maximum > 20e9 || r.Rates.Maximum < r.Rates.Average {
		t.Errorf("%+v", r.Rates)
	}
}
