package cli_test

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// underNohup: what these tests start ignores SIGHUP as they do. Asked at the start, for a test that listens changes the answer.
var underNohup = signal.Ignored(syscall.SIGHUP)

// TestLabInterrupted: a signal at any moment of an experiment, even two of them, leaves nothing behind: no file, no drive, no agent.
func TestLabInterrupted(t *testing.T) {
	for name, c := range map[string]struct {
		args    []string
		reached string // what the progress tells before the signal
		signal  os.Signal
		twice   bool
	}{
		"making":         {[]string{"copy", "--quick", "--warm"}, "making", os.Interrupt, false},
		"in":             {[]string{"copy", "--quick", "--warm"}, "plain → luks2", syscall.SIGTERM, false},
		"out":            {[]string{"copy", "--quick", "--warm"}, "luks2 → plain", os.Interrupt, true},
		"through drives": {[]string{"copy", "--quick", "--warm", "--via", "mount"}, "plain → luks2", os.Interrupt, false},
		"drives, twice":  {[]string{"copy", "--quick", "--warm", "--via", "mount", "--only", "a"}, "luks2 → plain", syscall.SIGHUP, true},
		"ciphers":        {[]string{"ciphers", "--quick"}, "3DES", os.Interrupt, false},
		"drive":          {[]string{"drive", "work", "--warm", "--size", "64MiB"}, "seeks", os.Interrupt, false},
	} {
		t.Run(name, func(t *testing.T) {
			if c.signal == syscall.SIGHUP && underNohup {
				c.signal = syscall.SIGTERM
			}
			folder := t.TempDir()
			for _, sub := range []string{"work", "run"} {
				if err := os.Mkdir(filepath.Join(folder, sub), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			t.Setenv("XDG_RUNTIME_DIR", filepath.Join(folder, "run"))
			args := append([]string{"lab"}, append(c.args, "--json")...)
			if c.args[0] != "drive" {
				args = append(args, "--at", "work")
			}
			p := startCommand(t, folder, exec.Command(program, args...))
			waitForStage(t, p, c.reached)
			begin := time.Now()
			for range map[bool]int{false: 1, true: 2}[c.twice] {
				if err := p.command.Process.Signal(c.signal); err != nil {
					t.Fatal(err)
				}
				time.Sleep(20 * time.Millisecond)
			}
			code, _, stderr := p.wait()
			if code != 130 || !strings.Contains(stderr, "coffer: interrupted") || time.Since(begin) > 20*time.Second {
				t.Errorf("exit code %d after %v\n%s", code, time.Since(begin), stderr)
			}
			if left, err := os.ReadDir(filepath.Join(folder, "work")); err != nil || len(left) != 0 {
				t.Errorf("left behind: %v %v", left, err)
			}
			if mounts, err := os.ReadFile("/proc/self/mountinfo"); err != nil || strings.Contains(string(mounts), folder) {
				t.Errorf("a drive is left (%v)", err)
			}
			if code, out, stderr := start(t, folder, "list").wait(); code != 0 || strings.Contains(out, ".img") {
				t.Errorf("list: %d %s %s", code, out, stderr)
			}
			if kept, _ := filepath.Glob(filepath.Join(folder, "data", "coffer", "*", "*")); len(kept) != 0 {
				t.Errorf("an interrupted experiment was kept: %v", kept)
			}
		})
	}
}

// waitForStage waits until the progress of p tells this.
func waitForStage(t *testing.T, p *process, want string) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		p.mu.Lock()
		for _, e := range p.events {
			if strings.Contains(e.Stage, want) {
				p.mu.Unlock()
				return
			}
		}
		shown := p.stderr.String()
		p.mu.Unlock()
		select {
		case <-p.done:
			t.Fatalf("ended before %q:\n%s", want, shown)
		default:
		}
	}
	t.Fatalf("%q was never reached", want)
}

// TestLabThroughDrives: the experiment with real drives; figures agree with the time that passed outside.
func TestLabThroughDrives(t *testing.T) {
	folder := t.TempDir()
	for _, sub := range []string{"work", "run"} {
		if err := os.Mkdir(filepath.Join(folder, sub), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("XDG_RUNTIME_DIR", filepath.Join(folder, "run"))
	p := start(t, folder, "lab", "copy", "--quick", "--scale", "0.02", "--rounds", "1", "--warm", "--via", "mount", "--at", "work")
	code, out, stderr := p.wait()
	if code != 0 || !strings.Contains(out, "luks2 → plain") || !strings.Contains(out, "through drives") {
		t.Fatalf("exit code %d\n%s%s", code, out, stderr)
	}
	if left, err := os.ReadDir(filepath.Join(folder, "work")); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}
