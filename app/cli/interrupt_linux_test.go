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

// TestInterruptWhileWaitingForASecret: a secret that never comes, from whatever source, does not hold the program.
func TestInterruptWhileWaitingForASecret(t *testing.T) {
	// Whoever runs the tests under nohup has SIGHUP ignored, and the program respects that.
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, syscall.SIGHUP)
	defer signal.Stop(heard)
	folder := t.TempDir()
	makeImage(t, folder, "a.img", "16MiB")
	if err := syscall.Mkfifo(filepath.Join(folder, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	silent, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	defer writer.Close()
	for i, args := range [][]string{
		{"create", "new.img", "--size", "16MiB", "--keyfile", "fifo"},
		{"create", "new.img", "--size", "16MiB", "--password-file", "pw", "--keyfile", "fifo"},
		{"create", "new.img", "--size", "16MiB", "--password-file", "fifo"},
		{"create", "new.img", "--size", "16MiB", "--password-stdin"},
		{"create", "new.img", "--size", "16MiB", "--password-fd", "3"},
		{"key", "add", "a.img", "--password-file", "pw", "--new-keyfile", "fifo"},
		{"ls", "a.img:/", "--keyfile", "fifo"},
	} {
		sent := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}[i%4]
		command := exec.Command(program, args...)
		command.Stdin, command.ExtraFiles = silent, []*os.File{silent}
		p := startCommand(t, folder, command)
		time.Sleep(300 * time.Millisecond)
		begin := time.Now()
		if err := command.Process.Signal(sent); err != nil {
			t.Fatal(err)
		}
		code, _, stderr := p.wait()
		if code != 130 || !strings.Contains(stderr, "coffer: interrupted") || time.Since(begin) > 5*time.Second {
			t.Errorf("%v, %v: exit code %d after %v\n%s", args, sent, code, time.Since(begin), stderr)
		}
		if strings.Contains(stderr, "goroutine") || strings.Contains(stderr, "rax") {
			t.Errorf("%v printed a dump:\n%s", sent, stderr)
		}
		if _, err := os.Lstat(filepath.Join(folder, "new.img")); !os.IsNotExist(err) {
			t.Fatalf("%v left a file: %v", args, err)
		}
	}
}

// TestKeyFileFromAPipe: what does come through a pipe is used whole.
func TestKeyFileFromAPipe(t *testing.T) {
	folder := t.TempDir()
	makeImage(t, folder, "a.img", "16MiB")
	run(t, folder, 0, "keyfile", "new", "usb.key")
	run(t, folder, 0, "key", "add", "a.img", "--password-file", "pw", "--new-keyfile", "usb.key", "--new-password-file", "pw", "--kdf-memory=64KiB", "--kdf-time=1")
	if err := syscall.Mkfifo(filepath.Join(folder, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, folder, "ls", "a.img:/", "--keyfile", "fifo", "--password-file", "pw")
	content, err := os.ReadFile(filepath.Join(folder, "usb.key"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "fifo"), content, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := p.wait(); code != 0 {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}

// TestSignalInTheFirstMoments: a signal that comes while packages are still being initialised counts as an interruption.
// The runtime's trace of initialisation tells when ours is there; the package that takes longest (word lists) must come after it.
func TestSignalInTheFirstMoments(t *testing.T) {
	folder := t.TempDir()
	makeImage(t, folder, "a.img", "16MiB")
	if err := syscall.Mkfifo(filepath.Join(folder, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GODEBUG", "inittrace=1")
	for delay := time.Duration(0); delay < 60*time.Millisecond; delay += 3 * time.Millisecond {
		p := start(t, folder, "ls", "a.img:/", "--keyfile", "fifo")
		before := initialised(t, p, "coffer/app/cli/interrupt")
		if strings.Contains(before, "zxcvbn/matching ") {
			t.Fatalf("the package that takes longest is initialised first:\n%s", before)
		}
		time.Sleep(delay)
		if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if code, _, stderr := p.wait(); code != 130 {
			t.Errorf("after %v: exit code %d\n%s", delay, code, stderr)
		}
	}
}

// initialised waits until a package of the process has been initialised, and returns the trace up to there.
func initialised(t *testing.T, p *process, path string) string {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Microsecond) {
		p.mu.Lock()
		shown := p.stderr.String()
		p.mu.Unlock()
		if before, _, found := strings.Cut(shown, "init "+path+" "); found {
			return before
		}
	}
	t.Fatalf("%s was never initialised", path)
	return ""
}
