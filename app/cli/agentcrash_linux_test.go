package cli_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestCrashedAgent: an agent that the runtime ends leaves a report, which the next command names once. It holds neither
// names from inside nor values. What was synced before is there.
func TestCrashedAgent(t *testing.T) {
	d := withDrives(t, "32MiB")
	pid := d.unlock()
	crashFiles := filepath.Join(d.folder, "run", "coffer", "*.crash")
	if files, err := filepath.Glob(crashFiles); err != nil || len(files) != 1 {
		t.Fatalf("crash files while unlocked: %q %v", files, err)
	} else if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 || info.Size() != 0 {
		t.Errorf("the crash file: %v %v, want an empty one for its owner only", info, err)
	}
	w := startWriter(t, d.point, 7)
	time.Sleep(200 * time.Millisecond)
	if err := syscall.Kill(pid, syscall.SIGSEGV); err != nil { // the runtime takes it for a fault in its own code
		t.Fatal(err)
	}
	acknowledged := w.wait(t)
	ended(t, pid, 5*time.Second)
	_, stderr := run(t, d.folder, 0, "list")
	said := regexp.MustCompile(`^coffer: warning: the process that held (\S+) open \((\d+)\) has crashed; its drive (\S+) was detached; a report .* is in (\S+)\n$`).FindStringSubmatch(stderr)
	if said == nil || said[1] != d.image || said[3] != d.point {
		t.Fatalf("what is said of a crashed agent:\n%s", stderr)
	}
	if folder := filepath.Join(d.folder, "coffer", "crashes"); filepath.Dir(said[4]) != folder {
		t.Errorf("the report is in %s, want in %s", said[4], folder)
	}
	report, err := os.ReadFile(said[4])
	if err != nil {
		t.Fatal(err)
	}
	for _, wanted := range []string{"SIGSEGV: segmentation violation\n", "\ngoroutine 1 [", "coffer/app/agent.Serve(...)\n\tserve.go:"} {
		if !strings.Contains(string(report), wanted) {
			t.Errorf("the report lacks %q:\n%s", wanted, report)
		}
	}
	for name := range acknowledged {
		if strings.Contains(string(report), name) {
			t.Errorf("the report names %s", name)
		}
	}
	if leaked := regexp.MustCompile(`0x|/home|` + regexp.QuoteMeta(d.folder)).Find(report); leaked != nil {
		t.Errorf("the report holds %q:\n%s", leaked, report)
	}
	if _, stderr := run(t, d.folder, 0, "list"); stderr != "" {
		t.Errorf("said twice: %s", stderr)
	}
	d.tidy()
	d.unlock()
	if len(acknowledged) == 0 {
		t.Error("nothing was written: the test tests little")
	}
	for name, want := range acknowledged {
		if got, err := os.ReadFile(filepath.Join(d.point, name)); err != nil || string(got) != string(want) {
			t.Errorf("%s is lost or wrong (%d of %d bytes, %v)", name, len(got), len(want), err)
		}
	}
	run(t, d.folder, 0, "lock", "a.img")
	d.tidy() // no crash file after a clean end
}
