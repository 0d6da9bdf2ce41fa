package cli_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestInterruptWhileWaitingForASecret: a secret that never comes, from whatever source, does not hold the program.
func TestInterruptWhileWaitingForASecret(t *testing.T) {
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
		signal := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}[i%4]
		command := exec.Command(program, args...)
		command.Stdin, command.ExtraFiles = silent, []*os.File{silent}
		p := startCommand(t, folder, command)
		time.Sleep(300 * time.Millisecond)
		begin := time.Now()
		if err := command.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		code, _, stderr := p.wait()
		if code != 130 || !strings.Contains(stderr, "coffer: interrupted") || time.Since(begin) > 5*time.Second {
			t.Errorf("%v, %v: exit code %d after %v\n%s", args, signal, code, time.Since(begin), stderr)
		}
		if strings.Contains(stderr, "goroutine") || strings.Contains(stderr, "rax") {
			t.Errorf("%v printed a dump:\n%s", signal, stderr)
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

// TestSignalInTheFirstMoments: however early a signal comes once the program runs, it counts as an interruption.
func TestSignalInTheFirstMoments(t *testing.T) {
	folder := t.TempDir()
	makeImage(t, folder, "a.img", "16MiB")
	if err := syscall.Mkfifo(filepath.Join(folder, "fifo"), 0o600); err != nil {
		t.Fatal(err)
	}
	for delay := 4 * time.Millisecond; delay < 80*time.Millisecond; delay += 4 * time.Millisecond {
		p := start(t, folder, "ls", "a.img:/", "--keyfile", "fifo")
		caught(t, p.command.Process.Pid)
		time.Sleep(delay - 4*time.Millisecond)
		if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if code, _, stderr := p.wait(); code != 130 {
			t.Errorf("after %v: exit code %d\n%s", delay, code, stderr)
		}
	}
}

// caught waits until the Go runtime of the process has its signal handlers: before that no program of this language can
// do anything about a signal.
func caught(t *testing.T, pid int) {
	t.Helper()
	const sigterm = 1 << (15 - 1)
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(50 * time.Microsecond) {
		status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			t.Fatal(err)
		}
		_, after, _ := strings.Cut(string(status), "SigCgt:\t")
		mask, err := strconv.ParseUint(strings.TrimSpace(after[:min(16, len(after))]), 16, 64)
		if err == nil && mask&sigterm != 0 {
			time.Sleep(2 * time.Millisecond) // the runtime starts, then the packages
			return
		}
	}
	t.Fatal("the process never caught SIGTERM")
}
