//go:build linux

package image_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"coffer/container/image"
)

// TestMain runs the helper when the test binary was started as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "image-helper" {
		os.Exit(helper(os.Args[2:]))
	}
	os.Exit(m.Run())
}

// helper is what the tests run in other processes. It prints one line.
func helper(args []string) int {
	switch args[0] {
	case "open": // open PATH [read-only]: prints the outcome
		f, err := image.Open(args[1], len(args) > 2)
		var inUse *image.InUseError
		switch {
		case errors.As(err, &inUse):
			fmt.Println("in use by", inUse.PID, inUse.Program)
		case err != nil:
			fmt.Println("error", err)
		default:
			fmt.Println("opened")
			_, _ = io.Copy(io.Discard, os.Stdin) // held until the parent closes it
			_ = f.Close()
		}
	case "fill": // fill DIR: a thin image on a full host
		fmt.Println(fillThin(args[1]))
	case "create": // create PATH SIZE [preallocate]
		var size int64
		_, _ = fmt.Sscan(args[2], &size)
		_, err := image.Create(args[1], size, image.Options{Preallocate: len(args) > 3})
		_, statErr := os.Lstat(args[1])
		fmt.Println("no space", errors.Is(err, image.ErrNoSpace) && errors.Is(err, syscall.ENOSPC),
			"too large", errors.Is(err, image.ErrFileTooLarge), "left behind", statErr == nil)
	}
	return 0
}

// fillThin writes a sparse image until the host is full, frees space, goes on.
func fillThin(dir string) string {
	ballast := filepath.Join(dir, "ballast")
	f, err := image.Create(filepath.Join(dir, "thin.img"), 8<<20, image.Options{})
	if err != nil {
		return err.Error()
	}
	if err := os.WriteFile(ballast, make([]byte, 512<<10), 0o600); err != nil {
		return err.Error()
	}
	p, off := make([]byte, 64<<10), int64(0)
	for ; err == nil; off += int64(len(p)) {
		_, err = f.WriteAt(p, off)
	}
	if !errors.Is(err, image.ErrNoSpace) {
		return "not ErrNoSpace: " + err.Error()
	}
	if err := os.Remove(ballast); err != nil {
		return err.Error()
	}
	if _, err := f.WriteAt(p, off-int64(len(p))); err != nil {
		return "after freeing space: " + err.Error()
	}
	if err := f.Sync(); err != nil {
		return "sync after freeing space: " + err.Error()
	}
	return "full, freed, went on"
}

// inNamespace gives a command that runs script, with "$0" the test binary, as
// root of a mount namespace of its own.
func inNamespace(t *testing.T, script string, args ...string) *exec.Cmd {
	t.Helper()
	flag := "-m"
	if os.Getuid() != 0 {
		flag = "-rm"
	}
	unshare, err := exec.LookPath("unshare")
	if err != nil {
		t.Fatal("unshare is missing: apt-get install util-linux")
	}
	return exec.Command(unshare, append([]string{flag, "sh", "-ec", script, os.Args[0]}, args...)...)
}

// TestInUse: one writer, whatever the path it comes by; readers share; the
// loser hears at once who holds the image.
func TestInUse(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.img")
	if err := errors.Join(os.WriteFile(path, make([]byte, 100), 0o600), os.Symlink(path, filepath.Join(dir, "symlink")),
		os.Link(path, filepath.Join(dir, "hardlink")), os.Mkdir(filepath.Join(dir, "bind"), 0o700)); err != nil {
		t.Fatal(err)
	}
	holder := exec.Command(os.Args[0], "image-helper", "open", path)
	stdin, err1 := holder.StdinPipe()
	stdout, err2 := holder.StdoutPipe()
	if err := errors.Join(err1, err2, holder.Start()); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); line != "opened\n" {
		t.Fatalf("holder: %q %v", line, err)
	}
	want := fmt.Sprintf("in use by %d %s", holder.Process.Pid, filepath.Base(os.Args[0])[:min(15, len(filepath.Base(os.Args[0])))])
	for _, name := range []string{"a.img", "symlink", "hardlink", "../" + filepath.Base(dir) + "/a.img"} {
		for _, readOnly := range []bool{false, true} {
			start := time.Now()
			_, err := image.Open(filepath.Join(dir, name), readOnly)
			var inUse *image.InUseError
			if !errors.Is(err, image.ErrInUse) || !errors.As(err, &inUse) || inUse.PID != holder.Process.Pid {
				t.Errorf("%s, read-only %v: %v", name, readOnly, err)
			}
			if d := time.Since(start); d > time.Second {
				t.Errorf("took %v", d)
			}
		}
	}
	out, err := inNamespace(t, `mount --bind "$1" "$1/bind"; exec "$0" image-helper open "$1/bind/a.img"`, dir).CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != want {
		t.Errorf("through a bind mount: %q %v, want %q", out, err, want)
	}
	if f, err := image.OpenUnlocked(path); err != nil {
		t.Errorf("looking without a lock: %v", err)
	} else {
		_ = f.Close()
	}
	if err := errors.Join(stdin.Close(), holder.Wait()); err != nil {
		t.Fatal(err)
	}
	// Free again, and readers share but keep writers out.
	r1, err1 := image.Open(path, true)
	r2, err2 := image.Open(path, true)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	if _, err := image.Open(path, false); !errors.Is(err, image.ErrInUse) {
		t.Errorf("a writer beside readers: %v", err)
	}
	if err := errors.Join(r1.Close(), r2.Close()); err != nil {
		t.Fatal(err)
	}
	w, err := image.Open(path, false)
	if err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
}

// TestHostFull runs on a tmpfs of 1 MiB.
func TestHostFull(t *testing.T) {
	dir := t.TempDir()
	for script, want := range map[string]string{
		`exec "$0" image-helper fill "$1"`:                             "full, freed, went on",
		`exec "$0" image-helper create "$1/a.img" 4000000 preallocate`: "no space true too large false left behind false",
	} {
		out, err := inNamespace(t, `mount -t tmpfs -o size=1m tmpfs "$1"; `+script, dir).CombinedOutput()
		if err != nil || strings.TrimSpace(string(out)) != want {
			t.Errorf("%s: %q %v, want %q", script, out, err, want)
		}
	}
}

// TestFileLimit: a process limit on file sizes is reported before any work.
func TestFileLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.img")
	out, err := exec.Command("sh", "-c", `ulimit -f 100; exec "$0" image-helper create "$1" 4000000`, os.Args[0], path).CombinedOutput()
	if want := "no space false too large true left behind false"; err != nil || strings.TrimSpace(string(out)) != want {
		t.Errorf("%q %v, want %q", out, err, want)
	}
}
