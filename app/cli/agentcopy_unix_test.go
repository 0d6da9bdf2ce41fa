//go:build unix

package cli_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// agentFolder is a folder with an unlocked container, one big file to copy and a few small ones.
func agentFolder(t *testing.T) string {
	t.Helper()
	t.Setenv("XDG_RUNTIME_DIR", private(t))
	folder := t.TempDir()
	makeImage(t, folder, "a.img", "700MiB")
	for i := range 5 {
		writeFile(t, filepath.Join(folder, "tree", fmt.Sprint("a small file ", i)), randomBytes(20_000, uint64(i)))
	}
	big := filepath.Join(folder, "tree", "big")
	writeFile(t, big, randomBytes(1<<20, 99))
	if err := os.Truncate(big, 500<<20); err != nil {
		t.Fatal(err)
	}
	run(t, folder, 0, "unlock", "a.img", "--no-mount", "--password-file", "pw", "--quiet")
	t.Cleanup(func() { run(t, folder, 0, "lock", "--all", "--force") })
	return folder
}

// wantClean fails unless the locked container is clean.
func wantClean(t *testing.T, folder string) {
	t.Helper()
	if out, _ := run(t, folder, 0, "check", "a.img", "--password-file", "pw"); !strings.Contains(out, "is clean") {
		t.Errorf("check: %s", out)
	}
}

// stuckDump is a dump whose reader takes nothing.
func stuckDump(t *testing.T, folder string) (dump *process, reader *os.File) {
	t.Helper()
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(program, "dump", "a.img", "-")
	command.Stdout = writer
	dump = startCommand(t, folder, command)
	_ = writer.Close()
	time.Sleep(300 * time.Millisecond) // the pipe is full
	return dump, reader
}

// records are the outcomes of all copies of which there is a record.
func records(t *testing.T, folder string) string {
	t.Helper()
	out, _ := run(t, folder, 0, "report", "list", "--json")
	var list struct {
		Records []struct {
			Outcome string `json:"outcome"`
		} `json:"records"`
	}
	if err := json.Unmarshal([]byte(out), &list); err != nil {
		t.Fatal(err)
	}
	var outcomes []string
	for _, r := range list.Records {
		outcomes = append(outcomes, r.Outcome)
	}
	return strings.Join(outcomes, " ")
}

// stopCopy begins a copy and sends its command a signal on the way; the command has ended. A copy that was faster is
// begun again.
func stopCopy(t *testing.T, folder string, signal os.Signal) *process {
	t.Helper()
	for try := 1; ; try++ {
		p := start(t, folder, "copy", "tree", "a.img:/", "--json")
		if p.until(copying) {
			_ = p.command.Process.Signal(signal) // it may have ended
		}
		code, out, stderr := p.wait()
		if code != 0 {
			return p
		}
		if try == 8 {
			t.Fatalf("the copy always ends before it can be stopped\n%s%s", out, stderr)
		}
		run(t, folder, 0, "rm", "-r", "a.img:/tree")
		if err := os.RemoveAll(filepath.Join(folder, "data")); err != nil { // its record
			t.Fatal(err)
		}
	}
}

// TestInterruptCopyInAgent: Ctrl-C ends a copy that runs in the agent as it ends one that runs in the command. The command
// still tells what was copied, one record is kept, and a resumed copy brings the rest.
func TestInterruptCopyInAgent(t *testing.T) {
	folder := agentFolder(t)
	p := stopCopy(t, folder, os.Interrupt)
	code, out, stderr := p.wait()
	if code != 130 || !strings.Contains(stderr, "coffer: interrupted") {
		t.Errorf("exit code %d, want 130\n%s%s", code, out, stderr)
	}
	var record struct{ Outcome, ID string }
	if err := json.Unmarshal([]byte(out), &record); err != nil || record.Outcome != "cancelled" {
		t.Errorf("the document of an interrupted copy: %v, %+v\n%s", err, record, out)
	}
	if got := records(t, folder); got != "cancelled" {
		t.Errorf("records %q, want one, cancelled", got)
	}
	if out, _ := run(t, folder, 0, "ls", "a.img:/tree"); strings.Contains(out, "/tree/big\n") {
		t.Errorf("a file that was not copied whole stands under its name:\n%s", out)
	}
	run(t, folder, 0, "copy", "--resume", "--verify", "tree", "a.img:/")
	if got := records(t, folder); got != "cancelled done" {
		t.Errorf("records %q after the resumed copy", got)
	}
	run(t, folder, 0, "lock", "a.img") // nothing is in the way
	run(t, folder, 0, "copy", "a.img:/tree", "out", "--password-file", "pw", "--quiet")
	for _, name := range []string{"big", "a small file 3"} {
		want, err := os.ReadFile(filepath.Join(folder, "tree", name))
		got, gotErr := os.ReadFile(filepath.Join(folder, "out", name))
		if err != nil || gotErr != nil || string(want) != string(got) {
			t.Errorf("%s differs after an interrupted and resumed copy: %v, %v", name, err, gotErr)
		}
	}
	wantClean(t, folder)
}

