package cli_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// inNamespace says that this process is the child that TestFullDisk started in a mount namespace of its own.
const inNamespace = "COFFER_TEST_IN_NAMESPACE"

// TestFullDisk lets the disk below a thin container fill up in the middle of a copy (a sized tmpfs): exit code 6, and the
// volume stays sound. It runs itself again in a mount namespace of its own.
func TestFullDisk(t *testing.T) {
	if os.Getenv(inNamespace) == "" {
		args := []string{"-m"}
		if os.Getuid() != 0 {
			args = []string{"-r", "-m"}
		}
		again := exec.Command("unshare", append(args, os.Args[0], "-test.run=^TestFullDisk$", "-test.v")...)
		again.Env = append(os.Environ(), inNamespace+"=1")
		out, err := again.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS: TestFullDisk") {
			t.Fatalf("in a mount namespace (needs util-linux): %v\n%s", err, out)
		}
		return
	}
	folder := t.TempDir()
	disk := filepath.Join(folder, "disk")
	if err := os.Mkdir(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=160m", "tmpfs", disk).CombinedOutput(); err != nil {
		t.Fatalf("mount: %v %s", err, out)
	}
	defer syscall.Unmount(disk, 0)
	makeImage(t, folder, "disk/thin.img", "1GiB")
	writeFile(t, filepath.Join(folder, "keep.bin"), randomBytes(5<<20, 1))
	writeFile(t, filepath.Join(folder, "big.bin"), randomBytes(110<<20, 2))
	writeFile(t, filepath.Join(folder, "huge.bin"), randomBytes(300<<20, 3))
	run(t, folder, 0, "copy", "keep.bin", "disk/thin.img:/", "--password-file", "pw")

	// What will not fit below the container is known before the first byte, although it fits inside.
	if _, stderr := run(t, folder, 6, "copy", "huge.bin", "disk/thin.img:/", "--password-file", "pw"); !strings.Contains(stderr, "hint: there is room inside; free space on the disk that holds disk/thin.img") {
		t.Errorf("not told which disk is full: %s", stderr)
	}

	// Somebody else takes the space while the copy runs.
	p := start(t, folder, "copy", "big.bin", "disk/thin.img:/", "--password-file", "pw", "--json")
	if !p.until(func(e event) bool { return e.Event == "stage" && e.Stage == "copy" || copying(e) }) {
		t.Fatal("the copy ended before the disk could be filled")
	}
	p.command.Process.Signal(syscall.SIGSTOP)
	fill(t, filepath.Join(disk, "filler"))
	p.command.Process.Signal(syscall.SIGCONT)
	code, _, stderr := p.wait()
	if code != 6 || !strings.Contains(stderr, "hint: free space on the disk") {
		t.Fatalf("full disk: exit code %d\n%s", code, stderr)
	}
	sound(t, folder)

	// Space freed on the host works again.
	if err := os.Remove(filepath.Join(disk, "filler")); err != nil {
		t.Fatal(err)
	}
	run(t, folder, 0, "copy", "-f", "big.bin", "disk/thin.img:/", "--password-file", "pw", "--verify")
	if out, _ := run(t, folder, 0, "check", "disk/thin.img", "--password-file", "pw"); !strings.Contains(out, "is clean") {
		t.Errorf("in the end: %s", out)
	}

	// A create that finds no space leaves no file; a copy out says that the host is full.
	fill(t, filepath.Join(disk, "filler"))
	if _, stderr := run(t, folder, 6, "copy", "disk/thin.img:/keep.bin", "disk/out.bin", "--password-file", "pw"); !strings.Contains(stderr, "hint: free space on the disk that holds disk/out.bin") {
		t.Errorf("not told that the host is full: %s", stderr)
	}
	run(t, folder, 6, "create", "disk/new.img", "--size", "64MiB", "--preallocate", "--kdf-memory=64KiB", "--kdf-time=1", "--password-file", "pw")
	if _, err := os.Stat(filepath.Join(disk, "new.img")); !os.IsNotExist(err) {
		t.Errorf("a failed create left a file: %v", err)
	}
}

// sound checks that no short file stands in the container and that nothing but leftovers of a cut is wrong with it.
func sound(t *testing.T, folder string) {
	t.Helper()
	run(t, folder, 1, "ls", "disk/thin.img:/big.bin", "--password-file", "pw")
	out, _ := run(t, folder, 0, "copy", "disk/thin.img:/keep.bin", "kept.bin", "--password-file", "pw", "--quiet")
	if digest(t, filepath.Join(folder, "kept.bin")) != digest(t, filepath.Join(folder, "keep.bin")) {
		t.Errorf("an acknowledged file is wrong: %s", out)
	}
	code, out, stderr := start(t, folder, "check", "disk/thin.img", "--password-file", "pw").wait()
	t.Logf("check right after: exit code %d\n%s%s", code, out, stderr)
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "cross-link") || strings.HasPrefix(line, "chain-short") || strings.HasPrefix(line, "chain-loop") {
			t.Errorf("damage after a full disk: %s", line)
		}
	}
}

// fill writes until the disk is full.
func fill(t *testing.T, path string) {
	t.Helper()
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for size := 1 << 20; size > 0; {
		if _, err := file.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
}

// TestHostErrors injects errors of the host with strace: a failed write or sync is never a silent success.
func TestHostErrors(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Fatalf("%v: apt-get install strace", err)
	}
	folder := t.TempDir()
	base := makeImage(t, folder, "base.img", "64MiB")
	writeFile(t, filepath.Join(folder, "big.bin"), randomBytes(20<<20, 1))
	run(t, folder, 0, "copy", "big.bin", "base.img:/kept.bin", "--password-file", "pw", "--quiet")
	for _, c := range []struct {
		inject string
		codes  []int
	}{
		// strace counts by thread, so some writes get through: then one file has failed and is listed (9), not everything.
		{"pwrite64:error=EIO:when=3+", []int{1, 9}},
		{"pwrite64:error=ENOSPC:when=3+", []int{6}},
		{"fsync,fdatasync:error=EIO:when=1", []int{1, 9}},
		{"fsync,fdatasync:error=EIO:when=2+", []int{1, 9}},
	} {
		copyImage(t, base, filepath.Join(folder, "e.img"))
		command := exec.Command("strace", "-f", "-qq", "-o", "/dev/null", "-P", filepath.Join(folder, "e.img"),
			"-e", "inject="+c.inject, program, "copy", "big.bin", "e.img:/new.bin", "--password-file", "pw")
		code, out, stderr := startCommand(t, folder, command).wait()
		if !slices.Contains(c.codes, code) {
			t.Errorf("%s: exit code %d, want one of %d\n%s%s", c.inject, code, c.codes, out, stderr)
		}
		run(t, folder, 0, "check", "e.img", "--repair", "--password-file", "pw")
		run(t, folder, 0, "copy", "-f", "e.img:/kept.bin", "kept.bin", "--password-file", "pw", "--quiet")
		if digest(t, filepath.Join(folder, "kept.bin")) != digest(t, filepath.Join(folder, "big.bin")) {
			t.Errorf("%s: an acknowledged file is wrong", c.inject)
		}
	}
}
