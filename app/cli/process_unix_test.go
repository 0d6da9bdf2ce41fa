//go:build unix

package cli_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// process is a run of the program whose JSON events a test follows.
type process struct {
	t       *testing.T
	command *exec.Cmd
	stdout  strings.Builder
	done    chan struct{} // stderr has been read to its end

	mu     sync.Mutex
	stderr strings.Builder
	events []event
}

// event is what tests need of a JSON line on stderr.
type event struct {
	Event   string `json:"event"`
	Stage   string `json:"stage"`
	Done    int64  `json:"done"`
	Total   int64  `json:"total"`
	Files   int64  `json:"files"`
	Bytes   int64  `json:"bytes"`
	Through string `json:"through"`
}

// start runs the program in folder, without a terminal.
func start(t *testing.T, folder string, args ...string) *process {
	t.Helper()
	return startCommand(t, folder, exec.Command(program, args...))
}

func startCommand(t *testing.T, folder string, command *exec.Cmd) *process {
	t.Helper()
	p := &process{t: t, command: command, done: make(chan struct{})}
	command.Dir = folder
	command.Env = append(os.Environ(), "HOME="+folder, "XDG_DATA_HOME="+folder+"/data", "XDG_CONFIG_HOME="+folder, "XDG_STATE_HOME="+folder)
	command.SysProcAttr = noTerminal()
	if command.Stdout == nil {
		command.Stdout = &p.stdout
	}
	stderr, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.done)
		lines := bufio.NewScanner(stderr)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			var e event
			p.mu.Lock()
			p.stderr.WriteString(lines.Text() + "\n")
			if json.Unmarshal(lines.Bytes(), &e) == nil {
				p.events = append(p.events, e)
			}
			p.mu.Unlock()
		}
	}()
	t.Cleanup(func() { command.Process.Kill() })
	return p
}

// wait returns exit code (-1: killed), stdout and stderr.
func (p *process) wait() (int, string, string) {
	p.t.Helper()
	<-p.done
	_ = p.command.Wait()
	return p.command.ProcessState.ExitCode(), p.stdout.String(), p.stderr.String()
}

// until waits for an event; false when the program ended before it came.
func (p *process) until(fits func(event) bool) bool {
	p.t.Helper()
	for seen := 0; ; time.Sleep(time.Millisecond) {
		p.mu.Lock()
		events := p.events
		p.mu.Unlock()
		for ; seen < len(events); seen++ {
			if fits(events[seen]) {
				return true
			}
		}
		select {
		case <-p.done:
			return false
		default:
		}
	}
}

// copying is the event that bytes are being copied.
func copying(e event) bool {
	return e.Event == "progress" && e.Stage == "copy" && e.Done > 0 && e.Done < e.Total
}

// run runs the program to its end and checks the exit code.
func run(t *testing.T, folder string, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	code, stdout, stderr := start(t, folder, args...).wait()
	if code != want {
		t.Fatalf("coffer %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), code, want, stdout, stderr)
	}
	return stdout, stderr
}

// makeImage makes a container that opens with the password file pw, at no cost for the key derivation.
func makeImage(t *testing.T, folder, name, size string) string {
	t.Helper()
	if err := os.WriteFile(filepath.Join(folder, "pw"), []byte("correct horse\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, folder, 0, "create", name, "--size", size, "--kdf-memory=64KiB", "--kdf-time=1", "--password-file", "pw", "--quiet")
	return filepath.Join(folder, name)
}

// untilCopying waits for the beginning of the copy and a moment more. Progress is told too seldom to wait for: on a fast
// disk 256 MiB are copied between two events.
func untilCopying(t *testing.T, p *process) {
	t.Helper()
	if !p.until(func(e event) bool { return e.Event == "stage" && e.Stage == "copy" }) {
		t.Fatal("the copy ended before it could be interrupted")
	}
	time.Sleep(10 * time.Millisecond)
}

func TestInterruptedCopyLeavesNoShortFile(t *testing.T) {
	folder := t.TempDir()
	makeImage(t, folder, "i.img", "700MiB")
	writeFile(t, filepath.Join(folder, "big.bin"), randomBytes(256<<20, 1))
	for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		p := start(t, folder, "copy", "big.bin", "i.img:/", "--password-file", "pw", "--json")
		untilCopying(t, p)
		begin := time.Now()
		p.command.Process.Signal(signal)
		code, _, stderr := p.wait()
		if code != 130 || !strings.Contains(stderr, "interrupted") {
			t.Fatalf("%v in: exit code %d\n%s", signal, code, stderr)
		}
		if took := time.Since(begin); took > 10*time.Second {
			t.Errorf("%v: it took %v to stop", signal, took)
		}
		run(t, folder, 1, "ls", "i.img:/big.bin", "--password-file", "pw")
		if out, _ := run(t, folder, 0, "check", "i.img", "--password-file", "pw"); !strings.Contains(out, "is clean") {
			t.Errorf("after %v: %s", signal, out)
		}
	}
	run(t, folder, 0, "copy", "big.bin", "i.img:/", "--password-file", "pw", "--resume")
	p := start(t, folder, "copy", "i.img:/big.bin", "out.bin", "--password-file", "pw", "--json")
	untilCopying(t, p)
	p.command.Process.Signal(syscall.SIGINT)
	if code, _, stderr := p.wait(); code != 130 {
		t.Fatalf("out: exit code %d\n%s", code, stderr)
	}
	if _, err := os.Stat(filepath.Join(folder, "out.bin")); !os.IsNotExist(err) {
		t.Errorf("an interrupted copy left a file under its final name: %v", err)
	}
	run(t, folder, 0, "copy", "i.img:/big.bin", "out.bin", "--password-file", "pw", "--resume", "--verify")
	if digest(t, filepath.Join(folder, "out.bin")) != digest(t, filepath.Join(folder, "big.bin")) {
		t.Error("the resumed copy differs")
	}
}

func TestInterruptedCreateLeavesNoFile(t *testing.T) {
	folder := t.TempDir()
	writeFile(t, filepath.Join(folder, "tree", "big.bin"), randomBytes(200<<20, 1))
	writeFile(t, filepath.Join(folder, "pw"), []byte("x y z\n"))
	p := start(t, folder, "create", "c.img", "--from", "tree", "--json", "--kdf-memory=64KiB", "--kdf-time=1", "--password-file", "pw")
	if !p.until(func(e event) bool { return e.Event == "stage" && e.Stage == "copy" }) {
		t.Fatal("create ended before it could be interrupted")
	}
	if !untilTaken(t, p, filepath.Join(folder, "c.img"), 20<<20) {
		t.Fatal("the copy ended before it could be stopped")
	}
	p.command.Process.Signal(syscall.SIGINT)
	if code, _, stderr := p.wait(); code != 130 {
		t.Fatalf("exit code %d\n%s", code, stderr)
	}
	if _, err := os.Stat(filepath.Join(folder, "c.img")); !os.IsNotExist(err) {
		t.Errorf("an interrupted create left a file: %v", err)
	}
}

func writeFile(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