// TestKilledClientCancelsItsCopy: a command that is killed takes its job with it; what was acknowledged stays.
func TestKilledClientCancelsItsCopy(t *testing.T) {
	folder := agentFolder(t)
	stopCopy(t, folder, syscall.SIGKILL)
	for begin := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		out, _ := run(t, folder, 0, "list", "--json")
		if strings.Contains(out, `"jobs": 0`) {
			break
		}
		if time.Since(begin) > 10*time.Second {
			t.Fatalf("the job of a killed command goes on:\n%s", out)
		}
	}
	if got := records(t, folder); got != "cancelled" && got != "done" { // in its last moment
		t.Errorf("records %q, want one", got)
	}
	run(t, folder, 0, "copy", "--resume", "tree", "a.img:/", "--quiet")
	run(t, folder, 0, "lock", "a.img")
	wantClean(t, folder)
}

// TestForcedLockDuringCopy: a forced lock ends a copy cleanly, and a resumed one brings the rest.
func TestForcedLockDuringCopy(t *testing.T) {
	folder := agentFolder(t)
	for try := 1; ; try++ {
		p := start(t, folder, "copy", "--force", "tree", "a.img:/", "--json")
		p.until(copying)
		run(t, folder, 0, "lock", "a.img", "--force")
		code, out, stderr := p.wait()
		if code == 0 && try < 8 { // faster than the lock
			run(t, folder, 0, "unlock", "a.img", "--no-mount", "--password-file", "pw", "--quiet")
			run(t, folder, 0, "rm", "-r", "a.img:/tree")
			continue
		}
		if code == 0 || !strings.Contains(stderr, "lock") {
			t.Errorf("a copy whose container was locked: exit code %d\n%s%s", code, out, stderr)
		}
		break
	}
	wantClean(t, folder)
	run(t, folder, 0, "copy", "--resume", "--verify", "tree", "a.img:/", "--password-file", "pw", "--quiet")
}

// TestDumpToASlowReader: a dump whose reader takes nothing holds the writers of the drive; Ctrl-C lets them go on at once.
func TestDumpToASlowReader(t *testing.T) {
	folder := agentFolder(t)
	p, reader := stuckDump(t, folder)
	defer reader.Close()
	late := start(t, folder, "mkdir", "a.img:/later")
	writing := make(chan int, 1)
	go func() {
		code, _, _ := late.wait()
		writing <- code
	}()
	select {
	case <-writing:
		t.Error("the container did not stand still while it was dumped")
	case <-time.After(300 * time.Millisecond):
	}
	if err := p.command.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	select {
	case code := <-writing:
		if code != 0 {
			t.Errorf("the writer that waited: exit code %d", code)
		}
	case <-time.After(10 * time.Second):
		t.Error("writers still wait after the dump was interrupted")
	}
	reader.Close()
	if code, _, stderr := p.wait(); code != 130 {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// TestStoppedClientStopsNobody: a check whose command is stopped (Ctrl-Z) ends nevertheless, so that the writers of the
// drive go on.
func TestStoppedClientStopsNobody(t *testing.T) {
	folder := agentFolder(t)
	run(t, folder, 0, "mkdir", "a.img:/many")
	p := start(t, folder, "check", "a.img", "--json")
	if err := p.command.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	run(t, folder, 0, "mkdir", "a.img:/many/more")
	if took := time.Since(begin); took > 10*time.Second {
		t.Errorf("a writer waited %v", took)
	}
	if err := p.command.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if code, out, stderr := p.wait(); code != 0 {
		t.Errorf("the stopped check: exit code %d\n%s%s", code, out, stderr)
	}
}

// TestForcedLockDuringStuckDump: not even a dump whose reader takes nothing keeps a forced lock away.
func TestForcedLockDuringStuckDump(t *testing.T) {
	folder := agentFolder(t)
	p, reader := stuckDump(t, folder)
	defer reader.Close()
	if _, stderr := run(t, folder, 5, "lock", "a.img"); !strings.Contains(stderr, "dump") {
		t.Errorf("a refused lock does not name what is in the way: %s", stderr)
	}
	begin := time.Now()
	run(t, folder, 0, "lock", "a.img", "--force")
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("the lock took %v", took)
	}
	reader.Close()
	if code, _, _ := p.wait(); code == 0 {
		t.Error("a dump that was cut short ended with 0")
	}
	wantClean(t, folder)
}
